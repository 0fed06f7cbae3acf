/* Every way to send a message, and every way to receive and complete one. They are numbered, so that scenarios can iterate over them, and note what
 * they see. */
#ifndef PATHS_H
#define PATHS_H

#include "observe.h"

/* `count` elements of `type` at `data`. */
typedef struct {
  void *data;
  int count;
  MPI_Datatype type;
} span;

/* Ways to complete one request: Wait and Test of one, any, all and some, and Request_get_status before Wait; from MPI 4.1 on also Request_get_status
 * of any, all and some. */
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
enum { COMPLETIONS = 12 };
#else
enum { COMPLETIONS = 9 };
#endif
extern const char *const completion_names[COMPLETIONS];
int complete(int how, MPI_Request *request, MPI_Status *status);
/* The same, without notes about the request. */
int complete_quietly(int how, MPI_Request *request, MPI_Status *status);

extern const int sends, receives;
const char *send_name(int how);
const char *receive_name(int how);

/* Whether this way to send needs a posted receive, and whether this way to receive can post one. */
int send_is_ready(int how);
int receive_is_posted(int how);
int receive_is_persistent(int how);
int receive_is_matched(int how);
/* Whether it is completed by a separate call. */
int receive_has_request(int how);

/* Sends in way `how`, completes in way `completion` if there is a request, and notes what it sees. */
void send_by(int how, int completion, span message, int dest, int tag, MPI_Comm comm);

/* Receives in way `how`. Calls `posted` when the receive has been posted, if that can be known. With `exact`, a receive after a probe uses the count
 * of the probe instead of the whole room. Returns the code of the call that completed it; notes everything else except status and code. */
int receive_by(int how, int completion, span room, int source, int tag, MPI_Comm comm, int exact, void (*posted)(void),
               MPI_Status *status);

/* A short message without content, to synchronise two ranks. */
void signal_to(int dest);
void await(int source);

/* Attaches a buffer for MPI_Bsend that is large enough for all messages of a scenario. */
void attach(size_t bytes);
void detach(void);

#endif
