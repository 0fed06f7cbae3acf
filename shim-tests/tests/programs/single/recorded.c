/* Every kind of recorded call, ROUNDS times from each of its places: rank 0 sends, rank 1 receives. The first element of each message is 100 times
 * its tag plus the round. With a second argument the job ends by MPI_Abort. */
#include "../observe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 10, DOUBLES = 512, FLOATS = 1024, INTS = 300, BYTES = 1500, SHORTS = 1000, FEW = 256 };

static double doubles[DOUBLES], few[FEW], back[FEW];
static float floats[FLOATS];
static int ints[INTS];
static unsigned char bytes[BYTES];
static short shorts[SHORTS];

#define FILL(array, number) \
  for (size_t i = 0; i < sizeof array / sizeof *array; i++) \
    array[i] = (number) + i

static void send(int round, MPI_Comm copy, MPI_Datatype every_other, MPI_Request *start)
{
  MPI_Request request;
  FILL(doubles, 100 * 1 + round);
  MPI_Send(doubles, DOUBLES, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
  FILL(floats, 100 * 2 + round);
  MPI_Isend(floats, FLOATS, MPI_FLOAT, 1, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  FILL(ints, 100 * 3 + round);
  MPI_Start(start);
  MPI_Wait(start, MPI_STATUS_IGNORE);
  FILL(few, 100 * 4 + round);
  MPI_Sendrecv(few, FEW, MPI_DOUBLE, 1, 4, back, FEW, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  FILL(bytes, round);
  MPI_Ssend(bytes, BYTES, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
  FILL(doubles, 100 * 6 + round);
  MPI_Send(doubles, 2, every_other, 1, 6, MPI_COMM_WORLD);
  MPI_Send(&round, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  FILL(shorts, 100 * 8 + round);
  MPI_Send(shorts, SHORTS, MPI_SHORT, 1, 8, copy);
}

static void receive(int round, MPI_Comm copy, MPI_Datatype every_other, MPI_Request *start)
{
  MPI_Request request;
  MPI_Message message;
  int flag = 0, small = -1;
  MPI_Recv(doubles, DOUBLES, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(floats, FLOATS, MPI_FLOAT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Startall(1, start);
  MPI_Wait(start, MPI_STATUS_IGNORE);
  FILL(few, 100 * 4 + round);
  MPI_Sendrecv(few, FEW, MPI_DOUBLE, 0, 4, back, FEW, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(bytes, BYTES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  while (!flag)
    MPI_Improbe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(doubles, 2, every_other, &message, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(&small, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(shorts, SHORTS, MPI_SHORT, 0, 8, copy, MPI_STATUS_IGNORE);
  MPI_Recv(shorts, SHORTS, MPI_SHORT, MPI_PROC_NULL, 9, copy, MPI_STATUS_IGNORE);
  begin("round %d: %d %g %d %d %g %d %d %d", round, small, floats[0], ints[0], bytes[0], doubles[0], shorts[0], ints[INTS - 1],
        bytes[BYTES - 1]);
  note(" %g", back[0]);
  end();
}

int main(int argc, char **argv)
{
  int aborts = argc > 2;
  job_begin(&argc, &argv, aborts ? 2 : 1);
  scene("recorded", 60);
  MPI_Comm copy;
  MPI_Datatype every_other;
  MPI_Request start = MPI_REQUEST_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Type_vector(64, 1, 2, MPI_DOUBLE, &every_other);
  MPI_Type_commit(&every_other);
  if (rank == 0)
    MPI_Send_init(ints, INTS, MPI_INT, 1, 3, MPI_COMM_WORLD, &start);
  else
    MPI_Recv_init(ints, INTS, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &start);
  for (int round = 0; round < ROUNDS; round++) {
    if (rank == 0)
      send(round, copy, every_other, &start);
    else
      receive(round, copy, every_other, &start);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (aborts) {
    sleep(4); /* data older than a second has been written */
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Request_free(&start);
  MPI_Type_free(&every_other);
  MPI_Comm_free(&copy);
  return job_end();
}
