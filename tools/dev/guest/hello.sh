# SPDX-License-Identifier: GPL-2.0
#
# What `make boot` runs when no INITRD is given: say what has booted; all its CPUs have to be there,
# and PAGING, if given, has to be what they use.
#
#	hello.sh CPUS [PAGING]
uname -a
memory=$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
echo "$(nproc) CPUs, $memory MiB, booted in $(cut -d' ' -f1 /proc/uptime) s"
[ "$(nproc)" = "$1" ] && { [ -z "$2" ] || grep -q "^mmu.*: $2\$" /proc/cpuinfo; }
