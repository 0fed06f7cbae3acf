/* Threads that make the first call together, while others load and unload libraries. Exits with the result of the last call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int MPI_Send(const void *data, int count, int type, int dest, int tag, int comm);

enum { CALLERS = 4, LOADERS = 2 };
static atomic_int ready, done, answer;

static void *call(void *nothing)
{
  atomic_fetch_add(&ready, 1);
  while (atomic_load(&ready) < CALLERS)
    ;
  atomic_store(&answer, MPI_Send(NULL, 0, 0, 0, 0, 0));
  return nothing;
}

static void *load(void *nothing)
{
  while (!atomic_load(&done)) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    if (library)
      dlclose(library);
  }
  return nothing;
}

int main(void)
{
  pthread_t callers[CALLERS], loaders[LOADERS];
  for (int i = 0; i < LOADERS; i++)
    pthread_create(&loaders[i], NULL, load, NULL);
  for (int i = 0; i < CALLERS; i++)
    pthread_create(&callers[i], NULL, call, NULL);
  for (int i = 0; i < CALLERS; i++)
    pthread_join(callers[i], NULL);
  atomic_store(&done, 1);
  for (int i = 0; i < LOADERS; i++)
    pthread_join(loaders[i], NULL);
  return atomic_load(&answer);
}
