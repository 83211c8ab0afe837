// SPDX-License-Identifier: GPL-2.0
/*
 * How every CPU comes to refetch what is stored: by an interrupt, by a fence of
 * the architecture's, or, for one that comes online, in bring-up.
 *
 * arch_text_poke_sync() calls one of the first two.
 */
#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/text_poke.h>

#include "debug.h"
#include "internal.h"

static void refetch(void *unused)
{
	arch_text_poke_sync_cpu();
	text_poke_check_refetched();
}

/**
 * text_poke_sync_by_ipi - make every online CPU refetch by an interrupt
 *
 * Context: Process context, interrupts on.
 */
void text_poke_sync_by_ipi(void)
{
	on_each_cpu(refetch, NULL, true);
}

/**
 * text_poke_sync_by_fence - make every online CPU refetch without the kernel there
 * @fence:	has the other CPUs refetch, by firmware for one, and this one
 *
 * Where the kernel runs on the other CPU makes no difference: it may be in the
 * trap handler, or have interrupts off.
 *
 * Context: Process context, interrupts on.
 */
void text_poke_sync_by_fence(void (*fence)(void))
{
	fence();
	text_poke_check_all_refetched();
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
