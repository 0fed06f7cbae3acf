/* Datatypes of all kinds on either side of a message. */
#include "scenarios.h"

#include <stdlib.h>

enum { TYPES = 25, TAG = 7 };

/* A datatype, with the memory that `count` elements of it need from `origin` on. */
typedef struct {
  const char *name;
  MPI_Datatype type;
  /* Must not be freed. */
  int predefined;
} entry;

static MPI_Datatype committed(MPI_Datatype type)
{
  MPI_Type_commit(&type);
  return type;
}

static MPI_Datatype particle(void)
{
  /* The order in memory differs from the order in the type; there is a gap. */
  int lengths[] = {2, 1, 3};
  MPI_Aint at[] = {24, 0, 8};
  MPI_Datatype of[] = {MPI_DOUBLE, MPI_INT, MPI_FLOAT}, raw, type;
  MPI_Type_create_struct(3, lengths, at, of, &raw);
  MPI_Type_create_resized(raw, 0, 48, &type);
  MPI_Type_free(&raw);
  return committed(type);
}

static int make(entry *list)
{
  MPI_Datatype t, u;
  int n = 0;
  MPI_Type_vector(5, 2, 3, MPI_DOUBLE, &t);
  list[n++] = (entry){"vector", committed(t), 0};
  int lengths[] = {3, 1, 2}, at[] = {8, 0, 4};
  MPI_Type_indexed(3, lengths, at, MPI_FLOAT, &t);
  list[n++] = (entry){"indexed", committed(t), 0};
  list[n++] = (entry){"struct", particle(), 0};
  MPI_Type_create_resized(MPI_DOUBLE, -8, 24, &t);
  list[n++] = (entry){"resized", committed(t), 0};
  MPI_Type_contiguous(9, MPI_DOUBLE, &t);
  list[n++] = (entry){"contiguous", committed(t), 0};
  MPI_Type_dup(MPI_FLOAT, &t);
  list[n++] = (entry){"dup", t, 0};
  MPI_Type_contiguous(3, MPI_INT, &u);
  MPI_Type_contiguous(5, u, &t);
  MPI_Type_free(&u);
  list[n++] = (entry){"contiguous of contiguous", committed(t), 0};
  MPI_Type_vector(3, 1, 2, MPI_INT, &u);
  MPI_Type_contiguous(4, u, &t);
  MPI_Type_free(&u);
  list[n++] = (entry){"contiguous of vector", committed(t), 0};
  MPI_Type_vector(6, 4, 4, MPI_DOUBLE, &t);
  list[n++] = (entry){"vector without gaps", committed(t), 0};
  int whole[] = {6, 7, 8}, part[] = {6, 1, 8}, start[] = {0, 3, 0};
  MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &t);
  list[n++] = (entry){"face", committed(t), 0};
  int column[] = {6, 7, 1}, origin[] = {0, 0, 7};
  MPI_Type_create_subarray(3, whole, column, origin, MPI_ORDER_C, MPI_DOUBLE, &t);
  list[n++] = (entry){"column face", committed(t), 0};
  MPI_Aint far[] = {160, 0};
  MPI_Type_create_hindexed_block(2, 3, far, MPI_SHORT, &t);
  list[n++] = (entry){"hindexed block", committed(t), 0};
  /* The last element comes first. */
  MPI_Type_create_hvector(4, 1, -16, MPI_DOUBLE, &u);
  MPI_Aint shift[] = {48};
  int once[] = {1};
  MPI_Type_create_hindexed(1, once, shift, u, &t);
  MPI_Type_free(&u);
  list[n++] = (entry){"backwards", committed(t), 0};
  MPI_Type_dup(list[0].type, &t);
  list[n++] = (entry){"dup of vector", t, 0};
  /* The columns of a matrix, one after another: the shim packs long ones, even if nothing is compressed. */
  MPI_Type_vector(64, 1, 64, MPI_DOUBLE, &u);
  MPI_Type_create_hvector(64, 1, 8, u, &t);
  MPI_Type_free(&u);
  list[n++] = (entry){"transpose", committed(t), 0};
  MPI_Type_create_f90_real(15, 300, &u);
  list[n++] = (entry){"f90 real", u, 1};
  MPI_Type_contiguous(3, u, &t);
  list[n++] = (entry){"contiguous of f90 real", committed(t), 0};
#ifdef OPEN_MPI
  /* MPICH 4.0.2 treats long messages of pairs with a gap as truncated. */
  list[n++] = (entry){"double int", MPI_DOUBLE_INT, 1};
  MPI_Type_contiguous(4, MPI_DOUBLE_INT, &t);
  list[n++] = (entry){"contiguous of double int", committed(t), 0};
  list[n++] = (entry){"short int", MPI_SHORT_INT, 1};
#endif
  list[n++] = (entry){"complex", MPI_C_DOUBLE_COMPLEX, 1};
  list[n++] = (entry){"long double", MPI_LONG_DOUBLE, 1};
  list[n++] = (entry){"char", MPI_CHAR, 1};
#if MPI_VERSION >= 4
  MPI_Type_contiguous_c(7, MPI_DOUBLE, &t);
  list[n++] = (entry){"contiguous_c", committed(t), 0};
  MPI_Type_vector_c(5, 2, 3, MPI_DOUBLE, &t);
  list[n++] = (entry){"vector_c", committed(t), 0};
#endif
  if (n > TYPES)
    give_up("too many types");
  return n;
}

static void drop(entry *list, int n)
{
  for (int i = 0; i < n; i++)
    if (!list[i].predefined)
      MPI_Type_free(&list[i].type);
}

/* Room for `count` elements; `*origin` is the address to pass to MPI. */
static memory room_for(MPI_Datatype type, int count, void **origin)
{
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  memory m = memory_new((size_t)(extent * (count - 1) + true_extent));
  *origin = m.data - true_lower;
  return m;
}

static int elements_for(MPI_Datatype type, int bytes)
{
  int width;
  MPI_Type_size(type, &width);
  return (bytes + width - 1) / width;
}

static void exchange(int number, const entry *entry, MPI_Datatype out, int out_count, MPI_Datatype in, int in_count,
                     const char *what)
{
  int send = number * 7 % sends, receive = number * 5 % receives;
  if (send_is_ready(send))
    send = 4;
  begin("%d: %s %s %d -> %d, %s -> %s", number, entry->name, what, out_count, in_count, send_name(send),
        receive_name(receive));
  if (role == SENDER) {
    void *origin;
    memory m = room_for(out, out_count, &origin);
    fill(m.data, m.room, number % 2 ? RANDOM : SMOOTH, (uint64_t)number);
    send_by(send, number % COMPLETIONS, (span){origin, out_count, out}, peer, TAG, MPI_COMM_WORLD);
    note(" data=%016lx", (unsigned long)digest(&m));
    memory_free(&m);
  } else {
    void *origin;
    MPI_Status status;
    memory m = room_for(in, in_count, &origin);
    int code = receive_by(receive, number % COMPLETIONS, (span){origin, in_count, in},
                          number % 2 ? MPI_ANY_SOURCE : peer, TAG, MPI_COMM_WORLD, 0, NULL, &status);
    note_code(code);
    note_status(&status, in);
    note(" data=%016lx", (unsigned long)digest(&m));
    memory_free(&m);
  }
  end();
}

/* Each type to itself, packed to bytes and back, below and above the floor. */
void datatypes(void)
{
  static const int lengths[] = {200, 1024, 1100, 9000, 150000};
  entry list[TYPES];
  if (role == IDLE)
    return;
  int n = make(list), number = 0;
  attach(4 << 20);
  for (int i = 0; i < n; i++)
    for (int l = 0; l < 5; l++) {
      MPI_Datatype type = list[i].type;
      int count = elements_for(type, lengths[l]), width;
      MPI_Type_size(type, &width);
      exchange(number++, &list[i], type, count, type, count, "same");
      exchange(number++, &list[i], type, count, type, count + 3, "same, larger");
      exchange(number++, &list[i], type, count, MPI_BYTE, count * width, "to bytes");
      exchange(number++, &list[i], MPI_BYTE, count * width, type, count, "from bytes");
    }
  detach();
  drop(list, n);
}

/* Each type by MPI_Pack and MPI_Unpack, into buffers that are long enough and that are not, and as messages of packed elements. */
void packed_by_calls(void)
{
  static const int lengths[] = {200, 9000, 150000};
  entry list[TYPES];
  if (role == IDLE)
    return;
  int n = make(list);
  for (int i = 0; i < n; i++)
    for (int l = 0; l < 3; l++) {
      MPI_Datatype type = list[i].type;
      int count = elements_for(type, lengths[l]), width, at = 3;
      void *from, *to;
      MPI_Type_size(type, &width);
      memory elements = room_for(type, count, &from), packed = memory_new((size_t)((count + 1) * width + 8));
      memory other = room_for(type, count, &to);
      MPI_Status status;
      begin("%s %d", list[i].name, count);
      fill(elements.data, elements.room, SMOOTH, (uint64_t)i);
      if (role == SENDER) {
        note_code(MPI_Pack(from, count, type, packed.data, count * width + 3, &at, MPI_COMM_WORLD));
        note(" at=%d packed=%016lx", at, (unsigned long)digest(&packed));
        /* Unpack the first element by itself, after the others, in some cases. */
        int rest = at;
        note_code(MPI_Pack(from, 1, type, packed.data, at + width - 1, &rest, MPI_COMM_WORLD));
        note(" rest=%d", rest - at);
        MPI_Send(packed.data + 3, at - 3, MPI_PACKED, peer, TAG, MPI_COMM_WORLD);
        MPI_Send(from, count, type, peer, TAG, MPI_COMM_WORLD);
      } else {
        MPI_Recv(packed.data + 3, count * width, MPI_PACKED, peer, TAG, MPI_COMM_WORLD, &status);
        note_status(&status, MPI_PACKED);
        note_code(MPI_Unpack(packed.data, count * width + 3, &at, to, count, type, MPI_COMM_WORLD));
        note(" at=%d data=%016lx", at, (unsigned long)digest(&other));
        note_code(MPI_Unpack(packed.data, count * width + 3, &at, to, 1, type, MPI_COMM_WORLD));
        /* A message of elements can be received as the packed stream, too. */
        MPI_Recv(packed.data + 3, count * width, MPI_PACKED, peer, TAG, MPI_COMM_WORLD, &status);
        at = 3;
        note_code(MPI_Unpack(packed.data, count * width + 3, &at, from, count, type, MPI_COMM_WORLD));
        note(" data=%016lx", (unsigned long)digest(&elements));
      }
      end();
      memory_free(&elements);
      memory_free(&packed);
      memory_free(&other);
    }
  drop(list, n);
}

/* Different types of the same signature or size. */
void matching_types(void)
{
  if (role == IDLE)
    return;
  attach(4 << 20);
  entry any = {"pair", MPI_BYTE, 1};
  int number = 1000;
  static const int doubles[] = {100, 128, 1000, 20000};
  for (int i = 0; i < 4; i++) {
    int n = doubles[i];
    exchange(number++, &any, MPI_DOUBLE, n, MPI_BYTE, 8 * n, "double to byte");
    exchange(number++, &any, MPI_BYTE, 8 * n, MPI_DOUBLE, n, "byte to double");
    exchange(number++, &any, MPI_FLOAT, 2 * n, MPI_BYTE, 8 * n + 100, "float to byte");
    exchange(number++, &any, MPI_DOUBLE, n, MPI_C_DOUBLE_COMPLEX, n / 2, "double to complex");
    exchange(number++, &any, MPI_INT, 2 * n, MPI_UNSIGNED, 2 * n + 5, "int to unsigned");
    exchange(number++, &any, MPI_CHAR, 8 * n, MPI_PACKED, 8 * n, "char to packed");
    exchange(number++, &any, MPI_DOUBLE, n, MPI_INT64_T, n, "double to int64");
  }

  /* Absolute addresses from MPI_BOTTOM, two separate pieces of memory. */
  for (int i = 0; i < 4; i++) {
    memory a = memory_new(800), b = memory_new((size_t)doubles[i] * 8);
    MPI_Aint at[2];
    int lengths[] = {100, doubles[i]};
    MPI_Datatype of[] = {MPI_DOUBLE, MPI_DOUBLE}, type;
    MPI_Get_address(b.data, &at[1]);
    MPI_Get_address(a.data, &at[0]);
    MPI_Type_create_struct(2, lengths, at, of, &type);
    MPI_Type_commit(&type);
    for (int how = 0; how < receives; how++) {
      begin("bottom %d: %s", i, receive_name(how));
      if (role == SENDER) {
        fill(a.data, a.room, SMOOTH, 1);
        fill(b.data, b.room, i % 2 ? RANDOM : SMOOTH, (uint64_t)how);
        int send = how % sends;
        send_by(send_is_ready(send) ? 4 : send, how % COMPLETIONS, (span){MPI_BOTTOM, 1, type}, peer, TAG,
                MPI_COMM_WORLD);
      } else {
        MPI_Status status;
        int code = receive_by(how, how % COMPLETIONS, (span){MPI_BOTTOM, 1, type}, peer, TAG, MPI_COMM_WORLD, 0, NULL,
                              &status);
        note_code(code);
        note_status(&status, type);
      }
      note(" a=%016lx b=%016lx", (unsigned long)digest(&a), (unsigned long)digest(&b));
      end();
    }
    MPI_Type_free(&type);
    memory_free(&a);
    memory_free(&b);
  }
  detach();
}

/* Messages that end inside an element of the receiver's type. */
void partial_elements(void)
{
  if (role == IDLE)
    return;
  attach(4 << 20);
  entry list[TYPES];
  int n = make(list), number = 2000;
  for (int i = 0; i < n; i++) {
    /* Types made only of doubles, so that a sequence of doubles ends between two of them. */
    static const int of_doubles[] = {0, 3, 4, 8, 9, 10, 12, 13, 14};
    int fits = 0;
    for (int k = 0; k < 9; k++)
      fits |= of_doubles[k] == i;
    if (!fits)
      continue;
    for (int d = 5; d < 20000; d = d * 3 + 1) {
      int count = elements_for(list[i].type, d * 8) + 2;
      exchange(number++, &list[i], MPI_DOUBLE, d, list[i].type, count, "partial");
    }
  }
  drop(list, n);

  MPI_Datatype type = particle(), piece;
  /* The first 1 to 5 basic elements of a particle, after 40 whole ones: the type of the message describes this. */
  for (int basic = 1; basic < 6; basic++) {
    int lengths[] = {40, 1, 1, 1};
    MPI_Aint at[] = {0, 40 * 48 + 24, 40 * 48, 40 * 48 + 8};
    MPI_Datatype of[] = {type, MPI_DOUBLE, MPI_INT, MPI_FLOAT};
    lengths[1] = basic < 2 ? 1 : 2;
    lengths[2] = basic > 2;
    lengths[3] = basic > 3 ? basic - 3 : 0;
    MPI_Type_create_struct(4, lengths, at, of, &piece);
    MPI_Type_commit(&piece);
    entry any = {"particle", type, 1};
    for (int k = 0; k < 9; k++)
      exchange(number++, &any, piece, 1, type, 41 + k % 3, "partial");
    MPI_Type_free(&piece);
  }
  MPI_Type_free(&type);
  detach();
}

/* A datatype may be freed as soon as a call that uses it has returned, even if the operation is still pending. */
void freed_datatypes(void)
{
  if (role == IDLE)
    return;
  for (int number = 0; number < 24; number++) {
    int count = number % 2 ? 30 : 3000, persistent = number / 2 % 2, completion = number % COMPLETIONS;
    int contiguous = number / 4 % 3;
    MPI_Datatype type;
    void *origin;
    if (contiguous == 0)
      MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &type);
    else if (contiguous == 1)
      MPI_Type_contiguous(6, MPI_DOUBLE, &type);
    else
      type = particle();
    MPI_Type_commit(&type);
    memory m = room_for(type, count, &origin);
    MPI_Request request;
    MPI_Status status;
    begin("%d: count %d kind %d %s", number, count, contiguous, persistent ? "persistent" : "nonblocking");
    if (role == SENDER) {
      fill(m.data, m.room, SMOOTH, (uint64_t)number);
      if (persistent)
        MPI_Send_init(origin, count, type, peer, TAG, MPI_COMM_WORLD, &request);
      else {
        await(peer);
        MPI_Isend(origin, count, type, peer, TAG, MPI_COMM_WORLD, &request);
      }
    } else if (persistent)
      MPI_Recv_init(origin, count, type, peer, TAG, MPI_COMM_WORLD, &request);
    else
      MPI_Irecv(origin, count, type, peer, TAG, MPI_COMM_WORLD, &request);
    MPI_Type_free(&type);
    /* New types may get the handle of the old one. */
    MPI_Datatype others[3];
    for (int i = 0; i < 3; i++) {
      MPI_Type_vector(2 + i, 1, 7 + i, MPI_CHAR, &others[i]);
      MPI_Type_commit(&others[i]);
    }
    for (int round = 0; round < 1 + persistent; round++) {
      if (persistent)
        note_code(MPI_Start(&request));
      if (role == RECEIVER && !persistent)
        signal_to(peer);
      note_code(complete(completion, &request, &status));
      if (role == RECEIVER)
        note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    if (persistent)
      note_code(MPI_Request_free(&request));
    end();
    for (int i = 0; i < 3; i++)
      MPI_Type_free(&others[i]);
    memory_free(&m);
  }
}

/* Calls with no elements may give no memory, whatever the datatype: one half of an exchange whose other half is a long message, and receives of empty
 * messages that wait. */
void nothing_without_memory(void)
{
  enum { LONG = 9000 };
  if (role == IDLE)
    return;
  entry list[TYPES];
  int n = make(list);
  for (int i = 0; i < n; i++) {
    MPI_Datatype type = list[i].type;
    memory m = memory_new(8 * LONG);
    MPI_Status status;
    MPI_Message message;
    int flag = 0;
    begin("%s", list[i].name);
    blank(&status);
    if (role == SENDER) {
      fill(m.data, m.room, SMOOTH, (uint64_t)i);
      note_code(MPI_Send(m.data, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD));
      note_code(MPI_Send(m.data, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD));
      note_code(MPI_Recv(NULL, 0, type, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, type);
      note_code(MPI_Sendrecv(m.data, LONG, MPI_DOUBLE, peer, TAG, NULL, 0, type, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, type);
      note_code(MPI_Sendrecv(m.data, LONG, MPI_DOUBLE, peer, TAG, NULL, 0, type, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                             &status));
      for (int k = 0; k < 2; k++)
        note_code(MPI_Send(NULL, 0, type, peer, TAG, MPI_COMM_WORLD));
      note_code(MPI_Send(m.data, LONG, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD));
    } else {
      note_code(MPI_Sendrecv(NULL, 0, type, MPI_PROC_NULL, TAG, m.data, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD,
                             &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
      fill(m.data, m.room, RANDOM, 0);
      note_code(MPI_Sendrecv(NULL, 0, type, peer, TAG, m.data, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, MPI_DOUBLE);
      note(" data=%016lx", (unsigned long)digest(&m));
      note_code(MPI_Send(NULL, 0, type, peer, TAG, MPI_COMM_WORLD));
      for (int k = 0; k < 2; k++) {
        fill(m.data, m.room, RANDOM, 0);
        note_code(MPI_Recv(m.data, LONG, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status));
        note(" data=%016lx", (unsigned long)digest(&m));
      }
      /* To see the long message, the shim takes what comes before it. */
      while (!flag)
        MPI_Iprobe(peer, TAG + 1, MPI_COMM_WORLD, &flag, &status);
      note_code(MPI_Recv(NULL, 0, type, peer, TAG, MPI_COMM_WORLD, &status));
      note_status(&status, type);
      note_code(MPI_Mprobe(peer, TAG, MPI_COMM_WORLD, &message, &status));
      note_code(MPI_Mrecv(NULL, 0, type, &message, &status));
      note_status(&status, type);
      note_code(MPI_Recv(m.data, LONG, MPI_DOUBLE, peer, TAG + 1, MPI_COMM_WORLD, &status));
      note(" data=%016lx", (unsigned long)digest(&m));
    }
    end();
    memory_free(&m);
  }
  drop(list, n);
}
