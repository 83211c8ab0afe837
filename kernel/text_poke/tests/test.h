/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_TEST_H
#define _TEXT_POKE_TEST_H

/* What the KUnit suites of the text poke core share. */

#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/text_poke.h>

#include "../internal.h"
#include "../replaced.h"
#include "arch_test.h"

struct kunit;

#define LEN TEXT_POKE_TEST_LEN

/* Does a sync wait until each CPU takes an interrupt? */
#ifndef text_poke_test_sync_interrupts
#define text_poke_test_sync_interrupts() true
#endif

/* How much of a site is after its unit. */
#define TAIL (LEN - TEXT_POKE_UNIT)

/* Hidden from the compiler, lest objtool sees references into the middle. */
static inline void *site_addr(void)
{
	void *site = text_poke_test_site;

	OPTIMIZER_HIDE_VAR(site);
	return site;
}

/* Through @alias, is it the unit of the site that is stored?  Not its tail. */
static inline bool stores_unit(const void *alias, size_t len)
{
	return len == TEXT_POKE_UNIT &&
	       offset_in_page(alias) == offset_in_page(site_addr());
}

static inline void *field_addr(unsigned int i)
{
	void *field = text_poke_test_field;

	OPTIMIZER_HIDE_VAR(field);
	return field + i * LEN;
}

/*
 * text_mutex, under which what the core does is also counted apart: whenever a
 * test lets go of it the kernel may change sites of its own.
 */
void text_poke_test_lock(void);
void text_poke_test_unlock(void);

DEFINE_LOCK_GUARD_0(own_pokes, text_poke_test_lock(), text_poke_test_unlock())

extern struct text_poke_stats text_poke_test_stats;
extern u64 text_poke_test_traps;

/* How many syncs there were since the lock was taken. */
u64 text_poke_test_syncs(void);

/* One change in a batch of its own. */
static inline int poke(void *addr, const void *old, const void *new, size_t len)
{
	guard(own_pokes)();
	return text_poke_single(addr, old, new, len, NULL);
}

/* Write what is queued, unless adding to it has failed with @ret. */
static inline int finish_or_cancel(int ret)
{
	if (!ret)
		return text_poke_batch_finish();
	text_poke_batch_cancel();
	return ret;
}

/* Put there what no CPU executes meanwhile, whatever the core says of what is. */
static inline int put_unasked(void *addr, const void *bytes, size_t len)
{
	int ret;

	guard(mutex)(&text_mutex);
	ret = text_poke_write(addr, bytes, len);
	arch_text_poke_sync();
	return ret;
}

/*
 * From here on the core stores, or records, with this where this task pokes;
 * NULL: as it always does.
 */
void text_poke_test_store(text_poke_store_t *store);
void text_poke_test_record(text_poke_record_t *record);

/* Whatever a case has left there. */
void text_poke_test_replace_nothing(void);

/* A queue of @nr sites, each in its place; no more than TEXT_POKE_TEST_MANY. */
#define TEXT_POKE_TEST_MANY 1000
const struct text_poke_queue *
text_poke_test_queue(const struct text_poke_site *sites, unsigned int nr);

/* From here on, warnings of the core are kept here: the first of them. */
extern const char *text_poke_test_said;
void text_poke_test_hear(bool on);

/*
 * For the init and the exit of a suite: batches that this task has written, other
 * tasks' do not count; and how often text_poke_failed() was called, which says
 * nothing meanwhile.
 */
int text_poke_test_count_batches(struct kunit *test);
void text_poke_test_count_no_more(struct kunit *test);

extern unsigned int text_poke_test_batches, text_poke_test_failures;
void text_poke_test_count_anew(void);

/* From here to the end of the case an event listens. */
void text_poke_test_listen(struct kunit *test);

#endif /* _TEXT_POKE_TEST_H */
