/* Memory does not grow with the number of messages: many short ones, which are not compressed, then long ones in every way for which the shim keeps
 * state.
 *
 *   memory PREFIX COUNT
 *
 * Prints, for each rank and phase, the resident KiB after a fifth of the messages and at the end, and the seconds
 * between these. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW = 50, LONG = 512, TAG = 1 };

static double out[LONG], into[LONG];

/* The result of a rank in a phase: resident KiB before and after, seconds. */
typedef struct {
  double before, after, seconds;
} finding;

static double resident_kib(void)
{
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2)
    give_up("/proc/self/statm cannot be read");
  fclose(file);
  return (double)(resident * (sysconf(_SC_PAGESIZE) / 1024));
}

/* A window of messages in each direction, each completed by itself or all together. */
static void exchange(int doubles, int together)
{
  if (together) {
    MPI_Request requests[2 * WINDOW];
    for (int i = 0; i < WINDOW; i++) {
      MPI_Irecv(into, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
      MPI_Isend(out, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[WINDOW + i]);
    }
    MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    return;
  }
  for (int i = 0; i < WINDOW; i++)
    if (role == SENDER) {
      MPI_Send(out, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
      MPI_Recv(into, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(into, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(into, doubles, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    }
}

static void words(int window)
{
  exchange(1, window % 2);
}

static void half_kib(int window)
{
  exchange(64, window % 2);
}

/* Long messages in one way after another. */
static void every_way(int window)
{
  static char room[8 * (LONG * 8 + MPI_BSEND_OVERHEAD)];
  MPI_Request requests[2];
  MPI_Message message;
  MPI_Datatype column;
  void *detached;
  int size, flag = 0;
  switch (window % 8) {
  case 0:
    exchange(LONG, 0);
    break;
  case 1:
    exchange(LONG, 1);
    break;
  case 2: /* persistent, made and freed */
    MPI_Recv_init(into, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < WINDOW; i++) {
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    break;
  case 3: /* buffered */
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < WINDOW; i++) {
      MPI_Bsend(out, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
      MPI_Recv(into, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Buffer_detach(&detached, &size);
    break;
  case 4: /* probed, as bytes: messages as long as a frame may be pass through the unexpected queue */
    for (int i = 0; i < WINDOW; i++) {
      MPI_Isend(out, LONG * 8 - i, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
      if (i % 2) {
        MPI_Probe(peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(into, LONG * 8, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else {
        MPI_Mprobe(peer, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(into, LONG * 8, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      }
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    break;
  case 5: /* packed */
    MPI_Type_vector(LONG / 4, 2, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < WINDOW; i++)
      MPI_Sendrecv(out, 1, column, peer, TAG, into, 1, column, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    break;
  case 6: /* replaced, and freed while pending */
    for (int i = 0; i < WINDOW; i++) {
      MPI_Sendrecv_replace(into, LONG, MPI_DOUBLE, peer, TAG, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Isend(out, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[0]);
      MPI_Request_free(&requests[0]);
      MPI_Recv(into, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      /* The answer shows that `out` may be used again. */
      MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, TAG, NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    break;
  default: /* cancelled receives, tested requests, a communicator that is created and freed */
    for (int i = 0; i < WINDOW; i++) {
      MPI_Irecv(into, LONG, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Cancel(&requests[0]);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Irecv(into, LONG, MPI_DOUBLE, peer, TAG, comm, &requests[0]);
    MPI_Send(out, LONG, MPI_DOUBLE, peer, TAG, comm);
    while (!flag)
      MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    break;
  }
}

static finding phase(const char *name, void (*window)(int), int windows)
{
  finding found = {0, 0, 0};
  scene(name, 120);
  if (role == IDLE)
    return found;
  for (int i = 0; i < windows; i++) {
    if (i == windows / 5) {
      found.before = resident_kib();
      found.seconds = -MPI_Wtime();
    }
    window(i);
    /* No rank runs ahead: messages that wait at a receiver use the MPI's memory. */
    MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, TAG, NULL, 0, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  found.seconds += MPI_Wtime();
  found.after = resident_kib();
  begin("data");
  note(" %016lx", (unsigned long)digest_bytes(into, sizeof into));
  end();
  return found;
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 2);
  int windows = atoi(argv[2]) / (2 * WINDOW);
  fill(out, sizeof out, SMOOTH, 1);
  static const char *const names[] = {"words", "half_kib", "every_way"};
  enum { PHASES = sizeof names / sizeof *names };
  finding found[PHASES];
  found[0] = phase(names[0], words, windows);
  found[1] = phase(names[1], half_kib, windows);
  found[2] = phase(names[2], every_way, windows / 20);
  log_close();
  finding *all = malloc((size_t)size * sizeof found);
  if (!all)
    give_up("no memory");
  MPI_Gather(found, 3 * PHASES, MPI_DOUBLE, all, 3 * PHASES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < size * PHASES; i++)
      printf("%s: rank %d: %.0f to %.0f KiB, %.3f s\n", names[i % PHASES], i / PHASES, all[i].before, all[i].after,
             all[i].seconds);
    printf("done\n");
    fflush(stdout);
  }
  free(all);
  MPI_Finalize();
  return 0;
}
