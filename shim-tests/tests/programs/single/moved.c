/* A program that goes to another folder after MPI_Init, as many do to the folder of their run, and then sends a message. */
#include "../observe.h"

#include <unistd.h>

enum { COUNT = 100000, TAG = 3 };

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("moved", 30);
  if (chdir("..") != 0)
    give_up("cannot go to another folder");
  memory m = memory_new(COUNT * 8);
  fill(m.data, m.room, SMOOTH, 3);
  if (role == SENDER)
    MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  else
    MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin("data=%016lx", (unsigned long)digest(&m));
  end();
  memory_free(&m);
  return job_end();
}
