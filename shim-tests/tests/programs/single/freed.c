/* A nonblocking gather fails after its communicator has been freed: its completion returns the error code. With a second argument of "handler", the
 * communicator has a handler of the program, and so has another one that may get its handle meanwhile. Neither is called; stdout has the calls. */
#include "../observe.h"

#include <stdio.h>
#include <string.h>

enum { COUNT = 1 << 14, TAG = 2 };

static double block[COUNT], all[2 * COUNT];
static int calls;

static void count(MPI_Comm *comm, int *code, ...)
{
  (void)comm, (void)code;
  calls++;
}

static void freed_communicator(MPI_Errhandler handler)
{
  for (int round = 0; round < 3; round++) {
    int counts[2] = {COUNT / 2, COUNT / 2}, places[2] = {0, COUNT};
    MPI_Comm comm, other;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    /* Agrees on what later calls need. */
    MPI_Alltoall(block, COUNT / 4, MPI_DOUBLE, all, COUNT / 4, MPI_DOUBLE, comm);
    counts[rank] = COUNT;
    begin("gather %d:", round);
    fill(block, sizeof block, SMOOTH, (uint64_t)round);
    MPI_Igatherv(block, COUNT, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(other, handler);
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifdef OPEN_MPI
    if (rank == 0)
      note_code(code);
#else
    (void)code; /* MPICH's own gather does not notice that a block is too long */
#endif
    end();
    MPI_Comm_free(&other);
  }
}

int main(int argc, char **argv)
{
  MPI_Errhandler counting;
  job_begin(&argc, &argv, 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_create_errhandler(count, &counting);
  scene("freed communicator", 60);
  freed_communicator(strcmp(argv[2], "handler") == 0 ? counting : MPI_ERRORS_RETURN);
  if (rank == 0)
    printf("handler called %d times\n", calls);
  MPI_Errhandler_free(&counting);
  return job_end();
}
