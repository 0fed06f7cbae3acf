/* MPICH spins while it waits. With more ranks than cores, each rank then waits for the others' time slices to end, and seconds
 * become minutes. This library is preloaded and lets another rank run whenever a poll finds nothing to do, in plain runs and in
 * those with the shim. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
  static unsigned (*next)(void *);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (!next) {
    /* The MPI was loaded without exporting its symbols to others. */
    void *library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&next = dlsym(library, "ucp_worker_progress");
  }
  unsigned done = next(worker);
  if (!done)
    sched_yield();
  return done;
}
