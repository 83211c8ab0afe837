/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads what the plugin wrote (log.h) and tells it as events, in the order in
 * which they happened on all CPUs.
 */
#ifndef TRACE_WALK_H
#define TRACE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "log.h"

#define CPUS		64

/* A block as it was translated; lengths and bytes are those of its instructions. */
struct code {
	uint64_t addr;
	uint32_t insns;
	const uint8_t *lengths, *bytes;
};

/*
 * What happens. count is how many instructions had retired before it, of all
 * CPUs. cpu is -1 for one that comes up and has not said which it is.
 */
struct events {
	/* The CPU goes through the first insns instructions of a block; 0: it only gets there. */
	void (*run)(int cpu, uint32_t number, const struct code *code, uint32_t insns, uint64_t count);
	void (*trap)(int cpu, int kind, uint64_t from, uint64_t to, uint64_t count);
	void (*user)(int cpu, uint64_t count);
	/* The clock had this value when at instructions had retired. */
	void (*clock)(int cpu, uint64_t at, uint64_t value);
};

extern const struct code *walk_code;
extern uint32_t walk_codes;
extern int walk_cpus;

/* To be set where nothing of what follows is wanted. */
extern bool walk_done;

/* Read the blocks alone. */
void walk_read_code(const char *folder);

/* Read the folder's files and tell of them; -1 if they make no sense. */
int walk(const char *folder, const struct events *events);

/* A file's bytes; exits if they cannot be had. */
void *read_file(const char *folder, const char *name, size_t *length);

#endif
