#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tracepoints that are enabled, or disabled, together change in one batch: those
# that record the names of tasks, those of a system of events, and all events.

# Some events bring keys of their own, and those of system calls two tracepoints.
MOST=12

cd "$(dirname "$0")" || exit 1
. ./counters.sh

SCHED=$TRACING/events/sched
NAMES=$TRACING/options/record-cmd

# count NAME LIMIT VALUE FILE: batches that a write takes
count()
{
	own_forget
	echo "$3" > "$4"
	expect "$1" "$(own_batches) $2"
}

ktap_print_header
need_counters
need_events
if [ ! -e $SCHED/enable ] || [ ! -e $NAMES ]; then
	ktap_skip_all "$SCHED or $NAMES is not there"
	exit "$KSFT_SKIP"
fi
ktap_set_plan 8
keep $NAMES
trap 'own_end; put_back' EXIT
echo nop > $TRACING/current_tracer
echo 0 > $TRACING/events/enable
echo 1 > $NAMES
own_begin

# Of an event that has nothing to do with the three tracepoints of the names.
echo 1 > $SCHED/sched_process_fork/enable
count names_off_in_one_batch "-eq 1" 0 $NAMES
count names_on_in_one_batch "-eq 1" 1 $NAMES
echo 0 > $NAMES
echo 0 > $SCHED/sched_process_fork/enable

count a_system_on_in_one_batch "-eq 1" 1 $SCHED/enable
expect all_of_a_system_are_on "$(cat $SCHED/enable) -eq 1"
count a_system_off_in_one_batch "-eq 1" 0 $SCHED/enable

echo 1 > $NAMES
count all_on_in_few_batches "-le $MOST" 1 $TRACING/events/enable
count all_off_in_few_batches "-le $MOST" 0 $TRACING/events/enable
expect all_are_off "$(cat $TRACING/events/enable) = 0"
ktap_finished
