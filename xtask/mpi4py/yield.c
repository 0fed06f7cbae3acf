/* MPICH spins while it waits, so that with more ranks than cores each waits for the others' time slices to end: minutes for what takes
 * seconds. Preloaded, this lets another rank work whenever there was nothing to do. Plain runs and those under the shim have it alike. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
  static unsigned (*next)(void *);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  unsigned done = next(worker);
  if (!done)
    sched_yield();
  return done;
}
