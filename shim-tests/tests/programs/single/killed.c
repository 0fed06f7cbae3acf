/* Rank 1 is killed while long messages are sent in both directions. The launcher must end the rest of the job, as without the shim. */
#include "../observe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { COUNT = 1 << 18, TAG = 5 };

static void die(int signal)
{
  (void)signal;
  kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("killed", 60);
  double *out = malloc(COUNT * sizeof *out), *in = malloc(COUNT * sizeof *in);
  if (!out || !in)
    give_up("memory");
  fill(out, COUNT * sizeof *out, SMOOTH, (uint64_t)rank);
  if (rank == 1) {
    struct itimerval soon = {.it_value = {.tv_usec = 300000}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &soon, NULL);
  }
  printf("begun\n");
  fflush(stdout);
  for (int i = 0; i < 1000000; i++)
    MPI_Sendrecv(out, COUNT, MPI_DOUBLE, 1 - rank, TAG, in, COUNT, MPI_DOUBLE, 1 - rank, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
