/* An MPI with few tags. Preloaded after the shim. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
  static int most = 4095;
  static __typeof__(PMPI_Comm_get_attr) *next;
  if (!next)
    next = (__typeof__(PMPI_Comm_get_attr) *)dlsym(RTLD_NEXT, "PMPI_Comm_get_attr");
  int code = next(comm, key, value, found);
  if (code == MPI_SUCCESS && key == MPI_TAG_UB)
    *(int **)value = &most;
  return code;
}
