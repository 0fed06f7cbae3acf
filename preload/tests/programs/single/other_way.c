/* Collectives in which one rank goes another way than the others: an all-to-all for which one rank gives the same buffer for both directions (in disjoint parts),
 * and a gather whose first call one rank makes with arguments that are refused. */
#include "../observe.h"

#include <stdlib.h>

enum { COUNT = 1 << 16, ROUNDS = 4 };

static double both[4 * COUNT], apart[2 * COUNT];

static void all_to_all(void)
{
  int counts[] = {COUNT, COUNT}, first[] = {0, COUNT}, second[] = {2 * COUNT, 3 * COUNT};
  for (int round = 0; round < ROUNDS; round++) {
    begin("all-to-all %d:", round);
    fill(both, sizeof both / 2, SMOOTH, (uint64_t)(round + rank));
    if (rank == 0)
      note_code(MPI_Alltoallv(both, counts, first, MPI_DOUBLE, both, counts, second, MPI_DOUBLE, MPI_COMM_WORLD));
    else
      note_code(MPI_Alltoallv(both, counts, first, MPI_DOUBLE, apart, counts, first, MPI_DOUBLE, MPI_COMM_WORLD));
    note(" data=%016lx", (unsigned long)digest_bytes(rank == 0 ? &both[2 * COUNT] : apart, sizeof apart));
    end();
  }
}

static void gather(void)
{
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int counts[] = {COUNT, COUNT}, places[] = {0, COUNT};
  for (int round = 0; round < ROUNDS; round++) {
    begin("gather %d:", round);
    fill(both, sizeof both, SMOOTH, (uint64_t)(round + rank));
    if (rank == 1 && round == 0)
      note_code(MPI_Gatherv(both, COUNT, MPI_DATATYPE_NULL, apart, counts, places, MPI_DOUBLE, 0, comm));
    note_code(MPI_Gatherv(both, COUNT, MPI_DOUBLE, apart, counts, places, MPI_DOUBLE, 0, comm));
    if (rank == 0)
      note(" data=%016lx", (unsigned long)digest_bytes(apart, sizeof apart));
    end();
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
#ifdef OPEN_MPI
  /* MPICH refuses the same buffer. */
  scene("all-to-all", 60);
  all_to_all();
#endif
  scene("gather", 60);
  gather();
  return job_end();
}
