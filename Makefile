# SPDX-License-Identifier: GPL-2.0
#
# Every target is a command of tools/dev/tp, which does the work; `make help` lists
# them. Variables given to make reach it through the environment. Folders of the same
# name as a command exist (kernel/), hence the list.

MAKEFLAGS += --no-print-directory

COMMANDS := help run check check-full kernel base-kernel deb boot shell kunit kselftest models mutants \
	    torture cases coverage bench trace fuzz page tree refresh series apply unapply setup gates clean

.PHONY: $(COMMANDS)
.DEFAULT_GOAL := help

# `make help run` is one command, about another, and so is `make run help`.
ifneq ($(filter help,$(MAKECMDGOALS)),)
help:
	@tools/dev/tp help $(filter-out help,$(MAKECMDGOALS))
$(filter-out help,$(COMMANDS)):
	@:
else
$(COMMANDS):
	@tools/dev/tp $@
endif

# What is no command gets tp's own sentence about it.
.DEFAULT:
	@tools/dev/tp $@
