/* Collectives in which one rank does something else than the others: an all-to-all in which one rank uses the same buffer for both directions (in
 * disjoint parts); a gather for which one rank first makes a call with arguments that are refused; and all collectives, where now and then one rank
 * makes such a call before the one that all make. */
#include "../observe.h"

#include <stdlib.h>

enum { COUNT = 1 << 16, ROUNDS = 4, MOST = 2, TAG = 3 };

static double both[4 * COUNT], apart[2 * COUNT];

#ifdef OPEN_MPI
/* MPICH refuses the same buffer. */
static void all_to_all(void)
{
  int counts[] = {COUNT, COUNT}, first[] = {0, COUNT}, second[] = {2 * COUNT, 3 * COUNT};
  for (int round = 0; round < ROUNDS; round++) {
    begin("all-to-all %d:", round);
    fill(both, sizeof both / 2, SMOOTH, (uint64_t)(round + rank));
    if (rank == 0)
      note_code(MPI_Alltoallv(both, counts, first, MPI_DOUBLE, both, counts, second, MPI_DOUBLE, MPI_COMM_WORLD));
    else
      note_code(MPI_Alltoallv(both, counts, first, MPI_DOUBLE, apart, counts, first, MPI_DOUBLE, MPI_COMM_WORLD));
    note(" data=%016lx", (unsigned long)digest_bytes(rank == 0 ? &both[2 * COUNT] : apart, sizeof apart));
    end();
  }
}
#endif

static void gather(void)
{
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int counts[] = {COUNT, COUNT}, places[] = {0, COUNT};
  for (int round = 0; round < ROUNDS; round++) {
    begin("gather %d:", round);
    fill(both, sizeof both, SMOOTH, (uint64_t)(round + rank));
    if (rank == 1 && round == 0)
      note_code(MPI_Gatherv(both, COUNT, MPI_DATATYPE_NULL, apart, counts, places, MPI_DOUBLE, 0, comm));
    note_code(MPI_Gatherv(both, COUNT, MPI_DOUBLE, apart, counts, places, MPI_DOUBLE, 0, comm));
    if (rank == 0)
      note(" data=%016lx", (unsigned long)digest_bytes(apart, sizeof apart));
    end();
  }
  MPI_Comm_free(&comm);
}

enum call {
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  CALLS
};
static const char *const names[CALLS] = {"Bcast",     "Gather",     "Gatherv",  "Scatter",   "Scatterv",
                                         "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
                                         "Reduce",    "Allreduce",  "Reduce_scatter", "Reduce_scatter_block"};

/* Blocks of `count` elements from `out` to `in`. If `wrong`, this rank's own elements have no datatype or, in reductions, no buffer; Open MPI reads a
 * missing buffer, but refuses a result in place. */
static int make(enum call call, int count, int wrong, void *out, void *in, MPI_Comm comm)
{
  int counts[MOST], places[MOST], bytes[MOST];
  MPI_Datatype type = wrong ? MPI_DATATYPE_NULL : MPI_LONG, from[MOST], to[MOST];
#ifdef OPEN_MPI
  void *into = wrong ? MPI_IN_PLACE : in;
#else
  void *into = in;
  if (wrong && call >= REDUCE)
    out = NULL;
#endif
  for (int i = 0; i < size; i++) {
    counts[i] = count;
    places[i] = i * count;
    bytes[i] = i * count * (int)sizeof(long);
    from[i] = type;
    to[i] = MPI_LONG;
  }
  switch (call) {
  case BCAST:
    return MPI_Bcast(rank == 0 ? out : in, count, type, 0, comm);
  case GATHER:
    return MPI_Gather(out, count, type, in, count, MPI_LONG, 0, comm);
  case GATHERV:
    return MPI_Gatherv(out, count, type, in, counts, places, MPI_LONG, 0, comm);
  case SCATTER:
    return MPI_Scatter(out, count, MPI_LONG, in, count, type, 0, comm);
  case SCATTERV:
    return MPI_Scatterv(out, counts, places, MPI_LONG, in, count, type, 0, comm);
  case ALLGATHER:
    return MPI_Allgather(out, count, type, in, count, MPI_LONG, comm);
  case ALLGATHERV:
    return MPI_Allgatherv(out, count, type, in, counts, places, MPI_LONG, comm);
  case ALLTOALL:
    return MPI_Alltoall(out, count, type, in, count, MPI_LONG, comm);
  case ALLTOALLV:
    return MPI_Alltoallv(out, counts, places, type, in, counts, places, MPI_LONG, comm);
  case ALLTOALLW:
    return MPI_Alltoallw(out, counts, bytes, from, in, counts, bytes, to, comm);
  case REDUCE:
    /* Only the root has a result. */
    return MPI_Reduce(out, rank == 0 ? into : NULL, count, rank == 0 ? MPI_LONG : type, MPI_SUM, 0, comm);
  case ALLREDUCE:
    return MPI_Allreduce(out, into, count, MPI_LONG, MPI_SUM, comm);
  case REDUCE_SCATTER:
    return MPI_Reduce_scatter(out, into, counts, MPI_LONG, MPI_SUM, comm);
  default:
    return MPI_Reduce_scatter_block(out, into, count, MPI_LONG, MPI_SUM, comm);
  }
}

/* Enough rounds for several decisions of the ranks. The other rank makes its call only when the wrong one has returned, so that one must not wait. */
static void wrong_before(enum call call, int count, enum content content)
{
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  /* Open MPI reports some errors of reductions there. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 24; round++) {
    begin("%s of %d, round %d:", names[call], count, round);
    fill(both, sizeof both, content, (uint64_t)(round + rank));
    fill(apart, sizeof apart, RANDOM, 5);
    if (round % (size + 1) == rank) {
      note_code(make(call, count, 1, both, apart, comm));
      MPI_Send(NULL, 0, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD);
    } else if (round % (size + 1) == !rank)
      MPI_Recv(NULL, 0, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note_code(make(call, count, 0, both, apart, comm));
    note(" data=%016lx", (unsigned long)digest_bytes(apart, sizeof apart));
    end();
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
#ifdef OPEN_MPI
  scene("all-to-all", 60);
  all_to_all();
#endif
  scene("gather", 60);
  gather();
  if (size != MOST)
    give_up("there must be two ranks");
  for (int call = 0; call < CALLS; call++) {
    scene(names[call], 60);
    wrong_before((enum call)call, 100, SMOOTH);
    wrong_before((enum call)call, 3000, RANDOM);
    wrong_before((enum call)call, COUNT / 2, SMOOTH);
  }
  return job_end();
}
