# SPDX-License-Identifier: GPL-2.0
"""The series: the base that it is for, its patches and files, and how they reach other trees."""
