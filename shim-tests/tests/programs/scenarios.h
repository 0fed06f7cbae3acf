/* The scenarios, by file. Every rank calls each of them; ranks without a role in one return immediately. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "paths.h"

/* calls.c: every way to send and to receive, in every size */
void sizes_of_sends(void);
void sizes_of_receives(void);
void every_pair_of_calls(void);
void exchanges(void);
void to_self_and_no_rank(void);
void synchronous_sends(void);

/* types.c: datatypes on either side */
void datatypes(void);
void matching_types(void);
void partial_elements(void);
void freed_datatypes(void);
void packed_by_calls(void);
void nothing_without_memory(void);

/* probes.c: probes, order, handles that are kept */
void probes_in_order(void);
void probes_head_to_head(void);
void matched_messages_kept(void);
void many_in_order(void);
void two_peers_by_wildcard(void);

/* requests.c: requests in all states and mixtures */
void mixed_requests(void);
void generalized_requests(void);
void freed_requests(void);
void persistent_requests(void);
void cancelled_requests(void);
void status_without_completion(void);
void among_collectives(void);

/* truncated.c: messages longer than the buffer, error handlers */
void truncation(void);
void truncation_among_others(void);
void handlers(void);

/* wrong.c: calls with arguments that the MPI refuses */
void wrong_arguments(void);

/* wrong_collectives.c: collectives with arguments that the MPI refuses */
void wrong_collectives(void);

/* comms.c: communicators of all kinds */
void communicators(void);
void two_communicators(void);
void freed_communicators(void);
void info_strategies(void);
void info_assertions(void);
void info_collectives(void);

/* collectives.c: collectives that move data */
void collectives(void);
void collectives_of_many(void);
void long_collectives(void);
void collectives_at_a_time(void);
void collectives_in_turn(void);
void collectives_of_absolute_blocks(void);

/* reductions.c: reductions */
void reductions(void);
void reductions_in_turn(void);
void wrong_reductions(void);

/* comm_collectives.c: collectives on communicators that share processes */
void overlapping_communicators(void);
void threads_on_new_communicators(void); /* only where MPI_THREAD_MULTIPLE was granted */

/* race.c: several senders to one receiver */
void race(void);

/* threads.c: only where MPI_THREAD_MULTIPLE was granted */
void threads_on_own_tags(void);
void probing_thread(void);
void matching_threads(void);
void threads_on_own_communicators(void);
void threads_free_datatypes(void);

/* shared_memory.c: receives whose memory overlaps */
void windows_into_one_buffer(void);
void windows_both_ways(void);
void landing_over_a_pending_receive(void);
void threads_into_one_buffer(void);

/* random.c: schedules drawn from a seed */
void random_channel(uint64_t seed);
void random_rounds(uint64_t seed);

#endif
