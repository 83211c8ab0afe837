# SPDX-License-Identifier: GPL-2.0
#
# Runs the kernel's selftests of the given targets with their own runner and sends out what
# it prints. Its exit status is not the verdict: the host reads the results.
#
#	selftests.sh TARGET...
# The runner asks for --foreground, which busybox does not know and does not need here;
# and where tests ask modprobe with -n whether it could, busybox has -D.
rm -f /usr/bin/timeout /sbin/modprobe
cat >/usr/bin/timeout <<'END'
#!/bin/sh
if [ "$1" = --foreground ]; then shift; fi
exec busybox timeout "$@"
END
cat >/sbin/modprobe <<'END'
#!/bin/sh
for word; do
	shift
	if [ "$word" = -n ]; then word=-D; fi
	set -- "$@" "$word"
done
exec busybox modprobe "$@"
END
chmod +x /usr/bin/timeout /sbin/modprobe

cd /selftests || exit
for target; do
	collections="$collections -c $target"
done
# Through a pipe, for the runner opens its output twice, and in a file it would write over itself.
./run_kselftest.sh $collections 2>&1 | cat >/tmp/selftests.ktap
cat /tmp/selftests.ktap
. /lib/textpoke.sh
cd /tmp && send_out selftests.ktap
