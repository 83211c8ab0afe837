# SPDX-License-Identifier: GPL-2.0
#
# Does the kernel tell at boot, once, that harts do not announce Ziccif, and say nothing of it
# where they do? In the words of the selftests' runner; which of the two it was is in the name.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh

WARNING="Ziccif is not announced"
suite=ziccif

# A hart's line is that of what all have in common, or that of its own.
announced()
{
	grep -Eq "^isa.*_ziccif(_|\$)" /proc/cpuinfo
}

told()
{
	dmesg | grep -c "$WARNING"
}

cases()
{
	grep "^isa" /proc/cpuinfo | sort -u | sed 's/^/# /'
	dmesg | grep "$WARNING" | sed 's/^/# /'
	if announced; then
		[ "$(told)" = 0 ]
		result announced-and-no-warning
	else
		[ "$(told)" = 1 ]
		result absent-and-told
	fi
}

{
	echo 1..1
	cases
} >/tmp/selftests.ktap
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
