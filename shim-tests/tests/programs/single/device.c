/* Messages and collectives with buffers in a GPU's memory, which the host cannot access, and in its own. The GPU's library is loaded privately,
 * before MPI_Init or after it. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 6, ROOM = 1 << 20, SENDS = 4, RECEIVES = 6, KINDS = 4 };

/* Two buffers in the GPU's memory, each with the host's view of it, and two in the host's. */
static char *gpu[2], *view[2], host[2][ROOM];
static int (*last_error)(void);
static const char *const kinds[KINDS] = {"host to host", "GPU to host", "host to GPU", "GPU to GPU"};

static void *load(const char *library)
{
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    give_up(dlerror());
  return handle;
}

static void allocate(void *library)
{
  void *host_view;
  *(void **)&last_error = dlsym(library, "hipPeekAtLastError");
  void *(*alloc)(size_t, void **) = (void *(*)(size_t, void **))dlsym(library, "gpu_alloc");
  void (*tell)(const void *, void *, size_t) =
      (void (*)(const void *, void *, size_t))dlsym(RTLD_DEFAULT, "gpu_memory");
  if (!alloc || !tell || !(gpu[0] = alloc(2 * ROOM, &host_view)))
    give_up("no memory of a GPU");
  view[0] = host_view;
  gpu[1] = gpu[0] + ROOM;
  view[1] = view[0] + ROOM;
  tell(gpu[0], view[0], 2 * ROOM);
}

/* A buffer, and its address for the host. */
static char *buffer(int on_gpu, int i, char **seen)
{
  *seen = on_gpu ? view[i] : host[i];
  return on_gpu ? gpu[i] : host[i];
}

static void send_by(int how, const void *buf, int count, MPI_Datatype type, int to)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  if (how == 0)
    note_code(MPI_Send(buf, count, type, to, TAG, MPI_COMM_WORLD));
  else if (how == 1)
    note_code(MPI_Ssend(buf, count, type, to, TAG, MPI_COMM_WORLD));
  else if (how == 2)
    note_code(MPI_Isend(buf, count, type, to, TAG, MPI_COMM_WORLD, &request));
  else {
    note_code(MPI_Send_init(buf, count, type, to, TAG, MPI_COMM_WORLD, &request));
    note_code(MPI_Start(&request));
  }
  note_code(MPI_Wait(&request, &status));
  if (how == 3)
    note_code(MPI_Request_free(&request));
}

static void receive_by(int how, void *buf, int count, MPI_Datatype type, int from, MPI_Status *status)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  int flag = 0;
  if (how == 0) {
    note_code(MPI_Recv(buf, count, type, from, TAG, MPI_COMM_WORLD, status));
    return;
  }
  if (how == 1)
    note_code(MPI_Irecv(buf, count, type, from, TAG, MPI_COMM_WORLD, &request));
  else if (how == 2) {
    note_code(MPI_Recv_init(buf, count, type, from, TAG, MPI_COMM_WORLD, &request));
    note_code(MPI_Start(&request));
  } else if (how == 3) {
    note_code(MPI_Probe(from, TAG, MPI_COMM_WORLD, status));
    note_code(MPI_Irecv(buf, count, type, from, TAG, MPI_COMM_WORLD, &request));
  } else {
    note_code(MPI_Mprobe(from, TAG, MPI_COMM_WORLD, &message, status));
    if (how == 4) {
      note_code(MPI_Mrecv(buf, count, type, &message, status));
      return;
    }
    note_code(MPI_Imrecv(buf, count, type, &message, &request));
  }
  while (!flag)
    MPI_Test(&request, &flag, status);
  if (how == 2)
    note_code(MPI_Request_free(&request));
}

/* One message in one direction: all ways at both ends, short and long, of basic and derived types. */
static void messages(void)
{
  static const int lengths[] = {100, 128, 6000, 100000};
  MPI_Datatype pairs;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  int *gpu_sends = dlsym(RTLD_DEFAULT, "gpu_sends");
  for (int i = 0; i < KINDS * SENDS * RECEIVES; i++) {
    int kind = i % KINDS, out = i / KINDS % SENDS, in = i / KINDS / SENDS, derived = (i + i / 7) % 3 == 0;
    for (int l = 0; l < 4; l++) {
      char *seen;
      int count = derived ? lengths[l] / 4 : lengths[l];
      MPI_Datatype type = derived ? pairs : MPI_DOUBLE;
      begin("%s: send %d, receive %d, %d%s", kinds[kind], out, in, count, derived ? " pairs" : "");
      if (role == SENDER) {
        char *buf = buffer(kind & 1, 0, &seen);
        fill(seen, ROOM, l % 2 || i % 5 ? SMOOTH : RANDOM, (uint64_t)(i * 4 + l));
        send_by(out, buf, count, type, peer);
        note(" %d from the GPU", *gpu_sends);
      } else {
        MPI_Status status;
        char *buf = buffer(kind & 2, 1, &seen);
        blank(&status);
        memset(seen, 7, ROOM);
        receive_by(in, buf, count, type, peer, &status);
        note_status(&status, type);
        note(" data=%016lx", (unsigned long)digest_bytes(seen, ROOM));
      }
      note(" error %d", last_error ? last_error() : 0);
      end();
    }
  }
  MPI_Type_free(&pairs);
}

static void exchanges(void)
{
  for (int kind = 0; kind < KINDS; kind++)
    for (int replace = 0; replace < 2; replace++) {
      char *from, *to;
      char *out = buffer(kind & 1, 0, &from), *in = buffer(kind & 2, 1, &to);
      MPI_Status status;
      begin("%s: exchange%s", kinds[kind], replace ? " in place" : "");
      blank(&status);
      memset(to, 7, ROOM);
      fill(replace ? to : from, ROOM, SMOOTH, (uint64_t)(kind + rank));
      if (replace)
        note_code(MPI_Sendrecv_replace(in, 5000, MPI_DOUBLE, peer, TAG, peer, TAG, MPI_COMM_WORLD, &status));
      else
        note_code(MPI_Sendrecv(out, 5000, MPI_DOUBLE, peer, TAG, in, 5000, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD,
                               &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest_bytes(to, ROOM));
      end();
    }
}

static void collectives(void)
{
  static const int lengths[] = {16, 4000};
  int root = size - 1;
  for (int i = 0; i < 6 * KINDS * 2; i++) {
    int what = i % 6, kind = i / 6 % KINDS, count = lengths[i / 6 / KINDS];
    /* The ranks may use different kinds of memory. */
    int on_gpu = rank % 2 ? kind & 1 : kind >> 1;
    char *from, *to;
    char *out = buffer(on_gpu, 0, &from), *in = buffer(on_gpu, 1, &to);
    MPI_Request request = MPI_REQUEST_NULL;
    begin("%s: collective %d of %d", kinds[kind], what, count);
    memset(to, 7, ROOM);
    fill(from, ROOM, SMOOTH, (uint64_t)(i + rank));
    switch (what) {
    case 0:
    case 1:
      memcpy(to, from, ROOM);
      if (what == 0)
        note_code(MPI_Bcast(in, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
      else
        note_code(MPI_Ibcast(in, count, MPI_DOUBLE, root, MPI_COMM_WORLD, &request));
      break;
    case 2:
      note_code(MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD));
      break;
    case 3:
      note_code(MPI_Allgather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, MPI_COMM_WORLD));
      break;
    case 4:
      note_code(MPI_Gather(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
      break;
    default:
      note_code(MPI_Scatter(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
    }
    note_code(MPI_Wait(&request, MPI_STATUS_IGNORE));
    note(" data=%016lx", (unsigned long)digest_bytes(to, ROOM));
    end();
  }
}

int main(int argc, char **argv)
{
  const char *library = argc > 3 ? argv[2] : NULL;
  if (!library)
    return 2;
  int before = strcmp(argv[3], "before") == 0;
  void *handle = before ? load(library) : NULL;
  job_begin(&argc, &argv, 3);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  scene("device", 90);
  /* By now the shim has already looked for a library once. */
  fill(host[0], ROOM, SMOOTH, 1);
  MPI_Bcast(host[0], ROOM, MPI_BYTE, 0, MPI_COMM_WORLD);
  allocate(before ? handle : load(library));
  messages();
  exchanges();
  collectives();
  return job_end();
}
