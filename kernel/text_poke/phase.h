/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_PHASE_H
#define _TEXT_POKE_PHASE_H

/*
 * What may be seen of a site while it changes.
 *
 * While a site traps, the handler is told to emulate a third instruction.  So
 * the result of a call says which of the three was executed, and the phases in
 * which the call began and ended say which of them it may have been:
 *
 *   phase      from                           may be seen
 *   ---------  ----------------------------   -----------
 *   SETTLED    the batch is finished          old
 *   CHANGING   before the first trap          old, trap
 *   TRAPPING   every CPU has refetched        trap
 *   FINISHING  before the first unit          trap, new
 *   DIRECT     before the first store, if     old, new
 *              the batch has no guard
 *   UNDOING    a store has failed, and the    old, trap, new
 *              batch has a guard
 *   SETTLED    the batch is finished          new
 *
 * What is undone goes on with a later change that begins with the same old.
 *
 * A phase is kept as a number that grows: PHASES times the number of changes,
 * plus the phase of the current one.
 */

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/barrier.h>

enum text_poke_phase {
	PHASE_SETTLED,
	PHASE_CHANGING,
	PHASE_TRAPPING,
	PHASE_FINISHING,
	PHASE_DIRECT,
	PHASE_UNDOING,
	PHASES,
};

/**
 * struct text_poke_seen - what a call may return, as bits
 * @old:	before a change,
 * @trap:	by the trap,
 * @new:	and after it
 */
struct text_poke_seen {
	u32 old;
	u32 trap;
	u32 new;
};

/* What may be seen in change number @change; @site is the caller's. */
typedef struct text_poke_seen text_poke_seen_t(const void *site,
					       unsigned int change);

static inline void text_poke_phase_enter(unsigned int *now, unsigned int phase)
{
	/*
	 * Release: a reader that sees this phase runs text that is not older.  Pairs
	 * with the acquire in text_poke_phase_from().
	 */
	smp_store_release(now, phase);
	/*
	 * A reader that runs text that is newer sees this phase.  Pairs with
	 * smp_rmb() in text_poke_phase_to().
	 */
	smp_mb();
}

/* To be called before the site. */
static inline unsigned int text_poke_phase_from(const unsigned int *now)
{
	/* Pairs with the release in text_poke_phase_enter(). */
	return smp_load_acquire(now);
}

/* To be called after it. */
static inline unsigned int text_poke_phase_to(const unsigned int *now)
{
	/* Pairs with the barrier in text_poke_phase_enter(). */
	smp_rmb();
	return READ_ONCE(*now);
}

static inline u32 text_poke_visible_in(unsigned int phase,
				       const struct text_poke_seen *seen)
{
	switch (phase % PHASES) {
	case PHASE_SETTLED:
		return seen->old;
	case PHASE_CHANGING:
		return seen->old | seen->trap;
	case PHASE_TRAPPING:
		return seen->trap;
	case PHASE_FINISHING:
		return seen->trap | seen->new;
	case PHASE_UNDOING:
		return seen->old | seen->trap | seen->new;
	default:
		return seen->old | seen->new;
	}
}

/*
 * A change is direct or not, and does not go through the other's phases.  What
 * was seen while it was undone, if it was, is what the phases before and after
 * have as well.
 */
static inline bool text_poke_passed(unsigned int phase, unsigned int from,
				    unsigned int to)
{
	if (phase == from || phase == to || phase % PHASES == PHASE_SETTLED)
		return true;
	if (phase % PHASES == PHASE_DIRECT || phase % PHASES == PHASE_UNDOING)
		return false;
	return phase / PHASES != to / PHASES || to % PHASES != PHASE_DIRECT;
}

/* What a call may return that began in one phase and ended in another. */
static inline u32 text_poke_visible(unsigned int from, unsigned int to,
				    text_poke_seen_t *seen_in, const void *site)
{
	struct text_poke_seen seen;
	unsigned int phase;
	u32 visible = 0;

	if (to - from >= 2 * PHASES)
		return ~0;
	for (phase = from; phase != to + 1; phase++) {
		seen = seen_in(site, phase / PHASES);
		if (text_poke_passed(phase, from, to))
			visible |= text_poke_visible_in(phase, &seen);
	}
	return visible;
}

#endif /* _TEXT_POKE_PHASE_H */
