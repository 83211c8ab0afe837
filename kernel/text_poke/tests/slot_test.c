// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of slots: what the trap handler cannot emulate is executed out of
 * line, and perf knows where.
 *
 * The text is that of text_poke_test.c.  The instruction which needs a slot
 * comes from "arch_test.h"; with it, text_poke_test_fn() returns
 * TEXT_POKE_TEST_STEPPED.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/memory.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/text_poke.h>

#include <asm/ptrace.h>

#include "test.h"

static u8 nop[LEN], step[LEN];

/* What the function returned while its site trapped, and how often it ran. */
static int trapped_ret, trapped_runs;

/* Records as perf would get them. */
#define MAX_RECORDS 8
static struct {
	const void *addr;
	size_t old_len;
	size_t new_len;
} records[MAX_RECORDS];
static unsigned int nr_records;

static int poke_site(const void *old, const void *new)
{
	return poke(text_poke_test_site, old, new, LEN);
}

static bool site_traps(void)
{
	u8 trap[LEN];

	text_poke_test_trap(trap);
	return !text_poke_verify(text_poke_test_site, trap, TEXT_POKE_UNIT);
}

/* Before a store: if the trap is there, run into it. */
static int run_then_store(void *alias, const void *bytes, size_t len)
{
	if (site_traps()) {
		trapped_ret = text_poke_test_fn();
		trapped_runs++;
	}
	return copy_to_kernel_nofault(alias, bytes, len);
}

static void note_record(const void *addr, const void *old, size_t old_len,
			const void *new, size_t new_len)
{
	if (nr_records < MAX_RECORDS) {
		records[nr_records].addr = addr;
		records[nr_records].old_len = old_len;
		records[nr_records].new_len = new_len;
	}
	nr_records++;
}

static void the_cpu_runs_the_instruction_in_its_slot(struct kunit *test)
{
	u64 traps;

	text_poke_test_listen(test);
	traps = text_poke_test_traps;
	text_poke_test_store(run_then_store);
	KUNIT_EXPECT_EQ(test, 0, poke_site(nop, step));
	text_poke_test_store(NULL);

	/* Before the tail, if there is one, and before the unit. */
	KUNIT_EXPECT_EQ(test, trapped_runs, TAIL ? 2 : 1);
	KUNIT_EXPECT_EQ(test, trapped_ret, TEXT_POKE_TEST_STEPPED);
	KUNIT_EXPECT_EQ(test, text_poke_test_traps, traps + trapped_runs);
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), TEXT_POKE_TEST_STEPPED);
}

/* Even if no event listens, unless the two may be exchanged directly. */
static void sites_with_a_slot_are_guarded(struct kunit *test)
{
	u64 guarded = text_poke_test_stats.guarded;
	struct text_poke_site site = {
		.addr	= text_poke_test_site,
		.len	= LEN,
	};

	memcpy(site.old, nop, LEN);
	memcpy(site.new, step, LEN);
	KUNIT_EXPECT_EQ(test, 0, arch_text_poke_prepare(&site, step));
	KUNIT_EXPECT_EQ(test, 0, poke_site(nop, step));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded - guarded,
			!arch_text_poke_atomic(&site));
}

static void a_slot_holds_the_instruction_and_a_trap(struct kunit *test)
{
	struct text_poke_site site = {
		.addr	= text_poke_test_site,
		.len	= LEN,
	};
	u8 trap[LEN];

	text_poke_test_trap(trap);
	memcpy(site.new, step, LEN);
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, arch_text_poke_prepare(&site, step));
	KUNIT_EXPECT_TRUE(test, site.ool);
	KUNIT_EXPECT_EQ(test, 0, text_poke_slot_get(&site));
	if (!site.slot)
		return;

	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(site.slot, step, LEN));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(site.slot + LEN, trap,
						  TEXT_POKE_UNIT));
	KUNIT_EXPECT_PTR_EQ(test, text_poke_slot_end(site.slot + LEN),
			    site.addr + LEN);
	KUNIT_EXPECT_NULL(test, text_poke_slot_end(site.slot - 1));
	KUNIT_EXPECT_NULL(test, text_poke_slot_end(site.slot + PAGE_SIZE));

	text_poke_slots_free();
	KUNIT_EXPECT_NULL(test, text_poke_slot_end(site.slot + LEN));
}

/* The contents come before the site, and go after it, at the same address. */
static void perf_is_told_of_slots(struct kunit *test)
{
	text_poke_test_listen(test);
	text_poke_test_record(note_record);
	KUNIT_EXPECT_EQ(test, 0, poke_site(nop, step));
	text_poke_test_record(NULL);

	KUNIT_ASSERT_EQ(test, nr_records, 3);
	KUNIT_EXPECT_EQ(test, records[0].old_len, 0);
	KUNIT_EXPECT_EQ(test, records[0].new_len, TEXT_POKE_SLOT);
	KUNIT_EXPECT_PTR_EQ(test, records[1].addr,
			    (const void *)text_poke_test_site);
	KUNIT_EXPECT_PTR_EQ(test, records[2].addr, records[0].addr);
	KUNIT_EXPECT_EQ(test, records[2].old_len, TEXT_POKE_SLOT);
	KUNIT_EXPECT_EQ(test, records[2].new_len, 0);
}

static int poke_field(unsigned int nr, const void *old, const void *new)
{
	unsigned int i;
	int ret = 0;

	guard(own_pokes)();
	for (i = 0; !ret && i < nr; i++)
		ret = text_poke_batch_add(field_addr(i), old,
					  new, LEN, NULL);
	return finish_or_cancel(ret);
}

/* All slots are in one page; a batch is not written in parts. */
static void more_sites_than_slots_change_nothing(struct kunit *test)
{
	unsigned int i, nr = TEXT_POKE_SLOTS;
	u64 batches = text_poke_test_stats.batches;

	KUNIT_EXPECT_EQ(test, -ENOMEM, poke_field(nr + 1, nop, step));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, batches);
	for (i = 0; i <= nr; i++)
		KUNIT_EXPECT_EQ(test, 0,
				text_poke_verify(field_addr(i), nop, LEN));
	KUNIT_EXPECT_EQ(test, 0, poke_field(nr, nop, step));
	KUNIT_EXPECT_EQ(test, 0, poke_field(nr, step, nop));
}

static int failing_store(void *alias, const void *bytes, size_t len)
{
	return -EFAULT;
}

static void a_slot_that_cannot_be_written_changes_nothing(struct kunit *test)
{
	u64 batches = text_poke_test_stats.batches;

	text_poke_test_store(failing_store);
	KUNIT_EXPECT_EQ(test, -EFAULT, poke_site(nop, step));
	text_poke_test_store(NULL);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, batches);
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
}

/* How often another CPU has run the site, and seen neither old nor new. */
static u64 calls, wrong;

static int run_site(void *unused)
{
	int ret;

	while (!kthread_should_stop()) {
		ret = text_poke_test_fn();
		if (ret != 1 && ret != TEXT_POKE_TEST_STEPPED)
			wrong++;
		WRITE_ONCE(calls, calls + 1);
		/* Or text_poke_quiesce() would wait for the end of the test. */
		if (!(calls % 1024))
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int poke_for(unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	int ret = 0;

	while (!ret && time_before(jiffies, end))
		ret = poke_site(nop, step) ?: poke_site(step, nop);
	return ret;
}

/* Another CPU goes through slots that come and go. */
static void other_cpus_see_old_or_new(struct kunit *test)
{
	struct task_struct *task;
	u64 traps;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	text_poke_test_listen(test);
	traps = text_poke_test_traps;
	migrate_disable();
	task = kthread_create(run_site, NULL, "text_poke_slot_test");
	if (!IS_ERR(task)) {
		kthread_bind(task, cpumask_any_but(cpu_online_mask,
						   smp_processor_id()));
		wake_up_process(task);
		KUNIT_EXPECT_EQ(test, 0, poke_for(1000));
		kthread_stop(task);
	}
	migrate_enable();

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, text_poke_test_traps, traps);
	kunit_info(test, "%llu calls, %llu traps", calls,
		   text_poke_test_traps - traps);
}

#define STAY_MS	500

static bool stays, moved_on;

/* Like a task that was preempted in a slot: it does not give way by itself. */
static int stay(void *unused)
{
	unsigned long end = jiffies + msecs_to_jiffies(STAY_MS);

	WRITE_ONCE(stays, true);
	while (time_before(jiffies, end))
		cpu_relax();
	WRITE_ONCE(moved_on, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void slots_go_when_every_task_has_moved_on(struct kunit *test)
{
	struct task_struct *task;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	/* Or the site may be written directly, and no CPU enters the slot. */
	text_poke_test_listen(test);
	stays = false;
	moved_on = false;
	task = kthread_run(stay, NULL, "text_poke_slot_stay");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	while (!READ_ONCE(stays))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, 0, poke_site(nop, step));
	KUNIT_EXPECT_TRUE(test, READ_ONCE(moved_on));
	kthread_stop(task);
}

static int slot_test_init(struct kunit *test)
{
	text_poke_test_nop(nop);
	text_poke_test_step(step);
	trapped_ret = 0;
	trapped_runs = 0;
	nr_records = 0;
	return 0;
}

static void slot_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, poke_site(NULL, nop));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
	KUNIT_EXPECT_NULL(test, text_poke_slots.page);
}

static struct kunit_case slot_cases[] = {
	KUNIT_CASE(the_cpu_runs_the_instruction_in_its_slot),
	KUNIT_CASE(sites_with_a_slot_are_guarded),
	KUNIT_CASE(a_slot_holds_the_instruction_and_a_trap),
	KUNIT_CASE(perf_is_told_of_slots),
	KUNIT_CASE(more_sites_than_slots_change_nothing),
	KUNIT_CASE(a_slot_that_cannot_be_written_changes_nothing),
	KUNIT_CASE_SLOW(other_cpus_see_old_or_new),
	KUNIT_CASE(slots_go_when_every_task_has_moved_on),
	{}
};

static struct kunit_suite slot_suite = {
	.name		= "text_poke_slot",
	.init		= slot_test_init,
	.exit		= slot_test_exit,
	.test_cases	= slot_cases,
};

kunit_test_suite(slot_suite);

MODULE_DESCRIPTION("KUnit test of text poke slots");
MODULE_LICENSE("GPL");
