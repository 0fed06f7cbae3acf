/* A panic in the shim, while another rank waits: in a call of the program, in another thread, or in a callback of the MPI. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static void (*provoke)(int elsewhere);

/* The shim is loaded in its own scope: its function can only be found by the shim's path. */
static int find(struct dl_phdr_info *info, size_t size, void *found)
{
  (void)size;
  void *library = strstr(info->dlpi_name, "mpress") ? dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (library)
    *(void **)found = dlsym(library, "mpress_provoke_panic");
  return *(void **)found != NULL;
}

static int in_callback(MPI_Comm comm, int key, void *attribute, void *state)
{
  (void)comm;
  (void)key;
  (void)attribute;
  (void)state;
  provoke(0);
  return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
  const char *where = argc > 2 ? argv[2] : "";
  MPI_Comm comm;
  int key, nothing;
  job_begin(&argc, &argv, 2);
  scene("panic", 30);
  dl_iterate_phdr(find, &provoke);
  if (!provoke)
    give_up("not under the shim");
  if (rank == 0)
    MPI_Recv(&nothing, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else if (strcmp(where, "callback") == 0) {
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_callback, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    MPI_Comm_free(&comm);
  } else
    provoke(strcmp(where, "thread") == 0);
  /* Never reached. */
  log_close();
  MPI_Finalize();
  return 0;
}
