/* The functions of HIP that the shim calls. GPU_HIP_VERSION is the version. */
#include "memory.h"

#include <stdlib.h>

static __thread int error;

int hipPeekAtLastError(void)
{
  return error;
}

int hipGetLastError(void)
{
  int last = error;
  error = 0;
  return last;
}

int hipRuntimeGetVersion(int *version)
{
  const char *text = getenv("GPU_HIP_VERSION");
  *version = text ? atoi(text) : 60032830;
  return 0;
}

int hipPointerGetAttribute(void *data, int attribute, void *address)
{
  int version;
  hipRuntimeGetVersion(&version);
  int kind = version < 60000000 ? kind_of(address, 1, 0, -1) : kind_of(address, 2, 1, -1);
  if (attribute != 2 || kind < 0)
    return error = 1; /* hipErrorInvalidValue */
  *(int *)data = kind;
  return 0;
}
