# SPDX-License-Identifier: GPL-2.0
#
# The KUnit suites ran at boot; send out what the kernel said.
dmesg >/tmp/kunit.log
. /lib/textpoke.sh
cd /tmp && send_out kunit.log $(coverage)
