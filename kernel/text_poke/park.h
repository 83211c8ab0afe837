/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_PARK_H
#define _TEXT_POKE_PARK_H

/*
 * For KUnit suites that change a call site while a task is inside: a task that
 * calls traced() over and over, the victim, and one that takes the CPU from it,
 * the keeper.
 *
 * The suite gets the victim to where it is to be preempted, by a kprobe.  There
 * it sets @parked and wakes the keeper, which is a real-time task, and spins
 * until @parked is clear again.
 */

#include <kunit/test.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

static struct task_struct *victim, *keeper;

/* The victim is to be parked; it is. */
static bool wanted, parked;

/* What the victim has got wrong, and how often it was through. */
static unsigned long wrong, calls;

/* The compiler must not know that a call of it has no effect, nor make a copy. */
static noinline __noclone int traced(int x)
{
	barrier();
	return x + 1;
}

static int run_victim(void *unused)
{
	int i;

	for (i = 0; !kthread_should_stop(); i = (i + 1) & 0xffff) {
		if (traced(i) != i + 1)
			wrong++;
		WRITE_ONCE(calls, calls + 1);
		/* cond_resched() alone is no quiescent state of RCU-tasks */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int keep_cpu(void *unused)
{
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!READ_ONCE(parked) && !kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
		while (READ_ONCE(parked))
			cpu_relax();
	}
	return 0;
}

static struct task_struct *start_parking_task(int (*fn)(void *unused), int cpu)
{
	struct task_struct *task = kthread_create(fn, NULL, "text_poke_park");

	if (!IS_ERR(task))
		kthread_bind(task, cpu);
	return task;
}

/* Skips the test where no task can be parked; the caller runs on another CPU. */
static int begin_parking(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);

	if (!IS_ENABLED(CONFIG_PREEMPTION) || num_online_cpus() < 2)
		kunit_skip(test, "needs preemption and a second CPU");

	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	victim = start_parking_task(run_victim, cpu);
	keeper = start_parking_task(keep_cpu, cpu);
	if (IS_ERR(victim) || IS_ERR(keeper))
		return -ENOMEM;
	sched_set_fifo(keeper);
	wake_up_process(keeper);
	wake_up_process(victim);
	return 0;
}

static bool parking_has_begun(void)
{
	return !IS_ERR_OR_NULL(victim) && !IS_ERR_OR_NULL(keeper);
}

/* However the test has ended, the victim does not stay parked. */
static void let_parked_go(void)
{
	WRITE_ONCE(wanted, false);
	WRITE_ONCE(parked, false);
}

/* The kprobe that parks the victim is gone. */
static void end_parking(struct kunit *test)
{
	kthread_stop(victim);
	kthread_stop(keeper);
	victim = NULL;
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static bool is_parked(void)
{
	return READ_ONCE(parked);
}

/* Within so many jiffies. */
static bool wait_until(bool (*holds)(void), unsigned long patience)
{
	unsigned long end = jiffies + patience;

	while (!holds()) {
		if (time_after(jiffies, end))
			return false;
		schedule_timeout_interruptible(1);
	}
	return true;
}

#endif /* _TEXT_POKE_PARK_H */
