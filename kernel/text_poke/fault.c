// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection: fail_text_poke=, and debugfs fail_text_poke/, where "points"
 * is a mask of enum text_poke_fault, and "delay" says how many milliseconds what
 * is slow takes.  See Documentation/fault-injection/.
 */
#include <kunit/static_stub.h>
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/text_poke.h>

#include "fault.h"

#define ALL_POINTS (BIT(TEXT_POKE_FAULT_NR) - 1)

static struct {
	struct fault_attr attr;
	u32 points;
	u32 delay;
} fail_text_poke = {
	.attr	= FAULT_ATTR_INITIALIZER,
	.points	= ALL_POINTS,
	.delay	= 100,
};

static int __init setup_fail_text_poke(char *str)
{
	return setup_fault_attr(&fail_text_poke.attr, str);
}
__setup("fail_text_poke=", setup_fail_text_poke);

/**
 * text_poke_should_fail - is this the moment to fail?
 * @point:	what would fail
 *
 * Context: Any in which a spinlock may be taken.
 * Return: true if so.
 */
bool text_poke_should_fail(enum text_poke_fault point)
{
	return READ_ONCE(fail_text_poke.points) & BIT(point) &&
	       should_fail_ex(&fail_text_poke.attr, 1, FAULT_NOWARN);
}

/*
 * What has been decided about the stores to come of task @by: so many work, and
 * the next one fails.  NULL: of no task.  Protected by text_mutex; a task that
 * writes a module's text for the first time may do without.  If both are made to
 * fail, which only debugfs does, one of them may do so at another store or not
 * at all.
 */
static struct {
	const struct task_struct *by;
	unsigned int work;
} planned;

/**
 * text_poke_plan_stores - decide which of the next stores fail
 * @nr:		how many there may be at most
 *
 * An alias may be mapped with a raw spinlock held, and then there is no asking
 * text_poke_should_fail(): it takes a lock to get at random numbers.  So it is
 * asked before.  If one is to fail and was not made, the next one fails.
 *
 * Context: As text_poke_should_fail(); text_mutex held.
 */
void text_poke_plan_stores(unsigned int nr)
{
	unsigned int work;

	if (READ_ONCE(planned.by) == current)
		return;
	for (work = 0; work < nr; work++)
		if (text_poke_should_fail(TEXT_POKE_FAULT_STORE)) {
			planned.work = work;
			WRITE_ONCE(planned.by, current);
			return;
		}
}

/**
 * text_poke_store_fails - has it been decided that this store fails?
 *
 * Context: Any; text_mutex held.
 * Return: true if so.
 */
bool text_poke_store_fails(void)
{
	if (READ_ONCE(planned.by) != current)
		return false;
	if (planned.work--)
		return false;
	WRITE_ONCE(planned.by, NULL);
	return true;
}

static void forget_plans(void)
{
	WRITE_ONCE(planned.by, NULL);
}

/* By the clock: mdelay() counts loops, which take longer or shorter on a busy host. */
static void wait_busily(u32 ms)
{
	u64 end = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;

	while (ktime_get_ns() < end)
		cpu_relax();
}

/**
 * text_poke_delay - let something take long
 *
 * A test that wants to know when has a stub of its own.
 *
 * Context: Process context, preemption may be off.
 */
void text_poke_delay(void)
{
	KUNIT_STATIC_STUB_REDIRECT(text_poke_delay);

	wait_busily(READ_ONCE(fail_text_poke.delay));
}

/* What others do meanwhile works. */
static void fail_times(enum text_poke_fault point, int times, unsigned int after)
{
	forget_plans();
	current->make_it_fail = 1;
	fail_text_poke.attr.task_filter = true;
	fail_text_poke.points = BIT(point);
	fail_text_poke.attr.probability = 100;
	fail_text_poke.attr.interval = 1;
	atomic_set(&fail_text_poke.attr.times, times);
	/* The last that fits into the space fails already. */
	atomic_set(&fail_text_poke.attr.space, after + 1);
}

/**
 * text_poke_fail_at - let one thing that this task does fail once, for a test
 * @point:	what
 * @after:	how often it shall work before
 */
void text_poke_fail_at(enum text_poke_fault point, unsigned int after)
{
	fail_times(point, 1, after);
}

/**
 * text_poke_fail_from - let one thing that this task does fail from some time on
 * @point:	what
 * @after:	how often it shall work before
 */
void text_poke_fail_from(enum text_poke_fault point, unsigned int after)
{
	fail_times(point, -1, after);
}

/**
 * text_poke_fail_always - let one thing fail whenever this task does it
 * @point:	what
 */
void text_poke_fail_always(enum text_poke_fault point)
{
	text_poke_fail_from(point, 0);
}

/**
 * text_poke_fail_for - let fail here what a test lets fail in another task
 * @task:	on behalf of which this one acts from now on; NULL: of itself
 *
 * Context: In a task that no test is of its own, as a stopper.
 */
void text_poke_fail_for(const struct task_struct *task)
{
	current->make_it_fail = task && task->make_it_fail;
}

/**
 * text_poke_fail_no_more - nothing fails from here on
 */
void text_poke_fail_no_more(void)
{
	forget_plans();
	fail_text_poke.attr.probability = 0;
	fail_text_poke.attr.task_filter = false;
	fail_text_poke.points = ALL_POINTS;
	current->make_it_fail = 0;
}

static int __init fail_text_poke_debugfs(void)
{
	struct dentry *dir;

	dir = fault_create_debugfs_attr("fail_text_poke", NULL,
					&fail_text_poke.attr);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	debugfs_create_x32("points", 0600, dir, &fail_text_poke.points);
	debugfs_create_u32("delay", 0600, dir, &fail_text_poke.delay);
	return 0;
}
late_initcall(fail_text_poke_debugfs);
