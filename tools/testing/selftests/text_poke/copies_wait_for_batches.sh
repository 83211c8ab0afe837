#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What replay takes for the text is never the middle of somebody else's batch,
# however long that takes over its syncs.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

FAIL=/sys/kernel/debug/fail_text_poke
# TEXT_POKE_FAULT_SYNC, for longer than replay waits on its own account.
SLOW=0x20
DELAY_MS=150
GRAPH=$TRACING/instances/copies
HOLD=$(mktemp)

slow()
{
	echo "$1" > $FAIL/probability
}

# Turns a tracer on and off while replay wants no changes, until $HOLD is gone.
disturb()
{
	while [ -e "$HOLD" ]; do
		if [ "$(cat "$HOLD")" = 1 ]; then
			slow 100
			echo function_graph > $GRAPH/current_tracer
			sleep 0.4
			echo nop > $GRAPH/current_tracer && echo >> "$HOLD.did"
			slow 0
			sleep 0.4
		fi
		sleep 0.02
	done
}

need_counters
if [ ! -d $FAIL ]; then
	ktap_skip_all "no knob of fail_text_poke in this kernel"
	exit "$KSFT_SKIP"
fi
echo $SLOW > $FAIL/points
echo $DELAY_MS > $FAIL/delay
echo -1 > $FAIL/times
echo 0 > $FAIL/verbose
mkdir $GRAPH || exit 1
echo 'do_*' > $GRAPH/set_ftrace_filter

touch "$HOLD.did"
disturb &
./replay --hold "$HOLD" --workload keys --seconds 2
CODE=$?
rm "$HOLD"
wait

# Once at the start, and once at the end unless that was over too soon.
DID=$(wc -l < "$HOLD.did")
echo "# disturbed $DID times"
[ "$DID" -ge 1 ] || CODE=1
rm "$HOLD.did"
rmdir $GRAPH
exit $CODE
