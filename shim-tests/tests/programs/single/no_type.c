/* Messages and collectives with a handle that is no datatype, on a communicator that returns errors: the call returns the MPI's error, and the
 * handler of MPI_COMM_WORLD, which would end the program, is not called. */
#include "../observe.h"

enum { COUNT = 2000, MOST = 16 };

static double out[MOST * COUNT], in[MOST * COUNT];

/* In each call all ranks have wrong arguments, so none waits. */
static void calls(MPI_Comm comm, MPI_Datatype sent, MPI_Datatype received)
{
  int counts[MOST], places[MOST];
  MPI_Datatype from[MOST], to[MOST];
  for (int i = 0; i < size; i++) {
    counts[i] = COUNT;
    places[i] = i * COUNT;
    from[i] = sent;
    to[i] = received;
  }
  note_code(MPI_Alltoall(out, COUNT, sent, in, COUNT, received, comm));
  note_code(MPI_Alltoallv(out, counts, places, sent, in, counts, places, received, comm));
  note_code(MPI_Alltoallw(out, counts, places, from, in, counts, places, to, comm));
  note_code(MPI_Allgather(out, COUNT, sent, in, COUNT, received, comm));
  note_code(MPI_Allgatherv(out, COUNT, sent, in, counts, places, received, comm));
}

static void messages(MPI_Comm comm, MPI_Datatype none)
{
  MPI_Request request;
  note_code(MPI_Send(out, COUNT, none, peer, 1, comm));
  note_code(MPI_Ssend(out, COUNT, none, peer, 1, comm));
  note_code(MPI_Isend(out, COUNT, none, peer, 1, comm, &request));
  note_code(MPI_Send_init(out, COUNT, none, peer, 1, comm, &request));
  note_code(MPI_Recv(in, COUNT, none, peer, 1, comm, MPI_STATUS_IGNORE));
  note_code(MPI_Irecv(in, COUNT, none, peer, 1, comm, &request));
  note_code(MPI_Recv_init(in, COUNT, none, peer, 1, comm, &request));
  note_code(MPI_Sendrecv(out, COUNT, none, peer, 1, in, COUNT, MPI_DOUBLE, peer, 1, comm, MPI_STATUS_IGNORE));
  note_code(MPI_Sendrecv(out, COUNT, MPI_DOUBLE, peer, 1, in, COUNT, none, peer, 1, comm, MPI_STATUS_IGNORE));
}

static void rooted_calls(MPI_Comm comm, MPI_Datatype none)
{
  int counts[MOST], places[MOST];
  for (int i = 0; i < size; i++) {
    counts[i] = COUNT;
    places[i] = i * COUNT;
  }
  note_code(MPI_Bcast(out, COUNT, none, 0, comm));
  note_code(MPI_Gather(out, COUNT, none, in, COUNT, none, 0, comm));
  note_code(MPI_Gatherv(out, COUNT, none, in, counts, places, none, 0, comm));
  note_code(MPI_Scatter(out, COUNT, none, in, COUNT, none, 0, comm));
  note_code(MPI_Scatterv(out, counts, places, none, in, COUNT, none, 0, comm));
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("no type", 60);
  if (size > MOST)
    give_up("more ranks than expected");
#ifdef OPEN_MPI
  /* Open MPI reads what any other handle points to. */
  MPI_Datatype none = MPI_DATATYPE_NULL;
#else
  MPI_Datatype none = (MPI_Datatype)MPI_SUM;
#endif
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  /* Before the ranks have agreed on anything, and afterwards. */
  for (int round = 0; round < 2; round++) {
    begin("round %d, sent:", round);
    calls(comm, none, MPI_DOUBLE);
    end();
    begin("round %d, received:", round);
    calls(comm, MPI_DOUBLE, none);
    end();
    begin("round %d, both:", round);
    calls(comm, none, none);
    rooted_calls(comm, none);
    end();
    begin("round %d, messages:", round);
    messages(comm, none);
    end();
    fill(out, sizeof out, SMOOTH, (uint64_t)(round + rank));
    begin("round %d, right:", round);
    for (int call = 0; call < 3; call++)
      note_code(MPI_Alltoall(out, COUNT, MPI_DOUBLE, in, COUNT, MPI_DOUBLE, comm));
    note(" in=%016lx", (unsigned long)digest_bytes(in, sizeof in));
    end();
  }
  MPI_Comm_free(&comm);
  return job_end();
}
