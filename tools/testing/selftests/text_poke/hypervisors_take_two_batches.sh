#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# KVM's module for one vendor's processors puts all its functions into the text in
# two batches, not in one per function.

# Two for the functions, one each for the module's own static calls and keys, and
# as many again that other keys may take meanwhile.
BATCHES=8
# Fewer show nothing.
POKES=50

cd "$(dirname "$0")" || exit 1
. ./counters.sh

ktap_print_header
need_counters
loaded=$(sed -n 's/^\(kvm_amd\|kvm_intel\) .*/\1/p' /proc/modules)
trap '[ -z "$loaded" ] || modprobe "$loaded"' EXIT
for module in kvm_amd kvm_intel; do
	modprobe -r "$module" 2>/dev/null
	if grep -q "^$module " /proc/modules; then
		ktap_skip_all "$module is in use"
		exit "$KSFT_SKIP"
	fi
	modprobe kvm 2>/dev/null
	counters_begin
	modprobe "$module" 2>/dev/null && break
done
counters_end
if ! grep -q "^$module " /proc/modules; then
	ktap_skip_all "there is no KVM, or no processor for it"
	exit "$KSFT_SKIP"
fi
ktap_set_plan 3
expect many_functions "$(grown pokes) -ge $POKES"
expect few_batches "$(grown batches) -le $BATCHES"
modprobe -r "$module"
# The functions are those of before, but for what the module changes by itself.
counters_begin
modprobe "$module"
counters_end
expect again_in_few_batches "$(grown batches) -le $BATCHES"
modprobe -r "$module"
ktap_finished
