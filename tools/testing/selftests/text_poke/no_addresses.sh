#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Neither the counters, nor where traps were met, nor the tracepoints tell where
# the kernel lies, and only root reads the first two.

TRAPPED=/sys/kernel/debug/text_poke/trapped

cd "$(dirname "$0")" || exit 1
. ./counters.sh

ktap_print_header
need_counters
need_events
ktap_set_plan 6

expect there_are_counters "$(grep -c . $STATS) -gt 0"
# An address of the kernel has more digits than these numbers ever get.
expect counters_are_numbers "$(grep -Evc '^[a-z_]+ [0-9]{1,15}$' $STATS) -eq 0"
expect counters_are_for_root "$(stat -c %a $STATS) -eq 400"
expect traps_are_told_by_symbol \
	"$(grep -Evc '^[0-9]+ ([^ 0][^ ]*\+0x[0-9a-f]+/0x[0-9a-f]+( \[.*\])?|no symbol)$' \
	   $TRAPPED) -eq 0"
expect traps_are_told_to_root "$(stat -c %a $TRAPPED) -eq 400"
expect tracepoints_have_no_addresses \
	"$(cat $EVENTS/*/format |
	   grep -c 'field:.*\(\*\|addr\|ip;\)') -eq 0"
ktap_finished
