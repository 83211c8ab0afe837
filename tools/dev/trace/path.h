/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The path of each CPU through the kernel, from the plugin's log: which
 * branches it took, which not, and where it was interrupted. It is what an
 * encoder of hardware trace is told.
 */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include "isa.h"
#include "walk.h"

struct path {
	/* The kernel is entered from outside, at this address. */
	void (*enter)(int cpu, uint64_t to);
	/* An instruction leads out of it. */
	void (*leave)(int cpu, const struct insn *last);
	/* The path cannot be followed from here on, as while the CPU is off. */
	void (*lose)(int cpu, uint64_t at);
	/* A branch of either way, to where it led. */
	void (*branch)(int cpu, const struct insn *insn, bool taken, uint64_t to);
	void (*trap)(int cpu, int kind, uint64_t from, uint64_t to);
	/* The CPU goes straight on from here through so many instructions. */
	void (*run)(int cpu, uint64_t addr, uint32_t insns);
};

/* The value of the CPUs' clock just now. */
uint64_t path_clock(void);

/* The path ends where the clock has got there. */
extern uint64_t path_until;

/* The instruction at which a trap came instead, or NULL at the end of a block. */
const uint8_t *path_stopped(int cpu);

/* How often a path goes on where no instruction leads: where a CPU was off, or the log is wrong. */
extern uint64_t path_gaps;

/* Interrupts and exceptions in the kernel, by kind. */
extern uint64_t path_traps[2];

int path_walk(const char *folder, const struct isa *isa, const struct path *path);

#endif
