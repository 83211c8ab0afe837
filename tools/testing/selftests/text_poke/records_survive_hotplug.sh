#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# No record is missing when CPUs go offline and come back while text changes.

exec ./replay --hotplug 10 --workload keys,kprobes,ftrace
