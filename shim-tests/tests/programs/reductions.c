/* Reductions of all types and operations. The result changes if an element is left out or used twice, or if the order is another one where it
 * matters. */
#include "scenarios.h"

#include <string.h>

enum { MOST = 16 };

enum call { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, CALLS };
static const char *const names[CALLS] = {"Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block"};

typedef struct {
  const char *name;
  MPI_Datatype type;
  int bytes;
} element;

/* The arguments of all calls. `counts`: of Reduce_scatter, which reduces their sum of elements; Reduce_scatter_block reduces `count` elements per
 * rank. */
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
  int root, count, counts[MOST];
} setting;

static int make(enum call call, const setting *s, const void *from, void *to, int large)
{
#if MPI_VERSION >= 4
  if (large) {
    MPI_Count counts[MOST];
    for (int i = 0; i < MOST; i++)
      counts[i] = s->counts[i];
    switch (call) {
    case REDUCE:
      return MPI_Reduce_c(from, to, s->count, s->type, s->op, s->root, s->comm);
    case ALLREDUCE:
      return MPI_Allreduce_c(from, to, s->count, s->type, s->op, s->comm);
    case REDUCE_SCATTER:
      return MPI_Reduce_scatter_c(from, to, counts, s->type, s->op, s->comm);
    default:
      return MPI_Reduce_scatter_block_c(from, to, s->count, s->type, s->op, s->comm);
    }
  }
#else
  (void)large;
#endif
  switch (call) {
  case REDUCE:
    return MPI_Reduce(from, to, s->count, s->type, s->op, s->root, s->comm);
  case ALLREDUCE:
    return MPI_Allreduce(from, to, s->count, s->type, s->op, s->comm);
  case REDUCE_SCATTER:
    return MPI_Reduce_scatter(from, to, s->counts, s->type, s->op, s->comm);
  default:
    return MPI_Reduce_scatter_block(from, to, s->count, s->type, s->op, s->comm);
  }
}

/* Small numbers that grow slowly, every third element being noise: compressible data whose sums differ from each other. */
static void fill_elements(unsigned char *data, int count, int bytes, const char *name, int seed)
{
  for (int i = 0; i < count; i++) {
    uint64_t noise = ((uint64_t)i * 0x9e3779b97f4a7c15u + (uint64_t)(seed + rank)) * 0xd6e8feb86659fd93u;
    uint64_t value = (uint64_t)(i / 50 + rank) ^ (i % 3 ? 0 : noise >> 60);
    float single = (float)(1.0 + (double)i * 0.001 + rank);
    double real = 1.0 + (double)i * 0.001 + rank + (i % 3 ? 0.0 : (double)(noise >> 60) * 1e-9);
    if (strcmp(name, "double") == 0)
      memcpy(data + (size_t)i * 8, &real, 8);
    else if (strcmp(name, "float") == 0)
      memcpy(data + (size_t)i * 4, &single, 4);
    else if (strcmp(name, "bool") == 0)
      data[i] = value & 1;
    else
      memcpy(data + (size_t)i * (size_t)bytes, &value, (size_t)bytes);
  }
}

static void one(const char *where, enum call call, setting *s, element of, const char *op, int length, int in_place, int seed)
{
  int me, ranks, total = 0;
  MPI_Comm_rank(s->comm, &me);
  MPI_Comm_size(s->comm, &ranks);
  s->type = of.type;
  s->root = seed % ranks;
  s->count = call == REDUCE_SCATTER_BLOCK ? length / ranks : length;
  for (int i = 0; i < ranks; i++) {
    s->counts[i] = i % 3 == 1 ? 0 : length / ranks + i * 7;
    total += s->counts[i];
  }
  int sent = call == REDUCE_SCATTER ? total : call == REDUCE_SCATTER_BLOCK ? s->count * ranks : length;
  memory from = memory_new((size_t)sent * (size_t)of.bytes), to = memory_new((size_t)sent * (size_t)of.bytes);
  fill_elements(from.data, sent, of.bytes, of.name, seed);
#ifndef OPEN_MPI
  if (call != ALLREDUCE && ranks > 2)
    in_place = 0; /* MPICH 4.0 does not survive it */
#endif
  int placed = in_place && (call != REDUCE || me == s->root);
  if (placed)
    fill_elements(to.data, sent, of.bytes, of.name, seed);
  begin("%s: %s %d %s %s root %d%s", where, names[call], length, of.name, op, s->root, in_place ? " in place" : "");
  note_code(make(call, s, placed ? MPI_IN_PLACE : from.data, call == REDUCE && me != s->root ? NULL : to.data, seed % 3 == 1));
  /* In place, the contents after the block of this rank are undefined. */
  size_t count = call == REDUCE_SCATTER ? (size_t)s->counts[me] : (size_t)s->count;
  if (placed && (call == REDUCE_SCATTER || call == REDUCE_SCATTER_BLOCK))
    memset(to.data + count * (size_t)of.bytes, 0, ((size_t)sent - count) * (size_t)of.bytes);
  note(" from=%016lx to=%016lx", (unsigned long)digest(&from), (unsigned long)digest(&to));
  end();
  memory_free(&from);
  memory_free(&to);
}

static void all_of(const char *where, MPI_Comm comm, int lengths_from, int lengths_to)
{
  static const int lengths[] = {0, 5, 20011, 60000};
  element elements[] = {{"int", MPI_INT, 4},         {"long", MPI_LONG, 8},   {"unsigned char", MPI_UNSIGNED_CHAR, 1},
                        {"int16", MPI_INT16_T, 2},   {"byte", MPI_BYTE, 1},   {"double", MPI_DOUBLE, 8},
                        {"float", MPI_FLOAT, 4},     {"bool", MPI_C_BOOL, 1}, {"2int", MPI_2INT, 8},
                        {"uint64", MPI_UINT64_T, 8}, {"aint", MPI_AINT, 8}};
  struct {
    const char *name;
    MPI_Op op;
  } ops[] = {{"sum", MPI_SUM}, {"prod", MPI_PROD}, {"max", MPI_MAX}, {"min", MPI_MIN},   {"land", MPI_LAND},     {"lor", MPI_LOR},
             {"lxor", MPI_LXOR}, {"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}, {"maxloc", MPI_MAXLOC}};
  enum { ELEMENTS = sizeof elements / sizeof *elements, OPS = sizeof ops / sizeof *ops };
  setting s = {.comm = comm};
  int seed = 0;
  for (int l = lengths_from; l < lengths_to; l++)
    for (int e = 0; e < ELEMENTS; e++)
      for (int o = 0; o < OPS; o++, seed++) {
        int is_real = e == 5 || e == 6, is_bytes = e == 4, is_bool = e == 7, is_pair = e == 8;
        int bitwise = o >= 7 && o <= 9, logical = o >= 4 && o <= 6;
        /* Combinations that the standard does not allow are refused, see below. */
        if ((is_real && o > 3) || (is_bytes && !bitwise) || (is_bool && !logical) || is_pair != (o == 10) ||
            (e == 10 && logical))
          continue;
        s.op = ops[o].op;
        one(where, (enum call)(seed % CALLS), &s, elements[e], ops[o].name, lengths[l], seed / CALLS % 2, seed);
      }
}

void reductions(void)
{
  all_of("world", MPI_COMM_WORLD, 0, 4);
  MPI_Comm comm;
  if (size > 2) {
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    all_of("every other, reversed", comm, 3, 4);
    MPI_Comm_free(&comm);
  }
}

static void by_hand(void *in, void *inout, int *count, MPI_Datatype *type)
{
  (void)type;
  for (int i = 0; i < *count; i++)
    ((int *)inout)[i] = 3 * ((int *)inout)[i] - ((int *)in)[i];
}

/* Many in sequence, of compressible and incompressible data, with other collectives and messages in between: what the ranks count must stay equal on
 * all of them. */
void reductions_in_turn(void)
{
  enum { COUNT = 30000 };
  memory from = memory_new(COUNT * 4), to = memory_new(COUNT * 4), all = memory_new((size_t)size * COUNT * 4);
  MPI_Op own;
  MPI_Op_create(by_hand, 0, &own);
  for (int round = 0; round < 48; round++) {
    fill(from.data, from.room, round / 12 % 2 ? RANDOM : SMOOTH, (uint64_t)(round + rank));
    begin("%d", round);
    note_code(MPI_Allreduce(from.data, to.data, COUNT, MPI_INT, round % 7 == 6 ? own : MPI_SUM, MPI_COMM_WORLD));
    if (round % 5 == 0)
      note_code(MPI_Allgather(to.data, COUNT, MPI_INT, all.data, COUNT, MPI_INT, MPI_COMM_WORLD));
    if (round % 9 == 0)
      note_code(MPI_Reduce(from.data, to.data, COUNT, MPI_UNSIGNED, MPI_MAX, round % size, MPI_COMM_WORLD));
    if (round % 11 == 0) {
      setting s = {.comm = MPI_COMM_WORLD};
      for (int i = 0; i < size; i++)
        s.counts[i] = COUNT / size;
      note_code(MPI_Reduce_scatter(from.data, to.data, s.counts, MPI_INT, MPI_BXOR, MPI_COMM_WORLD));
    }
    note(" to=%016lx all=%016lx", (unsigned long)digest(&to), (unsigned long)digest(&all));
    end();
  }
  MPI_Op_free(&own);
  memory_free(&from);
  memory_free(&to);
  memory_free(&all);
}

/* Calls that the MPI refuses on all ranks, and then the right call. */
void wrong_reductions(void)
{
  enum { COUNT = 40000 };
  static const char *const faults[] = {"no operation of reals", "no sum of bytes", "no operation", "no type",  "negative count",
                                       "no buffer",             "aliased",         "in place",     "no root",  "no communicator"};
  memory from = memory_new(COUNT * 8), to = memory_new(COUNT * 8);
  for (int call = 0; call < CALLS; call++)
    for (int fault = 0; fault < (int)(sizeof faults / sizeof *faults); fault++) {
      setting s = {.type = MPI_INT, .op = MPI_SUM, .comm = MPI_COMM_WORLD, .count = COUNT / size};
      for (int i = 0; i < MOST; i++)
        s.counts[i] = COUNT / size;
      setting right = s;
      void *source = from.data, *target = to.data;
      switch (fault) {
      case 0:
        s.type = MPI_DOUBLE, s.op = MPI_BXOR;
        break;
      case 1:
        s.type = MPI_BYTE;
        break;
      case 2:
        s.op = MPI_OP_NULL;
        break;
      case 3:
        s.type = MPI_DATATYPE_NULL;
        break;
      case 4:
        s.count = s.counts[0] = -1;
        break;
      case 5:
        source = NULL;
        break;
      case 6:
#ifdef OPEN_MPI
        continue; /* it does not refuse that, and the result is undefined */
#endif
        source = target;
        break;
      case 7:
        target = MPI_IN_PLACE;
        break;
      case 8:
        if (call != REDUCE)
          continue;
        s.root = size;
        break;
      default:
        s.comm = MPI_COMM_NULL;
      }
#ifdef OPEN_MPI
      if (fault == 5)
        continue; /* Open MPI reads it */
#else
      if (fault == 3 || fault == 4)
        continue; /* MPICH 5.0 crashes on the one, MPICH 4.0 on the other */
#endif
      /* The ranks other than the root do not detect it, and MPICH crashes if they pass MPI_IN_PLACE. */
      if (call == REDUCE && (fault == 6 || fault == 7))
        continue;
      fill(from.data, from.room, SMOOTH, (uint64_t)(fault + rank));
      fill(to.data, to.room, SMOOTH, (uint64_t)(fault + rank));
      begin("%s, %s", names[call], faults[fault]);
      note_code(make((enum call)call, &s, source, target, 0));
      note(" to=%016lx", (unsigned long)digest(&to));
      note_code(make((enum call)call, &right, from.data, to.data, 0));
      if (call != REDUCE || rank == 0)
        note(" to=%016lx", (unsigned long)digest(&to));
      end();
    }
  memory_free(&from);
  memory_free(&to);
}
