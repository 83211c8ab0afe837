// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs in user mode, which syncs leave alone: see <linux/text_poke_catch_up.h>.
 */
#include <linux/atomic.h>
#include <linux/context_tracking.h>
#include <linux/percpu.h>
#include <linux/text_poke.h>
#include <linux/text_poke_catch_up.h>

#include <asm/barrier.h>
#include <asm/sections.h>

#include "debug.h"
#include "internal.h"

DEFINE_PER_CPU_SHARED_ALIGNED(struct text_poke_asked, text_poke_asked);

/*
 * Nothing but a batch whose sites are known leaves a CPU alone.  Written under
 * text_mutex.
 */
static bool batch_leaves_alone;

/**
 * __text_poke_catch_up - refetch, on behalf of the poker
 * @this:	this CPU's
 *
 * Context: As text_poke_catch_up(); noinstr.
 */
noinstr void __text_poke_catch_up(struct text_poke_asked *this)
{
	unsigned long asked = READ_ONCE(this->asked);

	arch_text_poke_catch_up();

	/*
	 * After the refetch, for an NMI in between looks here, too.  If it was
	 * asked more often than this CPU knows, or has done more than that, it
	 * refetches once more the next time.
	 */
	barrier();
	WRITE_ONCE(this->done, asked);
}

/**
 * text_poke_ask - ask a CPU to refetch when it enters the kernel
 * @cpu:	the CPU
 *
 * Context: Preemption off, text_mutex held.
 * Return: true if it is in user mode, so that it will.
 */
bool text_poke_ask(int cpu)
{
	struct text_poke_asked *that = per_cpu_ptr(&text_poke_asked, cpu);

	WRITE_ONCE(that->asked, that->asked + 1);

	/*
	 * Orders asking, and what was stored to the text, before looking at the
	 * state.  Pairs with ct_state_inc(), in front of text_poke_catch_up().
	 * Otherwise the CPU could enter the kernel unseen, and not see that it
	 * was asked, or refetch too early.
	 */
	smp_mb();
	return ct_in_user_cpu(cpu);
}

/**
 * text_poke_leaves_alone - need this CPU not be interrupted to refetch?
 * @cpu:	the CPU
 *
 * If so it refetches before it executes any text that may be changed, and it has
 * left all that it has executed of the kernel.
 *
 * Context: Preemption off, text_mutex held.
 * Return: true if so.
 */
bool text_poke_leaves_alone(int cpu)
{
	if (!batch_leaves_alone || !context_tracking_enabled_cpu(cpu))
		return false;
	if (!text_poke_ask(cpu))
		return false;

	text_poke_stats.left_alone++;
	text_poke_check_left_alone(cpu);
	return true;
}

static bool batch_reaches(const struct text_poke_queue *batch,
			  const void *start, const void *end)
{
	unsigned int i = text_poke_first_from(batch, batch->nr, start);

	return i < batch->nr && text_poke_site_at(batch, i)->addr < end;
}

/*
 * Has the batch a site in what a CPU may execute while it counts as in user
 * mode?  All of that is noinstr or entry code; that of cpuidle is among it.  What
 * modules have of it runs for guests, or in cpuidle, and no such CPU is left alone.
 */
static bool runs_unwatched(const struct text_poke_queue *batch)
{
	if (batch_reaches(batch, __noinstr_text_start, __noinstr_text_end))
		return true;
#ifdef TEXT_POKE_HAS_ENTRY_TEXT
	if (batch_reaches(batch, __entry_text_start, __entry_text_end))
		return true;
#endif
	return false;
}

/**
 * text_poke_catch_up_begin - a batch is about to be written
 * @batch:	its sites, sorted by address
 *
 * Context: text_mutex held.
 */
void text_poke_catch_up_begin(const struct text_poke_queue *batch)
{
	bool unwatched = runs_unwatched(batch);

	text_poke_stats.unwatched += unwatched;
	WRITE_ONCE(batch_leaves_alone, !unwatched);
}

/**
 * text_poke_catch_up_end - the batch is written
 *
 * Context: text_mutex held.
 */
void text_poke_catch_up_end(void)
{
	WRITE_ONCE(batch_leaves_alone, false);
}

#ifdef CONFIG_TEXT_POKE_DEBUG
/* Where a CPU took its last trap before it has refetched, for the checker. */
DEFINE_PER_CPU(const void *, text_poke_early_trap);

/**
 * text_poke_note_early_trap - note a trap taken before this CPU has refetched
 * @addr:	where it was taken
 *
 * It was if this CPU counts as in user mode, where it may be left alone.  A CPU
 * that runs a stale site of a direct batch takes no trap, and is not noticed.
 *
 * Context: The trap's entry path; noinstr.
 */
noinstr void text_poke_note_early_trap(const void *addr)
{
	int state = raw_atomic_read(&raw_cpu_ptr(&context_tracking)->state);

	if (READ_ONCE(batch_leaves_alone) && ct_state_is_user(state))
		WRITE_ONCE(*raw_cpu_ptr(&text_poke_early_trap), addr);
}

/**
 * text_poke_take_early_trap - take what a CPU has noted of early traps
 *
 * Context: text_mutex held.
 * Return: where such a trap was taken; NULL if none was since the last call.
 */
const void *text_poke_take_early_trap(void)
{
	const void *addr, *found = NULL;
	int cpu;

	for_each_possible_cpu(cpu) {
		addr = READ_ONCE(per_cpu(text_poke_early_trap, cpu));
		if (!addr)
			continue;
		WRITE_ONCE(per_cpu(text_poke_early_trap, cpu), NULL);
		found = addr;
	}
	return found;
}
#endif
