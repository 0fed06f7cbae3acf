/* Calls newer than MPI 4.0, where the MPI has them: the received data are read before any other call completes the operation. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>

enum { COUNT = 5000, TAG = 8, TIMES = 5 };

typedef int status_all(int, const MPI_Request *, int *, MPI_Status *);
typedef int isendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* It is not known when the send of an exchange is complete, so each has separate memory. */
static double outs[TIMES][COUNT];

static void until_there(MPI_Request request, MPI_Status *status)
{
  status_all *get = (status_all *)dlsym(RTLD_DEFAULT, "MPI_Request_get_status_all");
  int there = 0;
  if (!get)
    give_up("no MPI_Request_get_status_all");
  while (!there)
    get(1, &request, &there, status);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("later", 30);
  isendrecv *exchange = (isendrecv *)dlsym(RTLD_DEFAULT, "MPI_Isendrecv");
  if (!exchange)
    give_up("no MPI_Isendrecv");
  for (int i = 0; i < TIMES; i++) {
    double *out = outs[i];
    memory m = memory_new(sizeof outs[i]);
    MPI_Request request;
    MPI_Status status;
    blank(&status);
    fill(out, sizeof outs[i], SMOOTH, (uint64_t)(10 * i + rank));
    begin("%d", i);
    if (i % 2 == 0)
      note_code(exchange(out, COUNT, MPI_DOUBLE, peer, TAG, m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request));
    else {
      note_code(MPI_Irecv(m.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &request));
      note_code(MPI_Send(out, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD));
    }
    until_there(request, &status);
    /* The status of an exchange is not reliable. */
    if (i % 2)
      note_status(&status, MPI_DOUBLE);
    note(" data=%016lx", (unsigned long)digest(&m));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end();
    memory_free(&m);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return job_end();
}
