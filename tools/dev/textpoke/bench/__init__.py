# SPDX-License-Identifier: GPL-2.0
"""What changing text costs."""
