/* Every collective over a network that damages frames (preload/damage.c): on each rank it gives the right data, or an error (of class MPI_ERR_OTHER,
 * or truncation), and the same collective succeeds when the network works again. Each fault found is a line on stdout that begins with WRONG. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EACH = 4000, LONG = 20000, ROUNDS = 6 };

/* In odd rounds every other element in memory is a gap. */
static double *out, *in;
static int counts[16], places[16], bytes_at[16];
static MPI_Datatype types[16];

/* With some noise, so that frames are longer than the shortest. */
static double value(int from, int to, int i)
{
  return from * 1e6 + to * 1e4 + i + ((unsigned)i * 2654435761u >> 16) / 65536.0;
}

enum {
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
  IBCAST,
  IGATHER,
  ISCATTER,
  IALLGATHER,
  IALLGATHERV,
  IALLTOALL,
  LONG_BCAST,
  LONG_ALLGATHER,
  SEND_AND_RECEIVE,
  KINDS
};
static const char *const names[KINDS] = {"Bcast",     "Gather",    "Gatherv",   "Scatter",  "Scatterv",   "Allgather",
                                         "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Ibcast",    "Igather",
                                         "Iscatter",  "Iallgather", "Iallgatherv", "Ialltoall", "Bcast in chunks",
                                         "Allgather in chunks", "Sendrecv"};

/* Elements of a block. */
static int elements(int kind)
{
  return kind == LONG_BCAST || kind == LONG_ALLGATHER ? LONG : EACH;
}

static int run(int kind, MPI_Datatype type, MPI_Comm comm)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int code, root = 1 % size, next = (rank + 1) % size, before = (rank + size - 1) % size;
  switch (kind) {
  case BCAST:
  case LONG_BCAST:
    return MPI_Bcast(rank == root ? out : in, elements(kind), type, root, comm);
  case GATHER:
    return MPI_Gather(out, EACH, type, in, EACH, type, root, comm);
  case GATHERV:
    return MPI_Gatherv(out, EACH, type, in, counts, places, type, root, comm);
  case SCATTER:
    return MPI_Scatter(out, EACH, type, in, EACH, type, root, comm);
  case SCATTERV:
    return MPI_Scatterv(out, counts, places, type, in, EACH, type, root, comm);
  case ALLGATHER:
  case LONG_ALLGATHER:
    return MPI_Allgather(out, elements(kind), type, in, elements(kind), type, comm);
  case ALLGATHERV:
    return MPI_Allgatherv(out, EACH, type, in, counts, places, type, comm);
  case ALLTOALL:
    return MPI_Alltoall(out, EACH, type, in, EACH, type, comm);
  case ALLTOALLV:
    return MPI_Alltoallv(out, counts, places, type, in, counts, places, type, comm);
  case ALLTOALLW:
    return MPI_Alltoallw(out, counts, bytes_at, types, in, counts, bytes_at, types, comm);
  case IBCAST:
    code = MPI_Ibcast(rank == root ? out : in, EACH, type, root, comm, &request);
    break;
  case IALLGATHER:
    code = MPI_Iallgather(out, EACH, type, in, EACH, type, comm, &request);
    break;
  case IALLGATHERV:
    code = MPI_Iallgatherv(out, EACH, type, in, counts, places, type, comm, &request);
    break;
  case IGATHER:
    code = MPI_Igather(out, EACH, type, in, EACH, type, root, comm, &request);
    break;
  case ISCATTER:
    code = MPI_Iscatter(out, EACH, type, in, EACH, type, root, comm, &request);
    break;
  case IALLTOALL:
    code = MPI_Ialltoall(out, EACH, type, in, EACH, type, comm, &request);
    break;
  default:
    return MPI_Sendrecv(out, EACH, type, next, 1, in, EACH, type, before, 1, comm, &status);
  }
  return code == MPI_SUCCESS ? MPI_Wait(&request, &status) : code;
}

/* The number of values that this rank should have received but has not. */
static int missing(int kind, int stride)
{
  int root = 1 % size, count = 0, blocks = size, each = elements(kind);
  int broadcast = kind == BCAST || kind == IBCAST || kind == LONG_BCAST;
  if (broadcast || kind == SCATTER || kind == SCATTERV || kind == ISCATTER || kind == SEND_AND_RECEIVE)
    blocks = 1;
  if ((kind == GATHER || kind == GATHERV || kind == IGATHER) && rank != root)
    return 0;
  if (broadcast && rank == root)
    return 0;
  for (int block = 0; block < blocks; block++) {
    int from = blocks > 1 ? block : kind == SEND_AND_RECEIVE ? (rank + size - 1) % size : root;
    int scattered = kind == SCATTER || kind == SCATTERV || kind == ISCATTER;
    int to = scattered || kind == ALLTOALL || kind == ALLTOALLV || kind == ALLTOALLW || kind == IALLTOALL ? rank : 0;
    for (int i = 0; i < each; i++)
      count += in[(block * each + i) * stride] != value(from, to, i);
  }
  return count;
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("damaged", 60);
  int *damage = dlsym(RTLD_DEFAULT, "damage_frames"), *damaged = dlsym(RTLD_DEFAULT, "damaged_frames");
  if (!damage)
    give_up("the network is not preloaded");
  MPI_Comm comm;
  MPI_Datatype strided;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &strided);
  MPI_Type_commit(&strided);
  size_t room = (size_t)size * LONG * 16;
  out = malloc(room);
  in = malloc(room);
  int wrong = 0, errors = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int kind = 0; kind < KINDS; kind++) {
      int stride = 1 + round % 2;
      MPI_Datatype type = stride == 1 ? MPI_DOUBLE : strided;
      for (int to = 0; to < size; to++) {
        counts[to] = EACH;
        places[to] = to * EACH;
        bytes_at[to] = to * EACH * 8 * stride;
        types[to] = type;
        for (int i = 0; i < EACH; i++)
          out[(to * EACH + i) * stride] = value(rank, to, i);
      }
      if (elements(kind) == LONG)
        for (int i = 0; i < LONG; i++)
          out[i * stride] = value(rank, 0, i);
      for (int well = 0; well < 2; well++) {
        memset(in, 0xEE, room);
        *damage = !well;
        int code = run(kind, type, comm), class = class_of(code);
        *damage = 0;
        if (code == MPI_SUCCESS ? missing(kind, stride) : well || (class != MPI_ERR_OTHER && class != MPI_ERR_TRUNCATE)) {
          if (++wrong < 10)
            printf("WRONG: rank %d, %s, round %d, network %s: class %d\n", rank, names[kind], round, well ? "well" : "ill", class);
        }
        errors += code != MPI_SUCCESS;
        /* Ranks that had an error are ahead of the others. */
        MPI_Barrier(comm);
      }
      begin("%s %d", names[kind], round);
      end();
    }
  int mine[3] = {wrong, errors, *damaged}, all[3];
  MPI_Reduce(mine, all, 3, MPI_INT, MPI_SUM, 0, comm);
  MPI_Type_free(&strided);
  MPI_Comm_free(&comm);
  log_close();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d frames damaged, %d errors, %d wrong\n", all[2], all[1], all[0]);
    printf("done\n");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
