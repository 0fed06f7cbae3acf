/* Messages longer than the buffer of their receive, and the calls that report it. The content of the buffer is undefined then, and so is the count in
 * the status; but the error must be the same, and memory outside the buffer must be untouched. */
#include "scenarios.h"

#include <string.h>

enum { TAG = 70 };

/* Bytes of the message and of the room, below and above the floor. */
static const int pairs[][2] = {{900, 800},     {1016, 1008},   {1024, 1016},   {1024, 8},       {1032, 1024},
                               {5000, 1016},   {5000, 1024},   {5000, 4992},   {65552, 65536},  {65552, 65544},
                               {400000, 1000}, {400000, 2048}, {400000, 399992}, {2000000, 1000000}};
enum { PAIRS = sizeof pairs / sizeof *pairs };

#ifdef OPEN_MPI
/* With MPI_THREAD_MULTIPLE, MPI_Waitall of Open MPI 4.1.4 waits forever for a request that has already failed. */
static int waitall_hangs(void)
{
  int level;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}
#endif

enum { WAITANY = 2, TESTANY = 3, WAITALL = 4, TESTSOME = 7, GET_STATUS = 8 };

/* Whether a comparison with plain Open MPI 4.1.4 is impossible: it may not report the failure of a persistent request in Testany or in a call for
 * several requests. */
static int failure_lost(int how, int completion)
{
#ifdef OPEN_MPI
  if (receive_has_request(how) && completion == WAITALL && waitall_hangs())
    return 1;
  return receive_is_persistent(how) && completion >= TESTANY && completion <= TESTSOME;
#else
  (void)how;
  (void)completion;
  return 0;
#endif
}

/* A receive too short for a frame is left to the MPI. Whether Open MPI then writes beyond it, as it sometimes does, depends on the length and layout
 * of the sent data, which the shim changes. */
static void note_outside_of(const memory *memory, int room)
{
#ifdef OPEN_MPI
  if (room < 1024)
    return;
#endif
  note_outside(memory, (size_t)room);
}

/* MPICH 4.0.2 reports the failure of a nonblocking operation, of a matched receive and of calls for several requests, even if they complete one, to
 * the handler of MPI_COMM_WORLD instead of that of the communicator. */
static int handler_known(int how, int completion)
{
#ifdef OPEN_MPI
  (void)how;
  (void)completion;
  return 1;
#else
  int own_call = !receive_has_request(how) && !receive_is_matched(how);
  return own_call || (receive_is_persistent(how) && (completion < WAITANY || completion == GET_STATUS));
#endif
}

void truncation(void)
{
  if (role == IDLE)
    return;
  for (int p = 0; p < PAIRS; p++)
    for (int how = 0; how < receives; how++)
      for (int content = 0; content < 3; content += 2) {
        int bytes = pairs[p][0], room = pairs[p][1], completion = (p + how) % COMPLETIONS;
        if (failure_lost(how, completion))
          continue;
        memory m = memory_new((size_t)(bytes < 2048 ? 2048 : bytes));
        begin("%d -> %d %s/%s %s", bytes, room, receive_name(how), completion_names[completion],
              content_names[content]);
        if (role == SENDER) {
          MPI_Request request;
          fill(m.data, (size_t)bytes, (enum content)content, (uint64_t)p);
          MPI_Isend(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
          note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
          /* Later messages are received normally. */
          note_code(MPI_Send(m.data, 256, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD));
        } else {
          MPI_Status status;
          int code = receive_by(how, completion, (span){m.data, room / 8, MPI_DOUBLE}, p % 2 ? MPI_ANY_SOURCE : peer,
                                TAG, MPI_COMM_WORLD, 0, NULL, &status);
          note_code(code);
          note_origin(&status);
          note_outside_of(&m, room);
          memset(m.data, 0, (size_t)bytes);
          note_code(MPI_Recv(m.data, 256, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status));
          note_status(&status, MPI_DOUBLE);
          note(" after=%016lx", (unsigned long)digest(&m));
        }
        end();
        memory_free(&m);
      }
  /* Into a datatype with gaps. */
  for (int p = 0; p < PAIRS; p++) {
    int bytes = pairs[p][0], room = pairs[p][1] / 8;
    memory m = memory_new((size_t)bytes * 2 + 64);
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &type);
    MPI_Type_commit(&type);
    begin("%d -> %d with gaps", bytes, room * 8);
    if (role == SENDER) {
      fill(m.data, (size_t)bytes, p % 2 ? RANDOM : SMOOTH, (uint64_t)p);
      note_code(MPI_Send(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD));
    } else {
      MPI_Status status;
      blank(&status);
      note_code(MPI_Recv(m.data, room, type, peer, TAG, MPI_COMM_WORLD, &status));
      note_origin(&status);
      note_outside(&m, (size_t)room * 16);
    }
    end();
    MPI_Type_free(&type);
    memory_free(&m);
  }
}

/* One of several requests of a call fails; the others are unaffected. */
void truncation_among_others(void)
{
  static const int bytes[] = {2000, 5000, 64, 80000}, room[] = {2000, 3000, 64, 80000};
  enum { COUNT = 4, SHORT = 1 };
  if (role == IDLE)
    return;
  for (int round = 0; round < 24; round++) {
    int how = round % 6, persistent = round / 6 % 2;
#ifdef OPEN_MPI
    /* Open MPI frees a persistent request that fails, or does not report the failure. */
    if (persistent || (how == 0 && waitall_hangs()))
      continue;
#endif
    memory memories[COUNT];
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT], found[COUNT];
    int codes[COUNT], indices[COUNT], done = 0, index, flag = 0, code, left = COUNT, failures = 0;
    for (int i = 0; i < COUNT; i++) {
      memories[i] = memory_new((size_t)bytes[i]);
      codes[i] = -1;
      blank(&statuses[i]);
      if (role == SENDER) {
        fill(memories[i].data, memories[i].room, round / 12 ? RANDOM : SMOOTH, (uint64_t)(round + i));
        MPI_Isend(memories[i].data, bytes[i] / 8, MPI_DOUBLE, peer, TAG + i, MPI_COMM_WORLD, &requests[i]);
      } else if (persistent) {
        MPI_Recv_init(memories[i].data, room[i] / 8, MPI_DOUBLE, peer, TAG + i, MPI_COMM_WORLD, &requests[i]);
        MPI_Start(&requests[i]);
      } else
        MPI_Irecv(memories[i].data, room[i] / 8, MPI_DOUBLE, peer, TAG + i, MPI_COMM_WORLD, &requests[i]);
    }
    if (role == SENDER) {
      MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
      for (int i = 0; i < COUNT; i++)
        memory_free(&memories[i]);
      continue;
    }
    /* Which requests a failing call leaves pending depends on time; the call is repeated until none is left. */
    while (left > 0) {
      blank_all(found, COUNT);
      switch (how) {
      case 0:
      case 1:
        if (how == 0)
          code = MPI_Waitall(COUNT, requests, found), flag = 1;
        else
          code = MPI_Testall(COUNT, requests, &flag, found);
        for (int i = 0; i < COUNT && (code != MPI_SUCCESS || flag); i++) {
          int result = code == MPI_ERR_IN_STATUS ? found[i].MPI_ERROR : code;
          if (codes[i] != -1 || class_of(result) == MPI_ERR_PENDING)
            continue;
          codes[i] = result;
          statuses[i] = found[i];
          left--;
        }
        failures += code != MPI_SUCCESS;
        break;
      case 2:
      case 3:
        done = 0;
        code = how == 2 ? MPI_Waitsome(COUNT, requests, &done, indices, found)
                        : MPI_Testsome(COUNT, requests, &done, indices, found);
        for (int i = 0; i < done; i++) {
          codes[indices[i]] = code == MPI_ERR_IN_STATUS ? found[i].MPI_ERROR : code;
          statuses[indices[i]] = found[i];
          left--;
        }
        failures += code != MPI_SUCCESS;
        break;
      default:
        index = MPI_UNDEFINED;
        if (how == 4)
          code = MPI_Waitany(COUNT, requests, &index, found);
        else
          code = MPI_Testany(COUNT, requests, &index, &flag, found);
        if (index != MPI_UNDEFINED) {
          codes[index] = code;
          statuses[index] = *found;
          left--;
        }
        failures += code != MPI_SUCCESS;
      }
    }
    begin("%d: way %d failures=%d", round, how, failures);
    end();
    for (int i = 0; i < COUNT; i++) {
      begin("%d: %d", round, i);
      note_code(codes[i]);
      note_origin(&statuses[i]);
      if (i != SHORT) {
        note_status(&statuses[i], MPI_DOUBLE);
        note(" data=%016lx", (unsigned long)digest(&memories[i]));
      } else
        note_outside(&memories[i], (size_t)room[i]);
      note_request("request", requests[i]);
      if (requests[i] != MPI_REQUEST_NULL)
        MPI_Request_free(&requests[i]);
      end();
      memory_free(&memories[i]);
    }
  }
}

/* --- error handlers ---------------------------------------------------------------------------------------------- */

static int calls, last_class;
static MPI_Comm last_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
  calls++;
  last_class = class_of(*code);
  last_comm = *comm;
}

static void forget_calls(void)
{
  calls = 0;
  last_class = -1;
  last_comm = MPI_COMM_NULL;
}

static void note_calls(MPI_Comm comm)
{
  note(" handler: %d times, class %d, %s", calls, last_class, last_comm == comm ? "own" : "other");
}

/* The program's own error handler is called once for an error, with the same class and communicator. */
void handlers(void)
{
  MPI_Errhandler errhandler;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(comm, errhandler);
  for (int p = 0; p < PAIRS && role != IDLE; p++)
    for (int how = 0; how < receives; how++)
      for (int completion = 0; completion < COMPLETIONS; completion++) {
        if ((completion > 0 && how != 1 && p != 6) || failure_lost(how, completion))
          continue;
        int bytes = pairs[p][0], room = pairs[p][1], content = (p + how) % 2 ? RANDOM : SMOOTH;
        memory m = memory_new((size_t)bytes);
        forget_calls();
        begin("%d -> %d %s/%s", bytes, room, receive_name(how), completion_names[completion]);
        if (role == SENDER) {
          fill(m.data, m.room, (enum content)content, 4);
          note_code(MPI_Send(m.data, bytes / 8, MPI_DOUBLE, peer, TAG, comm));
        } else {
          MPI_Status status;
          int code = receive_by(how, completion, (span){m.data, room / 8, MPI_DOUBLE}, peer, TAG, comm, 0, NULL,
                                &status);
          note_code(code);
          note_origin(&status);
        }
        if (handler_known(how, completion))
          note_calls(comm);
        end();
        memory_free(&m);
      }
  MPI_Errhandler_free(&errhandler);
  MPI_Comm_free(&comm);
}
