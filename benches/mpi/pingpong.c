/* Ping-pong between the first and the last rank: median one-way time for messages of BYTES bytes.
 *
 *   pingpong BYTES ROUNDS smooth|random
 *
 * Each round's time is one sample. The payload is doubles, smooth or random, and is checked at the end. Prints one line:
 *   bytes B rounds N median_us X p90_us Y
 */
#include <mpi.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascending.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long bytes = argc > 1 ? atol(argv[1]) : 0;
  const long rounds = argc > 2 ? atol(argv[2]) : 0;
  if (argc != 4 || bytes < 8 || bytes % 8 != 0 || bytes > 1L << 30 || rounds < 1 || size < 2) {
    if (rank == 0) fprintf(stderr, "usage: pingpong BYTES ROUNDS smooth|random (bytes a multiple of 8; 2 ranks or more)\n");
    MPI_Finalize();
    return 2;
  }
  const int count = (int)(bytes / 8), last = size - 1;
  double *mine = malloc(bytes), *theirs = malloc(bytes), *times = malloc(rounds * sizeof(double));
  uint64_t state = 1;
  for (int i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (strcmp(argv[3], "random") == 0) {
      const uint64_t word = (state ^ (state >> 29)) * 0x9e3779b97f4a7c15u;
      memcpy(&mine[i], &word, 8);
    } else {
      mine[i] = 1.0 + 0.5 * sin(0.01 * i);
    }
  }
  const long warmup = rounds / 10 + 1;
  for (long round = -warmup; round < rounds; round++) {
    if (round == 0) MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(mine, count, MPI_DOUBLE, last, 1, MPI_COMM_WORLD);
      MPI_Recv(theirs, count, MPI_DOUBLE, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == last) {
      MPI_Recv(theirs, count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(theirs, count, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
    if (round >= 0) times[round] = (MPI_Wtime() - start) / 2;
  }
  int wrong = 0;
  if (rank == 0) {
    wrong = memcmp(mine, theirs, bytes) != 0;
    qsort(times, rounds, sizeof(double), ascending);
    printf("bytes %ld rounds %ld median_us %.3f p90_us %.3f%s\n", bytes, rounds, times[rounds / 2] * 1e6,
           times[rounds * 9 / 10] * 1e6, wrong ? " WRONG DATA" : "");
    fflush(stdout);
  }
  MPI_Finalize();
  return wrong;
}
