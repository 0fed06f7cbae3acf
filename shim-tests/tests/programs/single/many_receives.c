/* How much work the shim makes in each call while thousands of receives, and a message in chunks, are pending; and while the sends of a thousand freed
 * requests are. Rank 0 prints the counts of `work.so` for each call, or poll of a call that waits: MPI calls, and bytes allocated. */
#include "../observe.h"

#include <dlfcn.h>
#include <stdio.h>

enum { MPI_CALLS, CLOCKS, ALLOCATIONS, SYSTEM_CALLS, BYTES, KINDS };
enum { RECEIVES = 8000, COMPLETED = 500, COUNT = 512, LONG = 8192, FREED = 1000, FREED_COUNT = 2048, TESTED = 200 };
/* The first tags are those of the receives. */
enum { TAG = RECEIVES, TOLD, WITHOUT_REQUEST, LAST };

static double in[RECEIVES][COUNT], out[LONG];
static MPI_Request requests[RECEIVES];
static int (*work_done)(long *);

static void start_counting(void)
{
  long done[KINDS];
  work_done(done);
}

/* A call that waits yields after each poll. */
static void report(const char *call, int calls)
{
  long done[KINDS];
  int loaded = work_done(done);
  double polls = (double)(calls + done[SYSTEM_CALLS]);
  printf("work: %d %s: %.1f %.1f\n", loaded, call, (double)done[MPI_CALLS] / polls, (double)done[BYTES] / polls);
}

static void tell(void)
{
  MPI_Send(NULL, 0, MPI_BYTE, peer, TOLD, MPI_COMM_WORLD);
}

static void await(void)
{
  MPI_Recv(NULL, 0, MPI_BYTE, peer, TOLD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The end of a chunked message is not received before the receives are complete. */
static void many_receives(void)
{
  MPI_Request sent[2];
  int tests = 0, i = 0;
  double sum = 0;
  MPI_Isend(out, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &sent[0]);
  start_counting();
  for (int k = 0; k < RECEIVES; k++)
    MPI_Irecv(in[k], COUNT, MPI_DOUBLE, peer, k, MPI_COMM_WORLD, &requests[k]);
  report("Irecv", RECEIVES);
  MPI_Isend(out, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &sent[1]);
  report("Isend", 1);
  tell();
  await();
  start_counting();
  for (; i < COMPLETED; i++)
    for (int flag = 0; !flag; tests++)
      MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
  report("Test", tests);
  for (; i < 2 * COMPLETED; i++)
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  report("Wait", COMPLETED);
  MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE);
  tell();
  MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
  for (int k = 0; k < RECEIVES; k++)
    sum += in[k][0];
  begin("sum=%.1f", sum);
  end();
}

static void freed_requests(void)
{
  MPI_Request request;
  int flag;
  for (int i = 0; i < FREED; i++) {
    MPI_Isend(out, FREED_COUNT, MPI_DOUBLE, peer, WITHOUT_REQUEST, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Irecv(in[0], 1, MPI_DOUBLE, peer, LAST, MPI_COMM_WORLD, &request);
  start_counting();
  for (int i = 0; i < TESTED; i++)
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  report("freed", TESTED);
  tell();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  begin("last=%.1f", in[0][0]);
  end();
}

static void receive(int count, int tag)
{
  memory m = memory_new((size_t)count * 8);
  MPI_Recv(m.data, count, MPI_DOUBLE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  begin("data=%016lx", (unsigned long)digest(&m));
  end();
  memory_free(&m);
}

static void other_end(void)
{
  await();
  for (int i = 0; i < RECEIVES; i++) {
    double number = i + 0.5;
    MPI_Send(&number, 1, MPI_DOUBLE, peer, i, MPI_COMM_WORLD);
  }
  tell();
  await();
  for (int i = 0; i < 2; i++)
    receive(LONG, TAG);
  await();
  for (int i = 0; i < FREED; i++)
    receive(FREED_COUNT, WITHOUT_REQUEST);
  MPI_Send(out, 1, MPI_DOUBLE, peer, LAST, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  work_done = (int (*)(long *))dlsym(RTLD_DEFAULT, "work_done");
  if (!work_done)
    give_up("work.so is not preloaded");
  fill(out, sizeof out, SMOOTH, 1);
  scene("many receives", 60);
  if (role == SENDER) {
    many_receives();
    freed_requests();
  } else
    other_end();
  return job_end();
}
