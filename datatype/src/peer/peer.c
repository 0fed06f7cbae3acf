/* What this MPI makes of datatypes: reads descriptions from standard input, builds them with the MPI's constructors, and answers on
 * standard output. All numbers have 64 bits, in the machine's byte order. src/peer/recipe.rs writes descriptions, src/peer/process.rs the
 * rest. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *answers;

static int64_t word(void) {
    int64_t value;
    if (fread(&value, sizeof value, 1, stdin) != 1) {
        MPI_Finalize();
        exit(0);
    }
    return value;
}

static void answer(int64_t value) { fwrite(&value, sizeof value, 1, answers); }

static void check(int code, const char *call) {
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "%s failed with %d\n", call, code);
        exit(1);
    }
}
#define CHECK(call) check(call, #call)

/* Memory that begins at a page. */
static void *room(size_t bytes) {
    void *memory;
    if (posix_memalign(&memory, 4096, bytes ? bytes : 1)) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

static int *ints(int64_t n) {
    int *list = room(n * sizeof *list);
    for (int64_t i = 0; i < n; i++) list[i] = (int)word();
    return list;
}

static MPI_Aint *places(int64_t n) {
    MPI_Aint *list = room(n * sizeof *list);
    for (int64_t i = 0; i < n; i++) list[i] = (MPI_Aint)word();
    return list;
}

#define NAMED 13

static MPI_Datatype named(int64_t name) {
    MPI_Datatype all[NAMED] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_FLOAT, MPI_BYTE, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
        MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_2INT, MPI_LONG_INT, MPI_FLOAT_INT};
    return all[name];
}

static void release(MPI_Datatype *type) {
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(type);
}

/* Reads a description and builds it. */
static MPI_Datatype build(void) {
    MPI_Datatype old = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    int64_t constructor = word(), count, len, stride;
    int *lens;
    MPI_Aint *at;
    switch (constructor) {
    case 0: return named(word());
    case 1:
        old = build();
        CHECK(MPI_Type_dup(old, &type));
        break;
    case 2:
        count = word();
        old = build();
        CHECK(MPI_Type_contiguous(count, old, &type));
        break;
    case 3:
    case 4:
        count = word(), len = word(), stride = word();
        old = build();
        if (constructor == 3) CHECK(MPI_Type_vector(count, len, stride, old, &type));
        else CHECK(MPI_Type_create_hvector(count, len, stride, old, &type));
        break;
    case 5: {
        count = word(), lens = ints(count);
        int *displacements = ints(count);
        old = build();
        CHECK(MPI_Type_indexed(count, lens, displacements, old, &type));
        free(lens), free(displacements);
        break;
    }
    case 6:
        count = word(), lens = ints(count), at = places(count);
        old = build();
        CHECK(MPI_Type_create_hindexed(count, lens, at, old, &type));
        free(lens), free(at);
        break;
    case 7: {
        count = word(), len = word();
        int *displacements = ints(count);
        old = build();
        CHECK(MPI_Type_create_indexed_block(count, len, displacements, old, &type));
        free(displacements);
        break;
    }
    case 8:
        count = word(), len = word(), at = places(count);
        old = build();
        CHECK(MPI_Type_create_hindexed_block(count, len, at, old, &type));
        free(at);
        break;
    case 9: {
        count = word(), lens = ints(count), at = places(count);
        MPI_Datatype *types = room(count * sizeof *types);
        for (int64_t i = 0; i < count; i++) types[i] = build();
        CHECK(MPI_Type_create_struct(count, lens, at, types, &type));
        for (int64_t i = 0; i < count; i++) release(&types[i]);
        free(lens), free(at), free(types);
        return type;
    }
    case 10: {
        count = word();
        int order = word() ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
        int *sizes = ints(count), *subsizes = ints(count), *starts = ints(count);
        old = build();
        CHECK(MPI_Type_create_subarray(count, sizes, subsizes, starts, order, old, &type));
        free(sizes), free(subsizes), free(starts);
        break;
    }
    case 11: {
        count = word();
        int order = word() ? MPI_ORDER_FORTRAN : MPI_ORDER_C, processes = word(), rank = word();
        int sizes[16], distributions[16], arguments[16], grid[16];
        static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
        for (int i = 0; i < count; i++) {
            sizes[i] = word(), distributions[i] = kinds[word()], arguments[i] = word(), grid[i] = word();
            if (!arguments[i]) arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        }
        old = build();
        CHECK(MPI_Type_create_darray(processes, rank, count, sizes, distributions, arguments, grid, order, old, &type));
        break;
    }
    case 12: {
        MPI_Aint lb = word(), extent = word();
        old = build();
        CHECK(MPI_Type_create_resized(old, lb, extent, &type));
        break;
    }
    default: fprintf(stderr, "no constructor %lld\n", (long long)constructor); exit(1);
    }
    release(&old);
    return type;
}

/* What the calls report about a handle, and about those it is made from; for a predefined one, its index in `named`. */
static void contents(MPI_Datatype type) {
    int integers, addresses, types, combiner;
    CHECK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
    answer(combiner);
    if (combiner == MPI_COMBINER_NAMED) {
        int name = 0;
        while (name < NAMED && named(name) != type) name++;
        answer(name);
        return;
    }
    int *i = room(integers * sizeof *i);
    MPI_Aint *a = room(addresses * sizeof *a);
    MPI_Datatype *d = room(types * sizeof *d);
    CHECK(MPI_Type_get_contents(type, integers, addresses, types, i, a, d));
    answer(integers), answer(addresses), answer(types);
    for (int k = 0; k < integers; k++) answer(i[k]);
    for (int k = 0; k < addresses; k++) answer(a[k]);
    for (int k = 0; k < types; k++) {
        int first = 0;
        while (d[first] != d[k]) first++;
        answer(first);
        if (first == k) contents(d[k]);
    }
    for (int k = 0; k < types; k++) release(&d[k]);
    free(i), free(a), free(d);
}

/* The numbers in `Abi`, in its order. */
static void abi(void) {
    static const int numbers[] = {MPI_COMBINER_NAMED, MPI_COMBINER_DUP, MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_VECTOR, MPI_COMBINER_HVECTOR,
        MPI_COMBINER_INDEXED, MPI_COMBINER_HINDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT,
        MPI_COMBINER_SUBARRAY, MPI_COMBINER_DARRAY, MPI_COMBINER_RESIZED, MPI_ORDER_C, MPI_ORDER_FORTRAN, MPI_DISTRIBUTE_NONE,
        MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) answer(numbers[i]);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void pack(char *origin, int count, MPI_Datatype type, char *packed, int size) {
    int position = 0;
    CHECK(MPI_Pack(origin, count, type, packed, size, &position, MPI_COMM_SELF));
}

static void unpack(char *origin, int count, MPI_Datatype type, char *packed, int size) {
    int position = 0;
    CHECK(MPI_Unpack(packed, size, &position, origin, count, type, MPI_COMM_SELF));
}

static void fill(unsigned char *memory, size_t len, uint64_t salt) {
    for (size_t i = 0; i < len; i++) memory[i] = (unsigned char)(((i + salt) * 0x9e3779b97f4a7c15ull) >> 56);
}

/* Size, bounds and packed bytes, and the memory after they are unpacked. */
static void examine(int64_t count, int64_t low, size_t len, MPI_Datatype type) {
    int size, packed_size, position = 0;
    MPI_Aint lb, extent, true_lb, true_extent;
    CHECK(MPI_Type_size(type, &size));
    CHECK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    CHECK(MPI_Pack_size(count, type, MPI_COMM_SELF, &packed_size));
    unsigned char *memory = room(len), *packed = room(packed_size);
    fill(memory, len, 0);
    if (size) CHECK(MPI_Pack(memory - low, count, type, packed, packed_size, &position, MPI_COMM_SELF));
    answer(size), answer(lb), answer(extent), answer(true_lb), answer(true_extent), answer(position);
    fwrite(packed, 1, position, answers);
    fill(memory, len, 77);
    int from = 0;
    if (size) CHECK(MPI_Unpack(packed, position, &from, memory - low, count, type, MPI_COMM_SELF));
    fwrite(memory, 1, len, answers);
    free(memory), free(packed);
}

/* A clock tick is long compared to a short message, so each time covers several messages. */
static void clock_it(int64_t count, int64_t low, size_t len, MPI_Datatype type, int64_t rounds, int64_t repeats) {
    int size;
    CHECK(MPI_Pack_size(count, type, MPI_COMM_SELF, &size));
    char *memory = room(len), *packed = room(size);
    memset(memory, 1, len), memset(packed, 2, size);
    for (int64_t i = 0; i < rounds; i++) {
        double start = seconds();
        for (int64_t k = 0; k < repeats; k++) pack(memory - low, count, type, packed, size);
        double middle = seconds();
        for (int64_t k = 0; k < repeats; k++) unpack(memory - low, count, type, packed, size);
        double end = seconds();
        answer((int64_t)(1e9 * (middle - start))), answer((int64_t)(1e9 * (end - middle)));
    }
    /* The next allocations should differ, so that all pages are not the same by bad luck. */
    static char *kept[16];
    static int next;
    char *used[2] = {memory, packed};
    for (int i = 0; i < 2; i++, next = (next + 1) % 16) {
        free(kept[next]);
        kept[next] = len <= 16 << 20 ? used[i] : (free(used[i]), NULL);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    answers = stdout;
    for (;;) {
        int64_t command = word(), count = word(), low = word(), len = word(), rounds = word(), repeats = word();
        MPI_Datatype type = build();
        CHECK(MPI_Type_commit(&type));
        if (command == 1) examine(count, low, len, type);
        else if (command == 3) abi(), contents(type);
        else clock_it(count, low, len, type, rounds, repeats);
        fflush(answers);
        release(&type);
    }
}
