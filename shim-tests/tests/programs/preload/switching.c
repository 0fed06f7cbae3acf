/* An MPI that lets other user-level threads run inside its calls, as MPICH does over Argobots: the program sets a function, which the next of these calls
 * calls once, at its beginning or at its end. Preloaded after the shim. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stddef.h>

void (*switch_before)(void) = NULL, (*switch_after)(void) = NULL;

static void run(void (**place)(void))
{
  void (*now)(void) = *place;
  *place = NULL;
  if (now)
    now();
}

#define CALL(name, arguments, ...)                                                                                     \
  int PMPI_##name arguments                                                                                            \
  {                                                                                                                    \
    __typeof__(PMPI_##name) *next = (__typeof__(PMPI_##name) *)dlsym(RTLD_NEXT, "PMPI_" #name);                        \
    run(&switch_before);                                                                                               \
    int code = next(__VA_ARGS__);                                                                                      \
    run(&switch_after);                                                                                                \
    return code;                                                                                                       \
  }                                                                                                                    \
  int MPI_##name arguments                                                                                             \
  {                                                                                                                    \
    return PMPI_##name(__VA_ARGS__);                                                                                   \
  }

CALL(Send, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm), buf, count, type, dest, tag,
     comm)
CALL(Wait, (MPI_Request * request, MPI_Status *status), request, status)
