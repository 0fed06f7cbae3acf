/* Communicators are freed and MPI ends while the process exits, as with a C++ program whose global object does so: after the destructors of the
 * variables that libraries keep per thread. */
#include "../observe.h"

#include <stdlib.h>

enum { COUNT = 4000, TAG = 8 };

static MPI_Comm comm;

static void exchange(void)
{
  memory out = memory_new(COUNT * 8), in = memory_new(COUNT * 8);
  MPI_Status status;
  fill(out.data, out.room, SMOOTH, (uint64_t)rank);
  begin("exchange");
  note_code(MPI_Sendrecv(out.data, COUNT, MPI_DOUBLE, peer, TAG, in.data, COUNT, MPI_DOUBLE, peer, TAG, comm, &status));
  note_status(&status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(&in));
  end();
  memory_free(&out);
  memory_free(&in);
}

/* In a delete callback, the communicator may still be used. */
static int deleted(MPI_Comm freed, int keyval, void *value, void *state)
{
  (void)freed, (void)keyval, (void)value, (void)state;
  exchange();
  return MPI_SUCCESS;
}

static void at_exit(void)
{
  int keyval;
  exchange();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, NULL);
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  exchange();
  MPI_Comm_free(&comm);
  job_end();
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("exit", 30);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  exchange();
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  exchange();
  atexit(at_exit);
  return 0;
}
