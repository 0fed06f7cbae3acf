/* A layer that translates between ABIs: it has the functions of an MPI, and another MPI is loaded after it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

__attribute__((constructor)) static void load(void)
{
  dlopen(AFTER, RTLD_NOW | RTLD_LOCAL);
}

int PMPI_Comm_rank(int comm, int *rank)
{
  (void)comm;
  *rank = 7;
  return 0;
}

int PMPI_Send(const void *data, int count, int type, int dest, int tag, int comm)
{
  (void)data, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
  return 3;
}

int MPI_Send(const void *data, int count, int type, int dest, int tag, int comm)
{
  return PMPI_Send(data, count, type, dest, tag, comm);
}
