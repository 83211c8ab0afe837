// SPDX-License-Identifier: GPL-2.0
/*
 * What is told about memory outside the kernel's text: code that perf announces
 * and withdraws (trampolines, slots, BPF), and modules that come and go.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text_poke.h"

void notes_add(struct notes *n, struct note note)
{
	if (n->nr == n->room) {
		n->room = n->room ? 2 * n->room : 64;
		n->v = realloc(n->v, n->room * sizeof(*n->v));
		if (!n->v)
			abort();
	}
	note.seq = n->nr;
	n->v[n->nr++] = note;
}

void notes_append(struct notes *n, const struct notes *more)
{
	for (size_t i = 0; i < more->nr; i++)
		notes_add(n, more->v[i]);
}

static int by_time(const void *a, const void *b)
{
	const struct note *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->seq < q->seq ? -1 : 1;
}

static void notes_sort(struct notes *n)
{
	if (n->nr)
		qsort(n->v, n->nr, sizeof(*n->v), by_time);
}

static bool between(__u64 time, __u64 a, __u64 b)
{
	return a < b ? a <= time && time <= b : b <= time && time <= a;
}

/* The same memory, for something else, while the module came or went. */
static bool clashes(const struct note *module, const struct note *with)
{
	return with->addr < module->addr + module->len &&
	       module->addr < with->addr + with->len &&
	       between(with->time, module->time, module->other);
}

/*
 * What is known of when modules came and went is too wide for memory that was
 * another's just before, or just after: a module comes once that is withdrawn, and
 * has gone when that is announced.
 */
void notes_narrow(struct notes *n)
{
	for (size_t i = 0; i < n->nr; i++) {
		struct note *module = &n->v[i];

		for (size_t j = 0; j < n->nr; j++) {
			const struct note *with = &n->v[j];

			if (!module->other || !clashes(module, with))
				continue;
			if (module->kind == LOADED && with->kind == WITHDRAWN)
				module->time = with->time + 1;
			if (module->kind == UNLOADED && with->kind == ANNOUNCED)
				module->time = with->time - 1;
		}
	}
	notes_sort(n);
}

bool note_covers(const struct note *note, __u64 addr)
{
	return addr >= note->addr && addr - note->addr < note->len;
}

/*
 * The pages of kprobe slots that are there already: they are not announced
 * again. Each has a symbol.
 */
void notes_add_slot_pages(struct notes *n)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "[__builtin__kprobes]"))
			notes_add(n, (struct note) {
				.kind	= ANNOUNCED,
				.addr	= strtoull(line, NULL, 16),
				.len	= sysconf(_SC_PAGESIZE),
			});
	fclose(f);
}

size_t notes_count(const struct notes *n, enum note_kind kind)
{
	size_t nr = 0;

	for (size_t i = 0; i < n->nr; i++)
		nr += n->v[i].kind == kind;
	return nr;
}
