// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what the core's users do when text cannot be changed: what they
 * believe and what is there agree, it is said each time, it can be tried again,
 * and what can still be reached stays.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/jump_label.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include "../fault.h"
#include "test.h"

/* More than any of these changes has of anything. */
#define MANY 40U

static u8 nop[LEN];

/* How often it was said that something failed. */
static unsigned int said;

static void hear(const char *what, const void *where, int error)
{
	said++;
}

static bool site_is_nop(void)
{
	return !text_poke_verify(site_addr(), nop, LEN);
}

#ifdef CONFIG_HAVE_STATIC_CALL
static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(text_poke_test_answer, one);

static noinline int ask_here(void)
{
	int answer = static_call(text_poke_test_answer)();

	/* Lest it becomes a jump. */
	barrier();
	return answer;
}

static noinline int ask_there(void)
{
	return static_call(text_poke_test_answer)();
}

/* Through a call, a jump, and the trampoline. */
static void expect_answer(struct kunit *test, int (*func)(void))
{
	int (*tramp)(void) = (void *)&STATIC_CALL_TRAMP(text_poke_test_answer);

	KUNIT_EXPECT_EQ(test, ask_here(), func());
	KUNIT_EXPECT_EQ(test, ask_there(), func());
	OPTIMIZER_HIDE_VAR(tramp);
	KUNIT_EXPECT_EQ(test, tramp(), func());
	KUNIT_EXPECT_PTR_EQ(test, static_call_query(text_poke_test_answer),
			    func);
}

/* The first @point fails, then the second, and so on until there are no more. */
static void static_calls_fail_at(struct kunit *test, enum text_poke_fault point)
{
	unsigned int after;

	for (after = 0; after < MANY; after++) {
		said = 0;
		text_poke_fail_at(point, after);
		static_call_update(text_poke_test_answer, two);
		text_poke_fail_no_more();
		if (!said)
			break;
		KUNIT_EXPECT_EQ(test, said, 1);
		expect_answer(test, one);
	}
	KUNIT_EXPECT_GT(test, after, 0);
	expect_answer(test, two);
	static_call_update(text_poke_test_answer, one);
	expect_answer(test, one);
}

static void static_calls_change_with_their_key(struct kunit *test)
{
	static_calls_fail_at(test, TEXT_POKE_FAULT_MAP);
	static_calls_fail_at(test, TEXT_POKE_FAULT_STORE);
}

/* On the jump, and on the UD1 after it, by which it is known. */
static void trampolines_of_static_calls_take_no_probes(struct kunit *test)
{
	void *tramp = &STATIC_CALL_TRAMP(text_poke_test_answer);
	struct kprobe jump = { .addr = tramp };
	struct kprobe mark = { .addr = tramp + 5 };

	if (!IS_ENABLED(CONFIG_KPROBES))
		kunit_skip(test, "no kprobes in this kernel");
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&jump));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&mark));
}
#endif /* CONFIG_HAVE_STATIC_CALL */

static DEFINE_STATIC_KEY_FALSE(key);

static noinline int branches_taken(void)
{
	int taken = 0;

	if (static_branch_unlikely(&key))
		taken++;
	barrier();
	if (static_branch_unlikely(&key))
		taken++;
	return taken;
}

static void disable_key(struct kunit *test)
{
	said = 0;
	static_branch_disable(&key);
	KUNIT_EXPECT_EQ(test, said, 0);
	KUNIT_EXPECT_EQ(test, branches_taken(), 0);
}

static void jump_labels_fail_at(struct kunit *test, enum text_poke_fault point,
				int taken)
{
	said = 0;
	text_poke_fail_at(point, 0);
	static_branch_enable(&key);
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, said, 1);
	KUNIT_EXPECT_EQ(test, branches_taken(), taken);

	disable_key(test);
	static_branch_enable(&key);
	KUNIT_EXPECT_EQ(test, said, 0);
	KUNIT_EXPECT_EQ(test, branches_taken(), 2);
	disable_key(test);
}

/* All are missed, or one of two. */
static void jump_labels_are_caught_up_with(struct kunit *test)
{
	jump_labels_fail_at(test, TEXT_POKE_FAULT_MAP, 0);
	jump_labels_fail_at(test, TEXT_POKE_FAULT_VERIFY, 1);
	jump_labels_fail_at(test, TEXT_POKE_FAULT_MAP, 0);
}

#ifdef CONFIG_KPROBES
static unsigned int hits;

static int count_hit(struct kprobe *probe, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* With one of these a probe is never optimized. */
static void after_hit(struct kprobe *probe, struct pt_regs *regs,
		      unsigned long flags)
{
}

static struct kprobe probe_of_site(bool plain)
{
	return (struct kprobe) {
		.addr		= site_addr(),
		.pre_handler	= count_hit,
		.post_handler	= plain ? after_hit : NULL,
	};
}

static void expect_hit(struct kunit *test, unsigned int more)
{
	unsigned int before = hits;

	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
	KUNIT_EXPECT_EQ(test, hits - before, more);
}

static void unregister_failing(struct kprobe *probe)
{
	said = 0;
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	unregister_kprobe(probe);
	text_poke_fail_no_more();
	/* It was the caller's, which may have freed it. */
	memset(probe, 0x6b, sizeof(*probe));
}

static void register_and_unregister(struct kunit *test)
{
	struct kprobe probe = probe_of_site(true);

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	expect_hit(test, 1);
	unregister_kprobe(&probe);
	expect_hit(test, 0);
	KUNIT_EXPECT_TRUE(test, site_is_nop());
}

static void probes_that_stay_do_no_harm(struct kunit *test)
{
	struct kprobe probe = probe_of_site(true);

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	expect_hit(test, 1);
	unregister_failing(&probe);
	KUNIT_EXPECT_EQ(test, said, 1);
	KUNIT_EXPECT_FALSE(test, site_is_nop());
	expect_hit(test, 0);
	register_and_unregister(test);
}

static void probes_that_cannot_be_armed_are_refused(struct kunit *test)
{
	struct kprobe probe = probe_of_site(true);

	said = 0;
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, register_kprobe(&probe));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, said, 1);
	expect_hit(test, 0);
	register_and_unregister(test);
}

static void probes_that_cannot_be_disabled_stay_enabled(struct kunit *test)
{
	struct kprobe probe = probe_of_site(true);

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, disable_kprobe(&probe));
	text_poke_fail_no_more();
	expect_hit(test, 1);
	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&probe));
	expect_hit(test, 0);
	KUNIT_EXPECT_TRUE(test, site_is_nop());
	unregister_kprobe(&probe);
}

/* One that takes over what could not be removed; its breakpoint then stays, too. */
static void disabled_probes_stay_disabled(struct kunit *test)
{
	struct kprobe probe = probe_of_site(true);

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	unregister_failing(&probe);
	probe = probe_of_site(true);
	probe.flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	expect_hit(test, 0);
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, disable_kprobe(&probe));
	text_poke_fail_no_more();
	expect_hit(test, 0);
	unregister_kprobe(&probe);
	KUNIT_EXPECT_TRUE(test, site_is_nop());
}
#endif /* CONFIG_KPROBES */

#if defined(CONFIG_OPTPROBES) && defined(TEXT_POKE_TEST_MOVED)
static void probed_instructions_move_the_stack(struct kunit *test)
{
	struct kprobe probe = {
		.addr		= (void *)text_poke_test_mover,
		.pre_handler	= count_hit,
	};

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	KUNIT_EXPECT_EQ(test, TEXT_POKE_TEST_MOVED, text_poke_test_moved());
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, text_poke_verify(text_poke_test_mover,
						 TEXT_POKE_TEST_PROBE,
						 TEXT_POKE_UNIT));
	KUNIT_EXPECT_EQ(test, TEXT_POKE_TEST_MOVED, text_poke_test_moved());
	unregister_kprobe(&probe);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_EQ(test, TEXT_POKE_TEST_MOVED, text_poke_test_moved());
}
#endif

#if defined(CONFIG_KPROBES) && defined(CONFIG_OPTPROBES)
/* Neither what was there nor a breakpoint: a jump to its buffer. */
static bool site_is_optimized(void)
{
	return !site_is_nop() &&
	       text_poke_verify(site_addr(), TEXT_POKE_TEST_PROBE,
				TEXT_POKE_UNIT);
}

static void register_optimized(struct kunit *test, struct kprobe *probe)
{
	*probe = probe_of_site(false);
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(probe));
	wait_for_kprobe_optimizer();
	if (site_is_optimized())
		return;
	unregister_kprobe(probe);
	kunit_skip(test, "probes are not optimized");
}

static void unregister_optimized(struct kunit *test, struct kprobe *probe)
{
	unregister_kprobe(probe);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, site_is_nop());
}

static void jumps_that_stay_keep_their_buffer(struct kunit *test)
{
	struct kprobe plain = probe_of_site(true);
	struct kprobe probe;

	register_optimized(test, &probe);
	said = 0;
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, register_kprobe(&plain));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, said, 1);
	KUNIT_EXPECT_TRUE(test, site_is_optimized());
	expect_hit(test, 1);

	/* And tried again. */
	plain = probe_of_site(true);
	KUNIT_EXPECT_EQ(test, 0, register_kprobe(&plain));
	KUNIT_EXPECT_FALSE(test, site_is_optimized());
	expect_hit(test, 2);
	unregister_kprobe(&plain);
	unregister_optimized(test, &probe);
}

/* A debugger's, which may look like that of a probe. */
#ifndef TEXT_POKE_TEST_BREAKPOINT
#define TEXT_POKE_TEST_BREAKPOINT TEXT_POKE_TEST_PROBE
#endif

static void breakpoints_over_jumps_are_not_waited_for(struct kunit *test)
{
	u8 trap[TEXT_POKE_UNIT], jump[sizeof(trap)];
	struct kprobe probe;

	memcpy(trap, TEXT_POKE_TEST_BREAKPOINT, sizeof(trap));

	register_optimized(test, &probe);
	memcpy(jump, site_addr(), sizeof(jump));
	KUNIT_ASSERT_EQ(test, 0, put_unasked(site_addr(), trap, sizeof(trap)));
	unregister_kprobe(&probe);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_FALSE(test, site_is_nop());

	KUNIT_ASSERT_EQ(test, 0, put_unasked(site_addr(), jump, sizeof(jump)));
	expect_hit(test, 0);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, site_is_nop());
}
#endif

/* The table of all of them is searched from one end to the other. */
static void bugs_are_looked_up_where_they_may_be(struct kunit *test)
{
	struct text_poke_site site = { .addr = site_addr(), .len = LEN };

	memcpy(site.old, nop, LEN);
	KUNIT_EXPECT_FALSE(test, arch_text_poke_maybe_bug(&site));
}

static int user_init(struct kunit *test)
{
	text_poke_test_nop(nop);
	kunit_activate_static_stub(test, text_poke_failed, hear);
	return 0;
}

static struct kunit_case user_cases[] = {
#ifdef CONFIG_HAVE_STATIC_CALL
	KUNIT_CASE(static_calls_change_with_their_key),
	KUNIT_CASE(trampolines_of_static_calls_take_no_probes),
#endif
	KUNIT_CASE(jump_labels_are_caught_up_with),
#ifdef CONFIG_KPROBES
	KUNIT_CASE(probes_that_stay_do_no_harm),
	KUNIT_CASE(probes_that_cannot_be_armed_are_refused),
	KUNIT_CASE(probes_that_cannot_be_disabled_stay_enabled),
	KUNIT_CASE(disabled_probes_stay_disabled),
#endif
#if defined(CONFIG_OPTPROBES) && defined(TEXT_POKE_TEST_MOVED)
	KUNIT_CASE(probed_instructions_move_the_stack),
#endif
#if defined(CONFIG_KPROBES) && defined(CONFIG_OPTPROBES)
	KUNIT_CASE(jumps_that_stay_keep_their_buffer),
	KUNIT_CASE(breakpoints_over_jumps_are_not_waited_for),
#endif
	KUNIT_CASE(bugs_are_looked_up_where_they_may_be),
	{}
};

static struct kunit_suite user_suite = {
	.name		= "text_poke_user",
	.init		= user_init,
	.test_cases	= user_cases,
};

kunit_test_suite(user_suite);

MODULE_DESCRIPTION("KUnit test of users whose text pokes fail");
MODULE_LICENSE("GPL");
