# SPDX-License-Identifier: GPL-2.0
#
# Lets calls and returns go astray, first in a text at rest, then in one full of traps, in the
# words of the selftests' runner. Whether the kernel catches them must not depend on that.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
# shellcheck source=tools/dev/guest/armed.sh
. /lib/armed.sh

PROVOKE=/sys/kernel/debug/provoke-crash/DIRECT
CAUGHT="call trace:|ok: control flow unchanged"
UNPROTECTED="this kernel .* was built \*without\*"
suite=lkdtm

# provoke CASE WHEN: it kills the task that asks for it.
provoke()
{
	local directive
	quiet
	result "$1-$2-quiet-before"
	echo "$1" | cat >$PROVOKE
	dmesg -c >/tmp/said
	sed 's/^/# /' /tmp/said
	grep -qE "$UNPROTECTED" /tmp/said &&
		directive="# SKIP this kernel is built without what catches it"
	grep -qiE "$CAUGHT" /tmp/said
	result "$1-$2" ${directive:+"$directive"}
}

cases()
{
	provoke CFI_FORWARD_PROTO "$1"
	provoke CFI_BACKWARD "$1"
}

armed()
{
	local traps
	arm_text 5000
	result the-text-gets-full-of-traps
	traps=$(counter traps)
	cases armed
	trapping
	result the-text-is-still-full-of-traps
	end_batch
	echo "# traps $(($(counter traps) - traps))"
	quiet
	result quiet-at-the-end
}

{
	echo 1..11
	dmesg -c >/dev/null
	cases idle
	armed
} >/tmp/selftests.ktap
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
