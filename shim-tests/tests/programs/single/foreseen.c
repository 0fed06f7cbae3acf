/* A gather in the order of ranks, whose first message arrives last: a rank that predicts its receives has time for the second message. It is received
 * in several ways, in the last round in a way that no earlier round has used. */
#include "../observe.h"

#include <stdlib.h>
#include <time.h>

/* SHORT fits into the memory that a test allows for messages taken ahead, LONG does not. LEFT is looked for only with MPRESS_PREDICT=all. */
enum { LONG = 50000, SHORT = 6000, LEFT = 250, ROUNDS = 12, TAG = 5 };

enum way { RECV, IRECV, PERSISTENT, WILDCARD, PROBE, MATCHED_PROBE, TRUNCATED, WAYS };
static const char *const names[WAYS] = {"recv", "irecv", "persistent", "wildcard", "probe", "matched_probe", "truncated"};

/* For MILLISECONDS, an environment variable: on a busy machine rank 0 needs longer. */
static void wait_a_little(void)
{
  const char *milliseconds = getenv("MILLISECONDS");
  long ns = (milliseconds ? atol(milliseconds) : 30) * 1000000;
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

/* Receives the second message with the call of this way. */
static void receive(enum way way, memory *m, int count, MPI_Comm comm, MPI_Status *status)
{
  MPI_Request request;
  MPI_Message message;
  int flag = 0;
  switch (way) {
  case IRECV:
    note_code(MPI_Irecv(m->data, count, MPI_DOUBLE, 2, TAG, comm, &request));
    note_code(MPI_Wait(&request, status));
    return;
  case PERSISTENT:
    note_code(MPI_Recv_init(m->data, count, MPI_DOUBLE, 2, TAG, comm, &request));
    note_code(MPI_Start(&request));
    note_code(MPI_Waitall(1, &request, status));
    MPI_Request_free(&request);
    return;
  case WILDCARD:
    note_code(MPI_Recv(m->data, count, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status));
    return;
  case PROBE:
    while (!flag)
      MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &flag, status);
    note_status(status, MPI_DOUBLE);
    note_code(MPI_Probe(2, MPI_ANY_TAG, comm, status));
    note_status(status, MPI_DOUBLE);
    break;
  case MATCHED_PROBE:
    note_code(MPI_Mprobe(MPI_ANY_SOURCE, TAG, comm, &message, status));
    note_status(status, MPI_DOUBLE);
    note_code(MPI_Mrecv(m->data, count, MPI_DOUBLE, &message, status));
    return;
  case TRUNCATED:
    note_code(MPI_Recv(m->data, count / 2, MPI_DOUBLE, 2, TAG, comm, status));
    return;
  default:
    break;
  }
  note_code(MPI_Recv(m->data, count, MPI_DOUBLE, 2, TAG, comm, status));
}

static void gather(enum way way, int count, int rounds, int receives_all, MPI_Comm comm)
{
  for (int round = 0; round < rounds; round++) {
    memory m = memory_new((size_t)count * sizeof(double));
    /* The way of all rounds except the last, from which prediction learns. */
    enum way now = round + 1 < rounds ? RECV : way;
    MPI_Barrier(comm);
    if (rank > 0) {
      fill(m.data, m.room, SMOOTH, (uint64_t)(100 * round + rank));
      if (rank == 1)
        wait_a_little();
      MPI_Send(m.data, count, MPI_DOUBLE, 0, TAG, comm);
    } else {
      MPI_Status status;
      MPI_Recv(m.data, count, MPI_DOUBLE, 1, TAG, comm, MPI_STATUS_IGNORE);
      begin("%d of %d:", round, count);
      note(" first=%016lx", (unsigned long)digest(&m));
      if (receives_all || round + 1 < rounds) {
        blank(&status);
        receive(now, &m, count, comm, &status);
        if (now == TRUNCATED)
          note_origin(&status);
        else {
          note_status(&status, MPI_DOUBLE);
          note(" data=%016lx", (unsigned long)digest(&m));
        }
      }
      end();
    }
    memory_free(&m);
  }
}

int main(int argc, char **argv)
{
  MPI_Comm comm;
  job_begin(&argc, &argv, 1);
  if (size != 3)
    give_up("three ranks are needed");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int way = 0; way < WAYS; way++) {
    scene(names[way], 60);
    gather((enum way)way, LONG, ROUNDS, 1, MPI_COMM_WORLD);
    gather((enum way)way, SHORT, ROUNDS, 1, MPI_COMM_WORLD);
  }
  /* One that is never received. */
  scene("left", 60);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  gather(RECV, LEFT, ROUNDS, 0, comm);
  MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
  return job_end();
}
