/* Collectives on communicators that share processes: each receives its own messages, whatever the others do at the same time. */
#include "scenarios.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 300, COMMS = 4, MOST = 64, ROUNDS = 30, PAIRS = 2 };

/* The block that a rank of the world sends to rank `to` of a communicator, in an all-to-all with this number. */
static void fill_block(double *block, int from, int to, int number)
{
  for (int i = 0; i < COUNT; i++)
    block[i] = number * 1e6 + from * 1e3 + to + i * 1e-3;
}

typedef struct {
  MPI_Comm comm;
  int me, count, world[MOST];
  double out[MOST * COUNT], in[MOST * COUNT];
} member;

static member *member_new(MPI_Comm comm)
{
  member *m = malloc(sizeof *m);
  m->comm = comm;
  MPI_Comm_rank(comm, &m->me);
  MPI_Comm_size(comm, &m->count);
  if (m->count > MOST)
    give_up("more ranks than expected");
  MPI_Allgather(&rank, 1, MPI_INT, m->world, 1, MPI_INT, comm);
  return m;
}

static void prepare(member *m, int number)
{
  memset(m->in, 0, sizeof m->in);
  for (int to = 0; to < m->count; to++)
    fill_block(m->out + to * COUNT, rank, to, number);
}

static int wrong_values(const member *m, int number)
{
  double expected[COUNT];
  int wrong = 0;
  for (int from = 0; from < m->count; from++) {
    fill_block(expected, m->world[from], m->me, number);
    wrong += memcmp(expected, m->in + from * COUNT, sizeof expected) != 0;
  }
  return wrong;
}

/* The world, every other rank, pairs of neighbours, and the world in reverse order: nonblocking collectives on all at the same time. */
void overlapping_communicators(void)
{
  member *members[COMMS];
  MPI_Comm comms[COMMS];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[3]);
  for (int c = 0; c < COMMS; c++)
    members[c] = member_new(comms[c]);
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Request requests[COMMS];
    int wrong = 0;
    begin("round %d", round);
    for (int c = 0; c < COMMS; c++)
      prepare(members[c], round * COMMS + c);
    /* The first are blocking, since others are left to the MPI until then. Later the ranks begin them in different orders. */
    for (int i = 0; i < COMMS; i++) {
      int c = round < 2 ? i : (i + rank + round) % COMMS;
      member *m = members[c];
      if (round < 2)
        note_code(MPI_Alltoall(m->out, COUNT, MPI_DOUBLE, m->in, COUNT, MPI_DOUBLE, m->comm));
      else
        note_code(MPI_Ialltoall(m->out, COUNT, MPI_DOUBLE, m->in, COUNT, MPI_DOUBLE, m->comm, &requests[c]));
    }
    if (round >= 2) {
      if (round % 2)
        note_code(MPI_Waitall(COMMS, requests, MPI_STATUSES_IGNORE));
      else
        for (int c = COMMS - 1; c >= 0; c--)
          note_code(MPI_Wait(&requests[c], MPI_STATUS_IGNORE));
    }
    for (int c = 0; c < COMMS; c++)
      wrong += wrong_values(members[c], round * COMMS + c);
    note(" wrong=%d", wrong);
    end();
  }
  for (int c = 0; c < COMMS; c++) {
    MPI_Comm_free(&comms[c]);
    free(members[c]);
  }
}

typedef struct {
  pthread_t thread;
  pthread_barrier_t *both;
  member *member;
  int number, late, wrong;
} first;

static void *first_collective(void *argument)
{
  first *f = argument;
  pthread_barrier_wait(f->both);
  if (f->late)
    for (volatile int i = 0; i < f->number % 7 * 2000; i++)
      ;
  for (int i = 0; i < 3; i++) {
    prepare(f->member, f->number + i);
    if (MPI_Alltoall(f->member->out, COUNT, MPI_DOUBLE, f->member->in, COUNT, MPI_DOUBLE, f->member->comm) != MPI_SUCCESS)
      f->wrong++;
    f->wrong += wrong_values(f->member, f->number + i);
  }
  return NULL;
}

/* Two threads make the first collectives of two communicators with the same ranks, and start with different communicators. */
void threads_on_new_communicators(void)
{
  int level, wrong = 0;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE)
    return;
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Comm comms[PAIRS];
    first threads[PAIRS];
    pthread_barrier_t both;
    pthread_barrier_init(&both, NULL, PAIRS);
    for (int c = 0; c < PAIRS; c++) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
      threads[c] = (first){.both = &both, .member = member_new(comms[c]), .number = round * 10 + c, .late = c == rank % PAIRS};
    }
    for (int i = 0; i < PAIRS; i++) {
      int c = rank % 2 ? PAIRS - 1 - i : i;
      if (pthread_create(&threads[c].thread, NULL, first_collective, &threads[c]) != 0)
        give_up("pthread_create");
    }
    for (int c = 0; c < PAIRS; c++) {
      pthread_join(threads[c].thread, NULL);
      wrong += threads[c].wrong;
      free(threads[c].member);
      MPI_Comm_free(&comms[c]);
    }
    pthread_barrier_destroy(&both);
  }
  begin("first collectives");
  note(" wrong=%d", wrong);
  end();
}
