# SPDX-License-Identifier: GPL-2.0
#
# For jobs in the guest: a text full of traps, for as long as it takes. Read with `. /lib/armed.sh`.

FAIL=/sys/kernel/debug/fail_text_poke
STATS=/sys/kernel/debug/text_poke/stats
# TEXT_POKE_FAULT_SYNC
SLOW_SYNC=0x20

counter()
{
	sed -n "s/^$1 //p" $STATS
}

# begin_batch MILLISECONDS: each sync takes that long, and the tracer's batch has many.
begin_batch()
{
	echo $SLOW_SYNC >$FAIL/points
	echo "$1" >$FAIL/delay
	echo -1 >$FAIL/times
	echo 0 >$FAIL/verbose
	echo 100 >$FAIL/probability
	echo function >/sys/kernel/tracing/current_tracer &
}

# Are traps hit all the time?
trapping()
{
	local traps
	traps=$(counter traps)
	sleep 0.2
	[ $(($(counter traps) - traps)) -gt 100 ]
}

# arm_text MILLISECONDS: returns when traps are hit all the time, and whether they are.
arm_text()
{
	# While an event listens every batch is guarded, on every architecture.
	/selftests/text_poke/listen sleep 1000 &
	sleep 1
	echo 0 >/sys/kernel/tracing/tracing_on
	begin_batch "$1"
	for _ in $(seq 300); do
		trapping && return
	done
	return 1
}

# Lets the batch come to its end, and waits for it.
end_batch()
{
	echo 0 >$FAIL/probability
	until echo nop >/sys/kernel/tracing/current_tracer; do sleep 1; done
}
