// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of text pokes: to perf, to the log, and to debugfs.c.
 *
 * The core and its runtime checker both call this, and it calls neither.
 */
#define pr_fmt(fmt) "text_poke: " fmt

#include <linux/bug.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/text_poke.h>

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
	else
		WARN_RATELIMIT(1, "text_poke: %s, at %pS\n", what,
			       where);
}

/**
 * text_poke_record - tell perf, and count that
 * @addr:	where
 * @old:	the bytes from before
 * @old_len:	how many; 0: nothing was there
 * @new:	the bytes from now on
 * @new_len:	how many; 0: nothing will be there
 */
void text_poke_record(const void *addr, const void *old, size_t old_len,
		      const void *new, size_t new_len)
{
	if (is_replaced(record)) {
		text_poke_replaced.record(addr, old, old_len, new, new_len);
		return;
	}
	perf_event_text_poke(addr, old, old_len, new, new_len);
	text_poke_stats.records++;
}

/* Without lockdep there is no telling whose it is. */
bool text_poke_mutex_is_held(void)
{
	return mutex_is_locked(&text_mutex) &&
	       (!IS_ENABLED(CONFIG_LOCKDEP) || lockdep_is_held(&text_mutex));
}
