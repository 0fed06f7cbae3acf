/* A nonblocking gather fails after its communicator has been freed: its completion returns the error code, and the handler of the freed communicator
 * is not called. */
#include "../observe.h"

#include <stdlib.h>

enum { COUNT = 1 << 14, TAG = 2 };

static double block[COUNT], all[2 * COUNT];

static void freed_communicator(void)
{
  for (int round = 0; round < 3; round++) {
    int counts[2] = {COUNT / 2, COUNT / 2}, places[2] = {0, COUNT};
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* Agrees on what later calls need. */
    MPI_Alltoall(block, COUNT / 4, MPI_DOUBLE, all, COUNT / 4, MPI_DOUBLE, comm);
    counts[rank] = COUNT;
    begin("gather %d:", round);
    fill(block, sizeof block, SMOOTH, (uint64_t)round);
    MPI_Igatherv(block, COUNT, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, comm, &request);
    MPI_Comm_free(&comm);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifdef OPEN_MPI
    if (rank == 0)
      note_code(code);
#else
    (void)code; /* MPICH's own gather does not notice that a block is too long */
#endif
    end();
  }
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  scene("freed communicator", 60);
  freed_communicator();
  return job_end();
}
