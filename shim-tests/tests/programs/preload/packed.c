/* Counts the sends of packed bytes that reach the MPI. Preloaded after the shim. The program reads the count by `packed_sends`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

/* Only PMPI_Send: if a tool has MPI_Send, the shim comes after it. */
static int count;

int packed_sends(void)
{
  return count;
}

int PMPI_Send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
  static __typeof__(PMPI_Send) *next;
  if (!next)
    next = (__typeof__(PMPI_Send) *)dlsym(RTLD_NEXT, "PMPI_Send");
  count += type == MPI_PACKED;
  return next(data, n, type, to, tag, comm);
}
