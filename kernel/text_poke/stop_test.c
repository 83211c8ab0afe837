// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of changes with the machine stopped, and of who makes them: probes
 * over instructions that must not be exchanged under a running CPU.
 *
 * The text is a function of the architecture that has NR_PROBES of such an
 * instruction, all the same, and then returns.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/text_poke_test.h>

#include "internal.h"
#include "listener.h"

#define NR_PROBES	64
#define UNIT		TEXT_POKE_UNIT

void text_poke_test_unlisted(void);

asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.balign 8\n"
	"	.type text_poke_test_unlisted, %function\n"
	"text_poke_test_unlisted:\n"
	"	.rept	" __stringify(NR_PROBES) "\n"
	"	" TEXT_POKE_TEST_UNLISTED_ASM "\n"
	"	.endr\n"
	"	ret\n"
	"	.size text_poke_test_unlisted, . - text_poke_test_unlisted\n"
	"	.popsection\n");

static struct kprobe probes[NR_PROBES], *all[NR_PROBES];
static u8 insn[UNIT];
static unsigned int hits;

static void *addr_of(unsigned int nr)
{
	return (void *)text_poke_test_unlisted + nr * UNIT;
}

static bool holds(unsigned int nr, const void *bytes)
{
	return !text_poke_verify(addr_of(nr), bytes, UNIT);
}

static unsigned int count_holding(const void *bytes)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_PROBES; i++)
		nr += holds(i, bytes);
	return nr;
}

static int count_hit(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* What has been counted up since; other batches may come in between. */
static u64 stops(void)
{
	return READ_ONCE(text_poke_stats.stops);
}

static u64 records(void)
{
	return READ_ONCE(text_poke_stats.records);
}

static void probes_that_come_together_stop_it_once(struct kunit *test)
{
	u64 before = stops();

	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE), NR_PROBES);
	text_poke_test_unlisted();
	KUNIT_EXPECT_EQ(test, hits, NR_PROBES);

	before = stops();
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_PROBES);
	text_poke_test_unlisted();
	KUNIT_EXPECT_EQ(test, hits, NR_PROBES);
}

static void each_is_recorded(struct kunit *test)
{
	struct perf_event *listener = text_poke_listener_open(0);
	u64 before;

	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	before = records();
	KUNIT_EXPECT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_GE(test, records() - before, 2 * NR_PROBES);
	perf_event_release_kernel(listener);
}

/* One that cannot be: the others are as if they had never been. */
static void all_or_none_is_registered(struct kunit *test)
{
	/* A load-exclusive, which kprobes refuse. */
	probes[NR_PROBES / 2].addr = (void *)text_poke_test_kept + 2 * UNIT;
	KUNIT_EXPECT_LT(test, register_kprobes(all, NR_PROBES), 0);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_PROBES);
}

/* One that is to come later does not come now. */
static void disabled_probes_stay_so(struct kunit *test)
{
	probes[1].flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_TRUE(test, holds(1, insn));
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE),
			NR_PROBES - 1);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&probes[1]));
	KUNIT_EXPECT_TRUE(test, holds(1, TEXT_POKE_TEST_PROBE));
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_PROBES);
}

/* Two at one place, of which one goes before the other. */
static void probes_may_share_an_instruction(struct kunit *test)
{
	struct kprobe other = { .addr = addr_of(3), .pre_handler = count_hit };

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&other));
	KUNIT_EXPECT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	text_poke_test_unlisted();
	KUNIT_EXPECT_EQ(test, hits, NR_PROBES + 1);
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_TRUE(test, holds(3, TEXT_POKE_TEST_PROBE));
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_PROBES - 1);
	unregister_kprobe(&other);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_PROBES);
}

/* What the manual lists changes while the machine goes on. */
static void listed_instructions_do_not_stop_it(struct kunit *test)
{
	struct kprobe probe = { .addr = (void *)text_poke_test_field };
	u64 before = stops();

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	unregister_kprobe(&probe);
	KUNIT_EXPECT_EQ(test, stops() - before, 0);
}

static void batches_refuse_what_has_to_stop_it(struct kunit *test)
{
	guard(mutex)(&text_mutex);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			text_poke_batch_add(addr_of(0), insn,
					    TEXT_POKE_TEST_PROBE, UNIT, NULL));
}

static void fill(struct text_poke_change *change, unsigned int nr)
{
	change->addr = addr_of(nr);
	memcpy(change->old, insn, UNIT);
	memcpy(change->new, TEXT_POKE_TEST_PROBE, UNIT);
}

static int stopped(struct text_poke_change *changes, unsigned int nr)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	return text_poke_stopped(changes, nr);
}

static void wrong_changes_change_nothing(struct kunit *test)
{
	struct text_poke_change changes[2];
	u64 before = stops();

	fill(&changes[0], 0);
	fill(&changes[1], 0);
	KUNIT_EXPECT_EQ(test, -EEXIST, stopped(changes, 2));
	fill(&changes[1], 1);
	changes[1].old[0] ^= 1;
	KUNIT_EXPECT_EQ(test, -EILSEQ, stopped(changes, 2));
	fill(&changes[1], 1);
	changes[1].addr++;
	KUNIT_EXPECT_EQ(test, -EINVAL, stopped(changes, 2));
	changes[1].addr = &probes;
	KUNIT_EXPECT_EQ(test, -ENXIO, stopped(changes, 2));
	changes[1].addr = (void *)text_poke_handle_trap;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, stopped(changes, 2));

	KUNIT_EXPECT_EQ(test, stops() - before, 0);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_PROBES);
}

static int stop_init(struct kunit *test)
{
	unsigned int i;

	memcpy(insn, addr_of(0), UNIT);
	hits = 0;
	for (i = 0; i < NR_PROBES; i++) {
		probes[i] = (struct kprobe) {
			.addr		= addr_of(i),
			.pre_handler	= count_hit,
		};
		all[i] = &probes[i];
	}
	return 0;
}

static struct kunit_case stop_cases[] = {
	KUNIT_CASE(probes_that_come_together_stop_it_once),
	KUNIT_CASE(each_is_recorded),
	KUNIT_CASE(all_or_none_is_registered),
	KUNIT_CASE(disabled_probes_stay_so),
	KUNIT_CASE(probes_may_share_an_instruction),
	KUNIT_CASE(listed_instructions_do_not_stop_it),
	KUNIT_CASE(batches_refuse_what_has_to_stop_it),
	KUNIT_CASE(wrong_changes_change_nothing),
	{}
};

static struct kunit_suite stop_suite = {
	.name		= "text_poke_stop",
	.init		= stop_init,
	.test_cases	= stop_cases,
};

kunit_test_suite(stop_suite);

MODULE_DESCRIPTION("KUnit test of changes with the machine stopped");
MODULE_LICENSE("GPL");
