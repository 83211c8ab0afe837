# SPDX-License-Identifier: GPL-2.0
#
# Measures what it costs to change the kernel's text and sends out the numbers.
#
#	bench.sh REPETITIONS|calls|cpus|isolated
/bench "$1" >/tmp/bench.txt || exit
# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
cd /tmp && send_out bench.txt
