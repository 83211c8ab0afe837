/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRACE_COMPARE_H
#define TRACE_COMPARE_H

#include <stddef.h>

struct branch;

/*
 * Compare what perf script prints of branches (standard input) with what was
 * executed (FOLDER/truth.CPU), CPU by CPU and in order; prints what was found.
 */
int compare_branches(const char *folder);

/*
 * Compare the branches that samples of a profile count, as perf script prints
 * their stacks (standard input), with what was executed: no profile may count a
 * branch that no CPU has ever taken.
 */
int compare_profile(const char *folder);

/* The branches that a CPU has executed, in order; NULL where there are none. */
const struct branch *truth_of(const char *folder, int cpu, size_t *nr);

#endif
