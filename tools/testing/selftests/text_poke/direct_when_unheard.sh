#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# When no event listens to text-poke records, none is made, and text is changed
# directly where the architecture allows that: no batch is guarded, no trap is
# taken.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

ktap_print_header
need_counters
ktap_set_plan 4

counters_begin
toggle_key
toggle_tracer
counters_end

if always_guarded; then
	expect no_direct_batches "$(grown direct) -eq 0"
	expect guarded_batches "$(grown guarded) -gt 0"
	expect every_batch_is_guarded "$(grown guarded) -eq $(grown batches)"
else
	expect direct_batches "$(grown direct) -gt 0"
	# The tracer is switched on and off.
	may_trap=$((2 * $(guarded_per_tracer)))
	expect no_other_guarded_batches "$(grown guarded) -le $may_trap"
	if [ $may_trap -eq 0 ]; then
		expect no_traps "$(grown traps) -eq 0"
	else
		ktap_test_skip "no_traps: mflr is changed behind a guard"
	fi
fi
expect no_records "$(grown records) -eq 0"
ktap_finished
