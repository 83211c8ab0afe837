# SPDX-License-Identifier: GPL-2.0
"""What perf records of text pokes: made, decoded, held against the text, shown."""
