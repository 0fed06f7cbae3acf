/* Both ranks exchange messages that are too long for the buffers that receive them: the calls fail, and nothing of them remains. */
#include "../observe.h"

enum { COUNT = 3000, ROOM = 250, ROUNDS = 6000, TAG = 3 };

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* Open MPI 4.1 may write all of a message. */
  memory out = memory_new(COUNT * 8), into = memory_new(COUNT * 8);
  fill(out.data, out.room, SMOOTH, 3);
  scene("too short", 120);
  int truncated = 0;
  for (int round = 0; round < ROUNDS; round++)
    truncated += class_of(MPI_Sendrecv(out.data, COUNT, MPI_DOUBLE, peer, TAG, into.data, ROOM, MPI_DOUBLE, peer, TAG,
                                       MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE;
  begin("truncated=%d", truncated);
  end();
  memory_free(&out);
  memory_free(&into);
  return job_end();
}
