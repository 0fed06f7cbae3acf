/* Which settings of the MPI are inherited by programs that this one starts. */
#include "../observe.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
  static const char *const names[] = {"OMPI_MCA_mpi_event_tick_rate", "UCX_RNDV_THRESH"};
  job_begin(&argc, &argv, 1);
  for (int i = 0; i < 2; i++) {
    const char *value = getenv(names[i]);
    begin("%s=%s", names[i], value ? value : "(unset)");
    end();
  }
  return job_end();
}
