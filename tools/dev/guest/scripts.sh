# SPDX-License-Identifier: GPL-2.0
#
# Runs scripts of the kernel's selftests that need nothing else, in /scripts, in the words of the
# selftests' runner: they end with 0, or with 4 if they cannot do anything here.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
suite=scripts
number=0

script()
{
	bash "$1" >/tmp/said 2>&1
	code=$?
	sed 's/^/# /' /tmp/said
	name=${1##*/}
	if [ $code = 4 ]; then
		number=$((number + 1))
		echo "ok $number selftests: $suite: $name # SKIP $(tail -n 1 /tmp/said)"
	else
		[ $code = 0 ]
		result "$name"
	fi
}

tests()
{
	local each
	set -- /scripts/*.sh
	echo "1..$(($# + 1))"
	for each; do script "$each"; done
	quiet
	result no-complaint
}

tests >/tmp/selftests.ktap
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
