/* Counts the sends of packed bytes that reach the MPI. Preloaded after the shim. The program reads the count by `packed_sends`. */
#include <mpi.h>

static int count;

int packed_sends(void)
{
  return count;
}

int MPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  count += type == MPI_PACKED;
  return PMPI_Send(data, n, type, to, tag, comm);
}

int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
  count += type == MPI_PACKED;
  return PMPI_Isend(data, n, type, to, tag, comm, request);
}
