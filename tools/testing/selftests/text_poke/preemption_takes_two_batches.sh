#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A preemption model changes in two batches at most: what is enabled first, and
# what is disabled.

MODEL=/sys/kernel/debug/sched/preempt
# Sites
MANY=1000

cd "$(dirname "$0")" || exit 1
. ./counters.sh

# switched MODE
switched()
{
	counters_begin
	echo "$1" > $MODEL
	counters_end
	expect "${1}_in_two_batches" "$(grown batches) -le 2"
	expect "${1}_is_the_model" "$(grep -c "($1)" $MODEL) -eq 1"
}

# What fails is told, and the model is the one before.
failure_is_told()
{
	told=1
	fail_once 0
	echo none 2>/dev/null > $MODEL && told=0
	fail_no_more || told=0
	expect failure_is_told "$told -eq 1"
	expect failure_keeps_the_model "$(grep -c "(full)" $MODEL) -eq 1"
}

ktap_print_header
need_counters
if ! [ -e $MODEL ]; then
	ktap_skip_all "the preemption model is that of the configuration"
	exit "$KSFT_SKIP"
fi
before=$(sed 's/.*(\(.*\)).*/\1/' $MODEL)
echo full > $MODEL
counters_begin
echo none > $MODEL
counters_end
# Some memory is needed for many sites alone.
may_fail=0
[ -d $FAIL ] && [ "$(grown pokes)" -ge $MANY ] && may_fail=1
ktap_set_plan "$((9 + may_fail * 2))"
expect the_model_is_text "$(grown pokes) -ge 1"
for mode in full none voluntary full; do
	switched $mode
done
[ $may_fail = 1 ] && failure_is_told
echo "$before" > $MODEL
ktap_finished
