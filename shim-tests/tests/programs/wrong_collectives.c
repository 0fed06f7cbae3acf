/* Collectives with arguments that the MPI refuses: the same ranks report the same error, once; if it refuses nothing, the data are the same. If only
 * one rank is refused and no other waits for it, it makes the right call afterwards. */
#include "scenarios.h"

#include <setjmp.h>
#include <string.h>

/* Elements of a block, above the floor; few enough that a message can leave its sender before a receiver waits for it. */
enum { COUNT = 200, MOST = 16 };

enum call { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, CALLS };
static const char *const names[CALLS] = {"Bcast",     "Gather",     "Gatherv",  "Scatter",   "Scatterv",
                                         "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"};

enum wrong {
  NO_SEND_TYPE,
  NO_RECV_TYPE,
  UNCOMMITTED_SEND_TYPE,
  UNCOMMITTED_RECV_TYPE,
  NEGATIVE_SEND_COUNT,
  NEGATIVE_RECV_COUNT,
  NO_SEND_BUFFER,
  NO_RECV_BUFFER,
  SEND_IN_PLACE,
  RECV_IN_PLACE,
  ALIASED,
  ALIASED_WITH_ANOTHER_TYPE,
  ROOT_TOO_LARGE,
  NEGATIVE_ROOT,
  NO_COMMUNICATOR,
  NO_SEND_COUNTS,
  NO_RECV_COUNTS,
  NO_SEND_PLACES,
  NO_RECV_PLACES,
  NO_TYPE_OF_NOTHING,
  NOTHING_FROM_NOWHERE,
  WRONGS
};
static const char *const faults[WRONGS] = {"no send type",
                                           "no receive type",
                                           "send type not committed",
                                           "receive type not committed",
                                           "negative send count",
                                           "negative receive count",
                                           "no send buffer",
                                           "no receive buffer",
                                           "send in place",
                                           "receive in place",
                                           "aliased",
                                           "aliased, another type",
                                           "root too large",
                                           "negative root",
                                           "no communicator",
                                           "no send counts",
                                           "no receive counts",
                                           "no send places",
                                           "no receive places",
                                           "nothing of no type",
                                           "nothing from nowhere"};

static int calls, last_class;
static MPI_Datatype uncommitted, another, pair;

static void handler(MPI_Comm *comm, int *code, ...)
{
  (void)comm;
  calls++;
  last_class = class_of(*code);
}

/* The arguments of all calls. In the v-forms each rank has the arrays of a plain all-to-all. */
typedef struct {
  void *out, *in;
  int out_count, in_count, root;
  MPI_Datatype out_type, in_type;
  MPI_Comm comm;
  int *out_counts, *in_counts, *out_places, *in_places;
  MPI_Datatype *out_types, *in_types;
} arguments;

static int make(enum call call, const arguments *a, MPI_Request *request)
{
  switch (call) {
  case BCAST:
    return request ? MPI_Ibcast(a->in, a->in_count, a->in_type, a->root, a->comm, request)
                   : MPI_Bcast(a->in, a->in_count, a->in_type, a->root, a->comm);
  case GATHER:
    return request ? MPI_Igather(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->root, a->comm, request)
                   : MPI_Gather(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->root, a->comm);
  case GATHERV:
    return request ? MPI_Igatherv(a->out, a->out_count, a->out_type, a->in, a->in_counts, a->in_places, a->in_type, a->root,
                                  a->comm, request)
                   : MPI_Gatherv(a->out, a->out_count, a->out_type, a->in, a->in_counts, a->in_places, a->in_type, a->root,
                                 a->comm);
  case SCATTER:
    return request ? MPI_Iscatter(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->root, a->comm, request)
                   : MPI_Scatter(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->root, a->comm);
  case SCATTERV:
    return request ? MPI_Iscatterv(a->out, a->out_counts, a->out_places, a->out_type, a->in, a->in_count, a->in_type, a->root,
                                   a->comm, request)
                   : MPI_Scatterv(a->out, a->out_counts, a->out_places, a->out_type, a->in, a->in_count, a->in_type, a->root,
                                  a->comm);
  case ALLGATHER:
    return request ? MPI_Iallgather(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->comm, request)
                   : MPI_Allgather(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->comm);
  case ALLGATHERV:
    return request ? MPI_Iallgatherv(a->out, a->out_count, a->out_type, a->in, a->in_counts, a->in_places, a->in_type, a->comm,
                                     request)
                   : MPI_Allgatherv(a->out, a->out_count, a->out_type, a->in, a->in_counts, a->in_places, a->in_type, a->comm);
  case ALLTOALL:
    return request ? MPI_Ialltoall(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->comm, request)
                   : MPI_Alltoall(a->out, a->out_count, a->out_type, a->in, a->in_count, a->in_type, a->comm);
  case ALLTOALLV:
    return request ? MPI_Ialltoallv(a->out, a->out_counts, a->out_places, a->out_type, a->in, a->in_counts, a->in_places,
                                    a->in_type, a->comm, request)
                   : MPI_Alltoallv(a->out, a->out_counts, a->out_places, a->out_type, a->in, a->in_counts, a->in_places,
                                   a->in_type, a->comm);
  default:
    return request ? MPI_Ialltoallw(a->out, a->out_counts, a->out_places, a->out_types, a->in, a->in_counts, a->in_places,
                                    a->in_types, a->comm, request)
                   : MPI_Alltoallw(a->out, a->out_counts, a->out_places, a->out_types, a->in, a->in_counts, a->in_places,
                                   a->in_types, a->comm);
  }
}

static int is_rooted(enum call call)
{
  return call <= SCATTERV;
}

#ifdef OPEN_MPI
static int has_out_counts(enum call call)
{
  return call == SCATTERV || call == ALLTOALLV || call == ALLTOALLW;
}

static int has_in_counts(enum call call)
{
  return call == GATHERV || call == ALLGATHERV || call == ALLTOALLV || call == ALLTOALLW;
}
#endif

/* Blocks of one length for all ranks. */
static void set_right(enum call call, arguments *a)
{
  for (int i = 0; i < size; i++) {
    a->out_counts[i] = a->in_counts[i] = COUNT;
    a->out_places[i] = a->in_places[i] = i * COUNT * (call == ALLTOALLW ? 8 : 1);
    a->out_types[i] = a->in_types[i] = MPI_DOUBLE;
  }
}

/* Makes one argument wrong. Returns 0 if the call has no such argument on this rank, or plain MPI crashes on it. */
static int spoil(enum call call, arguments *a, enum wrong wrong)
{
  int here = rank == a->root, last = size - 1;
  int sends = call != BCAST && (here || (call != SCATTER && call != SCATTERV));
  int receives = here || (call != GATHER && call != GATHERV);
  size_t at = 0;
  if (call == GATHER || call == GATHERV || call == ALLGATHER || call == ALLGATHERV)
    at = (size_t)rank * COUNT * 8;
  switch (wrong) {
  case NO_SEND_TYPE:
    a->out_type = a->out_types[last] = MPI_DATATYPE_NULL;
    return sends;
  case NO_RECV_TYPE:
    a->in_type = a->in_types[last] = MPI_DATATYPE_NULL;
    return receives;
  case UNCOMMITTED_SEND_TYPE:
    a->out_type = a->out_types[last] = uncommitted;
    return sends;
  case UNCOMMITTED_RECV_TYPE:
    a->in_type = a->in_types[last] = uncommitted;
    return receives;
  case NEGATIVE_SEND_COUNT:
    a->out_count = a->out_counts[last] = -1;
    return sends;
  case NEGATIVE_RECV_COUNT:
    a->in_count = a->in_counts[last] = -1;
#ifdef OPEN_MPI
    if (call == ALLGATHERV)
      return 0; /* Interpreted as a length. */
#endif
    return receives;
#ifndef OPEN_MPI
  /* Open MPI does not check. */
  case NO_SEND_BUFFER:
    a->out = NULL;
    return sends;
  case NO_RECV_BUFFER:
    a->in = NULL;
    return receives;
#else
  /* MPICH does not check. */
  case NO_SEND_COUNTS:
    a->out_counts = NULL;
    return sends && has_out_counts(call);
  case NO_RECV_COUNTS:
    a->in_counts = NULL;
    return receives && has_in_counts(call) && call != ALLGATHERV; /* which reads it before it checks it */
  case NO_SEND_PLACES:
    a->out_places = NULL;
    return sends && has_out_counts(call);
  case NO_RECV_PLACES:
    a->in_places = NULL;
    return receives && has_in_counts(call);
  case SEND_IN_PLACE:
    a->out = MPI_IN_PLACE;
    return (call == GATHER || call == GATHERV) && !here;
#endif
  case RECV_IN_PLACE:
    a->in = MPI_IN_PLACE;
#ifndef OPEN_MPI
    if (call == BCAST || call == SCATTER || call == SCATTERV)
      return 0; /* MPICH interprets it as an address. */
#endif
    return receives && !(here && (call == SCATTER || call == SCATTERV));
  case ALIASED:
    if (call == SCATTER || call == SCATTERV)
      a->in = (char *)a->out + (size_t)rank * COUNT * 8;
    else
      a->out = (char *)a->in + at;
    a->out_counts = a->in_counts;
    a->out_types = a->in_types;
    return sends && receives;
#ifdef OPEN_MPI
  /* MPICH ends the program where this block is copied. */
  case ALIASED_WITH_ANOTHER_TYPE:
    if (call >= ALLTOALL)
      return 0;
    if (call == SCATTER || call == SCATTERV)
      a->in = (char *)a->out + (size_t)rank * COUNT * 8;
    else
      a->out = (char *)a->in + at;
    a->out_type = another;
    return sends && receives;
#endif
  case ROOT_TOO_LARGE:
    a->root = size;
    return is_rooted(call);
  case NEGATIVE_ROOT:
    a->root = -77;
    return is_rooted(call);
  case NO_COMMUNICATOR:
    a->comm = MPI_COMM_NULL;
#ifdef OPEN_MPI
    return is_rooted(call); /* The others read it before they check it. */
#else
    return 1;
#endif
  case NO_TYPE_OF_NOTHING:
    /* No rank has data for the last rank, which has none for any other. */
    if (call != ALLTOALLW)
      return 0;
    for (int i = 0; i < size; i++)
      if (i == last || rank == last) {
        a->out_counts[i] = a->in_counts[i] = 0;
        a->out_types[i] = a->in_types[i] = MPI_DATATYPE_NULL;
      }
    return 1;
  case NOTHING_FROM_NOWHERE:
    if (call == GATHERV || call == ALLGATHERV) {
      a->in_counts[last] = 0;
      if (rank == last) {
        a->out = NULL;
        a->out_count = 0;
        a->out_type = pair;
      }
    } else if (call == SCATTERV) {
      a->out_counts[last] = 0;
      if (rank == last && !here) {
        a->in = NULL;
        a->in_count = 0;
        a->in_type = pair;
      }
    } else
      return 0;
    return 1;
  default:
    return 0;
  }
}

/* The number of ranks with wrong arguments. 0 also if a rank with right arguments waits for them. */
static int spoiling(enum call call, int root, int spoils)
{
  int mine[2] = {spoils, spoils && rank == root}, all[2];
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all[0] == size)
    return size;
  /* In gathers the root waits, in scatters all others do. */
  int waits = call >= ALLGATHER || (call == GATHER || call == GATHERV ? !all[1] : all[1]);
  return waits ? 0 : all[0];
}

static int make_and_wait(enum call call, const arguments *a, MPI_Request *request)
{
  int code = make(call, a, request);
  note_code(code);
  if (request && code == MPI_SUCCESS)
    note_code(MPI_Wait(request, MPI_STATUS_IGNORE));
  return code;
}

static void one(enum call call, enum wrong wrong, int root, int nonblocking, int alone)
{
  int out_counts[MOST], in_counts[MOST], places[2][MOST];
  MPI_Datatype out_types[MOST], in_types[MOST];
  size_t room = (size_t)size * COUNT * 8;
  memory out = memory_new(room), in = memory_new(room);
  MPI_Comm comm;
  MPI_Errhandler errhandler;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(comm, errhandler);
  arguments a = {.out = out.data, .in = in.data, .out_count = COUNT, .in_count = COUNT, .root = root, .out_type = MPI_DOUBLE,
                 .in_type = MPI_DOUBLE, .comm = comm, .out_counts = out_counts, .in_counts = in_counts, .out_places = places[0],
                 .in_places = places[1], .out_types = out_types, .in_types = in_types};
  set_right(call, &a);
  MPI_Type_contiguous(1, MPI_DOUBLE, &uncommitted);
  fill(out.data, room, SMOOTH, (uint64_t)(rank + 10));
  fill(in.data, room, SMOOTH, (uint64_t)(rank + 20));
  /* The agreement of ranks in their first collective is not tested here. */
  MPI_Alltoall(out.data, COUNT, MPI_DOUBLE, in.data, COUNT, MPI_DOUBLE, comm);
  arguments spoiled = a;
  int other = (root + size - 1) % size;
  int mine = !alone || rank == (call == GATHER || call == GATHERV ? root : other);
  int spoils = mine && spoil(call, &spoiled, wrong);
  int count = spoils;
  if (wrong == NOTHING_FROM_NOWHERE || wrong == ALIASED_WITH_ANOTHER_TYPE)
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  else
    count = spoiling(call, root, spoils);
  calls = 0;
  last_class = -1;
  begin("%s%s, %s%s, root %d", nonblocking ? "I" : "", names[call], faults[wrong], alone ? " on one rank" : "", root);
  int code = MPI_SUCCESS;
  if (count > 0)
    code = make_and_wait(call, spoils ? &spoiled : &a, nonblocking ? &request : NULL);
  /* The messages of the others are waiting. */
  if (code != MPI_SUCCESS && count < size) {
    set_right(call, &a);
    make_and_wait(call, &a, nonblocking ? &request : NULL);
  }
  note(" handler=%d,%d", calls, last_class);
  /* If a rank sends blocks while it receives into them, their content is undefined, but other memory must not be touched. */
  if (wrong == ALIASED && call >= ALLTOALL) {
    note_outside(&out, room);
    note_outside(&in, room);
  } else
    note(" out=%016lx in=%016lx", (unsigned long)digest(&out), (unsigned long)digest(&in));
  end();
  MPI_Type_free(&uncommitted);
  MPI_Errhandler_free(&errhandler);
  memory_free(&out);
  memory_free(&in);
  MPI_Comm_free(&comm);
}

/* Short blocks, for which ranks vote from time to time. One rank makes each call twice, the first time with a wrong count. There are four votes:
 * after the errors above, plain MPICH 5 hangs in the fifth reduction of a communicator. */
static void one_rank_errs_each_time(void)
{
  enum { ROUNDS = 16 };
  int in[MOST], out[MOST], counts[MOST], places[MOST];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < size; i++) {
      counts[i] = 1;
      places[i] = i;
      out[i] = 1000 * round + 10 * rank + i;
      in[i] = -1;
    }
    begin("short Alltoallv, wrong before, round %d", round);
    if (rank == 0) {
      counts[size - 1] = -1;
      note_code(MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm));
      counts[size - 1] = 1;
    }
    note_code(MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm));
    for (int i = 0; i < size; i++)
      note(" %d", in[i]);
    end();
  }
  MPI_Comm_free(&comm);
}

/* Blocks of the same length, for which ranks compare times from time to time. One rank makes some calls twice, the first time with a wrong count. It
 * leaves every second one of these by a jump out of its error handler, but not with MPI_THREAD_MULTIPLE, where MPICH holds its lock in the handler.
 * */
static jmp_buf place;

static void jumping_handler(MPI_Comm *comm, int *code, ...)
{
  (void)comm;
  last_class = class_of(*code);
  longjmp(place, 1);
}

static void one_rank_errs_in_races(void)
{
  enum { ROUNDS = 40 };
  size_t room = (size_t)size * COUNT * 8;
  memory out = memory_new(room), in = memory_new(room);
  int level;
  MPI_Comm comm;
  MPI_Errhandler jumping;
  MPI_Query_thread(&level);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(jumping_handler, &jumping);
  for (int round = 0; round < ROUNDS; round++) {
    fill(out.data, room, SMOOTH, (uint64_t)(100 * round + rank));
    begin("Alltoall, wrong before, round %d", round);
    if (rank == 0 && round % 3 == 1) {
      MPI_Comm_set_errhandler(comm, round % 2 && level != MPI_THREAD_MULTIPLE ? jumping : MPI_ERRORS_RETURN);
      if (setjmp(place) == 0)
        last_class = class_of(MPI_Alltoall(out.data, -1, MPI_DOUBLE, in.data, COUNT, MPI_DOUBLE, comm));
      note(" error=%d", last_class);
    }
    note_code(MPI_Alltoall(out.data, COUNT, MPI_DOUBLE, in.data, COUNT, MPI_DOUBLE, comm));
    note(" in=%016lx", (unsigned long)digest(&in));
    end();
  }
  MPI_Errhandler_free(&jumping);
  memory_free(&out);
  memory_free(&in);
  MPI_Comm_free(&comm);
}

void wrong_collectives(void)
{
  MPI_Errhandler before, errhandler;
  if (size > MOST)
    give_up("more ranks than expected");
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Type_contiguous(1, MPI_DOUBLE, &another);
  MPI_Type_commit(&another);
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  for (int call = 0; call < CALLS; call++)
    for (int wrong = 0; wrong < WRONGS; wrong++)
      for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        one((enum call)call, (enum wrong)wrong, nonblocking ? size - 1 : 0, nonblocking, 0);
        if (is_rooted((enum call)call) && wrong < ROOT_TOO_LARGE)
          one((enum call)call, (enum wrong)wrong, 0, nonblocking, 1);
      }
  one_rank_errs_each_time();
  one_rank_errs_in_races();
  MPI_Type_free(&another);
  MPI_Type_free(&pair);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  MPI_Errhandler_free(&errhandler);
}
