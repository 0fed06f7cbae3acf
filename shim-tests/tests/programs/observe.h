/* A log of what a scenario sees: one line for each observation, in one file per rank. A run with the shim and one without must write the same lines,
 * so nothing here may depend on time, addresses or handles. */
#ifndef OBSERVE_H
#define OBSERVE_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* This process in MPI_COMM_WORLD, and its partner: the lower half sends to the upper half. On two nodes with the same number of ranks, every pair is
 * connected by the link. A remaining odd rank has no role. */
enum role { SENDER, RECEIVER, IDLE };
extern int rank, size, peer;
extern enum role role;

/* After MPI_Init: finds the role of this process, and opens its log. */
void take_place(const char *prefix);
/* MPI_Init and take_place, for a program with this number of arguments, the first of which is the prefix of the logs. */
void job_begin(int *argc, char ***argv, int arguments);
/* Whether several threads may call the MPI, at the level that MPI_Init_thread has granted. If not, rank 0 says on stdout that the test is skipped. */
int threads_granted(int level);
void log_close(void);
/* The end of such a program: closes the log, prints the last line on rank 0, and calls MPI_Finalize. */
int job_end(void);

/* Begins a scenario. The watchdog ends the program and prints the scenario and line if it takes longer than this. */
void scene(const char *name, int seconds);
const char *scene_name(void);

/* One observation: begin, note any number of times, end. */
void begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void end(void);

int class_of(int code);
void note_code(int code);
void note_status(const MPI_Status *status, MPI_Datatype type);
/* Source and tag only: for failed calls, for which the standard leaves the count undefined. */
void note_origin(const MPI_Status *status);
void note_request(const char *name, MPI_Request request);
void note_message(MPI_Message message);
/* Fills a status with values that no call gives, so that unwritten statuses can be recognised. */
void blank(MPI_Status *status);
void blank_all(MPI_Status *statuses, int count);
/* Notes whether a call wrote the error field of a blanked status, and the value. */
void note_error_field(int code, const MPI_Status *status);

/* Memory with sentinels in it and around it. */
typedef struct {
  unsigned char *data;
  size_t room;
  unsigned char *whole;
} memory;

memory memory_new(size_t room);
void memory_free(memory *memory);
/* A digest of all of it, including the sentinels around it. */
uint64_t digest(const memory *memory);
/* Notes whether anything was written outside the first `from` bytes of its data. Open MPI 4.1.4 itself may do that: if it reads a message directly
 * from the sender's memory, it writes a message that is too long in full. So the comparison of logs accepts "clean" for "touched", but not the
 * reverse. */
void note_outside(const memory *memory, size_t from);
uint64_t digest_bytes(const void *data, size_t len);

enum content { SMOOTH, SMOOTH_FLOATS, RANDOM, CONTENTS };
extern const char *const content_names[CONTENTS];
/* Fills memory with the content of a message. A seed gives the same content on every rank. */
void fill(void *data, size_t len, enum content content, uint64_t seed);

/* Random numbers that are the same on all ranks for the same seed. */
typedef struct {
  uint64_t state;
} generator;
generator generator_new(uint64_t seed);
uint64_t next(generator *generator);
int pick(generator *generator, int below);

/* Ends the program, because the test itself cannot continue. */
void give_up(const char *what) __attribute__((noreturn));

#endif
