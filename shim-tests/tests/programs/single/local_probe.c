/* A probe is local (MPI 3.1, section 3.8.1): it returns whatever the sender does. Here the sender has started a long message and left the MPI; it
 * continues only when the receiver's probes have returned. Between nodes, a layer that receives a message to answer a probe would wait for the
 * sender. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG = 5, EARLIER = 6, LONG = 4000000, PROBES = 100 };

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

/* Half of it is noise, so that its frame is long as well. */
static void make(memory *m, uint64_t seed)
{
  fill(m->data, m->room / 2, SMOOTH, seed);
  fill(m->data + m->room / 2, m->room / 2, RANDOM, seed);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  memory first = memory_new(LONG), second = memory_new(LONG);
  for (int matched = 0; matched < 2; matched++) {
    scene(matched ? "Improbe" : "Iprobe", 30);
    snprintf(token, sizeof token, "%s.go.%d", argv[1], matched);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    if (rank == 0) {
      unlink(token);
      make(&first, 1);
      make(&second, 2);
      /* Connected, and no message left. */
      MPI_Sendrecv(NULL, 0, MPI_BYTE, 1, 1, NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
      MPI_Isend(first.data, LONG / 8, MPI_DOUBLE, 1, EARLIER, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(second.data, LONG / 8, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, &requests[1]);
      wait_outside_the_mpi();
      unlink(token);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      begin("sent");
      end();
    } else if (rank == 1) {
      int flag = 0, count;
      MPI_Sendrecv(NULL, 0, MPI_BYTE, 0, 1, NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
      for (int i = 0; i < PROBES && !flag; i++) {
        if (matched)
          MPI_Improbe(0, TAG, MPI_COMM_WORLD, &flag, &message, &status);
        else
          MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, &status);
        usleep(2000);
      }
      go_on();
      while (!flag)
        if (matched)
          MPI_Improbe(0, TAG, MPI_COMM_WORLD, &flag, &message, &status);
        else
          MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &flag, &status);
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      begin("seen %d from %d tag %d", count, status.MPI_SOURCE, status.MPI_TAG);
      end();
      /* The message that was sent before comes first. */
      memset(first.data, 0, LONG);
      memset(second.data, 0, LONG);
      if (matched) {
        MPI_Mrecv(second.data, LONG / 8, MPI_DOUBLE, &message, &status);
        MPI_Recv(first.data, LONG / 8, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      } else {
        MPI_Recv(first.data, LONG / 8, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(second.data, LONG / 8, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      begin("first");
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx,%016lx", (unsigned long)digest(&first), (unsigned long)digest(&second));
      end();
    }
  }
  memory_free(&first);
  memory_free(&second);
  scene("end", 30);
  MPI_Barrier(MPI_COMM_WORLD);
  return job_end();
}
