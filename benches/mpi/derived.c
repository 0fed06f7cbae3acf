/* The cost of a derived datatype: the ping-pong of S. Byna, W. Gropp, X. Sun and R. Thakur, Improving the Performance of MPI Derived Datatypes by
 * Optimizing Memory-Access Cost, 2003: a derived send and a contiguous receive.
 *
 * derived FILE transpose|face|plain N ROUNDS
 *
 * Rank 0 sends a matrix of N x N doubles, made from FILE, to the last rank: `transpose` by columns, as a vector of vectors; `face` as the inner N/2 x
 * N subarray, whose rows have gaps; `plain` as it is in memory. An empty message answers each. Rank 0 prints the medians: `bytes N rounds N isend_us
 * T message_us T`. `isend_us` is the time in MPI_Isend, in which a message in chunks is packed and encoded; `message_us` lasts until the answer. The
 * first message is compared with what was sent. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ascending.h"

static void fail(const char *why) {
    fprintf(stderr, "derived: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5 || size < 2) fail("usage: derived FILE transpose|face|plain N ROUNDS, with two ranks or more");
    int n = atoi(argv[3]), rounds = atoi(argv[4]), is_face = strcmp(argv[2], "face") == 0;
    int is_transpose = strcmp(argv[2], "transpose") == 0, last = size - 1;
    if (n < 2 || n % 2 || rounds < 1) fail("N must be even, and ROUNDS positive");
    size_t all = (size_t)n * (size_t)n, count = is_face ? all / 2 : all;
    double *matrix = malloc(all * sizeof *matrix), *got = malloc(count * sizeof *got);
    double *isend = calloc((size_t)rounds, sizeof *isend), *message = calloc((size_t)rounds, sizeof *message);
    FILE *file = fopen(argv[1], "rb");
    if (!file || !matrix || !got || !isend || !message) fail("cannot begin");
    size_t have = fread(matrix, sizeof *matrix, all, file);
    fclose(file);
    if (have == 0) fail("the file is empty");
    for (size_t at = have; at < all; at++) matrix[at] = matrix[at - have];

    MPI_Datatype column, stepped, type;
    if (is_transpose) {
        MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
        MPI_Type_create_resized(column, 0, sizeof(double), &stepped);
        MPI_Type_contiguous(n, stepped, &type);
        MPI_Type_free(&column), MPI_Type_free(&stepped);
    } else if (is_face) {
        int sizes[] = {n, n}, inner[] = {n, n / 2}, from[] = {0, n / 4};
        MPI_Type_create_subarray(2, sizes, inner, from, MPI_ORDER_C, MPI_DOUBLE, &type);
    } else {
        MPI_Type_contiguous((int)count, MPI_DOUBLE, &type);
    }
    MPI_Type_commit(&type);
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Request request;
            double start = MPI_Wtime();
            MPI_Isend(matrix, 1, type, last, 1, MPI_COMM_WORLD, &request);
            isend[round] = (MPI_Wtime() - start) * 1e6;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            message[round] = (MPI_Wtime() - start) * 1e6;
        } else if (rank == last) {
            MPI_Recv(got, (int)count, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            for (size_t at = 0; round == 0 && at < count; at++) {
                size_t row = is_face ? at / (size_t)(n / 2) : at / (size_t)n;
                size_t place = is_transpose ? at % (size_t)n * (size_t)n + row
                               : is_face    ? row * (size_t)n + (size_t)(n / 4) + at % (size_t)(n / 2)
                                            : at;
                if (memcmp(&got[at], &matrix[place], sizeof *got) != 0) fail("the received data are wrong");
            }
        }
    }
    if (rank == 0) {
        qsort(isend, (size_t)rounds, sizeof *isend, ascending);
        qsort(message, (size_t)rounds, sizeof *message, ascending);
        printf("bytes %zu rounds %d isend_us %.1f message_us %.1f\n", count * sizeof *got, rounds, isend[rounds / 2],
               message[rounds / 2]);
    }
    MPI_Type_free(&type);
    free(matrix), free(got), free(isend), free(message);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
