# SPDX-License-Identifier: GPL-2.0
#
# What is still called, because the call could not be changed, stays. In the words of the
# selftests' runner.
#
# A static call goes from a function of one module to that of another, and cannot go back: the
# module stays until it can. One whose init fails then goes all the same, which is told. The modules
# are in stays-modules.
#
# A preemption model and debug messages, each a group of changes, are as they were.
#
# A tracer goes, but the call that leads to it cannot be removed: ftrace says so and stops for
# good.
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
MODULES=/stays-modules
CALL=/sys/module/stays_key/parameters
MODEL=/sys/kernel/debug/sched/preempt
CONTROL=/proc/dynamic_debug/control
CLASSES=/sys/module/test_dynamic_debug/parameters/p_disjoint_bits
# Has some messages, and says nothing unless objects come and go.
FILE=lib/kobject.c
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

# may_fail COMMAND...: a task of it that says so cannot map text for writing; all others can.
may_fail()
{
	local status
	echo $NO_ALIAS >$FAIL/points
	echo -1 >$FAIL/times
	echo 0 >$FAIL/verbose
	echo Y >$FAIL/task-filter
	echo 100 >$FAIL/probability
	"$@"
	status=$?
	echo 0 >$FAIL/probability
	echo N >$FAIL/task-filter
	return $status
}

write_in_vain()
{
	(echo 1 >/proc/self/make-it-fail && echo "$1" >"$2")
}

# in_vain VALUE FILE: write it there, by a task that cannot map text for writing.
in_vain()
{
	may_fail write_in_vain "$@"
}

# says WORDS: the kernel has said something since we last looked, and these among it.
says()
{
	dmesg -c >/tmp/said
	sed 's/^/# /' /tmp/said
	grep -q "$1" /tmp/said
}

answer()
{
	[ "$(cat $CALL/answer)" = "$1" ]
}

# Where static calls are pointers, none of their text is changed.
of_static_calls()
{
	local directive
	insmod $MODULES/stays_key.ko && answer 1 && insmod $MODULES/stays_func.ko && answer 2
	result the-call-goes-to-another-module
	in_vain 1 $CALL/back
	if answer 1; then directive="# SKIP static calls are pointers on this architecture"; fi
	[ "$directive" ] || says "error .*, unchanged"
	result that-it-stays-is-told ${directive:+"$directive"}
	[ "$directive" ] || { answer 2 && ! rmmod stays_func 2>/dev/null && answer 2; }
	result so-the-module-stays ${directive:+"$directive"}
	echo 1 >$CALL/back && answer 1 && rmmod stays_func && answer 1
	result the-module-goes-when-it-is-called-no-more

	quiet
	may_fail insmod $MODULES/stays_fails.ko 2>/dev/null
	[ "$directive" ] || says "stays_fails is going, and may still be called"
	result a-module-that-fails-goes-and-is-told ${directive:+"$directive"}
	echo 1 >$CALL/back && answer 1
	result the-call-is-good-again

	rmmod stays_key && quiet
	result quiet-so-far
}

# model NAME: is that what the preemption model is?
model()
{
	grep -q "($1)" $MODEL
}

messages()
{
	grep -c "^$FILE:.*=p " $CONTROL
}

model_stays()
{
	echo full >$MODEL && ! in_vain none $MODEL && model full && says "error .*, unchanged"
}

model_changes()
{
	echo none >$MODEL && model none
}

messages_stay_off()
{
	! in_vain "file $FILE +p" $CONTROL && [ "$(messages)" = 0 ] && says "error .*, unchanged"
}

messages_are_switched()
{
	echo "file $FILE +p" >$CONTROL && [ "$(messages)" != 0 ] || return
	echo "file $FILE -p" >$CONTROL && [ "$(messages)" = 0 ]
}

classes()
{
	grep -c "=p .*class:D2_" $CONTROL
}

# Each of the mappings that a write takes fails once: then no class of messages is on, those that
# were switched before it included, and the kernel has said so.
classes_stay_off()
{
	local nth=1
	echo $NO_ALIAS >$FAIL/points
	while ! (echo $nth >/proc/self/fail-nth && echo 0x3 >$CLASSES); do
		[ "$(cat $CLASSES)" = 0x0 ] && [ "$(classes)" = 0 ] || return
		nth=$((nth + 1))
	done
	echo "# $CLASSES takes $((nth - 1)) mappings"
	# At least one for each of two classes.
	[ $nth -gt 2 ] && [ "$(classes)" = 2 ] && echo 0x0 >$CLASSES && [ "$(classes)" = 0 ] &&
		says "error .*, unchanged"
}

# What changes as a group: it is as before, the writer is told, and it can be tried again.
of_groups()
{
	local directive
	[ -e $MODEL ] || directive="# SKIP the preemption model is that of the configuration"
	[ "$directive" ] || model_stays
	result a-preemption-model-stays-and-that-is-told ${directive:+"$directive"}
	[ "$directive" ] || model_changes
	result the-preemption-model-changes ${directive:+"$directive"}

	directive=
	[ -e $CONTROL ] || directive="# SKIP there is no dynamic debug"
	[ "$directive" ] || messages_stay_off
	result debug-messages-stay-off-and-that-is-told ${directive:+"$directive"}
	[ "$directive" ] || messages_are_switched
	result debug-messages-are-switched ${directive:+"$directive"}

	directive=
	modprobe test_dynamic_debug 2>/dev/null || directive="# SKIP there is no test_dynamic_debug"
	[ "$directive" ] || classes_stay_off
	result classes-of-messages-stay-off-together ${directive:+"$directive"}
}

of_ftrace()
{
	local before directive
	trace && call && grep -q $FUNCTION $INSTANCE/trace
	result the-function-is-traced
	before=$(trampolines)
	[ "$before" ] || directive="# SKIP ftrace makes no trampolines on this architecture"
	quiet
	result quiet-before

	in_vain nop $INSTANCE/current_tracer
	says "WARNING: .*ftrace"
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
	echo 1..19
	dmesg -c >/dev/null
	of_static_calls
	of_groups
	of_ftrace
} >/tmp/selftests.ktap
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
