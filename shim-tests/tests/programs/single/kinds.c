/* A broadcast of doubles and an all-gather of floats, in derived types with gaps, long enough for chunks. The report says which kinds of elements the
 * codecs were given. */
#include "../observe.h"

enum { COUNT = 1 << 17 };

static void broadcast(void)
{
  MPI_Datatype type;
  memory m = memory_new(2 * COUNT * sizeof(double));
  MPI_Type_vector(COUNT, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  if (rank == 0)
    fill(m.data, m.room, SMOOTH, 1);
  MPI_Bcast(m.data, 1, type, 0, MPI_COMM_WORLD);
  begin("doubles: data=%016lx", (unsigned long)digest(&m));
  end();
  MPI_Type_free(&type);
  memory_free(&m);
}

static void all_gather(void)
{
  MPI_Datatype type;
  memory own = memory_new(2 * COUNT * sizeof(float)), all = memory_new((size_t)size * own.room);
  MPI_Type_vector(COUNT, 1, 2, MPI_FLOAT, &type);
  MPI_Type_commit(&type);
  fill(own.data, own.room, SMOOTH_FLOATS, (uint64_t)rank);
  MPI_Allgather(own.data, 1, type, all.data, 1, type, MPI_COMM_WORLD);
  begin("floats: data=%016lx", (unsigned long)digest(&all));
  end();
  MPI_Type_free(&type);
  memory_free(&own);
  memory_free(&all);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("kinds", 30);
  broadcast();
  all_gather();
  return job_end();
}
