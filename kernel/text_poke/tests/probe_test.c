// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of kprobes that come and go together: the text changes once for all
 * of them, be they breakpoints or jumps, and what fails for all is done for each.
 */
#include <kunit/test.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/text_poke.h>

#include "../fault.h"
#include "../internal.h"
#include "test.h"

#define NR_PROBES	16
/* Instructions from one to the next, so that each has room for a jump. */
#define APART		16

/* One by one they take as many as there are. */
#define FEW		(NR_PROBES / 2)

/* No symbols for kallsyms, where the function would end there. */
extern char sites[] asm(".Ltext_poke_test_probes");
extern char sites_end[] asm(".Ltext_poke_test_probes_end");

static noinline __noclone void probed(void)
{
	asm volatile(".Ltext_poke_test_probes:\n"
		     "	.rept " __stringify(NR_PROBES) " * " __stringify(APART) "\n"
		     "	nop\n"
		     "	.endr\n"
		     ".Ltext_poke_test_probes_end:\n" ::: "memory");
}

static struct kprobe probes[NR_PROBES], *all[NR_PROBES];
static unsigned int hits;
static void *text;

static size_t text_len(void)
{
	return sites_end - sites;
}

/* Of instruction @nr, after probe @probe. */
static void *addr_of(unsigned int probe, unsigned int nr)
{
	size_t insn = text_len() / (NR_PROBES * APART);

	return sites + (probe * APART + nr) * insn;
}

static int count_hit(struct kprobe *probe, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* With one of these a probe stays a breakpoint. */
static void after_hit(struct kprobe *probe, struct pt_regs *regs,
		      unsigned long flags)
{
}

static void fill(bool plain)
{
	unsigned int i;

	for (i = 0; i < NR_PROBES; i++) {
		all[i] = &probes[i];
		probes[i] = (struct kprobe) {
			.addr		= addr_of(i, 0),
			.pre_handler	= count_hit,
			.post_handler	= plain ? after_hit : NULL,
		};
	}
}

static void expect_hits(struct kunit *test, unsigned int nr)
{
	WRITE_ONCE(hits, 0);
	probed();
	KUNIT_EXPECT_EQ(test, READ_ONCE(hits), nr);
}

static bool is_as_before(void)
{
	return !memcmp(sites, text, text_len());
}

static unsigned int count_breakpoints(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_PROBES; i++)
		nr += !text_poke_verify(addr_of(i, 0), TEXT_POKE_TEST_PROBE,
					TEXT_POKE_UNIT);
	return nr;
}

static void register_all(struct kunit *test)
{
	text_poke_test_count_anew();
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
}

static void unregister_all(struct kunit *test)
{
	text_poke_test_count_anew();
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_TRUE(test, is_as_before());
	expect_hits(test, 0);
}

static void breakpoints_come_and_go_at_once(struct kunit *test)
{
	fill(true);
	register_all(test);
	KUNIT_EXPECT_LT(test, text_poke_test_batches, FEW);
	KUNIT_EXPECT_EQ(test, count_breakpoints(), NR_PROBES);
	expect_hits(test, NR_PROBES);

	unregister_all(test);
	KUNIT_EXPECT_LT(test, text_poke_test_batches, FEW);
}

/* The batch fails, and what follows one by one does not. */
static void what_fails_for_all_is_done_for_each(struct kunit *test)
{
	fill(true);
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	register_all(test);
	text_poke_fail_no_more();
	KUNIT_EXPECT_GE(test, text_poke_test_batches, NR_PROBES);
	KUNIT_EXPECT_EQ(test, count_breakpoints(), NR_PROBES);
	expect_hits(test, NR_PROBES);

	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	unregister_all(test);
	text_poke_fail_no_more();
	KUNIT_EXPECT_GE(test, text_poke_test_batches, NR_PROBES);
}

/* It is there already, and then it is gone already. */
static void others_join_without_one(struct kunit *test)
{
	fill(true);
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probes[0]));
	text_poke_test_count_anew();
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all + 1, NR_PROBES - 1));
	KUNIT_EXPECT_LT(test, text_poke_test_batches, FEW);

	KUNIT_ASSERT_EQ(test, 0, disable_kprobe(&probes[0]));
	unregister_all(test);
	KUNIT_EXPECT_LT(test, text_poke_test_batches, FEW);
}

#ifdef CONFIG_OPTPROBES
/* Of all tasks: those of others may come between, so that it is tried again. */
#define TRIES		3

static u64 batches(void)
{
	return READ_ONCE(text_poke_stats.batches);
}

static void register_jumps(struct kunit *test, unsigned int nr)
{
	fill(false);
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, nr));
	wait_for_kprobe_optimizer();
	if (!count_breakpoints() && !is_as_before())
		return;
	unregister_kprobes(all, nr);
	kunit_skip(test, "probes are not optimized");
}

/* Unregister all, and the optimizer does the rest: how many batches that takes. */
static u64 unregister_and_wait(struct kunit *test)
{
	u64 before = batches();

	unregister_kprobes(all, NR_PROBES);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, is_as_before());
	return batches() - before;
}

static void jumps_go_at_once(struct kunit *test)
{
	u64 nr = FEW;
	int i;

	for (i = 0; i < TRIES && nr >= FEW; i++) {
		register_jumps(test, NR_PROBES);
		expect_hits(test, NR_PROBES);
		nr = unregister_and_wait(test);
		expect_hits(test, 0);
	}
	KUNIT_EXPECT_LT(test, nr, FEW);
}

/* Before they are jumps. */
static void what_waits_for_the_optimizer_goes_at_once(struct kunit *test)
{
	u64 nr = FEW;
	int i;

	for (i = 0; i < TRIES && nr >= FEW; i++) {
		fill(false);
		KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
		nr = unregister_and_wait(test);
	}
	KUNIT_EXPECT_LT(test, nr, FEW);
}

static void the_switch_takes_jumps_at_once(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_DEBUG_FS))
		kunit_skip(test, "there is no switch without debugfs");
	register_jumps(test, NR_PROBES);
	text_poke_test_count_anew();
	KUNIT_EXPECT_EQ(test, 0, disarm_all_kprobes());
	KUNIT_EXPECT_LT(test, text_poke_test_batches, FEW);
	KUNIT_EXPECT_TRUE(test, is_as_before());
	expect_hits(test, 0);

	text_poke_test_count_anew();
	KUNIT_EXPECT_EQ(test, 0, arm_all_kprobes());
	KUNIT_EXPECT_LT(test, text_poke_test_batches, FEW);
	expect_hits(test, NR_PROBES);
	unregister_and_wait(test);
}

/* The first is a jump, and of the others those that are next are within it. */
static void probes_within_a_jump_come_with_others(struct kunit *test)
{
	unsigned int i;

	register_jumps(test, 1);
	for (i = 1; i < APART; i++)
		probes[i].addr = addr_of(0, i);
	KUNIT_EXPECT_EQ(test, 0, register_kprobes(all + 1, NR_PROBES - 1));
	expect_hits(test, NR_PROBES);
	unregister_and_wait(test);
}

/* Where it was disarmed, or never armed, the text is the jump's. */
static void disabled_probes_within_a_jump_go_alone(struct kunit *test)
{
	void *jump = kunit_kmalloc(test, text_len(), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jump);
	register_jumps(test, 1);
	memcpy(jump, sites, text_len());
	probes[1].addr = addr_of(0, 1);
	probes[1].flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probes[1]));
	unregister_kprobe(&probes[1]);
	KUNIT_EXPECT_EQ(test, 0, memcmp(sites, jump, text_len()));

	probes[1].flags = 0;
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probes[1]));
	expect_hits(test, 2);
	unregister_kprobes(all, 2);
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, is_as_before());
}

/* It is enabled for one that never is: the next one there fails. */
static void jumps_of_none_go(struct kunit *test)
{
	register_jumps(test, NR_PROBES);
	unregister_kprobes(all, NR_PROBES);
	fill(false);
	probes[NR_PROBES - 1].addr = NULL;
	KUNIT_EXPECT_NE(test, 0, register_kprobes(all, NR_PROBES));
	wait_for_kprobe_optimizer();
	KUNIT_EXPECT_TRUE(test, is_as_before());
	expect_hits(test, 0);
}
#endif

#ifdef TEXT_POKE_TEST_NOTRAPS
static void none_comes_where_no_trap_can_be_taken(struct kunit *test)
{
	static const char *const addrs[] = TEXT_POKE_TEST_NOTRAPS;
	int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct kprobe probe = { .addr = (void *)addrs[i] };

		KUNIT_EXPECT_EQ(test, -EINVAL, register_kprobe(&probe));
	}
}
#endif

static int probe_init(struct kunit *test)
{
	text = kunit_kmalloc(test, text_len(), GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	memcpy(text, sites, text_len());
	return text_poke_test_count_batches(test);
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(breakpoints_come_and_go_at_once),
	KUNIT_CASE(what_fails_for_all_is_done_for_each),
	KUNIT_CASE(others_join_without_one),
#ifdef CONFIG_OPTPROBES
	KUNIT_CASE(jumps_go_at_once),
	KUNIT_CASE(what_waits_for_the_optimizer_goes_at_once),
	KUNIT_CASE(the_switch_takes_jumps_at_once),
	KUNIT_CASE(probes_within_a_jump_come_with_others),
	KUNIT_CASE(disabled_probes_within_a_jump_go_alone),
	KUNIT_CASE(jumps_of_none_go),
#endif
#ifdef TEXT_POKE_TEST_NOTRAPS
	KUNIT_CASE(none_comes_where_no_trap_can_be_taken),
#endif
	{}
};

/* A case that has failed may have left some. */
static void probe_exit(struct kunit *test)
{
	text_poke_fail_no_more();
	if (all[0])
		unregister_kprobes(all, NR_PROBES);
	text_poke_test_count_no_more(test);
}

static struct kunit_suite probe_suite = {
	.name		= "text_poke_probe",
	.init		= probe_init,
	.exit		= probe_exit,
	.test_cases	= probe_cases,
};

kunit_test_suite(probe_suite);

MODULE_DESCRIPTION("KUnit test of kprobes that come and go together");
MODULE_LICENSE("GPL");
