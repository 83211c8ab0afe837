# SPDX-License-Identifier: GPL-2.0
#
# Runs the kernel's selftests of the given targets with their own runner and sends out what
# it prints. Its exit status is not the verdict: the host reads the results.
#
#	selftests.sh TARGET...

# stand_in NAME: the script on stdin takes the place of busybox's applet, if it has one.
stand_in()
{
	local path
	path=$(which "$1" || echo "/usr/bin/$1")
	rm -f "$path"
	cat >"$path"
	chmod +x "$path"
}

# The runner asks for --foreground, which busybox does not know and does not need here, and
# its 0 means no limit.
stand_in timeout <<'END'
#!/bin/sh
if [ "$1" = --foreground ]; then shift; fi
if [ "$1" = 0 ]; then
	shift
	exec "$@"
fi
exec busybox timeout "$@"
END

# Where tests ask modprobe with -n whether it could, busybox has -D.
stand_in modprobe <<'END'
#!/bin/sh
for word; do
	shift
	if [ "$word" = -n ]; then word=-D; fi
	set -- "$@" "$word"
done
exec busybox modprobe "$@"
END

# The livepatch tests want some things in the words of other programs than busybox's: a unique
# time, whether a module is a live patch, why a variable could not be set, what the mode of a file
# is, and the number of CPUs.
stand_in date <<'END'
#!/bin/sh
if [ "$1" = --rfc-3339=ns ]; then
	exec cat /proc/uptime
fi
exec busybox date "$@"
END

stand_in modinfo <<'END'
#!/bin/sh
tr '\0' '\n' <"$1" | sed -n 's/^livepatch=/livepatch: /p'
END

stand_in sysctl <<'END'
#!/bin/sh
if [ "$1" = --values ]; then
	shift
	set -- -n "$@"
fi
for name; do :; done
busybox sysctl "$@" 2>/tmp/sysctl.err
code=$?
sed "s/write error:/setting key \"${name%=*}\":/" /tmp/sysctl.err >&2
exit $code
END

stand_in stat <<'END'
#!/bin/sh
if [ "$1" = --format ]; then
	shift
	set -- -c "$@"
fi
exec busybox stat "$@"
END

stand_in getconf <<'END'
#!/bin/sh
exec nproc
END

# Their modules are built already; they only ask whether there is a folder to build them in.
export KDIR=/

# There is no network. Tests want a task of this name that sleeps and is woken a few times.
stand_in ping <<'END'
#!/bin/sh
for turn in 1 2 3; do sleep 0.1; done
END

# nice -n N PROGRAM...: busybox has renice only.
stand_in nice <<'END'
#!/bin/sh
renice -n "$2" -p $$ >/dev/null
program=$(which "$3")
shift 3
exec "$program" "$@"
END

# Some of ftrace's tests look for their PID in whole lines of the trace: one of three digits
# is found in many a time stamp, one of seven in none.
echo 4194304 >/proc/sys/kernel/pid_max || exit
echo 1000000 >/proc/sys/kernel/ns_last_pid || exit

cd /selftests || exit
if [ -d ftrace ]; then
	# Else busybox's shell takes its own applet.
	printf '\nalias ping=/bin/ping\n' >>ftrace/test.d/functions
	# That of 1.38 reads for ever once it has caught a signal. bash does not, but is slower.
	if ! timeout 10 sh -c 'trap : USR1; kill -USR1 $$; read -r line </proc/version'; then
		sed -i '1s,.*,#!/bin/bash --posix,' ftrace/ftracetest
	fi
fi
for target; do
	collections="$collections -c $target"
done
# Through a pipe, for the runner opens its output twice, and in a file it would write over itself.
# shellcheck disable=SC2086  # options and their values
./run_kselftest.sh $collections 2>&1 | tee /tmp/selftests.ktap
# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
# shellcheck disable=SC2046  # there may be no folder to send
cd /tmp && send_out selftests.ktap $(coverage)
