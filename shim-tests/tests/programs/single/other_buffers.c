/* A communicator with a buffer of its own (MPI 4.1): the call that detaches it does not wait for messages in the buffer of the process. */
#include "../observe.h"

#include <stdlib.h>

enum { COUNT = 1 << 20, SMALL = 1 << 18, TAG = 5, TOKEN = 6 };

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
static void send_buffered(MPI_Comm other, memory *m)
{
  int room = COUNT * 8 + MPI_BSEND_OVERHEAD, few = SMALL + 2 * MPI_BSEND_OVERHEAD, bytes;
  void *buffer = malloc((size_t)room), *small = malloc((size_t)few), *old;
  MPI_Buffer_attach(buffer, room);
  MPI_Bsend(m->data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
  MPI_Comm_attach_buffer(other, small, few);
  scene("nothing in it", 30);
  MPI_Comm_flush_buffer(other);
  MPI_Comm_detach_buffer(other, &old, &bytes);
  begin("detached bytes=%d same=%d", bytes == few, old == small);
  end();
  MPI_Send(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD);
  MPI_Buffer_flush();
  /* A call for the buffer of the process does not wait for the message in the communicator's buffer. */
  scene("the other way round", 30);
  MPI_Comm_attach_buffer(other, small, few);
  MPI_Bsend(m->data, SMALL / 8, MPI_DOUBLE, peer, TAG, other);
  MPI_Buffer_detach(&old, &bytes);
  begin("detached bytes=%d same=%d", bytes == room, old == buffer);
  end();
  MPI_Send(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD);
  MPI_Comm_detach_buffer(other, &old, &bytes);
  free(buffer);
  free(small);
}
#else
static void send_buffered(MPI_Comm other, memory *m)
{
  MPI_Request requests[2];
  MPI_Isend(m->data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD);
  MPI_Isend(m->data, SMALL / 8, MPI_DOUBLE, peer, TAG, other, &requests[1]);
  MPI_Send(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
#endif

static void receive(MPI_Comm comm, memory *m, int count)
{
  MPI_Recv(NULL, 0, MPI_BYTE, peer, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin("%d:", count);
  note_code(MPI_Recv(m->data, count, MPI_DOUBLE, peer, TAG, comm, MPI_STATUS_IGNORE));
  note(" data=%016lx", (unsigned long)digest(m));
  end();
}

int main(int argc, char **argv)
{
  MPI_Comm other;
  job_begin(&argc, &argv, 1);
  scene("buffers", 30);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  memory m = memory_new(COUNT * 8);
  if (role == SENDER) {
    /* Half of it is noise, so that its frame is long as well. */
    fill(m.data, m.room / 2, SMOOTH, 1);
    fill(m.data + m.room / 2, m.room / 2, RANDOM, 1);
    send_buffered(other, &m);
  } else {
    receive(MPI_COMM_WORLD, &m, COUNT);
    receive(other, &m, SMALL / 8);
  }
  memory_free(&m);
  MPI_Comm_free(&other);
  return job_end();
}
