/* The memory of a simulated GPU: one piece, which the host can access at another address. Every access at its own address is a fault, as with real
 * GPU memory. */
#ifndef MEMORY_H
#define MEMORY_H

#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static char *device, *view;
static size_t device_len;

/* Call once. Returns NULL if the memory cannot be allocated. */
void *gpu_alloc(size_t len, void **host_view)
{
  int file = memfd_create("gpu", 0);
  if (file < 0 || ftruncate(file, (off_t)len) != 0)
    return NULL;
  device = mmap(NULL, len, PROT_NONE, MAP_SHARED, file, 0);
  view = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (device == MAP_FAILED || view == MAP_FAILED)
    return NULL;
  device_len = len;
  *host_view = view;
  return device;
}

static int within(const void *address, const char *start)
{
  return start && (const char *)address >= start && (const char *)address < start + device_len;
}

/* The type of an address in the libraries' terms: the GPU's memory, memory of the host that they know, or neither. */
static int kind_of(const void *address, int gpu, int host, int neither)
{
  return within(address, device) ? gpu : within(address, view) ? host : neither;
}

#endif
