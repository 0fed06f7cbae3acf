/* Two ranks exchange smooth numbers: a minimal program whose messages can be compressed. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 65536, STEPS = 20 };
static double mine[COUNT], theirs[COUNT];

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < COUNT; i++)
            mine[i] = 1 + i * 1e-5 + rank + step;
        MPI_Sendrecv(mine, COUNT, MPI_DOUBLE, 1 - rank, 0, theirs, COUNT, MPI_DOUBLE, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++)
            sum += theirs[i];
    }
    printf("rank %d: %.6f\n", rank, sum);
    MPI_Finalize();
    return 0;
}
