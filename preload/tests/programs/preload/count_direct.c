/* The same for a tool that does not go on to PMPI_X. */
#define DIRECT
#include "count.c"
