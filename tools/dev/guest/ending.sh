# SPDX-License-Identifier: GPL-2.0
#
# Ends this kernel in the middle of a batch, while thousands of functions trap.
#
#	ending.sh panic|crash|kexec [COMMANDLINE]
#
# The kernel that comes next, if there is one, runs /next.cpio.gz.

# shellcheck source=tools/dev/guest/armed.sh
. /lib/armed.sh
case $1 in
crash) kexec crash /next.kernel /next.cpio.gz "$2" || exit ;;
kexec) kexec load /next.kernel /next.cpio.gz "$2" || exit ;;
esac

arm_text 1000 || exit
echo "the text is full of traps" >/dev/kmsg
if [ "$1" = kexec ]; then
	kexec now
else
	echo c >/proc/sysrq-trigger
fi
# It has not ended.
exit 1
