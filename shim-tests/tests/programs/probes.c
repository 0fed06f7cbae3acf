/* Probes, and the order of messages around them. A layer that must receive a message to answer a probe can change the order; these scenarios would
 * detect that. */
#include "scenarios.h"

#include <string.h>

/* A message of a list: its tag and its length. */
typedef struct {
  int tag, bytes;
} item;

static void send_items(const item *items, int count, enum content content)
{
  memory memories[256];
  MPI_Request requests[256];
  for (int i = 0; i < count; i++) {
    memories[i] = memory_new((size_t)items[i].bytes);
    fill(memories[i].data, memories[i].room, content, (uint64_t)i);
    MPI_Isend(memories[i].data, items[i].bytes / 8, MPI_DOUBLE, peer, items[i].tag, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; i++)
    memory_free(&memories[i]);
}

enum { ROOM = 300000 };

static void see_probe(int source, int tag)
{
  MPI_Status seen;
  begin("probe %d", tag);
  blank(&seen);
  note_code(MPI_Probe(source, tag, MPI_COMM_WORLD, &seen));
  note_status(&seen, MPI_DOUBLE);
  end();
}

static void see_receive(int how, int source, int tag, int room)
{
  memory m = memory_new((size_t)room);
  MPI_Status status;
  begin("%s %d room %d", receive_name(how), tag, room);
  int code = receive_by(how, tag >= 0 ? tag % COMPLETIONS : 0, (span){m.data, room / 8, MPI_DOUBLE}, source, tag,
                        MPI_COMM_WORLD, 0, NULL, &status);
  note_code(code);
  note_status(&status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(&m));
  end();
  memory_free(&m);
}

void probes_in_order(void)
{
  static const item items[] = {{1, 16},   {2, 8000}, {3, 24},   {1, 9000},   {2, 32},  {2, 1024},
                               {4, 1016}, {3, 5000}, {1, 1032}, {1, 200000}, {5, 800}, {5, 40}};
  enum { COUNT = sizeof items / sizeof *items };
  if (role == IDLE)
    return;
  for (int how = 0; how < receives; how++)
    for (int wild = 0; wild < 2; wild++) {
      if (role == SENDER) {
        send_items(items, COUNT, wild ? RANDOM : SMOOTH);
        await(peer);
        continue;
      }
      int source = wild ? MPI_ANY_SOURCE : peer;
      /* The probe is for the second message; the first is the earlier one with another tag. */
      see_probe(source, 2);
      see_receive(how, source, MPI_ANY_TAG, ROOM);
      /* This one is probed, but not yet received: probe for a later one with another tag. */
      see_probe(source, 3);
      see_probe(source, 1);
      see_receive(how, source, 1, ROOM);
      see_receive(0, source, MPI_ANY_TAG, ROOM);
      see_probe(source, MPI_ANY_TAG);
      /* Short and long buffers in turn, exact tags out of order. */
      see_receive(how, source, 5, 800);
      see_receive(how, source, 3, 24);
      see_probe(source, 1);
      see_receive(how, source, 2, 64);
      see_receive(how, source, 1, ROOM);
      see_receive(how, source, MPI_ANY_TAG, ROOM);
      see_receive(how, source, 4, 1016);
      see_probe(source, MPI_ANY_TAG);
      for (int i = 0; i < 3; i++)
        see_receive(how, source, MPI_ANY_TAG, ROOM);
      int flag = -1;
      MPI_Status seen;
      blank(&seen);
      begin("nothing left");
      note_code(MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &seen));
      note(" flag=%d", flag);
      end();
      signal_to(peer);
    }
}

/* Both sides send a large message and probe for the other's before either receives. */
void probes_head_to_head(void)
{
  if (role == IDLE)
    return;
  static const int lengths[] = {1024, 60000, 3000000};
  for (int i = 0; i < 3; i++)
    for (int how = 0; how < receives; how++)
      for (int synchronous = 0; synchronous < 2; synchronous++) {
        memory out = memory_new((size_t)lengths[i]), in = memory_new((size_t)lengths[i]);
        MPI_Request request;
        MPI_Status status;
        fill(out.data, out.room, i % 2 ? RANDOM : SMOOTH, (uint64_t)(how + (int)role));
        begin("%d: %s %d", i, receive_name(how), synchronous);
        if (synchronous)
          MPI_Issend(out.data, lengths[i] / 8, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &request);
        else
          MPI_Isend(out.data, lengths[i] / 8, MPI_DOUBLE, peer, 9, MPI_COMM_WORLD, &request);
        int code = receive_by(how, how % COMPLETIONS, (span){in.data, lengths[i] / 8, MPI_DOUBLE}, MPI_ANY_SOURCE, 9,
                              MPI_COMM_WORLD, 1, NULL, &status);
        note_code(code);
        note_status(&status, MPI_DOUBLE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        note(" data=%016lx", (unsigned long)digest(&in));
        end();
        memory_free(&out);
        memory_free(&in);
        if (i == 2 && how > 8)
          return;
      }
}

/* Handles of matched messages, kept while others are received, and used in another order. */
void matched_messages_kept(void)
{
  static const item items[] = {{1, 4000}, {2, 80}, {3, 100000}, {1, 1024}, {2, 2000}, {3, 1016}, {4, 50000}, {4, 8}};
  enum { COUNT = sizeof items / sizeof *items, KEPT = 5 };
  static const int order[KEPT] = {3, 0, 4, 2, 1}, tags[KEPT] = {3, 1, 2, MPI_ANY_TAG, 3};
  if (role == IDLE)
    return;
  for (int round = 0; round < 4; round++) {
    if (role == SENDER) {
      send_items(items, COUNT, round % 2 ? RANDOM : SMOOTH);
      await(peer);
      continue;
    }
    int source = round % 2 ? peer : MPI_ANY_SOURCE;
    MPI_Message messages[KEPT];
    for (int k = 0; k < KEPT; k++) {
      MPI_Status seen;
      int tag = tags[k], flag = 0;
      blank(&seen);
      begin("match %d", k);
      if (round / 2)
        while (!flag)
          MPI_Improbe(source, tag == MPI_ANY_TAG ? 2 : tag, MPI_COMM_WORLD, &flag, &messages[k], &seen);
      else
        MPI_Mprobe(source, tag == MPI_ANY_TAG ? 2 : tag, MPI_COMM_WORLD, &messages[k], &seen);
      note_status(&seen, MPI_DOUBLE);
      note_message(messages[k]);
      end();
      if (k == 2)
        see_receive(0, source, MPI_ANY_TAG, ROOM);
    }
    see_probe(source, 4);
    see_receive(10, source, MPI_ANY_TAG, ROOM);
    for (int k = 0; k < KEPT; k++) {
      MPI_Message *message = &messages[order[k]];
      memory m = memory_new(ROOM);
      MPI_Status status;
      MPI_Request request;
      blank(&status);
      begin("receive match %d", order[k]);
      if (k % 2)
        note_code(MPI_Mrecv(m.data, ROOM / 8, MPI_DOUBLE, message, &status));
      else {
        note_code(MPI_Imrecv(m.data, ROOM / 8, MPI_DOUBLE, message, &request));
        note_code(complete((k + round) % COMPLETIONS, &request, &status));
      }
      note_message(*message);
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
      end();
      memory_free(&m);
    }
    see_receive(0, source, MPI_ANY_TAG, ROOM);
    signal_to(peer);
  }
}

/* Many messages of mixed lengths and tags into wildcard receives: they arrive in the order in which they were sent. */
void many_in_order(void)
{
  enum { COUNT = 160, ROUNDS = 3 };
  if (role == IDLE)
    return;
  for (int round = 0; round < ROUNDS; round++) {
    generator numbers = generator_new((uint64_t)round + 77);
    item items[COUNT];
    for (int i = 0; i < COUNT; i++) {
      int large = pick(&numbers, 3);
      items[i] = (item){pick(&numbers, 5), 8 * (large == 0   ? pick(&numbers, 128)
                                                : large == 1 ? 120 + pick(&numbers, 16)
                                                             : 128 + pick(&numbers, 9000))};
    }
    if (role == SENDER) {
      send_items(items, COUNT, SMOOTH);
      await(peer);
      continue;
    }
    int source = round == 1 ? peer : MPI_ANY_SOURCE;
    if (round < 2) {
      for (int i = 0; i < COUNT; i++)
        see_receive(i * 3 % receives, source, MPI_ANY_TAG, ROOM);
    } else {
      /* All posted before the first arrives; some rooms are too short for a frame but long enough for the message. */
      memory memories[COUNT];
      MPI_Request requests[COUNT];
      MPI_Status statuses[COUNT];
      for (int i = 0; i < COUNT; i++) {
        memories[i] = memory_new((size_t)items[i].bytes);
        MPI_Irecv(memories[i].data, items[i].bytes / 8, MPI_DOUBLE, source, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[i]);
      }
      MPI_Waitall(COUNT, requests, statuses);
      for (int i = 0; i < COUNT; i++) {
        begin("posted %d", i);
        note_status(&statuses[i], MPI_DOUBLE);
        note(" data=%016lx", (unsigned long)digest(&memories[i]));
        end();
        memory_free(&memories[i]);
      }
    }
    signal_to(peer);
  }
}

/* Rank 0 receives from all others by MPI_ANY_SOURCE; on two nodes some of them are near and some are far. One sends at a time, so that the order is
 * known. */
void two_peers_by_wildcard(void)
{
  static const int lengths[] = {8, 1016, 1024, 1040, 5000, 90000};
  enum { LENGTHS = 6 };
  for (int how = 0; how < receives; how++)
    for (int l = 0; l < LENGTHS; l++)
      for (int speaker = 1; speaker < size; speaker++) {
        if (rank == 0) {
          signal_to(speaker);
          /* Rooms with and without extra space, depending on the number. */
          see_receive(how, MPI_ANY_SOURCE, how % 2 ? 50 : MPI_ANY_TAG, lengths[l] + (l + how) % 2 * 1600);
        } else if (rank == speaker) {
          memory m = memory_new((size_t)lengths[l]);
          fill(m.data, m.room, how % 2 ? RANDOM : SMOOTH, (uint64_t)(l + how));
          await(0);
          MPI_Send(m.data, lengths[l] / 8, MPI_DOUBLE, 0, 50, MPI_COMM_WORLD);
          memory_free(&m);
        }
      }
}
