// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting until nobody is where instructions have changed, or will change.
 */
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/text_poke.h>

/**
 * text_poke_quiesce - wait until nobody is inside a sequence of instructions
 *
 * After a batch has been written every CPU fetches the new instruction, but a
 * CPU, or a task that was preempted, may be anywhere in the instructions next
 * to it.  On return whoever was there has left: every CPU has been through a
 * context switch, and every task through one of its own accord or to user
 * space.
 *
 * Context: Process context, may sleep for long; text_mutex may be held.  Not
 * with cpu_hotplug_lock: part of the wait is for work that takes it.
 */
void text_poke_quiesce(void)
{
	might_sleep();
	arch_text_poke_sync();
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
}
