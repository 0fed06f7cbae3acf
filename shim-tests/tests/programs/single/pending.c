/* Messages of 4 MiB, which get shorter or not, are pending while their receiver is late, 96 of each of several calls. A compressed message is a copy,
 * so the bytes of pending ones are bounded. The logs have the messages; stdout has the growth of the sender's memory since the start, in KiB. */
#include "../observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 96, REPLACED = 32, ROWS = 512, COLUMNS = 1024, COUNT = ROWS * COLUMNS, BYTES = COUNT * 8, TAG = 4 };

static MPI_Request requests[MESSAGES];
static MPI_Datatype transposed;
static double answers[MESSAGES];
/* What is sent or received; and, for each of the messages that are replaced by what is received, the memory. */
static memory m, replaced[REPLACED];

static void isend(int i)
{
  MPI_Isend(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
}

static void isend_transposed(int i)
{
  MPI_Isend(m.data, 1, transposed, peer, TAG, MPI_COMM_WORLD, &requests[i]);
}

static void start(int i)
{
  MPI_Send_init(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
  MPI_Start(&requests[i]);
}

static void igather(int i)
{
  MPI_Igather(m.data, COUNT, MPI_DOUBLE, NULL, 0, MPI_DOUBLE, peer, MPI_COMM_WORLD, &requests[i]);
}

static void igather_at_root(int i)
{
  MPI_Igather(MPI_IN_PLACE, 0, MPI_DOUBLE, m.data, COUNT, MPI_DOUBLE, rank, MPI_COMM_WORLD, &requests[i]);
}

static void ibcast(int i)
{
  MPI_Ibcast(m.data, COUNT, MPI_DOUBLE, role == SENDER ? rank : peer, MPI_COMM_WORLD, &requests[i]);
}

static void irecv(int i)
{
  MPI_Irecv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &requests[i]);
}

/* MPI_Isendrecv is a call of MPI 4, which Open MPI 5 has, too. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define COMBINED
static void isendrecv(int i)
{
  MPI_Isendrecv(m.data, COUNT, MPI_DOUBLE, peer, TAG, &answers[i], 1, MPI_DOUBLE, peer, TAG + 2, MPI_COMM_WORLD, &requests[i]);
}

static void isendrecv_replace(int i)
{
  MPI_Isendrecv_replace(replaced[i].data, COUNT, MPI_DOUBLE, peer, TAG, peer, TAG + 2, MPI_COMM_WORLD, &requests[i]);
}
#endif

static const struct {
  const char *name;
  /* The calls of the sender and of the receiver, for message `i`. */
  void (*sends)(int i), (*receives)(int i);
  int messages, answered, persistent;
} ways[] = {
    {"Isend", isend, irecv, MESSAGES, 0, 0},
    {"Isend of a transposed matrix", isend_transposed, irecv, MESSAGES, 0, 0},
    {"Start", start, irecv, MESSAGES, 0, 1},
    {"Igather", igather, igather_at_root, MESSAGES, 0, 0},
    {"Ibcast", ibcast, ibcast, MESSAGES, 0, 0},
#ifdef COMBINED
    {"Isendrecv", isendrecv, irecv, MESSAGES, 1, 0},
    {"Isendrecv_replace", isendrecv_replace, irecv, REPLACED, 1, 0},
#endif
};
enum { WAYS = sizeof ways / sizeof *ways };

static long resident_kib(void)
{
  char line[256];
  long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0)
      kib = atol(line + 6);
  if (file != NULL)
    fclose(file);
  return kib;
}

static void send_all(int way, enum content content, long at_start)
{
  double sum = 0;
  fill(m.data, BYTES, content, 1);
  for (int i = 0; i < REPLACED; i++)
    memcpy(replaced[i].data, m.data, BYTES);
  for (int i = 0; i < ways[way].messages; i++)
    ways[way].sends(i);
  printf("%s, %s: grown by %ld KiB\n", ways[way].name, content_names[content], resident_kib() - at_start);
  MPI_Send(NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD);
  MPI_Waitall(ways[way].messages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < ways[way].messages && ways[way].persistent; i++)
    MPI_Request_free(&requests[i]);
  for (int i = 0; i < ways[way].messages && ways[way].answered; i++)
    sum += answers[i];
  begin("%s: answers=%.1f", content_names[content], sum);
  for (int i = 0; i < REPLACED; i++)
    note(" %016lx", (unsigned long)digest(&replaced[i]));
  end();
  memset(answers, 0, sizeof answers);
}

static void receive_all(int way, enum content content)
{
  MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < ways[way].messages; i++) {
    double answer = i + 0.5;
    ways[way].receives(i);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    begin("%s %d: data=%016lx", content_names[content], i, (unsigned long)digest_bytes(m.data, BYTES));
    end();
    memset(m.data, 0, BYTES);
    if (ways[way].answered)
      MPI_Send(&answer, 1, MPI_DOUBLE, peer, TAG + 2, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv)
{
  static const enum content contents[] = {RANDOM, SMOOTH};
  MPI_Datatype column;
  job_begin(&argc, &argv, 1);
  MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
  MPI_Type_create_hvector(COLUMNS, 1, 8, column, &transposed);
  MPI_Type_commit(&transposed);
  m = memory_new(2 * BYTES); /* The root of a gather receives from two ranks. */
  for (int i = 0; i < REPLACED && role == SENDER; i++)
    replaced[i] = memory_new(BYTES);
  long at_start = resident_kib();
  for (int way = 0; way < WAYS; way++)
    for (int content = 0; content < 2; content++) {
      scene(ways[way].name, 60);
      MPI_Barrier(MPI_COMM_WORLD);
      if (role == SENDER)
        send_all(way, contents[content], at_start);
      else
        receive_all(way, contents[content]);
    }
#ifndef COMBINED
  if (rank == 0)
    printf("skipped: MPI_Isendrecv, which this MPI does not have\n");
#endif
  for (int i = 0; i < REPLACED && role == SENDER; i++)
    memory_free(&replaced[i]);
  memory_free(&m);
  MPI_Type_free(&column);
  MPI_Type_free(&transposed);
  return job_end();
}
