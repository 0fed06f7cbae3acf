/* Many receives of 8 MiB into the columns of matrices are pending. Messages that the shim unpacks are received into its own memory, which is bounded.
 * The logs have the messages; stdout has the growth of the receiver's memory, in KiB. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 24, SIDE = 1024, COUNT = SIDE * SIDE, TAG = 4 };

static long virtual_kib(void)
{
  char line[256];
  long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "VmSize:", 7) == 0)
      kib = atol(line + 7);
  if (file != NULL)
    fclose(file);
  return kib;
}

int main(int argc, char **argv)
{
  MPI_Request requests[MESSAGES];
  memory memories[MESSAGES];
  MPI_Datatype column, columns;
  job_begin(&argc, &argv, 1);
  scene("columns", 60);
  MPI_Type_vector(SIDE, 1, SIDE, MPI_DOUBLE, &column);
  MPI_Type_create_hvector(SIDE, 1, 8, column, &columns);
  MPI_Type_commit(&columns);
  if (role == SENDER) {
    memory m = memory_new(COUNT * 8);
    MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
      fill(m.data, m.room, SMOOTH, (uint64_t)i);
      MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    }
    memory_free(&m);
  } else {
    for (int i = 0; i < MESSAGES; i++)
      memories[i] = memory_new(COUNT * 8);
    long before = virtual_kib();
    for (int i = 0; i < MESSAGES; i++)
      MPI_Irecv(memories[i].data, 1, columns, peer, TAG, MPI_COMM_WORLD, &requests[i]);
    printf("grown by %ld KiB\n", virtual_kib() - before);
    MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++) {
      begin("%d: data=%016lx", i, (unsigned long)digest(&memories[i]));
      end();
      memory_free(&memories[i]);
    }
  }
  MPI_Type_free(&column);
  MPI_Type_free(&columns);
  return job_end();
}
