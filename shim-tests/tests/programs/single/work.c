/* How much work the shim makes per message: messages of random bytes go from rank 0 to rank 1 and back, after some from which the shim has learned.
 * Rank 0 prints the counts of `work.so` per message pair: MPI calls, readings of the clock, allocations, system calls. */
#include "../observe.h"

#include <dlfcn.h>
#include <stdio.h>

enum { KINDS = 5, SHOWN = 4, LEARNED = 2000, COUNTED = 200, TAG = 3, LONGEST = 16384 };

static void blocking(memory *m, int bytes)
{
  int count = bytes / 8;
  if (role == SENDER) {
    MPI_Send(m->data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(m->data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(m->data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(m->data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  }
}

static void nonblocking(memory *m, int bytes)
{
  int count = bytes / 8;
  MPI_Request requests[2];
  MPI_Irecv(m->data + LONGEST, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(m->data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void combined(memory *m, int bytes)
{
  int count = bytes / 8;
  MPI_Sendrecv(m->data, count, MPI_DOUBLE, peer, TAG, m->data + LONGEST, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
  static const int lengths[] = {8, 512, 4096, LONGEST};
  static void (*const ways[])(memory *, int) = {blocking, nonblocking, combined};
  static const char *const names[] = {"blocking", "nonblocking", "combined"};
  job_begin(&argc, &argv, 1);
  int (*work_done)(long *) = (int (*)(long *))dlsym(RTLD_DEFAULT, "work_done");
  if (!work_done)
    give_up("work.so is not preloaded");
  memory m = memory_new(2 * LONGEST);
  fill(m.data, m.room, RANDOM, 1);
  scene("work", 60);
  for (int way = 0; way < 3; way++)
    for (int length = 0; length < 4; length++) {
      long done[KINDS];
      for (int round = 0; round < LEARNED; round++)
        ways[way](&m, lengths[length]);
      int loaded = work_done(done);
      for (int round = 0; round < COUNTED; round++)
        ways[way](&m, lengths[length]);
      work_done(done);
      if (rank == 0) {
        printf("work: %d %s %d:", loaded, names[way], lengths[length]);
        for (int kind = 0; kind < SHOWN; kind++)
          printf(" %.3f", (double)done[kind] / COUNTED);
        printf("\n");
      }
    }
  memory_free(&m);
  return job_end();
}
