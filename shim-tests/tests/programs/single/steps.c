/* Fields that change a little with each step, so that a message is nearly the last one of its tag. They are received in every way that there is. Both
 * ranks know the contents, and the receiver compares each byte. */
#include "../observe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { STEPS = 60, BESIDE = 24, SHORTENED = 6, LONGEST = 37500, SHORTER = 1300, UNDER_WAY = 24 };
/* Each has its tag. */
enum way { CLOCK, BLOCKING, WAIT_A, WAIT_B, SOME_A, SOME_B, PERSISTENT, REPLACED, PROBED, MATCHED, IMPROBED, ANY, LATE_A, LATE_B, TO_VECTOR,
  FROM_VECTOR, LONG, CANCELLED, SHORT, AGAIN, TWICE, THREAD_A, THREAD_B, WAYS };

/* The bits of doubles. */
static uint64_t in[WAYS][LONGEST], out[UNDER_WAY][LONGEST], own[3][LONGEST], apart[2][2 * SHORTER];
static MPI_Request sends[UNDER_WAY], persistent[2];
static MPI_Comm world, any, again = MPI_COMM_NULL;
static int sent, late_step = -1, cancelled, truncated;
static atomic_int wrong;
static atomic_ulong sum;
static char first[100] = "nothing";

static int count_of(int way)
{
  return way == LONG ? LONGEST : 320 + 40 * way;
}

/* Writes a message to memory. The low bits of a mantissa are random, and the same in each step but for a few. */
static uint64_t *content(uint64_t *data, int from, int way, int step)
{
  for (int i = 0; i < count_of(way); i++) {
    uint64_t bits = (uint64_t)(1 + from * WAYS + way) << 32 | (uint64_t)i;
    bits = (bits ^ bits >> 29) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 31) * 0xBF58476D1CE4E5B9u;
    data[i] = 0x4090000000000000u + (bits >> 26) + (uint64_t)(step * (1 + i % 3));
  }
  return data;
}

/* The arguments of a send from this memory, and those of a receive. */
#define OUT(memory, way, step) content(memory, rank, way, step), count_of(way), MPI_DOUBLE, peer, way
#define IN(way) in[way], count_of(way), MPI_DOUBLE, peer, way

static void fail(const char *what, int way, int step, int value)
{
  if (atomic_fetch_add(&wrong, 1) == 0)
    snprintf(first, sizeof first, "%s of way %d in step %d: %d", what, way, step, value);
}

static void check(int way, int step, const MPI_Status *status)
{
  static _Thread_local uint64_t right[LONGEST];
  int count, i = 0;
  MPI_Get_count(status, MPI_DOUBLE, &count);
  if (count != count_of(way) || status->MPI_SOURCE != peer || status->MPI_TAG != way)
    fail("the status", way, step, count);
  for (content(right, peer, way, step); i < count_of(way) && in[way][i] == right[i]; i++)
    ;
  if (i < count_of(way))
    fail("an element", way, step, i);
  sum += digest_bytes(in[way], sizeof *right * (size_t)count_of(way));
}

static void put(int way, int step, MPI_Comm comm)
{
  MPI_Isend(OUT(out[sent], way, step), comm, &sends[sent]);
  sent++;
}

static void get(int way, int step, MPI_Comm comm)
{
  MPI_Status status;
  MPI_Recv(IN(way), comm, &status);
  check(way, step, &status);
}

static void swap(int way, int step, MPI_Comm comm)
{
  put(way, step, comm);
  get(way, step, comm);
}

/* A receive that is cancelled, and made again unless the message was faster. `early`: that has not been sent. */
static void cancel(int step, int early)
{
  MPI_Request request;
  MPI_Status status;
  int flag;
  MPI_Irecv(IN(CANCELLED), world, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  cancelled += early && flag;
  if (!flag)
    check(CANCELLED, step, &status);
  else if (!early)
    get(CANCELLED, step, world);
}

/* A receive with room for fewer elements. */
static void too_short(int way, int step, int room)
{
  MPI_Request request;
  MPI_Irecv(own[2], room, MPI_DOUBLE, peer, way, world, &request);
  int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (class_of(code) != MPI_ERR_TRUNCATE)
    fail("the error", way, step, class_of(code));
  truncated++;
}

/* In another order than they were sent. */
static void get_late(void)
{
  for (int way = LATE_B; way >= LATE_A && late_step >= 0; way--)
    get(way, late_step, world);
  late_step = -1;
}

/* `room`: elements of the receives that are too short; 0: most are long enough. */
static void go(int step, int room)
{
  MPI_Request requests[4];
  MPI_Status statuses[2], *status = statuses;
  MPI_Message message;
  MPI_Datatype vectors[2];
  int found = 0, indices[2], n;
  if (step % 4 != 3)
    get_late();
  if (step % 2 == 0)
    cancel(step, 1);
  /* Each rank has received all of the last step, except late messages in some steps, and its frame says what it keeps of that. */
  MPI_Sendrecv(OUT(own[0], CLOCK, step), IN(CLOCK), world, status);
  check(CLOCK, step, status);
  for (int i = 0; i < 4; i++)
    MPI_Irecv(IN(WAIT_A + i), world, &requests[i]);
  for (const int *way = (int[]){WAIT_A, WAIT_B, CANCELLED, LONG, SHORT, PROBED, SOME_B, SOME_A, IMPROBED, MATCHED, -1}; *way >= 0; way++)
    put(*way, step, world);
  MPI_Waitall(2, requests, statuses);
  for (int i = 0; i < 2; i++)
    check(WAIT_A + i, step, &statuses[i]);
  for (int done = 0; done < 2; done += n) {
    MPI_Testsome(2, requests + 2, &n, indices, statuses);
    for (int i = 0; i < n; i++)
      check(SOME_A + indices[i], step, &statuses[i]);
  }
  for (int turn = 0; turn < 2; turn++)
    if (turn == rank)
      MPI_Send(OUT(own[0], BLOCKING, step), world);
    else
      get(BLOCKING, step, world);
  content(own[1], rank, PERSISTENT, step);
  MPI_Startall(2, persistent);
  MPI_Waitall(2, persistent, statuses);
  check(PERSISTENT, step, &statuses[1]);
  content(in[REPLACED], rank, REPLACED, step);
  MPI_Sendrecv_replace(IN(REPLACED), peer, REPLACED, world, status);
  check(REPLACED, step, status);

  MPI_Probe(peer, PROBED, world, status);
  MPI_Get_count(status, MPI_DOUBLE, &n);
  if (n != count_of(PROBED))
    fail("the probed length", PROBED, step, n);
  get(PROBED, step, world);
  MPI_Mprobe(peer, MATCHED, world, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in[MATCHED], count_of(MATCHED), MPI_DOUBLE, &message, status);
  check(MATCHED, step, status);
  while (!found)
    MPI_Improbe(MPI_ANY_SOURCE, IMPROBED, world, &found, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(in[IMPROBED], count_of(IMPROBED), MPI_DOUBLE, &message, requests);
  MPI_Wait(requests, status);
  check(IMPROBED, step, status);
  put(ANY, step, any);
  MPI_Recv(in[ANY], count_of(ANY), MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, any, status);
  check(ANY, step, status);

  for (int i = 0; i < 2; i++) {
    MPI_Type_vector(count_of(TO_VECTOR + i), 1, 2, MPI_DOUBLE, &vectors[i]);
    MPI_Type_commit(&vectors[i]);
  }
  put(TO_VECTOR, step, world);
  MPI_Recv(apart[0], 1, vectors[0], peer, TO_VECTOR, world, status);
  for (int i = 0; i < count_of(TO_VECTOR); i++)
    in[TO_VECTOR][i] = apart[0][2 * i];
  check(TO_VECTOR, step, status);
  content(own[0], rank, FROM_VECTOR, step);
  for (int i = 0; i < count_of(FROM_VECTOR); i++)
    apart[1][2 * i] = own[0][i];
  MPI_Isend(apart[1], 1, vectors[1], peer, FROM_VECTOR, world, &sends[sent++]);
  get(FROM_VECTOR, step, world);
  for (int i = 0; i < 2; i++)
    MPI_Type_free(&vectors[i]);

  if (step % 10 == 0 && again != MPI_COMM_NULL)
    MPI_Comm_free(&again);
  if (step % 10 == 0)
    MPI_Comm_dup(world, &again);
  swap(AGAIN, step, again);
  for (int i = 0; i < 2; i++)
    put(TWICE, 2 * step + i, world);
  for (int i = 0; i < 2; i++)
    get(TWICE, 2 * step + i, world);
  if (step % 2 == 0)
    get(CANCELLED, step, world);
  else
    cancel(step, 0);
  for (int i = 0; i < 2; i++) {
    int way = i == 0 ? SHORT : LONG;
    if (room > 0 || step % (5 + i) == 2)
      too_short(way, step, room > 0 ? room : count_of(way) - 1);
    else
      get(way, step, world);
  }

  get_late(); /* those of the last step, unless they have been received */
  MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
  sent = 0;
  for (int way = LATE_A; way <= LATE_B; way++)
    put(way, step, world);
  late_step = step;
}

static void *in_a_thread(void *its)
{
  static uint64_t data[2][SHORTER];
  for (int step = 0, way = *(int *)its; step < STEPS; step++) {
    MPI_Request request;
    MPI_Isend(OUT(data[way - THREAD_A], way, step), world, &request);
    get(way, step, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static void tell(const char *what)
{
  begin("%s wrong=%d first: %s; cancelled=%d truncated=%d sum=%016lx", what, wrong, first, cancelled, truncated, sum);
  end();
}

int main(int argc, char **argv)
{
  int level, step = 0, ways[2] = {THREAD_A, THREAD_B};
  pthread_t threads[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  take_place(argv[1]);
  world = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_dup(world, &any);
  MPI_Send_init(OUT(own[1], PERSISTENT, 0), world, &persistent[0]);
  MPI_Recv_init(IN(PERSISTENT), world, &persistent[1]);
  scene("steps", 60);
  for (; step < STEPS; step++)
    go(step, 0);
  tell("alone");
  int count = threads_granted(level) ? 2 : 0;
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, in_a_thread, &ways[i]) != 0)
      give_up("no thread");
  for (; step < STEPS + BESIDE; step++)
    go(step, 0);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  tell("beside threads");
  for (; step < STEPS + BESIDE + SHORTENED; step++)
    go(step, step % 3 == 0 ? 8 : 200);
  get_late();
  MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
  tell("much too short");
  for (int i = 0; i < 2; i++)
    MPI_Request_free(&persistent[i]);
  return job_end();
}
