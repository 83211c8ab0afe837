# SPDX-License-Identifier: GPL-2.0
"""What holds everything else together: the commands that check the series as a whole."""
