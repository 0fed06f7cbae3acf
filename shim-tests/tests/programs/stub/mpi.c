/* An MPI that has only a few functions, and can be built under any name. With EXTRA it has one that no standard defines. */
#include <string.h>

#ifndef WHO
#define WHO "MPICH"
#endif

#define BOTH(name, arguments, body)                                                                                               \
  int PMPI_##name arguments { body return 0; }                                                                                    \
  int MPI_##name arguments { body return 0; }

BOTH(Send, (const void *data, int count, int type, int dest, int tag, int comm),
     (void)data; (void)count; (void)type; (void)dest; (void)tag; (void)comm;)
BOTH(Comm_rank, (int comm, int *rank), (void)comm; *rank = 0;)
BOTH(Get_version, (int *version, int *subversion), *version = 3; *subversion = 1;)
BOTH(Get_library_version, (char *text, int *len), strcpy(text, WHO); *len = (int)strlen(WHO);)
#ifdef EXTRA
BOTH(Teleport, (void), )
#endif
