/* An MPI that says it is a later one. */
#include <mpi.h>

#include <string.h>

#ifdef OPEN_MPI
static const char text[] = "Open MPI v99.0.0, package: none";
#else
static const char text[] = "MPICH Version:\t99.0.0\nMPICH Release date:\tnone";
#endif

int PMPI_Get_library_version(char *version, int *len)
{
  strcpy(version, text);
  *len = (int)strlen(text);
  return MPI_SUCCESS;
}

int MPI_Get_library_version(char *version, int *len)
{
  return PMPI_Get_library_version(version, len);
}
