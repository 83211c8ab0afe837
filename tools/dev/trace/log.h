/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the plugin writes and the other programs read: two files.
 *
 * "blocks" has a struct block for each translation, followed by the lengths
 * of its instructions, a byte each, and by their bytes. A block's number is
 * its place in the file. The same code translated once more is another block.
 *
 * "log" is what all CPUs did, in the order in which they did it, for they
 * take turns: a struct entry each, followed by as many words as its kind has.
 * count is how many instructions had retired by then on all CPUs, its lower
 * half only. How far a block got before it was left is the difference to the
 * next count.
 */
#ifndef TRACE_LOG_H
#define TRACE_LOG_H

#include <stdint.h>

struct block {
	uint64_t addr;
	uint32_t insns;
	uint32_t bytes;
};

struct entry {
	uint32_t what;	/* the number of a block that is entered, or a kind */
	uint32_t count;
};

#define LOG_KINDS	0xf0000000u

enum {
	LOG_CPU = LOG_KINDS,	/* what follows is this CPU's: its base, count, whole */
	LOG_TIME,	/* its clock was read: count, whole, and what it read */
	LOG_TRAP,	/* an interrupt or exception: which, from, to */
	LOG_USER,	/* the CPU goes on in user space */
	LOG_END,
};

enum { TRAP_INTERRUPT, TRAP_EXCEPTION };

static inline int log_words(uint32_t kind)
{
	switch (kind) {
	case LOG_CPU:
	case LOG_TIME:
		return 2;
	case LOG_TRAP:
		return 3;
	default:
		return 0;
	}
}

#endif
