// SPDX-License-Identifier: GPL-2.0
/*
 * How a batch is written: guarded, as in guard.c, if an event records text pokes
 * or the architecture does not exchange all of its instructions at once; else
 * directly.
 */
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/text_poke.h>
#include <linux/timekeeping.h>

#include "batch.h"
#include "debug.h"
#include "internal.h"

#define CREATE_TRACE_POINTS
#include <trace/events/text_poke.h>

static int write_direct(void)
{
	unsigned int done = 0;
	int ret;

	ret = text_poke_run_pass(PASS_DIRECT, U64_MAX, &done,
				 text_poke_batch.nr);
	if (ret) {
		text_poke_check_undo();
		text_poke_undo_pass(PASS_UNDO_DIRECT, 0, done);
	}
	text_poke_sync_cpus();
	return ret;
}

static bool batch_is_atomic(void)
{
	unsigned int i;

	for (i = 0; i < text_poke_batch.nr; i++)
		if (!site_at(i)->data && !arch_text_poke_atomic(site_at(i)))
			return false;
	return true;
}

/* On how many pages the batch, which is sorted, has sites. */
static unsigned int count_pages(void)
{
	unsigned long page, last = 0;
	unsigned int i, nr = 0;

	for (i = 0; i < text_poke_batch.nr; i++) {
		page = (unsigned long)site_at(i)->addr >> PAGE_SHIFT;
		nr += page != last;
		last = page;
	}
	return nr;
}

/* Write the batch in the way that was chosen, with a tracepoint at each end. */
static int write_traced(bool guarded, bool listening)
{
	u64 mappings = text_poke_stats.mappings, syncs = text_poke_stats.syncs;
	u64 start = trace_text_poke_batch_end_enabled() ?
			    ktime_get_mono_fast_ns() : 0;
	int ret;

	trace_text_poke_batch_begin(text_poke_batch.nr, guarded, listening);
	text_poke_check_begin(&text_poke_batch, guarded, listening);
	ret = guarded ? text_poke_write_guarded(listening) : write_direct();
	if (text_poke_stuck)
		ret = -EIO;
	else
		text_poke_check_end();
	if (start)
		trace_text_poke_batch_end(text_poke_batch.nr, count_pages(),
					  text_poke_stats.mappings - mappings,
					  text_poke_stats.syncs - syncs,
					  ktime_get_mono_fast_ns() - start, ret);
	return ret;
}

/**
 * text_poke_write_batch - write the batch in the way that it needs
 *
 * Context: Process context, may sleep, text_mutex held; the batch is sorted.
 * Return: 0; -EFAULT if a write failed and was rolled back, -EIO if the rollback
 * has failed.
 */
int text_poke_write_batch(void)
{
	bool listening, guarded;
	int ret;

	text_poke_batch_begins();
	listening = perf_text_poke_enabled();
	guarded = listening || !batch_is_atomic();

	text_poke_catch_up_begin(&text_poke_batch);
	ret = write_traced(guarded, listening);
	text_poke_catch_up_end();
	text_poke_batch_ends();

	text_poke_stats.batches++;
	if (guarded)
		text_poke_stats.guarded++;
	else
		text_poke_stats.direct++;
	if (ret)
		text_poke_stats.rolled_back++;
	else
		text_poke_stats.pokes += text_poke_batch.nr;
	return ret;
}
