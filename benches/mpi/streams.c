/* What long messages cost: one way, in both directions at once, or in a sum over both ranks.
 *
 * streams FILE TYPE PATTERN SECONDS BYTES...
 *
 * Two ranks send messages made from FILE, elements of TYPE `double` or `int`, PATTERN `one-way` (a send, a receive, and an empty answer), `exchange`
 * (Irecv, Isend, Waitall on both sides) or `allreduce` (of `int` alone). For each length there are rounds for SECONDS, of which rank 0 prints the median: `bytes N rounds N median_us T`. What arrives is
 * compared with what was sent, outside of the time that is measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascending.h"

static unsigned char *data;
static size_t data_len;

static void fail(const char *why) {
    fprintf(stderr, "streams: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("cannot read the file");
    long len = ftell(file);
    rewind(file);
    data = malloc((size_t)len + 1);
    if (len < 8 || !data || fread(data, 1, (size_t)len, file) != (size_t)len) fail("cannot read the file");
    data_len = (size_t)len / 8 * 8;
    fclose(file);
}

/* The message of a round: the file from another place on, as often as it takes. */
static void make(unsigned char *message, size_t bytes, int round) {
    size_t at = (size_t)round * 1000003 * 8 % data_len;
    for (size_t done = 0; done < bytes;) {
        size_t part = data_len - at < bytes - done ? data_len - at : bytes - done;
        memcpy(message + done, data + at, part);
        done += part;
        at = 0;
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 6 || size != 2) fail("usage, with two ranks: streams FILE double|int one-way|exchange|allreduce SECONDS BYTES...");
    if (strcmp(argv[3], "allreduce") == 0 && strcmp(argv[2], "int") != 0) fail("the sum is of integers");
    read_file(argv[1]);
    int reduce = strcmp(argv[3], "allreduce") == 0, both = reduce || strcmp(argv[3], "exchange") == 0;
    MPI_Datatype type = strcmp(argv[2], "int") == 0 ? MPI_INT : MPI_DOUBLE;
    double seconds = atof(argv[4]);
    enum { MOST = 20000 };
    static double times[MOST];
    for (int arg = 5; arg < argc; arg++) {
        size_t bytes = strtoull(argv[arg], NULL, 10);
        int count = (int)(bytes / (type == MPI_INT ? 4 : 8)), other = 1 - rank;
        unsigned char *out = malloc(bytes), *in = calloc(1, bytes), *wanted = malloc(bytes);
        if (!out || !in || !wanted) fail("no memory");
        double start = MPI_Wtime();
        int rounds = 0, more = 1;
        while (more) {
            make(out, bytes, 2 * rounds + rank);
            MPI_Barrier(MPI_COMM_WORLD);
            double from = MPI_Wtime();
            if (reduce) {
                MPI_Allreduce(out, in, count, type, MPI_SUM, MPI_COMM_WORLD);
            } else if (both) {
                MPI_Request requests[2];
                MPI_Status statuses[2];
                MPI_Irecv(in, count, type, other, 7, MPI_COMM_WORLD, &requests[0]);
                MPI_Isend(out, count, type, other, 7, MPI_COMM_WORLD, &requests[1]);
                MPI_Waitall(2, requests, statuses);
            } else if (rank == 0) {
                MPI_Send(out, count, type, 1, 7, MPI_COMM_WORLD);
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(in, count, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
            }
            times[rounds] = (MPI_Wtime() - from) * 1e6;
            if (both || rank == 1) {
                make(wanted, bytes, 2 * rounds + other);
                for (int i = 0; reduce && i < count; i++)
                    ((unsigned *)wanted)[i] += ((unsigned *)out)[i];
                if (memcmp(in, wanted, bytes) != 0) fail("what arrived is not what was sent");
            }
            rounds++;
            more = rounds < 3 || (MPI_Wtime() - start < seconds && rounds < MOST);
            MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
        if (rank == 0) {
            qsort(times, (size_t)rounds, sizeof times[0], ascending);
            printf("bytes %zu rounds %d median_us %.3f\n", bytes, rounds, times[rounds / 2]);
            fflush(stdout);
        }
        free(out);
        free(in);
        free(wanted);
    }
    free(data);
    /* MPICH 4.0 hangs in MPI_Finalize over UCX and TCP where the last message goes one way (docs/shim.md, "Known limits"). */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
