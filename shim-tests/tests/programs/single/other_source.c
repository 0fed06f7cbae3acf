/* Probes for any source while a long message of rank 0, which has left the MPI, is coming: they report the message of rank 1, too. Rank 0 goes on
 * only when rank 2 has received that one. Messages of one source are found in order. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG = 5, SENT = 6, EARLIER = 7, LONG = 500000, OTHER = 1200, SHORT = 20, MESSAGES = 3 };
enum { IPROBE, IMPROBE, PROBE, MPROBE, WAYS };

static char token[4096];

static void wait_outside_the_mpi(void)
{
  struct stat found;
  while (stat(token, &found) != 0)
    usleep(1000);
}

static void go_on(void)
{
  FILE *file = fopen(token, "w");
  if (!file || fclose(file) != 0)
    give_up("cannot write the token");
}

static void send_long(void)
{
  MPI_Request requests[2];
  memory first = memory_new(LONG * 8), second = memory_new(SHORT * 8);
  /* Half of it is noise, so that its frame is long as well. */
  fill(first.data, first.room / 2, SMOOTH, 1);
  fill(first.data + first.room / 2, first.room / 2, RANDOM, 1);
  fill(second.data, second.room, SMOOTH, 2);
  MPI_Isend(first.data, LONG, MPI_DOUBLE, 2, TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(second.data, SHORT, MPI_DOUBLE, 2, TAG, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(NULL, 0, MPI_BYTE, 2, SENT, MPI_COMM_WORLD);
  wait_outside_the_mpi();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  memory_free(&first);
  memory_free(&second);
}

static void send_other(int count)
{
  memory m = memory_new((size_t)count * 8);
  int earlier = count;
  fill(m.data, m.room, SMOOTH, 3);
  MPI_Recv(NULL, 0, MPI_BYTE, 2, SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&earlier, 1, MPI_INT, 2, EARLIER, MPI_COMM_WORLD);
  MPI_Send(m.data, count, MPI_DOUBLE, 2, TAG, MPI_COMM_WORLD);
  MPI_Send(NULL, 0, MPI_BYTE, 2, SENT, MPI_COMM_WORLD);
  memory_free(&m);
}

static void receive(int way)
{
  MPI_Request requests[MESSAGES];
  MPI_Status statuses[MESSAGES];
  memory memories[MESSAGES];
  int counts[MESSAGES], earlier = 0;
  MPI_Recv(NULL, 0, MPI_BYTE, 0, SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(NULL, 0, MPI_BYTE, 1, SENT, MPI_COMM_WORLD);
  MPI_Recv(NULL, 0, MPI_BYTE, 1, SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < MESSAGES; i++) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status *status = &statuses[i];
    int flag = 0;
    if (way == PROBE)
      MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, status);
    else if (way == MPROBE)
      MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, status);
    while (way < PROBE && !flag)
      if (way == IPROBE)
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, status);
      else
        MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &message, status);
    MPI_Get_count(status, MPI_DOUBLE, &counts[i]);
    memories[i] = memory_new((size_t)counts[i] * 8);
    if (message != MPI_MESSAGE_NULL)
      MPI_Imrecv(memories[i].data, counts[i], MPI_DOUBLE, &message, &requests[i]);
    else
      MPI_Irecv(memories[i].data, counts[i], MPI_DOUBLE, status->MPI_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    if (status->MPI_SOURCE == 1) {
      MPI_Wait(&requests[i], status);
      go_on();
    }
  }
  for (int i = 0; i < MESSAGES; i++)
    if (requests[i] != MPI_REQUEST_NULL)
      MPI_Wait(&requests[i], &statuses[i]);
  for (int source = 0; source < 2; source++)
    for (int i = 0; i < MESSAGES; i++)
      if (statuses[i].MPI_SOURCE == source) {
        begin("from %d: %d", source, counts[i]);
        note_status(&statuses[i], MPI_DOUBLE);
        note(" data=%016lx", (unsigned long)digest(&memories[i]));
        end();
      }
  MPI_Recv(&earlier, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &statuses[0]);
  begin("earlier %d:", earlier);
  note_status(&statuses[0], MPI_INT);
  end();
  for (int i = 0; i < MESSAGES; i++)
    memory_free(&memories[i]);
}

int main(int argc, char **argv)
{
  static const char *const names[] = {"Iprobe", "Improbe", "Probe", "Mprobe"};
  job_begin(&argc, &argv, 1);
  for (int turn = 0; turn < 2 * WAYS; turn++) {
    int way = turn % WAYS, count = turn / WAYS ? SHORT : OTHER;
    scene(names[way], 30);
    snprintf(token, sizeof token, "%s.go.%d", argv[1], turn);
    if (rank == 0)
      unlink(token);
    /* Connected, and no message left. */
    for (int other = 0; other < 2; other++)
      if (rank == 2 || rank == other)
        MPI_Sendrecv(NULL, 0, MPI_BYTE, rank == 2 ? other : 2, SENT, NULL, 0, MPI_BYTE, rank == 2 ? other : 2, SENT, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    if (rank == 0)
      send_long();
    else if (rank == 1)
      send_other(count);
    else
      receive(way);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
      unlink(token);
  }
  return job_end();
}
