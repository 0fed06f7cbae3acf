/* Receives whose memory overlaps. The standard forbids them while both are pending, but benchmarks post whole windows of receives into one buffer,
 * and MPIs do what the benchmarks expect: each status describes its own message, and the buffer contains the last one. Where the order of arrival is
 * undefined, only statuses are logged. */
#include "scenarios.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, LENGTHS = 5, TAG = 90, LONGEST = 1 << 20 };
static const int lengths[LENGTHS] = {1024, 1032, 16384, 131072, LONGEST};

/* Separate memory for each case, kept until the scenario ends: memory once shared by receives is treated differently from then on. */
enum { MOST_CASES = 512 };
static memory kept[MOST_CASES];
static int cases;

static memory new_memory(size_t room)
{
  if (cases == MOST_CASES)
    give_up("too many cases");
  return kept[cases++] = memory_new(room);
}

static void free_memories(void)
{
  while (cases > 0)
    memory_free(&kept[--cases]);
}

/* With `different` contents the messages of a window differ, also in length. */
static int bytes_of(int length, int i, int different)
{
  return different ? length - length / 8 / (WINDOW * 2) * i * 8 : length;
}

static void note_statuses(MPI_Status *statuses, int length, int different)
{
  int wrong = 0;
  for (int i = 0; i < WINDOW; i++) {
    int count = -1;
    MPI_Get_count(&statuses[i], MPI_BYTE, &count);
    wrong += count != bytes_of(length, i, different) || statuses[i].MPI_SOURCE != peer || statuses[i].MPI_TAG != TAG;
  }
  note(" wrong statuses=%d", wrong);
}

/* A window of sends from separate memory. */
static void send_window(memory *out, int length, int different, MPI_Request *requests)
{
  for (int i = 0; i < WINDOW; i++) {
    unsigned char *data = out->data + (different ? (size_t)i * LONGEST : 0);
    if (different || i == 0)
      fill(data, (size_t)length, SMOOTH, (uint64_t)(length + i));
    MPI_Isend(data, bytes_of(length, i, different) / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
  }
}

/* The ways to complete the requests of a window. */
enum { BY_WAITALL, BY_WAITANY, BY_TESTSOME, BY_WAIT_BACKWARDS, WAYS };
static const char *const way_names[WAYS] = {"Waitall", "Waitany", "Testsome", "Wait backwards"};

static void complete_window(int way, MPI_Request *requests, MPI_Status *statuses)
{
  int index, indices[WINDOW], done = 0, count;
  MPI_Status some[WINDOW];
  switch (way) {
  case BY_WAITALL:
    note_code(MPI_Waitall(WINDOW, requests, statuses));
    break;
  case BY_WAITANY:
    for (int i = 0; i < WINDOW; i++) {
      MPI_Waitany(WINDOW, requests, &index, &some[0]);
      statuses[index] = some[0];
    }
    break;
  case BY_TESTSOME:
    while (done < WINDOW) {
      MPI_Testsome(WINDOW, requests, &count, indices, some);
      for (int k = 0; k < count; k++)
        statuses[indices[k]] = some[k];
      done += count;
    }
    break;
  default:
    for (int i = WINDOW; i-- > 0;)
      MPI_Wait(&requests[i], &statuses[i]);
  }
}

/* The memory into which the receives of a window are posted. */
enum { ONE_BUFFER, SLIDING, STRIDED, PERSISTENT, PLACES };
static const char *const place_names[PLACES] = {"one buffer", "sliding", "strided", "persistent"};

static void receive_window(memory *in, int place, int way, int length, int different)
{
  MPI_Request requests[WINDOW], started[WINDOW];
  MPI_Status statuses[WINDOW];
  MPI_Datatype strided;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &strided);
  MPI_Type_commit(&strided);
  for (int i = 0; i < WINDOW; i++) {
    int room = length / 8;
    if (place == STRIDED)
      MPI_Irecv(in->data, room, strided, peer, TAG, MPI_COMM_WORLD, &requests[i]);
    else if (place == PERSISTENT) {
      MPI_Recv_init(in->data, room, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
      MPI_Start(&requests[i]);
      started[i] = requests[i];
    } else
      MPI_Irecv(in->data + (place == SLIDING ? i * 64 : 0), room, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Type_free(&strided);
  signal_to(peer);
  complete_window(way, requests, statuses);
  if (place == PERSISTENT)
    for (int i = 0; i < WINDOW; i++)
      MPI_Request_free(&started[i]);
  note_statuses(statuses, length, different);
  /* All messages are the same, so this is the content, whichever came last. */
  if (!different && place != SLIDING)
    note(" data=%016lx", (unsigned long)digest(in));
}

/* As in OSU's bandwidth benchmarks: a window of sends, a window of receives into one buffer, an answer. */
void windows_into_one_buffer(void)
{
  if (role == IDLE)
    return;
  memory out = memory_new((size_t)WINDOW * LONGEST);
  for (int l = 0; l < LENGTHS; l++)
    for (int place = 0; place < PLACES; place++)
      for (int way = 0; way < WAYS; way++) {
        int different = (place + way) % 2;
        begin("%d %s %s", lengths[l], place_names[place], way_names[way]);
        if (role == SENDER) {
          MPI_Request requests[WINDOW];
          await(peer);
          send_window(&out, lengths[l], different, requests);
          note_code(MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE));
          await(peer);
        } else {
          memory in = new_memory(2 * (size_t)lengths[l] + WINDOW * 64);
          memset(in.data, 0, in.room);
          receive_window(&in, place, way, lengths[l], different);
          signal_to(peer);
        }
        end();
      }
  memory_free(&out);
  free_memories();
}

/* Both directions at the same time. */
void windows_both_ways(void)
{
  if (role == IDLE)
    return;
  memory out = memory_new(LONGEST);
  for (int l = 0; l < LENGTHS; l++) {
    memory in = new_memory((size_t)lengths[l]);
    for (int round = 0; round < 3; round++) {
      MPI_Request receives[WINDOW], sends[WINDOW];
      MPI_Status statuses[WINDOW];
      begin("%d round %d", lengths[l], round);
      for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(in.data, lengths[l], MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &receives[i]);
      send_window(&out, lengths[l], 0, sends);
      note_code(MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE));
      note_code(MPI_Waitall(WINDOW, receives, statuses));
      note_statuses(statuses, lengths[l], 0);
      note(" data=%016lx", (unsigned long)digest(&in));
      end();
    }
  }
  memory_free(&out);
  free_memories();
}

/* A receive is pending while another message comes for its memory. Its content is not defined meanwhile, but in the end it is one of the two messages. */
void landing_over_a_pending_receive(void)
{
  if (role == IDLE)
    return;
  memory out = memory_new(LONGEST);
  for (int l = 0; l < LENGTHS; l++)
    for (int how = 0; how < receives; how++)
      for (int late = 0; late < 2; late++) {
        int length = lengths[l], doubles = length / 8;
        MPI_Request first, other;
        MPI_Status status;
        if (receive_is_posted(how) && receive_is_persistent(how))
          continue;
        begin("%d %s %s", length, receive_name(how), late ? "late" : "under way");
        if (role == SENDER) {
          await(peer);
          fill(out.data, out.room, SMOOTH, (uint64_t)(length + how));
          /* When the other message is received, the first one is under way or has arrived; if `late`, it is sent only then. */
          if (!late)
            MPI_Isend(out.data, doubles, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, &first);
          MPI_Isend(out.data + LONGEST - length, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &other);
          if (late) {
            await(peer);
            MPI_Isend(out.data, doubles, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, &first);
          }
          MPI_Wait(&other, MPI_STATUS_IGNORE);
          MPI_Wait(&first, MPI_STATUS_IGNORE);
        } else {
          memory in = new_memory((size_t)length);
          memset(in.data, 0, in.room);
          MPI_Irecv(in.data, doubles, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, &first);
          signal_to(peer);
          int code = receive_by(how, how % COMPLETIONS, (span){in.data, doubles, MPI_DOUBLE}, peer, TAG,
                                MPI_COMM_WORLD, 0, NULL, &status);
          note_code(code);
          note_status(&status, MPI_DOUBLE);
          if (late)
            signal_to(peer);
          blank(&status);
          note_code(MPI_Wait(&first, &status));
          note_status(&status, MPI_DOUBLE);
          fill(out.data, out.room, SMOOTH, (uint64_t)(length + how));
          int is_first = memcmp(in.data, out.data, (size_t)length) == 0;
          int is_other = memcmp(in.data, out.data + LONGEST - length, (size_t)length) == 0;
          note(" whole=%d", is_first || is_other);
        }
        end();
      }
  memory_free(&out);
  free_memories();
}

/* --- threads that receive into one buffer, as OSU's latency test of many threads ----------------------------------- */

enum { THREADS = 4, TURNS = 200 };
static unsigned char *one_buffer;

typedef struct {
  pthread_t thread;
  int number, wrong;
} worker;

static void *answer(void *argument)
{
  worker *w = argument;
  unsigned char *own = malloc(LONGEST);
  for (int turn = 0; turn < TURNS; turn++) {
    int bytes = lengths[(w->number + turn) % 4], count;
    MPI_Status status;
    fill(own, (size_t)bytes, SMOOTH, (uint64_t)(w->number + turn));
    if (role == SENDER)
      MPI_Send(own, bytes / 8, MPI_DOUBLE, peer, TAG + w->number, MPI_COMM_WORLD);
    if (turn % 2) {
      MPI_Request request;
      MPI_Irecv(one_buffer, LONGEST / 8, MPI_DOUBLE, peer, TAG + w->number, MPI_COMM_WORLD, &request);
      w->wrong += MPI_Wait(&request, &status) != MPI_SUCCESS;
    } else
      w->wrong += MPI_Recv(one_buffer, LONGEST / 8, MPI_DOUBLE, peer, TAG + w->number, MPI_COMM_WORLD, &status) !=
                  MPI_SUCCESS;
    MPI_Get_count(&status, MPI_BYTE, &count);
    w->wrong += count != bytes || status.MPI_TAG != TAG + w->number || status.MPI_SOURCE != peer;
    if (role == RECEIVER)
      MPI_Send(own, bytes / 8, MPI_DOUBLE, peer, TAG + w->number, MPI_COMM_WORLD);
  }
  free(own);
  return NULL;
}

void threads_into_one_buffer(void)
{
  int level;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE || role == IDLE)
    return;
  worker workers[THREADS];
  one_buffer = malloc(LONGEST);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.number = i};
    if (pthread_create(&workers[i].thread, NULL, answer, &workers[i]) != 0)
      give_up("no thread");
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(workers[i].thread, NULL);
  free(one_buffer);
  for (int i = 0; i < THREADS; i++) {
    begin("thread %d: wrong=%d", i, workers[i].wrong);
    end();
  }
}
