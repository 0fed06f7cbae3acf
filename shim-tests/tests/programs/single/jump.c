/* The program's error handler leaves a call by longjmp, as a program may do to end a long computation; later calls work normally. (No standard
 * guarantees longjmp through the frames of a library, but it works with both MPIs.) */
#include "../observe.h"

#include <limits.h>
#include <setjmp.h>

enum { COUNT = 4000, TAG = 8 };

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
  (void)comm;
  longjmp(back, class_of(*code));
}

int main(int argc, char **argv)
{
  MPI_Comm comm;
  MPI_Errhandler errhandler;
  job_begin(&argc, &argv, 1);
  scene("jump", 30);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(leave, &errhandler);
  /* Lengths that the MPI itself finds too long, and one that is shorter than the room while it is compressed. */
  static const int rooms[] = {COUNT - 1, 1000, 130};
  for (volatile int i = 0; i < 6; i++) {
    memory m = memory_new(COUNT * 8);
    begin("%d:", i);
    if (rank == 0) {
      fill(m.data, m.room, i % 2 ? RANDOM : SMOOTH, (uint64_t)i);
      MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm);
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
      note_code(MPI_Recv(m.data, COUNT, MPI_DOUBLE, peer, TAG, comm, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
  /* The handler leaves the completion of a request. The MPI has freed the request and gives its handle to a new one, and the program reuses its
   * memory: for a short message, and for the long one again. */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler); /* MPICH */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  for (volatile int i = 0; i < 6; i++) {
    memory m = memory_new(COUNT * 8 * 16);
    volatile int count = i % 2 ? COUNT * 16 : COUNT;
    begin("request %d:", i);
    if (rank == 0) {
      double one = i;
      fill(m.data, m.room, i / 2 ? RANDOM : SMOOTH, (uint64_t)i);
      MPI_Send(m.data, count, MPI_DOUBLE, peer, TAG, comm);
      MPI_Send(&one, 1, MPI_DOUBLE, peer, TAG, comm);
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
    }
    end();
    memory_free(&m);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  /* The handler leaves a send that the MPI refuses. */
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
  MPI_Errhandler_free(&errhandler);
  MPI_Comm_free(&comm);
  return job_end();
}
