#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# CPUs are synchronised once per direct batch, however many sites it has, and
# per guarded batch three times plus once per 3072 sites, and twice more for
# every 12288, each of which has a record. Slow machines arm fewer sites at a
# time, so they are given as long as it takes. ftrace's literals share the records
# of the calls behind them.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

ARMING=/sys/kernel/debug/text_poke/arming_ns

# The most that guarded batches may take.
few_syncs()
{
	pokes=$(grown pokes)
	echo $((3 * $(grown guarded) + pokes / 3072 + 2 * pokes / 12288))
}

# Do ftrace's calls have a literal each?
has_literals()
{
	grep -qw ftrace_nop_ops /proc/kallsyms
}

ktap_print_header
need_counters
ktap_set_plan 8
ARMING_NS=$(cat $ARMING)
trap 'echo $ARMING_NS > $ARMING' EXIT
echo 1000000000000 > $ARMING

counters_begin
toggle_key
toggle_tracer
counters_end
if always_guarded; then
	expect guarded_batches "$(grown guarded) -gt 0"
	expect few_syncs_per_unheard_batch "$(grown syncs) -le $(few_syncs)"
else
	expect direct_batches "$(grown direct) -gt 0"
	if [ "$(guarded_per_tracer)" -eq 0 ]; then
		expect one_sync_per_direct_batch "$(grown syncs) -eq $(grown batches)"
	else
		most=$(($(grown direct) + $(few_syncs)))
		expect few_syncs_where_mflr_goes "$(grown syncs) -le $most"
	fi
fi
expect many_sites_per_batch "$(grown pokes) -gt $((100 * $(grown batches)))"

# Counted by what runs while events are open.
export STATS SCHEDSTATS TRACING
# shellcheck disable=SC2016  # that shell expands it
BEFORE_AND_AFTER=$(./listen sh -c '
	cat $STATS
	echo 1 > $SCHEDSTATS
	echo function > $TRACING/current_tracer
	echo nop > $TRACING/current_tracer
	echo 0 > $SCHEDSTATS
	sed "s/^/after_/" $STATS')
BEFORE=$(echo "$BEFORE_AND_AFTER" | grep -v ^after_)
AFTER=$(echo "$BEFORE_AND_AFTER" | sed -n 's/^after_//p')
expect batches_while_an_event_listens "$(grown batches) -gt 0"
expect only_guarded_batches "$(grown guarded) -eq $(grown batches)"
expect few_syncs_per_guarded_batch "$(grown syncs) -le $(few_syncs)"
RECORDS=$(grown records)
if has_literals; then
	expect a_record_per_site_or_pair "$RECORDS -ge $(($(grown pokes) / 2))"
	expect few_sites_alone "$RECORDS -le $(($(grown pokes) * 6 / 10))"
else
	expect a_record_per_site_or_pair "$RECORDS -eq $(grown pokes)"
	ktap_test_skip "few_sites_alone: ftrace has no literals here"
fi
ktap_finished
