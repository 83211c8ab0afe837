# SPDX-License-Identifier: GPL-2.0
#
# Runs a case (tools/dev/cases), whose exit status is the verdict, and sends out what it has
# printed.

# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh

{
	/case
	echo $? >/tmp/status
} 2>&1 | tee /tmp/case.txt
cd /tmp && send_out case.txt
exit "$(cat /tmp/status)"
