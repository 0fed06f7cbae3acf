/* One thread starts a persistent receive, another one polls: it completes the receive by MPI_Testsome, or only asks by MPI_Request_get_status, also
 * before the message is sent, while the first one waits. All this is allowed, since no two calls complete the receive. */
#include "../observe.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { COUNT = 2048, ROUNDS = 500, TAG = 5, NEVER = 6 };
enum { COMPLETES, LOOKS, LOOKS_BEFORE };
#ifdef OPEN_MPI
enum { WAYS = LOOKS_BEFORE }; /* Open MPI says that a request is complete while another thread waits for it. */
#else
enum { WAYS = LOOKS_BEFORE + 1 };
#endif

static double in[COUNT], out[COUNT];
static MPI_Request requests[2], polled[2];
static atomic_int done, over, started;

static void *poll_by_testsome(void *unused)
{
  while (!over) {
    int n, indices[2], count;
    MPI_Status statuses[2];
    MPI_Testsome(2, polled, &n, indices, statuses);
    if (n == 1 && indices[0] == 0) {
      MPI_Get_count(&statuses[0], MPI_DOUBLE, &count);
      done = 1 + count;
    }
    sched_yield();
  }
  return unused;
}

static void *poll_by_get_status(void *unused)
{
  while (!over) {
    int flag;
    MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    sched_yield();
  }
  return unused;
}

/* Polls before it lets the message be sent; a completion found then is too `early`. */
static void *poll_before(void *early)
{
  for (int round = 0; round < ROUNDS; round++) {
    while (started <= round)
      sched_yield();
    for (int i = 0; i < 30; i++) {
      int flag = 0;
      MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
      *(int *)early += flag;
    }
    MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
  }
  return NULL;
}

static void send_all(void)
{
  double nothing = 0;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++)
      out[i] = round + i * 0.25;
    MPI_Send(out, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  }
  MPI_Send(&nothing, 1, MPI_DOUBLE, peer, NEVER, MPI_COMM_WORLD);
}

static void receive_all(int way)
{
  double never;
  pthread_t thread;
  int wrong = 0, refused = 0, early = 0;
  void *(*const polls[])(void *) = {poll_by_testsome, poll_by_get_status, poll_before};
  MPI_Recv_init(in, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&never, 1, MPI_DOUBLE, peer, NEVER, MPI_COMM_WORLD, &requests[1]);
  polled[0] = requests[0];
  polled[1] = requests[1];
  over = started = 0;
  if (pthread_create(&thread, NULL, polls[way], &early) != 0)
    give_up("no thread");
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Status status;
    int count, is_wrong;
    done = 0;
    memset(in, 0, sizeof in);
    while (MPI_Start(&requests[0]) != MPI_SUCCESS)
      if (++refused > 100)
        give_up("MPI_Start");
    started = round + 1;
    if (way != LOOKS_BEFORE)
      MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    if (way != COMPLETES) {
      MPI_Wait(&requests[0], &status);
      MPI_Get_count(&status, MPI_DOUBLE, &count);
    } else {
      while (!done)
        sched_yield();
      count = done - 1;
    }
    is_wrong = count != COUNT;
    for (int i = 0; i < COUNT && !is_wrong; i++)
      is_wrong = in[i] != round + i * 0.25;
    wrong += is_wrong;
  }
  over = 1;
  pthread_join(thread, NULL);
  begin("wrong=%d refused=%d early=%d", wrong, refused, early);
  /* Unless it has completed this one. */
  MPI_Wait(&polled[1], MPI_STATUS_IGNORE);
  end();
  MPI_Request_free(&requests[0]);
}

int main(int argc, char **argv)
{
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  take_place(argv[1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int ways = threads_granted(level) ? WAYS : 0;
  for (int way = 0; way < ways; way++) {
    static const char *const names[] = {"completes", "looks", "looks before"};
    scene(names[way], 60);
    if (role == SENDER)
      send_all();
    else
      receive_all(way);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return job_end();
}
