/* Several ranks send to rank 0 at the same time, which receives in order of arrival. The order between senders is undefined, but each sender's
 * messages must arrive complete and in order. The notes do not depend on the order between senders. */
#include "scenarios.h"

#include <string.h>

enum { COUNT = 150, ROOM = 80000, LAST_TAG = 3 };

/* Message `i` of a sender: bytes, a multiple of 8 and at least 16. */
static int bytes_of(int sender, int i)
{
  generator numbers = generator_new((uint64_t)(sender * 1000 + i));
  int kind = pick(&numbers, 4);
  return kind == 0   ? 16 + 8 * pick(&numbers, 120)
         : kind == 1 ? 1008 + 8 * pick(&numbers, 6)
                     : 1024 + 8 * pick(&numbers, 9000);
}

static void make(double *data, int bytes, int sender, int i)
{
  fill(data, (size_t)bytes, i % 3 ? SMOOTH : RANDOM, (uint64_t)(sender * 1000 + i));
  /* By these the receiver identifies the message without a tag. */
  data[0] = sender;
  data[1] = i;
}

static void speak(int round)
{
  static double data[COUNT][(ROOM + 7) / 8];
  MPI_Request requests[COUNT];
  for (int i = 0; i < COUNT; i++) {
    int bytes = bytes_of(rank, i);
    make(data[i], bytes, rank, i);
    if (i % 7 == 6 && round % 2) {
      MPI_Ssend(data[i], bytes / 8, MPI_DOUBLE, 0, i % LAST_TAG, MPI_COMM_WORLD);
      requests[i] = MPI_REQUEST_NULL;
    } else
      MPI_Isend(data[i], bytes / 8, MPI_DOUBLE, 0, i % LAST_TAG, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
}

void race(void)
{
  static double room[ROOM / 8], expected[ROOM / 8];
  static unsigned char used[64][COUNT];
  for (int round = 0; round < 4; round++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
      speak(round);
      continue;
    }
    int last[64], wrong = 0, out_of_order = 0, total = COUNT * (size - 1);
    uint64_t sums[64] = {0};
    memset(used, 0, sizeof used);
    for (int i = 0; i < 64; i++)
      last[i] = -1;
    for (int k = 0; k < total; k++) {
      MPI_Status seen, status;
      MPI_Request request;
      MPI_Message message;
      int count, flag = 0, source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG, how = (k * 7 + round) % 9, told = -1;
      blank(&status);
      memset(room, 0, sizeof room);
      switch (how) {
      case 0:
        MPI_Recv(room, ROOM / 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &status);
        break;
      case 1:
        MPI_Irecv(room, ROOM / 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        break;
      case 2:
      case 3:
      case 4:
        if (how == 3)
          while (!flag)
            MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &seen);
        else
          MPI_Probe(source, tag, MPI_COMM_WORLD, &seen);
        MPI_Get_count(&seen, MPI_DOUBLE, &told);
        /* Use the source and tag that were seen: with wildcards again, Open MPI 4.1.4 may give another sender's message. */
        MPI_Recv(room, told, MPI_DOUBLE, seen.MPI_SOURCE, seen.MPI_TAG, MPI_COMM_WORLD, &status);
        break;
      case 5:
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &seen);
        MPI_Get_count(&seen, MPI_DOUBLE, &told);
        MPI_Mrecv(room, told, MPI_DOUBLE, &message, &status);
        break;
      case 6:
        while (!flag)
          MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &seen);
        MPI_Imrecv(room, ROOM / 8, MPI_DOUBLE, &message, &request);
        for (flag = 0; !flag;)
          MPI_Test(&request, &flag, &status);
        break;
      case 7:
        MPI_Recv_init(room, ROOM / 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, &status);
        MPI_Request_free(&request);
        break;
      default:
        MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, room, ROOM / 8, MPI_DOUBLE, source, tag, MPI_COMM_WORLD,
                     &status);
      }
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      int sender = (int)room[0], i = (int)room[1];
      if (sender != status.MPI_SOURCE || sender < 1 || sender >= size || i < 0 || i >= COUNT || used[sender][i] ||
          count * 8 != bytes_of(sender, i) || status.MPI_TAG != i % LAST_TAG || (told >= 0 && told != count)) {
        wrong++;
        continue;
      }
      memset(expected, 0, sizeof expected);
      make(expected, count * 8, sender, i);
      wrong += memcmp(expected, room, sizeof room) != 0;
      used[sender][i] = 1;
      /* All receives and probes had the same wildcards, so each sender's messages come in order. */
      out_of_order += i != last[sender] + 1;
      last[sender] = i;
      sums[sender] = sums[sender] * 31 + digest_bytes(room, sizeof room);
    }
    begin("%d: wrong=%d out_of_order=%d", round, wrong, out_of_order);
    for (int i = 1; i < size; i++)
      note(" %d:%d:%016lx", i, last[i], (unsigned long)sums[i]);
    end();
  }
}
