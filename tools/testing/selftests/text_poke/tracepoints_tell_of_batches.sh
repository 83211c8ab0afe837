#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every batch has a begin and an end in the trace, with the number of its sites,
# their pages, its mappings and its syncs, and how long it took.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

# sum FIELD: over all ends in the trace.
sum()
{
	sed -n "s/.*text_poke_batch_end:.* $1=\\([0-9]*\\).*/\\1/p" trace.txt |
		awk '{ sum += $1 } END { print sum + 0 }'
}

count()
{
	grep -c "text_poke_batch_$1:" trace.txt
}

ktap_print_header
need_counters
need_events
ktap_set_plan 9

# In a folder that can be written, wherever the tests are.
DIR=$(mktemp -d)
cd "$DIR" || exit 1
trap 'echo 0 > $EVENTS/enable; rm -r "$DIR"' EXIT
trap 'exit 1' INT TERM HUP
echo 1 > $EVENTS/enable
echo > $TRACING/trace
counters_begin
toggle_key
toggle_key
counters_end
cat $TRACING/trace > trace.txt

expect some_batches "$(count end) -gt 0"
expect a_begin_for_every_end "$(count begin) -eq $(count end)"
expect an_end_for_every_batch "$(count end) -eq $(grown batches)"
expect sites_add_up "$(sum sites) -eq $(grown pokes)"
expect sites_are_on_pages "$(sum pages) -gt 0"
expect no_more_pages_than_sites "$(sum pages) -le $(sum sites)"
expect mappings_add_up "$(sum mappings) -eq $(grown mappings)"
expect syncs_add_up "$(sum syncs) -eq $(grown syncs)"
expect no_batch_takes_no_time "$(grep -c ' ns=0 ' trace.txt) -eq 0 -a $(sum ns) -gt 0"
ktap_finished
