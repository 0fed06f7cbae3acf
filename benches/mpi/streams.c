/* The cost of long messages, between two ranks or in a collective of all ranks.
 *
 * streams FILE TYPE PATTERN SECONDS BYTES...
 *
 * The messages are made from FILE; their elements are of TYPE `double` or `int`. PATTERN:
 *   one-way    a send, a receive, and an empty answer, between two ranks
 *   exchange   Irecv, Isend and Waitall on both of two ranks
 *   allreduce  the sum of BYTES, of `int` alone
 *   bcast      BYTES from rank 0
 *   allgather  a block of BYTES from each rank
 *   alltoall   a block of BYTES from each rank to each rank
 * For each length there are rounds for SECONDS, of which rank 0 prints the median: `bytes N rounds N median_us T`. The time of a round is that of
 * the slowest rank. What arrives is compared with what was sent, outside of the time that is measured. */
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

/* The message of a round: the file, repeated, starting at a different place. */
static void make(unsigned char *message, size_t bytes, int round) {
    size_t at = (size_t)round * 1000003 * 8 % data_len;
    for (size_t done = 0; done < bytes;) {
        size_t part = data_len - at < bytes - done ? data_len - at : bytes - done;
        memcpy(message + done, data + at, part);
        done += part;
        at = 0;
    }
}

static int rank, size;

enum pattern { ONE_WAY, EXCHANGE, ALLREDUCE, BCAST, ALLGATHER, ALLTOALL, PATTERNS };
static const char *const names[PATTERNS] = {"one-way", "exchange", "allreduce", "bcast", "allgather", "alltoall"};

/* The number of blocks that a rank sends and receives. */
static int blocks_out(enum pattern pattern) { return pattern == ALLTOALL ? size : 1; }
static int blocks_in(enum pattern pattern) { return pattern == ALLTOALL || pattern == ALLGATHER ? size : 1; }

static void communicate(enum pattern pattern, unsigned char *out, unsigned char *in, int count, MPI_Datatype type) {
    int other = 1 - rank;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    switch (pattern) {
    case ONE_WAY:
        if (rank == 0) {
            MPI_Send(out, count, type, 1, 7, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, count, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
        }
        break;
    case EXCHANGE:
        MPI_Irecv(in, count, type, other, 7, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, count, type, other, 7, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        break;
    case ALLREDUCE:
        MPI_Allreduce(out, in, count, type, MPI_SUM, MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(rank == 0 ? out : in, count, type, 0, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(out, count, type, in, count, type, MPI_COMM_WORLD);
        break;
    default:
        MPI_Alltoall(out, count, type, in, count, type, MPI_COMM_WORLD);
    }
}

/* The data that a rank sends in this block. */
static int message(int round, int from, int block) { return (round * size + from) * size + block; }

static void check(enum pattern pattern, const unsigned char *in, const unsigned char *out, unsigned char *wanted, size_t bytes, int round) {
    if ((pattern == ONE_WAY || pattern == BCAST) && rank == 0) return;
    for (int block = 0; block < blocks_in(pattern); block++) {
        int from = blocks_in(pattern) > 1 ? block : pattern == BCAST ? 0 : 1 - rank;
        make(wanted, bytes, message(round, from, pattern == ALLTOALL ? rank : 0));
        for (size_t i = 0; pattern == ALLREDUCE && i < bytes / 4; i++)
            ((unsigned *)wanted)[i] += ((const unsigned *)out)[i];
        if (memcmp(in + block * bytes, wanted, bytes) != 0) fail("the received data are wrong");
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 6) fail("usage: streams FILE double|int one-way|exchange|allreduce|bcast|allgather|alltoall SECONDS BYTES...");
    enum pattern pattern = 0;
    while (pattern < PATTERNS && strcmp(argv[3], names[pattern]) != 0)
        pattern++;
    if (pattern == PATTERNS) fail("no such pattern");
    if (pattern <= ALLREDUCE && size != 2) fail("this pattern takes two ranks");
    if (pattern == ALLREDUCE && strcmp(argv[2], "int") != 0) fail("the sum is of integers");
    read_file(argv[1]);
    MPI_Datatype type = strcmp(argv[2], "int") == 0 ? MPI_INT : MPI_DOUBLE;
    double seconds = atof(argv[4]);
    enum { MOST = 20000 };
    static double times[MOST];
    for (int arg = 5; arg < argc; arg++) {
        size_t bytes = strtoull(argv[arg], NULL, 10);
        int count = (int)(bytes / (type == MPI_INT ? 4 : 8));
        unsigned char *out = malloc(bytes * (size_t)blocks_out(pattern));
        unsigned char *in = calloc((size_t)blocks_in(pattern), bytes), *wanted = malloc(bytes);
        if (!out || !in || !wanted) fail("no memory");
        double start = MPI_Wtime();
        int rounds = 0, more = 1;
        while (more) {
            for (int block = 0; block < blocks_out(pattern); block++)
                make(out + (size_t)block * bytes, bytes, message(rounds, rank, block));
            MPI_Barrier(MPI_COMM_WORLD);
            double from = MPI_Wtime();
            communicate(pattern, out, in, count, type);
            double time = (MPI_Wtime() - from) * 1e6;
            MPI_Reduce(&time, &times[rounds], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
            check(pattern, in, out, wanted, bytes, rounds);
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
