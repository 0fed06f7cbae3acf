/* An MPI that accepts buffers in a GPU's memory. Preloaded after the shim, it treats them as such an MPI does: it accesses them in a different way
 * (see gpu/memory.h). `gpu_sends` counts the messages that it was given there. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>

static const char *device;
static char *view;
static size_t device_len;
int gpu_sends = 0;

void gpu_memory(const void *start, void *host_view, size_t len)
{
  device = start;
  view = host_view;
  device_len = len;
}

static int is_device(const void *buf)
{
  return device && (const char *)buf >= device && (const char *)buf < device + device_len;
}

static void *reach(const void *buf)
{
  return is_device(buf) ? view + ((const char *)buf - device) : (void *)buf;
}

#define NEXT(name) ((__typeof__(name) *)dlsym(RTLD_NEXT, #name))

/* Both names of a function, of which the program calls one and the shim the other. */
#define BOTH(name, types, values)                                                                                    \
  int P##name types { return NEXT(P##name) values; }                                                                 \
  int name types { return NEXT(P##name) values; }
#define SENDING(name, types, values)                                                                                 \
  int P##name types { gpu_sends += to != MPI_PROC_NULL && is_device(buf); return NEXT(P##name) values; }                                    \
  int name types { gpu_sends += to != MPI_PROC_NULL && is_device(buf); return NEXT(P##name) values; }

#define SEND (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
#define ISEND (const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
#define IRECV (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)

SENDING(MPI_Send, SEND, (reach(buf), count, type, to, tag, comm))
SENDING(MPI_Ssend, SEND, (reach(buf), count, type, to, tag, comm))
SENDING(MPI_Isend, ISEND, (reach(buf), count, type, to, tag, comm, request))
BOTH(MPI_Send_init, ISEND, (reach(buf), count, type, to, tag, comm, request))
BOTH(MPI_Recv, (void *buf, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
     (reach(buf), count, type, from, tag, comm, status))
BOTH(MPI_Irecv, IRECV, (reach(buf), count, type, from, tag, comm, request))
BOTH(MPI_Recv_init, IRECV, (reach(buf), count, type, from, tag, comm, request))
BOTH(MPI_Mrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
     (reach(buf), count, type, message, status))
BOTH(MPI_Imrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
     (reach(buf), count, type, message, request))
BOTH(MPI_Sendrecv,
     (const void *buf, int count, MPI_Datatype type, int to, int tag, void *in, int room, MPI_Datatype intype, int from,
      int intag, MPI_Comm comm, MPI_Status *status),
     (reach(buf), count, type, to, tag, reach(in), room, intype, from, intag, comm, status))
#if MPI_VERSION >= 4
BOTH(MPI_Sendrecv_c,
     (const void *buf, MPI_Count count, MPI_Datatype type, int to, int tag, void *in, MPI_Count room, MPI_Datatype intype,
      int from, int intag, MPI_Comm comm, MPI_Status *status),
     (reach(buf), count, type, to, tag, reach(in), room, intype, from, intag, comm, status))
#endif
BOTH(MPI_Sendrecv_replace,
     (void *buf, int count, MPI_Datatype type, int to, int tag, int from, int intag, MPI_Comm comm, MPI_Status *status),
     (reach(buf), count, type, to, tag, from, intag, comm, status))
BOTH(MPI_Bcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm), (reach(buf), count, type, root, comm))
BOTH(MPI_Ibcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
     (reach(buf), count, type, root, comm, request))

#define ALL (const void *buf, int count, MPI_Datatype type, void *in, int room, MPI_Datatype intype, MPI_Comm comm)
#define ROOTED                                                                                                       \
  (const void *buf, int count, MPI_Datatype type, void *in, int room, MPI_Datatype intype, int root, MPI_Comm comm)
BOTH(MPI_Alltoall, ALL, (reach(buf), count, type, reach(in), room, intype, comm))
BOTH(MPI_Allgather, ALL, (reach(buf), count, type, reach(in), room, intype, comm))
BOTH(MPI_Allgatherv,
     (const void *buf, int count, MPI_Datatype type, void *in, const int *rooms, const int *places, MPI_Datatype intype,
      MPI_Comm comm),
     (reach(buf), count, type, reach(in), rooms, places, intype, comm))
BOTH(MPI_Gather, ROOTED, (reach(buf), count, type, reach(in), room, intype, root, comm))
BOTH(MPI_Scatter, ROOTED, (reach(buf), count, type, reach(in), room, intype, root, comm))
