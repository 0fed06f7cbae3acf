/* A rank waits 0.3 s for a nonblocking collective, together with requests of MPI_PROC_NULL. */
#include "../observe.h"

#include <unistd.h>

enum { NULLS = 3 };

int main(int argc, char **argv)
{
  MPI_Request requests[1 + NULLS];
  job_begin(&argc, &argv, 1);
  scene("waited", 20);
  MPI_Barrier(MPI_COMM_WORLD);
  if (role == RECEIVER)
    usleep(300000);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  for (int i = 1; i <= NULLS; i++)
    MPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(1 + NULLS, requests, MPI_STATUSES_IGNORE);
  return job_end();
}
