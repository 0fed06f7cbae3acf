/* Both ranks exchange messages that are too long for the buffers that receive them: the calls fail, and nothing of them remains. */
#include "../observe.h"

/* The second room is too short for a frame. */
enum { COUNT = 3000, ROUNDS = 3000, TAG = 3 };
static const int rooms[] = {250, 100};

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* Open MPI 4.1 may write all of a message, also after the call. */
  memory out = memory_new(COUNT * 8), into = memory_new(COUNT * 8);
  /* Half of it can be compressed, so that a frame is too long, too. */
  fill(out.data, out.room, RANDOM, 3);
  fill(out.data, out.room / 2, SMOOTH, 3);
  scene("too short", 120);
  for (int i = 0; i < 2; i++) {
    int truncated = 0;
    for (int round = 0; round < ROUNDS; round++)
      truncated += class_of(MPI_Sendrecv(out.data, COUNT, MPI_DOUBLE, peer, TAG, into.data, rooms[i], MPI_DOUBLE, peer,
                                         TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE;
    begin("room=%d truncated=%d", rooms[i], truncated);
    end();
  }
  return job_end();
}
