/* Collectives that move data: every call, blocking and nonblocking, with blocks below and above the floor, of several layouts, in place where that is
 * allowed, on communicators of all kinds, and several at a time. */
#include "scenarios.h"

#include <string.h>

enum { TAG = 110, MOST = 64 };

enum call { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, CALLS };
static const char *const names[CALLS] = {"Bcast",     "Gather",     "Gatherv",  "Scatter",   "Scatterv",
                                         "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"};

/* Elements of `size` bytes, each `step` bytes after the previous one. */
typedef struct {
  const char *name;
  MPI_Datatype type;
  int size, step;
} element;

/* Blocks of up to `length` elements for each rank of `comm`. In the v-forms the blocks have different lengths, and some are empty. */
typedef struct {
  MPI_Comm comm;
  int me, count, root, length, in_place;
  element of;
  int mine, counts[MOST], places[MOST], side_by_side[MOST], sent[MOST], received[MOST], sent_at[MOST], received_at[MOST];
  MPI_Datatype types[MOST];
  /* The same for large counts. */
  MPI_Count counts_c[MOST], sent_c[MOST], received_c[MOST];
  MPI_Aint places_c[MOST], side_by_side_c[MOST], sent_at_c[MOST], received_at_c[MOST];
} setting;

static setting setting_of(MPI_Comm comm, element of, int length, int root, int in_place)
{
  setting s = {.comm = comm, .root = root, .length = length, .in_place = in_place, .of = of};
  MPI_Comm_rank(comm, &s.me);
  MPI_Comm_size(comm, &s.count);
  if (s.count > MOST)
    give_up("more ranks than expected");
  for (int i = 0; i < s.count; i++) {
    s.counts[i] = length * (i + 1) / (s.count + 1);
    s.places[i] = (s.count - 1 - i) * length;
    s.side_by_side[i] = i * length;
    s.sent[i] = (s.me + 2 * i) % 3 ? length * ((s.me + i) % s.count + 1) / s.count : 0;
    s.received[i] = (i + 2 * s.me) % 3 ? length * ((i + s.me) % s.count + 1) / s.count : 0;
    /* In place, two ranks exchange blocks of the same length. */
    if (in_place)
      s.received[i] = (s.me + i) % 3 ? length * ((s.me + i) % s.count + 1) / s.count : 0;
    s.sent_at[i] = s.received_at[i] = i * length * of.step;
    s.types[i] = of.type;
    s.counts_c[i] = s.counts[i];
    s.sent_c[i] = s.sent[i];
    s.received_c[i] = s.received[i];
    s.places_c[i] = s.places[i];
    s.side_by_side_c[i] = s.side_by_side[i];
    s.sent_at_c[i] = s.sent_at[i];
    s.received_at_c[i] = s.received_at[i];
  }
  s.mine = s.counts[s.me];
  return s;
}

static int in_place_allowed(enum call call)
{
  return call != BCAST;
}

#define CALL(name) MPI_##name
#define FORM(name) name
#include "collective_calls.h"
#undef CALL
#undef FORM

#if MPI_VERSION >= 4
#define CALL(name) MPI_##name##_c
#define FORM(name) name##_c
#include "collective_calls.h"
#undef CALL
#undef FORM
#else
#define make_c make
#endif

/* Both buffers of a setting. In place, the input is in the buffer of the result. */
static void buffers(setting *s, int seed, memory *out, memory *in)
{
  size_t room = (size_t)s->length * (size_t)s->of.step * (size_t)s->count;
  enum content content = seed % 3 == 2 ? RANDOM : SMOOTH;
  *out = memory_new(room);
  *in = memory_new(room);
  fill(out->data, room, content, (uint64_t)(seed * 100 + s->me));
  if (s->in_place)
    fill(in->data, room, content, (uint64_t)(seed * 100 + s->me + 50));
}

static void one(const char *where, enum call call, setting *s, int seed, int nonblocking)
{
  memory out, in;
  MPI_Request request;
  MPI_Status status;
  buffers(s, seed, &out, &in);
  begin("%s: %s%s %d %s root %d%s", where, nonblocking ? "I" : "", names[call], s->length, s->of.name, s->root,
        s->in_place ? " in place" : "");
  note_code((seed % 3 == 1 ? make_c : make)(call, s, out.data, in.data, nonblocking ? &request : NULL));
  if (nonblocking)
    note_code(complete_quietly(seed % COMPLETIONS, &request, &status));
  note(" out=%016lx in=%016lx", (unsigned long)digest(&out), (unsigned long)digest(&in));
  end();
  memory_free(&out);
  memory_free(&in);
}

static void all_of(const char *where, MPI_Comm comm, element of, int lengths_from, int lengths_to)
{
  static const int lengths[] = {0, 3, 127, 128, 1029, 40000};
  int count, seed = 0;
  MPI_Comm_size(comm, &count);
  for (int l = lengths_from; l < lengths_to; l++)
    for (int in_place = 0; in_place < 2; in_place++)
      for (int call = 0; call < CALLS; call++)
        for (int nonblocking = 0; nonblocking < 2; nonblocking++, seed++) {
          if (in_place && !in_place_allowed((enum call)call))
            continue;
#ifdef OPEN_MPI
          /* Open MPI 4.1.4 gives wrong blocks in a nonblocking all-to-all in place with several lengths. */
          if (in_place && nonblocking && (call == ALLTOALLV || call == ALLTOALLW))
            continue;
#endif
          setting s = setting_of(comm, of, lengths[l], seed % count, in_place);
          one(where, (enum call)call, &s, seed, nonblocking);
        }
}

void collectives(void)
{
  element elements[] = {{"doubles", MPI_DOUBLE, 8, 8}, {"bytes", MPI_BYTE, 1, 1}, {"spread doubles", 0, 8, 24}};
  MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &elements[2].type);
  MPI_Type_commit(&elements[2].type);
  for (int e = 0; e < 3; e++)
    all_of("world", MPI_COMM_WORLD, elements[e], 0, 6);
  MPI_Type_free(&elements[2].type);
}

/* Broadcasts and all-gathers long enough to go in chunks, from all roots: first several calls whose blocks cannot be compressed, so that the shim
 * leaves some calls to the MPI, then calls whose blocks can. In the v-form, some blocks are long and others are not. */
void long_collectives(void)
{
  static const int lengths[] = {16400, 140001, 300000};
  static const enum call calls[] = {BCAST, ALLGATHER, ALLGATHERV};
  element elements[] = {{"doubles", MPI_DOUBLE, 8, 8}, {"spread doubles", 0, 8, 24}};
  MPI_Type_create_resized(MPI_DOUBLE, 0, 24, &elements[1].type);
  MPI_Type_commit(&elements[1].type);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  for (int round = 0; round < 30; round++)
    for (int call = 0; call < 3; call++) {
      MPI_Comm comm = round % 5 == 4 ? reversed : MPI_COMM_WORLD;
      int in_place = round % 4 == 3 && in_place_allowed(calls[call]);
      setting s = setting_of(comm, elements[round % 7 == 6], lengths[round % 3], round % size, in_place);
      /* Ten rounds of random bytes; in the last ten, one in three. */
      one("long", calls[call], &s, round < 10 ? 3 * round : round < 20 ? 3 * round + 2 : round, 0);
    }
  MPI_Comm_free(&reversed);
  MPI_Type_free(&elements[1].type);
}

void collectives_of_many(void)
{
  element doubles = {"doubles", MPI_DOUBLE, 8, 8};
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  all_of("reversed", comm, doubles, 4, 5);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  all_of("every other", comm, doubles, 4, 5);
  /* Between two groups: left to the MPI. */
  if (size > 1) {
    MPI_Comm inter;
    int there, data[2000], gathered[2000 * MOST];
    MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
    MPI_Comm_remote_size(inter, &there);
    for (int i = 0; i < 2000; i++)
      data[i] = rank * 1000 + i;
    begin("inter");
    note_code(MPI_Bcast(data, 2000, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    note_code(MPI_Allgather(data, 2000, MPI_INT, gathered, 2000, MPI_INT, inter));
    note(" data=%016lx", (unsigned long)digest_bytes(gathered, sizeof(int) * 2000 * (size_t)there));
    end();
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&comm);
}

/* Several pending collectives with messages in between, completed in an order different from the order of their calls. */
void collectives_at_a_time(void)
{
  element doubles = {"doubles", MPI_DOUBLE, 8, 8};
  enum { COUNT = 7 };
  static const enum call calls[COUNT] = {ALLTOALL, ALLGATHER, BCAST, GATHER, SCATTER, ALLGATHERV, ALLTOALLV};
  for (int round = 0; round < 12; round++) {
    setting settings[COUNT];
    memory out[COUNT], in[COUNT], sent = memory_new(24000), received = memory_new(24000);
    MPI_Request requests[COUNT + 2];
    MPI_Status statuses[COUNT + 2];
    int next_rank = (rank + 1) % size, before = (rank + size - 1) % size;
    begin("round %d", round);
    for (int c = 0; c < COUNT; c++) {
      settings[c] = setting_of(MPI_COMM_WORLD, doubles, 500 * (c + 1), (round + c) % size, 0);
      buffers(&settings[c], round + c, &out[c], &in[c]);
      note_code(make(calls[c], &settings[c], out[c].data, in[c].data, &requests[c]));
    }
    fill(sent.data, sent.room, SMOOTH, (uint64_t)(round * 10 + rank));
    MPI_Irecv(received.data, 3000, MPI_DOUBLE, before, TAG, MPI_COMM_WORLD, &requests[COUNT]);
    MPI_Isend(sent.data, 3000, MPI_DOUBLE, next_rank, TAG, MPI_COMM_WORLD, &requests[COUNT + 1]);
    if (round % 3 == 0)
      note_code(MPI_Waitall(COUNT + 2, requests, statuses));
    else if (round % 3 == 1)
      for (int i = 0; i < COUNT + 2; i++) {
        int index;
        note_code(MPI_Waitany(COUNT + 2, requests, &index, &statuses[0]));
      }
    else
      for (int i = COUNT + 1; i >= 0; i--)
        note_code(MPI_Wait(&requests[i], &statuses[i]));
    for (int i = 0; i < COUNT + 2; i++)
      note_request("", requests[i]);
    for (int c = 0; c < COUNT; c++) {
      note(" %016lx", (unsigned long)digest(&in[c]));
      memory_free(&out[c]);
      memory_free(&in[c]);
    }
    note(" %016lx", (unsigned long)digest(&received));
    end();
    memory_free(&sent);
    memory_free(&received);
  }
}

/* The ranks wait for their collectives one after another; until its turn, a rank blocks in a receive. A rank's collectives must not depend on what
 * another rank does while it waits. */
void collectives_in_turn(void)
{
  element doubles = {"doubles", MPI_DOUBLE, 8, 8};
  enum { COUNT = 3 };
  static const enum call calls[COUNT] = {BCAST, ALLGATHER, ALLGATHERV};
  for (int first = 0; first < size; first++)
    for (int root = 0; root < size; root++) {
      setting settings[COUNT];
      memory out[COUNT], in[COUNT];
      MPI_Request requests[COUNT];
      int turn = (rank + size - first) % size;
      begin("first %d, root %d", first, root);
      for (int c = 0; c < COUNT; c++) {
        settings[c] = setting_of(MPI_COMM_WORLD, doubles, 40000, root, 0);
        buffers(&settings[c], c, &out[c], &in[c]);
        note_code(make(calls[c], &settings[c], out[c].data, in[c].data, &requests[c]));
      }
      if (turn > 0)
        note_code(MPI_Recv(NULL, 0, MPI_BYTE, (rank + size - 1) % size, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      note_code(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
      if (turn < size - 1)
        note_code(MPI_Send(NULL, 0, MPI_BYTE, (rank + 1) % size, TAG, MPI_COMM_WORLD));
      for (int c = 0; c < COUNT; c++) {
        note(" %016lx", (unsigned long)digest(&in[c]));
        memory_free(&out[c]);
        memory_free(&in[c]);
      }
      end();
    }
}

/* Blocks at absolute addresses: both buffers are MPI_BOTTOM, and no memory is shared. */
void collectives_of_absolute_blocks(void)
{
  enum { COUNT = 1500, MOST = 16 };
  if (size > MOST)
    return;
  size_t block = COUNT * sizeof(double);
  memory out = memory_new((size_t)size * block), in = memory_new((size_t)size * block);
  MPI_Datatype from[MOST], to[MOST];
  int ones[MOST], zeros[MOST], length = COUNT;
  fill(out.data, out.room, SMOOTH, (uint64_t)rank);
  for (int i = 0; i < size; i++) {
    MPI_Aint address;
    ones[i] = 1;
    zeros[i] = 0;
    MPI_Get_address(out.data + (size_t)i * block, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_DOUBLE, &from[i]);
    MPI_Type_commit(&from[i]);
    MPI_Get_address(in.data + (size_t)i * block, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_DOUBLE, &to[i]);
    MPI_Type_commit(&to[i]);
  }
  begin("Alltoallw from and to MPI_BOTTOM");
  note_code(MPI_Alltoallw(MPI_BOTTOM, ones, zeros, from, MPI_BOTTOM, ones, zeros, to, MPI_COMM_WORLD));
  note(" data=%016lx", (unsigned long)digest(&in));
  end();
  for (int i = 0; i < size; i++) {
    MPI_Type_free(&from[i]);
    MPI_Type_free(&to[i]);
  }
  memory_free(&out);
  memory_free(&in);
}
