/* A rank that only sends a short message in a collective goes on although others have not come: the root of a scatter or broadcast, and all but the
 * root in a gather. (No standard says so, but MPIs do it, and programs would be slow otherwise.) Here the others come only after the early rank has
 * told them that it has gone on. */
#include "../observe.h"

enum { MOST = 400, TAG = 4 };

static double mine[MOST], all[2 * MOST];

/* The early rank makes the call, and tells the other one, which then makes it. */
static int comes_late(int early, MPI_Comm comm)
{
  if (rank != early)
    MPI_Recv(NULL, 0, MPI_BYTE, early, TAG, comm, MPI_STATUS_IGNORE);
  return rank != early;
}

static void tell(int early, MPI_Comm comm)
{
  if (rank == early)
    MPI_Send(NULL, 0, MPI_BYTE, 1 - early, TAG, comm);
}

static void use(const char *name, MPI_Comm comm)
{
  static const int lengths[] = {1, 200, MOST};
  for (int i = 0; i < 9; i++) {
    int n = lengths[i % 3], counts[2] = {n, n}, places[2] = {0, n};
    begin("%s %d of %d:", name, i, n);
    for (int k = 0; k < n; k++)
      mine[k] = all[k] = all[n + k] = rank + k + i;
    comes_late(1, comm);
    MPI_Gatherv(mine, n, MPI_DOUBLE, all, counts, places, MPI_DOUBLE, 0, comm);
    tell(1, comm);
    comes_late(1, comm);
    MPI_Gather(mine, n, MPI_DOUBLE, all, n, MPI_DOUBLE, 0, comm);
    tell(1, comm);
    comes_late(0, comm);
    MPI_Scatterv(all, counts, places, MPI_DOUBLE, mine, n, MPI_DOUBLE, 0, comm);
    tell(0, comm);
    comes_late(0, comm);
    MPI_Scatter(all, n, MPI_DOUBLE, mine, n, MPI_DOUBLE, 0, comm);
    tell(0, comm);
    comes_late(0, comm);
    MPI_Bcast(mine, n, MPI_DOUBLE, 0, comm);
    tell(0, comm);
    note(" %g %g", mine[0], mine[n - 1]);
    if (rank == 0)
      note(" %g %g", all[0], all[2 * n - 1]);
    end();
  }
}

int main(int argc, char **argv)
{
  MPI_Comm comm;
  job_begin(&argc, &argv, 1);
  scene("late root", 60);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  use("duplicate", comm);
  use("world", MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  return job_end();
}
