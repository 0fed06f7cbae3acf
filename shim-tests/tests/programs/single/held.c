/* Calls in which the MPI waits for the other rank when this one has sent only a part of a long message: the other rank receives the message before it
 * makes the same call. And the reverse: a message that is sent and waited for before such a call, but received only after it. */
#include "../observe.h"

#include <stdlib.h>

enum { COUNT = 1 << 18, TAG = 5, BLOCK = 1 << 15 };

static double message[COUNT];
static double mine[2 * BLOCK], all[2 * BLOCK];

static void barrier(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
}

static void broadcast(void)
{
  MPI_Bcast(mine, BLOCK, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void short_broadcast(void)
{
  MPI_Bcast(mine, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
}

static void allgather(void)
{
  MPI_Allgather(mine, BLOCK, MPI_DOUBLE, all, BLOCK, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void alltoallv(void)
{
  int counts[] = {BLOCK, BLOCK}, places[] = {0, BLOCK};
  MPI_Alltoallv(mine, counts, places, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void allreduce(void)
{
  MPI_Allreduce(mine, all, BLOCK, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void new_communicator(void)
{
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Alltoall(mine, BLOCK, MPI_DOUBLE, all, BLOCK, MPI_DOUBLE, comm);
  MPI_Comm_free(&comm);
}

static void split(void)
{
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
  MPI_Comm_free(&comm);
}

static void intercommunicator(void)
{
  MPI_Comm inter, merged;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, peer, TAG, &inter);
  MPI_Intercomm_merge(inter, rank, &merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
}

static void window(void)
{
  MPI_Win win;
  /* Open MPI 4.1 has no windows over TCP only. */
  if (MPI_Win_create(all, sizeof all, sizeof all[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win) != MPI_SUCCESS)
    return;
  MPI_Win_fence(0, win);
  MPI_Put(mine, 8, MPI_DOUBLE, peer, 0, 8, MPI_DOUBLE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* A call that the shim does not wrap. */
static void unknown(void)
{
  MPI_Win win;
  MPI_Info info;
  if (MPI_Win_create(all, sizeof all, sizeof all[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win) != MPI_SUCCESS)
    return;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "false");
  MPI_Win_set_info(win, info);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
}

/* A buffered send that the other rank receives after the message, and a detach that waits for it. */
static void detach(void)
{
  if (role == SENDER) {
    int size = (int)sizeof mine + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    MPI_Bsend(mine, 2 * BLOCK, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
  } else
    MPI_Recv(all, 2 * BLOCK, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct {
  const char *name;
  void (*make)(void);
} calls[] = {
    {"barrier", barrier},
    {"broadcast", broadcast},
    {"short_broadcast", short_broadcast},
    {"allgather", allgather},
    {"alltoallv", alltoallv},
    {"allreduce", allreduce},
    {"new_communicator", new_communicator},
    {"split", split},
    {"intercommunicator", intercommunicator},
    {"window", window},
    {"unknown", unknown},
    {"detach", detach},
};

static void observe(const char *when, const memory *got)
{
  begin("%s", when);
  if (role == RECEIVER)
    note(" data=%016lx", (unsigned long)digest_bytes(got->data, sizeof message));
  end();
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  fill(mine, sizeof mine, SMOOTH, 7);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    MPI_Request request;
    memory got = memory_new(sizeof message);
    scene(calls[i].name, 30);
    for (int round = 0; round < 20; round++) {
      fill(message, sizeof message, SMOOTH, (uint64_t)round);
      if (role == SENDER)
        MPI_Isend(message, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
      else
        MPI_Recv(got.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      calls[i].make();
      if (role == SENDER)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      observe("received before", &got);
      if (role == SENDER)
        MPI_Send(message, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
      else
        MPI_Irecv(got.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
      calls[i].make();
      if (role == RECEIVER)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      observe("received after", &got);
    }
    memory_free(&got);
  }
  return job_end();
}
