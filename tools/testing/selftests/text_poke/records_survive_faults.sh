#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Text and records agree after tasks were killed while they changed text or
# listened, after the machine was put to sleep meanwhile, with syncs that take
# long and a poker that is away for long.

cd "$(dirname "$0")" || exit 1
. ./counters.sh

FAIL=/sys/kernel/debug/fail_text_poke
# TEXT_POKE_FAULT_SYNC and TEXT_POKE_FAULT_REST.
HARMLESS=0x60

mount_debugfs
if [ -d $FAIL ]; then
	keep $FAIL/points $FAIL/delay $FAIL/times $FAIL/verbose $FAIL/probability
	echo $HARMLESS > $FAIL/points
	echo 2 > $FAIL/delay
	echo -1 > $FAIL/times
	echo 0 > $FAIL/verbose
	echo 20 > $FAIL/probability
else
	echo "# no knob of fail_text_poke in this kernel"
fi
./replay --workload keys,killed,frozen
