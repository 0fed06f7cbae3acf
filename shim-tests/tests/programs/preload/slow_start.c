/* A rank that is late: rank 1 stays in MPI_Init for SLOW_START seconds longer. (The MPI's own part of MPI_Init ends on all ranks at the same time.)
 * */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int PMPI_Init(int *argc, char ***argv)
{
  int (*next)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_NEXT, "PMPI_Init");
  const char *seconds = getenv("SLOW_START");
  int rank, code = next(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && seconds)
    sleep((unsigned)atoi(seconds));
  return code;
}
