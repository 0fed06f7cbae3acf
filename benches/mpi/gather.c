/* The gain from decoding messages before they are asked for: a gather in the order of ranks, whose first message arrives last.
 *
 * gather FILE double|int BYTES ROUNDS DELAY_MS
 *
 * In each round, rank 0 receives BYTES from each other rank, in the order of ranks; rank 1 sends DELAY_MS later than the others. The messages
 * are made from FILE. Rank 0 prints the medians of the rounds, without the first quarter, in which a predictor may learn: `bytes N rounds N
 * last_us T end_us T`. `last_us` is the time from when rank 1 begins to send until its message has been received, `end_us` from then until all
 * have been received. Received messages are compared with those sent, outside of the measured time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ascending.h"

static int rank, size;

static void fail(const char *why) {
    fprintf(stderr, "gather: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The message of a rank in a round: the file, repeated, starting at a different place. */
static void make(unsigned char *message, size_t bytes, const unsigned char *data, size_t len, int round, int from) {
    size_t at = (size_t)(round * size + from) * 1000003 * 8 % len;
    for (size_t done = 0; done < bytes;) {
        size_t part = len - at < bytes - done ? len - at : bytes - done;
        memcpy(message + done, data + at, part);
        done += part;
        at = 0;
    }
}

static void wait_ms(int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 6) fail("usage: gather FILE double|int BYTES ROUNDS DELAY_MS");
    FILE *file = fopen(argv[1], "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("cannot read the file");
    size_t len = (size_t)ftell(file) / 8 * 8, bytes = strtoull(argv[3], NULL, 10) / 8 * 8;
    int rounds = atoi(argv[4]), delay = atoi(argv[5]), is_int = strcmp(argv[2], "int") == 0;
    unsigned char *data = malloc(len + 1), *wanted = malloc(bytes + 1);
    unsigned char *blocks = calloc((size_t)size, bytes);
    double *last = calloc((size_t)rounds, sizeof *last), *end = calloc((size_t)rounds, sizeof *end);
    rewind(file);
    if (len == 0 || rounds < 4 || !data || !wanted || !blocks || !last || !end || fread(data, 1, len, file) != len) fail("cannot begin");
    fclose(file);
    MPI_Datatype type = is_int ? MPI_INT : MPI_DOUBLE;
    int count = (int)(bytes / (is_int ? 4 : 8)), kept = 0;
    for (int round = 0; round < rounds; round++) {
        if (rank > 0) make(wanted, bytes, data, len, round, rank);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank > 0) {
            if (rank == 1) wait_ms(delay);
            double start = MPI_Wtime();
            MPI_Send(wanted, count, type, 0, 7, MPI_COMM_WORLD);
            /* If all ranks are on one host, as in an emulated cluster, they share one clock. */
            if (rank == 1) MPI_Send(&start, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD);
        } else {
            double first = 0, start;
            for (int from = 1; from < size; from++) {
                MPI_Recv(blocks + (size_t)from * bytes, count, type, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (from == 1) first = MPI_Wtime();
            }
            double all = MPI_Wtime();
            MPI_Recv(&start, 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (round >= rounds / 4) {
                last[kept] = (first - start) * 1e6;
                end[kept++] = (all - first) * 1e6;
            }
            for (int from = 1; from < size; from++) {
                make(wanted, bytes, data, len, round, from);
                if (memcmp(wanted, blocks + (size_t)from * bytes, bytes) != 0) fail("the received data are wrong");
            }
        }
    }
    if (rank == 0) {
        qsort(last, (size_t)kept, sizeof *last, ascending);
        qsort(end, (size_t)kept, sizeof *end, ascending);
        printf("bytes %zu rounds %d last_us %.1f end_us %.1f\n", bytes, kept, last[kept / 2], end[kept / 2]);
    }
    free(data), free(wanted), free(blocks), free(last), free(end);
    /* MPICH 4.0 hangs in MPI_Finalize over UCX and TCP where the last message goes one way (docs/shim.md, "Known limits"). */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
