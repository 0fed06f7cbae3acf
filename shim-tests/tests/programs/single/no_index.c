/* MPI_Waitany and MPI_Testany refuse a handle that is no request. They leave the index unchanged: it is that of a pending receive, which later
 * completes. */
#include "../observe.h"

enum { COUNT = 4000, TAG = 5 };

/* A handle that the MPI is sure to refuse. */
static MPI_Request no_request(void)
{
#ifdef OPEN_MPI
  return (MPI_Request)0;
#else
  return (MPI_Request)0x2f000001;
#endif
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int tests = 0; tests < 2; tests++) {
    memory m = memory_new(COUNT * 8);
    scene(tests ? "Testany" : "Waitany", 30);
    begin("%d:", tests);
    if (role == SENDER) {
      fill(m.data, m.room, SMOOTH, 1);
      MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    } else {
      MPI_Request requests[2] = {MPI_REQUEST_NULL, no_request()};
      MPI_Status status;
      int index = 0, flag = 0;
      MPI_Irecv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
      if (tests)
        note_code(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE));
      else
        note_code(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
      note(" index=%d", index);
      MPI_Send(NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
      blank(&status);
      note_code(MPI_Wait(&requests[0], &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
  return job_end();
}
