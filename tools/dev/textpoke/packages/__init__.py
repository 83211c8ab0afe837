# SPDX-License-Identifier: GPL-2.0
"""Packages for Debian, and a Debian that they are installed into."""
