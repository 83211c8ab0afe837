#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's part of `make trace`: perf records how this script, as perf's workload, changes
# the kernel's text, while tasks on all CPUs execute just that text.
#
#	trace.sh DIR TURNS [MORE...]		records into DIR and sends it to the host
#	trace.sh --workload DIR TURNS [MORE...]	what perf runs
#
# What is executed between the two calls of sync is what the host traces: so many turns of all that
# changes text, and in the last of them more:
#
#	pass	all that is probed is executed, as traps and as jumps
#	cpus	the last CPU goes down and comes up while text changes

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
# What the load runs through, and what runs in interrupts.
FUNCTIONS="vfs_* seq_* proc_* do_sys_* ksys_* kmem_cache_* pipe_* tick_* hrtimer_* try_to_wake_up"
PROBED="vfs_read seq_read_iter"
MODULE=trace-events-sample
SAMPLE=$TRACING/events/sample-trace/enable

# In the functions that change, for a moment at a time: what is executed while the poker waits
# shows nothing. The shell reads byte by byte.
load()
{
	while :; do
		read -r _ </proc/self/stat
		read -r _ </proc/loadavg
		: >/dev/null
		# shellcheck disable=SC3045  # the guest's shell is busybox's
		read -r -t "$PAUSE" _ <>"$DIR/pause"
	done
}

# At entries of functions, which ftrace calls, at their ends, and on what is executed in a slot; and
# on each of the OTHERS.
probes()
{
	if [ "$1" = 0 ]; then
		echo 0 >$TRACING/events/kprobes/enable
		echo >$TRACING/kprobe_events
		return
	fi
	for name in $PROBED; do
		echo "p:entry_$name $name"
		echo "r:return_$name $name"
		echo "p:inside_$name $name+$INSIDE"
	done >$TRACING/kprobe_events
	for name in $OTHERS; do
		echo "p:other_${name#*+} $name" >>$TRACING/kprobe_events
	done
	echo 1 >$TRACING/events/kprobes/enable
}

# Probes are traps until every load has gone through them, then jumps where they can be: what makes
# these waits for all tasks first.
pass()
{
	local optimize=/proc/sys/debug/kprobes-optimization
	switch 0 $optimize
	sleep 0.1
	switch 1 $optimize
	sleep 0.4
}

# A program of BPF, for as long as perf records: perf knows the code of those that are there when it
# begins. The workload has it call another or not.
program_begin()
{
	bpf hrtimer_start >"$DIR/program" &
	PROGRAM=$!
	export PROGRAM
	for _ in $(seq 100); do
		[ ! -s "$DIR/program" ] || return 0
		sleep 0.1
	done
	return 1
}

program_end()
{
	kill "$PROGRAM" && rm "$DIR/program"
}

tail_call()
{
	case $1 in
	1) kill -USR1 "$PROGRAM" ;;
	0) kill -USR2 "$PROGRAM" ;;
	esac
}

# A load that was bound to the CPU goes on elsewhere, and is bound to it once more.
cpus()
{
	local last=$(($(nproc) - 1))
	echo 0 >/sys/devices/system/cpu/cpu$last/online
	keys 0 $SAMPLE
	keys 1 $SAMPLE
	echo 1 >/sys/devices/system/cpu/cpu$last/online
	taskset -p $((1 << last)) "${LOADS##* }" >/dev/null
}

change_text()
{
	tracer function
	keys 1 $SAMPLE
	tail_call 1
	probes 1
	for what; do "$what"; done
	keys 0 $SAMPLE
	tail_call 0
	probes 0
	tracer nop
}

workload()
{
	mkfifo "$DIR/pause"
	load_begin
	sync
	for _ in $(seq 2 "$TURNS"); do change_text; done
	# shellcheck disable=SC2086  # they are several
	change_text $MORE
	sync
	load_end
	rm "$DIR/pause"
}

# What system calls are called, and what is behind all that the tracer's call needs at the entry of
# a function.
machine()
{
	case $(uname -m) in
	x86_64) CALLS=__x64_sys_ INSIDE=9 ;;
	aarch64) CALLS=__arm64_sys_ INSIDE=16 ;;
	riscv64) CALLS=__riscv_sys_ INSIDE=8 ;;
	*)
		CALLS=sys_ INSIDE=16
		# Most instructions are emulated there; those of the timer's registers are not.
		for at in $(seq 16 4 44); do
			OTHERS="$OTHERS decrementer_set_next_event+$at"
		done
		;;
	esac
}

# perf's clock is another until the kernel has measured that of the CPU once more.
record()
{
	mkdir -p "$DIR" || exit
	modprobe $MODULE
	echo 0 >$TRACING/tracing_on
	for name in $FUNCTIONS "$CALLS*"; do
		echo "$name" >>$TRACING/set_ftrace_filter
	done 2>/dev/null
	sleep 3
	program_begin || exit
	# shellcheck disable=SC2086  # they are several
	perf record --kcore -a -e dummy --switch-events -m 8M -N -B -o "$DIR/perf.data" -- \
		"$JOB" --workload "$DIR" "$TURNS" $MORE || exit
	program_end || exit
	cd "$DIR" && send_out .
}

JOB=$0
DO=record
if [ "$1" = --workload ]; then
	DO=workload
	shift
fi
DIR=$1
TURNS=$2
shift 2
MORE=$*
PAUSE=0.05
machine
$DO
