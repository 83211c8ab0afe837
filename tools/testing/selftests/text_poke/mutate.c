// SPDX-License-Identifier: GPL-2.0
/*
 * Proof that the oracle bites: damage the list of records, and see it noticed.
 *
 * Only damage that must show is done, so that every miss is a fault of the
 * oracle. All of it is to records A -> B in kernel text with A != B:
 *
 * DROP: some byte of A differs from B. The next record that covers this byte
 * has B there as its old byte while the replay has A; if none follows, memory
 * at the end has B. That holds for A -> B followed by B -> A too.
 *
 * SWAP: the record and the next one of the same site, B -> C, change places. The
 * replay then meets old bytes B in state A. Records of different sites may
 * change places unseen, and rightly: the order does not matter to memory.
 *
 * FLIP: one bit. In the old bytes it differs from the state at once; in the new
 * bytes it is found as a drop is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text_poke.h"

static __u64 seed_state = 1;

void mutate_seed(__u64 seed)
{
	seed_state = seed ? seed : 1;
}

/* xorshift64: the same damage again for the same seed. */
static __u64 draw(__u64 below)
{
	seed_state ^= seed_state << 13;
	seed_state ^= seed_state >> 7;
	seed_state ^= seed_state << 17;
	return seed_state % below;
}

static bool changes_text(const struct poke *p, const struct image *text)
{
	return poke_in_text(p, text) && p->old_len == p->new_len &&
	       memcmp(p->old, p->new, p->old_len);
}

/* A kprobe may share the address of a longer site: that is not its follower. */
static bool follows(const struct poke *p, const struct poke *q)
{
	return q->addr == p->addr && q->old_len == p->new_len &&
	       !memcmp(q->old, p->new, p->new_len);
}

static size_t next_of_site(const struct pokes *p, size_t i)
{
	for (size_t j = i + 1; j < p->nr; j++)
		if (follows(&p->v[i], &p->v[j]))
			return j;
	return p->nr;
}

static void drop(struct pokes *p, size_t i)
{
	p->nr--;
	memmove(&p->v[i], &p->v[i + 1], (p->nr - i) * sizeof(*p->v));
}

static void swap(struct pokes *p, size_t i)
{
	size_t j = next_of_site(p, i);
	struct poke tmp = p->v[i];

	p->v[i] = p->v[j];
	p->v[j] = tmp;
}

/* Old and new lie in one allocation; flipping again repairs the original. */
static __u8 *flip(struct pokes *p, size_t i, __u8 *bit)
{
	__u8 *byte = &p->v[i].old[draw(p->v[i].old_len + p->v[i].new_len)];

	*bit = 1 << draw(8);
	*byte ^= *bit;
	return byte;
}

static bool fit(const struct pokes *p, size_t i, enum mutation kind,
		const struct image *text)
{
	if (!changes_text(&p->v[i], text))
		return false;
	return kind != SWAP || next_of_site(p, i) < p->nr;
}

/* The first fit record from a random place on; p->nr when there is none. */
static size_t pick(const struct pokes *p, enum mutation kind,
		   const struct image *text)
{
	size_t from = p->nr ? draw(p->nr) : 0;

	for (size_t n = 0; n < p->nr; n++) {
		size_t i = (from + n) % p->nr;

		if (fit(p, i, kind, text))
			return i;
	}
	return p->nr;
}

static bool one_noticed(struct pokes *p, size_t i, enum mutation kind,
			const struct image *start, const struct image *end)
{
	__u8 *byte = NULL, bit = 0;
	bool seen;

	if (kind == DROP)
		drop(p, i);
	else if (kind == SWAP)
		swap(p, i);
	else
		byte = flip(p, i, &bit);
	seen = !replay_clean(p, start, end);
	if (byte)
		*byte ^= bit;
	return seen;
}

/* Returns how many of @nr were noticed; stops at the first that was not. */
int mutants_noticed(const struct pokes *p, enum mutation kind, int nr,
		    const struct image *start, const struct image *end)
{
	struct pokes copy = { .v = malloc(p->nr * sizeof(*p->v) + 1) };
	int seen;

	for (seen = 0; copy.v && seen < nr; seen++) {
		size_t i = pick(p, kind, start);

		if (i == p->nr)
			break;
		memcpy(copy.v, p->v, p->nr * sizeof(*p->v));
		copy.nr = p->nr;
		if (!one_noticed(&copy, i, kind, start, end))
			break;
	}
	free(copy.v);
	return seen;
}
