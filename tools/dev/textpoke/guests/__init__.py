# SPDX-License-Identifier: GPL-2.0
"""Kernels and their guests: built, booted, and what is run in them."""
