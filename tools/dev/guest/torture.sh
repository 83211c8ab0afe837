# SPDX-License-Identifier: GPL-2.0
#
# While the kernel's own torture test changes and executes its sites, records are replayed,
# and whatever else changes text, interrupts, or wants memory goes on beside it. The machine
# is stopped (stop_machine()) by that test, and by CPUs that come and go.
#
#	torture.sh SECONDS
#
# Sends out: kernel (what the test said), replay (what the replays said), counts (how often
# something else was done, "NAME NUMBER").

PARAMS=/sys/module/text_poke_torture/parameters
HOLD=$PARAMS/hold
GRAPH=/sys/kernel/tracing/instances/graph
LIVEPATCH=/sys/kernel/livepatch/livepatch_sample
PRESSURE=/tmp/pressure
OUT=/tmp/torture
# kB that are left to the others.
SPARE=262144

uptime_s()
{
	cut -d. -f1 /proc/uptime
}

END=$(($(uptime_s) + $1))
LATEST=$((END + ($1 < 300 ? $1 : 300)))

did()
{
	echo >>"$OUT/did.$1"
}

over()
{
	[ -e "$OUT/over" ]
}

# Until text may be changed. A change that is under way by then only makes a replay wait.
while_held()
{
	while ! over && [ "$(cat $HOLD)" = Y ]; do sleep 0.1; done
}

# The kernel's last figures are not below what it calls too little. What only NMIs bring counts
# where there are some.
enough()
{
	dmesg | grep 'text_poke-torture: *Figures:' | tail -n 1 | tr ' ' '\n' | awk -F= \
		-v pokes="$(cat $PARAMS/pokes_min)" -v calls="$(cat $PARAMS/calls_min)" \
		-v traps="$(cat $PARAMS/traps_min)" -v cycles="$(cat $PARAMS/cycles_min)" \
		-v undone="$(cat $PARAMS/undone_min)" '
		BEGIN {
			least["pokes"] = pokes; least["calls"] = calls; least["traps"] = traps
			least["cycles"] = cycles; least["undone"] = undone
		}
		NF == 2 { value[$1] = $2 }
		END {
			if (!("pokes" in value))
				exit 1
			for (name in value) {
				kind = name
				sub(/-.*/, "", kind)
				if (name ~ /-nmi$/ && !value["nmis"])
					continue
				if (kind in least && value[name] < least[kind])
					exit 1
			}
		}'
}

# Through a tracer of its own. Not every function: with two tracers on all of them there is
# no time for anything else.
graph()
{
	mkdir $GRAPH || return
	echo 0 >$GRAPH/tracing_on
	echo 'do_*' >$GRAPH/set_ftrace_filter
	until over; do
		while_held
		echo function_graph >$GRAPH/current_tracer &&
			echo nop >$GRAPH/current_tracer && did graph
		sleep 2
	done
}

# kB that could be taken.
available()
{
	awk '/MemAvailable/ { print $2 }' /proc/meminfo
}

# Takes nearly all that is left, and gives it back.
pressure()
{
	mkdir $PRESSURE
	mount -t tmpfs -o size=95% tmpfs $PRESSURE || return
	until over; do
		local i=0
		while ! over && [ "$(available)" -gt $SPARE ]; do
			i=$((i + 1))
			dd if=/dev/zero of=$PRESSURE/$i bs=1M count=16 2>/dev/null || break
		done
		did pressure
		sleep 1
		rm -f $PRESSURE/*
		sleep 4
	done
}

# Pages that can be written and executed; the kernel says more about any that it finds.
writable()
{
	until over; do
		if [ "$(cat /sys/kernel/debug/check_wx_pages)" = SUCCESS ]; then
			did wx-looks
		else
			did wx-pages
		fi
		sleep 3
	done
}

# Tasks are frozen and devices put to sleep; those of the kernel that change text go on.
suspend()
{
	[ -w /sys/power/pm_test ] || return
	echo 0 >/sys/module/suspend/parameters/pm_test_delay
	echo devices >/sys/power/pm_test
	until over; do
		echo freeze >/sys/power/state && did suspend
		sleep 7
	done
}

# By NMI where there are any; arm64's interrupt controller says whether it has some.
backtraces()
{
	dmesg | grep -q "Pseudo-NMIs enabled" && did pseudo-nmis
	until over; do
		echo l >/proc/sysrq-trigger && did backtraces
		sleep 5
	done
}

# Where each CPU is and how it got there, which may be the middle of a change.
samples()
{
	sample $OUT/over >$OUT/samples
}

# Not beside a replay, which does not know of modules that others load.
livepatch()
{
	[ -d /sys/kernel/livepatch ] || return
	modprobe livepatch-sample || return
	echo 0 >$LIVEPATCH/enabled
	while [ -d $LIVEPATCH ]; do sleep 0.2; done
	rmmod livepatch_sample && did livepatch
}

# One replay, in a form that the host can read whatever became of it.
replay()
{
	echo "replay $*"
	./replay --hold $HOLD "$@"
	echo "status $?"
}

mkdir -p $OUT
for job in graph pressure writable suspend backtraces samples; do
	$job &
	JOBS="$JOBS $!"
done

# The fewer kinds of changes, the more rounds in the same time. One replay is done in any case;
# another begins only if there is time for the longest so far, for on a slow machine each takes
# minutes.
replays()
{
	local begun took longest=0
	while :; do
		for how in "--workload keys,kprobes,bpf,modules --hotplug 1" \
			   "--workload keys,bpf,modules" "--workload keys,ftrace" \
			   "--hotplug 1"; do
			begun=$(uptime_s)
			[ $((begun + longest)) -lt $END ] || return 0
			# shellcheck disable=SC2086  # options
			replay --seconds 5 $how
			livepatch
			took=$(($(uptime_s) - begun))
			[ $took -lt $longest ] || longest=$took
		done
	done
}

cd /selftests/text_poke || exit
replays 2>&1 | tee $OUT/replay
# Without a replay, for what is left.
while [ "$(uptime_s)" -lt $END ]; do sleep 1; done
# Of some kinds there are few, and on a busy machine fewer: up to as long again for these.
while [ "$(uptime_s)" -lt $LATEST ] && ! enough; do sleep 5; done

touch $OUT/over
# shellcheck disable=SC2086  # they are several
wait $JOBS
echo 0 >$PARAMS/run
dmesg | sed -n 's/.*text_poke-torture: \?//p' >$OUT/kernel
for file in "$OUT"/did.*; do
	[ -e "$file" ] || continue
	echo "${file##*/did.} $(wc -l <"$file")"
done >$OUT/counts
cat $OUT/samples >>$OUT/counts
sed -n 's/^left_alone /left-alone /p' /sys/kernel/debug/text_poke/stats >>$OUT/counts
# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
# shellcheck disable=SC2046  # there may be no folder to send
cd $OUT && send_out kernel replay counts $(coverage)
