#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The main job's part in the guest: perf records text pokes while this script,
# as perf's workload, changes the kernel's text and other CPUs run it.
#
#	run-job.sh DIR			records into DIR and sends it to the host
#	run-job.sh DIR workload		what perf runs
#
# DIR gets perf.data/ (with the copy of kcore), began and ended ("BASE LENGTH
# BEGAN ENDED" of text_snapshot, on the clock that perf records with), text (the
# kernel's text at the end), stats.before, stats.after, and trapped (where the
# last traps were).

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
COUNTED=/sys/kernel/debug/text_poke
STATS=$COUNTED/stats
KEY_ROUNDS=4

# A base kernel counts nothing; its copy stays empty.
save_stats()
{
	if [ -r $STATS ]; then cat $STATS; fi >"$DIR/stats.$1"
}

# Enters the kernel as often as it can, on one CPU, through code that changes.
load()
{
	while :; do
		read -r _ </proc/self/stat
		: >/dev/null
		sleep 0
	done
}

# Ends with everything on, so that the text at the end differs from the start.
change_text()
{
	echo 0 >$TRACING/tracing_on
	tracer function
	for _ in $(seq $KEY_ROUNDS); do
		keys 1
		keys 0
	done
	tracer nop
	keys 1
	tracer function
}

# The text is read while the events are still open: closing them pokes too.
workload()
{
	text_snapshot >"$DIR/began" || exit
	load_begin
	change_text
	load_end
	text_snapshot "$DIR/text" >"$DIR/ended"
}

record()
{
	mkdir -p "$DIR" || exit
	save_stats before
	# Without -m: the buffer that perf takes by itself for text pokes has to do.
	perf record --kcore -a -e dummy -k CLOCK_MONOTONIC_RAW -N -B \
		-o "$DIR/perf.data" -- "$JOB" "$DIR" workload || exit
	save_stats after
	if [ -r $COUNTED/trapped ]; then cat $COUNTED/trapped; fi >"$DIR/trapped"
	cd "$DIR" && send_out .
}

JOB=$0
DIR=$1
${2:-record}
