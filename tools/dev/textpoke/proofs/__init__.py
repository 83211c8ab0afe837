# SPDX-License-Identifier: GPL-2.0
"""The formal models of the protocol, and what of the code they take for granted."""
