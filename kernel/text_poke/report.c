// SPDX-License-Identifier: GPL-2.0
/*
 * What text pokes report: records to perf, warnings, and counters.  It calls no
 * other part of the core.
 */
#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/text_poke.h>
#include <linux/timekeeping.h>

#include "internal.h"
#include "replaced.h"

struct text_poke_stats text_poke_stats;

/**
 * text_poke_warn - say what must not be
 * @what:	in words
 * @where:	the site, or NULL
 *
 * A test that provokes it hears it instead.
 */
void text_poke_warn(const char *what, const void *where)
{
	if (is_replaced(warn))
		text_poke_replaced.warn(what, where);
	else if (where)
		WARN_RATELIMIT(1, "text_poke: %s, at %pS\n", what,
			       where);
	else
		WARN_RATELIMIT(1, "text_poke: %s\n", what);
}

#ifdef CONFIG_PERF_EVENTS
/* What perf has not been told of yet; under text_mutex. */
static struct perf_text_poke untold[TEXT_POKE_RECORDS];
static unsigned int nr_untold;

/* The bytes of those that are pairs. */
static struct text_poke_pair {
	u8 old[TEXT_POKE_PAIR];
	u8 new[TEXT_POKE_PAIR];
} pairs[TEXT_POKE_RECORDS];

/**
 * text_poke_is_untold - is there something that text_poke_tell() would tell of?
 *
 * Context: text_mutex held.
 * Return: true if so.
 */
bool text_poke_is_untold(void)
{
	return nr_untold;
}

/**
 * text_poke_tell - tell perf of what was recorded and it has not been told of
 *
 * All records of step d have their stamp when this returns.
 *
 * Context: text_mutex held; before the store or the sync that comes next.
 */
void text_poke_tell(void)
{
	perf_event_text_pokes(untold, nr_untold);
	nr_untold = 0;
}

static void keep(const void *addr, const void *old, size_t old_len,
		 const void *new, size_t new_len)
{
	untold[nr_untold++] = (struct perf_text_poke) {
		.addr		= addr,
		.old_bytes	= old,
		.new_bytes	= new,
		.old_len	= old_len,
		.new_len	= new_len,
	};
	if (nr_untold == TEXT_POKE_RECORDS)
		text_poke_tell();
}

static void put_pair(u8 *to, const struct text_poke_site *literal,
		     const u8 *value, const struct text_poke_site *insn,
		     const u8 *bytes)
{
	size_t at = insn->addr - literal->addr;

	memcpy(to, value, literal->len);
	memcpy(to + literal->len, literal->addr + literal->len,
	       at - literal->len);
	memcpy(to + at, bytes, insn->len);
}

/**
 * text_poke_record_pair - record a literal and the instruction behind it as one
 * @literal:	a site
 * @insn:	the next one, which ends no more than TEXT_POKE_PAIR bytes from there
 * @reverse:	they become old again
 *
 * What is between them is no site of the batch, and stays as it is: others have
 * to hold text_mutex to change it, and record that.
 *
 * Context: text_mutex held.  See text_poke_record().
 */
void text_poke_record_pair(const struct text_poke_site *literal,
			   const struct text_poke_site *insn, bool reverse)
{
	struct text_poke_pair *pair = &pairs[nr_untold];
	size_t len = insn->addr - literal->addr + insn->len;

	put_pair(pair->old, literal, literal->old, insn, insn->old);
	put_pair(pair->new, literal, literal->new, insn, insn->new);
	text_poke_record(literal->addr, reverse ? pair->new : pair->old, len,
			 reverse ? pair->old : pair->new, len);
}
#else
static void keep(const void *addr, const void *old, size_t old_len,
		 const void *new, size_t new_len)
{
}
#endif

/**
 * text_poke_record - record a change; text_poke_tell() tells perf at the latest
 * @addr:	where
 * @old:	the bytes from before; they, too, have to stay until then
 * @old_len:	how many; 0: nothing was there
 * @new:	the bytes from now on
 * @new_len:	how many; 0: nothing will be there
 *
 * Counts it as well.  Of one address no more than one change may be recorded
 * between two calls of text_poke_tell(): they would have the same stamp.
 *
 * Context: text_mutex held.
 */
void text_poke_record(const void *addr, const void *old, size_t old_len,
		      const void *new, size_t new_len)
{
	if (is_replaced(record)) {
		text_poke_replaced.record(addr, old, old_len, new, new_len);
		return;
	}
	keep(addr, old, old_len, new, new_len);
	text_poke_stats.records++;
}

/**
 * text_poke_wait_for_room - wait until what reads the records has room for more
 * @nr:		how many are to come
 * @waited:	for how long the batch has waited, in nanoseconds
 *
 * Until TEXT_POKE_READERS_NS are over, or the reader does not get on.
 *
 * Context: Process context, sleeps, text_mutex held.
 * Return: for how long it has waited then; TEXT_POKE_READERS_NS if there is no
 * room still, for to wait once is enough.
 */
u64 text_poke_wait_for_room(unsigned int nr, u64 waited)
{
	u64 start = ktime_get_mono_fast_ns(), time = start, grew = start;
	unsigned long before, room = perf_text_poke_room();

	while (room < nr && time - grew < TEXT_POKE_READER_IDLE_NS &&
	       waited + (time - start) < TEXT_POKE_READERS_NS) {
		usleep_range(1000, 1100);
		time = ktime_get_mono_fast_ns();
		before = room;
		room = perf_text_poke_room();
		if (room > before)
			grew = time;
	}
	text_poke_stats.readers_ns += time - start;
	return room < nr ? TEXT_POKE_READERS_NS : waited + (time - start);
}

/* Without lockdep there is no telling whose it is. */
bool text_poke_mutex_is_held(void)
{
	return mutex_is_locked(&text_mutex) &&
	       (!IS_ENABLED(CONFIG_LOCKDEP) || lockdep_is_held(&text_mutex));
}
