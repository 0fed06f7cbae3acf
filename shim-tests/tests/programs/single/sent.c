/* What MPI_Send has sent arrives although its sender makes no further call until the receiver says, by a file, that it has the message. */
#include "../observe.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT = 1 << 19, TAG = 7, PATIENCE = 20 };

int main(int argc, char **argv)
{
  char flag[4096];
  struct stat found;
  job_begin(&argc, &argv, 1);
  snprintf(flag, sizeof flag, "%s.flag", argv[1]);
  for (int i = 0; i < 5; i++) {
    memory m = memory_new(COUNT * 8);
    scene("sent", 2 * PATIENCE);
    if (role == SENDER) {
      int turns = 0;
      fill(m.data, m.room, SMOOTH, (uint64_t)i);
      MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
      for (; stat(flag, &found) != 0 && turns < PATIENCE * 1000; turns++)
        usleep(1000);
      begin("%d: arrived=%d", i, turns < PATIENCE * 1000);
      end();
    } else {
      MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      FILE *file = fopen(flag, "w");
      if (file == NULL)
        give_up("no flag");
      fclose(file);
      begin("%d: data=%016lx", i, (unsigned long)digest(&m));
      end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(flag);
    MPI_Barrier(MPI_COMM_WORLD);
    memory_free(&m);
  }
  return job_end();
}
