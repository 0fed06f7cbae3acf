/* Calls with arguments that the MPI refuses: the same call reports the same error, once. */
#include "scenarios.h"

#include <limits.h>

enum { COUNT = 1000, TAG = 3 };

static int calls, last_class;

static void handler(MPI_Comm *comm, int *code, ...)
{
  (void)comm;
  calls++;
  last_class = class_of(*code);
}

static double buffer[COUNT], other[COUNT];

static void result(const char *what, const char *call, int code)
{
  begin("%s: %s", what, call);
  note_code(code);
  note(" handler=%d,%d", calls, last_class);
  end();
  calls = 0;
  last_class = -1;
}

/* Each kind of call with these arguments, one of which is wrong. */
static void refuse(const char *what, void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  result(what, "Send", MPI_Send(data, count, type, to, tag, comm));
  result(what, "Ssend", MPI_Ssend(data, count, type, to, tag, comm));
  result(what, "Isend", MPI_Isend(data, count, type, to, tag, comm, &request));
  result(what, "Issend", MPI_Issend(data, count, type, to, tag, comm, &request));
  result(what, "Recv", MPI_Recv(data, count, type, to, tag, comm, &status));
  result(what, "Irecv", MPI_Irecv(data, count, type, to, tag, comm, &request));
  result(what, "Sendrecv out", MPI_Sendrecv(data, count, type, to, tag, other, COUNT, MPI_DOUBLE, MPI_PROC_NULL, TAG,
                                            comm, &status));
  result(what, "Sendrecv in", MPI_Sendrecv(other, COUNT, MPI_DOUBLE, MPI_PROC_NULL, TAG, data, count, type, to, tag,
                                           comm, &status));
  result(what, "Sendrecv_replace",
         MPI_Sendrecv_replace(data, count, type, to, tag, MPI_PROC_NULL, TAG, comm, &status));
  result(what, "Send_init", MPI_Send_init(data, count, type, to, tag, comm, &request));
  result(what, "Recv_init", MPI_Recv_init(data, count, type, to, tag, comm, &request));
}

static void refuse_probe(const char *what, int from, int tag, MPI_Comm comm)
{
  MPI_Status status;
  MPI_Message message;
  int flag;
  result(what, "Probe", MPI_Probe(from, tag, comm, &status));
  result(what, "Iprobe", MPI_Iprobe(from, tag, comm, &flag, &status));
  result(what, "Mprobe", MPI_Mprobe(from, tag, comm, &message, &status));
  result(what, "Improbe", MPI_Improbe(from, tag, comm, &flag, &message, &status));
}

/* One half of the call is valid, the other is refused: neither is started, so the next message goes to the next receive. */
static void refuse_half(const char *what, int count)
{
  static const char *const names[] = {"Sendrecv to nowhere", "Sendrecv from nowhere", "Sendrecv_replace to nowhere",
                                      "Sendrecv_replace from nowhere"};
  for (int i = 0; i < 4; i++) {
    MPI_Status status;
    memory out = memory_new((size_t)count * 8), in = memory_new((size_t)count * 8);
    int to = i % 2 ? peer : size, from = i % 2 ? size : peer;
    fill(out.data, out.room, SMOOTH, 1);
    if (i < 2)
      result(what, names[i], MPI_Sendrecv(out.data, count, MPI_DOUBLE, to, TAG, in.data, count, MPI_DOUBLE, from, TAG,
                                          MPI_COMM_WORLD, &status));
    else
      result(what, names[i],
             MPI_Sendrecv_replace(out.data, count, MPI_DOUBLE, to, TAG, from, TAG, MPI_COMM_WORLD, &status));
    /* A message sent by mistake would have time to arrive. */
    MPI_Barrier(MPI_COMM_WORLD);
    fill(out.data, out.room, SMOOTH, 2);
    begin("%s: after %s", what, names[i]);
    blank(&status);
    if (role == SENDER)
      note_code(MPI_Send(out.data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD));
    else {
      note_code(MPI_Recv(in.data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, MPI_DOUBLE);
    }
    int flag = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(peer, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    note(" left=%d %016lx %016lx", flag, (unsigned long)digest(&out), (unsigned long)digest(&in));
    end();
    while (flag) {
      MPI_Recv(in.data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status);
      MPI_Iprobe(peer, TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    /* The next messages must not be mistaken for these. */
    MPI_Barrier(MPI_COMM_WORLD);
    memory_free(&out);
    memory_free(&in);
  }
}

/* A matched message whose receive is refused is received by the next call. */
static void refuse_matched(const char *what, int count)
{
  memory data = memory_new((size_t)count * 8);
  fill(data.data, data.room, SMOOTH, role == SENDER ? 3 : 4);
  if (role == SENDER)
    MPI_Send(data.data, count, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  else {
    MPI_Message message;
    MPI_Status status;
    blank(&status);
    MPI_Mprobe(peer, TAG, MPI_COMM_WORLD, &message, &status);
    result(what, "Mrecv", MPI_Mrecv(data.data, -1, MPI_DOUBLE, &message, &status));
    begin("%s: matched, after", what);
    note_code(MPI_Mrecv(data.data, count, MPI_DOUBLE, &message, &status));
    note_status(&status, MPI_DOUBLE);
    note(" %d %016lx", message == MPI_MESSAGE_NULL, (unsigned long)digest(&data));
    end();
  }
  memory_free(&data);
}

void wrong_arguments(void)
{
  MPI_Errhandler errhandler, before;
  MPI_Datatype flat, vector;
  int *bound, found;
  if (role == IDLE)
    return;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  MPI_Type_contiguous(2, MPI_DOUBLE, &flat);
  MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &vector);
  calls = 0;
  last_class = -1;

  refuse("rank too large", buffer, COUNT, MPI_DOUBLE, size, TAG, MPI_COMM_WORLD);
  refuse("rank negative", buffer, COUNT, MPI_DOUBLE, -77, TAG, MPI_COMM_WORLD);
  refuse("count negative", buffer, -1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  refuse("tag negative", buffer, COUNT, MPI_DOUBLE, peer, -77, MPI_COMM_WORLD);
  if (*bound < INT_MAX)
    refuse("tag too large", buffer, COUNT, MPI_DOUBLE, peer, *bound + 1, MPI_COMM_WORLD);
  refuse("no datatype", buffer, COUNT, MPI_DATATYPE_NULL, peer, TAG, MPI_COMM_WORLD);
  refuse("no communicator", buffer, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_NULL);
  refuse("no buffer, nothing", NULL, 0, MPI_DOUBLE, size, TAG, MPI_COMM_WORLD);
  refuse_probe("rank too large", size, TAG, MPI_COMM_WORLD);
  refuse_probe("tag negative", peer, -77, MPI_COMM_WORLD);

  refuse_half("long", COUNT);
  refuse_half("short", 2);
  refuse_matched("long", COUNT);
  refuse_matched("short", 2);

  /* None of these calls had an effect. */
  MPI_Request request;
  MPI_Status status;
  if (role == SENDER) {
    fill(buffer, sizeof buffer, SMOOTH, 1);
    MPI_Send_init(buffer, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request);
  } else
    MPI_Recv_init(buffer, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
#ifndef OPEN_MPI
  /* Started twice. Open MPI 4.1.4 accepts it. */
  result("active", "Start", MPI_Start(&request));
#endif
  MPI_Wait(&request, &status);
  MPI_Request_free(&request);
  begin("after");
  if (role == RECEIVER)
    note_status(&status, MPI_DOUBLE);
  note(" %016lx", (unsigned long)digest_bytes(buffer, sizeof buffer));
  end();
  result("null", "Start", MPI_Start(&request));
  result("null", "Cancel", MPI_Cancel(&request));

  /* A call accepted by mistake waits for the other side, so these come last. */
  refuse("no buffer", NULL, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  refuse("flat datatype not committed", buffer, COUNT / 2, flat, peer, TAG, MPI_COMM_WORLD);
  refuse("vector not committed", buffer, COUNT / 10, vector, peer, TAG, MPI_COMM_WORLD);

  MPI_Type_free(&flat);
  MPI_Type_free(&vector);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  MPI_Errhandler_free(&errhandler);
}
