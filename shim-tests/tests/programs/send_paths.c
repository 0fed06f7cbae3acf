/* Ways to send. */
#include "paths.h"

#include <stdlib.h>

/* The large-count forms exist since MPI 4. */
#if MPI_VERSION >= 4
#define LARGE 1
#else
#define LARGE 0
#endif

typedef int blocking(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int starting(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
#if LARGE
typedef int blocking_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int starting_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
#endif

enum form { BLOCKING, NONBLOCKING, PERSISTENT, COMBINED };
enum combined {
  NOT_COMBINED,
  EXCHANGE,
  REPLACE,
#if LARGE
  EXCHANGE_C,
  REPLACE_C,
  IEXCHANGE,
  IEXCHANGE_C,
  IREPLACE,
  IREPLACE_C,
#endif
};

typedef struct {
  const char *name;
  enum form form;
  int ready;
  void (*function)(void);
  int large;
  enum combined combined;
} way;

#define ANY(function) ((void (*)(void))(function))

static const way ways[] = {
    {"Send", BLOCKING, 0, ANY(MPI_Send), 0, NOT_COMBINED},
    {"Bsend", BLOCKING, 0, ANY(MPI_Bsend), 0, NOT_COMBINED},
    {"Ssend", BLOCKING, 0, ANY(MPI_Ssend), 0, NOT_COMBINED},
    {"Rsend", BLOCKING, 1, ANY(MPI_Rsend), 0, NOT_COMBINED},
    {"Isend", NONBLOCKING, 0, ANY(MPI_Isend), 0, NOT_COMBINED},
    {"Ibsend", NONBLOCKING, 0, ANY(MPI_Ibsend), 0, NOT_COMBINED},
    {"Issend", NONBLOCKING, 0, ANY(MPI_Issend), 0, NOT_COMBINED},
    {"Irsend", NONBLOCKING, 1, ANY(MPI_Irsend), 0, NOT_COMBINED},
    {"Send_init", PERSISTENT, 0, ANY(MPI_Send_init), 0, NOT_COMBINED},
    {"Bsend_init", PERSISTENT, 0, ANY(MPI_Bsend_init), 0, NOT_COMBINED},
    {"Ssend_init", PERSISTENT, 0, ANY(MPI_Ssend_init), 0, NOT_COMBINED},
    {"Rsend_init", PERSISTENT, 1, ANY(MPI_Rsend_init), 0, NOT_COMBINED},
    {"Sendrecv", COMBINED, 0, NULL, 0, EXCHANGE},
    {"Sendrecv_replace", COMBINED, 0, NULL, 0, REPLACE},
#if LARGE
    {"Send_c", BLOCKING, 0, ANY(MPI_Send_c), 1, NOT_COMBINED},
    {"Bsend_c", BLOCKING, 0, ANY(MPI_Bsend_c), 1, NOT_COMBINED},
    {"Ssend_c", BLOCKING, 0, ANY(MPI_Ssend_c), 1, NOT_COMBINED},
    {"Rsend_c", BLOCKING, 1, ANY(MPI_Rsend_c), 1, NOT_COMBINED},
    {"Isend_c", NONBLOCKING, 0, ANY(MPI_Isend_c), 1, NOT_COMBINED},
    {"Ibsend_c", NONBLOCKING, 0, ANY(MPI_Ibsend_c), 1, NOT_COMBINED},
    {"Issend_c", NONBLOCKING, 0, ANY(MPI_Issend_c), 1, NOT_COMBINED},
    {"Irsend_c", NONBLOCKING, 1, ANY(MPI_Irsend_c), 1, NOT_COMBINED},
    {"Send_init_c", PERSISTENT, 0, ANY(MPI_Send_init_c), 1, NOT_COMBINED},
    {"Bsend_init_c", PERSISTENT, 0, ANY(MPI_Bsend_init_c), 1, NOT_COMBINED},
    {"Ssend_init_c", PERSISTENT, 0, ANY(MPI_Ssend_init_c), 1, NOT_COMBINED},
    {"Rsend_init_c", PERSISTENT, 1, ANY(MPI_Rsend_init_c), 1, NOT_COMBINED},
    {"Sendrecv_c", COMBINED, 0, NULL, 0, EXCHANGE_C},
    {"Sendrecv_replace_c", COMBINED, 0, NULL, 0, REPLACE_C},
    {"Isendrecv", COMBINED, 0, NULL, 0, IEXCHANGE},
    {"Isendrecv_c", COMBINED, 0, NULL, 0, IEXCHANGE_C},
    {"Isendrecv_replace", COMBINED, 0, NULL, 0, IREPLACE},
    {"Isendrecv_replace_c", COMBINED, 0, NULL, 0, IREPLACE_C},
#endif
};
const int sends = sizeof ways / sizeof *ways;

const char *send_name(int how)
{
  return ways[how].name;
}

int send_is_ready(int how)
{
  return ways[how].ready;
}

static int call_blocking(const way *way, span m, int dest, int tag, MPI_Comm comm)
{
#if LARGE
  if (way->large)
    return ((blocking_c *)way->function)(m.data, m.count, m.type, dest, tag, comm);
#endif
  return ((blocking *)way->function)(m.data, m.count, m.type, dest, tag, comm);
}

static int call_starting(const way *way, span m, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
#if LARGE
  if (way->large)
    return ((starting_c *)way->function)(m.data, m.count, m.type, dest, tag, comm, request);
#endif
  return ((starting *)way->function)(m.data, m.count, m.type, dest, tag, comm, request);
}

/* A combined call whose receive half has no process to receive from, so that it is a plain send with another name. */
static int call_combined(enum combined which, int completion, span m, int dest, int tag, MPI_Comm comm)
{
  enum { NONE = MPI_PROC_NULL, TAG = 5 };
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  char nothing;
  int code = MPI_SUCCESS, started = 0;
  blank(&status);
  switch (which) {
  case NOT_COMBINED:
    give_up("not a combined call");
  case EXCHANGE:
    code = MPI_Sendrecv(m.data, m.count, m.type, dest, tag, &nothing, 0, MPI_BYTE, NONE, TAG, comm, &status);
    break;
  case REPLACE:
    code = MPI_Sendrecv_replace(m.data, m.count, m.type, dest, tag, NONE, TAG, comm, &status);
    break;
#if LARGE
  case EXCHANGE_C:
    code = MPI_Sendrecv_c(m.data, m.count, m.type, dest, tag, &nothing, 0, MPI_BYTE, NONE, TAG, comm, &status);
    break;
  case REPLACE_C:
    code = MPI_Sendrecv_replace_c(m.data, m.count, m.type, dest, tag, NONE, TAG, comm, &status);
    break;
  case IEXCHANGE:
    code = MPI_Isendrecv(m.data, m.count, m.type, dest, tag, &nothing, 0, MPI_BYTE, NONE, TAG, comm, &request);
    started = 1;
    break;
  case IEXCHANGE_C:
    code = MPI_Isendrecv_c(m.data, m.count, m.type, dest, tag, &nothing, 0, MPI_BYTE, NONE, TAG, comm, &request);
    started = 1;
    break;
  case IREPLACE:
    code = MPI_Isendrecv_replace(m.data, m.count, m.type, dest, tag, NONE, TAG, comm, &request);
    started = 1;
    break;
  case IREPLACE_C:
    code = MPI_Isendrecv_replace_c(m.data, m.count, m.type, dest, tag, NONE, TAG, comm, &request);
    started = 1;
    break;
#endif
  }
  if (started) {
    /* For a receive from no process, MPICH gives the status of the send, in which nothing is defined. */
    note_code(code);
    return complete(completion, &request, &status);
  }
  note_origin(&status);
  return code;
}

void send_by(int how, int completion, span m, int dest, int tag, MPI_Comm comm)
{
  const way *way = &ways[how];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int code, cancelled = -1;
  switch (way->form) {
  case BLOCKING:
    note_code(call_blocking(way, m, dest, tag, comm));
    return;
  case COMBINED:
    note_code(call_combined(way->combined, completion, m, dest, tag, comm));
    return;
  case NONBLOCKING:
    note_code(call_starting(way, m, dest, tag, comm, &request));
    code = complete(completion, &request, &status);
    break;
  default:
    note_code(call_starting(way, m, dest, tag, comm, &request));
    code = completion % 2 ? MPI_Startall(1, &request) : MPI_Start(&request);
    note_code(code);
    code = complete(completion, &request, &status);
    note_code(MPI_Request_free(&request));
  }
  MPI_Test_cancelled(&status, &cancelled);
  note_code(code);
  note(" cancelled=%d", cancelled);
  note_request("request", request);
}

enum { SIGNAL = 31000 };

void signal_to(int dest)
{
  char nothing = 0;
  MPI_Send(&nothing, 1, MPI_CHAR, dest, SIGNAL, MPI_COMM_WORLD);
}

void await(int source)
{
  char nothing;
  MPI_Recv(&nothing, 1, MPI_CHAR, source, SIGNAL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void attach(size_t bytes)
{
  if (MPI_Buffer_attach(malloc(bytes), (int)bytes) != MPI_SUCCESS)
    give_up("Buffer_attach");
}

void detach(void)
{
  void *buffer = NULL;
  int bytes = 0;
  begin("detach");
  note_code(MPI_Buffer_detach(&buffer, &bytes));
  note(" bytes=%d", bytes);
  end();
  free(buffer);
}
