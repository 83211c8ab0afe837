# SPDX-License-Identifier: GPL-2.0
#
# For jobs in the guest: report, give a verdict, send files out, keep CPUs busy.
# Read with `. /lib/textpoke.sh`.
#
# The verdict and the files go through virtio ports, not the console: whatever a test
# or the kernel prints can neither fake nor garble them.

# The device of port org.textpoke.$1. Its name arrives a moment after the driver does.
textpoke_port()
{
	local port
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		for port in /sys/class/virtio-ports/*; do
			if [ "$(cat "$port/name" 2>/dev/null)" = "org.textpoke.$1" ]; then
				echo "/dev/${port##*/}"
				return 0
			fi
		done
		[ -n "$2" ] && return 1
		sleep 0.2
	done
	echo "textpoke: there is no port org.textpoke.$1" >&2
	return 1
}

# verdict STATUS: say how it went (0: passed) and power off. Does not return.
verdict()
{
	local port
	if port=$(textpoke_port verdict); then
		echo "$1" >"$port"
	fi
	sync
	poweroff -f
	while :; do sleep 1000; done
}

# send_out PATH...: send files or folders to the host, as one tar stream, paths as given.
send_out()
{
	local port
	port=$(textpoke_port out) && tar -cf "$port" "$@"
}

# result WORDS: whether what was done before it succeeded, as the next line of $suite in a report
# in the words of the selftests' runner.
result()
{
	if [ $? = 0 ]; then word=ok; else word="not ok"; fi
	number=$((number + 1))
	# shellcheck disable=SC2154  # the job says which
	echo "$word $number selftests: $suite: $*"
}

COMPLAINT="WARNING: |BUG: |kernel BUG|Oops|Unable to handle|rcu: INFO|lockup"

# Has the kernel said nothing bad since we last looked?
quiet()
{
	! dmesg -c | grep -E "$COMPLAINT" | sed 's/^/# /' | grep .
}

# coverage: put into gcov/ what the kernel has counted of its own lines, and name that folder;
# for those that are sent out. A kernel that does not count has nothing to send.
coverage()
{
	local file from=/sys/kernel/debug/gcov
	[ -d $from ] || return 0
	find $from -name '*.gcda' | while read -r file; do
		mkdir -p "gcov/$(dirname "${file#"$from"/}")"
		cat "$file" >"gcov/${file#"$from"/}"
	done
	echo gcov
}

# load_begin: what the job calls load() runs on each CPU, until load_end. What changes text goes
# first there.
load_begin()
{
	local cpu
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		load &
		taskset -p $((1 << cpu)) $! >/dev/null
		renice -n 10 $! >/dev/null
		LOADS="$LOADS $!"
	done
}

# shellcheck disable=SC2086  # they are several
load_end()
{
	kill $LOADS
	wait $LOADS
}

# switch 0|1 FILE...: write it into those that there are.
switch()
{
	local file to=$1
	shift
	for file; do
		if [ -w "$file" ]; then echo "$to" >"$file"; fi
	done
}

TRACING=/sys/kernel/tracing

# keys 0|1 [FILE...]: static keys and static calls, and what these files switch.
keys()
{
	local to=$1
	shift
	switch "$to" /proc/sys/kernel/sched_schedstats /proc/sys/kernel/bpf_stats_enabled \
		$TRACING/events/sched/enable $TRACING/events/raw_syscalls/enable "$@"
}

tracer()
{
	echo "$1" >$TRACING/current_tracer
}
