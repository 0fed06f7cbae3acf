/* A thread waits for a receive, and another one cancels it: a plain one, and a persistent one. */
#include "../observe.h"

#include <pthread.h>
#include <unistd.h>

enum { COUNT = 10000, TAG = 5 };

static double data[COUNT];
static MPI_Request request;

static void *wait_for_it(void *cancelled)
{
  MPI_Status status;
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, cancelled);
  return NULL;
}

int main(int argc, char **argv)
{
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  take_place(argv[1]);
  int ways = threads_granted(level) ? 2 : 0;
  for (int persistent = 0; persistent < ways; persistent++) {
    pthread_t thread;
    int cancelled = -1;
    scene(persistent ? "persistent" : "plain", 30);
    if (role == RECEIVER) {
      if (persistent) {
        MPI_Recv_init(data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
      } else
        MPI_Irecv(data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
      MPI_Request same = request;
      if (pthread_create(&thread, NULL, wait_for_it, &cancelled) != 0)
        give_up("no thread");
      usleep(300000);
      begin("persistent=%d", persistent);
      note_code(MPI_Cancel(&same));
      pthread_join(thread, NULL);
      note(" cancelled=%d", cancelled);
      end();
      if (persistent)
        MPI_Request_free(&request);
    }
  }
  return job_end();
}
