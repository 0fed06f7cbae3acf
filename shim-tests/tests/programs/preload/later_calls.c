/* An MPI that has calls of later standards: a shim that does not know them cannot follow its messages. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>

#if MPI_VERSION < 4 || (MPI_VERSION == 4 && MPI_SUBVERSION < 1)
#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

int PMPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status *statuses)
{
  *flag = 1;
  for (int i = 0; i < count; i++) {
    int done;
    int code = NEXT(PMPI_Request_get_status)(requests[i], &done, statuses == MPI_STATUSES_IGNORE ? statuses : &statuses[i]);
    if (code != MPI_SUCCESS)
      return code;
    *flag &= done;
  }
  return MPI_SUCCESS;
}

int MPI_Request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status *statuses)
{
  return PMPI_Request_get_status_all(count, requests, flag, statuses);
}

#if MPI_VERSION < 4
/* The request is that of the receive; the send is not tracked. */
int PMPI_Isendrecv(const void *out, int outcount, MPI_Datatype outtype, int dest, int outtag, void *in, int incount,
                   MPI_Datatype intype, int source, int intag, MPI_Comm comm, MPI_Request *request)
{
  MPI_Request send;
  int code = NEXT(PMPI_Irecv)(in, incount, intype, source, intag, comm, request);
  if (code == MPI_SUCCESS)
    code = NEXT(PMPI_Isend)(out, outcount, outtype, dest, outtag, comm, &send);
  if (code == MPI_SUCCESS)
    code = NEXT(PMPI_Request_free)(&send);
  return code;
}

int MPI_Isendrecv(const void *out, int outcount, MPI_Datatype outtype, int dest, int outtag, void *in, int incount,
                  MPI_Datatype intype, int source, int intag, MPI_Comm comm, MPI_Request *request)
{
  return PMPI_Isendrecv(out, outcount, outtype, dest, outtag, in, incount, intype, source, intag, comm, request);
}
#endif
#endif
