#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a module's loading changes takes a batch for all call sites of static
# calls, and one for all keys that are not in their initial state, not one each.

MODULE=trace-events-sample
# Fewer show nothing.
SITES=4
# Loading the first of them inverts four keys, of which the second has sites.
KEYS_BASE=test_static_key_base
KEYS=test_static_keys

cd "$(dirname "$0")" || exit 1
. ./counters.sh

# Lines of the trace between the two, from this task.
batches_before_load()
{
	awk -v loaded="module_load: $1" '
		index($0, loaded) { exit }
		/modprobe-/ && /text_poke_batch_begin/ { nr++ }
		END { print nr + 0 }' $TRACING/trace
}

keys_take_one_batch()
{
	modprobe -r $KEYS $KEYS_BASE 2>/dev/null
	if [ ! -e $EVENTS/text_poke_batch_begin ] ||
	   ! modprobe $KEYS_BASE 2>/dev/null; then
		ktap_test_skip "keys_take_one_batch: no module $KEYS_BASE, or no events"
		return
	fi
	echo 1 > $EVENTS/text_poke_batch_begin/enable
	echo 1 > $TRACING/events/module/module_load/enable
	echo > $TRACING/trace
	modprobe $KEYS
	expect keys_take_one_batch "$(batches_before_load $KEYS) -eq 1"
	echo 0 > $TRACING/events/module/module_load/enable
	echo 0 > $EVENTS/text_poke_batch_begin/enable
	modprobe -r $KEYS $KEYS_BASE
}

ktap_print_header
need_counters
modprobe -r $MODULE 2>/dev/null
counters_begin
if ! modprobe $MODULE 2>/dev/null; then
	ktap_skip_all "there is no module $MODULE"
	exit "$KSFT_SKIP"
fi
counters_end
ktap_set_plan 3
if [ "$(uname -m)" = x86_64 ]; then
	expect many_sites "$(grown pokes) -ge $SITES"
	expect one_batch "$(grown batches) -eq 1"
else
	ktap_test_skip "many_sites: here static calls have no call sites"
	ktap_test_skip "one_batch: here static calls have no call sites"
fi
modprobe -r $MODULE
keys_take_one_batch
ktap_finished
