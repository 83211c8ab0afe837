#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# A module's call sites of static calls change in one batch when it is loaded,
# not in one each.

MODULE=trace-events-sample
# Fewer show nothing.
SITES=4

cd "$(dirname "$0")" || exit 1
. ./counters.sh

ktap_print_header
need_counters
modprobe -r $MODULE 2>/dev/null
counters_begin
if ! modprobe $MODULE 2>/dev/null; then
	ktap_skip_all "there is no module $MODULE"
	exit "$KSFT_SKIP"
fi
counters_end
# Elsewhere there are no call sites, only trampolines, and nothing to change.
if [ "$(uname -m)" = x86_64 ]; then
	ktap_set_plan 2
	expect many_sites "$(grown pokes) -ge $SITES"
else
	ktap_set_plan 1
fi
expect one_batch "$(grown batches) -le 1"
modprobe -r $MODULE
ktap_finished
