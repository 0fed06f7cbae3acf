/* Communicators from a session, and others derived from these, before MPI_Init and after it. All ranks use them, finalize the world, and continue to
 * use them. Messages and a collective are pending meanwhile. (All ranks finalize at the same time, since Open MPI waits for all of them.) */
#include "../observe.h"

#include <stdio.h>

#if MPI_VERSION >= 4

enum { COUNT = 5000, LONG = 50000, TAG = 3, MOST = 20 };
enum { ROWS = 20, COLUMNS = 300, FLOATS = 3, ALL = ROWS * COLUMNS * FLOATS };

static struct {
  const char *name;
  MPI_Comm comm;
} made[MOST];
static int count;

/* The communicator that was made last. */
static MPI_Comm last(void)
{
  return made[count - 1].comm;
}

static MPI_Comm *place(const char *name)
{
  made[count].name = name;
  return &made[count++].comm;
}

static void make_all(MPI_Group group)
{
  MPI_Comm first = made[0].comm, part, from;
  MPI_Group members;
  MPI_Request request;
  int lengths[] = {size}, periods[] = {0}, kept[] = {1}, degrees[MOST], edges[MOST], other = (rank + 1) % size, one = 1;
  MPI_Comm_dup(first, place("dup"));
  MPI_Comm_idup(first, place("idup"), &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_dup_with_info(first, MPI_INFO_NULL, place("dup_with_info"));
  MPI_Comm_split(first, 0, rank, place("split"));
  MPI_Comm_group(first, &members);
  MPI_Comm_create(first, members, place("create"));
  MPI_Comm_create_group(first, members, 1, place("create_group"));
  MPI_Group_free(&members);
  MPI_Cart_create(first, 1, lengths, periods, 0, place("cart"));
  from = last();
  MPI_Cart_sub(from, kept, place("cart_sub"));
  for (int i = 0; i < size; i++) {
    degrees[i] = i + 1;
    edges[i] = (i + 1) % size;
  }
  MPI_Graph_create(first, size, degrees, edges, 0, place("graph"));
  MPI_Dist_graph_create(first, 1, &rank, &one, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, place("dist_graph"));
  MPI_Dist_graph_create_adjacent(first, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 place("dist_graph_adjacent"));
  from = last();
  MPI_Comm_dup(from, place("dup of dist_graph"));
  /* Two groups of one rank each, which is rank 0 there. */
  MPI_Comm_split(first, rank, 0, &part);
  MPI_Intercomm_create(part, 0, first, other, 5, place("inter"));
  MPI_Comm_free(&part);
  from = last();
  MPI_Intercomm_merge(from, rank, place("merged"));
  MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, place("from_group"));
  for (int i = 0; i < count; i++)
    MPI_Comm_set_errhandler(made[i].comm, MPI_ERRORS_RETURN);
}

/* Messages in both directions, and collectives. */
static void use(const char *when, int i)
{
  MPI_Comm comm = made[i].comm;
  int inter, to = peer;
  MPI_Comm_test_inter(comm, &inter);
  if (inter)
    to = 0;
  memory m = memory_new(COUNT * 16);
  double *data = (double *)m.data;
  MPI_Status status;
  begin("%s, %s:", when, made[i].name);
  blank(&status);
  fill(m.data, m.room, SMOOTH, (uint64_t)(i * 2 + rank));
  if (role == SENDER)
    note_code(MPI_Send(data, COUNT, MPI_DOUBLE, to, TAG, comm));
  note_code(role == SENDER ? MPI_Recv(data, COUNT, MPI_DOUBLE, to, TAG, comm, &status)
                           : MPI_Recv(data + COUNT, COUNT, MPI_DOUBLE, to, TAG, comm, &status));
  if (role == RECEIVER)
    note_code(MPI_Send(data, COUNT, MPI_DOUBLE, to, TAG, comm));
  note_status(&status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(&m));
  if (!inter) {
    note_code(MPI_Bcast(data, COUNT, MPI_DOUBLE, 0, comm));
    note_code(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, COUNT, MPI_DOUBLE, comm));
    note(" data=%016lx", (unsigned long)digest(&m));
  }
  end();
  memory_free(&m);
}

/* Messages that are long enough for chunks, and collectives whose messages the shim sends over a communicator of its own. */
static void use_long(const char *when, int i)
{
  MPI_Comm comm = made[i].comm;
  size_t room = (size_t)size * LONG * 8;
  memory from = memory_new(room), to = memory_new(room);
  MPI_Status status;
  begin("%s, long, %s:", when, made[i].name);
  blank(&status);
  fill(from.data, from.room, SMOOTH, (uint64_t)(i * 2 + rank));
  note_code(MPI_Sendrecv(from.data, LONG, MPI_DOUBLE, peer, TAG, to.data, LONG, MPI_DOUBLE, peer, TAG, comm, &status));
  note_status(&status, MPI_DOUBLE);
  note(" data=%016lx", (unsigned long)digest(&to));
  note_code(MPI_Alltoall(from.data, LONG, MPI_DOUBLE, to.data, LONG, MPI_DOUBLE, comm));
  note(" data=%016lx", (unsigned long)digest(&to));
  note_code(MPI_Gather(from.data, LONG, MPI_DOUBLE, to.data, LONG, MPI_DOUBLE, size - 1, comm));
  note(" data=%016lx", (unsigned long)digest(&to));
  note_code(MPI_Allgather(from.data, LONG, MPI_DOUBLE, to.data, LONG, MPI_DOUBLE, comm));
  note(" data=%016lx", (unsigned long)digest(&to));
  note_code(MPI_Allreduce(from.data, to.data, LONG, MPI_UINT64_T, MPI_BXOR, comm));
  note(" data=%016lx", (unsigned long)digest(&to));
  note_code(MPI_Bcast(from.data, LONG, MPI_DOUBLE, 0, comm));
  note(" data=%016lx", (unsigned long)digest(&from));
  end();
  memory_free(&from);
  memory_free(&to);
}

/* The end of the world, while messages of the sender are pending that are received only after it, and a collective. */
static void end_world(MPI_Comm comm)
{
  enum { SENT, SHORT, BOTH, COLLECTIVE, REQUESTS };
  size_t room = (size_t)size * LONG * 8;
  memory from = memory_new(room), to = memory_new(room), out = memory_new(LONG * 8), in = memory_new(LONG * 8);
  MPI_Request requests[REQUESTS];
  MPI_Status status;
  for (int i = 0; i < REQUESTS; i++)
    requests[i] = MPI_REQUEST_NULL;
  begin("meanwhile:");
  blank(&status);
  fill(from.data, from.room, SMOOTH, (uint64_t)rank);
  fill(out.data, out.room, SMOOTH, (uint64_t)(2 + rank));
  if (role == SENDER) {
    MPI_Isend(out.data, LONG, MPI_DOUBLE, peer, TAG, comm, &requests[SENT]);
    MPI_Isend(out.data, COUNT, MPI_DOUBLE, peer, TAG, comm, &requests[SHORT]);
    MPI_Isendrecv(out.data, LONG, MPI_DOUBLE, peer, TAG, in.data, LONG, MPI_DOUBLE, peer, TAG, comm, &requests[BOTH]);
  }
  MPI_Ialltoall(from.data, LONG, MPI_DOUBLE, to.data, LONG, MPI_DOUBLE, comm, &requests[COLLECTIVE]);
  note_code(MPI_Finalize());
  if (role == RECEIVER) {
    for (int i = 0; i < 2; i++) {
      note_code(MPI_Recv(in.data, i ? COUNT : LONG, MPI_DOUBLE, peer, TAG, comm, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&in));
    }
    MPI_Isendrecv(out.data, LONG, MPI_DOUBLE, peer, TAG, in.data, LONG, MPI_DOUBLE, peer, TAG, comm, &requests[BOTH]);
  }
  note_code(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE));
  note(" data=%016lx,%016lx", (unsigned long)digest(&in), (unsigned long)digest(&to));
  end();
  memory_free(&from);
  memory_free(&to);
  memory_free(&out);
  memory_free(&in);
}

/* A datatype for which the shim would become active in a job on one node, if the world had not ended (`machine.c`). */
static void use_columns(MPI_Comm comm)
{
  static float table[ALL];
  memory in = memory_new(sizeof table);
  MPI_Datatype column, columns;
  MPI_Status status;
  begin("columns:");
  blank(&status);
  MPI_Type_vector(ROWS, FLOATS, COLUMNS * FLOATS, MPI_FLOAT, &column);
  MPI_Type_create_hvector(COLUMNS, 1, FLOATS * sizeof(float), column, &columns);
  MPI_Type_commit(&columns);
  MPI_Type_free(&column);
  for (int i = 0; i < ALL; i++)
    table[i] = (float)(i + rank);
  note_code(MPI_Sendrecv(table, 1, columns, peer, TAG, in.data, 1, columns, peer, TAG, comm, &status));
  note_status(&status, columns);
  note(" data=%016lx", (unsigned long)digest(&in));
  MPI_Type_free(&columns);
  end();
  memory_free(&in);
}

static void use_all(const char *when)
{
  for (int i = 0; i < count; i++)
    use(when, i);
  /* The first one, its duplicate, and that made last. */
  use_long(when, 0);
  use_long(when, 2);
  use_long(when, count - 1);
}

int main(int argc, char **argv)
{
  MPI_Session session;
  MPI_Group group;
  MPI_Comm early;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, place("before"));
  MPI_Comm_split(made[0].comm, 0, 0, &early);
  *place("split before") = early;
  job_begin(&argc, &argv, 1);
  scene("sessions", 60);
  make_all(group);
  use_all("with the world");
  end_world(made[0].comm);
  use_all("after the world");
  use_columns(made[0].comm);
  for (int i = 0; i < count; i++)
    MPI_Comm_free(&made[i].comm);
  log_close();
  if (rank == 0) {
    printf("done\n");
    fflush(stdout);
  }
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return 0;
}

#else

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  begin("this MPI has no sessions");
  end();
  return job_end();
}

#endif
