/* A tool that counts the calls that it sees, among those that the shim handles. It continues with PMPI_X, as the standard says; with DIRECT, it
 * bypasses libraries before the MPI by asking the loader alternately for the next MPI_X and the next PMPI_X. At the end of a process that made calls,
 * it writes the counts to the file $COUNT_CALLS.RANK, one per line. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Integers and pointers, without MPI's types: mpi.h is not included. */
typedef unsigned long word;

#define TYPES1 word a
#define TYPES2 TYPES1, word b
#define TYPES3 TYPES2, word c
#define TYPES4 TYPES3, word d
#define TYPES5 TYPES4, word e
#define TYPES6 TYPES5, word f
#define TYPES7 TYPES6, word g
#define TYPES8 TYPES7, word h
#define TYPES9 TYPES8, word i
#define TYPES10 TYPES9, word j
#define TYPES12 TYPES10, word k, word l

#define NAMES1 a
#define NAMES2 NAMES1, b
#define NAMES3 NAMES2, c
#define NAMES4 NAMES3, d
#define NAMES5 NAMES4, e
#define NAMES6 NAMES5, f
#define NAMES7 NAMES6, g
#define NAMES8 NAMES7, h
#define NAMES9 NAMES8, i
#define NAMES10 NAMES9, j
#define NAMES12 NAMES10, k, l

#define CALLS(CALL)                                                                                                    \
  CALL(Init, 2) CALL(Init_thread, 4)                                                                                   \
  CALL(Send, 6) CALL(Bsend, 6) CALL(Ssend, 6) CALL(Rsend, 6)                                                           \
  CALL(Isend, 7) CALL(Ibsend, 7) CALL(Issend, 7) CALL(Irsend, 7)                                                       \
  CALL(Recv, 7) CALL(Irecv, 7) CALL(Mrecv, 5) CALL(Imrecv, 5)                                                          \
  CALL(Sendrecv, 12) CALL(Sendrecv_replace, 9)                                                                         \
  CALL(Send_init, 7) CALL(Bsend_init, 7) CALL(Ssend_init, 7) CALL(Rsend_init, 7) CALL(Recv_init, 7)                    \
  CALL(Start, 1) CALL(Startall, 2)                                                                                     \
  CALL(Probe, 4) CALL(Iprobe, 5) CALL(Mprobe, 5) CALL(Improbe, 6)                                                      \
  CALL(Wait, 2) CALL(Waitall, 3) CALL(Waitany, 4) CALL(Waitsome, 5)                                                    \
  CALL(Test, 3) CALL(Testall, 4) CALL(Testany, 5) CALL(Testsome, 5)                                                    \
  CALL(Request_get_status, 3) CALL(Cancel, 1) CALL(Request_free, 1) CALL(Buffer_detach, 2)                             \
  CALL(Bcast, 5) CALL(Ibcast, 6) CALL(Gather, 8) CALL(Igather, 9) CALL(Gatherv, 9) CALL(Igatherv, 10)                  \
  CALL(Scatter, 8) CALL(Iscatter, 9) CALL(Scatterv, 9) CALL(Iscatterv, 10)                                             \
  CALL(Allgather, 7) CALL(Iallgather, 8) CALL(Allgatherv, 8) CALL(Iallgatherv, 9)                                      \
  CALL(Alltoall, 7) CALL(Ialltoall, 8) CALL(Alltoallv, 9) CALL(Ialltoallv, 10) CALL(Alltoallw, 9) CALL(Ialltoallw, 10) \
  CALL(Comm_set_info, 2) CALL(Comm_dup_with_info, 3) CALL(Comm_split_type, 5)                                          \
  CALL(Reduce, 7) CALL(Allreduce, 6) CALL(Iallreduce, 7) CALL(Scan, 6)

#ifdef DIRECT
#define FUNCTION(name, count) static int (*next_##name[2])(TYPES##count);
CALLS(FUNCTION)
#define NEXT(name, turn)                                                                                               \
  (next_##name[turn]                                                                                                   \
       ? next_##name[turn]                                                                                             \
       : (*(void **)&next_##name[turn] = dlsym(RTLD_NEXT, (turn) ? "PMPI_" #name : "MPI_" #name), next_##name[turn]))
#else
#define FUNCTION(name, count) int PMPI_##name(TYPES##count);
CALLS(FUNCTION)
#define NEXT(name, turn) ((void)(turn), PMPI_##name)
#endif

#define WRAPPER(name, count)                                                                                           \
  static atomic_ulong count_##name;                                                                                    \
  int MPI_##name(TYPES##count)                                                                                         \
  {                                                                                                                    \
    int turn = count_##name++ % 2;                                                                                     \
    return NEXT(name, turn)(NAMES##count);                                                                             \
  }
CALLS(WRAPPER)

__attribute__((destructor)) static void write_down(void)
{
  const char *prefix = getenv("COUNT_CALLS"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank)
    rank = getenv("PMI_RANK");
  if (!prefix || !rank || count_Init + count_Init_thread == 0)
    return;
  char name[4096];
  snprintf(name, sizeof name, "%s.%s", prefix, rank);
  FILE *file = fopen(name, "w");
  if (!file)
    abort();
#define LINE(name, count) fprintf(file, #name " %lu\n", (unsigned long)count_##name);
  CALLS(LINE)
  fclose(file);
}
