/* grains: grains of a polycrystal grow, and other ranks watch them.
 *
 * The Potts model of grain growth at temperature zero: M. P. Anderson, D. J. Srolovitz, G. S. Grest, P. S. Sahni,
 * Acta Metallurgica 32, 1984. Each cell of a periodic box has one of 64 orientations; cells of one orientation that
 * touch are a grain. In a sweep each cell considers the orientation of one of its six neighbours, and takes it if it
 * then has no more neighbours of other orientations than before. Cells of even and of odd parity take turns, so that none changes while a neighbour looks at it.
 *
 * In-transit analysis: the first half of the ranks simulate, each a slab of planes, with its neighbours' planes as
 * halos (MPI_Sendrecv). Every EVERY sweeps each of them sends its slab, one message of MPI_INT (MPI_Send), to its
 * partner in the other half, which counts faces between grains and adds up a digest of all cells.
 *
 *   mpirun -n 4 ./grains [N SWEEPS EVERY]      defaults 128 100 2: N^3 cells, N even, at least 2 for each simulating rank
 *
 * The digest covers every cell of every frame; it is the same whatever the number of ranks is. */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORIENTATIONS = 64 };

static int me, nranks, pairs;  /* simulating ranks, and as many that watch */
static long n, plane;          /* cells along an axis, and in a plane */

/* SplitMix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014. */
static uint64_t noise(uint64_t at)
{
    uint64_t z = (at + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The first plane of a simulating rank. */
static long first_plane(int rank)
{
    return n * rank / pairs;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "grains: no memory\n");
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

/* At the beginning each cell has an orientation at random. */
static void start(int *cells, long low, long planes)
{
    for (long i = 0; i < planes * plane; i++)
        cells[i] = (int)(noise((uint64_t)(low * plane + i)) % ORIENTATIONS);
}

/* One colour of the checkerboard. `cells` begins with a plane of halo. */
static void half_sweep(int *cells, long low, long planes, long sweep, int colour)
{
    for (long x = 1; x <= planes; x++)
        for (long y = 0; y < n; y++) {
            int *row = cells + x * plane + y * n;
            const int *up = cells + x * plane + (y + 1) % n * n;
            const int *down = cells + x * plane + (y + n - 1) % n * n;
            uint64_t at = ((uint64_t)sweep * (uint64_t)n + (uint64_t)(low + x - 1)) * (uint64_t)n + (uint64_t)y;
            for (long z = (low + x - 1 + y + colour) % 2; z < n; z += 2) {
                int near[6] = {row[z - plane], row[z + plane], up[z], down[z],
                               row[z ? z - 1 : n - 1], row[z + 1 < n ? z + 1 : 0]};
                int mine = row[z], others = 0, unlike = 0;
                for (int i = 0; i < 6; i++)
                    others += near[i] != mine;
                if (!others)
                    continue;
                int taken = near[noise(at * (uint64_t)n + (uint64_t)z) % 6];
                for (int i = 0; i < 6; i++)
                    unlike += near[i] != taken;
                if (unlike <= others)
                    row[z] = taken;
            }
        }
}

static void exchange_halos(int *cells, long planes)
{
    int up = (me + 1) % pairs, down = (me + pairs - 1) % pairs, count = (int)plane;
    MPI_Sendrecv(cells + planes * plane, count, MPI_INT, up, 1, cells, count, MPI_INT, down, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(cells + plane, count, MPI_INT, down, 2, cells + (planes + 1) * plane, count, MPI_INT, up, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void simulate(long sweeps, long every)
{
    long low = first_plane(me), planes = first_plane(me + 1) - low;
    int *cells = allocate((size_t)((planes + 2) * plane), sizeof *cells);
    start(cells + plane, low, planes);
    for (long sweep = 1; sweep <= sweeps; sweep++) {
        for (int colour = 0; colour < 2; colour++) {
            exchange_halos(cells, planes);
            half_sweep(cells, low, planes, sweep, colour);
        }
        if (sweep % every == 0)
            MPI_Send(cells + plane, (int)(planes * plane), MPI_INT, me + pairs, 3, MPI_COMM_WORLD);
    }
    free(cells);
}

/* Faces between grains along the rows of the slab, and the digest of its cells. */
static void watch(long frames, uint64_t *faces, uint64_t *digest)
{
    long low = first_plane(me - pairs), planes = first_plane(me - pairs + 1) - low;
    long count = planes * plane;
    int *cells = allocate((size_t)count, sizeof *cells);
    for (long frame = 0; frame < frames; frame++) {
        MPI_Recv(cells, (int)count, MPI_INT, me - pairs, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (long i = 0; i < count; i++) {
            uint64_t cell = (uint64_t)((frame * n + low) * plane + i);
            *digest += noise(cell ^ (uint64_t)cells[i] << 32);
            *faces += (i + 1) % n != 0 && cells[i] != cells[i + 1];
        }
    }
    free(cells);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    n = argc > 1 ? argument(argv[1], 1024) : 128;
    long sweeps = argc > 2 ? argument(argv[2], 1L << 20) : 100;
    long every = argc > 3 ? argument(argv[3], 1L << 20) : 2;
    pairs = nranks / 2;
    plane = n * n;
    if (n < 2 * pairs || n % 2 || !sweeps || !every || nranks % 2 || argc > 4
        || (n + pairs - 1) / pairs * plane > INT32_MAX) {
        if (me == 0)
            fprintf(stderr, "grains: usage: grains [N SWEEPS EVERY]: three numbers above zero, N even and at least 2 for each "
                            "simulating rank; an even number of ranks\n");
        MPI_Finalize();
        return 2;
    }
    if (me == 0)
        printf("grains: %ld^3 cells on %d ranks, %d ranks watch, %ld sweeps\n", n, pairs, pairs, sweeps);

    uint64_t mine[2] = {0, 0}, all[2];
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (me < pairs)
        simulate(sweeps, every);
    else
        watch(sweeps / every, &mine[0], &mine[1]);
    double took = MPI_Wtime() - begin, seconds;
    MPI_Reduce(&took, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) {
        printf("frames     %.0f bytes in %ld messages of %ld sweeps each\n",
               4.0 * (double)(n * plane) * (double)(sweeps / every), sweeps / every * pairs, every);
        printf("faces      %" PRIu64 " between grains along the rows, in all frames\n", all[0]);
        printf("time %.3f s\n", seconds);
        printf("digest %016" PRIx64 "\n", all[1]);
    }
    MPI_Finalize();
    return 0;
}
