// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what leaves CPUs in user mode alone: which CPUs and which batches
 * that is for, and that a CPU which was asked refetches.
 */
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/context_tracking.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/text_poke.h>
#include <linux/text_poke_catch_up.h>

#include <asm/sections.h>

#include "../internal.h"
#include "test.h"

/* Ask this CPU, have it enter the kernel once more, and say whether it has done it. */
static bool done_on_entry(bool asked)
{
	struct text_poke_asked *this;
	unsigned long before;

	guard(irqsave)();
	this = this_cpu_ptr(&text_poke_asked);
	before = this->done;
	this->asked += asked;
	ct_irq_enter();
	ct_irq_exit();
	return this->done == this->asked && this->done == before + asked;
}

static void cpu_that_was_asked_refetches(struct kunit *test)
{
	guard(mutex)(&text_mutex);
	guard(preempt)();
	/* There may be something to do from a sync that found it in the kernel. */
	done_on_entry(false);
	KUNIT_EXPECT_TRUE(test, done_on_entry(true));
	KUNIT_EXPECT_TRUE(test, done_on_entry(false));
}

static void only_user_mode_unwatched_is_user_mode(struct kunit *test)
{
	const int many = 100 * 2 * CT_RCU_WATCHING;

	KUNIT_EXPECT_TRUE(test, ct_state_is_user(CT_STATE_USER));
	KUNIT_EXPECT_TRUE(test, ct_state_is_user(CT_STATE_USER + many));
	KUNIT_EXPECT_FALSE(test, ct_state_is_user(CT_STATE_USER +
						  CT_RCU_WATCHING));
	KUNIT_EXPECT_FALSE(test, ct_state_is_user(CT_STATE_USER + many +
						  CT_RCU_WATCHING));
	KUNIT_EXPECT_FALSE(test, ct_state_is_user(CT_STATE_KERNEL));
	KUNIT_EXPECT_FALSE(test, ct_state_is_user(CT_STATE_KERNEL +
						  CT_RCU_WATCHING));
	KUNIT_EXPECT_FALSE(test, ct_state_is_user(CT_STATE_IDLE));
	KUNIT_EXPECT_FALSE(test, ct_state_is_user(CT_STATE_GUEST));
}

/* How many batches of these two sites, in the order of addresses, interrupt all? */
static u64 interrupt_all(const void *first, const void *second)
{
	const struct text_poke_site sites[] = {
		{ .addr = (void *)min(first, second), .len = LEN },
		{ .addr = (void *)max(first, second), .len = LEN },
	};
	u64 before;

	guard(mutex)(&text_mutex);
	before = text_poke_stats.unwatched;
	text_poke_catch_up_begin(text_poke_test_queue(sites, 2));
	text_poke_catch_up_end();
	return text_poke_stats.unwatched - before;
}

static void noinstr_sites_interrupt_all(struct kunit *test)
{
	const char *start = __noinstr_text_start, *end = __noinstr_text_end;
	const char *other = site_addr();

	KUNIT_EXPECT_EQ(test, interrupt_all(other, other + LEN), 0);
	KUNIT_EXPECT_EQ(test, interrupt_all(other, start), 1);
	KUNIT_EXPECT_EQ(test, interrupt_all(other, end - 1), 1);
	KUNIT_EXPECT_EQ(test, interrupt_all(other, end), 0);
	KUNIT_EXPECT_EQ(test, interrupt_all(start - LEN, end), 0);
}

/* Others may be in user mode. */
static void this_cpu_is_in_the_kernel(struct kunit *test)
{
	guard(mutex)(&text_mutex);
	guard(preempt)();
	KUNIT_EXPECT_FALSE(test, text_poke_ask(smp_processor_id()));
}

static void cpus_with_a_tick_are_interrupted(struct kunit *test)
{
	const struct text_poke_site site = { .addr = site_addr(), .len = LEN };
	int cpu;

	guard(mutex)(&text_mutex);
	guard(preempt)();
	text_poke_catch_up_begin(text_poke_test_queue(&site, 1));
	for_each_online_cpu(cpu)
		if (!context_tracking_enabled_cpu(cpu))
			KUNIT_EXPECT_FALSE(test, text_poke_leaves_alone(cpu));
	text_poke_catch_up_end();
}

/* What runs before RCU watches, or after, and is neither noinstr nor entry code by itself. */
static const char * const unwatched[] = {
#ifdef CONFIG_BUG
#ifdef __WARN_FLAGS
	"__warn_printk",
#endif
	"report_bug",
#endif
#ifdef CONFIG_X86
	"ret_from_fork",
	"ret_from_fork_asm",
#endif
#ifdef CONFIG_MITIGATION_RETHUNK
	"__x86_return_thunk",
#endif
};

static void no_probe_comes_where_rcu_does_not_watch(struct kunit *test)
{
	unsigned int i;

	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "there are no kprobes");
	for (i = 0; i < ARRAY_SIZE(unwatched); i++) {
		struct kprobe p = { .symbol_name = unwatched[i] };
		int ret = register_kprobe(&p);

		KUNIT_EXPECT_EQ_MSG(test, ret, -EINVAL, "%s", unwatched[i]);
		if (!ret)
			unregister_kprobe(&p);
	}
}

static struct kunit_case catch_up_cases[] = {
	KUNIT_CASE(cpu_that_was_asked_refetches),
	KUNIT_CASE(only_user_mode_unwatched_is_user_mode),
	KUNIT_CASE(noinstr_sites_interrupt_all),
	KUNIT_CASE(this_cpu_is_in_the_kernel),
	KUNIT_CASE(cpus_with_a_tick_are_interrupted),
	KUNIT_CASE(no_probe_comes_where_rcu_does_not_watch),
	{}
};

static struct kunit_suite catch_up_suite = {
	.name = "text_poke_catch_up",
	.test_cases = catch_up_cases,
};

kunit_test_suite(catch_up_suite);

MODULE_DESCRIPTION("KUnit test of text pokes and CPUs in user mode");
MODULE_LICENSE("GPL");
