/* Sends of 96 messages of 4 MiB are pending while their receiver is late. A compressed message is a copy, so the bytes of pending ones are bounded.
 * The logs have the messages; stdout has the growth of the sender's memory, in KiB. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 96, COUNT = 1 << 19, TAG = 4 };

static long resident_kib(void)
{
  char line[256];
  long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0)
      kib = atol(line + 6);
  if (file != NULL)
    fclose(file);
  return kib;
}

int main(int argc, char **argv)
{
  MPI_Request requests[MESSAGES];
  job_begin(&argc, &argv, 1);
  scene("pending", 60);
  memory m = memory_new(COUNT * 8);
  memset(m.data, 0, m.room);
  if (role == SENDER) {
    fill(m.data, m.room, SMOOTH, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    long before = resident_kib();
    for (int i = 0; i < MESSAGES; i++)
      MPI_Isend(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
    printf("grown by %ld KiB\n", resident_kib() - before);
    MPI_Send(NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
      begin("%d:", i);
      MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      note(" data=%016lx", (unsigned long)digest(&m));
      end();
    }
  }
  memory_free(&m);
  return job_end();
}
