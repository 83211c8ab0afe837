# SPDX-License-Identifier: GPL-2.0
#
# Ends this kernel in the middle of a batch, while thousands of functions trap.
#
#	ending.sh panic|crash|kexec [COMMANDLINE]
#
# The kernel that comes next, if there is one, runs /next.cpio.gz.

FAIL=/sys/kernel/debug/fail_text_poke
STATS=/sys/kernel/debug/text_poke/stats
# TEXT_POKE_FAULT_SYNC
SLOW_SYNC=0x20

counter()
{
	sed -n "s/^$1 //p" $STATS
}

# Each sync takes a second, and the tracer's batch has many.
begin_batch()
{
	echo $SLOW_SYNC >$FAIL/points
	echo 1000 >$FAIL/delay
	echo -1 >$FAIL/times
	echo 0 >$FAIL/verbose
	echo 100 >$FAIL/probability
	echo function >/sys/kernel/tracing/current_tracer &
}

# Are traps hit all the time?
trapping()
{
	local traps=$(counter traps)
	sleep 0.2
	[ $(($(counter traps) - traps)) -gt 100 ]
}

case $1 in
crash) kexec crash /next.kernel /next.cpio.gz "$2" || exit ;;
kexec) kexec load /next.kernel /next.cpio.gz "$2" || exit ;;
esac

# Whoever listens lets every batch be guarded, on every architecture.
/selftests/text_poke/listen sleep 1000 &
sleep 1
echo 0 >/sys/kernel/tracing/tracing_on
begin_batch
for try in $(seq 300); do
	trapping && break
done
trapping || exit
echo "the text is full of traps" >/dev/kmsg
if [ "$1" = kexec ]; then
	kexec now
else
	echo c >/proc/sysrq-trigger
fi
# It has not ended.
exit 1
