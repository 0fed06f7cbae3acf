/* Schedules drawn from a seed, the same on all ranks, that cannot deadlock and whose matching does not depend on time.
 *
 * A channel: one rank sends a list of messages to another, all nonblocking. The other knows the list and draws receives, probes and matched probes
 * with exact tags and wildcards, posted and blocking, in any order in which each finds a message: it takes the first one in the list that matches and
 * has not been taken. By MPI's rules, no other matching is possible.
 *
 * Rounds: messages between all ranks, each with a different tag. In a round every rank first posts some of its receives, then starts all sends, then
 * makes its blocking receives, then completes the rest. */
#include "scenarios.h"

enum { MESSAGES = 48, POSTED = 6, KEPT = 4, ROOM = 70000 };

typedef struct {
  int tag, bytes, taken;
} message;

static int draw_bytes(generator *numbers)
{
  switch (pick(numbers, 5)) {
  case 0:
    return 8 * pick(numbers, 128);
  case 1:
    return 1008 + 8 * pick(numbers, 6);
  case 2:
    return 8 * (128 + pick(numbers, 600));
  case 3:
    return 32768 + 8 * (pick(numbers, 40) - 20);
  default:
    return 8 * (128 + pick(numbers, 8000));
  }
}

static int first_fit(const message *list, int tag)
{
  for (int i = 0; i < MESSAGES; i++)
    if (!list[i].taken && (tag == MPI_ANY_TAG || tag == list[i].tag))
      return i;
  return -1;
}

typedef struct {
  MPI_Request request;
  MPI_Message handle;
  memory memory;
  int expected, persistent;
} pending;

static void note_arrival(const char *what, int expected, const MPI_Status *status, const memory *memory)
{
  note(" %s of %d:", what, expected);
  note_status(status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(memory));
}

static void channel_receiver(generator *numbers, message *list)
{
  pending posted[POSTED], kept[KEPT];
  int posted_count = 0, kept_count = 0, left = MESSAGES, step = 0;
  while (left > 0 || posted_count > 0 || kept_count > 0) {
    int what = pick(numbers, 10), tag = pick(numbers, 3) ? pick(numbers, 4) : MPI_ANY_TAG;
    int source = pick(numbers, 2) ? peer : MPI_ANY_SOURCE, slack = pick(numbers, 3) ? 0 : 8 * pick(numbers, 300);
    int completion = pick(numbers, COMPLETIONS), at = first_fit(list, tag);
    MPI_Status status;
    begin("%d:", step++);
    if (what <= 1 && posted_count > 0) {
      /* Complete one that was posted long ago. */
      int which = pick(numbers, posted_count);
      pending p = posted[which];
      posted[which] = posted[--posted_count];
      note_code(complete(completion, &p.request, &status));
      note_arrival("posted", p.expected, &status, &p.memory);
      if (p.persistent)
        MPI_Request_free(&p.request);
      memory_free(&p.memory);
    } else if (what == 2 && kept_count > 0) {
      int which = pick(numbers, kept_count);
      pending p = kept[which];
      kept[which] = kept[--kept_count];
      blank(&status);
      if (completion % 2)
        note_code(MPI_Mrecv(p.memory.data, (int)p.memory.room / 8, MPI_DOUBLE, &p.handle, &status));
      else {
        note_code(MPI_Imrecv(p.memory.data, (int)p.memory.room / 8, MPI_DOUBLE, &p.handle, &p.request));
        note_code(complete(completion, &p.request, &status));
      }
      note_message(p.handle);
      note_arrival("kept", p.expected, &status, &p.memory);
      memory_free(&p.memory);
    } else if (at < 0) {
      continue;
    } else if (what <= 5) {
      int how = pick(numbers, receives);
      memory m = memory_new((size_t)(list[at].bytes + slack));
      list[at].taken = 1;
      left--;
      note(" %s tag %d", receive_name(how), tag);
      note_code(receive_by(how, completion, (span){m.data, (list[at].bytes + slack) / 8, MPI_DOUBLE}, source, tag,
                           MPI_COMM_WORLD, pick(numbers, 2), NULL, &status));
      note_arrival("taken", at, &status, &m);
      memory_free(&m);
    } else if (what <= 7 && posted_count < POSTED) {
      pending *p = &posted[posted_count++];
      p->expected = at;
      p->persistent = pick(numbers, 3) == 0;
      p->memory = memory_new((size_t)(list[at].bytes + slack));
      list[at].taken = 1;
      left--;
      int count = (int)p->memory.room / 8;
      if (p->persistent) {
        note_code(MPI_Recv_init(p->memory.data, count, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &p->request));
        note_code(MPI_Start(&p->request));
      } else
        note_code(MPI_Irecv(p->memory.data, count, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &p->request));
    } else if (what == 8 && kept_count < KEPT) {
      pending *p = &kept[kept_count++];
      p->expected = at;
      p->memory = memory_new((size_t)(list[at].bytes + slack));
      list[at].taken = 1;
      left--;
      blank(&status);
      note_code(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &p->handle, &status));
      note_status(&status, MPI_DOUBLE);
    } else {
      int flag = 0;
      blank(&status);
      if (completion % 2)
        note_code(MPI_Probe(source, tag, MPI_COMM_WORLD, &status));
      else
        while (!flag)
          MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status);
      note(" probe of %d:", at);
      note_status(&status, MPI_DOUBLE);
    }
    end();
  }
}

void random_channel(uint64_t seed)
{
  if (role == IDLE)
    return;
  generator numbers = generator_new(seed);
  message list[MESSAGES];
  for (int i = 0; i < MESSAGES; i++)
    list[i] = (message){pick(&numbers, 4), draw_bytes(&numbers), 0};
  if (role == RECEIVER) {
    channel_receiver(&numbers, list);
    signal_to(peer);
    return;
  }
  memory memories[MESSAGES];
  MPI_Request requests[MESSAGES];
  attach(MESSAGES * (ROOM + 1024));
  for (int i = 0; i < MESSAGES; i++) {
    int count = list[i].bytes / 8, tag = list[i].tag;
    memories[i] = memory_new((size_t)list[i].bytes);
    void *data = memories[i].data;
    fill(data, (size_t)list[i].bytes, (enum content)pick(&numbers, CONTENTS), seed + (uint64_t)i);
    requests[i] = MPI_REQUEST_NULL;
    switch (pick(&numbers, 5)) {
    case 0:
      MPI_Issend(data, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &requests[i]);
      break;
    case 1:
      MPI_Bsend(data, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD);
      break;
    case 2:
      MPI_Send_init(data, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &requests[i]);
      MPI_Start(&requests[i]);
      break;
    default:
      MPI_Isend(data, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < MESSAGES; i++) {
    if (requests[i] != MPI_REQUEST_NULL)
      MPI_Request_free(&requests[i]);
    memory_free(&memories[i]);
  }
  detach();
  await(peer);
}

/* --- rounds ------------------------------------------------------------------------------------------------------ */

enum { ROUNDS = 6, PER_ROUND = 24 };

typedef struct {
  int from, to, bytes, send, receive, completion, posted, wild, on, slack, content, strided;
} plan;

void random_rounds(uint64_t seed)
{
  generator numbers = generator_new(seed);
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Datatype strided;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &strided);
  MPI_Type_commit(&strided);
  attach(PER_ROUND * (ROOM + 1024));
  for (int round = 0; round < ROUNDS; round++) {
    plan plans[PER_ROUND];
    memory in[PER_ROUND], out[PER_ROUND];
    MPI_Request requests[PER_ROUND], sent[PER_ROUND];
    MPI_Status status;
    for (int i = 0; i < PER_ROUND; i++) {
      plan *p = &plans[i];
      p->from = pick(&numbers, size);
      p->to = (p->from + 1 + pick(&numbers, 4 * size) % (size > 1 ? size - 1 : 1)) % size;
      if (pick(&numbers, 12) == 0)
        p->to = p->from;
      p->bytes = draw_bytes(&numbers);
      p->send = pick(&numbers, 4);
      p->receive = pick(&numbers, receives);
      p->completion = pick(&numbers, COMPLETIONS);
      p->posted = pick(&numbers, 2);
      p->wild = pick(&numbers, 2);
      p->on = pick(&numbers, 2);
      p->slack = pick(&numbers, 2) * 8 * pick(&numbers, 100);
      p->content = pick(&numbers, CONTENTS);
      p->strided = pick(&numbers, 4);
    }
    /* Tags of two rounds that can overlap must differ: a rank may be one ahead. */
    int base = 1000 + round % 4 * PER_ROUND;
    for (int i = 0; i < PER_ROUND; i++) {
      plan *p = &plans[i];
      requests[i] = sent[i] = MPI_REQUEST_NULL;
      if (p->to != rank)
        continue;
      int wide = p->strided & 1, count = (p->bytes + p->slack) / 8;
      in[i] = memory_new((size_t)count * (wide ? 16 : 8));
      if (p->posted)
        MPI_Irecv(in[i].data, count, wide ? strided : MPI_DOUBLE,
                  p->wild ? MPI_ANY_SOURCE : p->on ? size - 1 - p->from : p->from, base + i, comms[p->on],
                  &requests[i]);
    }
    for (int i = 0; i < PER_ROUND; i++) {
      plan *p = &plans[i];
      if (p->from != rank)
        continue;
      int wide = p->strided >> 1, count = p->bytes / 8, to = p->on ? size - 1 - p->to : p->to;
      MPI_Datatype type = wide ? strided : MPI_DOUBLE;
      out[i] = memory_new((size_t)p->bytes * (wide ? 2 : 1));
      fill(out[i].data, out[i].room, (enum content)p->content, seed * 100 + (uint64_t)(round * 30 + i));
      if (p->send == 0)
        MPI_Issend(out[i].data, count, type, to, base + i, comms[p->on], &sent[i]);
      else if (p->send == 1)
        MPI_Ibsend(out[i].data, count, type, to, base + i, comms[p->on], &sent[i]);
      else
        MPI_Isend(out[i].data, count, type, to, base + i, comms[p->on], &sent[i]);
    }
    for (int i = 0; i < PER_ROUND; i++) {
      plan *p = &plans[i];
      if (p->to != rank)
        continue;
      int wide = p->strided & 1, count = (p->bytes + p->slack) / 8;
      int from = p->wild ? MPI_ANY_SOURCE : p->on ? size - 1 - p->from : p->from, code;
      begin("%d.%d: %s %d bytes", round, i, p->posted ? "posted" : receive_name(p->receive), p->bytes);
      if (p->posted)
        code = complete(p->completion, &requests[i], &status);
      else
        code = receive_by(p->receive, p->completion, (span){in[i].data, count, wide ? strided : MPI_DOUBLE}, from,
                          base + i, comms[p->on], 0, NULL, &status);
      note_code(code);
      note_arrival("round", i, &status, &in[i]);
      end();
      memory_free(&in[i]);
    }
    MPI_Waitall(PER_ROUND, sent, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PER_ROUND; i++)
      if (plans[i].from == rank)
        memory_free(&out[i]);
  }
  detach();
  MPI_Type_free(&strided);
  MPI_Comm_free(&comms[1]);
}
