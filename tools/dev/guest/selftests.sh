# SPDX-License-Identifier: GPL-2.0
#
# Runs the kernel's selftests of the given targets with their own runner and sends out what
# it prints. Its exit status is not the verdict: the host reads the results.
#
#	selftests.sh TARGET...
# The runner asks for --foreground, which busybox does not know and does not need here.
rm -f /usr/bin/timeout
cat >/usr/bin/timeout <<'END'
#!/bin/sh
if [ "$1" = --foreground ]; then shift; fi
exec busybox timeout "$@"
END
chmod +x /usr/bin/timeout

cd /selftests || exit
for target; do
	collections="$collections -c $target"
done
./run_kselftest.sh $collections >/tmp/selftests.ktap 2>&1
cat /tmp/selftests.ktap
. /lib/textpoke.sh
cd /tmp && send_out selftests.ktap
