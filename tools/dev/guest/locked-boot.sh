# SPDX-License-Identifier: GPL-2.0
#
# A kernel that is locked down from the start breaks nothing, whatever its command line says,
# in the words of the selftests' runner.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh

suite=lockdown

# The words are there, and the kernel was asked and said no.
asked_for()
{
	local words="lockdown=integrity.* text_poke.busted=no-sync-c text_poke_torture.run=1"
	grep -q "$words" /proc/cmdline &&
		dmesg | grep -q "Lockdown: .* is restricted"
}

{
	echo 1..3
	asked_for
	result the-kernel-was-told-to-break-itself
	! dmesg | grep -q "breaking on purpose" &&
		grep -q "^\[NOTHING\]$" /sys/module/text_poke/parameters/busted
	result nothing-is-busted
	grep -q N /sys/module/text_poke_torture/parameters/run && ! dmesg | grep -q "torture module"
	result nothing-is-tortured
} >/tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
