# SPDX-License-Identifier: GPL-2.0
"""Results: how they are read, judged, kept, counted and shown."""
