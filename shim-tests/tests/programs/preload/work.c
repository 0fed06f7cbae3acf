/* Counts the work that the shim makes on its own: the functions of the system and of the MPI that its code calls. Preloaded after the shim. The
 * program reads the counts by `work_done`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum { MPI_CALLS, CLOCKS, ALLOCATIONS, SYSTEM_CALLS, BYTES, KINDS };

static long counts[KINDS];
static char *start, *end;

/* Finds the code of the shim. */
static int look(struct dl_phdr_info *info, size_t size, void *data)
{
  (void)size, (void)data;
  if (!strstr(info->dlpi_name, "libmpress_shim"))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
      start = (char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
      end = start + info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}

/* The counts since the last call. Counting begins with the first call. Returns whether the shim is loaded. */
int work_done(long done[KINDS])
{
  memcpy(done, counts, sizeof counts);
  memset(counts, 0, sizeof counts);
  start = end = NULL;
  dl_iterate_phdr(look, NULL);
  return start != NULL;
}

#define OF_SHIM ((char *)__builtin_return_address(0) >= start && (char *)__builtin_return_address(0) < end)
#define COUNT(kind) counts[kind] += OF_SHIM
#define ALLOCATE(size) (COUNT(ALLOCATIONS), counts[BYTES] += OF_SHIM ? (long)(size) : 0)
#define NEXT(name) (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* Integers and pointers, without the types of MPI and of the system. */
typedef unsigned long word;

/* The shim calls only functions with a fixed number of arguments; further arguments do no harm. */
#define FUNCTION(kind, result, name)                                                                                   \
  result name(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l)          \
  {                                                                                                                    \
    static __typeof__(name) *next;                                                                                     \
    COUNT(kind);                                                                                                       \
    if (!next)                                                                                                         \
      next = NEXT(name);                                                                                               \
    return next(a, b, c, d, e, f, g, h, i, j, k, l);                                                                   \
  }

#define MPI(name) FUNCTION(MPI_CALLS, int, PMPI_##name)

MPI(Send) MPI(Ssend) MPI(Rsend) MPI(Bsend) MPI(Isend) MPI(Issend) MPI(Irsend) MPI(Ibsend)
MPI(Sendrecv) MPI(Recv) MPI(Irecv) MPI(Mrecv) MPI(Imrecv) MPI(Probe) MPI(Iprobe) MPI(Mprobe) MPI(Improbe)
MPI(Wait) MPI(Waitall) MPI(Waitany) MPI(Waitsome) MPI(Test) MPI(Testall) MPI(Testany) MPI(Testsome)
MPI(Request_get_status) MPI(Request_free) MPI(Cancel) MPI(Test_cancelled) MPI(Status_set_elements) MPI(Get_count)
MPI(Get_elements) MPI(Get_elements_x) MPI(Status_set_elements_x) MPI(Status_set_cancelled) MPI(Pack_size)
MPI(Type_size) MPI(Type_size_x) MPI(Type_get_extent) MPI(Type_get_true_extent) MPI(Type_get_envelope)
MPI(Type_get_contents) MPI(Type_get_attr) MPI(Grequest_start) MPI(Grequest_complete) MPI(Comm_size)
MPI(Comm_get_attr) MPI(Comm_test_inter) MPI(Comm_group) MPI(Group_translate_ranks) MPI(Reduce) MPI(Allreduce) MPI(Barrier)

#define SYSTEM(name) FUNCTION(SYSTEM_CALLS, word, name)

SYSTEM(sched_yield) SYSTEM(syscall) SYSTEM(mmap) SYSTEM(munmap) SYSTEM(madvise) SYSTEM(read) SYSTEM(write)

int clock_gettime(clockid_t clock, struct timespec *now)
{
  static __typeof__(clock_gettime) *next;
  COUNT(CLOCKS);
  if (!next)
    next = NEXT(clock_gettime);
  return next(clock, now);
}

/* `dlsym` allocates, so these continue with the functions of glibc by their other names. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
  ALLOCATE(size);
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
  ALLOCATE(number * size);
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
  ALLOCATE(size);
  return __libc_realloc(old, size);
}

int posix_memalign(void **place, size_t alignment, size_t size)
{
  ALLOCATE(size);
  *place = __libc_memalign(alignment, size);
  return *place ? 0 : 12;
}
