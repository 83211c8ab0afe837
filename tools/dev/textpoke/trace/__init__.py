# SPDX-License-Identifier: GPL-2.0
"""Hardware trace, made under QEMU and decoded."""
