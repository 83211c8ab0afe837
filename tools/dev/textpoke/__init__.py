# SPDX-License-Identifier: GPL-2.0
"""What builds, boots and checks the text poke series; never enters the kernel tree."""
