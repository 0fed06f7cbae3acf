/* Exchanges long messages between the nodes, while one of both ranks is late, or computes before it waits. */
#include "../observe.h"

enum { MESSAGES = 96, DOUBLES = 128 << 10, TAG = 8 };

static double out[DOUBLES];

static void pass(double seconds)
{
  double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end)
    ;
}

/* The lower bits are noise, so that codecs save a third. */
static void make(int message)
{
  static uint64_t random = 88172645463325252u;
  for (int i = 0; i < DOUBLES; i++) {
    union {
      double value;
      uint64_t bits;
    } number = {.value = 1000.0 + message + i * 1e-3};
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    number.bits ^= random & 0x3ffffffffffu;
    out[i] = number.value;
  }
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("trains", 60);
  int half = role == RECEIVER;
  memory m = memory_new(sizeof out);
  for (int message = 0; message < MESSAGES; message++) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
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
  memory_free(&m);
  return job_end();
}
