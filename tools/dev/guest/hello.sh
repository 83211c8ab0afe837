# SPDX-License-Identifier: GPL-2.0
#
# What `make boot` runs when no INITRD is given: say what has booted.
uname -a
echo "$(nproc) CPUs, $(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo) MiB, booted in $(cut -d' ' -f1 /proc/uptime) s"
[ "$(nproc)" = "$(cat /sys/devices/system/cpu/present | awk -F- '{ print $NF + 1 }')" ]
