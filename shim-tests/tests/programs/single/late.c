/* Messages sent inside MPI_Finalize: there MPI first runs the delete callbacks of attributes of MPI_COMM_SELF, and they may communicate (MPI 3.1,
 * 8.7.1). The receiver has not begun to finalize when it receives. */
#include "../observe.h"

#include <stdio.h>

enum { COUNT = 5000, TAG = 8, MESSAGES = 3 };

static double data[COUNT];

static int say_more(MPI_Comm comm, int key, void *attribute, void *state)
{
  (void)comm;
  (void)key;
  (void)attribute;
  (void)state;
  for (int i = 0; i < MESSAGES; i++) {
    fill(data, sizeof data, i == 1 ? RANDOM : SMOOTH, (uint64_t)i);
    MPI_Send(data, i == 2 ? 100 : COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  }
  return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
  int key;
  job_begin(&argc, &argv, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  scene("late", 30);
  if (rank == 0) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_more, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  } else
    for (int i = 0; i < MESSAGES; i++) {
      memory m = memory_new(sizeof data);
      MPI_Status status;
      blank(&status);
      begin("%d", i);
      note_code(MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
      end();
      memory_free(&m);
    }
  log_close();
  if (rank == 1) {
    printf("done\n");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
