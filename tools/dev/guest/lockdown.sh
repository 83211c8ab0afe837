# SPDX-License-Identifier: GPL-2.0
#
# What root may do, in each mode of lockdown, in the words of the selftests' runner.

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

# try NAME COMMAND...
try()
{
	local name=$1 word=ok
	shift
	number=$((number + 1))
	"$@" >/tmp/said || word="not ok"
	sed 's/^/# /' /tmp/said
	echo "$word $number selftests: text_poke: $name-$mode"
}

mount -t securityfs securityfs /sys/kernel/security || exit
cd /selftests/text_poke || exit
echo 1..9 >/tmp/selftests.ktap
for mode in none integrity confidentiality; do
	[ $mode = none ] || echo $mode >$LOCKDOWN || exit
	grep -q "\[$mode\]" $LOCKDOWN || exit
	for test in records_need_privilege knobs_need_privilege; do
		try $test ./$test
	done
	try tracepoints tracepoints $mode
done >>/tmp/selftests.ktap
# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
cd /tmp && send_out selftests.ktap
