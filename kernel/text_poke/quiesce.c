// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting until no task is where instructions have changed, or will change.
 */
#include <linux/context_tracking_state.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/stop_machine.h>
#include <linux/text_poke.h>

static int run_nothing(void *unused)
{
	return 0;
}

/*
 * Take every CPU away from what it does, if only for a moment.  That is for the
 * idle tasks, for which synchronize_rcu_tasks() does not wait.
 *
 * synchronize_rcu_tasks_rude() would do the same, but its thread takes
 * cpu_hotplug_lock, which others hold when they wait for text_mutex:
 *
 *   CPU0                      CPU1                    CPU2
 *   ------------------------  ----------------------  ------------------------
 *                             arm a kprobe:
 *                             cpus_read_lock()
 *   lock(text_mutex)                                  take a CPU offline:
 *                             lock(text_mutex)        cpus_write_lock()
 *                               wait for CPU0           wait for CPU1
 *   wait for RCU's thread:
 *     cpus_read_lock()
 *       wait for CPU2
 *
 * A CPU in user mode has left all of that, and its idle task is where it gave
 * the CPU away.
 *
 * A CPU that comes or goes meanwhile, and cannot be asked, runs with interrupts
 * off while RCU watches it, and synchronize_rcu_tasks() waits for such.  It does
 * not for what one executes before RCU watches it, or after RCU has let go of it.
 */
static void switch_every_cpu(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!IS_ENABLED(CONFIG_TEXT_POKE_CATCH_UP) || !ct_in_user_cpu(cpu))
			stop_one_cpu(cpu, run_nothing, NULL);
}

/**
 * text_poke_wait_for_tasks - wait until no task is where a batch has changed text
 *
 * After a batch has been written every CPU fetches the new instruction, but a
 * CPU, or a task that was preempted, may be anywhere in the instructions next
 * to it.  On return all that were there have left: every CPU has been through a
 * context switch or was seen in user mode, and every task through a switch of
 * its own accord or to user space.  A CPU that is about to be dead, or has only
 * just come up, may not have: where it can execute them, cpus_read_lock() has to
 * be held from before the batch.
 *
 * All other changes of text wait for text_mutex: a caller that does not need
 * them kept out lets go of it first.
 *
 * Context: Process context, may sleep for long.
 */
void text_poke_wait_for_tasks(void)
{
	might_sleep();
	switch_every_cpu();
	synchronize_rcu_tasks();
}

/**
 * text_poke_quiesce - wait until no task is inside a sequence of instructions
 *
 * As text_poke_wait_for_tasks(), and for what was changed by other means than a
 * batch as well.
 *
 * Context: Process context, may sleep for long; text_mutex held.
 */
void text_poke_quiesce(void)
{
	lockdep_assert_held(&text_mutex);
	arch_text_poke_sync();
	text_poke_wait_for_tasks();
}
