/* Attributes of MPI_COMM_SELF, as libraries set them to be called in MPI_Finalize, stay where they are: the shim makes no duplicate. Then a datatype
 * is committed for which the shim becomes active in a job on one node. */
#include "../observe.h"

static int copies, deletes;

static int copy(MPI_Comm comm, int key, void *state, void *in, void *out, int *flag)
{
  (void)comm, (void)key, (void)state;
  copies++;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *state)
{
  (void)comm, (void)key, (void)value, (void)state;
  deletes++;
  return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
  int key, n = 1024;
  MPI_Datatype column, resized, transposed;
  job_begin(&argc, &argv, 1);
  scene("attributes", 30);
  MPI_Comm_create_keyval(copy, delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &copies);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &copies);
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, 8, &resized);
  MPI_Type_contiguous(n, resized, &transposed);
  MPI_Type_commit(&transposed);
  MPI_Type_free(&transposed);
  MPI_Type_free(&resized);
  MPI_Type_free(&column);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  begin("copies=%d deletes=%d", copies, deletes);
  end();
  return job_end();
}
