/* Damaged frames: a receiver under the shim must get an error of class MPI_ERR_OTHER, once, through the handler of its communicator, and never wrong
 * data; the next message must arrive normally.
 *
 * Rank 0 sends under the shim, and rank 1 bypasses it by calling the MPI's own functions: so it receives real frames. It damages them and sends them
 * back, again bypassing the shim; rank 0 receives them under the shim. Each fault found is a line on stdout that begins with WRONG. Needs
 * MPRESS_SAME_NODE=compress if both ranks are on one node. */
#define _GNU_SOURCE
#include "../observe.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, FLOOR = 1024, BYTES = 24000, ROOM = BYTES + 800, FRAME = 64000, TAG = 4 };

static int (*raw_send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
static int (*raw_recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);

/* The MPI's library, bypassing preloaded libraries. */
static int find_mpi(struct dl_phdr_info *info, size_t len, void *out)
{
  (void)len;
  const char *name = strrchr(info->dlpi_name, '/');
  name = name ? name + 1 : info->dlpi_name;
  if (strncmp(name, "libmpi.so", 9) != 0 && strncmp(name, "libmpich.so", 11) != 0)
    return 0;
  *(void **)out = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  return 1;
}

static void find_raw(void)
{
  void *library = NULL;
  dl_iterate_phdr(find_mpi, &library);
  if (!library)
    give_up("no MPI library");
  *(void **)&raw_send = dlsym(library, "PMPI_Send");
  *(void **)&raw_recv = dlsym(library, "PMPI_Recv");
  if (!raw_send || !raw_recv)
    give_up("no PMPI_Send");
  if ((void *)raw_send == dlsym(RTLD_DEFAULT, "PMPI_Send"))
    give_up("the shim is not there");
}

/* --- the sender of damage ---------------------------------------------------------------------------------------- */

/* CRC-32/ISO-HDLC, bit by bit: so that a false header can still pass its check. */
static uint32_t crc(uint32_t sum, const unsigned char *data, int len)
{
  for (int i = 0; i < len; i++) {
    sum ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
  }
  return sum;
}

static void seal(unsigned char *frame, int len)
{
  memset(frame + 12, 0, 4);
  uint32_t sum = ~crc(0xFFFFFFFFu, frame, len);
  for (int i = 0; i < 4; i++)
    frame[12 + i] = (unsigned char)(sum >> 8 * i);
}

enum { BITS = 8 * HEADER + 40, LONG_LIE = 3, HAND_MADE = 13 };

/* Applies damage number `number` to a frame of `len` bytes; returns the new length. Only damage that the frame's format guarantees to detect. */
static int damage(unsigned char *frame, int len, int number)
{
  generator numbers = generator_new((uint64_t)number);
  if (number < BITS) {
    int bit = number < 8 * HEADER ? number : HEADER * 8 + pick(&numbers, (len - HEADER) * 8);
    frame[bit / 8] ^= (unsigned char)(1 << bit % 8);
    return len;
  }
  switch (number - BITS) {
  case 0:
    return len - 1;
  case 1:
    return len + 1;
  case 2:
    return FLOOR;
  case LONG_LIE:
  case LONG_LIE + 1:
    /* The check is right, the length is wrong, by half a word: a codec need not detect whole words, because words may take no bits. */
    frame[24] ^= 4;
    break;
  case 5:
    /* A codec that no build has. */
    frame[9] = 250;
    break;
  case 6:
    /* A compressed payload of noise. */
    frame[9] = 1;
    fill(frame + HEADER, (size_t)(len - HEADER), RANDOM, 5);
    break;
  case 7:
    memset(frame + 8, 0, (size_t)len - 8);
    return len;
  case 8:
    fill(frame + 8, (size_t)len - 8, RANDOM, 6);
    return len;
  case 9:
    /* More padding than the length of the frame. */
    frame[30] = frame[31] = 0xFF;
    break;
  case 10:
    /* The other codec. */
    frame[9] = frame[9] == 1 ? 2 : 1;
    break;
  case 11:
    /* A length that a frame may have. */
    return len - 800;
  default:
    /* Not compressed at all, unlike any frame. */
    frame[9] = 0;
  }
  seal(frame, len);
  return len;
}
enum { DAMAGES = BITS + HAND_MADE };

/* --- the receiver ------------------------------------------------------------------------------------------------ */

static int calls, wrong, total;

static void handler(MPI_Comm *comm, int *code, ...)
{
  (void)comm;
  (void)code;
  calls++;
}

/* A line followed by noise: so that its frame is neither the shortest nor as long as the message. */
static void fill_message(void *data)
{
  fill(data, BYTES, RANDOM, 9);
  fill(data, BYTES / 3 * 2, SMOOTH, 9);
}

enum { STRIDED = 9, WAYS = 13 };
static const char *const way_names[WAYS] = {
    "Recv",      "Irecv+Wait",           "Irecv+Waitall", "Irecv+Testany", "Mprobe+Mrecv", "Probe+Recv",           "Recv_init",
    "Sendrecv",  "Probe+Irecv+Waitsome", "strided",       "bytes",         "Mprobe+Imrecv", "Improbe+Mrecv strided"};

/* Receives in this way and returns the error code of the message. */
static int receive(int how, void *data, MPI_Datatype strided, MPI_Comm comm)
{
  int count = ROOM / 8, code, flag = 0, index, done, indices[2];
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2], status;
  MPI_Message message;
  switch (how) {
  case 0:
    return MPI_Recv(data, count, MPI_DOUBLE, 1, TAG, comm, &status);
  case 1:
    MPI_Irecv(data, count, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, comm, requests);
    return MPI_Wait(requests, &status);
  case 2:
    MPI_Irecv(data, count, MPI_DOUBLE, 1, TAG, comm, requests);
    code = MPI_Waitall(2, requests, statuses);
    return code == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR : code;
  case 3:
    MPI_Irecv(data, count, MPI_DOUBLE, 1, TAG, comm, requests);
    do
      code = MPI_Testany(2, requests, &index, &flag, &status);
    while (code == MPI_SUCCESS && !flag);
    return code;
  case 4:
    /* The matched probe may already report it; then there is nothing to receive. */
    message = MPI_MESSAGE_NULL;
    code = MPI_Mprobe(1, TAG, comm, &message, &status);
    return code == MPI_SUCCESS ? MPI_Mrecv(data, count, MPI_DOUBLE, &message, &status) : code;
  case 5:
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    return MPI_Recv(data, count, MPI_DOUBLE, 1, TAG, comm, &status);
  case 6:
    MPI_Recv_init(data, count, MPI_DOUBLE, 1, TAG, comm, requests);
    MPI_Start(requests);
    code = MPI_Wait(requests, &status);
    MPI_Request_free(requests);
    return code;
  case 7:
    return MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, data, count, MPI_DOUBLE, 1, TAG, comm, &status);
  case 8:
    MPI_Probe(1, TAG, comm, &status);
    MPI_Irecv(data, count, MPI_DOUBLE, 1, TAG, comm, requests);
    code = MPI_Waitsome(2, requests, &done, indices, statuses);
    return code == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR : code;
  case STRIDED:
    return MPI_Recv(data, count, strided, 1, TAG, comm, &status);
  case 10:
    return MPI_Recv(data, ROOM, MPI_BYTE, 1, TAG, comm, &status);
  case 11:
    message = MPI_MESSAGE_NULL;
    code = MPI_Mprobe(MPI_ANY_SOURCE, TAG, comm, &message, &status);
    if (code != MPI_SUCCESS)
      return code;
    MPI_Imrecv(data, count, MPI_DOUBLE, &message, requests);
    return MPI_Wait(requests, &status);
  default:
    message = MPI_MESSAGE_NULL;
    do
      code = MPI_Improbe(1, TAG, comm, &flag, &message, &status);
    while (code == MPI_SUCCESS && !flag);
    return code == MPI_SUCCESS ? MPI_Mrecv(data, count, strided, &message, &status) : code;
  }
}

static void complain(int way, int number, const char *what, int code)
{
  wrong++;
  if (wrong <= 20)
    printf("WRONG: %s, damage %d: %s (class %d)\n", way_names[way], number, what, class_of(code));
}

static int is_lie_about_length(int number)
{
  return number == BITS + LONG_LIE || number == BITS + LONG_LIE + 1;
}

static void check(int way, int number, MPI_Datatype strided, MPI_Comm comm)
{
  int reach = way == STRIDED || way == WAYS - 1 ? 2 * ROOM : ROOM;
  memory m = memory_new((size_t)reach);
  char text[MPI_MAX_ERROR_STRING];
  int len;
  calls = 0;
  total++;
  int code = receive(way, m.data, strided, comm), class = class_of(code);
  if (code == MPI_SUCCESS)
    complain(way, number, "taken for good", code);
  else if (class != MPI_ERR_OTHER && !(is_lie_about_length(number) && class == MPI_ERR_TRUNCATE))
    complain(way, number, "another error", code);
  else if (class == MPI_ERR_OTHER) {
    MPI_Error_string(code, text, &len);
#ifdef OPEN_MPI
    /* For codes that were added to a class of their own, MPICH 4.0.2 has the text of another error. */
    if (!strstr(text, "mpress"))
      complain(way, number, "the text does not say who speaks", code);
#else
    (void)text;
#endif
  }
  if (calls != 1)
    complain(way, number, calls ? "handler called again" : "handler not called", code);
  begin(" ");
  note_outside(&m, (size_t)reach);
  end();
  /* The next message is complete. */
  memory good = memory_new(BYTES), expected = memory_new(BYTES);
  MPI_Status status;
  fill_message(expected.data);
  code = MPI_Recv(good.data, BYTES / 8, MPI_DOUBLE, 1, TAG + 1, comm, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &len);
  if (code != MPI_SUCCESS || len != BYTES / 8 || digest(&good) != digest(&expected))
    complain(way, number, "the next message is not whole", code);
  memory_free(&m);
  memory_free(&good);
  memory_free(&expected);
}

int main(int argc, char **argv)
{
  job_begin(&argc, &argv, 1);
  scene("poison", 120);
  find_raw();
  MPI_Comm comm;
  MPI_Errhandler errhandler;
  MPI_Datatype strided;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &strided);
  MPI_Type_commit(&strided);
  static unsigned char frame[FRAME], copy[FRAME];
  static double message[BYTES / 8];
  int len = 0;
  if (rank == 0) {
    fill_message(message);
    MPI_Send(message, BYTES / 8, MPI_DOUBLE, 1, TAG, comm);
  } else {
    MPI_Status status;
    raw_recv(frame, FRAME, MPI_BYTE, 0, TAG, comm, &status);
    MPI_Get_count(&status, MPI_BYTE, &len);
    if (frame[8] == 0 || frame[9] == 0 || memcmp(frame, frame + 16, 8) != 0 || len < BYTES / 3 || len >= BYTES || len % 8 != 5)
      printf("WRONG: no frame as expected: %d bytes, codec %d\n", len, frame[9]);
  }
  MPI_Bcast(&len, 1, MPI_INT, 1, comm);
  for (int number = 0; number < DAMAGES; number++)
    for (int way = 0; way < WAYS; way++) {
      /* Each damage in some ways, each way with some of each damage; all ways with the constructed ones. */
      if (number < BITS && (number + way) % 5 != 0)
        continue;
      if (rank == 0)
        check(way, number, strided, comm);
      else {
        memcpy(copy, frame, FRAME);
        raw_send(copy, damage(copy, len, number), MPI_BYTE, 0, TAG, comm);
        raw_send(frame, len, MPI_BYTE, 0, TAG + 1, comm);
      }
    }
  MPI_Type_free(&strided);
  MPI_Errhandler_free(&errhandler);
  MPI_Comm_free(&comm);
  log_close();
  if (rank == 0) {
    printf("%d damaged frames, %d wrong\n", total, wrong);
    printf("done\n");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
