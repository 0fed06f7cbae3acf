/* A network that damages frames. Preloaded after the shim, it changes the frames that the shim gives to the MPI: it flips a bit of one, cuts off the
 * end of the next, and so on, but only while `damage_frames` is set. The copies it makes are never freed. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int damage_frames = 0, damaged_frames = 0;

enum { HEADER = 32, SHORTEST = 1021 };

/* A frame of any version: it holds the mark twice, and its codec is not 0. */
static int is_frame(const void *buf, int count, MPI_Datatype type)
{
  const unsigned char *bytes = buf;
  return type == MPI_BYTE && count > HEADER && memcmp(bytes, bytes + 16, 8) == 0 && bytes[9] != 0;
}

/* The buffer to send instead. If the receiver knows the lengths, `count` is NULL. The shortest frames are not cut: receivers do not examine messages
 * that are shorter than these (docs/format/frame.md). */
static const void *damaged(const void *buf, int len, int *count, MPI_Datatype type)
{
  if (!damage_frames || !is_frame(buf, len, type))
    return buf;
  char *copy = malloc((size_t)len);
  if (!copy)
    abort();
  memcpy(copy, buf, (size_t)len);
  int way = damaged_frames++ % 3;
  if (way == 0)
    copy[len / 2] ^= 16;
  else if (way == 1)
    copy[HEADER - 8] ^= 1;
  else if (count && len > SHORTEST)
    *count = len - 1;
  else
    copy[len - 1] ^= 1;
  return copy;
}

#define NEXT(name) (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define SEND(name)                                                                                                   \
  int name(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)                          \
  {                                                                                                                  \
    __typeof__(name) *next = NEXT(name);                                                                             \
    buf = damaged(buf, count, &count, type);                                                                         \
    return next(buf, count, type, dest, tag, comm);                                                                  \
  }

#define ISEND(name)                                                                                                  \
  int name(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)    \
  {                                                                                                                  \
    __typeof__(name) *next = NEXT(name);                                                                             \
    buf = damaged(buf, count, &count, type);                                                                         \
    return next(buf, count, type, dest, tag, comm, request);                                                         \
  }

SEND(PMPI_Send)
SEND(PMPI_Ssend)
SEND(PMPI_Rsend)
ISEND(PMPI_Isend)
ISEND(PMPI_Issend)
ISEND(PMPI_Irsend)
ISEND(PMPI_Ibsend)

int PMPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  __typeof__(PMPI_Bcast) *next = NEXT(PMPI_Bcast);
  int own;
  PMPI_Comm_rank(comm, &own);
  return next(own == root ? (void *)damaged(buf, count, NULL, type) : buf, count, type, root, comm);
}

int PMPI_Allgatherv(const void *buf, int count, MPI_Datatype type, void *in, const int *counts, const int *places,
                    MPI_Datatype intype, MPI_Comm comm)
{
  __typeof__(PMPI_Allgatherv) *next = NEXT(PMPI_Allgatherv);
  return next(damaged(buf, count, NULL, type), count, type, in, counts, places, intype, comm);
}
