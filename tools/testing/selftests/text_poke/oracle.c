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
 * BPF, modules) a byte is known from the first record that names it, until a
 * record says that it is gone, or a note that the code it belongs to came or
 * went. What is known at the end must be what memory held.
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

static void side_forget(struct side *s, const struct note *note)
{
	for (size_t i = 0; i < s->room; i++)
		if (note_covers(note, s->cells[i].addr))
			s->cells[i].known = false;
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

static struct image copy_of(const struct image *from)
{
	struct image to = *from;

	to.bytes = malloc(from->len);
	if (!to.bytes)
		abort();
	memcpy(to.bytes, from->bytes, from->len);
	return to;
}

static void text_apply(struct image *text, const struct poke *p,
		       enum direction dir, struct verdict *v)
{
	struct step st = step_of(p, dir);

	if (!poke_in_text(p, text) || text_step(text, &st))
		return;
	if (!v->breaks++)
		v->first_bad = p;
}

/* What the records do to kernel text. */
void replay(const struct pokes *p, enum direction dir, const struct image *from,
	    const struct image *to, struct verdict *v)
{
	struct image text = copy_of(from);

	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < p->nr; i++)
		text_apply(&text, &p->v[dir == FORWARDS ? i : p->nr - 1 - i],
			   dir, v);
	v->diff = text_diff(&text, to);
	free(text.bytes);
}

/* The same, forwards, for callers that only ask whether it is clean. */
bool replay_clean(const struct pokes *p, const struct image *from,
		  const struct image *to)
{
	struct image text = copy_of(from);
	struct verdict v = { };
	bool clean;

	for (size_t i = 0; i < p->nr && !v.breaks; i++)
		text_apply(&text, &p->v[i], FORWARDS, &v);
	clean = !v.breaks && !memcmp(text.bytes, to->bytes, to->len);
	free(text.bytes);
	return clean;
}

static void side_apply(struct side *s, const struct poke *p, enum direction dir,
		       struct verdict *v)
{
	struct step st = step_of(p, dir);

	v->side++;
	if (side_step(s, &st))
		return;
	v->side_breaks++;
	if (!v->first_bad)
		v->first_bad = p;
}

/*
 * Notes that come before @p in the direction of the replay, from *@i on; all
 * that are left if there is no @p.
 */
static void side_notes(struct side *s, const struct notes *notes, size_t *i,
		       const struct poke *p, enum direction dir)
{
	for (; *i < notes->nr; ++*i) {
		bool forwards = dir == FORWARDS;
		const struct note *note =
			&notes->v[forwards ? *i : notes->nr - 1 - *i];

		if (p && forwards && note->time > p->time)
			break;
		if (p && !forwards && note->time <= p->time)
			break;
		side_forget(s, note);
	}
}

/* Known bytes of @end: those that memory was asked for. */
static void side_compare(struct side *s, const struct side *end,
			 struct verdict *v)
{
	for (size_t i = 0; i < end->room; i++) {
		const struct cell *is = &end->cells[i];
		const struct cell *c;

		if (!is->known)
			continue;
		c = side_cell(s, is->addr);
		v->side_bytes += c->known;
		v->side_diff += c->known && c->byte != is->byte;
	}
}

/* What the records do elsewhere; @end, of a replay forwards, may be NULL. */
void replay_side(const struct pokes *p, const struct notes *notes,
		 enum direction dir, const struct image *text,
		 const struct side *end, struct verdict *v)
{
	struct side s = { };
	size_t note = 0;

	for (size_t i = 0; i < p->nr; i++) {
		const struct poke *poke =
			&p->v[dir == FORWARDS ? i : p->nr - 1 - i];

		if (poke_in_text(poke, text))
			continue;
		side_notes(&s, notes, &note, poke, dir);
		side_apply(&s, poke, dir, v);
	}
	side_notes(&s, notes, &note, NULL, dir);
	if (end)
		side_compare(&s, end, v);
	free(s.cells);
}

static void side_keep(struct side *s, const struct image *img)
{
	for (size_t i = 0; i < img->len; i++) {
		struct cell *c = side_cell(s, img->base + i);

		c->byte = img->bytes[i];
		c->known = true;
	}
}

/* What memory holds now where records outside kernel text have been. */
struct side *side_read(const struct pokes *p, const struct image *text)
{
	struct side *s = calloc(1, sizeof(*s));

	for (size_t i = 0; s && i < p->nr; i++) {
		const struct poke *poke = &p->v[i];
		struct image img = { .base = poke->addr, .len = poke->new_len };

		if (!img.len || poke_in_text(poke, text))
			continue;
		if (!side_cell(s, img.base)->known && !text_read(&img))
			side_keep(s, &img);
		free(img.bytes);
	}
	return s;
}

void side_free(struct side *s)
{
	if (s)
		free(s->cells);
	free(s);
}

/*
 * The last words about where @p pokes, before it: is that live? What is known of a
 * module's length is that of all its parts, between which other code may be.
 */
static bool announced(const struct notes *n, const struct poke *p)
{
	bool code = false, module = false;

	for (size_t i = 0; i < n->nr && n->v[i].time <= p->time; i++) {
		const enum note_kind kind = n->v[i].kind;

		if (!note_covers(&n->v[i], p->addr))
			continue;
		if (kind == ANNOUNCED || kind == WITHDRAWN)
			code = kind == ANNOUNCED;
		else
			module = kind == LOADED;
	}
	return code || module;
}

/* How many records outside text are in code that no note has told about. */
size_t unannounced(const struct pokes *p, const struct notes *n,
		   const struct image *text, const struct poke **first)
{
	size_t missing = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (poke_in_text(&p->v[i], text) || announced(n, &p->v[i]))
			continue;
		if (!missing++)
			*first = &p->v[i];
	}
	return missing;
}
