# SPDX-License-Identifier: GPL-2.0
#
# Changes all functions, tracepoints of KVM and probes, over and over, while a guest of KVM is
# entered and left, and asks for probes where the hypervisor's vectors are in use. In the words
# of the selftests' runner.
#
#	world-switch.sh			does it, and sends out what came of it
#	world-switch.sh change		what is run beside the guest

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
# shellcheck source=tools/dev/guest/armed.sh
. /lib/armed.sh

JOB=$0
PROBES=$TRACING/kprobe_events
ROUNDS=4
TIMES=1000
WITHIN="__guest_enter __kvm_adjust_pc kvm_hyp_handle_sysreg_vhe vcpu_read_sys_reg \
vcpu_write_sys_reg __get_timer_map"
BESIDE="kvm_vcpu_load_vhe __vcpu_put_switch_sysregs __kvm_tlb_flush_vmid handle_exit \
kvm_handle_sys_reg kvm_smccc_call_handler"
suite=world-switch

# probe FUNCTION: can there be one?
probe()
{
	echo "p:$1 $1" >>$PROBES
}

none()
{
	local each
	for each; do
		! probe "$each" 2>/dev/null || return
	done
}

all()
{
	local each
	for each; do
		probe "$each" || return
	done
}

# Is none of these in ftrace's list, and is one that is beside them?
untraced()
{
	local each
	for each; do
		! grep -qx "$each" $TRACING/available_filter_functions || return
	done
	grep -qx kvm_vcpu_load_vhe $TRACING/available_filter_functions
}

change()
{
	for _ in $(seq $ROUNDS); do
		echo function >$TRACING/current_tracer || return
		echo 1 >$TRACING/events/kprobes/enable || return
		echo 1 >$TRACING/events/kvm/enable || return
		echo 0 >$TRACING/events/kvm/enable
		echo 0 >$TRACING/events/kprobes/enable
		echo nop >$TRACING/current_tracer || return
	done
}

# shellcheck disable=SC2086  # lists of functions
tests()
{
	local traps
	echo 1..7
	dmesg -c >/dev/null
	none $WITHIN
	result no-probe-within
	all $BESIDE
	result probes-beside
	untraced $WITHIN
	result no-tracer-within
	echo 0 >$TRACING/tracing_on
	traps=$(counter traps)
	world-switch sh "$JOB" change >/tmp/rounds
	result text-changes-beside-a-guest
	sed 's/^/# /' /tmp/rounds
	[ "$(sed -n 's/^rounds //p' /tmp/rounds)" -ge $TIMES ]
	result the-guest-runs
	traps=$(($(counter traps) - traps))
	echo "# traps $traps"
	[ $traps -ge $TIMES ]
	result functions-trap
	quiet
	result no-complaint
}

if [ "$1" = change ]; then
	change
	exit
fi
tests >/tmp/selftests.ktap 2>&1
cat /tmp/selftests.ktap
cd /tmp && send_out selftests.ktap
