/* Exchanges long messages between the nodes, while one of the two ranks is late, or computes before it waits. The second argument is a file by which
 * to ask for another network halfway, or "none". Each rank prints how long it was ready to run but had no processor: in that time it does not see
 * when messages come. */
#include "../observe.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 96, DOUBLES = 128 << 10, TAG = 8 };

static double out[DOUBLES];

static void pass(double seconds)
{
  double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end)
    ;
}

/* The lower bits are noise, so that codecs save a fifth. If the network is believed to be much faster than it is, nothing is compressed. */
static void make(int message)
{
  static uint64_t random = 88172645463325252u;
  for (int i = 0; i < DOUBLES; i++) {
    union {
      double value;
      uint64_t bits;
    } number = {.value = 1000.0 + message + i * 1e-3};
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    number.bits ^= random & 0x3fffffffffffu;
    out[i] = number.value;
  }
}

/* Microseconds for which this process was ready to run but had no processor, if the system tells. */
static long queued(void)
{
  unsigned long long ran = 0, ready = 0;
  FILE *file = fopen("/proc/self/schedstat", "r");
  if (file != NULL) {
    if (fscanf(file, "%llu %llu", &ran, &ready) != 2)
      ready = 0;
    fclose(file);
  }
  return (long)(ready / 1000);
}

/* Creates the file, and waits until it is gone. */
static void ask(const char *path)
{
  if (rank == 0) {
    FILE *file = fopen(path, "w");
    if (file == NULL || fclose(file) != 0)
      give_up("cannot create the file");
    while (access(path, F_OK) == 0)
      usleep(1000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 2);
  scene("trains", 60);
  int half = role == RECEIVER;
  memory m = memory_new(sizeof out);
  long before = queued();
  double begun = MPI_Wtime();
  for (int message = 0; message < MESSAGES; message++) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (message == MESSAGES / 2 && strcmp(argv[2], "none") != 0)
      ask(argv[2]);
    begin("%d", message);
    make(message);
    if (message % 2 == half)
      pass(0.004);
    MPI_Irecv(m.data, DOUBLES, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, DOUBLES, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    if (message % 4 == half)
      pass(0.002);
    note_code(MPI_Waitall(2, requests, statuses));
    note(" data=%016lx", (unsigned long)digest(&m));
    end();
  }
  fprintf(stderr, "%ld of %ld us without a processor\n", queued() - before, (long)((MPI_Wtime() - begun) * 1e6));
  memory_free(&m);
  return job_end();
}
