/* An error handler leaves, by longjmp, a call that waits for one of two requests. Then another thread waits for the other request, or the same
 * thread, or one that begins when the first has ended. With a second argument there is one thread: with several, MPICH holds a lock while it calls an
 * error handler. */
#include "../observe.h"

#include <pthread.h>
#include <setjmp.h>

enum { COUNT = 4000, TAG = 8 };
enum { MEANWHILE, SAME, LATER, WAYS };

static MPI_Comm comm;
static MPI_Request requests[2];
static memory first, other;
static __thread jmp_buf back;

static void leave(MPI_Comm *failed, int *code, ...)
{
  (void)failed;
  longjmp(back, class_of(*code));
}

static void *wait_for_the_other(void *unused)
{
  MPI_Status status;
  blank(&status);
  MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, comm);
  note_code(MPI_Wait(&requests[1], &status));
  note_status(&status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(&other));
  note_request("other", requests[1]);
  return unused;
}

static void in_thread(void *(*work)(void *), void *argument)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, argument) != 0 || pthread_join(thread, NULL) != 0)
    give_up("no thread");
}

static void *wait_and_leave(void *way)
{
  int index, class = setjmp(back);
  if (class == 0) {
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    give_up("no error");
  }
  note(" came back with class %d", class);
  if (*(int *)way == MEANWHILE)
    in_thread(wait_for_the_other, NULL);
  if (*(int *)way == SAME)
    wait_for_the_other(NULL);
  return NULL;
}

int main(int argc, char **argv)
{
  int level, wanted = argc > 2 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  MPI_Errhandler handler;
  MPI_Init_thread(&argc, &argv, wanted, &level);
  take_place(argv[1]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(leave, &handler);
  int rounds = wanted != MPI_THREAD_MULTIPLE || threads_granted(level) ? 4 * WAYS : 0;
  for (int round = 0; round < rounds; round++) {
    int way = argc > 2 ? SAME : round % WAYS;
    first = memory_new(COUNT * 8);
    other = memory_new(COUNT * 8);
    scene("siblings", 30);
    begin("%d:", round);
    if (role == SENDER) {
      fill(first.data, first.room, RANDOM, (uint64_t)round);
      fill(other.data, other.room, SMOOTH, (uint64_t)round);
      MPI_Send(first.data, COUNT, MPI_DOUBLE, peer, TAG, comm);
      MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
      MPI_Send(other.data, COUNT, MPI_DOUBLE, peer, TAG + 1, comm);
    } else {
      MPI_Comm_set_errhandler(comm, handler);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, handler); /* MPICH */
      MPI_Irecv(first.data, 1000, MPI_DOUBLE, peer, TAG, comm, &requests[0]);
      MPI_Irecv(other.data, COUNT, MPI_DOUBLE, peer, TAG + 1, comm, &requests[1]);
      if (argc > 2)
        wait_and_leave(&way);
      else
        in_thread(wait_and_leave, &way);
      if (way == LATER)
        in_thread(wait_for_the_other, NULL);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
      MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    end(); /* The MPI may still use the memory. */
  }
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
  return job_end();
}
