// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what fail_text_poke makes fail: whatever it is, and whenever,
 * the text is the old one or the new one, and the next batch works.  And of
 * CPUs that go offline and come back at any moment of a batch.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/text_poke.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "../fault.h"
#include "test.h"

/* More than any way to change one instruction has of anything. */
#define MANY 20U

/* For a CPU that is to come back. */
#define PLUG_TRIES 20

static u8 nop[LEN], jump[LEN];

static bool site_is(const void *insn)
{
	return !text_poke_verify(site_addr(), insn, LEN);
}

static int poke_failing_at(enum text_poke_fault point, unsigned int after)
{
	int ret;

	guard(own_pokes)();
	text_poke_fail_at(point, after);
	ret = text_poke_single(site_addr(), nop, jump, LEN, NULL);
	text_poke_fail_no_more();
	return ret;
}

/*
 * Fail at the first, then at the second, and so on until there are no more;
 * returns how many there were.
 */
static unsigned int fail_at_each(struct kunit *test, enum text_poke_fault point,
				 int error)
{
	unsigned int after;
	int ret;

	for (after = 0; after < MANY; after++) {
		ret = poke_failing_at(point, after);
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, ret, error);
		KUNIT_EXPECT_TRUE(test, site_is(nop));
		KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
	}
	KUNIT_EXPECT_TRUE(test, site_is(jump));
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), jump, nop, LEN));
	return after;
}

/* Each pass over the site has one store, through a mapping of its own. */
#define PASSES (TAIL ? 3U : 2U)

static void mappings_fail(struct kunit *test)
{
	text_poke_test_listen(test);
	KUNIT_EXPECT_EQ(test, PASSES, fail_at_each(test, TEXT_POKE_FAULT_MAP,
						   -EFAULT));
}

static void stores_fail(struct kunit *test)
{
	text_poke_test_listen(test);
	KUNIT_EXPECT_EQ(test, PASSES, fail_at_each(test, TEXT_POKE_FAULT_STORE,
						   -EFAULT));
}

static void old_bytes_differ(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1, fail_at_each(test, TEXT_POKE_FAULT_VERIFY,
					      -EILSEQ));
}

static int queue_nops(unsigned int nr, const void *old, const void *new)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		ret = text_poke_batch_add(field_addr(i), old, new, LEN, NULL);
	return ret;
}

/* Whatever page is missing, the sites before remain queued, and nothing else is. */
static void queues_do_not_grow(struct kunit *test)
{
	const unsigned int nr = min_t(unsigned int, 1000, TEXT_POKE_TEST_FIELD);
	unsigned int after;
	u64 batches;
	u8 step[LEN];
	int ret;

	text_poke_test_jump(step, field_addr(0), field_addr(1));
	guard(own_pokes)();
	batches = text_poke_stats.batches;
	for (after = 0; after < nr; after++) {
		text_poke_fail_at(TEXT_POKE_FAULT_QUEUE, after);
		ret = queue_nops(nr, nop, step);
		text_poke_fail_no_more();
		if (!ret)
			break;
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		text_poke_batch_cancel();
		KUNIT_EXPECT_EQ(test, 0, text_poke_verify(field_addr(0), nop,
							  LEN));
	}
	KUNIT_EXPECT_GT(test, after, 1);
	KUNIT_EXPECT_EQ(test, text_poke_stats.batches, batches);
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	KUNIT_EXPECT_EQ(test, 0, queue_nops(nr, step, nop));
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
}

/* As if the site that there was no memory for had never been. */
static void queues_that_do_not_grow_can_be_finished(struct kunit *test)
{
	u8 step[LEN];
	int ret, nr = 0;

	text_poke_test_jump(step, field_addr(0), field_addr(1));
	guard(own_pokes)();
	text_poke_fail_at(TEXT_POKE_FAULT_QUEUE, 0);
	do {
		ret = text_poke_batch_add(field_addr(nr), nop, step, LEN, NULL);
	} while (!ret && ++nr < TEXT_POKE_TEST_FIELD);
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(field_addr(nr - 1), step, LEN));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(field_addr(nr), nop, LEN));
	KUNIT_EXPECT_EQ(test, 0, queue_nops(nr, step, nop));
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
}

static void syncs_take_long(struct kunit *test)
{
	u64 start = ktime_get_ns();

	text_poke_test_listen(test);
	KUNIT_EXPECT_EQ(test, 0, poke_failing_at(TEXT_POKE_FAULT_SYNC, 1));
	/* Not jiffies, for which another CPU may be responsible, and late. */
	KUNIT_EXPECT_GE(test, ktime_get_ns() - start, 100 * NSEC_PER_MSEC);
	KUNIT_EXPECT_TRUE(test, site_is(jump));
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), jump, nop, LEN));
}

#ifdef CONFIG_HOTPLUG_CPU
/**
 * struct plugging - a CPU that goes or comes while a batch is written
 * @cpu:	which
 * @online:	whether it comes
 * @guarded:	the batch is guarded
 * @at:		before this moment of the batch
 * @moment:	the next one
 * @failed:	that did not work
 * @late:	it was done when the batch was over
 * @ret:	what a CPU that came returned from the site, and
 * @due:	what is there; 0: it did not execute it
 * @done:	the task that takes CPUs offline and online is through
 */
struct plugging {
	unsigned int cpu;
	bool online;
	bool guarded;
	unsigned int at;
	unsigned int moment;
	bool failed;
	bool late;
	int ret;
	int due;
	struct completion done;
};

static struct plugging plugging;

/* While it changes, the site emulates the new instruction. */
static void run_site(void *unused)
{
	plugging.ret = text_poke_test_fn();
}

/* A CPU that has just gone may not have stopped yet: then it cannot start. */
static int bring_back(void)
{
	int ret, tries = PLUG_TRIES;

	do {
		ret = add_cpu(plugging.cpu);
		if (ret)
			msleep(20);
	} while (ret && --tries);
	return ret;
}

static int plug(void *unused)
{
	if (plugging.online ? bring_back() : remove_cpu(plugging.cpu))
		plugging.failed = true;
	complete(&plugging.done);
	return 0;
}

static void begin_plugging(void)
{
	if (!IS_ERR(kthread_run(plug, NULL, "text_poke_test")))
		return;
	plugging.failed = true;
	complete(&plugging.done);
}

/*
 * Until the CPU is there or gone, and no longer: to end, hotplug may have to
 * change a static key, and waits for the batch that waits here.  So does a
 * task that is about to change another one, and lets no CPU come or go until then.
 */
static void plug_and_wait(void)
{
	unsigned long end = jiffies + 2 * HZ;

	begin_plugging();
	while (!plugging.failed && time_before(jiffies, end)) {
		if (cpu_online(plugging.cpu) == plugging.online)
			return;
		usleep_range(1000, 2000);
	}
	plugging.late = true;
}

/*
 * When the poker may lose its CPU: before the sync of a direct batch, and after
 * each group of one that is guarded, while the others are still to come.
 */
static void a_moment(void)
{
	if (plugging.moment++ != plugging.at)
		return;
	plug_and_wait();
	if (!plugging.online || plugging.late)
		return;
	plugging.due = site_is(jump) ? 2 : 1;
	smp_call_function_single(plugging.cpu, run_site, NULL, 1);
}

static void *far_site(void)
{
	return field_addr(TEXT_POKE_TEST_FIELD - 1);
}

/* Groups with no time to arm: one for each mapping. */
static unsigned int groups_of_both(void)
{
	unsigned long site = (unsigned long)site_addr();
	unsigned long far = (unsigned long)far_site();

	return max(site, far) - min(site, far) < PAGE_SIZE ? 1 : 2;
}

/* The site, and one that is too far away for one mapping, unless pages are large. */
static int poke_both(const void *old, const void *new)
{
	u8 far_old[LEN], far_new[LEN];
	void *far = far_site();
	bool back = old == jump;
	int ret;

	text_poke_test_nop(back ? far_new : far_old);
	text_poke_test_jump(back ? far_old : far_new, far, far + LEN);
	guard(own_pokes)();
	ret = text_poke_batch_add(site_addr(), old, new, LEN, NULL);
	if (!ret)
		ret = text_poke_batch_add(far, far_old, far_new, LEN, NULL);
	return finish_or_cancel(ret);
}

static int poke_in_moments(struct kunit *test, const void *old, const void *new)
{
	u64 arming_ns = text_poke_arming_ns;
	int ret;

	text_poke_arming_ns = 0;
	kunit_activate_static_stub(test, text_poke_delay, a_moment);
	text_poke_fail_always(plugging.guarded ? TEXT_POKE_FAULT_REST :
						 TEXT_POKE_FAULT_SYNC);
	ret = poke_both(old, new);
	text_poke_fail_no_more();
	kunit_deactivate_static_stub(test, text_poke_delay);
	text_poke_arming_ns = arming_ns;
	return ret;
}

/* A CPU comes or goes @at a moment of the batch; -1: none does. */
static void poke_and_plug(struct kunit *test, bool online, unsigned int at,
			  const void *old, const void *new)
{
	plugging.online = online;
	plugging.at = at;
	plugging.moment = 0;
	plugging.ret = 0;
	plugging.due = 0;
	reinit_completion(&plugging.done);
	KUNIT_EXPECT_EQ(test, 0, poke_in_moments(test, old, new));
	KUNIT_EXPECT_TRUE(test, site_is(new));
	if (at < plugging.moment)
		wait_for_completion(&plugging.done);
	KUNIT_EXPECT_FALSE_MSG(test, plugging.failed, "at %u", at);
	KUNIT_EXPECT_EQ_MSG(test, plugging.ret, plugging.due,
			    "a CPU came at %u", at);
}

static void plug_in_without_a_batch(void)
{
	plugging.online = true;
	reinit_completion(&plugging.done);
	begin_plugging();
	wait_for_completion(&plugging.done);
}

/* In one batch it goes, in the next it comes back. */
static void plug_once(struct kunit *test, unsigned int at)
{
	poke_and_plug(test, false, at, nop, jump);
	if (!TEXT_POKE_TEST_CPUS_COME)
		plug_in_without_a_batch();
	poke_and_plug(test, true, TEXT_POKE_TEST_CPUS_COME ? at : -1U, jump,
		      nop);
}

static void plug_at(struct kunit *test, unsigned int at)
{
	int try;

	for (try = 0; try < 5; try++) {
		plugging.late = false;
		plug_once(test, at);
		if (!plugging.late)
			return;
	}
	KUNIT_FAIL(test, "no CPU comes and goes at %u", at);
}

static void plug_at_each(struct kunit *test, unsigned int moments_min)
{
	unsigned int at, moments;

	poke_and_plug(test, true, -1U, nop, jump);
	poke_and_plug(test, true, -1U, jump, nop);
	moments = plugging.moment;
	KUNIT_EXPECT_GE(test, moments, moments_min);
	for (at = 0; at < moments; at++)
		plug_at(test, at);
}

/* Of the runtime checker. */
static u64 complaints(void)
{
	return IS_ENABLED(CONFIG_TEXT_POKE_DEBUG) ? text_poke_complaints : 0;
}

/* Is the test's change one that has a guard though no event listens? */
static bool needs_guard(void)
{
	struct text_poke_site site = { .addr = site_addr(), .len = LEN };

	memcpy(site.old, nop, LEN);
	memcpy(site.new, jump, LEN);
	return perf_text_poke_enabled() ||
	       arch_text_poke_prepare(&site, jump) ||
	       !arch_text_poke_atomic(&site);
}

/* While sites trap the poker keeps its CPU, without which no CPU goes. */
static void cpus_come_and_go_between_steps(struct kunit *test)
{
	u64 complaints_before = complaints();

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	memset(&plugging, 0, sizeof(plugging));
	init_completion(&plugging.done);
	plugging.cpu = cpumask_last(cpu_online_mask);
	plugging.guarded = needs_guard();
	plug_at_each(test, plugging.guarded ? groups_of_both() : 1);
	plugging.guarded = true;
	text_poke_test_listen(test);
	plug_at_each(test, groups_of_both());
	KUNIT_EXPECT_EQ(test, complaints(), complaints_before);
}
#endif /* CONFIG_HOTPLUG_CPU */

#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
static void slots_fail(struct kunit *test)
{
	u8 step[LEN];

	text_poke_test_step(step);
	guard(own_pokes)();
	text_poke_fail_at(TEXT_POKE_FAULT_SLOT, 0);
	KUNIT_EXPECT_EQ(test, -ENOMEM, text_poke_single(site_addr(), nop, step,
							LEN, NULL));
	text_poke_fail_no_more();
	KUNIT_EXPECT_TRUE(test, site_is(nop));
}

/* It is not there, so neither is what would end it. */
static void slots_cannot_be_written(struct kunit *test)
{
	u8 step[LEN];

	text_poke_test_step(step);
	guard(own_pokes)();
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_EQ(test, -EFAULT, text_poke_single(site_addr(), nop, step,
							LEN, NULL));
	text_poke_fail_no_more();
	KUNIT_EXPECT_TRUE(test, site_is(nop));
	KUNIT_EXPECT_NULL(test, text_poke_slots.page);
}
#endif

/* The kernel's text as it was before the first fault. */
static void *text_before;

static unsigned int traps_in(const void *now, const void *before, size_t len)
{
	unsigned int found = 0;
	size_t i;

	if (!memcmp(now, before, len))
		return 0;
	for (i = 0; i + TEXT_POKE_UNIT <= len; i += TEXT_POKE_UNIT)
		found += arch_text_poke_is_trap(now + i) &&
			 memcmp(now + i, before + i, TEXT_POKE_UNIT);
	return found;
}

/* Keys may be flipped at any time; that does not leave traps. */
static unsigned int count_new_traps(void)
{
	size_t size = _etext - _stext, at, len;
	unsigned int found = 0;

	for (at = 0; at < size; at += len) {
		len = min_t(size_t, size - at, PAGE_SIZE);
		found += traps_in(_stext + at, text_before + at, len);
	}
	return found;
}

static unsigned int count_held(void)
{
	unsigned int held = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		held += !!atomic_read(text_poke_refs(cpu));
	return held;
}

/* Whatever failed, it has left no trap, no reference, and the mutex free. */
static void fault_exit(struct kunit *test)
{
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, count_new_traps());
	KUNIT_EXPECT_EQ(test, 0, count_held());
}

static int fault_suite_init(struct kunit_suite *suite)
{
	text_before = vmalloc(_etext - _stext);
	if (!text_before)
		return -ENOMEM;
	guard(own_pokes)();
	memcpy(text_before, _stext, _etext - _stext);
	return 0;
}

static void fault_suite_exit(struct kunit_suite *suite)
{
	vfree(text_before);
}

static int fault_init(struct kunit *test)
{
	text_poke_test_nop(nop);
	text_poke_test_jump(jump, site_addr(), text_poke_test_target);
	return 0;
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(mappings_fail),
	KUNIT_CASE(stores_fail),
	KUNIT_CASE(old_bytes_differ),
	KUNIT_CASE(queues_do_not_grow),
	KUNIT_CASE(queues_that_do_not_grow_can_be_finished),
	KUNIT_CASE(syncs_take_long),
#ifdef CONFIG_HOTPLUG_CPU
	KUNIT_CASE_SLOW(cpus_come_and_go_between_steps),
#endif
#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
	KUNIT_CASE(slots_fail),
	KUNIT_CASE(slots_cannot_be_written),
#endif
	{}
};

static struct kunit_suite fault_suite = {
	.name		= "text_poke_fault",
	.suite_init	= fault_suite_init,
	.suite_exit	= fault_suite_exit,
	.init		= fault_init,
	.exit		= fault_exit,
	.test_cases	= fault_cases,
};

kunit_test_suite(fault_suite);

MODULE_DESCRIPTION("KUnit test of text pokes that fail");
MODULE_LICENSE("GPL");
