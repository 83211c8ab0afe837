/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Encoders: from the paths of the CPUs to what a trace unit of each would
 * have written, and to the list of branches that a decoder has to find in it.
 */
#ifndef TRACE_ENCODE_H
#define TRACE_ENCODE_H

#include <stdint.h>
#include <stdio.h>

#include "path.h"

/* A branch of that list, and what the clock said. */
struct branch {
	uint64_t from, to, clock;
};

/*
 * A trace is written to perf's buffer in fragments of so many bytes or a little
 * more: each has an AUX event of its own.
 */
#define FRAGMENT	65536

/* FOLDER/NAME.CPU, which is created when it is first asked for. */
FILE *encode_file(const char *name, int cpu);

/* A fragment ends with that byte of a CPU's trace, and now: one more pair in cuts.CPU. */
void encode_cut(int cpu, uint64_t at);

void encode_truth(int cpu, uint64_t from, uint64_t to);
void encode_truth_at(int cpu, const struct branch *branch);

/* Of Intel PT, and of ETMv4; the first has to be told that there is no more. */
extern const struct path pt_encoder, etm_encoder;
void pt_finish(void);

/* How many packets of each kind ETMv4 has come to, as figures, and the sums of what is in them. */
void etm_print_written(void);

#endif
