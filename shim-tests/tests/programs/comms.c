/* Communicators of all kinds: ranks in them differ from those of MPI_COMM_WORLD. */
#include "scenarios.h"

#include <stdio.h>
#include <string.h>

enum { TAG = 90 };

/* A ring in a communicator: each rank sends to the next and receives from the previous one, in all ways. `to` and `from` are ranks in the
 * communicator. */
static void ring(const char *name, MPI_Comm comm, int to, int from)
{
  static const int lengths[] = {800, 1024, 50000};
  for (int l = 0; l < 3; l++)
    for (int how = 0; how < receives; how++) {
      int room = lengths[l] + how % 2 * 256;
      memory out = memory_new((size_t)lengths[l]), in = memory_new((size_t)room);
      MPI_Request request;
      MPI_Status status;
      fill(out.data, out.room, how % 3 ? SMOOTH : RANDOM, (uint64_t)(rank * 100 + how));
      begin("%s: %d bytes %s", name, lengths[l], receive_name(how));
      MPI_Isend(out.data, lengths[l] / 8, MPI_DOUBLE, to, TAG, comm, &request);
      int code = receive_by(how, how % COMPLETIONS, (span){in.data, room / 8, MPI_DOUBLE},
                            how % 2 ? MPI_ANY_SOURCE : from, how % 3 ? TAG : MPI_ANY_TAG, comm, 0, NULL, &status);
      note_code(code);
      note_status(&status, MPI_DOUBLE);
      note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
      note(" data=%016lx", (unsigned long)digest(&in));
      end();
      memory_free(&out);
      memory_free(&in);
    }
  /* Wildcards of one round must not match messages of the next. */
  MPI_Barrier(comm);
}

static void ring_of(const char *name, MPI_Comm comm)
{
  int own, count;
  MPI_Comm_rank(comm, &own);
  MPI_Comm_size(comm, &count);
  ring(name, comm, (own + 1) % count, (own + count - 1) % count);
}

/* Exchanges messages on a communicator that is being freed. */
static int at_the_end(MPI_Comm comm, int keyval, void *value, void *state)
{
  (void)keyval, (void)value, (void)state;
  ring_of("being freed", comm);
  return MPI_SUCCESS;
}

/* The next communicator may have the handle of the one that was freed. */
static void delete_callbacks(void)
{
  MPI_Comm comm;
  int early, late;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &early, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &late, NULL);
  for (int times = 0; times < 2; times++) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, times ? -rank : rank, &comm);
    MPI_Comm_set_attr(comm, early, NULL);
    ring_of("with callbacks", comm);
    MPI_Comm_set_attr(comm, late, NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, times ? rank : -rank, &comm);
    ring_of("after it", comm);
    MPI_Comm_free(&comm);
  }
  MPI_Comm_free_keyval(&early);
  MPI_Comm_free_keyval(&late);
}

void communicators(void)
{
  MPI_Comm comm, part, inter;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  ring_of("dup", comm);
  MPI_Comm_free(&comm);

  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  ring_of("reversed", comm);
  MPI_Comm_free(&comm);

  /* All but rank 0, in another order. */
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank * 7 % 5, &comm);
  if (comm != MPI_COMM_NULL) {
    ring_of("without 0", comm);
    MPI_Comm_free(&comm);
  }

  delete_callbacks();

  int dims[1] = {size}, periods[1] = {1}, from, to;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &comm);
  MPI_Cart_shift(comm, 0, 1, &from, &to);
  ring("cart", comm, to, from);
  MPI_Comm_free(&comm);

  /* Even ranks and odd ranks; in the first group the order is reversed. Ranks are those of the other side. */
  int odd = rank % 2, own, there;
  MPI_Comm_split(MPI_COMM_WORLD, odd, odd ? rank : -rank, &part);
  int first_even = (size - 1) / 2 * 2;
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, odd ? first_even : 1, 5, &inter);
  MPI_Comm_rank(inter, &own);
  MPI_Comm_remote_size(inter, &there);
  int mine;
  MPI_Comm_size(inter, &mine);
  if (own < there)
    ring("inter", inter, own, own);
  else
    MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, odd, &comm);
  ring_of("merged", comm);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&part);
}

/* The same tags on two communicators at the same time: a probe on one must not move messages of the other. */
void two_communicators(void)
{
  static const int lengths[] = {64, 4000, 1024, 100000};
  enum { COUNT = 8 };
  if (size < 2)
    return;
  MPI_Comm comms[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  for (int how = 0; how < receives && role != IDLE; how++) {
    if (role == SENDER) {
      memory memories[COUNT];
      MPI_Request requests[COUNT];
      for (int i = 0; i < COUNT; i++) {
        int bytes = lengths[(i + how) % 4], on = (i * 3 + how) % 2;
        memories[i] = memory_new((size_t)bytes);
        fill(memories[i].data, memories[i].room, SMOOTH, (uint64_t)(how * 10 + i));
        MPI_Isend(memories[i].data, bytes / 8, MPI_DOUBLE, on ? size - 1 - peer : peer, TAG + i / 4, comms[on],
                  &requests[i]);
      }
      MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < COUNT; i++)
        memory_free(&memories[i]);
      await(peer);
      continue;
    }
    /* First the last tag on one communicator, then the others there, then all on the other one in order. */
    for (int pass = 0; pass < 2; pass++) {
      int on = (how + pass) % 2, source = on ? size - 1 - peer : peer, left = 0, last = -1;
      for (int i = 0; i < COUNT; i++)
        if ((i * 3 + how) % 2 == on) {
          left++;
          last = TAG + i / 4;
        }
      for (int k = 0; k < left; k++) {
        memory m = memory_new(110000);
        MPI_Status status;
        int tag = pass == 0 && k == 0 ? last : MPI_ANY_TAG;
        begin("%d: on %d, %d", how, on, k);
        if (k == 1) {
          MPI_Status seen;
          blank(&seen);
          note_code(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[on], &seen));
          note_status(&seen, MPI_DOUBLE);
        }
        int code = receive_by((how + k) % receives, k % COMPLETIONS, (span){m.data, 13750, MPI_DOUBLE}, source, tag,
                              comms[on], 0, NULL, &status);
        note_code(code);
        note_status(&status, MPI_DOUBLE);
        note(" data=%016lx", (unsigned long)digest(&m));
        end();
        memory_free(&m);
      }
    }
    signal_to(peer);
  }
  MPI_Comm_free(&comms[0]);
  MPI_Comm_free(&comms[1]);
}

/* A communicator may be freed while operations on it are pending: they complete nevertheless. (Open MPI ends the program if one of them fails, so
 * none does.) */
void freed_communicators(void)
{
  for (int round = 0; round < 8; round++) {
    int bytes = round % 2 ? 900 : 60000, persistent = round / 2 % 2, matched = round / 4;
    memory m = memory_new((size_t)bytes);
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int count = bytes / 8;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    begin("%d: %d bytes%s%s", round, bytes, persistent ? " persistent" : "", matched ? " matched" : "");
    fill(m.data, m.room, SMOOTH, (uint64_t)(round + rank));
    if (role == SENDER) {
      if (persistent) {
        MPI_Send_init(m.data, count, MPI_DOUBLE, peer, TAG, comm, &request);
        if (matched)
          MPI_Start(&request);
      } else
        MPI_Isend(m.data, count, MPI_DOUBLE, peer, TAG, comm, &request);
    } else if (role == RECEIVER) {
      if (matched)
        MPI_Mprobe(peer, TAG, comm, &message, MPI_STATUS_IGNORE);
      else if (persistent)
        MPI_Recv_init(m.data, count, MPI_DOUBLE, peer, TAG, comm, &request);
      else
        MPI_Irecv(m.data, count, MPI_DOUBLE, peer, TAG, comm, &request);
    }
    MPI_Comm_free(&comm);
    MPI_Comm others[2];
    MPI_Comm_dup(MPI_COMM_SELF, &others[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &others[1]);
    blank(&status);
    if (role != IDLE) {
      if (message != MPI_MESSAGE_NULL)
        note_code(MPI_Imrecv(m.data, count, MPI_DOUBLE, &message, &request));
      else if (persistent && !matched)
        note_code(MPI_Start(&request));
      note_code(complete(round % COMPLETIONS, &request, &status));
      if (role == RECEIVER) {
        note_status(&status, MPI_DOUBLE);
        note(" data=%016lx", (unsigned long)digest(&m));
      }
      if (request != MPI_REQUEST_NULL)
        note_code(MPI_Request_free(&request));
    }
    end();
    MPI_Comm_free(&others[0]);
    MPI_Comm_free(&others[1]);
    memory_free(&m);
  }
}

/* Strategies of single communicators. An MPI without the shim ignores them as unknown hints. */
void info_strategies(void)
{
  static const char *const strategies[] = {"fixed:dfcm", "fixed:diffpack-ratio", "off", "best"};
  for (int i = 0; i < 4; i++) {
    MPI_Info info;
    MPI_Comm comm, again;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpress_strategy", strategies[i]);
    if (i % 2) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      note_code(MPI_Comm_set_info(comm, info));
    } else {
      note_code(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    }
    MPI_Info_free(&info);
    ring_of(strategies[i], comm);
    MPI_Comm_dup(comm, &again);
    MPI_Comm_free(&comm);
    ring_of("its duplicate", again);
    MPI_Comm_free(&again);
  }
}

/* Collectives on communicators with a strategy: messages between two ranks, broadcasts, all-gathers. */
void info_collectives(void)
{
  static const char *const strategies[] = {"fixed:dfcm", "fixed:diffpack-ratio", "off"};
  enum { COUNT = 1000 };
  size_t room = (size_t)size * COUNT * 8;
  for (int i = 0; i < 3; i++) {
    memory out = memory_new(room), in = memory_new(room);
    MPI_Info info;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpress_strategy", strategies[i]);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    fill(out.data, room, SMOOTH, (uint64_t)(rank + i));
    begin("%s", strategies[i]);
    note_code(MPI_Alltoall(out.data, COUNT, MPI_DOUBLE, in.data, COUNT, MPI_DOUBLE, comm));
    note(" %016lx", (unsigned long)digest(&in));
    note_code(MPI_Ialltoall(in.data, COUNT, MPI_DOUBLE, out.data, COUNT, MPI_DOUBLE, comm, &request));
    note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note(" %016lx", (unsigned long)digest(&out));
    note_code(MPI_Ibcast(out.data, COUNT, MPI_DOUBLE, 0, comm, &request));
    note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note_code(MPI_Gather(out.data, COUNT, MPI_DOUBLE, in.data, COUNT, MPI_DOUBLE, size - 1, comm));
    note(" %016lx", (unsigned long)digest(&in));
    end();
    MPI_Comm_free(&comm);
    memory_free(&out);
    memory_free(&in);
  }
}

/* Assertions that frames, and probes for them, would break. */
enum { ASSERTIONS = 3 };
static const char *const assertions[ASSERTIONS] = {"mpi_assert_exact_length", "mpi_assert_no_any_tag",
                                                   "mpi_assert_no_any_source"};

/* Each call that gives a communicator an info, with these assertions; counts the assertions that reached the MPI. */
static void make_asserted(int way, MPI_Comm *comm, int *told)
{
  MPI_Info info, got;
  MPI_Request request;
  int next = (rank + 1) % size, before = (rank + size - 1) % size, one = 1, found = 0;
  char value[8];
  MPI_Info_create(&info);
  for (int i = 0; i < ASSERTIONS; i++)
    MPI_Info_set(info, assertions[i], "true");
  MPI_Info_set(info, "mpress_strategy", "fixed:dfcm");
  switch (way) {
  case 0:
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
    note_code(MPI_Comm_set_info(*comm, info));
    break;
  case 1:
    note_code(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, comm));
    break;
  case 2:
    note_code(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, info, comm));
    break;
  case 3:
    note_code(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, info, 0, comm));
    break;
  case 4:
    note_code(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, info, 0,
                                             comm));
    break;
  default:
#if MPI_VERSION >= 4
    note_code(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, comm, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
    (void)request;
    MPI_Comm_dup(MPI_COMM_WORLD, comm);
#endif
  }
  MPI_Info_free(&info);
  MPI_Comm_get_info(*comm, &got);
  for (int i = 0; i < ASSERTIONS; i++) {
    MPI_Info_get(got, assertions[i], sizeof value - 1, value, &found);
    told[i] += found && strcmp(value, "true") == 0;
  }
  MPI_Info_free(&got);
}

/* A ring that keeps to the assertions. */
static void asserted_ring(MPI_Comm comm)
{
  int me, count;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &count);
  int to = (me + 1) % count, from = (me + count - 1) % count;
  for (int how = 0; how < receives; how++) {
    memory out = memory_new(50000), in = memory_new(50000);
    MPI_Request request;
    MPI_Status status;
    fill(out.data, out.room, SMOOTH, (uint64_t)(rank * 100 + how));
    begin("asserted: %s", receive_name(how));
    MPI_Isend(out.data, 6250, MPI_DOUBLE, to, TAG, comm, &request);
    note_code(receive_by(how, how % COMPLETIONS, (span){in.data, 6250, MPI_DOUBLE}, from, TAG, comm, 0, NULL, &status));
    note_status(&status, MPI_DOUBLE);
    note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note(" data=%016lx", (unsigned long)digest(&in));
    end();
    memory_free(&out);
    memory_free(&in);
  }
}

void info_assertions(void)
{
  int told[ASSERTIONS] = {0};
  for (int way = 0; way < 6; way++) {
    MPI_Comm comm;
    begin("way %d", way);
    make_asserted(way, &comm, told);
    end();
    asserted_ring(comm);
    MPI_Comm_free(&comm);
  }
  if (rank == 0)
    printf("told: exact length %d, no any tag %d, no any source %d\n", told[0], told[1], told[2]);
}
