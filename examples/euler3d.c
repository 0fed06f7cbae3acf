/*
 * euler3d: a compressible gas in a periodic box, on a 3-D process grid.
 *
 *     mpicc -O2 euler3d.c -o euler3d -lm
 *     mpirun -n 4 ./euler3d [NX NY NZ STEPS]        (cells of the whole box)
 *
 * Equations: the Euler equations of an ideal gas, gamma = 1.4,
 *
 *     dU/dt + div F(U) = 0,    U = (rho, rho u, rho v, rho w, E),
 *     p = (gamma - 1) (E - rho |u|^2 / 2).
 *
 * Scheme: finite volumes, second order in space and time.
 *   space  MUSCL reconstruction of rho, u, v, w, p with the monotonized central
 *          limiter (B. van Leer, J. Comput. Phys. 23, 1977, and 32, 1979);
 *   flux   HLLC with Davis' wave speeds (E. F. Toro, Riemann Solvers and
 *          Numerical Methods for Fluid Dynamics, 3rd ed., 2009, chapter 10);
 *   time   the two-stage strong-stability-preserving Runge-Kutta method
 *          (C.-W. Shu, S. Osher, J. Comput. Phys. 77, 1988), dt from a CFL bound.
 *
 * Initial state: a vortex array as of G. I. Taylor and A. E. Green (Proc. R. Soc.
 * A 158, 1937) in a light wind, at a Mach number of about 0.5, and in it a hot,
 * light bubble under pressure, which sends out a sound wave and is torn by the
 * vortices. Everything is smooth, and no field is uniform.
 *
 * Communication, blocking style: before each stage every rank sends a slab two
 * cells thick through each of its six faces, all five fields packed into one buffer
 * of MPI_DOUBLE, with MPI_Sendrecv. The stencil reaches along the axes only, so the
 * edges and corners of the ghost frame are never needed. Each cell is computed from
 * the same numbers in the same order whatever the process grid is; hence the digest
 * printed at the end does not depend on the number of ranks.
 */
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NF = 5, G = 2 };          /* fields; ghost layers the reconstruction needs */
#define GAMMA 1.4
#define CFL 0.8
#define TWO_PI 6.28318530717958647692

static int cells[3] = {96, 96, 96}, steps = 20;    /* the command line's defaults */
static int me, nranks, nbr[3][2];    /* ranks after my low and high face, by axis */
static int pgrid[3], lo[3], n[3];    /* process grid; first cell and size of my block */
static size_t stride[3], block;      /* index steps by axis; size of a field with ghosts */
static double h[3], halo[2];         /* cell size; bytes and messages sent to other ranks */
static double *U, *V, *W;            /* state, stage, primitives: [field][x][y][z] */
static double *sendbuf, *recvbuf, *fx[2], *fy[2], *fz;
static MPI_Comm cart;

/* Interior cells count from 0; ghosts are -2, -1 and n, n + 1. */
static size_t at(int i, int j, int k)
{
    return (size_t)(i + G) * stride[0] + (size_t)(j + G) * stride[1] + (size_t)(k + G);
}

/* ---- communication ---------------------------------------------------------- */

/* Copies the G layers of axis d from layer `first` on, all fields, to or from buf. */
static int copy_slab(double *q, int d, int first, double *buf, int unpack)
{
    int b[3] = {0, 0, 0}, e[3] = {n[0], n[1], n[2]};
    b[d] = first;
    e[d] = first + G;
    size_t count = 0, row = (size_t)(e[2] - b[2]);
    for (size_t f = 0; f < NF; f++)
        for (int i = b[0]; i < e[0]; i++)
            for (int j = b[1]; j < e[1]; j++, count += row) {
                double *cell = q + f * block + at(i, j, b[2]);
                memcpy(unpack ? cell : buf + count, unpack ? buf + count : cell, row * sizeof *q);
            }
    return (int)count;
}

static void exchange_halos(double *q)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            /* What leaves through one face arrives as the ghosts of the opposite one.
             * On an axis with one rank the neighbour is this rank: the same call. */
            int to = nbr[d][side], from = nbr[d][1 - side], tag = 2 * d + side;
            int count = copy_slab(q, d, side ? n[d] - G : 0, sendbuf, 0);
            MPI_Sendrecv(sendbuf, count, MPI_DOUBLE, to, tag, recvbuf, count, MPI_DOUBLE, from,
                         tag, cart, MPI_STATUS_IGNORE);
            copy_slab(q, d, side ? -G : n[d], recvbuf, 1);
            halo[0] += to == me ? 0.0 : (double)count * sizeof *q;
            halo[1] += to != me;
        }
}

/* ---- numerics ---------------------------------------------------------------- */

/* Fresh ghosts in q, and W from q in all cells. */
static void prepare(double *q)
{
    exchange_halos(q);
    for (size_t c = 0; c < block; c++) {
        double r = 1.0 / q[c];
        double u = q[c + block] * r, v = q[c + 2 * block] * r, w = q[c + 3 * block] * r;
        W[c] = q[c];
        W[c + block] = u;
        W[c + 2 * block] = v;
        W[c + 3 * block] = w;
        W[c + 4 * block] = (GAMMA - 1) * (q[c + 4 * block] - 0.5 * q[c] * (u * u + v * v + w * w));
    }
}

/* The CFL bound, from W. MAX is exact, so dt has the same bits on every process grid.
 * 0 if a cell is no longer a gas: NaN, or density or pressure below 0. */
static double time_step(void)
{
    double fastest = 0;
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (size_t c = at(i, j, 0), end = c + (size_t)n[2]; c < end; c++) {
                double a = sqrt(GAMMA * W[c + 4 * block] / W[c]);
                double rate = (fabs(W[c + block]) + a) / h[0] + (fabs(W[c + 2 * block]) + a) / h[1]
                              + (fabs(W[c + 3 * block]) + a) / h[2];
                if (!(W[c] > 0 && rate < HUGE_VAL))    /* MAX may drop NaN, not infinity */
                    rate = HUGE_VAL;
                fastest = rate > fastest ? rate : fastest;
            }
    MPI_Allreduce(MPI_IN_PLACE, &fastest, 1, MPI_DOUBLE, MPI_MAX, cart);
    return CFL / fastest;
}

/* The monotonized central limiter: a slope from the two one-sided differences. */
static inline double limited(double a, double b)
{
    double fa = fabs(a), fb = fabs(b), m = 2.0 * (fa < fb ? fa : fb), c = 0.5 * fabs(a + b);
    return (copysign(0.5, a) + copysign(0.5, b)) * (c < m ? c : m);
}

/* Values on the two sides of the face between q[-s] and q[0]. */
static inline void reconstruct(const double *q, ptrdiff_t s, double *left, double *right)
{
    double a = q[-s] - q[-2 * s], b = q[0] - q[-s], c = q[s] - q[0];
    *left = q[-s] + 0.5 * limited(a, b);
    *right = q[0] - 0.5 * limited(b, c);
}

/* HLLC fluxes along axis d through `count` faces in a row: face k lies between cells
 * c + k - stride[d] and c + k. F is [field][n[2] + 1]. */
static void flux_row(double *restrict F, size_t c, size_t d, int count)
{
    ptrdiff_t s = (ptrdiff_t)stride[d];
    size_t row = (size_t)n[2] + 1, N = 1 + d, T = 1 + (d + 1) % 3, B = 1 + (d + 2) % 3;
    const double *r = W + c, *u = r + N * block, *v = r + T * block, *w = r + B * block;
    const double *p = r + 4 * block;
    double *Fn = F + N * row, *Ft = F + T * row, *Fb = F + B * row, *Fe = F + 4 * row;

    for (int k = 0; k < count; k++) {
        double rl, rr, ul, ur, vl, vr, wl, wr, pl, pr;
        reconstruct(r + k, s, &rl, &rr);
        reconstruct(u + k, s, &ul, &ur);    /* the velocity through the face */
        reconstruct(v + k, s, &vl, &vr);
        reconstruct(w + k, s, &wl, &wr);
        reconstruct(p + k, s, &pl, &pr);

        /* Speeds of the fastest waves, then of the contact between them. */
        double cl = sqrt(GAMMA * pl / rl), cr = sqrt(GAMMA * pr / rr);
        double sl = ul - cl < ur - cr ? ul - cl : ur - cr;
        double sr = ul + cl > ur + cr ? ul + cl : ur + cr;
        double ml = rl * (sl - ul), mr = rr * (sr - ur);
        double sm = (pr - pl + ul * ml - ur * mr) / (ml - mr);

        /* The side of the contact that holds the face, and its state between wave and
         * contact. If that wave does not even reach the face (supersonic flow), its
         * speed is cut to 0, which leaves that side's own flux. */
        int l = sm >= 0;
        double R = l ? rl : rr, P = l ? pl : pr, S = l ? sl : sr, M = l ? ml : mr;
        double u0 = l ? ul : ur, v0 = l ? vl : vr, w0 = l ? wl : wr;
        double E = P * (1 / (GAMMA - 1)) + 0.5 * R * (u0 * u0 + v0 * v0 + w0 * w0);
        double inv = 1.0 / (S - sm), Rs = M * inv, Ps = P + M * (sm - u0);
        double Es = (E * (S - u0) - P * u0 + Ps * sm) * inv;
        S = l == (S < 0) ? S : 0.0;
        double mass = R * u0 + S * (Rs - R);
        F[k] = mass;
        Fn[k] = R * u0 * u0 + P + S * (Rs * sm - R * u0);
        Ft[k] = mass * v0;
        Fb[k] = mass * w0;
        Fe[k] = (E + P) * u0 + S * (Es - E);
    }
}

/* One Runge-Kutta stage: out = (1 - b) U + b (q + dt L(q)), where W belongs to q. `out`
 * may be U or q, as the fluxes read W only. The fluxes of the plane and of the row
 * before are kept, so that each is computed once. */
static void stage(const double *q, double *out, double b, double dt)
{
    size_t row = (size_t)n[2] + 1;
    double ax = dt / h[0], ay = dt / h[1], az = dt / h[2];
    for (int i = -1; i < n[0]; i++)
        for (int j = -1; j < n[1]; j++) {
            size_t c = at(i, j, 0), in_plane = (size_t)(j < 0 ? 0 : j) * NF * row;
            double *x0 = fx[i & 1] + in_plane, *x1 = fx[(i + 1) & 1] + in_plane;
            double *y0 = fy[j & 1], *y1 = fy[(j + 1) & 1];
            if (j >= 0)
                flux_row(x1, c + stride[0], 0, n[2]);
            if (i >= 0)
                flux_row(y1, c + stride[1], 1, n[2]);
            if (i < 0 || j < 0)
                continue;
            flux_row(fz, c, 2, n[2] + 1);
            for (size_t f = 0; f < NF; f++)
                for (size_t k = 0; k < (size_t)n[2]; k++) {
                    size_t o = f * block + c + k, g = f * row + k;
                    double change = ax * (x1[g] - x0[g]) + ay * (y1[g] - y0[g])
                                    + az * (fz[g + 1] - fz[g]);
                    out[o] = (1 - b) * U[o] + b * (q[o] - change);
                }
        }
}

/* Ghosts included: their corners, which no stencil reads, then hold a gas too. */
static void initial_state(void)
{
    const double p0 = 1 / GAMMA;    /* with density 1: the speed of sound is 1 */
    for (int i = -G; i < n[0] + G; i++)
        for (int j = -G; j < n[1] + G; j++)
            for (int k = -G; k < n[2] + G; k++) {
                double x = (lo[0] + i + 0.5) * h[0], y = (lo[1] + j + 0.5) * h[1];
                double z = (lo[2] + k + 0.5) * h[2];
                /* A periodic Gaussian, off the vortices' planes of symmetry. */
                double bubble = exp((cos(x - 2.6) + cos(y - 3.5) + cos(z - 2.2) - 3) / 0.5);
                double p = p0 * (1 + 0.4 * bubble), rho = pow(p / p0, 1 / GAMMA) / (1 + bubble);
                /* Divergence-free, as 0.5 + 0.3 - 2 * 0.4 = 0. */
                double u = 0.10 + 0.5 * cos(x) * sin(y) * sin(2 * z);
                double v = 0.05 + 0.3 * sin(x) * cos(y) * sin(2 * z);
                double w = 0.08 - 0.4 * sin(x) * sin(y) * cos(2 * z);
                double q[NF] = {rho, rho * u, rho * v, rho * w,
                                p / (GAMMA - 1) + 0.5 * rho * (u * u + v * v + w * w)};
                for (size_t f = 0; f < NF; f++)
                    U[f * block + at(i, j, k)] = V[f * block + at(i, j, k)] = q[f];
            }
}

/* ---- diagnostics -------------------------------------------------------------- */

static uint64_t mix(uint64_t x)    /* the finalizer of splitmix64 */
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* On rank 0: mass, total and kinetic energy of the box, and a digest of every bit of
 * every field, keyed by the cell's place in the box. XOR has no order, so the digest
 * depends on neither ranks nor timing; the last digits of the sums may. */
static uint64_t diagnose(double sum[3])
{
    uint64_t part = 0, all = 0, bits;
    double mine[3] = {0, 0, 0}, volume = h[0] * h[1] * h[2];
    for (int i = 0; i < n[0]; i++)
        for (int j = 0; j < n[1]; j++)
            for (int k = 0; k < n[2]; k++) {
                uint64_t key = (uint64_t)(lo[0] + i) * (uint64_t)cells[1] + (uint64_t)(lo[1] + j);
                key = key * (uint64_t)cells[2] + (uint64_t)(lo[2] + k);
                double q[NF];
                for (size_t f = 0; f < NF; f++) {
                    q[f] = U[f * block + at(i, j, k)];
                    memcpy(&bits, &q[f], sizeof bits);
                    part ^= mix(mix(key * NF + f + 1) ^ bits);
                }
                mine[0] += volume * q[0];
                mine[1] += volume * q[4];
                mine[2] += volume * 0.5 * (q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) / q[0];
            }
    MPI_Reduce(mine, sum, 3, MPI_DOUBLE, MPI_SUM, 0, cart);
    MPI_Reduce(&part, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, cart);
    return all;
}

/* ---- setup -------------------------------------------------------------------- */

/* What is wrong with the command line, or NULL. All ranks come to the same answer. */
static const char *read_arguments(int argc, char **argv)
{
    if (argc != 1 && argc != 5)
        return "usage: euler3d [NX NY NZ STEPS]";
    for (int a = 1; a < argc; a++) {
        char *end;
        long value = strtol(argv[a], &end, 10);
        if (end == argv[a] || *end || value < 1 || value > (a < 4 ? 8192 : 1000000))
            return "NX NY NZ must be numbers from 1 to 8192, STEPS from 1 to 1000000";
        *(a < 4 ? &cells[a - 1] : &steps) = (int)value;
    }
    MPI_Dims_create(nranks, 3, pgrid);
    for (int d = 0; d < 3; d++)
        if (cells[d] / pgrid[d] < G)
            return "NX NY NZ too small: every rank needs 2 cells along each axis";
    return NULL;
}

static double *allocate(size_t count)
{
    double *p = malloc(count * sizeof *p);
    if (!p) {
        fprintf(stderr, "euler3d: out of memory on rank %d\n", me);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static void decompose(void)
{
    int periodic[3] = {1, 1, 1}, mine[3];
    MPI_Cart_create(MPI_COMM_WORLD, 3, pgrid, periodic, 0, &cart);
    MPI_Cart_coords(cart, me, 3, mine);
    for (int d = 0; d < 3; d++) {
        MPI_Cart_shift(cart, d, 1, &nbr[d][0], &nbr[d][1]);
        lo[d] = cells[d] * mine[d] / pgrid[d];    /* sizes differ by one cell at most */
        n[d] = cells[d] * (mine[d] + 1) / pgrid[d] - lo[d];
        h[d] = TWO_PI / cells[d];
    }
    size_t nx = (size_t)n[0], ny = (size_t)n[1], nz = (size_t)n[2];
    stride[2] = 1;
    stride[1] = nz + 2 * G;
    stride[0] = (ny + 2 * G) * stride[1];
    block = (nx + 2 * G) * stride[0];
    U = allocate(NF * block);
    V = allocate(NF * block);
    W = allocate(NF * block);
    sendbuf = allocate(NF * G * (nx * ny + ny * nz + nz * nx));    /* enough for any face */
    recvbuf = allocate(NF * G * (nx * ny + ny * nz + nz * nx));
    for (int s = 0; s < 2; s++) {    /* see stage() */
        fx[s] = allocate(NF * (nz + 1) * ny);
        fy[s] = allocate(NF * (nz + 1));
    }
    fz = allocate(NF * (nz + 1));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    const char *wrong = read_arguments(argc, argv);
    if (wrong) {
        if (me == 0)
            fprintf(stderr, "euler3d: %s\n", wrong);
        MPI_Finalize();
        return 2;
    }
    decompose();
    initial_state();
    if (me == 0)
        printf("euler3d: %d x %d x %d cells, %d steps, %d ranks as %d x %d x %d\n", cells[0],
               cells[1], cells[2], steps, nranks, pgrid[0], pgrid[1], pgrid[2]);

    double before[3], after[3], t = 0, dt = 1, sent[2], seconds;
    diagnose(before);
    MPI_Barrier(cart);
    double start = MPI_Wtime();
    for (int s = 0; s < steps && dt > 0; s++) {
        prepare(U);
        dt = time_step();
        stage(U, V, 1.0, dt);    /* V = U + dt L(U) */
        prepare(V);
        stage(V, U, 0.5, dt);    /* U = U / 2 + (V + dt L(V)) / 2 */
        t += dt;
    }
    double mine = MPI_Wtime() - start;
    MPI_Reduce(&mine, &seconds, 1, MPI_DOUBLE, MPI_MAX, 0, cart);
    MPI_Reduce(halo, sent, 2, MPI_DOUBLE, MPI_SUM, 0, cart);
    uint64_t bits = diagnose(after);

    int failed = 0;
    if (me == 0) {
        double mass = after[0] / before[0] - 1, energy = after[1] / before[1] - 1;
        printf("model time %.6f\n", t);
        printf("mass       %.12f  drift %.1e\n", after[0], mass);
        printf("energy     %.12f  drift %.1e\n", after[1], energy);
        printf("kinetic    %.12f  at the start %.12f\n", after[2], before[2]);
        printf("halos      %.0f bytes in %.0f messages between ranks\n", sent[0], sent[1]);
        printf("time %.3f s\n", seconds);
        fflush(stdout);
        /* Fluxes cancel in pairs, so only rounding may move the totals; NaN fails too. */
        failed = !(dt > 0 && fabs(mass) < 1e-11 && fabs(energy) < 1e-11 && after[2] < HUGE_VAL);
        if (failed)
            fprintf(stderr, "euler3d: failed: NaN or negative pressure, or mass or energy lost\n");
        else
            printf("digest %016" PRIx64 "\n", bits);
    }
    MPI_Bcast(&failed, 1, MPI_INT, 0, cart);
    MPI_Finalize();
    return failed;
}
