// SPDX-License-Identifier: GPL-2.0
/*
 * Kprobes at the beginning of functions and inside them, defined and removed
 * each time, so that their slots come and go as well.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text_poke.h"

#define EVENTS		TRACING "kprobe_events"
#define ENABLE		TRACING "events/text_poke_test/enable"
#define OFFSET_MAX	96
#define INSIDE		24

/* What the readers run, and what no task does. */
static const char * const functions[] = {
	"ksys_write", "ksys_read", "vfs_write", "vfs_read", "do_mmap",
	"do_nanosleep", "hrtimer_nanosleep", "vfs_truncate",
};

#define NR_FUNCTIONS	(sizeof(functions) / sizeof(*functions))

/* Where a probe is accepted, or -1. */
static int offsets[2][NR_FUNCTIONS];
static bool tried;

static int define(int where, int fn, int offset)
{
	char text[128];

	snprintf(text, sizeof(text), "p:text_poke_test/p%d_%d %s+%d\n", where,
		 fn, functions[fn], offset);
	return write_file(EVENTS, text);
}

static void undefine(int where, int fn)
{
	char text[128];

	snprintf(text, sizeof(text), "-:text_poke_test/p%d_%d\n", where, fn);
	write_file(EVENTS, text);
}

/* Not every offset is that of an instruction, nor may each be probed. */
static int find_offset(int where, int fn)
{
	for (int offset = where * INSIDE; offset < OFFSET_MAX; offset++)
		if (!define(where, fn, offset)) {
			undefine(where, fn);
			return offset;
		}
	return -1;
}

/* Returns how many there are. */
static int find_offsets(void)
{
	int found = 0;

	for (int where = 0; where < 2; where++)
		for (size_t fn = 0; fn < NR_FUNCTIONS; fn++) {
			offsets[where][fn] = find_offset(where, fn);
			found += offsets[where][fn] >= 0;
		}
	tried = true;
	return found;
}

static void each(bool on)
{
	for (int where = 0; where < 2; where++)
		for (size_t fn = 0; fn < NR_FUNCTIONS; fn++) {
			if (offsets[where][fn] < 0)
				continue;
			if (on)
				define(where, fn, offsets[where][fn]);
			else
				undefine(where, fn);
		}
}

void kprobes_set(bool on)
{
	if (on)
		each(true);
	write_file(ENABLE, on ? "1" : "0");
	if (!on)
		each(false);
}

bool kprobes_work(void)
{
	return !access(EVENTS, W_OK) && (tried || find_offsets());
}
