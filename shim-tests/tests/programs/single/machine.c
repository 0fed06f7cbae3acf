/* A message and a packed buffer of elements that the shim packs in another order only if the TLB holds few pages: 300 columns of 20 rows, 12 bytes
 * each, 3600 bytes apart, so that a column is on 20 pages. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <string.h>

enum { ROWS = 20, COLUMNS = 300, FLOATS = 3, ALL = ROWS * COLUMNS * FLOATS, TAG = 3 };

static float table[ALL], packed[ALL], back[ALL], got[ALL];

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("machine", 30);
  MPI_Datatype column, all;
  MPI_Type_vector(ROWS, FLOATS, COLUMNS * FLOATS, MPI_FLOAT, &column);
  MPI_Type_create_hvector(COLUMNS, 1, FLOATS * sizeof(float), column, &all);
  MPI_Type_commit(&all);
  for (int i = 0; i < ALL; i++)
    table[i] = (float)i;

  int wrong = 0, at = 0;
  MPI_Pack(table, 1, all, packed, sizeof packed, &at, MPI_COMM_WORLD);
  wrong += at != sizeof packed;
  for (int i = 0; i < ALL; i++)
    wrong += packed[i] != table[(i / FLOATS % ROWS * COLUMNS + i / FLOATS / ROWS) * FLOATS + i % FLOATS];
  at = 0;
  MPI_Unpack(packed, sizeof packed, &at, back, 1, all, MPI_COMM_WORLD);
  wrong += memcmp(back, table, sizeof table) != 0;
  if (role == SENDER)
    MPI_Send(table, 1, all, peer, TAG, MPI_COMM_WORLD);
  else
    MPI_Recv(got, 1, all, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong += role == RECEIVER && memcmp(got, table, sizeof table) != 0;

  int (*packed_sends)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "packed_sends");
  begin("elements");
  note(" wrong=%d packed=%d", wrong, packed_sends ? packed_sends() : -1);
  end();
  MPI_Type_free(&column);
  MPI_Type_free(&all);
  return job_end();
}
