/* Attributes of the program's communicators, as libraries set them on MPI_COMM_SELF to be called in MPI_Finalize. No copy callback is called, since the
 * program duplicates nothing; each delete callback is called once, the latest attribute first, and may send and receive. In a job on one node, the shim
 * becomes active after the attributes were set, when a datatype is committed that it packs faster than the MPI (as in `machine.c`). */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20, COLUMNS = 300, FLOATS = 3, ALL = ROWS * COLUMNS * FLOATS, COUNT = 5000, TAG = 3 };

static MPI_Datatype columns;
static float table[ALL];
static int copies, deletes;

static int copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
  (void)comm, (void)key, (void)state;
  copies++;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

/* A message of columns to the receiver, one of doubles in each direction, and one to this process. */
static void exchange(const char *when)
{
  memory out = memory_new(COUNT * 8), in = memory_new(COUNT * 8), alone = memory_new(sizeof table);
  MPI_Status status;
  begin("%s:", when);
  blank(&status);
  fill(out.data, out.room, SMOOTH, (uint64_t)(deletes * 2 + rank));
  if (role == SENDER)
    note_code(MPI_Send(table, 1, columns, peer, TAG, MPI_COMM_WORLD));
  else {
    note_code(MPI_Recv(alone.data, 1, columns, peer, TAG, MPI_COMM_WORLD, &status));
    note_status(&status, columns);
    note(" columns=%016lx", (unsigned long)digest(&alone));
  }
  note_code(MPI_Sendrecv(out.data, COUNT, MPI_DOUBLE, peer, TAG, in.data, COUNT, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD,
                         &status));
  note_status(&status, MPI_DOUBLE);
  note_code(MPI_Sendrecv(table, 1, columns, 0, TAG, alone.data, ALL, MPI_FLOAT, 0, TAG, MPI_COMM_SELF, &status));
  note_status(&status, MPI_FLOAT);
  note(" data=%016lx alone=%016lx", (unsigned long)digest(&in), (unsigned long)digest(&alone));
  end();
  memory_free(&out);
  memory_free(&in);
  memory_free(&alone);
}

/* The value is the name of the attribute, which the callback frees, as a library would. */
static int delete(MPI_Comm comm, int key, void *value, void *state)
{
  int compared, finalized;
  (void)key, (void)state;
  MPI_Comm_compare(comm, MPI_COMM_SELF, &compared);
  MPI_Finalized(&finalized);
  begin("delete %s: self=%d finalized=%d", (char *)value, compared == MPI_IDENT, finalized);
  end();
  free(value);
  deletes++;
  if (compared == MPI_IDENT)
    exchange("in MPI_Finalize");
  return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
  int keys[2];
  MPI_Datatype column;
  job_begin(&argc, &argv, 1);
  scene("attributes", 30);
  for (int i = 0; i < ALL; i++)
    table[i] = (float)i;
  for (int i = 0; i < 2; i++)
    MPI_Comm_create_keyval(copy, delete, &keys[i], NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], strdup("first"));
  MPI_Comm_set_attr(MPI_COMM_WORLD, keys[0], strdup("world"));
  MPI_Comm_set_attr(MPI_COMM_SELF, keys[1], strdup("second"));
  MPI_Type_vector(ROWS, FLOATS, COLUMNS * FLOATS, MPI_FLOAT, &column);
  MPI_Type_create_hvector(COLUMNS, 1, FLOATS * sizeof(float), column, &columns);
  MPI_Type_commit(&columns);
  MPI_Type_free(&column);
  begin("active: copies=%d deletes=%d", copies, deletes);
  end();
  exchange("before");
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[0]);
  for (int i = 0; i < 2; i++)
    MPI_Comm_free_keyval(&keys[i]);
  MPI_Finalize();
  begin("end: copies=%d deletes=%d", copies, deletes);
  end();
  log_close();
  if (rank == 0) {
    int (*packed_sends)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "packed_sends");
    printf("packed sends: %d\ndone\n", packed_sends ? packed_sends() : -1);
    fflush(stdout);
  }
  return 0;
}
