/* The program's error handler leaves a call by longjmp, as a program may do to end a long computation; later calls work normally, also by their other
 * names, as Fortran bindings make them. (No standard guarantees longjmp through the frames of a library, but it works with both MPIs.) */
#include "../observe.h"

#include <limits.h>
#include <setjmp.h>

enum { COUNT = 4000, LONG = COUNT * 16, TAG = 8, NO_TAG = -1000 };

static jmp_buf back;
static MPI_Comm comm;
static MPI_Errhandler errhandler;

static void leave(MPI_Comm *failed, int *code, ...)
{
  (void)failed;
  longjmp(back, class_of(*code));
}

/* Lengths that the MPI itself finds too long, and one that is shorter than the room while it is compressed. */
static void receives(void)
{
  static const int rooms[] = {COUNT - 1, 1000, 130};
  for (volatile int i = 0; i < 6; i++) {
    memory m = memory_new(COUNT * 8);
    begin("%d:", i);
    if (rank == 0) {
      fill(m.data, m.room, i % 2 ? RANDOM : SMOOTH, (uint64_t)i);
      for (int n = 0; n < 3; n++)
        MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm);
    } else {
      MPI_Status status;
      MPI_Comm_set_errhandler(comm, errhandler);
      int class = setjmp(back);
      if (class == 0)
        note_code(MPI_Recv(m.data, rooms[i / 2], MPI_DOUBLE, peer, TAG, comm, &status));
      else
        note(" came back with class %d", class);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      blank(&status);
      note_code(PMPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
      blank(&status);
      note_code(MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
}

/* The handler leaves the completion of a request. The MPI has freed the request and gives its handle to a new one, and the program reuses its memory:
 * for a short message, and for the long one again. */
static void completions(void)
{
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler); /* MPICH */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  for (volatile int i = 0; i < 6; i++) {
    memory m = memory_new(LONG * 8);
    volatile int count = i % 2 ? LONG : COUNT;
    begin("request %d:", i);
    if (rank == 0) {
      double one = i;
      fill(m.data, m.room, i / 2 ? RANDOM : SMOOTH, (uint64_t)i);
      MPI_Send(m.data, count, MPI_DOUBLE, peer, TAG, comm);
      MPI_Send(&one, 1, MPI_DOUBLE, peer, TAG, comm);
      MPI_Send(m.data, count, MPI_DOUBLE, peer, TAG, comm);
      MPI_Send(m.data, count, MPI_DOUBLE, peer, TAG, comm);
    } else {
      MPI_Status status;
      MPI_Request request;
      double one = -1;
      MPI_Comm_set_errhandler(comm, errhandler);
      int class = setjmp(back);
      if (class == 0) {
        MPI_Irecv(m.data, count / 2, MPI_DOUBLE, peer, TAG, comm, &request);
        note_code(MPI_Wait(&request, &status));
      } else
        note(" came back with class %d", class);
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      blank(&status);
      MPI_Irecv(&one, 1, MPI_DOUBLE, peer, TAG, comm, &request);
      note_code(MPI_Wait(&request, &status));
      note_status(&status, MPI_DOUBLE);
      note(" one=%g", one);
      blank(&status);
      MPI_Irecv(m.data, count, MPI_DOUBLE, peer, TAG, comm, &request);
      note_code(MPI_Wait(&request, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
      blank(&status);
      PMPI_Irecv(m.data, count, MPI_DOUBLE, peer, TAG, comm, &request);
      note_code(PMPI_Wait(&request, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The handler leaves a send that the MPI refuses. */
static void refused_send(void)
{
  int *most, found;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  memory m = memory_new(COUNT * 8);
  begin("refused:");
  fill(m.data, m.room, SMOOTH, 9);
  if (rank == 0)
    MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm);
  else {
    MPI_Request request;
    MPI_Comm_set_errhandler(comm, errhandler);
    int class = setjmp(back);
    if (class == 0 && *most < INT_MAX)
      MPI_Isend(m.data, COUNT, MPI_DOUBLE, peer, *most + 1, comm, &request);
    note(" came back with class %d", class);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    memory_free(&m);
    m = memory_new(COUNT * 8);
    MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm, MPI_STATUS_IGNORE);
    note(" data=%016lx", (unsigned long)digest(&m));
  }
  end();
  memory_free(&m);
}

/* From now on, the handler leaves calls of the receiver that fail. */
static void leave_on_errors(void)
{
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
}

static void return_errors(void)
{
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/* The message received is too long. That of the receiver has arrived before. */
static void exchanges(void)
{
  for (volatile int i = 0; i < 4; i++) {
    memory out = memory_new(LONG * 8), in = memory_new(LONG * 8);
    volatile int count = i % 2 ? LONG : COUNT;
    MPI_Status status;
    begin("exchange %d:", i);
    fill(out.data, out.room, i / 2 ? RANDOM : SMOOTH, (uint64_t)(2 * i + rank));
    if (rank == 0) {
      MPI_Recv(in.data, count, MPI_DOUBLE, peer, TAG, comm, MPI_STATUS_IGNORE);
      MPI_Send(out.data, count, MPI_DOUBLE, peer, TAG, comm);
    } else {
      leave_on_errors();
      int class = setjmp(back);
      if (class == 0)
        note_code(MPI_Sendrecv(out.data, count, MPI_DOUBLE, peer, TAG, in.data, count / 2, MPI_DOUBLE, peer, TAG, comm,
                               &status));
      else
        note(" came back with class %d", class);
      return_errors();
    }
    blank(&status);
    note_code(PMPI_Sendrecv(out.data, count, MPI_DOUBLE, peer, TAG, in.data, count, MPI_DOUBLE, peer, TAG, comm,
                            &status));
    note_status(&status, MPI_DOUBLE);
    note(" data=%016lx", (unsigned long)digest_bytes(in.data, (size_t)count * 8));
    end();
    memory_free(&out);
    memory_free(&in);
  }
}

/* A call starts a request that is null. */
static void starts(void)
{
  for (volatile int i = 0; i < 2; i++) {
    memory m[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    begin("start %d:", i);
    for (int n = 0; n < 2; n++) {
      m[n] = memory_new(COUNT * 8);
      if (rank == 0) {
        fill(m[n].data, m[n].room, SMOOTH, (uint64_t)(2 * i + n));
        MPI_Send_init(m[n].data, COUNT, MPI_DOUBLE, peer, TAG, comm, &requests[n]);
      } else
        MPI_Recv_init(m[n].data, COUNT, MPI_DOUBLE, peer, TAG, comm, &requests[n]);
    }
    if (rank == 1) {
      MPI_Request with_null[2] = {MPI_REQUEST_NULL, requests[0]};
      leave_on_errors();
      int class = setjmp(back);
      if (class == 0)
        note_code(i ? MPI_Startall(2, with_null) : MPI_Start(&with_null[0]));
      else
        note(" came back with class %d", class);
      return_errors();
    }
    blank_all(statuses, 2);
    note_code(PMPI_Start(&requests[0]));
    note_code(PMPI_Startall(1, &requests[1]));
    note_code(MPI_Waitall(2, requests, statuses));
    for (int n = 0; n < 2; n++) {
      if (rank == 1)
        note_status(&statuses[n], MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m[n]));
      MPI_Request_free(&requests[n]);
      memory_free(&m[n]);
    }
    end();
  }
}

/* A probe with a wrong tag. */
static void probes(void)
{
  for (volatile int i = 0; i < 2; i++) {
    memory m = memory_new(COUNT * 8);
    begin("probe %d:", i);
    if (rank == 0) {
      fill(m.data, m.room, SMOOTH, (uint64_t)i);
      MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm);
    } else {
      MPI_Message message;
      MPI_Status status;
      leave_on_errors();
      int class = setjmp(back);
      if (class == 0)
        note_code(i ? MPI_Mprobe(peer, NO_TAG, comm, &message, &status) : MPI_Probe(peer, NO_TAG, comm, &status));
      else
        note(" came back with class %d", class);
      return_errors();
      blank(&status);
      note_code(i ? PMPI_Mprobe(peer, TAG, comm, &message, &status) : PMPI_Probe(peer, TAG, comm, &status));
      note_status(&status, MPI_DOUBLE);
      blank(&status);
      note_code(i ? PMPI_Mrecv(m.data, COUNT, MPI_DOUBLE, &message, &status)
                  : PMPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
}

/* A broadcast from no rank, and a gather of a negative count. The other rank is in the next call of the same kind. */
static void collectives(void)
{
  for (volatile int i = 0; i < 2; i++) {
    memory from = memory_new(LONG * 8), to = memory_new(LONG * 8 * 2);
    begin("collective %d:", i);
    fill(from.data, from.room, SMOOTH, (uint64_t)(2 * i + rank));
    if (rank == 1) {
      leave_on_errors();
      int class = setjmp(back);
      if (class == 0)
        note_code(i ? MPI_Gather(from.data, -1, MPI_DOUBLE, to.data, LONG, MPI_DOUBLE, 1, comm)
                    : MPI_Bcast(from.data, LONG, MPI_DOUBLE, size, comm));
      else
        note(" came back with class %d", class);
      return_errors();
    }
    note_code(i ? PMPI_Gather(from.data, LONG, MPI_DOUBLE, to.data, LONG, MPI_DOUBLE, 1, comm)
                : PMPI_Bcast(from.data, LONG, MPI_DOUBLE, 0, comm));
    note(" data=%016lx,%016lx", (unsigned long)digest(&from), (unsigned long)digest(&to));
    end();
    memory_free(&from);
    memory_free(&to);
  }
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("jump", 30);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(leave, &errhandler);
  receives();
  completions();
  refused_send();
  exchanges();
  starts();
  probes();
  collectives();
  MPI_Errhandler_free(&errhandler);
  MPI_Comm_free(&comm);
  return job_end();
}
