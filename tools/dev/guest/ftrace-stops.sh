# SPDX-License-Identifier: GPL-2.0
#
# Has ftrace stop for good: a tracer that has a trampoline of its own is switched off, and the
# store that would take the call away fails. Then makes that call, over and over.

FAIL=/sys/kernel/debug/fail_text_poke
TRACER=/sys/kernel/tracing/instances/kept
# TEXT_POKE_FAULT_STORE
STORE=0x2

mkdir $TRACER || exit
echo vfs_open >$TRACER/set_ftrace_filter || exit
echo function >$TRACER/current_tracer || exit
echo $STORE >$FAIL/points
echo -1 >$FAIL/times
echo 0 >$FAIL/verbose
echo 100 >$FAIL/probability
echo nop >$TRACER/current_tracer
echo 0 >$FAIL/probability

# What may be freed is freed after a grace period.
sleep 5
for i in $(seq 1000); do
	read line </proc/version || exit
done
echo "the call goes where it went" >/dev/kmsg
