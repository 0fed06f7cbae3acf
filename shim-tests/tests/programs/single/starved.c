/* A process that may not allocate more memory: each call succeeds and gives the right data, or fails with an MPI error. Without the shim the MPI may
 * need memory itself, so the logs of two runs may differ. Each fault found is a line on stdout that begins with WRONG. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Elements of a message, 32 MiB, and the memory left for everything else. */
enum { COUNT = 1 << 22, LEFT = 6 << 20, TAG = 3 };

enum {
  SEND,
  STRIDED_SEND,
  STRIDED_RECV,
  ISEND,
  PERSISTENT,
  MATCHED,
  PROBED,
  SENDRECV,
  REPLACE,
  BCAST,
  STRIDED_BCAST,
  ALLTOALL,
  ALLGATHER,
  GATHER,
  SCATTER,
  KINDS
};
static const char *const names[KINDS] = {"Send",     "Send strided",     "Recv strided", "Isend",         "Send_init", "Mrecv",
                                         "Probe", "Sendrecv", "Sendrecv_replace", "Bcast",     "Bcast strided", "Alltoall",  "Allgather", "Gather",   "Scatter"};

static double *out, *in;
static MPI_Datatype strided;

/* Whether only one broadcast is made, to the starved rank: a second one could wait for that rank. */
static int broadcast;

/* With enough noise that frames do not fit either. */
static double value(int from, int i)
{
  uint64_t noise = ((uint64_t)i + 1) * 0x9E3779B97F4A7C15u;
  noise = (noise ^ (noise >> 30)) * 0xBF58476D1CE4E5B9u;
  return from * 1e8 + i + (double)(noise >> 36) / (1 << 28);
}

/* `half` of the elements where they are strided, or are for two ranks. */
static int run(int kind, MPI_Comm comm)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int code, half = COUNT / 2;
  if (role == SENDER)
    switch (kind) {
    case SEND:
    case MATCHED:
    case PROBED:
      return MPI_Send(out, COUNT, MPI_DOUBLE, peer, TAG, comm);
    case STRIDED_SEND:
      return MPI_Send(out, half, strided, peer, TAG, comm);
    case STRIDED_RECV:
      return MPI_Send(out, half, MPI_DOUBLE, peer, TAG, comm);
    case ISEND:
      code = MPI_Isend(out, COUNT, MPI_DOUBLE, peer, TAG, comm, &request);
      return code == MPI_SUCCESS ? MPI_Wait(&request, &status) : code;
    case PERSISTENT:
      MPI_Send_init(out, COUNT, MPI_DOUBLE, peer, TAG, comm, &request);
      code = MPI_Start(&request);
      if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, &status);
      MPI_Request_free(&request);
      return code;
    }
  else
    switch (kind) {
    case STRIDED_SEND:
      return MPI_Recv(in, half, MPI_DOUBLE, peer, TAG, comm, &status);
    case STRIDED_RECV:
      return MPI_Recv(in, half, strided, peer, TAG, comm, &status);
    case SEND:
    case ISEND:
    case PERSISTENT:
      return MPI_Recv(in, COUNT, MPI_DOUBLE, peer, TAG, comm, &status);
    case MATCHED:
      code = MPI_Mprobe(peer, TAG, comm, &message, &status);
      /* A failed probe leaves the message where it is. */
      return code == MPI_SUCCESS ? MPI_Mrecv(in, COUNT, MPI_DOUBLE, &message, &status)
                                 : MPI_Recv(in, COUNT, MPI_DOUBLE, peer, TAG, comm, &status);
    case PROBED:
      MPI_Probe(peer, TAG, comm, &status);
      return MPI_Recv(in, COUNT, MPI_DOUBLE, peer, TAG, comm, &status);
    }
  switch (kind) {
  case SENDRECV:
    return MPI_Sendrecv(out, COUNT, MPI_DOUBLE, peer, TAG, in, COUNT, MPI_DOUBLE, peer, TAG, comm, &status);
  case REPLACE:
    return MPI_Sendrecv_replace(in, COUNT, MPI_DOUBLE, peer, TAG, peer, TAG, comm, &status);
  case BCAST:
    return MPI_Bcast(role == SENDER ? out : in, COUNT, MPI_DOUBLE, 0, comm);
  case STRIDED_BCAST:
    return MPI_Bcast(role == SENDER ? out : in, half, strided, 0, comm);
  case ALLTOALL:
    return MPI_Alltoall(out, half, MPI_DOUBLE, in, half, MPI_DOUBLE, comm);
  case ALLGATHER:
    return MPI_Allgather(out, half, MPI_DOUBLE, in, half, MPI_DOUBLE, comm);
  case GATHER:
    return MPI_Gather(out, half, MPI_DOUBLE, in, half, MPI_DOUBLE, 1, comm);
  default:
    return MPI_Scatter(out, half, MPI_DOUBLE, in, half, MPI_DOUBLE, 0, comm);
  }
}

/* The number of elements that this rank has received wrong. */
static int missing(int kind)
{
  int count = 0, half = COUNT / 2;
  if (role == SENDER && kind <= PROBED)
    return 0;
  if (role == SENDER && (kind == BCAST || kind == STRIDED_BCAST || kind == GATHER))
    return 0;
  for (int i = 0; i < COUNT; i++) {
    double expected;
    if (kind == STRIDED_SEND)
      expected = i < half ? value(peer, 2 * i) : in[i];
    else if (kind == STRIDED_RECV)
      expected = i % 2 ? in[i] : value(peer, i / 2);
    else if (kind == STRIDED_BCAST)
      expected = i % 2 ? in[i] : value(peer, i);
    else if (kind == ALLTOALL)
      expected = value(i / half, rank * half + i % half);
    else if (kind == ALLGATHER || kind == GATHER)
      expected = value(i / half, i % half);
    else if (kind == SCATTER)
      expected = i < half ? value(0, rank * half + i) : in[i];
    else
      expected = value(peer, i);
    count += in[i] != expected;
  }
  return count;
}

static void limit(int starved)
{
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1)
    give_up("/proc/self/statm");
  fclose(file);
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = starved ? (rlim_t)(pages * sysconf(_SC_PAGESIZE) + LEFT) : limit.rlim_max;
  if (setrlimit(RLIMIT_AS, &limit) != 0)
    give_up("setrlimit");
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 2);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &strided);
  MPI_Type_commit(&strided);
  out = malloc(COUNT * sizeof *out);
  in = malloc(COUNT * sizeof *in);
  broadcast = getenv("STARVED_BROADCAST") != NULL;
  for (int i = 0; i < COUNT; i++)
    out[i] = value(rank, i);
  int wrong = 0, errors = 0;
  /* Allocate what the first messages create: connections, threads. */
  for (int i = 0; i < 2; i++)
    MPI_Sendrecv(out, 1 << 14, MPI_DOUBLE, peer, TAG, in, 1 << 14, MPI_DOUBLE, peer, TAG, comm, MPI_STATUS_IGNORE);
  /* Starved are both, the sender, the receiver, neither. Memory that was allocated once may be kept, so another job begins with the receiver. */
  for (int who = atoi(argv[2]); who >= 0; who--)
    for (int kind = 0; kind < KINDS; kind++) {
      /* Plain MPIs fail here because of lack of memory, and leave the other rank waiting. */
      if ((kind == REPLACE || kind == STRIDED_BCAST) && (who == 1 || who == 2) && !broadcast)
        continue;
      if (broadcast && (kind != STRIDED_BCAST || who != 1))
        continue;
      scene(names[kind], 30);
      begin("%d", who);
      memset(in, 0xEE, COUNT * sizeof *in);
      if (kind == REPLACE)
        memcpy(in, out, COUNT * sizeof *in);
      MPI_Barrier(MPI_COMM_WORLD);
      limit(role == SENDER ? who & 2 : who & 1);
      int code = run(kind, comm);
      limit(0);
      note_code(code);
      int lost = code == MPI_SUCCESS ? missing(kind) : who == 0;
      if (lost && wrong++ < 10)
        printf("WRONG: rank %d, %s, starved %d: class %d, %d wrong\n", rank, names[kind], who, class_of(code), lost);
      errors += code != MPI_SUCCESS;
      end();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  int mine[2] = {wrong, errors}, all[2];
  MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Type_free(&strided);
  MPI_Comm_free(&comm);
  log_close();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%d errors, %d wrong\ndone\n", all[1], all[0]);
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
