/* A library that works without calls that the MPI may lack, like mpi4py's. */
#include <stddef.h>

typedef void function(void);

#define CALLS(X)                                                                                                                 \
  X(MPI_Send) X(PMPI_Recv) X(MPI_Send_c) X(MPI_Bcast_c) X(MPI_Isendrecv) X(MPI_Isendrecv_replace) X(MPI_Psend_init)              \
  X(MPI_Bcast_init) X(MPI_Comm_create_from_group) X(MPI_Request_get_status_any) X(PMPI_Request_get_status_all)                    \
  X(MPI_Buffer_flush) X(MPI_Session_flush_buffer)

#define DECLARE(name) extern function name __attribute__((weak));
CALLS(DECLARE)

#define ADDRESS(name) #name, name,
/* As data, which the loader fills in, and by the code below. */
static const void *const table[] = {CALLS(ADDRESS) NULL};

const void *const *weak_calls(void)
{
  return table;
}

int weak_call_is_there(void)
{
  return (MPI_Isendrecv != NULL) + 2 * (MPI_Send_c != NULL) + 4 * (MPI_Request_get_status_any != NULL);
}
