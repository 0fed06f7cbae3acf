/* The memory of a GPU that is none: one piece that the host can see at another address. At its own address every access is a fault, as
 * it is with a real one. */
#ifndef MEMORY_H
#define MEMORY_H

#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static char *device, *view;
static size_t device_len;

/* To be called once. NULL if there is none to be had. */
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

/* What an address is, as the libraries have it: the GPU's memory, memory of the host that they know, or neither. */
static int kind_of(const void *address, int gpu, int host, int neither)
{
  return within(address, device) ? gpu : within(address, view) ? host : neither;
}

#endif
