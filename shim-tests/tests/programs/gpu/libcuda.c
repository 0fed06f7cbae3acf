/* The functions of CUDA's driver that the shim calls. */
#include "memory.h"

int cuPointerGetAttribute(void *data, int attribute, unsigned long long address)
{
  int kind = kind_of((const void *)address, 2, 1, -1);
  if (attribute != 2 || kind < 0)
    return 1; /* CUDA_ERROR_INVALID_VALUE */
  *(unsigned *)data = (unsigned)kind;
  return 0;
}
