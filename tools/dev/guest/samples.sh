# SPDX-License-Identifier: GPL-2.0
#
# Loads the kernel's samples of direct calls and of ftrace's users, one after another, waits for
# what each has to say, and unloads it, in the words of the selftests' runner. One that is loaded
# again must find everything as the first one did.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh

# Some change what they say every two seconds.
PATIENCE=60
COMPLAINT="$COMPLAINT|Counter called"
suite=samples
again=

# said FILE PATTERN...: does the file come to have lines of each? Each turn wakes tasks and has
# page faults.
said()
{
	local tries=0 pattern file=$1
	shift
	for pattern; do
		until grep -q -- "$pattern" "$file"; do
			tries=$((tries + 1))
			[ $tries -le $PATIENCE ] || return
			sleep 1
			dmesg >/tmp/dmesg
		done
	done
}

# Has the kernel said nothing bad, and does it call no tracer any more?
at_rest()
{
	quiet && [ ! -s $TRACING/enabled_functions ]
}

# sample "MODULE OPTION..." FILE PATTERN...: nothing that it says is from before.
sample()
{
	local load=$1 name=${1%% *}
	shift
	echo >$TRACING/trace
	dmesg -c >/dev/null
	: >/tmp/dmesg
	# shellcheck disable=SC2086  # its options
	modprobe $load
	result "$name-loads$again"
	said "$@"
	result "$name-says-what-it-is-to-say$again"
	rmmod "$(echo "$name" | tr - _)"
	result "$name-unloads$again"
	at_rest
	result "$name-leaves-nothing-behind$again"
}

samples()
{
	local trace=$TRACING/trace
	sample ftrace-direct $trace "waking up .*-[0-9]"
	sample ftrace-direct-too $trace "handle mm fault vma="
	sample ftrace-direct-modify $trace "my direct func1" "my direct func2"
	sample ftrace-direct-multi $trace ": ip [0-9a-f]\{8\}"
	sample ftrace-direct-multi-modify $trace "my direct func1 ip [0-9a-f]" \
		"my direct func2 ip [0-9a-f]"
	sample "ftrace-ops persist=1 check_count=1 nr_ops_relevant=2 nr_ops_irrelevant=2" \
		/tmp/dmesg "Attempted [0-9]* calls"
}

{
	echo 1..48
	samples
	again=-again
	samples
} >/tmp/selftests.ktap
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
