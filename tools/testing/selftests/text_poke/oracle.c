// SPDX-License-Identifier: GPL-2.0
/*
 * Do the records tell the truth about memory?
 *
 *	start --record--> state --record--> ... --record--> end
 *
 * Forwards, each record's old bytes must be the state before it, and the last
 * state must be what memory held at the end. Backwards, the same with old and
 * new exchanged, down to the start. Together: nothing is missing, nothing is
 * out of order, and no byte is wrong.
 *
 * Kernel text is known in full from a snapshot. Elsewhere (trampolines, slots,
 * modules) a byte is known from the first record that names it, until a record
 * says that it is gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_poke.h"

/* Bytes outside kernel text, by address; open addressing, never deleted. */
struct cell {
	__u64 addr;
	__u8 byte;
	bool known;
};

struct side {
	struct cell *cells;
	size_t nr;
	size_t room;
};

struct state {
	struct image text;
	struct side side;
	struct verdict *v;
};

/* One record as the replay sees it: what it expects and what it leaves. */
struct step {
	__u64 addr;
	const __u8 *before, *after;
	size_t before_len, after_len;
};

static struct cell *cell_slot(struct cell *cells, size_t room, __u64 addr)
{
	size_t i = (addr * 0x9e3779b97f4a7c15ULL) >> 40;

	for (;; i++) {
		struct cell *c = &cells[i & (room - 1)];

		if (!c->addr || c->addr == addr)
			return c;
	}
}

static void side_grow(struct side *s)
{
	size_t room = s->room ? 2 * s->room : 1 << 12;
	struct cell *cells = calloc(room, sizeof(*cells));

	if (!cells)
		abort();
	for (size_t i = 0; i < s->room; i++)
		if (s->cells[i].addr)
			*cell_slot(cells, room, s->cells[i].addr) = s->cells[i];
	free(s->cells);
	s->cells = cells;
	s->room = room;
}

static struct cell *side_cell(struct side *s, __u64 addr)
{
	struct cell *c;

	if (2 * s->nr >= s->room)
		side_grow(s);
	c = cell_slot(s->cells, s->room, addr);
	if (!c->addr) {
		c->addr = addr;
		s->nr++;
	}
	return c;
}

/* Returns whether every byte that is known is the one that @st expects. */
static bool side_step(struct side *s, const struct step *st)
{
	bool good = true;

	for (size_t i = 0; i < st->before_len; i++) {
		struct cell *c = side_cell(s, st->addr + i);

		if (c->known && c->byte != st->before[i])
			good = false;
		c->known = false;
	}
	for (size_t i = 0; i < st->after_len; i++) {
		struct cell *c = side_cell(s, st->addr + i);

		c->byte = st->after[i];
		c->known = true;
	}
	return good;
}

/* Text never comes into being or goes away, so both lengths must agree. */
static bool text_step(struct image *text, const struct step *st)
{
	__u8 *at = text->bytes + (st->addr - text->base);
	bool good = st->before_len == st->after_len && st->after_len &&
		    !memcmp(at, st->before, st->before_len);

	memcpy(at, st->after, st->after_len);
	return good;
}

/* Whole records only: one that crosses the end of the text is not in it. */
bool poke_in_text(const struct poke *p, const struct image *text)
{
	size_t len = p->old_len > p->new_len ? p->old_len : p->new_len;

	return p->addr >= text->base && len <= text->len &&
	       p->addr - text->base <= text->len - len;
}

static struct step step_of(const struct poke *p, enum direction dir)
{
	if (dir == BACKWARDS)
		return (struct step) { p->addr, p->new, p->old,
				       p->new_len, p->old_len };
	return (struct step) { p->addr, p->old, p->new,
			       p->old_len, p->new_len };
}

static void apply(struct state *s, const struct poke *p, enum direction dir)
{
	struct step st = step_of(p, dir);
	struct verdict *v = s->v;
	bool good;

	if (poke_in_text(p, &s->text)) {
		good = text_step(&s->text, &st);
		v->breaks += !good;
	} else {
		good = side_step(&s->side, &st);
		v->side_breaks += !good;
		v->side++;
	}
	if (!good && !v->first_bad)
		v->first_bad = p;
}

void replay(const struct pokes *p, enum direction dir, const struct image *from,
	    const struct image *to, struct verdict *v)
{
	struct state s = { .text = *from, .v = v };

	memset(v, 0, sizeof(*v));
	s.text.bytes = malloc(from->len);
	if (!s.text.bytes)
		abort();
	memcpy(s.text.bytes, from->bytes, from->len);
	for (size_t i = 0; i < p->nr; i++)
		apply(&s, &p->v[dir == FORWARDS ? i : p->nr - 1 - i], dir);
	v->diff = text_diff(&s.text, to);
	free(s.text.bytes);
	free(s.side.cells);
}

bool verdict_clean(const struct verdict *v)
{
	return !v->breaks && !v->side_breaks && !v->diff;
}
