# SPDX-License-Identifier: GPL-2.0
#
# The KUnit suites ran at boot; send out what the kernel said.
dmesg >/tmp/kunit.log
# shellcheck source=tools/dev/guest/textpoke.sh
. /lib/textpoke.sh
# shellcheck disable=SC2046  # there may be no folder to send
cd /tmp && send_out kunit.log $(coverage)
