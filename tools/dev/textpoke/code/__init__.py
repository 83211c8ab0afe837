# SPDX-License-Identifier: GPL-2.0
"""What can be read from source, scripts, sentences and machine code, without running them."""
