# SPDX-License-Identifier: GPL-2.0
"""What pages are made of."""
