/* Which calls the program finds: by weak references of a library that it loads, and by name. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef const void *const *table(void);
typedef int is_there(void);

static void look(const char *when, void *library)
{
  table *calls = (table *)dlsym(library, "weak_calls");
  is_there *code = (is_there *)dlsym(library, "weak_call_is_there");
  if (!calls || !code)
    give_up("no plugin");
  begin("%s by reference:", when);
  for (const void *const *entry = calls(); *entry; entry += 2)
    note(" %s=%d", (const char *)entry[0], entry[1] != NULL);
  note(" code=%d", code());
  end();
  begin("%s by name:", when);
  for (const void *const *entry = calls(); *entry; entry += 2)
    note(" %s=%d", (const char *)entry[0], dlsym(RTLD_DEFAULT, entry[0]) != NULL);
  end();
}

int main(int argc, char **argv)
{
  void *early = dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  job_begin(&argc, &argv, 1);
  scene("offered", 30);
  if (!early)
    give_up("PLUGIN cannot be loaded");
  look("loaded before", early);
  dlclose(early);
  void *late = dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  look("loaded after", late);
  /* Calls that exist work as before. */
  double data[3000];
  MPI_Status status;
  blank(&status);
  fill(data, sizeof data, SMOOTH, 7);
  begin("message:");
  if (rank == 0)
    note_code(MPI_Send(data, 3000, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD));
  else {
    note_code(MPI_Recv(data, 3000, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, &status));
    note_status(&status, MPI_DOUBLE);
  }
  end();
  MPI_Barrier(MPI_COMM_WORLD);
  return job_end();
}
