#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# KVM's module for one vendor's processors puts all its functions into the text in
# two batches, not in one per function.

# Two for the functions, one each for the module's own static calls and keys, and
# as many again that other keys may take meanwhile.
BATCHES=8
# Fewer show nothing.
POKES=50
# More are no end.
FAILURES=100

cd "$(dirname "$0")" || exit 1
. ./counters.sh

# Without memory for the first, the second and so on, until it loads: what the
# functions need is among them.
failures_leave_nothing()
{
	failed=0
	left=0
	while [ $failed -lt $FAILURES ]; do
		fail_once $failed
		modprobe "$module" 2>/dev/null && break
		failed=$((failed + 1))
		left=$((left + $(grep -c "^$module " /proc/modules)))
	done
	fail_no_more && echo "# something failed, and it was loaded"
	echo "# loaded after $failed failures"
	expect failures_leave_nothing "$left -eq 0"
	expect some_loads_fail "$failed -ge 1"
	expect it_loads_then "$(grep -c "^$module " /proc/modules) -eq 1"
	modprobe -r "$module"
}

ktap_print_header
need_counters
for module in kvm_amd kvm_intel; do
	modprobe -r "$module" 2>/dev/null
	modprobe kvm 2>/dev/null
	counters_begin
	modprobe "$module" 2>/dev/null && break
done
counters_end
if ! grep -q "^$module " /proc/modules; then
	ktap_skip_all "there is no KVM, or no processor for it"
	exit "$KSFT_SKIP"
fi
ktap_set_plan "$([ -d $FAIL ] && echo 6 || echo 3)"
expect many_functions "$(grown pokes) -ge $POKES"
expect few_batches "$(grown batches) -le $BATCHES"
modprobe -r "$module"
# The functions are those of before, but for what the module changes by itself.
counters_begin
modprobe "$module"
counters_end
expect again_in_few_batches "$(grown batches) -le $BATCHES"
modprobe -r "$module"
[ -d $FAIL ] && failures_leave_nothing
ktap_finished
