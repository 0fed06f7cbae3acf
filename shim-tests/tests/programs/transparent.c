/* Runs scenarios and logs what they see. With and without the shim the files must be the same, byte for byte.
 *
 *   transparent PREFIX [multiple] SCENARIO...         those whose name begins with one of these; "all" is all
 *   transparent PREFIX [multiple] random SEED COUNT   schedules drawn from COUNT seeds from SEED on
 *
 * Rank R writes PREFIX.R. "multiple" asks for MPI_THREAD_MULTIPLE. The last line of rank 0 on stdout is "done". */
#include "scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  void (*run)(void);
  int seconds;
} scenarios[] = {
    {"sizes_of_sends", sizes_of_sends, 60},
    {"sizes_of_receives", sizes_of_receives, 60},
    {"every_pair_of_calls", every_pair_of_calls, 60},
    {"exchanges", exchanges, 20},
    {"to_self_and_no_rank", to_self_and_no_rank, 20},
    {"synchronous_sends", synchronous_sends, 20},
    {"datatypes", datatypes, 30},
    {"matching_types", matching_types, 20},
    {"partial_elements", partial_elements, 20},
    {"freed_datatypes", freed_datatypes, 20},
    {"packed_by_calls", packed_by_calls, 20},
    {"nothing_without_memory", nothing_without_memory, 20},
    {"probes_in_order", probes_in_order, 20},
    {"probes_head_to_head", probes_head_to_head, 20},
    {"matched_messages_kept", matched_messages_kept, 20},
    {"many_in_order", many_in_order, 30},
    {"two_peers_by_wildcard", two_peers_by_wildcard, 20},
    {"mixed_requests", mixed_requests, 30},
    {"generalized_requests", generalized_requests, 20},
    {"freed_requests", freed_requests, 20},
    {"persistent_requests", persistent_requests, 20},
    {"cancelled_requests", cancelled_requests, 20},
    {"status_without_completion", status_without_completion, 20},
    {"among_collectives", among_collectives, 20},
    {"truncation", truncation, 30},
    {"truncation_among_others", truncation_among_others, 20},
    {"handlers", handlers, 20},
    {"communicators", communicators, 20},
    {"two_communicators", two_communicators, 20},
    {"freed_communicators", freed_communicators, 20},
    {"info_strategies", info_strategies, 20},
    {"info_assertions", info_assertions, 20},
    {"info_collectives", info_collectives, 20},
    {"collectives_of_many", collectives_of_many, 60},
    {"long_collectives", long_collectives, 60},
    {"collectives_at_a_time", collectives_at_a_time, 30},
    {"collectives_in_turn", collectives_in_turn, 30},
    {"reductions", reductions, 60},
    {"reductions_in_turn", reductions_in_turn, 30},
    {"wrong_reductions", wrong_reductions, 20},
    {"collectives_of_absolute_blocks", collectives_of_absolute_blocks, 20},
    {"collectives", collectives, 90},
    {"overlapping_communicators", overlapping_communicators, 30},
    {"race", race, 30},
    {"threads_on_own_tags", threads_on_own_tags, 30},
    {"probing_thread", probing_thread, 30},
    {"matching_threads", matching_threads, 60},
    {"threads_on_own_communicators", threads_on_own_communicators, 30},
    {"threads_free_datatypes", threads_free_datatypes, 60},
    {"threads_on_new_communicators", threads_on_new_communicators, 30},
    {"windows_into_one_buffer", windows_into_one_buffer, 60},
    {"windows_both_ways", windows_both_ways, 30},
    {"landing_over_a_pending_receive", landing_over_a_pending_receive, 60},
    {"threads_into_one_buffer", threads_into_one_buffer, 30},
    {"wrong_collectives", wrong_collectives, 60},
    {"wrong_arguments", wrong_arguments, 20},
};

static int asked_for(const char *name, int count, char **asked)
{
  for (int i = 0; i < count; i++)
    if (strcmp(asked[i], "all") == 0 || strncmp(name, asked[i], strlen(asked[i])) == 0)
      return 1;
  return 0;
}

static void run_random(uint64_t first, int count)
{
  for (int i = 0; i < count; i++) {
    char name[64];
    snprintf(name, sizeof name, "random %llu", (unsigned long long)(first + (uint64_t)i));
    scene(name, 30);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i % 2)
      random_rounds(first + (uint64_t)i);
    else
      random_channel(first + (uint64_t)i);
  }
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    fprintf(stderr, "usage: transparent PREFIX [multiple] SCENARIO... | random SEED COUNT\n");
    return 2;
  }
  int multiple = strcmp(argv[2], "multiple") == 0, provided = MPI_THREAD_SINGLE;
  char **asked = argv + 2 + multiple;
  int asked_count = argc - 2 - multiple;
  if (multiple)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  take_place(argv[1]);
  if (multiple)
    threads_granted(provided);
  begin("size %d, threads %d", size, provided);
  end();

  if (asked_count == 3 && strcmp(asked[0], "random") == 0)
    run_random(strtoull(asked[1], NULL, 10), atoi(asked[2]));
  else
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
      if (asked_for(scenarios[i].name, asked_count, asked)) {
        double start = MPI_Wtime();
        scene(scenarios[i].name, scenarios[i].seconds);
        MPI_Barrier(MPI_COMM_WORLD);
        scenarios[i].run();
        if (getenv("TRANSPARENT_TIMES") && rank == 0)
          fprintf(stderr, "%-30s %.2f s\n", scenarios[i].name, MPI_Wtime() - start);
      }

  scene("end", 30);
  MPI_Barrier(MPI_COMM_WORLD);
  return job_end();
}
