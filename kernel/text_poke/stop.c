// SPDX-License-Identifier: GPL-2.0
/*
 * Changes that a running CPU must not meet: those with the machine stopped.
 *
 * Some manuals promise nothing for most pairs of instructions if one is stored
 * over the other while a CPU may execute it.  A guard does not help: its trap
 * goes over the old instruction, and the new one over the trap, which makes two
 * such pairs of one.
 *
 *   the writer (in its stopper)         every other CPU (in its stopper)
 *   ----------------------------------  ------------------------------------
 *   waits until all have arrived        spins, with interrupts off
 *   stores, flushes, refetches
 *   emits one record per change
 *   done = true ......................  done: refetches, goes on
 *
 * So all changes happen at one moment for every CPU, and records that are made
 * then are exact, but for what the writer itself runs between stores and records.
 * No CPU can take a record for another one then: the writer is a CPU on which all
 * that listen have an event.
 *
 * One stop serves TEXT_POKE_STOP_CHANGES of them, and more take more stops; if a
 * later one fails, those before it are taken back, with stops and records of
 * their own.  What can interrupt a CPU even so, as a pseudo-NMI, may meet one.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sort.h>
#include <linux/stop_machine.h>
#include <linux/text_poke.h>

#include "batch.h"
#include "debug.h"
#include "fault.h"
#include "internal.h"

/**
 * struct text_poke_stop - what is done while the machine is stopped
 * @changes:	what to write
 * @nr:		how many
 * @undo:	put the old instructions back, over the new ones
 * @listening:	an event wants records
 * @by:		the task that asks for it
 * @writer:	the CPU that writes
 * @arrived:	how many CPUs do not run anything else any more
 * @done:	they may go on
 * @ret:	0, -EFAULT if a store failed and nothing has changed, or -EIO if
 *		something has even so
 */
struct text_poke_stop {
	const struct text_poke_change *changes;
	unsigned int nr;
	bool undo;
	bool listening;
	const struct task_struct *by;
	unsigned int writer;
	atomic_t arrived;
	bool done;
	int ret;
};

u64 text_poke_longest_stop;

static const u8 *bytes_before(const struct text_poke_stop *stop,
			      const struct text_poke_change *change)
{
	return stop->undo ? change->new : change->old;
}

static const u8 *bytes_after(const struct text_poke_stop *stop,
			     const struct text_poke_change *change)
{
	return stop->undo ? change->old : change->new;
}

/* Put back what was there before the first @nr changes. */
static int write_back(const struct text_poke_stop *stop, unsigned int nr)
{
	const struct text_poke_change *change;
	int ret = 0;

	for (change = stop->changes; change < stop->changes + nr; change++)
		if (text_poke_write(change->addr, bytes_before(stop, change),
				    TEXT_POKE_UNIT))
			ret = -EIO;
	return ret;
}

static int write_changes(const struct text_poke_stop *stop)
{
	const struct text_poke_change *change;
	unsigned int i;
	int ret;

	for (i = 0; i < stop->nr; i++) {
		change = &stop->changes[i];
		ret = text_poke_write(change->addr, bytes_after(stop, change),
				      TEXT_POKE_UNIT);
		if (ret)
			return write_back(stop, i) ?: ret;
	}
	return 0;
}

/* What is in the text now: all, none, or what could not be put back. */
static void record_changes(const struct text_poke_stop *stop)
{
	const struct text_poke_change *change;

	if (!stop->listening)
		return;
	for (change = stop->changes; change < stop->changes + stop->nr; change++)
		if (!text_poke_verify(change->addr, bytes_after(stop, change),
				      TEXT_POKE_UNIT))
			text_poke_record(change->addr, bytes_before(stop, change),
					 TEXT_POKE_UNIT, bytes_after(stop, change),
					 TEXT_POKE_UNIT);
	text_poke_tell();
}

/* This CPU has it for itself. */
static notrace void change_text(struct text_poke_stop *stop)
{
	u64 began = local_clock();

	text_poke_fail_for(stop->by);
	stop->ret = write_changes(stop);
	text_poke_fail_for(NULL);
	arch_text_poke_sync_cpu();
	record_changes(stop);
	text_poke_longest_stop = max(text_poke_longest_stop,
				     local_clock() - began);
}
NOKPROBE_SYMBOL(change_text);

/* The writer writes when all others spin in here. */
static notrace int stop_cpu(void *data)
{
	struct text_poke_stop *stop = data;

	/* Pairs with the acquire of the writer. */
	atomic_inc_return_release(&stop->arrived);
	if (smp_processor_id() == stop->writer) {
		/* Pairs with the release of all that have arrived. */
		while (atomic_read_acquire(&stop->arrived) < num_online_cpus())
			cpu_relax();
		change_text(stop);
		/* Pairs with the acquire of those that wait. */
		smp_store_release(&stop->done, true);
	} else {
		/* Pairs with the release of the one that writes. */
		while (!smp_load_acquire(&stop->done))
			cpu_relax();
		arch_text_poke_sync_cpu();
	}
	text_poke_check_refetched();
	return 0;
}
NOKPROBE_SYMBOL(stop_cpu);

static int cmp_changes(const void *a, const void *b)
{
	const struct text_poke_change *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int check_change(const struct text_poke_change *change)
{
	if (!IS_ALIGNED((unsigned long)change->addr, TEXT_POKE_UNIT))
		return -EINVAL;
	if (!arch_text_poke_is_text(change->addr))
		return -ENXIO;
	if (!arch_text_poke_trappable(change->addr) ||
	    text_poke_in_trap_path(change->addr))
		return -EOPNOTSUPP;
	return text_poke_verify(change->addr, change->old, TEXT_POKE_UNIT);
}

static int check_changes(struct text_poke_change *changes, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	sort(changes, nr, sizeof(*changes), cmp_changes, NULL);
	for (i = 0; i < nr && !ret; i++) {
		ret = check_change(&changes[i]);
		if (i && changes[i].addr == changes[i - 1].addr)
			ret = -EEXIST;
	}
	return ret;
}

static int stop_once(struct text_poke_stop *stop,
		     const struct text_poke_change *changes, unsigned int nr)
{
	int ret;

	stop->changes = changes;
	stop->nr = nr;
	stop->done = false;
	stop->writer = perf_text_poke_cpu();
	atomic_set(&stop->arrived, 0);

	text_poke_stats.stops++;
	ret = stop_machine_cpuslocked(stop_cpu, stop, cpu_online_mask);
	if (stop->listening)
		perf_text_poke_tell_missed();
	return ret ?: stop->ret;
}

/* Take back the first @nr changes, one of the stops that made them after another. */
static int undo_stop(struct text_poke_stop *stop,
		     const struct text_poke_change *changes, unsigned int nr)
{
	int ret = 0;

	stop->undo = true;
	while (nr) {
		nr -= TEXT_POKE_STOP_CHANGES;
		if (stop_once(stop, changes + nr, TEXT_POKE_STOP_CHANGES))
			ret = -EIO;
	}
	return ret;
}

static int stop_for(struct text_poke_stop *stop,
		    const struct text_poke_change *changes, unsigned int nr)
{
	unsigned int done, now;
	int ret;

	for (done = 0; done < nr; done += now) {
		now = min(nr - done, TEXT_POKE_STOP_CHANGES);
		ret = stop_once(stop, changes + done, now);
		if (ret)
			return undo_stop(stop, changes, done) ?: ret;
	}
	return 0;
}

static void count_stop(const struct text_poke_change *changes, unsigned int nr,
		       int ret)
{
	if (!ret)
		text_poke_stats.pokes += nr;
	else
		text_poke_stats.rolled_back++;
	if (ret == -EIO)
		text_poke_warn("cannot roll back, text stays as it is",
			       changes->addr);
}

/**
 * text_poke_stopped - make changes with the machine stopped
 * @changes:	what to change; will be sorted
 * @nr:		how many
 *
 * For what text_poke_batch_add() refuses because a CPU might execute it just
 * then.  Nothing executes as anything else meanwhile, and there is no guard.
 * TEXT_POKE_STOP_CHANGES of them share a stop.
 *
 * Context: Process context, may sleep; text_mutex held, and, taken before it,
 * cpus_read_lock().
 * Return: 0 or one of the errors listed in <linux/text_poke.h>: all changes are
 * made or none is, but for -EIO.  If a stop cannot be taken back, nothing traps,
 * and what comes later is done.
 */
int text_poke_stopped(struct text_poke_change *changes, unsigned int nr)
{
	struct text_poke_stop stop = { .by = current };
	int ret;

	if (!text_poke_mutex_is_held()) {
		text_poke_warn("text_mutex is not held", NULL);
		return -EBUSY;
	}
	if (!nr)
		return 0;
	if (text_poke_stuck)
		return -EIO;
	if (text_poke_batch.nr) {
		text_poke_warn("a batch is queued", site_at(0)->addr);
		return -EBUSY;
	}
	ret = check_changes(changes, nr);
	if (ret) {
		text_poke_stats.refused++;
		return ret;
	}

	/* As of a batch: an event that comes too late for these waits. */
	text_poke_batch_begins();
	stop.listening = perf_text_poke_enabled();
	ret = stop_for(&stop, changes, nr);
	text_poke_batch_ends();
	count_stop(changes, nr, ret);
	return ret;
}
