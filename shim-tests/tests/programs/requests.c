/* Requests in all states and mixtures: short and long, persistent, inactive, null, freed, cancelled. */
#include "scenarios.h"

#include <string.h>

enum { TAG = 60 };

/* Completes all requests of an array by one of the calls for several, repeated until none is left, and notes the result of each. Which requests
 * complete together depends on time, so that is not noted. */
static void complete_all(int how, int count, MPI_Request *requests, MPI_Status *statuses)
{
  MPI_Status found[64];
  int indices[64], done = 0, index = 0, flag = 0, code = MPI_SUCCESS;
  blank_all(statuses, count);
  switch (how) {
  case 0:
    code = MPI_Waitall(count, requests, statuses);
    break;
  case 1:
    while (code == MPI_SUCCESS && !flag)
      code = MPI_Testall(count, requests, &flag, statuses);
    break;
  case 2:
  case 3:
    for (;;) {
      blank_all(found, count);
      code = how == 2 ? MPI_Waitsome(count, requests, &done, indices, found)
                      : MPI_Testsome(count, requests, &done, indices, found);
      if (code != MPI_SUCCESS || done == MPI_UNDEFINED)
        break;
      for (int i = 0; i < done; i++)
        statuses[indices[i]] = found[i];
    }
    break;
  case 4:
    for (;;) {
      blank(found);
      code = MPI_Waitany(count, requests, &index, found);
      if (code != MPI_SUCCESS || index == MPI_UNDEFINED)
        break;
      statuses[index] = *found;
    }
    break;
  default:
    for (;;) {
      blank(found);
      code = MPI_Testany(count, requests, &index, &flag, found);
      if (code != MPI_SUCCESS || (flag && index == MPI_UNDEFINED))
        break;
      if (flag)
        statuses[index] = *found;
    }
  }
  note_code(code);
}

enum { WAYS = 6, SLOTS = 12 };

/* Receives of all kinds in one array; every way to complete several. */
void mixed_requests(void)
{
  static const int bytes[SLOTS] = {8, 5000, 0, 1024, 40000, 1016, 0, 300000, 2048, 16, 0, 1032};
  if (role == IDLE)
    return;
  for (int round = 0; round < 3 * WAYS; round++) {
    int how = round % WAYS, early = round / WAYS == 1, ignore = round / WAYS == 2;
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];
    memory memories[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
      memories[i] = memory_new((size_t)bytes[i] + 64);
      requests[i] = MPI_REQUEST_NULL;
      if (role == SENDER)
        fill(memories[i].data, memories[i].room, i % 2 ? RANDOM : SMOOTH, (uint64_t)(round * 20 + i));
    }
    if (role == RECEIVER && early) {
      /* A probe beforehand makes the shim receive the messages that have arrived. */
      MPI_Probe(peer, TAG + 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < SLOTS; i++) {
      void *data = memories[i].data;
      /* Slot 2 stays null, slot 6 is persistent and never started, slot 10 has no process at the other end. */
      if (i == 2)
        continue;
      int other = i == 10 ? MPI_PROC_NULL : peer, persistent = i % 4 == 0 || i == 6, room = bytes[i] / 8;
      if (role == SENDER && persistent)
        MPI_Send_init(data, room, MPI_DOUBLE, other, TAG + i, MPI_COMM_WORLD, &requests[i]);
      else if (role == SENDER)
        MPI_Isend(data, room, MPI_DOUBLE, other, TAG + i, MPI_COMM_WORLD, &requests[i]);
      else if (persistent)
        MPI_Recv_init(data, room + i % 3, MPI_DOUBLE, other, TAG + i, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(data, room + i % 3, MPI_DOUBLE, i % 2 ? MPI_ANY_SOURCE : other, TAG + i, MPI_COMM_WORLD,
                  &requests[i]);
      if (persistent && i != 6)
        MPI_Start(&requests[i]);
    }
    begin("%d: way %d", round, how);
    if (ignore && how == 0)
      note_code(MPI_Waitall(SLOTS, requests, MPI_STATUSES_IGNORE));
    else
      complete_all(how, SLOTS, requests, statuses);
    end();
    for (int i = 0; i < SLOTS; i++) {
      begin("%d: slot %d", round, i);
      if (role == RECEIVER && !(ignore && how == 0))
        note_status(&statuses[i], MPI_DOUBLE);
      note_request("request", requests[i]);
      if (requests[i] != MPI_REQUEST_NULL)
        note_code(MPI_Request_free(&requests[i]));
      note(" data=%016lx", (unsigned long)digest(&memories[i]));
      end();
      memory_free(&memories[i]);
    }
  }
}

/* --- generalized requests ---------------------------------------------------------------------------------------- */

static int freed_count;

static int query(void *state, MPI_Status *status)
{
  MPI_Status_set_elements(status, MPI_INT, *(int *)state);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 17;
  status->MPI_TAG = *(int *)state;
  return MPI_SUCCESS;
}

static int freed(void *state)
{
  (void)state;
  freed_count++;
  return MPI_SUCCESS;
}

static int cancelled(void *state, int complete)
{
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}

void generalized_requests(void)
{
  if (role == IDLE)
    return;
  for (int how = 0; how < WAYS; how++) {
    int numbers[2] = {5, 6};
    memory m = memory_new(50000), small = memory_new(64);
    MPI_Request requests[5];
    MPI_Status statuses[5];
    freed_count = 0;
    for (int i = 0; i < 5; i++)
      requests[i] = MPI_REQUEST_NULL;
    MPI_Grequest_start(query, freed, cancelled, &numbers[0], &requests[0]);
    MPI_Grequest_start(query, freed, cancelled, &numbers[1], &requests[3]);
    MPI_Grequest_complete(requests[0]);
    if (role == SENDER) {
      fill(m.data, m.room, SMOOTH, (uint64_t)how);
      MPI_Isend(m.data, 6250, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(small.data, 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[4]);
    } else {
      if (how % 2)
        MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Irecv(m.data, 6250, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
      MPI_Irecv(small.data, 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[4]);
    }
    MPI_Grequest_complete(requests[3]);
    begin("way %d", how);
    complete_all(how, 5, requests, statuses);
    note(" freed=%d", freed_count);
    end();
    for (int i = 0; i < 5; i++) {
      begin("way %d: %d", how, i);
      if (role == RECEIVER || i == 0 || i == 3)
        note_status(&statuses[i], MPI_INT);
      note_request("request", requests[i]);
      end();
    }
    begin("way %d: data", how);
    note(" %016lx %016lx", (unsigned long)digest(&m), (unsigned long)digest(&small));
    end();
    memory_free(&m);
    memory_free(&small);
  }
}

/* --- freed, persistent, cancelled -------------------------------------------------------------------------------- */

void freed_requests(void)
{
  if (role == IDLE)
    return;
  for (int round = 0; round < 12; round++) {
    int bytes = round % 3 == 0 ? 1000 : round % 3 == 1 ? 1024 : 500000, persistent = round / 3 % 2;
    memory m = memory_new((size_t)bytes);
    MPI_Request request;
    begin("%d: %d bytes", round, bytes);
    if (role == SENDER) {
      fill(m.data, m.room, round % 2 ? RANDOM : SMOOTH, (uint64_t)round);
      if (persistent) {
        note_code(MPI_Send_init(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request));
        note_code(MPI_Start(&request));
      } else
        note_code(MPI_Isend(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request));
      note_code(MPI_Request_free(&request));
      note_request("request", request);
      await(peer);
    } else if (round < 6) {
      MPI_Status status;
      note_code(MPI_Recv(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, MPI_DOUBLE);
      signal_to(peer);
    } else {
      /* No call waits for this receive: only the memory shows that its message has arrived, after more MPI calls. */
      double first, last, *data = (double *)(void *)m.data;
      volatile double *seen = data;
      memory expected = memory_new((size_t)bytes);
      fill(expected.data, expected.room, round % 2 ? RANDOM : SMOOTH, (uint64_t)round);
      memcpy(&first, expected.data, 8);
      memcpy(&last, expected.data + bytes - 8, 8);
      if (persistent) {
        note_code(MPI_Recv_init(data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request));
        note_code(MPI_Start(&request));
      } else
        note_code(MPI_Irecv(data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request));
      note_code(MPI_Request_free(&request));
      note_request("request", request);
      /* Compare bits: random bytes can make a number that is not equal to itself. */
      do {
        int flag;
        MPI_Iprobe(peer, TAG + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      } while (memcmp((const void *)&seen[0], &first, 8) != 0 ||
               memcmp((const void *)&seen[bytes / 8 - 1], &last, 8) != 0);
      memory_free(&expected);
      signal_to(peer);
    }
    note(" data=%016lx", (unsigned long)digest(&m));
    end();
    memory_free(&m);
  }
  begin("null");
  MPI_Request null = MPI_REQUEST_NULL;
  note_code(MPI_Request_free(&null));
  end();
}

/* Started repeatedly, with new content each time, together with different other requests. */
void persistent_requests(void)
{
  static const int bytes[] = {800, 1024, 30000, 8, 200000};
  enum { COUNT = 5, ROUNDS = 12 };
  if (role == IDLE)
    return;
  memory memories[COUNT];
  MPI_Request requests[COUNT];
  MPI_Status statuses[COUNT];
  for (int i = 0; i < COUNT; i++) {
    memories[i] = memory_new((size_t)bytes[i]);
    if (role == SENDER)
      MPI_Send_init(memories[i].data, bytes[i] / 8, MPI_DOUBLE, peer, TAG + i, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Recv_init(memories[i].data, bytes[i] / 8, MPI_DOUBLE, i % 2 ? peer : MPI_ANY_SOURCE, TAG + i,
                    MPI_COMM_WORLD, &requests[i]);
  }
  for (int round = 0; round < ROUNDS; round++) {
    /* Not all of them each time: the others are inactive, and stay in the array. */
    int first = round % 4 == 3 ? 2 : 0;
    if (role == SENDER)
      for (int i = 0; i < COUNT; i++)
        fill(memories[i].data, memories[i].room, round % 2 ? SMOOTH : RANDOM, (uint64_t)(round * 10 + i));
    begin("%d", round);
    if (role == RECEIVER && round % 5 == 4)
      MPI_Probe(peer, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note_code(MPI_Startall(COUNT - first, requests + first));
    complete_all(round % WAYS, COUNT, requests, statuses);
    for (int i = 0; i < COUNT; i++) {
      note(" [%d]", i);
      /* Waitsome and similar calls report nothing about requests that were inactive. */
      if (role == RECEIVER && i >= first)
        note_status(&statuses[i], MPI_DOUBLE);
      note_request("request", requests[i]);
      note(" %016lx", (unsigned long)digest(&memories[i]));
    }
    end();
    /* The receiver's memory may be reused for the next round only after it has been noted. */
    if (role == SENDER)
      await(peer);
    else
      signal_to(peer);
  }
  for (int i = 0; i < COUNT; i++) {
    int flag = -1;
    begin("inactive %d", i);
    blank(&statuses[0]);
    note_code(MPI_Test(&requests[i], &flag, &statuses[0]));
    note(" flag=%d", flag);
    note_status(&statuses[0], MPI_DOUBLE);
    blank(&statuses[0]);
    note_code(MPI_Request_get_status(requests[i], &flag, &statuses[0]));
    note(" flag=%d", flag);
    note_status(&statuses[0], MPI_DOUBLE);
    note_code(MPI_Request_free(&requests[i]));
    note_request("request", requests[i]);
    end();
    memory_free(&memories[i]);
  }
}
