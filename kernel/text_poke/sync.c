// SPDX-License-Identifier: GPL-2.0
/*
 * How every CPU comes to refetch what is stored: by an interrupt, by a fence of
 * the architecture's, on its way out of user mode, or, for one that comes online,
 * in bring-up.
 *
 * arch_text_poke_sync() calls one of the first two, for all CPUs but those that
 * will do so by themselves.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/text_poke.h>

#include "debug.h"
#include "fault.h"
#include "internal.h"

static bool must_interrupt(int cpu, void *unused)
{
	return !text_poke_leaves_alone(cpu);
}

static void refetch_cpu(void *unused)
{
	arch_text_poke_sync_cpu();
	text_poke_check_refetched();
}

/**
 * text_poke_sync_by_ipi - make every online CPU refetch by an interrupt
 *
 * But for those in user mode, see <linux/text_poke_catch_up.h>.
 *
 * Context: Process context, interrupts on, text_mutex held.
 */
void text_poke_sync_by_ipi(void)
{
	on_each_cpu_cond(must_interrupt, refetch_cpu, NULL, true);
}

/**
 * text_poke_sync_by_fence - make every online CPU refetch without the kernel there
 * @fence:	has these CPUs refetch, by firmware for one; this one is among them
 *
 * But for those in user mode, as in text_poke_sync_by_ipi().  Where the kernel
 * runs on the other CPU makes no difference: it may be in the trap handler, or
 * have interrupts off.
 *
 * Context: Process context, interrupts on, text_mutex held.
 */
void text_poke_sync_by_fence(void (*fence)(const struct cpumask *cpus))
{
	static struct cpumask cpus;
	int cpu;

	/* No CPU goes offline meanwhile. */
	guard(preempt)();
	cpumask_copy(&cpus, cpu_online_mask);
	for_each_cpu(cpu, cpu_online_mask)
		if (text_poke_leaves_alone(cpu))
			cpumask_clear_cpu(cpu, &cpus);
	fence(&cpus);
	text_poke_check_fenced(&cpus);
}

/**
 * text_poke_sync_cpus - have every CPU refetch what was stored, and count that
 *
 * Context: Process context, interrupts on, text_mutex held.
 */
void text_poke_sync_cpus(void)
{
	text_poke_stats.syncs++;
	if (text_poke_should_fail(TEXT_POKE_FAULT_SYNC))
		text_poke_delay();
	text_poke_check_sync_begin();
	arch_text_poke_sync();
	text_poke_check_sync_end();
}

/**
 * text_poke_cpu_online - this CPU has just been marked online
 *
 * Bring-up calls it.  Until the mark was set, syncs passed this CPU by.
 *
 * Context: The CPU that comes online, interrupts off.
 */
void text_poke_cpu_online(void)
{
	/*
	 * Orders the mark before the fetches from here on.  Pairs with what
	 * the poker does between its stores and looking which CPUs are online, in
	 * arch_text_poke_flush() or arch_text_poke_unmap().  Either this CPU
	 * is among those and gets the interrupt, or it fetches what was
	 * stored.  Otherwise it could go on with an instruction that it has
	 * fetched before, and that the poker believes no CPU can run any more.
	 */
	arch_text_poke_fetch_mb();
	arch_text_poke_sync_cpu();
	text_poke_check_online();
}
