/* Ways to complete a request, among others that are null. */
#include "paths.h"

const char *const completion_names[COMPLETIONS] = {"Wait",    "Test",     "Waitany",  "Testany",   "Waitall",
                                                   "Testall", "Waitsome", "Testsome", "get_status",
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
                                                   "get_status_any", "get_status_all", "get_status_some",
#endif
};

enum { AT = 1, PLACES = 3 };

/* For calls with several statuses: returns the status of the request, and notes those of the null requests. */
static void keep(int code, const MPI_Status *statuses, MPI_Status *status)
{
  *status = statuses[AT];
  note(" others=%d,%d/%d,%d", statuses[0].MPI_SOURCE, statuses[0].MPI_TAG, statuses[2].MPI_SOURCE,
       statuses[2].MPI_TAG);
  note_error_field(code, &statuses[AT]);
}

static int complete_some(int (*function)(int, MPI_Request *, int *, int *, MPI_Status *), MPI_Request *requests,
                         MPI_Status *status)
{
  int done = 0, indices[PLACES] = {-5, -5, -5}, code;
  MPI_Status statuses[PLACES];
  do {
    blank_all(statuses, PLACES);
    code = function(PLACES, requests, &done, indices, statuses);
  } while (code == MPI_SUCCESS && done == 0);
  *status = statuses[0];
  note(" done=%d at=%d", done, indices[0]);
  note_error_field(code, &statuses[0]);
  return code;
}

/* Asks for the status until the request is complete, and leaves the request as it is. */
static int get_status(int how, const MPI_Request *requests, MPI_Status *status)
{
  int code = MPI_SUCCESS, flag = 0;
  if (how == 8) {
    while (code == MPI_SUCCESS && !flag)
      code = MPI_Request_get_status(requests[AT], &flag, status);
    return code;
  }
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
  int places[PLACES] = {-5, -5, -5};
  MPI_Status statuses[PLACES];
  blank_all(statuses, PLACES);
  while (code == MPI_SUCCESS && flag == 0) {
    if (how == 9)
      code = MPI_Request_get_status_any(PLACES, requests, places, &flag, status);
    else if (how == 10)
      code = MPI_Request_get_status_all(PLACES, requests, &flag, statuses);
    else
      code = MPI_Request_get_status_some(PLACES, requests, &flag, places, statuses);
  }
  note(" flag=%d at=%d", flag, places[0]);
  if (how != 9)
    *status = statuses[how == 10 ? AT : 0];
#endif
  return code;
}

int complete(int how, MPI_Request *request, MPI_Status *status)
{
  int code = complete_quietly(how, request, status);
  note_request("request", *request);
  return code;
}

int complete_quietly(int how, MPI_Request *request, MPI_Status *status)
{
  MPI_Request requests[PLACES] = {MPI_REQUEST_NULL, *request, MPI_REQUEST_NULL};
  MPI_Status statuses[PLACES], early;
  int code = MPI_SUCCESS, flag = 0, index = -5;
  blank(status);
  blank_all(statuses, PLACES);
  switch (how) {
  case 0:
    code = MPI_Wait(&requests[AT], status);
    break;
  case 1:
    while (code == MPI_SUCCESS && !flag)
      code = MPI_Test(&requests[AT], &flag, status);
    break;
  case 2:
    code = MPI_Waitany(PLACES, requests, &index, status);
    note(" index=%d", index);
    break;
  case 3:
    while (code == MPI_SUCCESS && !flag)
      code = MPI_Testany(PLACES, requests, &index, &flag, status);
    note(" index=%d", index);
    break;
  case 4:
    code = MPI_Waitall(PLACES, requests, statuses);
    keep(code, statuses, status);
    break;
  case 5:
    while (code == MPI_SUCCESS && !flag)
      code = MPI_Testall(PLACES, requests, &flag, statuses);
    keep(code, statuses, status);
    break;
  case 6:
    code = complete_some(MPI_Waitsome, requests, status);
    break;
  case 7:
    code = complete_some(MPI_Testsome, requests, status);
    break;
  default:
    blank(&early);
    code = get_status(how, requests, &early);
    blank(&statuses[0]);
    MPI_Request_get_status(requests[AT], &flag, &statuses[0]);
    code = MPI_Wait(&requests[AT], status);
    /* In a send's status only the cancelled flag is defined, so this only notes that asking twice gives the same. Whether the status tells of a
     * failure is not defined: MPI_Wait reports that. */
    if (code == MPI_SUCCESS)
      note(" flag=%d same=%d", flag,
           early.MPI_SOURCE == statuses[0].MPI_SOURCE && early.MPI_TAG == statuses[0].MPI_TAG);
  }
  *request = requests[AT];
  return code;
}
