/* Ways to receive. */
#include "paths.h"

#include <string.h>

#if MPI_VERSION >= 4
#define LARGE 1
#else
#define LARGE 0
#endif

enum way {
  RECV,
  IRECV,
  RECV_INIT,
  STARTALL,
  SENDRECV,
  SENDRECV_REPLACE,
  MPROBE_MRECV,
  MPROBE_IMRECV,
  IMPROBE_MRECV,
  IMPROBE_IMRECV,
  PROBE_RECV,
  PROBE_IRECV,
  IPROBE_RECV,
  IPROBE_IRECV,
  PROBE_START,
  PROBE_SENDRECV,
  PROBE_MPROBE,
#if LARGE
  RECV_C,
  IRECV_C,
  RECV_INIT_C,
  SENDRECV_C,
  SENDRECV_REPLACE_C,
  ISENDRECV,
  ISENDRECV_C,
  ISENDRECV_REPLACE,
  ISENDRECV_REPLACE_C,
  MPROBE_MRECV_C,
  MPROBE_IMRECV_C,
#endif
  WAYS
};
const int receives = WAYS;

static const char *const names[WAYS] = {
    "Recv",         "Irecv",      "Recv_init",    "Startall",    "Sendrecv",       "Sendrecv_replace",
    "Mprobe+Mrecv", "Mprobe+Imrecv", "Improbe+Mrecv", "Improbe+Imrecv", "Probe+Recv",  "Probe+Irecv",
    "Iprobe+Recv",  "Iprobe+Irecv", "Probe+Start", "Probe+Sendrecv", "Probe+Mprobe+Mrecv",
#if LARGE
    "Recv_c",       "Irecv_c",    "Recv_init_c",  "Sendrecv_c",  "Sendrecv_replace_c", "Isendrecv",
    "Isendrecv_c",  "Isendrecv_replace", "Isendrecv_replace_c", "Mprobe+Mrecv_c", "Mprobe+Imrecv_c",
#endif
};

const char *receive_name(int how)
{
  return names[how];
}

int receive_is_posted(int how)
{
#if LARGE
  if (how == IRECV_C || how == RECV_INIT_C || (how >= ISENDRECV && how <= ISENDRECV_REPLACE_C))
    return 1;
#endif
  return how == IRECV || how == RECV_INIT || how == STARTALL;
}

int receive_is_persistent(int how)
{
#if LARGE
  if (how == RECV_INIT_C)
    return 1;
#endif
  return how == RECV_INIT || how == STARTALL || how == PROBE_START;
}

int receive_is_matched(int how)
{
#if LARGE
  if (how == MPROBE_MRECV_C || how == MPROBE_IMRECV_C)
    return 1;
#endif
  return (how >= MPROBE_MRECV && how <= IMPROBE_IMRECV) || how == PROBE_MPROBE;
}

int receive_has_request(int how)
{
#if LARGE
  if (how == MPROBE_IMRECV_C)
    return 1;
#endif
  return receive_is_posted(how) || receive_is_persistent(how) || how == MPROBE_IMRECV || how == IMPROBE_IMRECV ||
         how == PROBE_IRECV || how == IPROBE_IRECV;
}

/* The result of a probe, and the room for a receive after it. */
static void probed(const MPI_Status *seen, span *room, int exact)
{
  int count = 0;
  note(" probed:");
  note_status(seen, room->type);
  MPI_Get_count(seen, room->type, &count);
  if (exact && count != MPI_UNDEFINED && count < room->count)
    room->count = count;
}

static void probe(int polling, int source, int tag, MPI_Comm comm, span *room, int exact)
{
  MPI_Status seen;
  int flag = 0;
  blank(&seen);
  if (polling)
    while (!flag)
      MPI_Iprobe(source, tag, comm, &flag, &seen);
  else
    MPI_Probe(source, tag, comm, &seen);
  probed(&seen, room, exact);
}

static MPI_Message match(int polling, int source, int tag, MPI_Comm comm, span *room, int exact)
{
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status seen;
  int flag = 0;
  blank(&seen);
  if (polling)
    while (!flag)
      MPI_Improbe(source, tag, comm, &flag, &message, &seen);
  else
    MPI_Mprobe(source, tag, comm, &message, &seen);
  note_message(message);
  probed(&seen, room, exact);
  return message;
}

static int finish(int completion, MPI_Request *request, void (*posted)(void), MPI_Status *status)
{
  if (posted)
    posted();
  return complete(completion, request, status);
}

static int persistent(int started_all, int completion, MPI_Request *request, void (*posted)(void),
                      MPI_Status *status)
{
  note_code(started_all ? MPI_Startall(1, request) : MPI_Start(request));
  if (posted)
    posted();
  int code = complete_quietly(completion, request, status);
  if (code != MPI_SUCCESS) {
    /* The standard leaves the request to the program, inactive. Open MPI frees it; programs can rely on neither. */
    if (*request != MPI_REQUEST_NULL)
      MPI_Request_free(request);
    return code;
  }
  note_request("request", *request);
  /* It is inactive now: another wait returns an empty status at once. */
  MPI_Status again;
  blank(&again);
  note_code(MPI_Wait(request, &again));
  note(" again=%d/%d", again.MPI_SOURCE, again.MPI_TAG);
  note_code(MPI_Request_free(request));
  note_request("freed", *request);
  return code;
}

/* After a failure MPICH keeps the handle and Open MPI does not; in both cases it is useless to a program. */
static int mrecv_noted(int code, MPI_Message message)
{
  if (code == MPI_SUCCESS)
    note_message(message);
  return code;
}

int receive_by(int how, int completion, span r, int source, int tag, MPI_Comm comm, int exact, void (*posted)(void),
               MPI_Status *status)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  int code, no_rank = MPI_PROC_NULL;
  char nothing = 0;
  blank(status);
  switch ((enum way)how) {
  case PROBE_RECV:
  case IPROBE_RECV:
    probe(how == IPROBE_RECV, source, tag, comm, &r, exact);
    /* fall through */
  case RECV:
    return MPI_Recv(r.data, r.count, r.type, source, tag, comm, status);
  case PROBE_IRECV:
  case IPROBE_IRECV:
    probe(how == IPROBE_IRECV, source, tag, comm, &r, exact);
    /* fall through */
  case IRECV:
    note_code(MPI_Irecv(r.data, r.count, r.type, source, tag, comm, &request));
    return finish(completion, &request, posted, status);
  case PROBE_START:
    probe(0, source, tag, comm, &r, exact);
    /* fall through */
  case RECV_INIT:
  case STARTALL:
    note_code(MPI_Recv_init(r.data, r.count, r.type, source, tag, comm, &request));
    return persistent(how == STARTALL, completion, &request, posted, status);
  case PROBE_SENDRECV:
    probe(0, source, tag, comm, &r, exact);
    /* fall through */
  case SENDRECV:
    return MPI_Sendrecv(&nothing, 1, MPI_CHAR, no_rank, 5, r.data, r.count, r.type, source, tag, comm, status);
  case SENDRECV_REPLACE:
    return MPI_Sendrecv_replace(r.data, r.count, r.type, no_rank, 5, source, tag, comm, status);
  case PROBE_MPROBE:
    probe(0, source, tag, comm, &r, exact);
    /* fall through */
  case MPROBE_MRECV:
  case IMPROBE_MRECV:
    message = match(how == IMPROBE_MRECV, source, tag, comm, &r, exact);
    code = MPI_Mrecv(r.data, r.count, r.type, &message, status);
    return mrecv_noted(code, message);
  case MPROBE_IMRECV:
  case IMPROBE_IMRECV:
    message = match(how == IMPROBE_IMRECV, source, tag, comm, &r, exact);
    note_code(MPI_Imrecv(r.data, r.count, r.type, &message, &request));
    note_message(message);
    return complete(completion, &request, status);
#if LARGE
  case RECV_C:
    return MPI_Recv_c(r.data, r.count, r.type, source, tag, comm, status);
  case IRECV_C:
    note_code(MPI_Irecv_c(r.data, r.count, r.type, source, tag, comm, &request));
    return finish(completion, &request, posted, status);
  case RECV_INIT_C:
    note_code(MPI_Recv_init_c(r.data, r.count, r.type, source, tag, comm, &request));
    return persistent(0, completion, &request, posted, status);
  case SENDRECV_C:
    return MPI_Sendrecv_c(&nothing, 1, MPI_CHAR, no_rank, 5, r.data, r.count, r.type, source, tag, comm, status);
  case SENDRECV_REPLACE_C:
    return MPI_Sendrecv_replace_c(r.data, r.count, r.type, no_rank, 5, source, tag, comm, status);
  case ISENDRECV:
    note_code(MPI_Isendrecv(&nothing, 1, MPI_CHAR, no_rank, 5, r.data, r.count, r.type, source, tag, comm, &request));
    return finish(completion, &request, posted, status);
  case ISENDRECV_C:
    note_code(
        MPI_Isendrecv_c(&nothing, 1, MPI_CHAR, no_rank, 5, r.data, r.count, r.type, source, tag, comm, &request));
    return finish(completion, &request, posted, status);
  case ISENDRECV_REPLACE:
    note_code(MPI_Isendrecv_replace(r.data, r.count, r.type, no_rank, 5, source, tag, comm, &request));
    return finish(completion, &request, posted, status);
  case ISENDRECV_REPLACE_C:
    note_code(MPI_Isendrecv_replace_c(r.data, r.count, r.type, no_rank, 5, source, tag, comm, &request));
    return finish(completion, &request, posted, status);
  case MPROBE_MRECV_C:
    message = match(0, source, tag, comm, &r, exact);
    code = MPI_Mrecv_c(r.data, r.count, r.type, &message, status);
    return mrecv_noted(code, message);
  case MPROBE_IMRECV_C:
    message = match(0, source, tag, comm, &r, exact);
    note_code(MPI_Imrecv_c(r.data, r.count, r.type, &message, &request));
    note_message(message);
    return complete(completion, &request, status);
#endif
  case WAYS:
    break;
  }
  give_up("no such way to receive");
}
