/* Loads the MPI in $SECOND_MPI in addition to the program's own, as Python would for one of its modules. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void load(void)
{
  const char *name = getenv("SECOND_MPI");
  if (name && !dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    fprintf(stderr, "%s\n", dlerror());
    abort();
  }
}
