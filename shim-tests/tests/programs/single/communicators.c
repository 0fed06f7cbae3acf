/* Many communicators with collectives on each: one after the other, and all at the same time.
 *
 *   communicators PREFIX ONE_AFTER_THE_OTHER AT_THE_SAME_TIME
 *
 * Prints the time of one, including creation, use and freeing. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 256, MOST = 64 };

static double out[MOST * COUNT], in[MOST * COUNT];

/* An all-to-all and further collectives; returns the number of wrong blocks. */
static int use(MPI_Comm comm, int number)
{
  int wrong = 0, count, me;
  MPI_Request request;
  MPI_Comm_size(comm, &count);
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < count * COUNT; i++) {
    out[i] = number + me * 100 + i / COUNT + i % COUNT;
    in[i] = -1;
  }
  if (number % 2)
    wrong += MPI_Alltoall(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, comm) != MPI_SUCCESS;
  else {
    /* Without a blocking one before them, these are left to the MPI. */
    wrong += MPI_Bcast(out, 0, MPI_DOUBLE, 0, comm) != MPI_SUCCESS;
    wrong += MPI_Ialltoall(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, comm, &request) != MPI_SUCCESS;
    wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
  }
  for (int i = 0; i < count * COUNT; i++)
    wrong += in[i] != number + i / COUNT * 100 + me + i % COUNT;
  if (number % 3 == 0) {
    wrong += MPI_Bcast(in, COUNT, MPI_DOUBLE, 0, comm) != MPI_SUCCESS;
    for (int i = 0; i < COUNT; i++)
      wrong += in[i] != number + i;
  }
  return wrong;
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 3);
  int in_turn = atoi(argv[2]), alive = atoi(argv[3]), wrong = 0;
  if (size > MOST)
    give_up("more ranks than expected");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  scene("one after the other", 300);
  double start = MPI_Wtime();
  for (int i = 0; i < in_turn; i++) {
    MPI_Comm comm;
    /* The same ranks, but every fourth time only every other one. */
    if (i % 4)
      wrong += MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS;
    else
      wrong += MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm) != MPI_SUCCESS;
    wrong += use(comm, i);
    wrong += MPI_Comm_free(&comm) != MPI_SUCCESS;
  }
  double each = in_turn ? (MPI_Wtime() - start) / in_turn * 1e6 : 0;
  begin("%d", in_turn);
  note(" wrong=%d", wrong);
  end();
  scene("at the same time", 100);
  MPI_Comm *comms = malloc((size_t)alive * sizeof *comms);
  for (int i = 0; i < alive; i++) {
    wrong += MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]) != MPI_SUCCESS;
    wrong += use(comms[i], 2 * i + 1);
  }
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < alive; i++)
      wrong += use(comms[(i * 7) % alive], i + round);
  begin("%d", alive);
  note(" wrong=%d", wrong);
  end();
  for (int i = 0; i < alive; i++)
    MPI_Comm_free(&comms[i]);
  free(comms);
  log_close();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%.1f us for each communicator\ndone\n", each);
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
