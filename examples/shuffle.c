/* shuffle: random 64-bit keys go to the ranks that own their ranges.
 *
 * The first half of a distribution sort, and the hard case for message compression: the keys are noise but for
 * the few bits that say where they go. Every round each rank makes KEYS keys, puts them in order of their owners
 * and exchanges them, rank by rank, as 64-bit integers (MPI_Sendrecv). What arrives is checked and summed up.
 *
 *   mpirun -n 4 ./shuffle [KEYS ROUNDS]        defaults 262144 100
 *
 * The digest covers every bit of every key and the rank that it came to; it is the same whatever the number of ranks
 * is, as long as KEYS times ranks is the same. */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, nranks;

/* SplitMix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014. */
static uint64_t noise(uint64_t at)
{
    uint64_t z = (at + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The rank that owns a key: ranges are of equal width. */
static int owner(uint64_t key)
{
    return (int)(((key >> 32) * (uint64_t)nranks) >> 32);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "shuffle: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static long argument(const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *text && !*end && value > 0 && value <= most ? value : 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    long keys = argc > 1 ? argument(argv[1], 1L << 28) : 262144;
    long rounds = argc > 2 ? argument(argv[2], 1L << 30) : 100;
    if (!keys || !rounds || argc > 3) {
        if (me == 0)
            fprintf(stderr, "shuffle: usage: shuffle [KEYS ROUNDS]: two numbers above zero\n");
        MPI_Finalize();
        return 2;
    }
    if (me == 0)
        printf("shuffle: %ld keys on each of %d ranks, %ld rounds\n", keys, nranks, rounds);

    uint64_t *made = allocate((size_t)keys, sizeof *made);
    uint64_t *ordered = allocate((size_t)keys, sizeof *ordered);
    uint64_t *arrived = allocate((size_t)keys, sizeof *arrived);
    long *start = allocate((size_t)nranks + 1, sizeof *start);
    long *next = allocate((size_t)nranks, sizeof *next);
    uint64_t sum = 0, wrong = 0;
    double sent[2] = {0, 0};

    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (long round = 0; round < rounds; round++) {
        uint64_t first = ((uint64_t)round * (uint64_t)nranks + (uint64_t)me) * (uint64_t)keys;
        memset(start, 0, ((size_t)nranks + 1) * sizeof *start);
        for (long i = 0; i < keys; i++) {
            made[i] = noise(first + (uint64_t)i);
            start[owner(made[i]) + 1]++;
        }
        for (int rank = 0; rank < nranks; rank++) {
            start[rank + 1] += start[rank];
            next[rank] = start[rank];
        }
        for (long i = 0; i < keys; i++)
            ordered[next[owner(made[i])]++] = made[i];

        for (int step = 0; step < nranks; step++) {
            int to = (me + step) % nranks, from = (me + nranks - step) % nranks;
            int out = (int)(start[to + 1] - start[to]), in;
            MPI_Status status;
            MPI_Sendrecv(ordered + start[to], out, MPI_UINT64_T, to, 1, arrived, (int)keys, MPI_UINT64_T,
                         from, 1, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_UINT64_T, &in);
            if (step) {
                sent[0] += 8.0 * out;
                sent[1]++;
            }
            for (int i = 0; i < in; i++) {
                wrong += owner(arrived[i]) != me;
                sum += noise(arrived[i]);
            }
        }
    }
    double mine = MPI_Wtime() - begin, seconds;
    uint64_t totals[2] = {sum, wrong}, all[2];
    double all_sent[2];
    MPI_Reduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(totals, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(sent, all_sent, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int failed = 0;
    if (me == 0) {
        printf("keys       %.0f bytes in %.0f messages between ranks\n", all_sent[0], all_sent[1]);
        printf("time %.3f s\n", seconds);
        fflush(stdout);
        failed = all[1] != 0;
        if (failed)
            fprintf(stderr, "shuffle: failed: %" PRIu64 " keys came to the wrong rank\n", all[1]);
        else
            printf("digest %016" PRIx64 "\n", all[0]);
    }
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
