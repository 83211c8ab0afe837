#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Debug messages that one query switches change in one batch, not in one each.

CONTROL=/proc/dynamic_debug/control
# Has some messages, and says nothing unless objects come and go.
FILE=lib/kobject.c
# Fewer show nothing.
MESSAGES=3

cd "$(dirname "$0")" || exit 1
. ./counters.sh

# switched NAME FLAGS
switched()
{
	own_forget
	echo "file $FILE $2" > $CONTROL
	expect "$1" "$(own_batches) -eq 1"
}

ktap_print_header
need_counters
need_events
if ! [ -e $CONTROL ]; then
	ktap_skip_all "there is no dynamic debug"
	exit "$KSFT_SKIP"
fi
if [ "$(grep -c "^$FILE:.*=_ " $CONTROL)" -lt $MESSAGES ]; then
	ktap_skip_all "there are no $MESSAGES messages of $FILE to be switched"
	exit "$KSFT_SKIP"
fi
ktap_set_plan 4
trap own_end EXIT
own_begin
switched messages_on_in_one_batch +p
expect all_are_on "$(grep -c "^$FILE:.*=_ " $CONTROL) -eq 0"
switched messages_off_in_one_batch -p
expect all_are_off "$(grep -c "^$FILE:.*=p " $CONTROL) -eq 0"
ktap_finished
