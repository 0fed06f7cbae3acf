/* `count.c` as a tool that does not continue with PMPI_X. */
#define DIRECT
#include "count.c"
