/* Requests that are cancelled, queried without being completed, or pending during other communication. */
#include "scenarios.h"

enum { TAG = 80 };

static void cancel_one(int round, int bytes, int persistent, int wild)
{
  memory m = memory_new((size_t)bytes), other = memory_new(8192);
  MPI_Status status;
  MPI_Request request;
  int flag = -1, source = wild ? MPI_ANY_SOURCE : peer, tag = wild ? MPI_ANY_TAG : TAG;
  begin("%d: %d bytes %s%s", round, bytes, persistent ? "persistent" : "", wild ? "wild" : "");
  if (role == SENDER) {
    await(peer);
    fill(other.data, other.room, SMOOTH, (uint64_t)round);
    MPI_Send(other.data, 1024, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    end();
    memory_free(&m);
    memory_free(&other);
    return;
  }
  if (persistent) {
    MPI_Recv_init(m.data, bytes / 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
  } else
    MPI_Irecv(m.data, bytes / 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &request);
  note_code(MPI_Cancel(&request));
  note_code(complete(round % COMPLETIONS, &request, &status));
  /* The status of a cancelled receive only tells this. */
  MPI_Test_cancelled(&status, &flag);
  note(" cancelled=%d untouched=%016lx", flag, (unsigned long)digest(&m));
  signal_to(peer);
  note_code(MPI_Recv(other.data, 1024, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &status));
  note_status(&status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(&other));
  if (persistent) {
    /* It can be started again, and freed while it is pending and cancelled. */
    note_code(MPI_Start(&request));
    note_code(MPI_Cancel(&request));
    note_code(MPI_Request_free(&request));
  }
  note_request("request", request);
  end();
  memory_free(&m);
  memory_free(&other);
}

void cancelled_requests(void)
{
  static const int lengths[] = {64, 1016, 1024, 100000};
  if (role == IDLE)
    return;
  for (int round = 0; round < 36; round++) {
    int bytes = lengths[round % 4];
    cancel_one(round, bytes, round / 4 % 2, round / 8 % 2);
  }
  /* Too late: the message has arrived. */
  for (int early = 0; early < 2; early++) {
    memory m = memory_new(40000);
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    begin("too late %d", early);
    if (role == SENDER) {
      fill(m.data, m.room, SMOOTH, 3);
      MPI_Send(m.data, 5000, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    } else {
      if (early)
        MPI_Probe(peer, TAG, MPI_COMM_WORLD, &status);
      MPI_Irecv(m.data, 5000, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
      while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      note_code(MPI_Cancel(&request));
      note_code(MPI_Wait(&request, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
}

/* If MPI_Request_get_status says that a receive is complete, its memory can be read before MPI_Wait. */
void status_without_completion(void)
{
  static const int lengths[] = {800, 1024, 9000, 700000};
  if (role == IDLE)
    return;
  for (int round = 0; round < 48; round++) {
    int bytes = lengths[round % 4], how = round / 4 % 4, early = round / 16;
    memory m = memory_new((size_t)bytes + 80);
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    begin("%d: %d bytes", round, bytes);
    if (role == SENDER) {
      fill(m.data, (size_t)bytes, round % 2 ? RANDOM : SMOOTH, (uint64_t)round);
      MPI_Isend(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
      while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      note_code(complete(round % COMPLETIONS, &request, &status));
      end();
      memory_free(&m);
      continue;
    }
    if (early == 1)
      MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
    if (early == 2) {
      MPI_Recv_init(m.data, bytes / 8 + 10, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
      blank(&status);
      note_code(MPI_Request_get_status(request, &flag, &status));
      note(" inactive: flag=%d", flag);
      note_status(&status, MPI_DOUBLE);
      MPI_Start(&request);
      flag = 0;
    } else
      MPI_Irecv(m.data, bytes / 8 + 10, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
    blank(&status);
    while (!flag)
      MPI_Request_get_status(request, &flag, &status);
    note_request("request", request);
    note_status(&status, MPI_DOUBLE);
    note(" data=%016lx", (unsigned long)digest(&m));
    /* The program may change its buffer now; a completion must not write to it again. */
    m.data[0] ^= 0xFF;
    m.data[bytes - 1] ^= 0xFF;
    if (how == 0) {
      note_code(MPI_Request_free(&request));
    } else {
      note_code(complete((how * 3 + round) % COMPLETIONS, &request, &status));
      note_status(&status, MPI_DOUBLE);
      if (early == 2)
        MPI_Request_free(&request);
    }
    note_request("request", request);
    note(" after=%016lx", (unsigned long)digest(&m));
    end();
    memory_free(&m);
  }
}

/* Messages that are pending while all ranks call collectives. */
void among_collectives(void)
{
  for (int round = 0; round < 6; round++) {
    memory out = memory_new(400000), in = memory_new(400000), wide = memory_new(80000 * (size_t)size);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int count = round % 2 ? 50000 : 200;
    fill(out.data, out.room, SMOOTH, (uint64_t)(rank + round));
    if (round < 3)
      MPI_Irecv(in.data, 50000, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out.data, count, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(out.data, 10000, MPI_DOUBLE, wide.data, 10000, MPI_DOUBLE, MPI_COMM_WORLD);
    if (round >= 3) {
      MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &statuses[0]);
      MPI_Bcast(wide.data, 10000, MPI_DOUBLE, round % size, MPI_COMM_WORLD);
      MPI_Irecv(in.data, 50000, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[0]);
    }
    MPI_Alltoall(MPI_IN_PLACE, 10000, MPI_DOUBLE, wide.data, 10000, MPI_DOUBLE, MPI_COMM_WORLD);
    blank_all(statuses, 2);
    begin("%d", round);
    note_code(MPI_Waitall(2, requests, statuses));
    note_status(&statuses[0], MPI_DOUBLE);
    note(" in=%016lx wide=%016lx", (unsigned long)digest(&in), (unsigned long)digest(&wide));
    end();
    memory_free(&out);
    memory_free(&in);
    memory_free(&wide);
  }
}
