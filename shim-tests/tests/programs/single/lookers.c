/* Three threads that ask for three requests, each for two of them in another order: all may, since no call completes one. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <pthread.h>

enum { COUNT = 1024, TAG = 5, ROUNDS = 40, EACH = 3, PAIR = 2, LOOKS = 500 };

typedef int status_all(int, const MPI_Request *, int *, MPI_Status *);

static double in[EACH][COUNT];
static MPI_Request requests[EACH];
static status_all *get;

static void *look(void *first)
{
  MPI_Request these[PAIR];
  int is_there = 0;
  for (int i = 0; i < PAIR; i++)
    these[i] = requests[((int)(size_t)first + i) % EACH];
  for (int looks = 0; !is_there || looks < LOOKS; looks++)
    get(PAIR, these, &is_there, MPI_STATUSES_IGNORE);
  return NULL;
}

static int receive(int round)
{
  pthread_t threads[EACH];
  int wrong = 0;
  for (int i = 0; i < EACH; i++)
    MPI_Irecv(in[i], COUNT, MPI_DOUBLE, peer, TAG + i, MPI_COMM_WORLD, &requests[i]);
  for (size_t i = 0; i < EACH; i++)
    if (pthread_create(&threads[i], NULL, look, (void *)i) != 0)
      give_up("no thread");
  MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
  for (int i = 0; i < EACH; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < EACH * COUNT; i++)
    wrong += in[i / COUNT][i % COUNT] != round + i * 0.25;
  MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
  return wrong;
}

static void send(int round)
{
  static double out[EACH][COUNT];
  for (int i = 0; i < EACH * COUNT; i++)
    out[i / COUNT][i % COUNT] = round + i * 0.25;
  MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < EACH; i++)
    MPI_Send(out[i], COUNT, MPI_DOUBLE, peer, TAG + i, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  int level, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  take_place(argv[1]);
  scene("lookers", 120);
  get = (status_all *)dlsym(RTLD_DEFAULT, "MPI_Request_get_status_all");
  if (!get)
    give_up("no MPI_Request_get_status_all");
  int rounds = threads_granted(level) ? ROUNDS : 0;
  for (int round = 0; round < rounds; round++) {
    if (role == SENDER)
      send(round);
    else
      wrong += receive(round);
  }
  begin("wrong=%d", wrong);
  end();
  return job_end();
}
