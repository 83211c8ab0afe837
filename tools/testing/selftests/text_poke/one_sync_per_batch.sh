#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CPUs are synchronised once per direct batch and at most three times per
# guarded one, however many sites the batch has.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

ktap_print_header
need_counters
ktap_set_plan 6

counters_begin
toggle_key
toggle_tracer
counters_end
expect direct_batches "$(grown direct) -gt 0"
expect one_sync_per_direct_batch "$(grown syncs) -eq $(grown batches)"
expect many_sites_per_batch "$(grown pokes) -gt $((100 * $(grown batches)))"

export SCHEDSTATS TRACING
counters_begin
./listen sh -c '
	echo 1 > $SCHEDSTATS
	echo function > $TRACING/current_tracer
	echo nop > $TRACING/current_tracer
	echo 0 > $SCHEDSTATS'
counters_end
expect guarded_batches "$(grown guarded) -gt 0"
expect three_syncs_per_guarded_batch \
	"$(grown syncs) -le $((3 * $(grown guarded) + $(grown direct)))"
expect a_record_per_guarded_site "$(grown records) -gt 0"
ktap_finished
