/* The time of MPI_Init: prints the time of the slowest rank in milliseconds, from when the first rank begins: `ranks N init_ms T exchange_ms T`.
 * The latter lasts until each rank has exchanged a message with each other rank: some MPIs connect ranks at their first message, so a layer that
 * sends messages in MPI_Init only moves that time.
 *
 * init
 *
 * The ranks must be on one host, as in an emulated cluster, where they share one clock. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
    int rank, size;
    double begin = now_ms();
    MPI_Init(&argc, &argv);
    double ends[2] = {now_ms()}, first, last[2];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step < size; step++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + step) % size, 1, &(int){0}, 1, MPI_INT, (rank + size - step) % size, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    ends[1] = now_ms();
    MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(ends, last, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("ranks %d init_ms %.3f exchange_ms %.3f\n", size, last[0] - first, last[1] - first);
    /* MPICH 4.0 hangs in MPI_Finalize over UCX and TCP where the last message goes one way (docs/shim.md, "Known limits"). */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
