# SPDX-License-Identifier: GPL-2.0
#
# Who may do what, in each mode of lockdown, in the words of the selftests' runner.

LOCKDOWN=/sys/kernel/security/lockdown
EVENTS=/sys/kernel/tracing/events/text_poke

# Tracepoints can be had, but in confidentiality mode.
tracepoints()
{
	if echo 1 2>/dev/null >$EVENTS/enable; then
		echo 0 >$EVENTS/enable
		[ "$1" != confidentiality ]
	else
		[ "$1" = confidentiality ]
	fi
}

mount -t securityfs securityfs /sys/kernel/security || exit
cd /selftests/text_poke || exit
echo 1..9 >/tmp/selftests.ktap
for mode in none integrity confidentiality; do
	[ $mode = none ] || echo $mode >$LOCKDOWN || exit
	grep -q "\[$mode\]" $LOCKDOWN || exit
	for test in records_need_privilege knobs_need_privilege; do
		number=$((number + 1))
		if ./$test >/tmp/said; then word=ok; else word="not ok"; fi
		sed 's/^/# /' /tmp/said
		echo "$word $number selftests: text_poke: $test-$mode"
	done
	number=$((number + 1))
	if tracepoints $mode; then word=ok; else word="not ok"; fi
	echo "$word $number selftests: text_poke: tracepoints-$mode"
done >>/tmp/selftests.ktap
. /lib/textpoke.sh
cd /tmp && send_out selftests.ktap
