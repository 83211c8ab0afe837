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

# The tracer's batch has several waves, and each sync takes seconds.
begin_batch()
{
	echo $SLOW_SYNC >$FAIL/points
	echo 3000 >$FAIL/delay
	echo -1 >$FAIL/times
	echo 0 >$FAIL/verbose
	echo 100 >$FAIL/probability
	BATCHES=$(counter batches)
	SYNCS=$(counter syncs)
	echo function >/sys/kernel/tracing/current_tracer &
}

# The first wave traps, for a sync has begun and the batch is not over.
in_the_middle()
{
	[ "$(counter syncs)" -gt "$SYNCS" ] && [ "$(counter batches)" = "$BATCHES" ]
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
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	in_the_middle && break
	sleep 0.1
done
in_the_middle || exit
TRAPS=$(counter traps)
sleep 0.5
[ "$(counter traps)" -gt "$TRAPS" ] || exit
in_the_middle || exit
echo "the text is full of traps" >/dev/kmsg
if [ "$1" = kexec ]; then
	kexec now
else
	echo c >/proc/sysrq-trigger
fi
# It has not ended.
exit 1
