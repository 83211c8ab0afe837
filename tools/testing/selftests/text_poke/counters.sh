# SPDX-License-Identifier: GPL-2.0
# What the shell tests share: counters of the text poke core, and knobs that
# change text. Sourced from the folder of the tests.

. ./../kselftest/ktap_helpers.sh

STATS=/sys/kernel/debug/text_poke/stats
TRACING=/sys/kernel/tracing
SCHEDSTATS=/proc/sys/kernel/sched_schedstats

mount_debugfs()
{
	grep -q ' /sys/kernel/debug debugfs ' /proc/mounts ||
		mount -t debugfs none /sys/kernel/debug
}

# Skips the whole test on a kernel, or for a user, that cannot do it.
need_counters()
{
	mount_debugfs
	[ -e $TRACING/current_tracer ] || mount -t tracefs none $TRACING
	for file in $STATS $TRACING/current_tracer $SCHEDSTATS; do
		[ -r "$file" ] && continue
		ktap_skip_all "$file is not there"
		exit "$KSFT_SKIP"
	done
}

# Skips the whole test on a kernel without the tracepoints.
EVENTS=$TRACING/events/text_poke
need_events()
{
	[ -e $EVENTS/enable ] && return
	ktap_skip_all "$EVENTS is not there"
	exit "$KSFT_SKIP"
}

# Remembers every counter; "grown NAME" then tells by how much one grew.
counters_begin()
{
	BEFORE=$(cat $STATS)
}

counters_end()
{
	AFTER=$(cat $STATS)
}

# Of a counter that is not there, a word that meets no expectation.
grown()
{
	before=$(echo "$BEFORE" | sed -n "s/^$1 //p")
	after=$(echo "$AFTER" | sed -n "s/^$1 //p")
	if [ "$before" ] && [ "$after" ]; then
		echo $((after - before))
	else
		echo missing
	fi
}

# Batches of this shell alone, from own_begin() on, whatever else changes text.
OWN=$TRACING/instances/text_poke.$$
own_begin()
{
	mkdir $OWN && echo 1 > $OWN/events/text_poke/text_poke_batch_begin/enable
}

own_forget()
{
	echo > $OWN/trace
}

own_batches()
{
	grep -c -- "-$$ .*: text_poke_batch_begin: " $OWN/trace
}

own_end()
{
	[ ! -d $OWN ] || rmdir $OWN
}

# keep FILE...: they have the same values again when the test ends, however it
# does; the last one first.
KEPT=
keep()
{
	for file; do
		KEPT="$file $(cat "$file")
$KEPT"
	done
	trap put_back EXIT
	trap 'exit 1' INT TERM HUP
}

put_back()
{
	while read -r file value; do
		[ -z "$file" ] || echo "$value" > "$file"
	done <<-END
		$KEPT
	END
}

toggle_key()
{
	echo 1 > $SCHEDSTATS
	echo 0 > $SCHEDSTATS
}

toggle_tracer()
{
	echo function > $TRACING/current_tracer
	echo nop > $TRACING/current_tracer
}

# Is every instruction changed with a trap, whether an event listens or not?
always_guarded()
{
	case $(uname -m) in
	x86_64|i?86) true ;;
	*) false ;;
	esac
}

# How many guarded batches may one switch of a tracer take where others are
# direct? With ftrace_mflr=remove, powerpc changes mflr in a batch of its own.
guarded_per_tracer()
{
	if grep -qw ftrace_mflr=remove /proc/cmdline; then
		echo 1
	else
		echo 0
	fi
}

# expect NAME "LEFT OPERATOR RIGHT": the numbers are part of the result line.
expect()
{
	# shellcheck disable=SC2086  # an expression
	if [ $2 ]; then
		ktap_test_pass "$1: $2"
	else
		ktap_test_fail "$1: $2"
	fi
}
