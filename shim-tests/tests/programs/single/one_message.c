/* One long message. Without a second argument it goes by MPI_Ssend, and so in no frame. With one, it goes by MPI_Send after the program has changed
 * to this folder, as many programs change to the folder of their run. */
#include "../observe.h"

#include <unistd.h>

enum { COUNT = 100000, TAG = 3 };

int main(int argc, char **argv)
{
  const char *folder = argc > 2 ? argv[2] : NULL;
  job_begin(&argc, &argv, folder ? 2 : 1);
  scene("one message", 30);
  if (folder && chdir(folder) != 0)
    give_up("cannot change to the folder");
  memory m = memory_new(COUNT * 8);
  fill(m.data, m.room, SMOOTH, 3);
  if (role == RECEIVER)
    MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (folder)
    MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  else
    MPI_Ssend(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  begin("data=%016lx", (unsigned long)digest(&m));
  end();
  memory_free(&m);
  return job_end();
}
