/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACE_COMPARE_H
#define TRACE_COMPARE_H

/*
 * Compare what perf script prints of branches (standard input) with what was
 * executed (FOLDER/truth.CPU), CPU by CPU and in order; prints what was found.
 */
int compare_branches(const char *folder);

#endif
