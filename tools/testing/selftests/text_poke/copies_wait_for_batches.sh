#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What replay takes for the text is never the middle of another batch,
# however long that takes over its syncs.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

FAIL=/sys/kernel/debug/fail_text_poke
# TEXT_POKE_FAULT_SYNC, for longer than replay waits on its own account.
SLOW=0x20
DELAY_MS=150
GRAPH=$TRACING/instances/copies

slow()
{
	echo "$1" > $FAIL/probability
}

# Turns a tracer on and off whenever replay wants no changes.  It waits for replay to
# say so, for to look is a process each time, which costs much where other CPUs are
# interrupted by firmware.
disturb()
{
	while read -r held; do
		[ "$held" = 1 ] || continue
		slow 100
		echo function_graph > $GRAPH/current_tracer
		sleep 0.4
		echo nop > $GRAPH/current_tracer && echo >> "$DID"
		slow 0
	done < "$HOLD"
}

need_counters
if [ ! -d $FAIL ]; then
	ktap_skip_all "no knob of fail_text_poke in this kernel"
	exit "$KSFT_SKIP"
fi
keep $FAIL/points $FAIL/delay $FAIL/times $FAIL/verbose $FAIL/probability
trap 'put_back; rm -rf "$DIR"; [ ! -d $GRAPH ] || rmdir $GRAPH' EXIT
echo $SLOW > $FAIL/points
echo $DELAY_MS > $FAIL/delay
echo -1 > $FAIL/times
echo 0 > $FAIL/verbose
DIR=$(mktemp -d)
HOLD=$DIR/hold
DID=$DIR/did
mkdir $GRAPH && mkfifo "$HOLD" && touch "$DID" || exit 1
echo 'do_*' > $GRAPH/set_ftrace_filter

disturb &
# Held open, for otherwise the first write would be the last.
exec 3> "$HOLD"
./replay --hold "$HOLD" --workload keys --seconds 2
CODE=$?
exec 3>&-
wait

# Once at the start, and once at the end.
TIMES=$(wc -l < "$DID")
echo "# disturbed $TIMES times"
[ "$TIMES" -ge 2 ] || CODE=1
exit $CODE
