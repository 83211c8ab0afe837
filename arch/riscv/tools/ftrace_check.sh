#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Refuse a kernel in which the entry of some traceable function is not aligned:
# it could not be changed by one store while others run it.
#
#	ftrace_check.sh OBJDUMP NM VMLINUX ALIGNMENT

set -e

objdump=$1
nm=$2
vmlinux=$3
alignment=$4

# shellcheck disable=SC2046  # two words
set -- $("$nm" "$vmlinux" | awk '
	$3 == "__start_mcount_loc" { start = $1 }
	$3 == "__stop_mcount_loc" { stop = $1 }
	END { print start, stop }')

# No shell can count with the whole of an address; the last seven digits will do.
number()
{
	echo "$((0x${1#"${1%???????}"}))"
}

# The addresses of the table between these two: of a relocatable kernel they are
# in the relocations, otherwise in the table itself, lowest byte first.
relocated()
{
	"$objdump" -R "$vmlinux" 2>/dev/null |
	awk -v start="$1" -v stop="$2" '
		$2 == "R_RISCV_RELATIVE" && $1 >= start && $1 < stop {
			print substr($3, length($3))
		}'
}

# A line is an address, four words or less, and the same as characters.
in_place()
{
	"$objdump" -s -j .init.data "$vmlinux" |
	awk -v start="$(number "$1")" -v stop="$(number "$2")" -v size="$((${#1} / 2))" '
		function number(hex,	value, i) {
			for (i = length(hex) - 6; i <= length(hex); i++)
				value = value * 16 + index("123456789abcdef", substr(hex, i, 1))
			return value
		}
		length($1) > 7 && $1 ~ /^[0-9a-f]+$/ {
			words = substr($0, index($0, $1) + length($1) + 1)
			at = number($1)
			for (i = 0; i < 4; i++) {
				if (at >= start && at < stop && (at - start) % size == 0)
					print substr(words, 9 * i + 2, 1)
				at += 4
			}
		}'
}

digits=$(relocated "$@")
[ -n "$digits" ] || digits=$(in_place "$@")

bytes=$(($(number "$2") - $(number "$1")))
if [ "$(echo "$digits" | wc -l)" -ne "$((bytes * 2 / ${#1}))" ]; then
	echo "error: the table of traceable functions cannot be read" >&2
	exit 1
fi

case $alignment in
4) misaligned='[^048c]' ;;
8) misaligned='[^08]' ;;
esac
bad=$(echo "$digits" | grep -c "$misaligned") || exit 0

echo "error: $bad traceable functions are not aligned to $alignment bytes, although the" >&2
echo "compiler was told to. The function tracer changes their entries by single" >&2
echo "stores, and needs that. GCC before 14 ignores -falign-functions with -Os;" >&2
echo "use CONFIG_CC_OPTIMIZE_FOR_PERFORMANCE, a newer GCC, or clang." >&2
exit 1
