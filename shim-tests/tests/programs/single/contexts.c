/* Two user-level threads in one thread: while the first is in a call of MPI, the second makes calls, on a stack above or below. The first gives way
 * in the MPI itself (`switching.so`), in an error handler, or in a callback of an attribute. For comparison the handler and the callback make the
 * same calls themselves. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { COUNT = 4000, TAG = 8, STACK = 1 << 20 };
enum place { MAIN, LOWER, UPPER, SAME };

static char *stacks;
static MPI_Comm comm;
static ucontext_t home, first_context, second_context, given_way;
static void (*first_work)(void), (*second_work)(void);
static enum place second_place;
static int wanted, waits_at_home;
static memory data[4];
static MPI_Request requests[2];

static void prepare(ucontext_t *context, enum place place, ucontext_t *next, void (*work)(void))
{
  getcontext(context);
  context->uc_stack.ss_sp = stacks + (place == UPPER ? 2 * STACK : 0);
  context->uc_stack.ss_size = STACK;
  context->uc_link = next;
  makecontext(context, work, 0);
}

/* The first one gives way to the second, once. */
static void give_way(void)
{
  if (!wanted)
    return;
  wanted = 0;
  if (second_place == SAME) {
    second_work();
  } else if (second_place == MAIN) {
    waits_at_home = 1;
    swapcontext(&given_way, &home);
  } else {
    prepare(&second_context, second_place, &given_way, second_work);
    swapcontext(&given_way, &second_context);
  }
}

static void run(enum place first, enum place second)
{
  second_place = second;
  wanted = 1;
  waits_at_home = 0;
  if (first == MAIN) {
    first_work();
    return;
  }
  prepare(&first_context, first, &home, first_work);
  swapcontext(&home, &first_context);
  if (waits_at_home) {
    second_work();
    swapcontext(&home, &given_way);
  }
}

static void in_handler(MPI_Comm *failed, int *code, ...)
{
  (void)failed, (void)code;
  give_way();
}

static int in_callback(MPI_Comm freed, int key, void *value, void *state)
{
  (void)freed, (void)key, (void)value, (void)state;
  give_way();
  return MPI_SUCCESS;
}

static void note_data(const memory *m, MPI_Status *status)
{
  note_status(status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(m));
}

/* --- what the second does ---------------------------------------------------------------------------------------- */

static void receive_two(void)
{
  MPI_Status status;
  MPI_Request request;
  note(" second:");
  blank(&status);
  note_code(MPI_Recv(data[2].data, COUNT, MPI_DOUBLE, peer, TAG + 2, comm, &status));
  note_data(&data[2], &status);
  MPI_Irecv(data[3].data, COUNT, MPI_DOUBLE, peer, TAG + 3, comm, &request);
  blank(&status);
  note_code(MPI_Wait(&request, &status));
  note_data(&data[3], &status);
}

static void wait_for_the_other(void)
{
  MPI_Status status;
  note(" second:");
  blank(&status);
  note_code(MPI_Wait(&requests[1], &status));
  note_data(&data[1], &status);
  receive_two();
}

/* --- what the first does ----------------------------------------------------------------------------------------- */

static void (**before)(void), (**after)(void);

static void send(void)
{
  *before = give_way;
  note_code(MPI_Send(data[0].data, COUNT, MPI_DOUBLE, peer, TAG, comm));
}

static void wait_then(void (**place)(void))
{
  MPI_Status status;
  MPI_Irecv(data[0].data, COUNT, MPI_DOUBLE, peer, TAG, comm, &requests[0]);
  *place = give_way;
  blank(&status);
  note_code(MPI_Wait(&requests[0], &status));
  note_data(&data[0], &status);
}

static void wait_and_switch_before(void)
{
  wait_then(before);
}

static void wait_and_switch_after(void)
{
  wait_then(after);
}

static void refused(void)
{
  int *most, found;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  if (*most == INT_MAX)
    give_way();
  else
    note_code(MPI_Send(data[0].data, COUNT, MPI_DOUBLE, peer, *most + 1, comm));
}

static void truncated(void)
{
  note_code(MPI_Recv(data[0].data, 1000, MPI_DOUBLE, peer, TAG, comm, MPI_STATUS_IGNORE));
}

static void one_of_two(void)
{
  int index = -1;
  MPI_Irecv(data[0].data, 1000, MPI_DOUBLE, peer, TAG, comm, &requests[0]);
  MPI_Irecv(data[1].data, COUNT, MPI_DOUBLE, peer, TAG + 1, comm, &requests[1]);
  note_code(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
  note(" index=%d", index);
  note_request("other", requests[1]);
}

static void free_communicator(void)
{
  int key;
  MPI_Comm other;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_callback, &key, NULL);
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  MPI_Comm_set_attr(other, key, NULL);
  note_code(MPI_Comm_free(&other));
  MPI_Comm_free_keyval(&key);
}

/* --- both ranks -------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  void (*first)(void), (*second)(void);
  /* The other rank sends this number of messages to the first one, the first of them with this content, or `takes` one. */
  enum content content;
  int sends, takes;
  /* The first gives way in the MPI itself. */
  int in_mpi;
} ways[] = {
    {"send", send, receive_two, SMOOTH, 0, 1, 1},
    {"wait, before", wait_and_switch_before, receive_two, SMOOTH, 1, 0, 1},
    {"wait, after", wait_and_switch_after, receive_two, SMOOTH, 1, 0, 1},
    {"refused", refused, receive_two, SMOOTH, 0, 0, 0},
    {"truncated", truncated, receive_two, RANDOM, 1, 0, 0},
    {"one of two", one_of_two, wait_for_the_other, RANDOM, 2, 0, 0},
    {"attribute", free_communicator, receive_two, SMOOTH, 0, 0, 0},
};

static void other_rank(int way, int round)
{
  static double message[COUNT];
  for (int i = 0; i < 4; i++)
    if (i >= 2 || i < ways[way].sends) {
      fill(message, sizeof message, i == 0 ? ways[way].content : SMOOTH, (uint64_t)(100 * way + 10 * round + i));
      MPI_Send(message, COUNT, MPI_DOUBLE, peer, TAG + i, comm);
    }
  if (ways[way].takes) {
    MPI_Recv(message, COUNT, MPI_DOUBLE, peer, TAG, comm, MPI_STATUS_IGNORE);
    note(" data=%016lx", (unsigned long)digest_bytes(message, sizeof message));
  }
}

int main(int argc, char **argv)
{
  static const enum place places[][2] = {{MAIN, LOWER}, {LOWER, MAIN}, {LOWER, UPPER}, {UPPER, LOWER}, {MAIN, SAME}, {LOWER, SAME}};
  MPI_Errhandler handler;
  job_begin(&argc, &argv, 1);
  before = (void (**)(void))dlsym(RTLD_DEFAULT, "switch_before");
  after = (void (**)(void))dlsym(RTLD_DEFAULT, "switch_after");
  stacks = mmap(NULL, 3 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (!before || !after || stacks == MAP_FAILED)
    give_up("switching.so is not preloaded, or no memory");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(in_handler, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler); /* MPICH */
  for (int way = 0; way < (int)(sizeof ways / sizeof ways[0]); way++)
    /* In the MPI, calls on the same stack are its own. */
    for (int round = 0; round < (ways[way].in_mpi ? 4 : 6); round++) {
      scene(ways[way].name, 30);
      begin("%s %d %d:", ways[way].name, places[round][0], places[round][1]);
      MPI_Barrier(comm);
      if (role == SENDER)
        other_rank(way, round);
      else {
        for (int i = 0; i < 4; i++)
          data[i] = memory_new(COUNT * 8);
        fill(data[0].data, data[0].room, SMOOTH, (uint64_t)round);
        first_work = ways[way].first;
        second_work = ways[way].second;
        run(places[round][0], places[round][1]);
        for (int i = 0; i < 4; i++)
          memory_free(&data[i]);
      }
      end();
    }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  return job_end();
}
