#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# sparse, which knows less of RISC-V's -march than compilers: without the extensions that
# have long names.
for arg; do
	shift
	case $arg in
	-march=rv*_*) arg=${arg%%_*} ;;
	esac
	set -- "$@" "$arg"
done
exec sparse "$@"
