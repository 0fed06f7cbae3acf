/* One long message by a synchronous send, which does not go in a frame. */
#include "../observe.h"

enum { COUNT = 100000, TAG = 3 };

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("synchronous", 30);
  memory m = memory_new(COUNT * 8);
  fill(m.data, m.room, SMOOTH, 3);
  if (role == SENDER)
    MPI_Ssend(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  else
    MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin("data=%016lx", (unsigned long)digest(&m));
  end();
  memory_free(&m);
  return job_end();
}
