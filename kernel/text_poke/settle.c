// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for the batch that is being written, and for no more than that.
 *
 * A batch must not take a new perf event for absent while the owner of the
 * event copies the text in the middle of it:
 *
 *   poker                               event
 *   ----------------------------------  ------------------------------------
 *   batch_count is odd                  is counted, has a buffer, is enabled
 *   full barrier                        full barrier
 *   does any event listen?              looks at batch_count
 *   writes and records
 *   batch_count is even                 waits if it was odd, until it differs
 *
 * Of the two looks one at least sees what the other side has done.  Either the
 * batch knows of the event, or the event of the batch.
 *
 * This does not wait for text_mutex: its holder may wait for a grace period of
 * RCU tasks, and nothing is half written meanwhile.
 */
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/text_poke.h>
#include <linux/wait.h>

#include "internal.h"

/* Odd while a batch is being written.  Written under text_mutex. */
static unsigned int batch_count;

static DECLARE_WAIT_QUEUE_HEAD(batch_over);

/**
 * text_poke_batch_begins - the batch is about to be written
 *
 * Called before it is decided whether the batch needs a guard and records.
 *
 * Context: Process context, text_mutex held.
 */
void text_poke_batch_begins(void)
{
	WRITE_ONCE(batch_count, batch_count + 1);
	/*
	 * Orders the count before looking for events.  Pairs with smp_mb() in
	 * text_poke_settle().  Otherwise both could be too early: the batch
	 * goes on without records, and the event's owner copies the text in the
	 * middle of it.
	 */
	smp_mb();
}

/**
 * text_poke_batch_ends - all stores are made, and all records
 *
 * Context: Process context, text_mutex held.
 */
void text_poke_batch_ends(void)
{
	/*
	 * Orders what was stored and recorded before the count.  Pairs with
	 * the loads of the count in text_poke_settle() and batch_settled(), after
	 * which the text is copied.
	 */
	smp_store_release(&batch_count, batch_count + 1);
	if (wq_has_sleeper(&batch_over))
		wake_up_all(&batch_over);
}

static bool batch_settled(unsigned int count)
{
	/* Pairs with the store in text_poke_batch_ends(). */
	return smp_load_acquire(&batch_count) != count;
}

/**
 * text_poke_settle - wait until the batch that is being written has ended
 *
 * What it was decided on may hold no longer: that no event listens.  Called
 * after an event that wants records has been counted, or has come to where it
 * gets them: on return every change is recorded for it.  A caller that is killed
 * waits no longer, and copies nothing either.
 *
 * It does not wait for text_mutex, nor for sites that are queued.
 *
 * Context: Process context, may sleep.  Not with mmap_lock held: readers of
 * /proc/PID/maps would wait as long.
 */
void text_poke_settle(void)
{
	unsigned int count;

	if (current->mm)
		lockdep_assert_not_held(&current->mm->mmap_lock);
	/*
	 * Orders what makes the event listen before looking for a batch.
	 * Pairs with smp_mb() in text_poke_batch_begins().
	 */
	smp_mb();
	/* Pairs with the store in text_poke_batch_ends(), if that was the last. */
	count = smp_load_acquire(&batch_count);
	if (count & 1)
		wait_event_killable(batch_over, batch_settled(count));
}
