# SPDX-License-Identifier: GPL-2.0
#
# A tracer goes, but the call that leads to it cannot be removed: ftrace says so and stops for
# good, and what is still called stays. In the words of the selftests' runner.
#
# The tracer is that of an instance, whose ops are allocated: with them goes the trampoline that
# ftrace has made for them, where it makes any.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh

FAIL=/sys/kernel/debug/fail_text_poke
# TEXT_POKE_FAULT_MAP
NO_ALIAS=0x1
INSTANCE=/sys/kernel/tracing/instances/stays
# Reading /proc/version calls it.
FUNCTION=version_proc_show
suite=stays

call()
{
	grep -q ^Linux /proc/version
}

trampolines()
{
	sed -n '/__builtin__ftrace/s/ .*//p' /proc/kallsyms
}

trace()
{
	mkdir $INSTANCE &&
		echo $FUNCTION >$INSTANCE/set_ftrace_filter &&
		echo function >$INSTANCE/current_tracer
}

# This task cannot map text for writing; all others can.
trace_no_more_in_vain()
{
	echo $NO_ALIAS >$FAIL/points
	echo -1 >$FAIL/times
	echo 0 >$FAIL/verbose
	echo Y >$FAIL/task-filter
	echo 100 >$FAIL/probability
	(echo 1 >/proc/self/make-it-fail && echo nop >$INSTANCE/current_tracer)
	echo 0 >$FAIL/probability
	echo N >$FAIL/task-filter
}

says_so()
{
	dmesg -c >/tmp/said
	sed 's/^/# /' /tmp/said
	grep -q "WARNING: .*ftrace" /tmp/said
}

cases()
{
	local before directive
	trace && call && grep -q $FUNCTION $INSTANCE/trace
	result the-function-is-traced
	before=$(trampolines)
	[ "$before" ] || directive="# SKIP ftrace makes no trampolines on this architecture"
	quiet
	result quiet-before

	trace_no_more_in_vain
	says_so
	result the-failure-is-told
	[ "$(trampolines)" = "$before" ]
	result the-trampoline-stays ${directive:+"$directive"}
	# Its ops are in there, which whatever is still called takes for its own.
	! rmdir $INSTANCE
	result the-instance-stays
	call && call && call
	result the-function-can-still-be-called
	quiet
	result quiet-at-the-end
}

{
	echo 1..7
	dmesg -c >/dev/null
	cases
} >/tmp/selftests.ktap
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
