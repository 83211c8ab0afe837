#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A service in a Debian that a package of the kernel was installed into: the tools that Debian has,
# unchanged, while the kernel's text changes beneath them. Each case is a line in the words of the
# selftests' runner, which goes to the host at once, so that one after which nothing goes on is
# known.
#
#	installed.sh		all of them
#	installed.sh CASE	one: it passed (0), has nothing to try and says why (4), or failed

# shellcheck source=tools/dev/guest/textpoke.sh
. /usr/lib/textpoke/textpoke.sh

STATS=/sys/kernel/debug/text_poke/stats
ARMING=/sys/kernel/debug/text_poke/arming_ns
STATE=/var/lib/textpoke
BTF=/sys/kernel/btf/vmlinux
PROBES=/sys/kernel/debug/kprobes/list
POWER=/sys/power
# Runs a command while an event listens: only then are batches guarded on every architecture.
LISTEN=/usr/lib/textpoke/listen
# The panicking kernel's last words, and how often it is looked for traps.
TRAPPED="textpoke: sites trap"
TRIES=600
NOTHING=4
# At least so many probes are what a wildcard is tried with.
WILD=500
# At least so many pokes is what a tracer that was turned on and off leaves.
POKES=1000
MODULES="dummy veth bridge vxlan macvlan tun loop overlay xfs btrfs nf_tables nf_conntrack
	sch_fq_codel cls_bpf kvm kvm_intel kvm_amd vhost_net nfs dm_mod dm_crypt crc32c_intel
	ghash_ce aes_ce_blk zram null_blk nbd uinput coresight coresight_funnel coresight_tmc
	coresight_etm4x"

# Without systemd's help, for which a busy host may have no time.
poweroff()
{
	/sbin/poweroff -f "$@"
}

skip()
{
	echo "SKIP $*"
	exit $NOTHING
}

# What changes text

change_text()
{
	tracer function && keys 1 && tracer nop && keys 0
}

# Until $STATE/flip is gone, in turn while no event listens and while one does.
flip_keys()
{
	while [ -e $STATE/flip ]; do
		keys 1 && "$LISTEN" "$0" keys 0 || return
	done
}

flip_all()
{
	while [ -e $STATE/flip ]; do
		change_text && "$LISTEN" "$0" change_text || return
		echo >>$STATE/flips
	done
}

# beside FLIPS COMMAND...: what the command says, while text changes as FLIPS has it. All flips have
# to work.
beside()
{
	local status flipping flips=$1
	shift
	: >$STATE/flips
	touch $STATE/flip
	echo 0 >$TRACING/tracing_on
	$flips &
	flipping=$!
	"$@"
	status=$?
	# Else what it was for may have ended before the text changed once.
	if [ "$flips" = flip_all ]; then
		while [ ! -s $STATE/flips ] && kill -0 $flipping; do sleep 1; done
	fi
	rm -f $STATE/flip
	wait $flipping || status=1
	calm
	return $status
}

# As it was before a case, whatever has become of that.
calm()
{
	rm -f $STATE/flip
	tracer nop
	keys 0
	echo 1 >$TRACING/tracing_on
}

# The system

system_runs()
{
	local state
	state=$(systemctl is-system-running --wait)
	echo "# $state, $(systemd-analyze time | head -n 1)"
	systemctl --failed --no-legend --plain
	[ "$state" = running ]
}

kernel_is_ours()
{
	uname -a
	case $(uname -r) in
	*textpoke*) cat $STATS ;;
	*) skip "$(uname -r) is Debian's own" ;;
	esac
}

counter()
{
	sed -n "s/^$1 //p" $STATS
}

# Whether a word of the command line has come about.
holds()
{
	local value=${1#*=}
	case $1 in
	nohz_full=*) [ "$(cat /sys/devices/system/cpu/nohz_full)" = "$value" ] ;;
	preempt=*) grep -qF "($value)" /sys/kernel/debug/sched/preempt ;;
	pti=on) grep -qw pti /proc/cpuinfo ;;
	kpti=on) journalctl -k --no-pager | grep -q "Kernel page table isolation" ;;
	esac
}

words_hold()
{
	local word words
	words=$(cat /proc/cmdline)
	for word in $words; do
		holds "$word" || { echo "$word has no effect" && return 1; }
	done
}

# All of that went through the core, in guarded batches too.
core_was_used()
{
	[ -r $STATS ] || skip "this kernel has no core"
	cat $STATS
	[ "$(counter pokes)" -ge $POKES ] && [ "$(counter guarded)" -gt 0 ]
}

load_modules()
{
	local name loaded=
	for name in $MODULES; do
		modinfo "$name" >/dev/null 2>&1 || continue
		# No such device is no fault of the module's.
		case $name in
		kvm_*) modprobe "$name" 2>/dev/null ;;
		*) modprobe "$name" || return ;;
		esac
		loaded="$loaded $name"
	done
	for name in $loaded; do
		modprobe -r "$name" 2>/dev/null
	done
	# shellcheck disable=SC2086  # to be counted
	set -- $loaded
	echo "$#:$loaded"
	[ $# -ge 8 ]
}

modules()
{
	beside flip_all load_modules
}

load_own()
{
	for _ in 1 2 3 4 5; do
		modprobe textpoke_module && modprobe -r textpoke_module || return
	done
}

own_module()
{
	case $(uname -r) in
	*textpoke*) beside flip_all load_own ;;
	*) skip "$(uname -r) is Debian's own" ;;
	esac
}

# perf

# recorded PERF: it records while text changes, and shows what was recorded.
recorded()
{
	local perf=$1 shown lost
	rm -rf $STATE/perf.data
	$perf --version
	$perf record --kcore -a -e dummy -m 16M -N -B -o $STATE/perf.data -- \
		"$0" change_text || return
	shown=$($perf script --show-text-poke-events -i $STATE/perf.data |
		grep -c PERF_RECORD_TEXT_POKE)
	lost=$($perf report --stats -i $STATE/perf.data 2>/dev/null |
		awk '$1 == "LOST" && $2 == "events:" { print $3 }')
	echo "$shown text pokes are shown, ${lost:-0} lost"
	rm -rf $STATE/perf.data
	[ "$shown" -ge $POKES ] && [ "${lost:-0}" = 0 ]
}

# Debian's perf has text pokes recorded with a copy of kcore only. Where programs of BPF are far
# from modules, and systemd loads some, it would copy what lies between until the disk is full.
copies_kcore()
{
	[ "$(uname -m)" != aarch64 ] ||
		skip "this perf copies all that lies between modules and programs of BPF"
}

perf_of_debian()
{
	copies_kcore
	recorded perf
}

perf_of_backports()
{
	copies_kcore
	recorded /opt/backports/usr/bin/perf
}

perf_of_ours()
{
	which perf_textpoke >/dev/null || skip "it is not installed"
	recorded perf_textpoke
}

# Made-up trace, of CoreSight too: on the machine that it is for.
tests_of_perf()
{
	perf_textpoke test "text poke" >$STATE/tests 2>&1
	cat $STATE/tests
	grep -qa "CoreSight across text pokes.*: Ok" $STATE/tests && ! grep -a FAILED $STATE/tests
}

# bpftrace

# traced PROGRAM: bpftrace counts something with it while the tracer and keys are switched.
traced()
{
	beside flip_all bpftrace -e "$1 interval:s:20 { exit(); }" >$STATE/bpftrace 2>&1
	set -- $?
	cat $STATE/bpftrace
	[ "$1" = 0 ] && grep -q '^@n: [1-9]' $STATE/bpftrace
}

bpftrace_kprobe()
{
	traced 'kprobe:vfs_read { @n = count(); } kretprobe:vfs_read { @r = count(); }'
}

want_btf()
{
	[ -r $BTF ] || skip "this kernel has no BTF: it was built without DEBUG=1"
}

bpftrace_kfunc()
{
	want_btf
	traced 'kfunc:vfs_read { @n = count(); } kretfunc:vfs_write { @w = count(); }'
}

bpftrace_tracepoint()
{
	traced 'tracepoint:sched:sched_switch { @n = count(); }
		tracepoint:raw_syscalls:sys_enter { @s = count(); }'
}

# How many of the wildcard's functions have a probe: each its own, or all the same one, which the
# function tracer calls.
probed()
{
	local list
	for list in $PROBES $TRACING/enabled_functions; do
		grep -cE '(^|[[:space:]])(ext4|vfs)_' "$list"
	done | sort -n | tail -n 1
}

# Have bpftrace end, and print its maps. It forgets a signal that comes while it does not wait for
# events, as long as it is still putting probes there.
interrupt()
{
	while [ -e "/proc/$1/exe" ]; do
		case $(cat "/proc/$1/wchan") in
		*epoll* | ep_*) kill -INT "$1" ;;
		esac
		sleep 1
	done
}

# What bpftrace puts there, it does before text changes otherwise, so that it can be counted.
bpftrace_wildcard()
{
	local tracing probes left status
	export BPFTRACE_MAX_PROBES=4096 BPFTRACE_MAX_BPF_PROGS=4096
	bpftrace -e 'kprobe:ext4_*, kprobe:vfs_* { @n = count(); }' \
		>$STATE/bpftrace 2>&1 &
	tracing=$!
	for _ in $(seq $TRIES); do
		if [ "$(probed)" -ge $WILD ] || ! kill -0 $tracing; then break; fi
		sleep 1
	done
	probes=$(probed)
	beside flip_all sleep 20
	status=$?
	left=$(probed)
	interrupt "$tracing"
	wait $tracing || status=1
	cat $STATE/bpftrace
	echo "$probes probes, $left after text has changed"
	[ $status = 0 ] && [ "$probes" -ge $WILD ] && [ "$left" -ge $WILD ] &&
		grep -q '^@n: [1-9]' $STATE/bpftrace
}

# Others

trace_cmd()
{
	local lines
	rm -f $STATE/trace.dat*
	(cd $STATE && beside flip_keys trace-cmd record -p function_graph -m 20000 -o trace.dat \
		ls -lR /etc >/dev/null) || return
	lines=$(trace-cmd report -i $STATE/trace.dat 2>/dev/null | grep -c '[{};]$')
	rm -f $STATE/trace.dat*
	echo "$lines lines of calls"
	[ "$lines" -ge 1000 ]
}

# Its own compiler may not understand the headers of a kernel that is newer than it.
bcc_funccount()
{
	[ -e "/lib/modules/$(uname -r)/build" ] ||
		skip "the headers of this kernel are not installed"
	beside flip_all funccount-bpfcc -d 20 'vfs_*' >$STATE/bcc 2>&1
	set -- $?
	if grep -q "Failed to compile" $STATE/bcc; then
		set -- "$(grep -m 1 error: $STATE/bcc)"
		skip "bcc of this Debian cannot compile against these headers: $1"
	fi
	cat $STATE/bcc
	[ "$1" = 0 ] && grep -qE "^(b')?vfs_" $STATE/bcc
}

trace_with_libbpf()
{
	funclatency -d 15 vfs_read && opensnoop -d 15
}

# They are compiled already, and want no headers.
libbpf_tools()
{
	want_btf
	beside flip_all trace_with_libbpf >$STATE/libbpf 2>&1
	set -- $?
	tail -n 40 $STATE/libbpf
	[ "$1" = 0 ] && grep -qE '[|][*]+ *[|]' $STATE/libbpf &&
		grep -qE '^[0-9]+ .* /' $STATE/libbpf
}

# stressed OPTIONS: what has nothing to do here is none of its failures.
stressed()
{
	beside flip_all stress-ng --timeout 20 "$@" >$STATE/stress 2>&1
	set -- $?
	cat $STATE/stress
	case $1 in
	# Of some classes a part lacks what it wants, or is not made for this machine.
	0 | 3 | 4) ! grep -qE "unsuccessful|stress-ng: fail" $STATE/stress || return 1 ;;
	*) return 1 ;;
	esac
	grep -q "successful run completed" $STATE/stress || skip "$(tail -n 1 $STATE/stress)"
}

stress_hotplug()
{
	[ -w /sys/devices/system/cpu/cpu1/online ] || skip "no CPU can be taken off here"
	stressed --cpu-online 1 --pathological
}

stress_modules()
{
	stress-ng --help | grep -q -e "--module " ||
		skip "stress-ng of this Debian has nothing for modules"
	stressed --module 1 --module-name dummy
}

stress_interrupts()
{
	stressed --class interrupt --sequential 1 --timeout 2
}

# Without those that are there to make a kernel complain, or to fill a machine.
stress_scheduler()
{
	stressed --class scheduler --exclude softlockup,forkheavy,loadavg --sequential 1 --timeout 1
}

stress_perf()
{
	stressed --perf --timer 1 --switch 1 --sock 1 --mmap 1
}

slept()
{
	cat $POWER/suspend_stats/success
}

# The machine's clock wakes it: from suspend to memory where the machine has that, else from idle.
# A busy host is slow to put it to sleep, and what rings before is not heard.
sleep_once()
{
	if grep -q deep $POWER/mem_sleep; then
		echo deep >$POWER/mem_sleep
		rtcwake -m mem -s 60
	else
		rtcwake -m freeze -s 60
	fi
}

sleep_twice()
{
	sleep_once && sleep_once
}

# What has not slept is no success, whatever a program says.
suspend()
{
	local before
	before=$(slept) || return
	tracer function
	beside flip_keys sleep_twice || return
	echo "slept $(($(slept) - before)) times"
	[ $(($(slept) - before)) = 2 ]
}

# Live patching

# livepatched WORD: wait until the patch is enabled (1) or gone (0).
livepatched()
{
	local state=/sys/kernel/livepatch/textpoke_livepatch
	for _ in $(seq 60); do
		if [ "$1" = 1 ]; then
			[ "$(cat $state/transition)" = 0 ] && return
		else
			[ -e $state ] || return 0
		fi
		sleep 1
	done
	echo "the transition does not end"
	return 1
}

# Either the one or the other, whole.
read_uptime()
{
	local line
	while read -r line </proc/uptime; do
		echo "$line" | grep -qxE 'replaced|[0-9.]+ [0-9.]+' || echo "$line" >>$STATE/torn
	done
}

replace_and_back()
{
	for _ in 1 2 3; do
		modprobe textpoke_livepatch && livepatched 1 || return
		grep -qx replaced /proc/uptime || return
		echo 0 >/sys/kernel/livepatch/textpoke_livepatch/enabled
		livepatched 0 && modprobe -r textpoke_livepatch || return
		grep -q replaced /proc/uptime && return 1
	done
	true
}

# shellcheck disable=SC2086  # the readers are two
replace_while_read()
{
	local readers status
	rm -f $STATE/torn
	read_uptime & readers=$!
	read_uptime & readers="$readers $!"
	replace_and_back
	status=$?
	kill $readers
	wait $readers
	[ ! -e $STATE/torn ] || { cat $STATE/torn && return 1; }
	return $status
}

livepatch()
{
	modinfo textpoke_livepatch >/dev/null 2>&1 ||
		skip "this kernel has no live patching, or the module was not built for it"
	beside flip_all replace_while_read
}

# What is reported

report()
{
	echo "$*"
	echo "$*" >"$OUT"
}

# The case's own status, or 1 if the kernel has complained meanwhile; its words are in complaints
# then.
tried()
{
	timeout -k 20 "$1" "$0" "$2" >$STATE/said 2>&1
	set -- $?
	calm
	quiet >$STATE/complaints || return 1
	return "$1"
}

# What of a failure stands behind its name: its status, the kernel's first words, and the case's
# last. Two failures that differ in one of these are not the same.
why()
{
	local complaint last
	complaint=$(sed -n '1s/^# //p' $STATE/complaints)
	last=$(grep . $STATE/said | tail -n 1 | cut -c 1-160)
	echo "exit=$1${complaint:+ $complaint}${last:+: $last}"
}

# Why a case has skipped itself.
skipped()
{
	sed -n 's/^SKIP //p' $STATE/said | tail -n 1
}

# try SECONDS CASE WORDS...: the next line.
try()
{
	local status limit=$1 name=$2
	shift 2
	number=$((number + 1))
	echo $number >$STATE/number
	tried "$limit" "$name"
	status=$?
	case $status in
	0) report "ok $number $*" ;;
	"$NOTHING") report "ok $number $* # SKIP $(skipped)" ;;
	*)
		tail -n 15 $STATE/said | while read -r line; do report "# $line"; done
		report "not ok $number $* # $(why $status)"
		;;
	esac
}

boots()
{
	number=1
	: >$STATE/said
	if quiet >$STATE/complaints; then
		report "ok 1 the kernel boots without a complaint"
	else
		report "not ok 1 the kernel boots without a complaint # $(why 1)"
	fi
}

# With other words on the command line than Debian has.
some()
{
	boots
	try 60 words_hold what the command line asks for has come about
	try 900 system_runs systemd says that the system runs
	try 900 modules modules load and go while text changes
	try 900 perf_of_ours perf of the package records text pokes and shows them
	try 600 bpftrace_kprobe bpftrace has a kprobe while the tracer and keys are switched
	try 600 bpftrace_tracepoint bpftrace has a tracepoint while the tracer and keys are switched
	try 900 trace_cmd trace-cmd records the graph of functions while keys are switched
	try 600 stress_hotplug stress-ng takes CPUs off and on while text changes
	try 60 core_was_used it was the core that changed text
	finish
}

all()
{
	boots
	try 900 system_runs systemd says that the system runs
	try 60 kernel_is_ours the kernel is the package\'s
	try 900 modules modules load and go while text changes
	try 600 own_module a module that was built with the package\'s headers switches its own key
	try 900 perf_of_debian perf of bookworm records text pokes and shows them
	try 900 perf_of_backports perf of the backports records text pokes and shows them
	try 900 perf_of_ours perf of the package records text pokes and shows them
	try 1800 tests_of_perf perf of the package passes its own tests of what decodes text pokes
	try 600 bpftrace_kprobe bpftrace has a kprobe while the tracer and keys are switched
	try 600 bpftrace_kfunc bpftrace has a kfunc while the tracer and keys are switched
	try 600 bpftrace_tracepoint bpftrace has a tracepoint while the tracer and keys are switched
	try 1800 bpftrace_wildcard \
		bpftrace has 500 probes by wildcard while the tracer and keys are switched
	try 900 trace_cmd trace-cmd records the graph of functions while keys are switched
	try 900 bcc_funccount funccount of bcc counts while the tracer and keys are switched
	try 600 libbpf_tools tools of libbpf-tools trace while the tracer and keys are switched
	try 600 stress_modules stress-ng loads modules while text changes
	try 600 stress_hotplug stress-ng takes CPUs off and on while text changes
	try 900 stress_interrupts stress-ng\'s class interrupt while text changes
	try 1200 stress_scheduler stress-ng\'s class scheduler while text changes
	try 600 stress_perf stress-ng counts events of its own while text changes
	try 900 livepatch \
		a function is replaced and put back three times while it is called and text changes
	try 60 core_was_used it was the core that changed text
	# What does not wake ends all that comes then.
	try 900 suspend the machine goes to sleep twice and wakes while keys are switched
}

# The same kernel once more, with the tracer on. What comes then is the next start of this service.
again()
{
	number=$((number + 1))
	set -- "kexec into the same kernel with the tracer on"
	if ! grep -q textpoke.kexec /proc/cmdline; then
		set -- "$1 # SKIP under this emulation the next kernel dies, tracer or no tracer"
		report "ok $number $1"
		finish
	fi
	echo $number >$STATE/number
	uname -r >$STATE/release
	if kexec -l "/boot/vmlinuz-$(uname -r)" --initrd="/boot/initrd.img-$(uname -r)" \
		--reuse-cmdline; then
		tracer function
		touch $STATE/kexec
		sync
		kexec -e
	fi
	report "not ok $number $1 # it could not be loaded"
	finish
}

came_back()
{
	number=$(cat $STATE/number)
	is_back >$STATE/said 2>&1
	result_line "kexec into the same kernel with the tracer on"
	finish
}

is_back()
{
	[ "$(uname -r)" = "$(cat $STATE/release)" ] && systemctl is-system-running --wait && quiet
}

# The status of what was done before it, as a line; of a failure with its last words.
result_line()
{
	case $? in
	0) report "ok $number $1" ;;
	"$NOTHING") report "ok $number $1 # SKIP $(skipped)" ;;
	*) report "not ok $number $1 # $(tail -n 1 $STATE/said)" ;;
	esac
}

# Are traps hit all the time?
trapping()
{
	local before
	for _ in $(seq $TRIES); do
		before=$(counter traps)
		sleep 0.2
		[ $(($(counter traps) - before)) -le 100 ] || return 0
	done
	return 1
}

# This kernel panics while sites trap, for up to a second in each group of the tracer's, and another
# takes its dump: the next start of this service is that one's.
crash()
{
	kexec -p "/boot/vmlinuz-$(uname -r)" --initrd="/boot/initrd.img-$(uname -r)" \
		--reuse-cmdline --append="nr_cpus=1 irqpoll" || return
	echo 1000000000 >$ARMING
	echo 1 >/proc/sys/kernel/sysrq
	touch $STATE/flip
	flip_all &
	if trapping; then
		echo "$TRAPPED" >/dev/kmsg
		echo c >/proc/sysrq-trigger
	fi
	rm -f $STATE/flip
	wait
	echo "the kernel has not panicked: $(counter traps) traps"
	return 1
}

# The log of the kernel that is no more tells of its end.
dumped()
{
	rm -f $STATE/log
	if ! makedumpfile --dump-dmesg /proc/vmcore $STATE/log >$STATE/why 2>&1; then
		cat $STATE/why
		if grep -q "VA Bits 52 not supported" $STATE/why; then
			skip "makedumpfile of this Debian does not know arm64's 52 bits of address"
		fi
		return 1
	fi
	grep -F "$TRAPPED" $STATE/log && grep "sysrq: Trigger a crash" $STATE/log
}

# One start of the service each: the one that panics reports only that it could not.
crash_and_dump()
{
	number=1
	if [ -e /proc/vmcore ]; then
		(dumped) >$STATE/said 2>&1
	else
		crash >$STATE/said 2>&1
	fi
	result_line "a kernel that panics while sites trap leaves a dump"
	finish
}

finish()
{
	report "1..$number"
	verdict 0
}

if [ -n "$1" ]; then
	"$@"
	exit
fi
mkdir -p $STATE
OUT=$(textpoke_port out) || exit
# An emulated CPU may stand still for a while when the host is busy: that is no lockup.
echo 60 >/proc/sys/kernel/watchdog_thresh
if grep -q textpoke.crash /proc/cmdline; then
	crash_and_dump
fi
if grep -q textpoke.some /proc/cmdline; then
	some
fi
if [ -e $STATE/kexec ]; then
	came_back
fi
all
again
