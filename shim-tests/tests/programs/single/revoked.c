/* One rank revokes a communicator (ULFM) while others are in a collective on it, which they leave with an error. With an MPI that cannot revoke, all
 * ranks make the collective. */
#include "../observe.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 1 << 14 };

int main(int argc, char **argv)
{
  MPI_Comm comm;
  job_begin(&argc, &argv, 1);
  scene("revoked", 30);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  double *from = calloc((size_t)size * COUNT, 8), *to = calloc((size_t)size * COUNT, 8);
  begin("all-to-all");
  note_code(MPI_Alltoall(from, COUNT, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, comm));
  end();
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
  if (rank == size - 1) {
    sleep(1);
    MPIX_Comm_revoke(comm);
  } else {
    int class;
    MPI_Error_class(MPI_Alltoall(from, COUNT, MPI_DOUBLE, to, COUNT, MPI_DOUBLE, comm), &class);
    begin("revoked=%d", class == MPIX_ERR_REVOKED);
    end();
  }
#endif
  /* Open MPI 5 forgets to tell others when it frees a communicator at once. */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  free(from);
  free(to);
  return job_end();
}
