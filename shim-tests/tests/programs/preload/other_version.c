/* An MPI of a later standard. */
#include <mpi.h>

int PMPI_Get_version(int *version, int *subversion)
{
  *version = 6;
  *subversion = 0;
  return MPI_SUCCESS;
}

int MPI_Get_version(int *version, int *subversion)
{
  return PMPI_Get_version(version, subversion);
}
