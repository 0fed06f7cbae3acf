/* The functions of Level Zero that the shim calls: two drivers, of which the second knows the memory. */
#include "memory.h"

#include <stdint.h>

typedef struct {
  int structure;
  const void *next;
  uint32_t flags;
} context_desc;

typedef struct {
  int structure;
  void *next;
  int kind;
  uint64_t id, page;
} allocation_properties;

static int drivers[2], contexts[2], started;

int zeInit(uint32_t flags)
{
  (void)flags;
  started = 1;
  return 0;
}

int zeDriverGet(uint32_t *count, void **handles)
{
  if (!started)
    return 0x78000001; /* ZE_RESULT_ERROR_UNINITIALIZED */
  for (uint32_t i = 0; handles && i < *count && i < 2; i++)
    handles[i] = &drivers[i];
  *count = 2;
  return 0;
}

int zeContextCreate(void *driver, const context_desc *desc, void **context)
{
  if (desc->structure != 0xd || desc->next || desc->flags)
    return 0x78000004; /* ZE_RESULT_ERROR_INVALID_ARGUMENT */
  *context = &contexts[(int *)driver - drivers];
  return 0;
}

int zeMemGetAllocProperties(void *context, const void *address, allocation_properties *properties, void **gpu)
{
  if (properties->structure != 0x17 || properties->next || gpu)
    return 0x78000004;
  properties->kind = context == &contexts[1] ? kind_of(address, 2, 1, 0) : 0;
  return 0;
}
