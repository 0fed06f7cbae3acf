/* Several threads in the MPI at the same time, only if MPI_THREAD_MULTIPLE was granted. Threads log nothing: their findings are written after they
 * have ended. */
#include "scenarios.h"

#include <pthread.h>
#include <string.h>

static int allowed(void)
{
  int level;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE && role != IDLE;
}

enum { THREADS = 4, ROUNDS = 40, ROOM = 200000 };

typedef struct {
  pthread_t thread;
  int number, wrong;
  uint64_t sum;
  MPI_Comm comm;
} worker;

static int bytes_of(int number, int round)
{
  static const int lengths[] = {64, 1024, 1016, 9000, 80000, 200000};
  return lengths[(number + round) % 6];
}

/* The tag, or a wildcard where the thread has a communicator to itself. */
static void ping_pong(worker *w, int tag, int wild)
{
  memory out = memory_new(ROOM), in = memory_new(ROOM);
  for (int round = 0; round < ROUNDS; round++) {
    int bytes = bytes_of(w->number, round), how = (w->number + round) % 6, count = -1, flag = 0;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    fill(out.data, (size_t)bytes, round % 2 ? SMOOTH : RANDOM, (uint64_t)(w->number * 1000 + round));
    memset(in.data, 0, ROOM);
    for (int turn = 0; turn < 2; turn++) {
      if ((turn == 0) == (role == SENDER)) {
        if (round % 3)
          MPI_Send(out.data, bytes / 8, MPI_DOUBLE, peer, tag, w->comm);
        else {
          MPI_Isend(out.data, bytes / 8, MPI_DOUBLE, peer, tag, w->comm, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        continue;
      }
      int any_tag = wild ? MPI_ANY_TAG : tag, any_source = round % 2 ? MPI_ANY_SOURCE : peer;
      switch (how) {
      case 0:
        MPI_Recv(in.data, ROOM / 8, MPI_DOUBLE, any_source, any_tag, w->comm, &status);
        break;
      case 1:
        MPI_Irecv(in.data, ROOM / 8, MPI_DOUBLE, any_source, any_tag, w->comm, &request);
        while (!flag)
          MPI_Test(&request, &flag, &status);
        break;
      case 2:
        MPI_Probe(any_source, any_tag, w->comm, &status);
        MPI_Recv(in.data, ROOM / 8, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, w->comm, &status);
        break;
      case 3:
        while (!flag)
          MPI_Iprobe(any_source, any_tag, w->comm, &flag, &status);
        MPI_Irecv(in.data, ROOM / 8, MPI_DOUBLE, any_source, any_tag, w->comm, &request);
        MPI_Waitall(1, &request, &status);
        break;
      case 4:
        MPI_Mprobe(any_source, any_tag, w->comm, &message, &status);
        MPI_Mrecv(in.data, ROOM / 8, MPI_DOUBLE, &message, &status);
        break;
      default:
        MPI_Recv_init(in.data, ROOM / 8, MPI_DOUBLE, any_source, any_tag, w->comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
      }
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      w->wrong += count != bytes / 8 || status.MPI_TAG != tag || status.MPI_SOURCE != peer;
    }
    w->wrong += digest_bytes(in.data, (size_t)bytes) != digest_bytes(out.data, (size_t)bytes);
    w->sum = w->sum * 31 + digest(&in);
  }
  memory_free(&out);
  memory_free(&in);
}

static void *on_own_tag(void *argument)
{
  worker *w = argument;
  ping_pong(w, 200 + w->number, 0);
  return NULL;
}

static void *on_own_communicator(void *argument)
{
  ping_pong(argument, 7, 1);
  return NULL;
}

static void run(void *(*work)(void *), worker *workers)
{
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
      give_up("no thread");
  for (int i = 0; i < THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  for (int i = 0; i < THREADS; i++) {
    begin("thread %d: wrong=%d sum=%016lx", i, workers[i].wrong, (unsigned long)workers[i].sum);
    end();
  }
}

void threads_on_own_tags(void)
{
  worker workers[THREADS];
  if (!allowed())
    return;
  for (int i = 0; i < THREADS; i++)
    workers[i] = (worker){.number = i, .comm = MPI_COMM_WORLD};
  run(on_own_tag, workers);
}

/* Runs threads that all call the MPI, each with a communicator of its own. */
static void run_on_own_communicators(void *(*work)(void *))
{
  worker workers[THREADS];
  int level;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    return;
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.number = i};
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
  }
  if (role != IDLE)
    run(work, workers);
  for (int i = 0; i < THREADS; i++)
    MPI_Comm_free(&workers[i].comm);
}

void threads_on_own_communicators(void)
{
  run_on_own_communicators(on_own_communicator);
}

/* Each thread frees a datatype while a message with it is pending. MPICH frees it when the message has left, in its network library, and there calls
 * the delete callbacks of attributes without its lock. */
static void *on_freed_datatypes(void *argument)
{
  enum { ELEMENTS = 40000, TURNS = 100 };
  worker *w = argument;
  memory out = memory_new(2 * ELEMENTS * sizeof(double)), in = memory_new(ELEMENTS * sizeof(double));
  fill(out.data, out.room, RANDOM, (uint64_t)w->number);
  for (int turn = 0; turn < TURNS; turn++) {
    MPI_Datatype column;
    MPI_Request requests[2];
    memset(in.data, 0, in.room);
    MPI_Type_vector(ELEMENTS, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Isend(out.data, 1, column, peer, turn, w->comm, &requests[0]);
    MPI_Type_free(&column);
    MPI_Irecv(in.data, ELEMENTS, MPI_DOUBLE, peer, turn, w->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ELEMENTS; i++)
      w->wrong += memcmp((double *)in.data + i, (double *)out.data + 2 * i, sizeof(double)) != 0;
  }
  w->sum = digest(&in);
  memory_free(&out);
  memory_free(&in);
  return NULL;
}

void threads_free_datatypes(void)
{
  run_on_own_communicators(on_freed_datatypes);
}

/* --- one thread probes for what others receive ------------------------------------------------------------------- */

static volatile int finished;

/* Receives nothing: a probe alone must not withhold a message from a thread that waits for it. */
static void *probe_all_the_time(void *argument)
{
  int flag;
  (void)argument;
  while (!finished)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  return NULL;
}

typedef struct {
  int tag, wrong, how;
} listener;

static void *listen(void *argument)
{
  listener *l = argument;
  memory in = memory_new(ROOM), expected = memory_new(ROOM);
  for (int round = 0; round < 3 * ROUNDS; round++) {
    int bytes = bytes_of(l->tag, round), count;
    MPI_Status status;
    MPI_Request request;
    memset(in.data, 0, ROOM);
    memset(expected.data, 0, ROOM);
    fill(expected.data, (size_t)bytes, SMOOTH, (uint64_t)(l->tag * 1000 + round));
    switch ((l->how + round) % 4) {
    case 0:
      MPI_Recv(in.data, ROOM / 8, MPI_DOUBLE, peer, l->tag, MPI_COMM_WORLD, &status);
      break;
    case 1:
      /* Exactly the size of the message: a receive of a short one has no room for a frame. */
      MPI_Irecv(in.data, bytes / 8, MPI_DOUBLE, MPI_ANY_SOURCE, l->tag, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
      break;
    case 2:
      MPI_Probe(peer, l->tag, MPI_COMM_WORLD, &status);
      MPI_Recv(in.data, bytes / 8, MPI_DOUBLE, peer, l->tag, MPI_COMM_WORLD, &status);
      break;
    default:
      MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, in.data, ROOM / 8, MPI_DOUBLE, peer, l->tag, MPI_COMM_WORLD,
                   &status);
    }
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    l->wrong += count != bytes / 8 || status.MPI_TAG != l->tag;
    l->wrong += memcmp(in.data, expected.data, ROOM) != 0;
  }
  memory_free(&in);
  memory_free(&expected);
  return NULL;
}

/* --- threads that match, and threads that only probe --------------------------------------------------------------- */

enum { MATCHING = 3, MATCHED_MESSAGES = 1000, MATCHED_TAG = 320, LAST_TAG = 321 };

typedef struct {
  pthread_t thread;
  int number, wrong, out_of_order, taken;
} matcher;

/* Every message starts with its number. A thread always matches a later message than before: between two matched probes of a thread, no earlier
 * message can become available. */
static void *match(void *argument)
{
  matcher *m = argument;
  memory in = memory_new(ROOM);
  double last = -1;
  for (int turn = 0;; turn++) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status seen, status;
    MPI_Request request;
    int flag = 0, count = -1, told = -1, any_source = turn % 2 ? MPI_ANY_SOURCE : peer;
    if ((turn + m->number) % 2)
      while (!flag)
        MPI_Improbe(any_source, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &seen);
    else
      MPI_Mprobe(any_source, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &seen);
    MPI_Get_count(&seen, MPI_DOUBLE, &told);
    if (turn % 3)
      MPI_Mrecv(in.data, ROOM / 8, MPI_DOUBLE, &message, &status);
    else {
      MPI_Imrecv(in.data, ROOM / 8, MPI_DOUBLE, &message, &request);
      MPI_Wait(&request, &status);
    }
    if (status.MPI_TAG == LAST_TAG)
      break;
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    double number = *(double *)in.data;
    m->wrong += count != told || count != bytes_of(0, (int)number) / 8 || status.MPI_TAG != MATCHED_TAG;
    m->out_of_order += number <= last;
    last = number;
    m->taken++;
  }
  memory_free(&in);
  return NULL;
}

void matching_threads(void)
{
  if (!allowed())
    return;
  if (role == SENDER) {
    memory m = memory_new(ROOM);
    for (int i = 0; i < MATCHED_MESSAGES; i++) {
      fill(m.data, ROOM, SMOOTH, (uint64_t)i);
      *(double *)m.data = i;
      MPI_Send(m.data, bytes_of(0, i) / 8, MPI_DOUBLE, peer, MATCHED_TAG, MPI_COMM_WORLD);
    }
    for (int i = 0; i < MATCHING; i++)
      MPI_Send(NULL, 0, MPI_BYTE, peer, LAST_TAG, MPI_COMM_WORLD);
    memory_free(&m);
    return;
  }
  pthread_t probers[2];
  matcher matchers[MATCHING];
  finished = 0;
  for (int i = 0; i < 2; i++)
    pthread_create(&probers[i], NULL, probe_all_the_time, NULL);
  for (int i = 0; i < MATCHING; i++) {
    matchers[i] = (matcher){.number = i};
    pthread_create(&matchers[i].thread, NULL, match, &matchers[i]);
  }
  int wrong = 0, out_of_order = 0, taken = 0;
  for (int i = 0; i < MATCHING; i++) {
    pthread_join(matchers[i].thread, NULL);
    wrong += matchers[i].wrong;
    out_of_order += matchers[i].out_of_order;
    taken += matchers[i].taken;
  }
  finished = 1;
  for (int i = 0; i < 2; i++)
    pthread_join(probers[i], NULL);
  begin("taken=%d wrong=%d out_of_order=%d", taken, wrong, out_of_order);
  end();
}

void probing_thread(void)
{
  enum { LISTENERS = 2 };
  if (!allowed())
    return;
  if (role == SENDER) {
    memory m = memory_new(ROOM);
    for (int round = 0; round < 3 * ROUNDS; round++)
      for (int i = 0; i < LISTENERS; i++) {
        int tag = 300 + i, bytes = bytes_of(tag, round);
        fill(m.data, (size_t)bytes, SMOOTH, (uint64_t)(tag * 1000 + round));
        MPI_Send(m.data, bytes / 8, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD);
      }
    memory_free(&m);
    return;
  }
  pthread_t prober, threads[LISTENERS];
  listener listeners[LISTENERS];
  finished = 0;
  pthread_create(&prober, NULL, probe_all_the_time, NULL);
  for (int i = 0; i < LISTENERS; i++) {
    listeners[i] = (listener){.tag = 300 + i, .how = i};
    pthread_create(&threads[i], NULL, listen, &listeners[i]);
  }
  for (int i = 0; i < LISTENERS; i++)
    pthread_join(threads[i], NULL);
  finished = 1;
  pthread_join(prober, NULL);
  begin("wrong=%d,%d", listeners[0].wrong, listeners[1].wrong);
  end();
}
