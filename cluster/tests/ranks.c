/* Prints the place and the environment of every rank, then the speed from rank 0 to the last one. Arguments: bytes of a message, number of messages.
 * */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int bytes = argc > 1 ? atoi(argv[1]) : 1024;
    int count = argc > 2 ? atoi(argv[2]) : 1;

    struct { char host[64], given[64]; } self = {"", ""}, all[64];
    const char *given = getenv("GIVEN");
    gethostname(self.host, sizeof self.host - 1);
    snprintf(self.given, sizeof self.given, "%s", given ? given : "-");
    MPI_Gather(&self, sizeof self, MPI_BYTE, all, sizeof self, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size; i++)
            printf("rank %d on %s given %s\n", i, all[i].host, all[i].given);

    char *buffer = malloc(bytes);
    memset(buffer, rank, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < count; i++) {
        if (rank == 0)
            MPI_Send(buffer, bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
        else if (rank == size - 1)
            MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Recv(buffer, 1, MPI_BYTE, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == size - 1)
        MPI_Send(buffer, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    if (rank == 0) {
        printf("mbit %.1f\n", 8e-6 * bytes * count / seconds);
        printf("done\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
