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

void notes_sort(struct notes *n)
{
	if (n->nr)
		qsort(n->v, n->nr, sizeof(*n->v), by_time);
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
