/* Every way to send, to receive and to complete: sizes below and above the floor of 1024 bytes, contents that compress and others that do not,
 * buffers of exactly the size and larger ones. */
#include "scenarios.h"

#include <string.h>

enum { SIZES = 12 };
/* Odd sizes travel as bytes, the others as doubles or floats. The floor is 1024; from 32 KiB on, the engine samples a message before it encodes it;
 * the largest uses rendezvous with every MPI. The odd ones are as long as frames may be. */
static const int sizes[SIZES] = {8, 1016, 1021, 1024, 1029, 1032, 1040, 4101, 32776, 65552, 1048576, 4194304};

static void send_go(void)
{
  signal_to(peer);
}

static MPI_Datatype type_for(int bytes, enum content content, int *element)
{
  if (bytes % 8 != 0) {
    *element = 1;
    return MPI_BYTE;
  }
  *element = content == SMOOTH_FLOATS ? 4 : 8;
  return content == SMOOTH_FLOATS ? MPI_FLOAT : MPI_DOUBLE;
}

/* One message from SENDER to RECEIVER. `number` makes tags, contents and wildcards vary. */
static void one(int number, int send, int receive, int completion, int bytes, enum content content, int larger)
{
  int element, tag = 100 + number % 900, exact = !larger;
  MPI_Datatype type = type_for(bytes, content, &element);
  if (role == IDLE)
    return;
  /* A ready send needs a posted receive, which the receiver signals. Every other pair does so too, so that some messages find their receive and
   * others wait for it. */
  if (send_is_ready(send) && !receive_is_posted(receive))
    receive = 1;
  int told = receive_is_posted(receive) && (send_is_ready(send) || number % 2);
  begin("%d: %s -> %s/%s %d bytes, %s%s", number, send_name(send), receive_name(receive), completion_names[completion],
        bytes, content_names[content], larger ? ", larger buffer" : "");
  if (role == SENDER) {
    memory m = memory_new((size_t)bytes);
    fill(m.data, (size_t)bytes, content, (uint64_t)number);
    if (told)
      await(peer);
    send_by(send, completion, (span){m.data, bytes / element, type}, peer, tag, MPI_COMM_WORLD);
    note(" sent=%016lx", (unsigned long)digest(&m));
    memory_free(&m);
  } else {
    int room = bytes + (larger ? element * (number % 3 == 0 ? 1 : number % 3 == 1 ? 17 : 4096) : 0);
    memory m = memory_new((size_t)room);
    MPI_Status status;
    int source = number % 4 < 2 ? peer : MPI_ANY_SOURCE;
    int any_tag = number % 3 == 0;
    int code = receive_by(receive, completion, (span){m.data, room / element, type}, source,
                          any_tag ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, exact, told ? send_go : NULL, &status);
    note_code(code);
    note_status(&status, type);
    note(" data=%016lx", (unsigned long)digest(&m));
    memory_free(&m);
  }
  end();
}

/* Room for all buffered messages while the receiver is slower: nothing blocks the sender. */
enum { BUFFERED = 256 << 20 };

/* Twelve sizes, contents and rooms for one pair of calls. */
static int sweep(int number, int send, int receive)
{
  for (int s = 0; s < SIZES; s++)
    for (int larger = 0; larger < 2; larger++) {
      enum content content = s % 3 == 0 && number % 2 ? SMOOTH_FLOATS : SMOOTH;
      one(number, send, receive, number % COMPLETIONS, sizes[s], content, larger);
      number++;
      one(number, send, receive, number % COMPLETIONS, sizes[s], RANDOM, larger);
      number++;
    }
  return number;
}

void sizes_of_sends(void)
{
  attach(BUFFERED);
  int number = 0;
  for (int send = 0; send < sends; send++)
    number = sweep(number, send, send % receives);
  detach();
}

void sizes_of_receives(void)
{
  attach(BUFFERED);
  int number = 5;
  for (int receive = 0; receive < receives; receive++)
    number = sweep(number, (receive * 5) % sends, receive);
  detach();
}

void every_pair_of_calls(void)
{
  static const int few[] = {1000, 1024, 6152, 70001};
  attach(16 << 20);
  int number = 3;
  for (int send = 0; send < sends; send++)
    for (int receive = 0; receive < receives; receive++) {
      /* Each pair in one size with one content; neighbouring pairs use others. */
      int bytes = few[number % 4];
      one(number, send, receive, number % COMPLETIONS, bytes, number % 5 == 0 ? RANDOM : SMOOTH, number % 7 == 0);
      number++;
    }
  /* All completions of a posted receive, in each size. */
  for (int completion = 0; completion < COMPLETIONS; completion++)
    for (int s = 0; s < 4; s++)
      for (int content = 0; content < CONTENTS; content++) {
        one(number, number % 2 ? 4 : 6, 1, completion, few[s], (enum content)content, s % 2);
        number++;
      }
  detach();
}

/* Send and receive in one call, with different sizes. */
void exchanges(void)
{
  static const int pairs[][2] = {{16, 16},     {1024, 8},     {1023, 1024},  {4096, 4096},
                                 {65536, 128}, {200000, 1024}, {2 << 20, 65536}};
  if (role == IDLE)
    return;
  for (int i = 0; i < (int)(sizeof pairs / sizeof *pairs); i++)
    for (int way = 0; way < 2 * CONTENTS; way++) {
      enum content content = (enum content)(way / 2);
      size_t out = (size_t)pairs[i][role == RECEIVER], in = (size_t)pairs[i][role == SENDER];
      memory a = memory_new(way % 2 ? (out > in ? out : in) + 64 : out), b = memory_new(in + 64);
      MPI_Status status;
      int code;
      blank(&status);
      fill(a.data, out, content, (uint64_t)(i * 10 + role));
      begin("%d: %s out %zu in %zu %s", i, way % 2 ? "Sendrecv_replace" : "Sendrecv", out, in, content_names[content]);
      if (way % 2 == 0)
        code = MPI_Sendrecv(a.data, (int)out, MPI_BYTE, peer, 20 + i, b.data, (int)in + 64, MPI_BYTE,
                            i % 2 ? peer : MPI_ANY_SOURCE, 20 + i, MPI_COMM_WORLD, &status);
      else if (out == in && out % 8 == 0)
        code = MPI_Sendrecv_replace(a.data, (int)out / 8, MPI_DOUBLE, peer, 20 + i, peer, MPI_ANY_TAG, MPI_COMM_WORLD,
                                    &status);
      else {
        /* The call has one count: a message longer than the room of both is limited to it. */
        int count = (int)(out > in ? out : in);
        code = MPI_Sendrecv_replace(a.data, count, MPI_BYTE, peer, 20 + i, MPI_ANY_SOURCE, 20 + i, MPI_COMM_WORLD,
                                    &status);
      }
      note_code(code);
      note_status(&status, MPI_BYTE);
      note(" a=%016lx b=%016lx", (unsigned long)digest(&a), (unsigned long)digest(&b));
      end();
      memory_free(&a);
      memory_free(&b);
    }
}

static void to_self(int number, int bytes)
{
  memory a = memory_new((size_t)bytes), b = memory_new((size_t)bytes + 32);
  span out = {a.data, bytes / 8, MPI_DOUBLE}, in = {b.data, bytes / 8 + 4, MPI_DOUBLE};
  MPI_Request request;
  MPI_Status status, sent;
  fill(a.data, (size_t)bytes, SMOOTH, (uint64_t)number);
  for (int receive = 0; receive < receives; receive++) {
    begin("self %d: %s %d bytes", number, receive_name(receive), bytes);
    note_code(MPI_Isend(out.data, out.count, out.type, rank, 30, MPI_COMM_WORLD, &request));
    int code = receive_by(receive, (number + receive) % COMPLETIONS, in, number % 2 ? MPI_ANY_SOURCE : rank, 30,
                          MPI_COMM_WORLD, 0, NULL, &status);
    note_code(code);
    note_status(&status, MPI_DOUBLE);
    note_code(complete(receive % COMPLETIONS, &request, &sent));
    note(" data=%016lx", (unsigned long)digest(&b));
    end();
  }
  begin("self %d: Sendrecv on MPI_COMM_SELF %d bytes", number, bytes);
  blank(&status);
  note_code(MPI_Sendrecv(out.data, out.count, out.type, 0, 1, in.data, in.count, in.type, 0, 1, MPI_COMM_SELF,
                         &status));
  note_status(&status, MPI_DOUBLE);
  end();
  memory_free(&a);
  memory_free(&b);
}

void to_self_and_no_rank(void)
{
  to_self(0, 512);
  to_self(1, 1024);
  to_self(2, 800000);

  attach(1 << 20);
  memory m = memory_new(100000);
  span big = {m.data, 100000, MPI_BYTE};
  MPI_Status status;
  for (int send = 0; send < sends; send++) {
    /* MPICH 4.0.2 crashes in Isendrecv without a process on either side; here the other half of the call has no process already. */
    if (strncmp(send_name(send), "Isendrecv", 9) == 0)
      continue;
    begin("no rank: %s", send_name(send));
    send_by(send, send % COMPLETIONS, big, MPI_PROC_NULL, 40, MPI_COMM_WORLD);
    end();
  }
  for (int receive = 0; receive < receives; receive++) {
    if (strncmp(receive_name(receive), "Isendrecv", 9) == 0)
      continue;
    begin("no rank: %s", receive_name(receive));
    int code = receive_by(receive, receive % COMPLETIONS, big, MPI_PROC_NULL, 40, MPI_COMM_WORLD, 0, NULL, &status);
    note_code(code);
    note_status(&status, MPI_BYTE);
    note(" data=%016lx", (unsigned long)digest(&m));
    end();
  }
  detach();
  memory_free(&m);

  /* Messages without content, by every pair of calls with different code paths. */
  attach(1 << 20);
  int number = 900;
  for (int send = 0; send < sends; send++, number++)
    one(number, send, number % receives, number % COMPLETIONS, 0, RANDOM, number % 2);
  detach();
}

/* A synchronous send is not complete before its receive has begun, also where the receiver probes its message or waits for another one meanwhile. */
void synchronous_sends(void)
{
  enum { LONG = 8000, GO = 200, ROUNDS = 5 };
  if (role == IDLE)
    return;
  memory m = memory_new(8 * LONG), go = memory_new(8 * GO);
  for (int round = 0; round < ROUNDS; round++) {
    MPI_Status status;
    begin("%d:", round);
    if (role == SENDER) {
      MPI_Request request;
      int flag = 0;
      fill(m.data, m.room, SMOOTH, (uint64_t)round);
      note_code(MPI_Issend(m.data, LONG, MPI_DOUBLE, peer, 50, MPI_COMM_WORLD, &request));
      for (double start = MPI_Wtime(); !flag && MPI_Wtime() - start < 0.1;)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      note(" complete=%d", flag);
      note_code(MPI_Send(go.data, GO, MPI_DOUBLE, peer, 51, MPI_COMM_WORLD));
      note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
      int flag = 0;
      for (double start = MPI_Wtime(); round % 2 && MPI_Wtime() - start < 0.05;)
        MPI_Iprobe(peer, 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      note_code(MPI_Recv(go.data, GO, MPI_DOUBLE, peer, 51, MPI_COMM_WORLD, &status));
      note_code(MPI_Recv(m.data, LONG, MPI_DOUBLE, peer, 50, MPI_COMM_WORLD, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
  }
  memory_free(&m);
  memory_free(&go);
}
