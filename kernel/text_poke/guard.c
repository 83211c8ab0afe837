// SPDX-License-Identifier: GPL-2.0
/*
 * The guard: the order in which a batch reaches the text.
 *
 * Letters at the steps are those of the timeline in <linux/text_poke.h>.
 *
 * What goes wrong without each sync of a guarded batch, with one site that
 * changes from OLD to NEW, and a decoder that applies the record at its stamp:
 *
 *   no c   CPU1 still runs OLD out of its pipeline after the record (d).
 *          Decoded as NEW: wrong.
 *   no e   CPU1 left its last interrupt before d and runs straight on, over
 *          the site, after f.  The trace of that run starts before d, so it
 *          is decoded with OLD.  It ran NEW: wrong.
 *   no g   CPU1 takes the trap after h, when no batch says whose it was.
 *
 * The longer a batch is, the more of what the poker itself calls is trapping
 * meanwhile, and each of these calls makes the batch last longer.  So a long
 * batch goes through the steps in waves, one step apart, and every sync serves
 * three of them:
 *
 *   wave 1   b  c  d  e  f  g
 *   wave 2         b  c  d  e  f  g
 *   wave 3               b  c  d  e  f  g
 *               |     |     |     |     |
 *              sync  sync  sync  sync  sync
 *
 * A site still has a sync between any two of its steps b, d, f and h.
 *
 * While a site traps, every CPU that comes by pays for it, and the poker may be
 * preempted, throttled, or starved by a task that has more to say.  So it keeps
 * its CPU from the first trap to the sync after the last unit: preemption is
 * off, interrupts are on.  That must not take long.  So the waves go in groups,
 * each of which comes to its end before the next one begins, and between which
 * nothing traps:
 *
 *   group   b c  d e b c  d e f g   preempt_enable(), cond_resched()
 *
 * A group arms sites until there are TEXT_POKE_GROUP of them, it has done so for
 * TEXT_POKE_ARMING_NS, or what reads the records is behind.
 *
 * What a rollback looks like depends on how far the batch got.  As long as
 * every site traps no CPU runs OLD or NEW, so it goes back through that state:
 * traps again, sync, records with old and new exchanged, old tails, sync, old
 * units, sync.  Groups that were through with it do so as well, one by one.
 */
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/text_poke.h>
#include <linux/timekeeping.h>

#include "batch.h"
#include "debug.h"
#include "internal.h"

u64 text_poke_longest_armed;

u64 text_poke_arming_ns = TEXT_POKE_ARMING_NS;

bool text_poke_stuck;

static int write_pass(enum text_poke_pass pass, unsigned int *i,
		      unsigned int end)
{
	return text_poke_run_pass(pass, U64_MAX, i, end);
}

/* A rollback has failed at site @i.  There is no way back. */
static void give_up(unsigned int i)
{
	text_poke_sync_cpus();
	text_poke_warn("cannot roll back, text stays as it is",
		       site_at(i)->addr);
	text_poke_stuck = true;
}

/**
 * text_poke_undo_pass - do a pass of a rollback, or give up
 * @pass:	which
 * @i:		the number of the first site
 * @end:	and of the one after the last
 *
 * Context: Process context, text_mutex held.
 * Return: true if it is done; false if it failed: the text stays as it is, and
 * text_poke_stuck is set.
 */
bool text_poke_undo_pass(enum text_poke_pass pass, unsigned int i,
			 unsigned int end)
{
	if (!write_pass(pass, &i, end))
		return true;
	give_up(i);
	return false;
}

/* A literal and the instruction behind it, which one record can hold. */
static bool is_pair(const struct text_poke_site *site,
		    const struct text_poke_site *next)
{
	return site->data && !next->data &&
	       next->addr - site->addr + next->len <= TEXT_POKE_PAIR;
}

/* Record site @i, and the next one if they are a pair; return how many. */
static unsigned int emit_record(unsigned int i, unsigned int end, bool reverse)
{
	struct text_poke_site *site = site_at(i), *next;

	next = i + 1 < end ? site_at(i + 1) : NULL;
	if (next && is_pair(site, next)) {
		text_poke_record_pair(site, next, reverse);
		text_poke_check_record(site);
		text_poke_check_record(next);
		return 2;
	}
	text_poke_record(site->addr, reverse ? site->new : site->old, site->len,
			 reverse ? site->old : site->new, site->len);
	text_poke_check_record(site);
	return 1;
}

/* Records of the sites from *@i to @end (step d). */
static void emit_records(unsigned int *i, unsigned int end)
{
	while (*i < end)
		*i += emit_record(*i, end, false);
	text_poke_tell();
}

/* Records that say the reverse, of the sites from @i to @end. */
static void emit_reversals(unsigned int i, unsigned int end)
{
	while (i < end)
		i += emit_record(i, end, true);
	text_poke_tell();
}

/**
 * struct text_poke_progress - how far a guarded batch has got
 * @first:	where the group that is under way begins
 * @armed:	this many sites of the batch have been through step b,
 * @recorded:	this many of them through step d,
 * @tailed:	through step e,
 * @final:	and through step f
 * @began:	when the group did, in nanoseconds
 * @listening:	an event records text pokes
 * @waited:	for what reads the records, in nanoseconds
 */
struct text_poke_progress {
	unsigned int first;
	unsigned int armed;
	unsigned int recorded;
	unsigned int tailed;
	unsigned int final;
	u64 began;
	bool listening;
	u64 waited;
};

/*
 * A long batch may write records faster than they are read.  Nothing traps here,
 * so wait until there is room for those of a wave.
 */
static void wait_for_readers(struct text_poke_progress *at)
{
	unsigned int nr = min(text_poke_batch.nr - at->final, TEXT_POKE_WAVE);

	at->waited = text_poke_wait_for_room(nr, at->waited);
}

static bool has_readers(const struct text_poke_progress *at)
{
	return at->listening && text_poke_batch.nr >= TEXT_POKE_READERS_SITES &&
	       at->waited < TEXT_POKE_READERS_NS;
}

/* Records of what is armed are still to come; those of a wave more may not fit. */
static bool is_ahead_of_readers(const struct text_poke_progress *at)
{
	return has_readers(at) && perf_text_poke_room() <
				  at->armed - at->recorded + TEXT_POKE_WAVE;
}

/* From here to end_group() sites may trap. */
static void begin_group(struct text_poke_progress *at)
{
	at->first = at->final;
	preempt_disable();
	at->began = ktime_get_mono_fast_ns();
	text_poke_check_group(true);
}

static void end_group(const struct text_poke_progress *at)
{
	u64 armed = ktime_get_mono_fast_ns() - at->began;

	text_poke_check_group(false);
	text_poke_longest_armed = max(text_poke_longest_armed, armed);
	preempt_enable();
	text_poke_rest();
}

static u64 arming_ends(const struct text_poke_progress *at)
{
	return at->began + READ_ONCE(text_poke_arming_ns);
}

/* Where the next wave of the group ends; it has none if it is full. */
static unsigned int end_of_wave(const struct text_poke_progress *at)
{
	unsigned int end = min(at->first + TEXT_POKE_GROUP, text_poke_batch.nr);

	/* What is armed already needs no look at the clock. */
	if (at->armed == end)
		return end;
	if (at->armed > at->first &&
	    (ktime_get_mono_fast_ns() >= arming_ends(at) ||
	     is_ahead_of_readers(at)))
		return at->armed;
	return min(at->armed + TEXT_POKE_WAVE, end);
}

/*
 * Take a group back, all of which traps that was final.  Those before it are as
 * they were.  False: it gave up.
 */
static bool undo_group(const struct text_poke_progress *at)
{
	if (at->final > at->first)
		text_poke_sync_cpus();
	if (at->listening)
		emit_reversals(at->first, at->recorded);
	if (!text_poke_undo_pass(PASS_UNDO_TAIL, at->first, at->tailed))
		return false;
	text_poke_sync_cpus();
	if (!text_poke_undo_pass(PASS_UNDO_ARM, at->first, at->armed))
		return false;
	text_poke_sync_cpus();
	return true;
}

/*
 * Of the sites from @at->final to @end, which are through all steps, take back as
 * many as make a group.
 */
static bool undo_some(struct text_poke_progress *at, unsigned int end)
{
	unsigned int i = at->final;
	bool ret = false;

	begin_group(at);
	end = min(at->first + TEXT_POKE_GROUP, end);
	if (text_poke_run_pass(PASS_REARM, arming_ends(at), &i, end)) {
		give_up(i);
	} else {
		*at = (struct text_poke_progress) {
			at->first, i, i, i, i, at->began, at->listening
		};
		ret = undo_group(at);
	}
	end_group(at);
	return ret;
}

/* Take a guarded batch back: first the group that has failed, then the others. */
static void undo_guarded(const struct text_poke_progress *at)
{
	struct text_poke_progress back = { .listening = at->listening };
	bool ret;

	text_poke_check_undo();
	ret = text_poke_undo_pass(PASS_REARM, at->first, at->final) &&
	      undo_group(at);
	end_group(at);
	while (ret && back.final < at->first)
		ret = undo_some(&back, at->first);
}

/*
 * One round: take every wave that is under way one step further.  What is in
 * @at on entry has been synced since it was done; what is added has not.
 */
static int write_round(struct text_poke_progress *at)
{
	struct text_poke_progress synced = *at;
	unsigned int wave = end_of_wave(at);
	u64 until = arming_ends(at);
	int ret;

	ret = write_pass(PASS_FINAL, &at->final, synced.tailed);	/* f */
	if (ret)
		return ret;

	if (at->listening)
		emit_records(&at->recorded, synced.armed);		/* d */
	ret = write_pass(PASS_TAIL, &at->tailed, synced.armed);		/* e */
	if (ret)
		return ret;

	return text_poke_run_pass(PASS_ARM, until, &at->armed, wave);	/* b */
}

static bool group_is_over(const struct text_poke_progress *at)
{
	return at->final == at->armed && end_of_wave(at) == at->armed;
}

/* Take a group of sites through all steps; preemption is off if that fails. */
static int write_group(struct text_poke_progress *at)
{
	int ret;

	begin_group(at);
	do {
		ret = write_round(at);
		if (ret)
			return ret;
		text_poke_sync_cpus();					/* c e g */
	} while (!group_is_over(at));
	end_group(at);
	return 0;
}

/**
 * text_poke_write_guarded - take the batch through the protocol
 * @listening:	an event records text pokes
 *
 * Context: Process context, may sleep, text_mutex held; the batch is sorted.
 * Return: 0, or the error of a write that failed and was rolled back.  A rollback
 * that has failed sets text_poke_stuck.
 */
int text_poke_write_guarded(bool listening)
{
	struct text_poke_progress at = { .listening = listening };
	int ret;

	text_poke_slots_begin(listening);
	text_poke_publish(&text_poke_batch);				/* a */

	do {
		if (has_readers(&at))
			wait_for_readers(&at);
		ret = write_group(&at);
	} while (!ret && at.final < text_poke_batch.nr);

	if (ret)
		undo_guarded(&at);
	if (!text_poke_stuck)
		text_poke_retire();					/* h */
	return ret;
}

#if IS_ENABLED(CONFIG_TEXT_POKE_KUNIT_TEST)
/* The rollback that failed, once more: see text_poke_unstick(). */
void text_poke_undo_again(void)
{
	text_poke_stuck = false;
	if (text_poke_undo_pass(PASS_UNDO_TAIL, 0, text_poke_batch.nr))
		text_poke_sync_cpus();
	if (text_poke_undo_pass(PASS_UNDO_ARM, 0, text_poke_batch.nr))
		text_poke_sync_cpus();
	text_poke_retire();
	text_poke_check_end();
}
#endif
