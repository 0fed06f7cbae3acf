#include "observe.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rank, size, peer;
enum role role;

const char *const content_names[CONTENTS] = {"smooth", "floats", "random"};

static FILE *file;
static char current_scene[64] = "start";
static char line[4096];
static size_t line_len;

/* --- the watchdog ------------------------------------------------------------------------------------------------ */

static void hung(int signal)
{
  (void)signal;
  /* Only async-signal-safe calls: the process may hang with a lock held. */
  char digits[2] = {(char)('0' + rank % 10), 0};
  const char *parts[] = {"HUNG: rank ", digits, " in ", current_scene, ": ", line, "\n"};
  char text[512];
  size_t len = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (const char *c = parts[i]; *c && len < sizeof text - 1; c++)
      text[len++] = *c;
  text[len - 1] = '\n';
  ssize_t written = write(STDERR_FILENO, text, len);
  (void)written;
  /* The watchdogs of the other ranks expire at about the same time; let them print their messages before mpirun ends them. */
  sleep(1);
  _exit(3);
}

void give_up(const char *what)
{
  fprintf(stderr, "GAVE UP: rank %d in %s: %s: %s\n", rank, current_scene, line, what);
  fflush(NULL);
  _exit(4);
}

void scene(const char *name, int seconds)
{
  /* More time for slow machines and for tools that slow a program down. */
  const char *factor = getenv("TRANSPARENT_PATIENCE");
  snprintf(current_scene, sizeof current_scene, "%s", name);
  line[line_len = 0] = 0;
  signal(SIGALRM, hung);
  alarm((unsigned)(seconds * (factor ? atoi(factor) : 1)));
}

const char *scene_name(void)
{
  return current_scene;
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

void take_place(const char *prefix)
{
  char name[4096];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int half = size / 2;
  role = rank < half ? SENDER : rank < 2 * half ? RECEIVER : IDLE;
  peer = role == SENDER ? rank + half : rank - half;
  snprintf(name, sizeof name, "%s.%d", prefix, rank);
  file = fopen(name, "w");
  if (!file)
    give_up("cannot write the log");
}

void job_begin(int *argc, char ***argv, int arguments)
{
  if (*argc != 1 + arguments) {
    fprintf(stderr, "%d arguments expected, the first for the names of logs\n", arguments);
    exit(2);
  }
  MPI_Init(argc, argv);
  take_place((*argv)[1]);
}

int threads_granted(int level)
{
  if (level != MPI_THREAD_MULTIPLE && rank == 0)
    printf("skipped: MPI_THREAD_MULTIPLE is not granted\n");
  return level == MPI_THREAD_MULTIPLE;
}

void log_close(void)
{
  fprintf(file, "end\n");
  if (fclose(file) != 0)
    give_up("cannot write the log");
  file = NULL;
}

int job_end(void)
{
  log_close();
  /* All logs are complete before rank 0 reports the end; a hang after this is in MPI_Finalize. */
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("done\n");
    fflush(stdout);
  }
  return MPI_Finalize() != MPI_SUCCESS;
}

static void append(const char *format, va_list arguments)
{
  int len = vsnprintf(line + line_len, sizeof line - line_len, format, arguments);
  line_len += (size_t)len;
  if (line_len >= sizeof line)
    give_up("line too long");
}

void begin(const char *format, ...)
{
  line[line_len = 0] = 0;
  va_list arguments;
  va_start(arguments, format);
  append(format, arguments);
  va_end(arguments);
}

void note(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  append(format, arguments);
  va_end(arguments);
}

void end(void)
{
  fprintf(file, "%s: %s\n", current_scene, line);
  /* After a crash the log must show how far the rank came. */
  fflush(file);
}

/* --- what MPI says ----------------------------------------------------------------------------------------------- */

int class_of(int code)
{
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

void note_code(int code)
{
  note(" rc=%d", class_of(code));
}

void note_status(const MPI_Status *status, MPI_Datatype type)
{
  int count = -1, bytes = -1, elements = -1, cancelled = -1;
  MPI_Get_count(status, type, &count);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  MPI_Get_elements(status, type, &elements);
  MPI_Test_cancelled(status, &cancelled);
  note(" from=%d tag=%d count=%d bytes=%d elements=%d cancelled=%d", status->MPI_SOURCE, status->MPI_TAG, count, bytes,
       elements, cancelled);
}

void note_origin(const MPI_Status *status)
{
  note(" from=%d tag=%d", status->MPI_SOURCE, status->MPI_TAG);
}

void note_request(const char *name, MPI_Request request)
{
  note(" %s=%s", name, request == MPI_REQUEST_NULL ? "null" : "live");
}

void note_message(MPI_Message message)
{
  note(" message=%s",
       message == MPI_MESSAGE_NULL ? "null" : message == MPI_MESSAGE_NO_PROC ? "no_proc" : "live");
}

void blank(MPI_Status *status)
{
  memset(status, 0, sizeof *status);
  MPI_Status_set_elements(status, MPI_BYTE, 12345);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = -99;
  status->MPI_TAG = -99;
  status->MPI_ERROR = -77;
}

void blank_all(MPI_Status *statuses, int count)
{
  for (int i = 0; i < count; i++)
    blank(&statuses[i]);
}

void note_error_field(int code, const MPI_Status *status)
{
  /* Calls without this error do not set the field, but an MPI may write any value there: MPICH does. */
  if (code == MPI_ERR_IN_STATUS)
    note(" error=%d", class_of(status->MPI_ERROR));
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

enum { GUARD = 256, SENTINEL = 0xA5 };

memory memory_new(size_t room)
{
  memory memory = {NULL, room, malloc(room + 2 * GUARD)};
  if (!memory.whole)
    give_up("no memory");
  memset(memory.whole, SENTINEL, room + 2 * GUARD);
  memory.data = memory.whole + GUARD;
  return memory;
}

void memory_free(memory *memory)
{
  free(memory->whole);
  memory->whole = memory->data = NULL;
}

static uint64_t mix(uint64_t hash, const unsigned char *data, size_t len)
{
  for (; len >= 8; data += 8, len -= 8) {
    uint64_t word;
    memcpy(&word, data, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  for (; len > 0; data++, len--)
    hash = (hash ^ *data) * 0x100000001B3u;
  return hash;
}

uint64_t digest_bytes(const void *data, size_t len)
{
  return mix(0xCBF29CE484222325u + len, data, len);
}

uint64_t digest(const memory *memory)
{
  return digest_bytes(memory->whole, memory->room + 2 * GUARD);
}

void note_outside(const memory *memory, size_t from)
{
  size_t len = memory->room + 2 * GUARD;
  int touched = 0;
  for (size_t i = 0; i < len; i++)
    touched |= (i < GUARD || i >= GUARD + from) && memory->whole[i] != SENTINEL;
  note(" outside=%s", touched ? "touched" : "clean");
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

generator generator_new(uint64_t seed)
{
  return (generator){seed * 0x9E3779B97F4A7C15u + 0x1234567};
}

/* splitmix64 */
uint64_t next(generator *generator)
{
  uint64_t z = generator->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

int pick(generator *generator, int below)
{
  return (int)(next(generator) % (uint64_t)below);
}

void fill(void *data, size_t len, enum content content, uint64_t seed)
{
  generator numbers = generator_new(seed);
  double base = (double)pick(&numbers, 1000);
  size_t i = 0;
  /* Values on a line in a binary grid: every MPI and every build gives the same bits, and codecs compress them well. */
  if (content == SMOOTH)
    for (; i + 8 <= len; i += 8) {
      double value = base + (double)(i / 8) * 0.125;
      memcpy((char *)data + i, &value, 8);
    }
  if (content == SMOOTH_FLOATS)
    for (; i + 4 <= len; i += 4) {
      float value = (float)base + (float)(i / 4 % 4096) * 0.25f;
      memcpy((char *)data + i, &value, 4);
    }
  for (; i + 8 <= len; i += 8) {
    uint64_t word = next(&numbers);
    memcpy((char *)data + i, &word, 8);
  }
  for (; i < len; i++)
    ((unsigned char *)data)[i] = (unsigned char)next(&numbers);
}
