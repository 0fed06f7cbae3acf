/* Sums of reals: within the rounding of any order, and bitwise equal on all ranks. */
#include "../observe.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 200000 };

static double value(int i, int of_rank)
{
  return 1.0 + i * 1e-3 + of_rank * 0.1;
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("reals", 60);
  double *mine = malloc(COUNT * sizeof *mine), *sum = malloc(COUNT * sizeof *sum);
  uint64_t *least = malloc(COUNT * sizeof *least), *most = malloc(COUNT * sizeof *most);
  for (int i = 0; i < COUNT; i++)
    mine[i] = value(i, rank);
  for (int round = 0; round < 20; round++) {
    memset(sum, 0, COUNT * sizeof *sum);
    begin("%d", round);
    note_code(MPI_Allreduce(mine, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    int far = 0, apart = 0;
    for (int i = 0; i < COUNT; i++) {
      double exact = 0;
      for (int from = 0; from < size; from++)
        exact += value(i, from);
      far += !(sum[i] > exact * (1 - 1e-14) && sum[i] < exact * (1 + 1e-14));
    }
    note_code(MPI_Allreduce(sum, least, COUNT, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
    note_code(MPI_Allreduce(sum, most, COUNT, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++)
      apart += least[i] != most[i];
    note(" far=%d apart=%d", far, apart);
    end();
  }
  free(mine), free(sum), free(least), free(most);
  return job_end();
}
