// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what leaves CPUs in user mode alone: which CPUs and which batches
 * that is for, and that a CPU which was asked answers.
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

/*
 * How a CPU that RCU does not watch comes to be watched.  Each says whether this
 * CPU has done what it was asked by then.
 */
static __always_inline bool has_done(void)
{
	struct text_poke_asked *this = raw_cpu_ptr(&text_poke_asked);

	return READ_ONCE(this->done) == READ_ONCE(this->asked);
}

static noinstr bool leave_idle(void)
{
	ct_idle_enter();
	ct_idle_exit();
	return has_done();
}

static noinstr bool interrupt_idle(void)
{
	bool done;

	ct_idle_enter();
	ct_irq_enter();
	done = has_done();
	ct_irq_exit();
	ct_idle_exit();
	return done;
}

static noinstr bool warn_in_idle(void)
{
	bool done, rcu;

	ct_idle_enter();
	rcu = warn_rcu_enter();
	done = has_done();
	warn_rcu_exit(rcu);
	ct_idle_exit();
	return done;
}

/* And one that is watched already, where an NMI may have come in between. */
static noinstr bool interrupt_kernel(void)
{
	bool done;

	ct_irq_enter();
	done = has_done();
	ct_irq_exit();
	return done;
}

/* Ask this CPU, or not, and let it enter the kernel once more. */
static bool answers(bool (*enter)(void), bool asked)
{
	struct text_poke_asked *this;
	unsigned long before;

	guard(irqsave)();
	this = this_cpu_ptr(&text_poke_asked);
	/* There may be something to do from a sync that found it in the kernel. */
	interrupt_kernel();
	before = this->done;
	this->asked += asked;
	return enter() && this->done == before + asked;
}

static void cpu_that_was_asked_answers(struct kunit *test)
{
	static bool (*const enter[])(void) = {
		leave_idle, interrupt_idle, warn_in_idle, interrupt_kernel,
	};
	/* With that, no task but the idle one may be idle. */
	unsigned int i = IS_ENABLED(CONFIG_RCU_EQS_DEBUG) ?
				 ARRAY_SIZE(enter) - 1 : 0;

	guard(mutex)(&text_mutex);
	guard(preempt)();
	for (; i < ARRAY_SIZE(enter); i++) {
		KUNIT_EXPECT_TRUE_MSG(test, answers(enter[i], true), "%u", i);
		KUNIT_EXPECT_TRUE_MSG(test, answers(enter[i], false), "%u", i);
	}
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

/* Is a CPU asked, in a batch that would leave it alone? */
static bool is_asked(int cpu)
{
	struct text_poke_asked *that = per_cpu_ptr(&text_poke_asked, cpu);
	unsigned long before = READ_ONCE(that->asked);

	text_poke_leaves_alone(cpu);
	return READ_ONCE(that->asked) != before;
}

/* Such a CPU would not look at what it was asked for a long time. */
static void cpus_with_a_tick_are_not_asked(struct kunit *test)
{
	const struct text_poke_site site = { .addr = site_addr(), .len = LEN };
	int cpu;

	guard(mutex)(&text_mutex);
	guard(preempt)();
	text_poke_catch_up_begin(text_poke_test_queue(&site, 1));
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, is_asked(cpu),
				context_tracking_enabled_cpu(cpu));
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
	"ret_from_fork",
#ifdef CONFIG_X86
	"ret_from_fork_asm",
#endif
#ifdef CONFIG_MITIGATION_RETHUNK
	"__x86_return_thunk",
#endif
#ifdef CONFIG_MITIGATION_SRSO
	"srso_alias_untrain_ret",
	"srso_alias_return_thunk",
	"srso_alias_safe_ret",
#endif
#ifdef CONFIG_ARM64
	"post_ttbr_update_workaround",
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
	KUNIT_CASE(cpu_that_was_asked_answers),
	KUNIT_CASE(only_user_mode_unwatched_is_user_mode),
	KUNIT_CASE(noinstr_sites_interrupt_all),
	KUNIT_CASE(this_cpu_is_in_the_kernel),
	KUNIT_CASE(cpus_with_a_tick_are_not_asked),
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
