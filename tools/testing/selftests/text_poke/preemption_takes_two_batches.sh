#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A preemption model changes in two batches at most: what is enabled first, and
# what is disabled.

MODEL=/sys/kernel/debug/sched/preempt

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

ktap_print_header
need_counters
if ! [ -e $MODEL ]; then
	ktap_skip_all "the preemption model is that of the configuration"
	exit "$KSFT_SKIP"
fi
ktap_set_plan 9
before=$(sed 's/.*(\(.*\)).*/\1/' $MODEL)
echo full > $MODEL
counters_begin
echo none > $MODEL
counters_end
expect the_model_is_text "$(grown pokes) -ge 1"
for mode in full none voluntary full; do
	switched $mode
done
echo "$before" > $MODEL
ktap_finished
