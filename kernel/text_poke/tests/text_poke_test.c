// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of the text poke core and of the backend it runs on.
 *
 * Each case is named by the property that it shows.  The instructions come
 * from "arch_test.h", which encodes them on its own.
 */
#include <kunit/test-bug.h>
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <uapi/linux/sched/types.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/text_poke.h>

#include <asm/ptrace.h>
#include <asm/sections.h>

#include "../listener.h"
#include "test.h"

/* How often a guarded site is stored to: trap, tail if there is one, unit. */
#define PASSES (TAIL ? 3 : 2)

TEXT_POKE_TEST_TEXT;

/* The other tests use it too. */
asm(".globl text_poke_test_fn, text_poke_test_site, text_poke_test_field");
asm(".globl text_poke_test_target, text_poke_test_callee, text_poke_test_kept");

/* What the site of text_poke_test_fn() is made to hold, encoded once. */
struct insns {
	u8 nop[LEN];
	u8 jump[LEN];
	u8 call[LEN];
	u8 odd[LEN];
	u8 unencodable[LEN];
};

static struct insns insns;

/* Does @insns have an instruction that says that the encoder has failed? */
static bool has_unencodable;

static bool site_is(const void *insn)
{
	return !text_poke_verify(site_addr(), insn, LEN);
}

/* The site is as it was, no batch was written, and no event was told of one. */
static bool nothing_happened(void)
{
	return site_is(insns.nop) && !text_poke_test_stats.batches &&
	       !text_poke_test_stats.records;
}

static void count_from_here(void)
{
	text_poke_test_stats = (struct text_poke_stats) {};
	text_poke_test_traps = 0;
}

static void listen(struct kunit *test)
{
	text_poke_test_listen(test);
	count_from_here();
}

/* Are the test's instructions exchanged at once if no event listens? */
static bool exchanged_directly(void)
{
	struct text_poke_site site = {
		.addr	= site_addr(),
		.len	= LEN,
	};

	memcpy(site.old, insns.nop, LEN);
	memcpy(site.new, insns.jump, LEN);
	return !arch_text_poke_prepare(&site, site.new) &&
	       arch_text_poke_atomic(&site);
}

static void skip_unless_direct(struct kunit *test)
{
	if (perf_text_poke_enabled())
		kunit_skip(test, "another event listens");
	if (!exchanged_directly())
		kunit_skip(test, "every change is guarded here");
}

/* The steps of a batch, each with the syncs that had been made before it. */
static char steps[64];

static void add_step_after(u64 syncs, const char *step)
{
	size_t len = strlen(steps);

	snprintf(steps + len, sizeof(steps) - len, "%llu:%s ", syncs, step);
}

static void add_step(const char *step)
{
	add_step_after(text_poke_test_syncs(), step);
}

static int logged_store(void *alias, const void *bytes, size_t len)
{
	u8 trap[LEN];

	text_poke_test_trap(trap);
	if (!stores_unit(alias, len))
		add_step(len == LEN ? "all" : "tail");
	else
		add_step(memcmp(bytes, trap, len) ? "unit" : "trap");
	return copy_to_kernel_nofault(alias, bytes, len);
}

static void logged_record(const void *addr, const void *old, size_t old_len,
			  const void *new, size_t new_len)
{
	add_step("record");
}

/* No step may be in the same place between syncs as the one before it. */
static void guarded_batches_go_step_by_step(struct kunit *test)
{
	listen(test);
	steps[0] = '\0';
	text_poke_test_store(logged_store);
	text_poke_test_record(logged_record);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.nop, insns.jump, LEN));
	text_poke_test_record(NULL);
	text_poke_test_store(NULL);
	add_step_after(text_poke_test_stats.syncs, "done");
	KUNIT_EXPECT_STREQ(test, steps, TAIL ?
			   "0:trap 1:record 1:tail 2:unit 3:done " :
			   "0:trap 1:record 2:unit 3:done ");
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.jump, insns.nop, LEN));
}

/* Three pokes through every kind of instruction, and back to the first. */
static void expect_effects(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.nop, insns.jump, LEN));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 2);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.jump, insns.call, LEN));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 3);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.call, insns.nop, LEN));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
}

static void direct_when_no_event_listens(struct kunit *test)
{
	skip_unless_direct(test);
	expect_effects(test);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.direct, 3);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded, 0);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.syncs, 3);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, 0);
}

/* Where a CPU could run a mixture of old and new: as with an event that listens. */
static void guarded_without_records_when_it_must_be(struct kunit *test)
{
	if (perf_text_poke_enabled())
		kunit_skip(test, "another event listens");
	if (exchanged_directly())
		kunit_skip(test, "changes are direct here");

	expect_effects(test);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded, 3);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.syncs, 9);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, 0);
}

/* Per batch: syncs after the traps, after the records and after the units. */
static void guarded_when_an_event_listens(struct kunit *test)
{
	listen(test);
	expect_effects(test);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded, 3);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.direct, 0);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.syncs, 9);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, 3);
}

/* The old bytes are checked before anything is written. */
static void wrong_old_bytes_change_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EILSEQ,
			poke(site_addr(), insns.call, insns.jump, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.refused, 1);
}

static void unknown_old_bytes_are_read(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), NULL, insns.jump, LEN));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 2);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), NULL, insns.nop, LEN));
}

static void no_change_is_no_batch(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.nop, insns.nop, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

static void bad_lengths_are_refused(struct kunit *test)
{
	void *addr = site_addr();

	KUNIT_EXPECT_EQ(test, -EINVAL, poke(addr, NULL, insns.jump, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			poke(addr, NULL, &insns, TEXT_POKE_MAX + 1));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

static void misaligned_sites_are_refused(struct kunit *test)
{
	if (TEXT_POKE_UNIT == 1)
		kunit_skip(test, "every address is aligned");

	KUNIT_EXPECT_EQ(test, -EINVAL,
			poke(site_addr() + 1, NULL, insns.jump, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

/* Among them memory that holds valid instructions but is not text. */
static void addresses_outside_text_are_refused(struct kunit *test)
{
	static const u8 rodata[LEN] __aligned(8);
	void *heap = kunit_kzalloc(test, LEN, GFP_KERNEL);
	u8 stack[LEN] __aligned(8) = {};
	void *addrs[] = { NULL, (void *)0x1000, stack, heap, (void *)rodata,
			  (void *)-LEN };
	int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++)
		KUNIT_EXPECT_EQ(test, -ENXIO,
				poke(addrs[i], NULL, insns.nop, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

/* Neither text nor where modules are put: refused without a warning. */
static void early_pokes_outside_text_are_refused(struct kunit *test)
{
	void *heap = kunit_kzalloc(test, LEN, GFP_KERNEL);

	KUNIT_EXPECT_EQ(test, -ENXIO,
			text_poke_early(heap, NULL, insns.nop, LEN));
	KUNIT_EXPECT_EQ(test, -ENXIO,
			text_poke_early(NULL, NULL, insns.nop, LEN));
}

static void early_pokes_of_live_text_are_refused(struct kunit *test)
{
	text_poke_test_hear(true);
	KUNIT_EXPECT_EQ(test, -EBUSY, text_poke_early(site_addr(), insns.nop,
						      insns.jump, LEN));
	text_poke_test_hear(false);
	KUNIT_EXPECT_NOT_NULL(test, text_poke_test_said);
	KUNIT_EXPECT_TRUE(test, site_is(insns.nop));
}

static void unencodable_branches_are_refused(struct kunit *test)
{
	if (!has_unencodable)
		kunit_skip(test, "encoders have no mark for it");

	KUNIT_EXPECT_EQ(test, -ERANGE, poke(site_addr(), insns.nop,
					    insns.unencodable, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

static void instructions_nothing_can_emulate_are_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			poke(site_addr(), insns.nop, insns.odd, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

static int poke_pair(void *a, void *b)
{
	int ret;

	guard(own_pokes)();
	ret = text_poke_batch_add(a, insns.nop, insns.jump, LEN, NULL);
	if (!ret)
		ret = text_poke_batch_add(b, insns.nop, insns.jump, LEN, NULL);
	return finish_or_cancel(ret);
}

/* Found when the batch is sorted, so the first of the pair is not written. */
static void duplicates_change_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EEXIST, poke_pair(site_addr(), site_addr()));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

/* Queue site @i of the field, from @old to @new. */
static int queue_field(unsigned int i, const void *old, const void *new)
{
	return text_poke_batch_add(field_addr(i), old, new, LEN, NULL);
}

#ifdef TEXT_POKE_TEST_NOTRAP
static int poke_notrap(const void *old, const void *new)
{
	int ret = poke(TEXT_POKE_TEST_NOTRAP, old, new, LEN);

	return ret ?: text_poke_verify(TEXT_POKE_TEST_NOTRAP, new, LEN);
}

/* Where no trap can be taken, one is exchanged for another that may be. */
static void sites_that_cannot_trap_are_exchanged(struct kunit *test)
{
	static const char *const others[] = TEXT_POKE_TEST_NOTRAPS;
	u8 branch[LEN];
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_FALSE(test, arch_text_poke_trappable(others[i]));
	text_poke_test_jump(branch, TEXT_POKE_TEST_NOTRAP,
			    TEXT_POKE_TEST_NOTRAP + LEN);
	KUNIT_EXPECT_EQ(test, 0, poke_notrap(insns.nop, branch));
	listen(test);
	KUNIT_EXPECT_EQ(test, 0, poke_notrap(branch, insns.nop));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, 1);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded, 1);
}
#endif

/* A branch to the next instruction is a nop by another name. */
static void branch_on(void *insn)
{
	text_poke_test_jump(insn, field_addr(0), field_addr(1));
}

static int poke_literal_over(void *addr)
{
	unsigned long literal = 0;
	int ret;

	guard(own_pokes)();
	ret = text_poke_batch_add_data(addr, NULL, &literal, sizeof(literal));
	if (!ret)
		ret = text_poke_batch_add(addr, insns.nop, insns.jump, LEN,
					  NULL);
	return finish_or_cancel(ret);
}

static void overlaps_change_nothing(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EEXIST, poke_literal_over(field_addr(0)));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(field_addr(0), insns.nop, LEN));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

static int poke_literal(void *addr, const void *old, unsigned long val, size_t len)
{
	int ret;

	guard(own_pokes)();
	ret = text_poke_batch_add_data(addr, old, &val, len);
	return finish_or_cancel(ret);
}

static void literals_are_checked_and_written(struct kunit *test)
{
	void *addr = field_addr(0);
	unsigned long val = ~0UL / 3;
	unsigned long old;
	u32 half;

	memcpy(&old, addr, sizeof(old));
	KUNIT_EXPECT_EQ(test, -EILSEQ, poke_literal(addr, &val, val, sizeof(val)));
	KUNIT_EXPECT_EQ(test, -EINVAL, poke_literal(addr + 2, NULL, val, sizeof(val)));
	KUNIT_EXPECT_EQ(test, -EINVAL, poke_literal(addr, NULL, val, 2));
	KUNIT_EXPECT_EQ(test, -ENXIO, poke_literal(&old, NULL, val, sizeof(val)));
	KUNIT_EXPECT_TRUE(test, nothing_happened());

	KUNIT_EXPECT_EQ(test, 0, poke_literal(addr, &old, val, sizeof(val)));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(addr, &val, sizeof(val)));
	KUNIT_EXPECT_EQ(test, 0, poke_literal(addr, &val, old, sizeof(val)));

	/* One of 32 bits, which need not be aligned to more. */
	memcpy(&half, addr + sizeof(half), sizeof(half));
	KUNIT_EXPECT_EQ(test, 0, poke_literal(addr + sizeof(half), &half, val,
					      sizeof(half)));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(addr, &old, sizeof(half)));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(addr + sizeof(half), &val,
						  sizeof(half)));
	KUNIT_EXPECT_EQ(test, 0, poke_literal(addr + sizeof(half), &val, half,
					      sizeof(half)));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(addr, &old, sizeof(old)));
}

static void literals_need_no_guard(struct kunit *test)
{
	void *addr = field_addr(0);
	unsigned long old;

	if (perf_text_poke_enabled())
		kunit_skip(test, "another event listens");

	memcpy(&old, addr, sizeof(old));
	KUNIT_EXPECT_EQ(test, 0, poke_literal(addr, &old, ~old, sizeof(old)));
	KUNIT_EXPECT_EQ(test, 0, poke_literal(addr, NULL, old, sizeof(old)));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.direct, 2);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded, 0);
}

/* What the literal was when the last trap was written. */
static unsigned long literal_at_trap;

static int watching_store(void *alias, const void *bytes, size_t len)
{
	u8 trap[LEN] __aligned(8);

	text_poke_test_trap(trap);
	if (len == TEXT_POKE_UNIT && !memcmp(bytes, trap, TEXT_POKE_UNIT))
		memcpy(&literal_at_trap, field_addr(0), sizeof(literal_at_trap));
	return copy_to_kernel_nofault(alias, bytes, len);
}

static void literals_come_before_the_branches_that_use_them(struct kunit *test)
{
	unsigned long old, val = ~0UL / 5;
	u8 branch[LEN];

	listen(test);
	branch_on(branch);
	memcpy(&old, field_addr(0), sizeof(old));

	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_add_data(field_addr(0), &old,
							  &val, sizeof(val)));
	KUNIT_EXPECT_EQ(test, 0, queue_field(2, insns.nop, branch));
	text_poke_test_store(watching_store);
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	text_poke_test_store(NULL);
	KUNIT_EXPECT_EQ(test, literal_at_trap, val);

	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_add_data(field_addr(0), &val,
							  &old, sizeof(old)));
	KUNIT_EXPECT_EQ(test, 0, queue_field(2, branch, insns.nop));
	text_poke_test_store(watching_store);
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	text_poke_test_store(NULL);
	KUNIT_EXPECT_EQ(test, literal_at_trap, old);
}

static void cancelled_sites_stay(struct kunit *test)
{
	text_poke_test_lock();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_add(site_addr(), insns.nop,
						     insns.jump, LEN, NULL));
	text_poke_batch_cancel();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	text_poke_test_unlock();
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

/* Change the whole field in one batch, in either direction of adding. */
static int poke_field(const void *old, const void *new, bool downwards)
{
	unsigned int i, at;
	int ret = 0;

	guard(own_pokes)();
	for (i = 0; !ret && i < TEXT_POKE_TEST_FIELD; i++) {
		at = downwards ? TEXT_POKE_TEST_FIELD - 1 - i : i;
		ret = queue_field(at, old, new);
	}
	return finish_or_cancel(ret);
}

static bool field_is(const void *insn)
{
	unsigned int i;

	for (i = 0; i < TEXT_POKE_TEST_FIELD; i++)
		if (text_poke_verify(field_addr(i), insn, LEN))
			return false;
	return true;
}

/* More than one, or the field is too small to test anything. */
#define WAVES DIV_ROUND_UP(TEXT_POKE_TEST_FIELD, TEXT_POKE_WAVE)

static_assert(WAVES > 1);

/* For how long groups arm, to the end of the case. */
static void groups_arm_for(u64 ns)
{
	text_poke_arming_ns = ns;
}

/* Every group is full, however slow the machine is. */
#define NO_HURRY (1000 * NSEC_PER_SEC)

/* Windows of neighbours, if each has as many stores as it may. */
#define FULL_WINDOWS (TEXT_POKE_TEST_FIELD / TEXT_POKE_STORES)

static_assert(TEXT_POKE_TEST_FIELD <= TEXT_POKE_GROUP);

/* How many pages the field touches. */
static u64 field_pages(void)
{
	unsigned long first = (unsigned long)field_addr(0);
	unsigned long last = (unsigned long)field_addr(TEXT_POKE_TEST_FIELD - 1);

	return (last >> PAGE_SHIFT) - (first >> PAGE_SHIFT) + 1;
}

/* Or for as many as there may be stores through one mapping. */
static void large_batches_sync_once_and_map_once_per_page(struct kunit *test)
{
	u8 branch[LEN];

	skip_unless_direct(test);
	branch_on(branch);
	KUNIT_EXPECT_EQ(test, 0, poke_field(insns.nop, branch, false));
	KUNIT_EXPECT_TRUE(test, field_is(branch));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.syncs, 1);
	KUNIT_EXPECT_GE(test, text_poke_test_stats.mappings, FULL_WINDOWS);
	KUNIT_EXPECT_LE(test, text_poke_test_stats.mappings,
			FULL_WINDOWS + field_pages());
	KUNIT_EXPECT_EQ(test, 0, poke_field(branch, insns.nop, false));
	KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
}

/*
 * A wave takes three syncs, and the next one starts with its second.  The text
 * in which it ends is mapped for either.
 */
static void large_guarded_batches_sync_once_per_wave(struct kunit *test)
{
	u8 branch[LEN];

	listen(test);
	groups_arm_for(NO_HURRY);
	branch_on(branch);
	KUNIT_EXPECT_EQ(test, 0, poke_field(insns.nop, branch, true));
	KUNIT_EXPECT_TRUE(test, field_is(branch));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.syncs, 2 + WAVES);
	KUNIT_EXPECT_LE(test, text_poke_test_stats.mappings,
			PASSES * (FULL_WINDOWS + field_pages() + WAVES));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, TEXT_POKE_TEST_FIELD);
	KUNIT_EXPECT_EQ(test, 0, poke_field(branch, insns.nop, true));
	KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
}

/* Without any time each group is what one mapping holds, with its own syncs. */
static void groups_arm_for_a_bounded_time(struct kunit *test)
{
	u8 branch[LEN];

	listen(test);
	groups_arm_for(0);
	branch_on(branch);
	KUNIT_EXPECT_EQ(test, 0, poke_field(insns.nop, branch, false));
	KUNIT_EXPECT_TRUE(test, field_is(branch));
	KUNIT_EXPECT_GE(test, text_poke_test_stats.syncs, 3 * FULL_WINDOWS);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, TEXT_POKE_TEST_FIELD);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.guarded, 1);
	KUNIT_EXPECT_EQ(test, 0, poke_field(branch, insns.nop, false));
	KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
}

/* Has all of a CPU that a poker is to run on. */
static int be_busy(void *unused)
{
	while (!kthread_should_stop()) {
		cpu_relax();
		cond_resched();
	}
	return 0;
}

/**
 * struct starving - a poker that hardly gets to run
 * @ret:	what became of its batch
 * @longest:	for how long its traps were armed, in nanoseconds
 * @done:	that is known
 */
struct starving {
	int ret;
	u64 longest;
	struct completion done;
};

/* Enough for a mapping or two, not for more of the scheduler's patience. */
#define STARVING_SITES 1000U

static int queue_many(const void *old, const void *new)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < STARVING_SITES; i++)
		ret = queue_field(i, old, new);
	return ret;
}

static int poke_starving(void *data)
{
	struct sched_param idle = {}, normal = {};
	struct starving *starving = data;
	u8 branch[LEN];

	branch_on(branch);
	scoped_guard(own_pokes) {
		starving->ret = queue_many(insns.nop, branch);
		text_poke_longest_armed = 0;
		sched_setscheduler_nocheck(current, SCHED_IDLE, &idle);
		starving->ret = finish_or_cancel(starving->ret);
		sched_setscheduler_nocheck(current, SCHED_NORMAL, &normal);
		starving->longest = text_poke_longest_armed;
	}
	complete(&starving->done);
	return 0;
}

static struct task_struct *start_on(int (*run)(void *), void *data, int cpu)
{
	struct task_struct *task;

	task = kthread_create(run, data, "text_poke_test");
	if (!IS_ERR(task)) {
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	return task;
}

/*
 * A task that is idle by policy gets a few milliseconds in a second beside one
 * that is not: if it lost its CPU within a group, that would take as long.
 */
static void starving_pokers_do_not_leave_traps_armed(struct kunit *test)
{
	int other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	struct starving starving = {};
	struct task_struct *busy, *poker;
	u8 branch[LEN];

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	listen(test);
	branch_on(branch);
	init_completion(&starving.done);
	busy = start_on(be_busy, NULL, other);
	KUNIT_ASSERT_FALSE(test, IS_ERR(busy));
	poker = start_on(poke_starving, &starving, other);
	if (!IS_ERR(poker))
		wait_for_completion(&starving.done);
	kthread_stop(busy);
	KUNIT_ASSERT_FALSE(test, IS_ERR(poker));

	KUNIT_EXPECT_EQ(test, 0, starving.ret);
	KUNIT_EXPECT_GT(test, starving.longest, 0);
	KUNIT_EXPECT_LT(test, starving.longest, 500 * NSEC_PER_MSEC);
	kunit_info(test, "armed for %llu us at most",
		   div_u64(starving.longest, NSEC_PER_USEC));
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, queue_many(branch, insns.nop));
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
}

/* In an order in which no two neighbours follow each other. */
static int poke_field_unsorted(const void *old, const void *new, bool twice)
{
	unsigned int i;
	int ret = 0;

	guard(own_pokes)();
	for (i = 0; !ret && i < TEXT_POKE_TEST_FIELD; i++)
		ret = queue_field(i * 1237 % TEXT_POKE_TEST_FIELD, old, new);
	if (!ret && twice)
		ret = queue_field(0, old, new);
	return finish_or_cancel(ret);
}

static_assert(TEXT_POKE_TEST_FIELD % 1237);

static void sites_may_come_in_any_order(struct kunit *test)
{
	u8 branch[LEN];

	listen(test);
	branch_on(branch);
	KUNIT_EXPECT_EQ(test, 0, poke_field_unsorted(insns.nop, branch, false));
	KUNIT_EXPECT_TRUE(test, field_is(branch));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, 1);
	KUNIT_EXPECT_EQ(test, 0, poke_field_unsorted(branch, insns.nop, false));
	KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
}

/* As so many runs of ascending addresses, each below the one before it. */
static int poke_field_in_runs(const void *old, const void *new, unsigned int runs)
{
	unsigned int len = DIV_ROUND_UP(TEXT_POKE_TEST_FIELD, runs), i;
	int ret = 0;

	guard(own_pokes)();
	while (!ret && runs--) {
		for (i = runs * len; !ret && i < (runs + 1) * len &&
		     i < TEXT_POKE_TEST_FIELD; i++)
			ret = queue_field(i, old, new);
	}
	return finish_or_cancel(ret);
}

static void runs_of_sites_may_come_in_any_order(struct kunit *test)
{
	unsigned int runs;
	u8 branch[LEN];

	branch_on(branch);
	for (runs = 2; runs < 100; runs *= 3) {
		KUNIT_EXPECT_EQ(test, 0,
				poke_field_in_runs(insns.nop, branch, runs));
		KUNIT_EXPECT_TRUE(test, field_is(branch));
		KUNIT_EXPECT_EQ(test, 0,
				poke_field_in_runs(branch, insns.nop, runs));
		KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
	}
}

/* However many pages of sites are between the two. */
static void duplicates_far_apart_change_nothing(struct kunit *test)
{
	u8 branch[LEN];

	branch_on(branch);
	KUNIT_EXPECT_EQ(test, -EEXIST,
			poke_field_unsorted(insns.nop, branch, true));
	KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
	KUNIT_EXPECT_TRUE(test, nothing_happened());
}

/* Stores left until one fails. */
static int stores_left;

static int failing_store(void *alias, const void *bytes, size_t len)
{
	if (!stores_left--)
		return -EFAULT;
	return copy_to_kernel_nofault(alias, bytes, len);
}

/* Records of the last batch; the kernel pokes its own sites in between. */
static u64 records_of_last;

static int poke_few_failing_at(struct kunit *test, unsigned int nr, int stores)
{
	unsigned int i;
	u64 records;
	u8 branch[LEN];
	int ret = 0;

	branch_on(branch);
	guard(own_pokes)();
	for (i = 0; !ret && i < nr; i++)
		ret = queue_field(i, insns.nop, branch);
	if (ret) {
		text_poke_batch_cancel();
		return ret;
	}

	stores_left = stores;
	records = text_poke_stats.records;
	text_poke_test_store(failing_store);
	ret = text_poke_batch_finish();
	text_poke_test_store(NULL);
	records_of_last = text_poke_stats.records - records;
	return ret;
}

#define FEW 5U

/* The store that fails is any of those that a direct batch makes. */
static void failed_direct_batches_are_rolled_back(struct kunit *test)
{
	int at;

	skip_unless_direct(test);
	for (at = 0; at < FEW; at++) {
		KUNIT_EXPECT_EQ(test, -EFAULT,
				poke_few_failing_at(test, FEW, at));
		KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
	}
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.rolled_back, FEW);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, 0);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.pokes, 0);
}

/*
 * The first FEW stores write traps: nothing is recorded yet.  If a later one
 * fails, every record has its reversal.
 */
static void failed_guarded_batches_are_rolled_back(struct kunit *test)
{
	int at;

	listen(test);
	for (at = 0; at < PASSES * FEW; at++) {
		KUNIT_EXPECT_EQ(test, -EFAULT,
				poke_few_failing_at(test, FEW, at));
		KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
		KUNIT_EXPECT_EQ(test, records_of_last,
				at >= FEW ? 2 * FEW : 0);
	}
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.rolled_back, PASSES * FEW);
}

/*
 * At any of these stores some waves are final, some are recorded, and one is
 * being armed.
 */
static void failed_waves_are_rolled_back(struct kunit *test)
{
	static const unsigned int at[] = {
		TEXT_POKE_WAVE - 1, TEXT_POKE_WAVE, TEXT_POKE_TEST_FIELD - 1,
		TEXT_POKE_TEST_FIELD, TEXT_POKE_TEST_FIELD + 1,
		TEXT_POKE_TEST_FIELD + TEXT_POKE_WAVE,
		2 * TEXT_POKE_TEST_FIELD - 1,
		PASSES * TEXT_POKE_TEST_FIELD - 1,
	};
	int i;

	listen(test);
	groups_arm_for(NO_HURRY);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		KUNIT_EXPECT_EQ(test, -EFAULT,
				poke_few_failing_at(test, TEXT_POKE_TEST_FIELD,
						    at[i]));
		KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
		KUNIT_EXPECT_EQ(test, 0, records_of_last % 2);
	}
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.rolled_back, ARRAY_SIZE(at));
}

/* More than two groups, of which each is as much as one mapping holds. */
#define GROUPED (3 * TEXT_POKE_STORES)

/* At any of these stores no group is through, or one, or two. */
static void failed_groups_take_those_before_them_back(struct kunit *test)
{
	unsigned int at;

	listen(test);
	groups_arm_for(0);
	for (at = 0; at < PASSES * GROUPED; at += TEXT_POKE_STORES / 2) {
		KUNIT_EXPECT_EQ(test, -EFAULT,
				poke_few_failing_at(test, GROUPED, at));
		KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
		KUNIT_EXPECT_EQ(test, 0, records_of_last % 2);
		KUNIT_EXPECT_TRUE(test, records_of_last ||
				  at < PASSES * TEXT_POKE_STORES);
	}
}

static int only_first_store(void *alias, const void *bytes, size_t len)
{
	return stores_left-- > 0 ? copy_to_kernel_nofault(alias, bytes, len) :
				   -EFAULT;
}

/* Nothing can be written any more, but the trap that is there is served. */
static void failed_rollbacks_keep_the_traps_served(struct kunit *test)
{
	listen(test);
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_add(site_addr(), insns.nop,
						     insns.jump, LEN, NULL));
	stores_left = 1;
	text_poke_test_hear(true);
	text_poke_test_store(only_first_store);
	KUNIT_EXPECT_EQ(test, -EIO, text_poke_batch_finish());
	text_poke_test_store(NULL);
	text_poke_test_hear(false);
	KUNIT_EXPECT_NOT_NULL(test, text_poke_test_said);

	KUNIT_EXPECT_EQ(test, -EIO, text_poke_batch_add(field_addr(0), NULL,
							insns.jump, LEN, NULL));
	/* Also where the old bytes are not what they were: there is a trap. */
	KUNIT_EXPECT_EQ(test, -EIO, text_poke_batch_add(site_addr(), insns.nop,
							insns.jump, LEN, NULL));
	KUNIT_EXPECT_EQ(test, -EIO, text_poke_batch_finish());
	KUNIT_EXPECT_FALSE(test, site_is(insns.nop));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 2);

	text_poke_unstick();
	KUNIT_EXPECT_TRUE(test, site_is(insns.nop));
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
}

static void batches_work_after_a_rollback(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EFAULT, poke_few_failing_at(test, FEW, 2));
	expect_effects(test);
}

/* Hit @site in the published batch, as the trap's entry code would. */
static bool hit(struct pt_regs *regs, void *addr)
{
	bool handled;

	text_poke_test_hit(regs, addr);
	preempt_disable();
	handled = text_poke_handle_trap(regs);
	preempt_enable();
	return handled;
}

/* A site as the core would have queued it, without the checks of its text. */
static struct text_poke_site prepared(struct kunit *test, void *addr,
				      const void *insn)
{
	struct text_poke_site site = {
		.addr	= addr,
		.len	= LEN,
		.trap	= true,
	};

	memcpy(site.new, insn, LEN);
	KUNIT_EXPECT_EQ(test, 0, arch_text_poke_prepare(&site, insn));
	return site;
}

/* A hit on a site that is to become @insn goes on at @to, as if it was. */
static void check_emulation(struct kunit *test, const void *insn, void *to,
			    bool call)
{
	struct text_poke_site site = prepared(test, site_addr(), insn);
	struct pt_regs regs = {};

	guard(own_pokes)();
	text_poke_publish(text_poke_test_queue(&site, 1));
	KUNIT_EXPECT_TRUE(test, hit(&regs, site.addr));
	text_poke_retire();

	KUNIT_EXPECT_EQ(test, instruction_pointer(&regs), (unsigned long)to);
	KUNIT_EXPECT_TRUE(test, text_poke_test_flags_kept(&regs));
	if (call)
		KUNIT_EXPECT_TRUE(test, text_poke_test_called(&regs,
							      site.addr + LEN));
	else
		KUNIT_EXPECT_TRUE(test, text_poke_test_not_called(&regs));
}

static void handler_emulates_the_new_instruction(struct kunit *test)
{
	check_emulation(test, insns.nop, site_addr() + LEN, false);
	check_emulation(test, insns.jump, text_poke_test_target, false);
	check_emulation(test, insns.call, text_poke_test_callee, true);
	KUNIT_EXPECT_EQ(test, text_poke_test_traps, 3);
}

static void handler_acts_at_both_ends_of_the_range(struct kunit *test)
{
	void *far[] = { site_addr() + TEXT_POKE_TEST_AHEAD,
			site_addr() - TEXT_POKE_TEST_BACK };
	u8 insn[LEN];
	int i;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		text_poke_test_jump(insn, site_addr(), far[i]);
		check_emulation(test, insn, far[i], false);
		text_poke_test_call(insn, site_addr(), far[i]);
		check_emulation(test, insn, far[i], true);
	}
}

#define MANY TEXT_POKE_TEST_MANY

/* Every site is found, and nothing between, before or after them is. */
static void handler_finds_every_site_and_no_other(struct kunit *test)
{
	struct text_poke_site *sites;
	struct pt_regs regs = {};
	void *trap;
	int i;

	sites = kunit_kcalloc(test, MANY, sizeof(*sites), GFP_KERNEL);
	trap = kunit_kzalloc(test, 2 * MANY * LEN, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sites);
	KUNIT_ASSERT_NOT_NULL(test, trap);

	for (i = 0; i < 2 * MANY; i++)
		text_poke_test_trap(trap + i * LEN);
	for (i = 0; i < MANY; i++)
		sites[i] = prepared(test, trap + (2 * i + 1) * LEN, insns.nop);

	guard(own_pokes)();
	text_poke_publish(text_poke_test_queue(sites, MANY));
	for (i = 0; i < 2 * MANY; i++)
		KUNIT_EXPECT_EQ(test, hit(&regs, trap + i * LEN), i % 2 == 1);
	text_poke_retire();
}

/* How often @want is among the sites of a CPU's last traps. */
static unsigned int times_trapped(int cpu, const void *want)
{
	unsigned int ago, nr = 0;
	const void *addr;

	for (ago = 0; (addr = text_poke_trapped(cpu, ago)); ago++)
		nr += addr == want;
	return nr;
}

/* All from one CPU, which then remembers nothing else. */
static void traps_are_told_with_their_site(struct kunit *test)
{
	struct text_poke_site site = prepared(test, site_addr(), insns.nop);
	struct pt_regs regs = {};
	int i, cpu;

	guard(own_pokes)();
	text_poke_publish(text_poke_test_queue(&site, 1));
	migrate_disable();
	cpu = smp_processor_id();
	for (i = 0; i < TEXT_POKE_TRAPPED; i++)
		hit(&regs, site.addr);
	KUNIT_EXPECT_EQ(test, times_trapped(cpu, site.addr), TEXT_POKE_TRAPPED);
	migrate_enable();
	text_poke_retire();
}

/**
 * struct slow_handler - a trap handler that looks at the batch for a while
 * @refs:	where it holds its reference
 * @left:	it has let go of the batch
 */
struct slow_handler {
	atomic_t *refs;
	bool left;
};

static int leave_later(void *data)
{
	struct slow_handler *handler = data;

	msleep(50);
	WRITE_ONCE(handler->left, true);
	/* Fully ordered, as is the decrement in put_batch(). */
	smp_mb__before_atomic();
	atomic_dec(handler->refs);
	return 0;
}

static void retiring_waits_for_handlers(struct kunit *test)
{
	struct text_poke_site site = prepared(test, field_addr(1), insns.nop);
	struct slow_handler handler = {
		.refs = text_poke_refs(raw_smp_processor_id()),
	};
	struct task_struct *task;

	guard(own_pokes)();
	text_poke_publish(text_poke_test_queue(&site, 1));
	atomic_inc(handler.refs);
	task = kthread_run(leave_later, &handler, "text_poke_test");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	if (IS_ERR(task))
		atomic_dec(handler.refs);
	text_poke_retire();
	KUNIT_EXPECT_TRUE(test, READ_ONCE(handler.left));
	while (!READ_ONCE(handler.left))
		msleep(20);
}

static int listen_once(void *data)
{
	struct perf_event *event = text_poke_listener_open(0);

	WRITE_ONCE(*(bool *)data, true);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

static bool late_comes, late_listens;

static struct task_struct *late_listener;

static int listen_late(void *unused)
{
	WRITE_ONCE(late_comes, true);
	return listen_once(&late_listens);
}

/* In the middle of a batch; returns when the event had time enough. */
static void listen_meanwhile(const void *addr, const void *old, size_t old_len,
			     const void *new, size_t new_len)
{
	struct kunit *test = kunit_get_current_test();
	int ms;

	wake_up_process(late_listener);
	for (ms = 0; ms < 2000 && !READ_ONCE(late_comes); ms++)
		mdelay(1);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(late_comes));
	mdelay(50);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(late_listens));
}

/* Else the batch that is being written would have no records for it. */
static void listeners_wait_for_the_batch(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	listen(test);
	late_comes = false;
	late_listens = false;
	late_listener = kthread_create(listen_late, NULL, "text_poke_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(late_listener));
	migrate_disable();
	kthread_bind(late_listener, cpumask_any_but(cpu_online_mask,
						    raw_smp_processor_id()));
	text_poke_test_record(listen_meanwhile);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.nop, insns.jump, LEN));
	text_poke_test_record(NULL);
	migrate_enable();
	while (!READ_ONCE(late_listens))
		msleep(20);
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), insns.jump, insns.nop, LEN));
}

/* Its holder may wait for RCU; between batches there is nothing to wait for. */
static void listeners_do_not_wait_for_the_mutex(struct kunit *test)
{
	struct task_struct *task;
	bool listening = false;
	int i;

	scoped_guard(own_pokes) {
		task = kthread_run(listen_once, &listening, "text_poke_test");
		KUNIT_EXPECT_FALSE(test, IS_ERR(task));
		for (i = 0; i < 100 && !READ_ONCE(listening); i++)
			msleep(20);
		KUNIT_EXPECT_TRUE(test, READ_ONCE(listening));
	}
	while (!IS_ERR(task) && !READ_ONCE(listening))
		msleep(20);
}

/* Such a trap is a bug elsewhere, and has to reach the kernel's own handler. */
static void traps_of_no_site_are_not_handled(struct kunit *test)
{
	struct pt_regs regs = {};
	u8 trap[LEN] __aligned(8);

	guard(own_pokes)();
	text_poke_test_trap(trap);
	KUNIT_EXPECT_FALSE(test, hit(&regs, trap));
}

/* Executed again, so nothing but the trap's address is in the registers. */
static void vanished_traps_are_executed_again(struct kunit *test)
{
	u64 rereads = text_poke_rereads();
	struct pt_regs regs = {};

	guard(own_pokes)();
	KUNIT_EXPECT_TRUE(test, hit(&regs, site_addr()));
	KUNIT_EXPECT_PTR_EQ(test, (void *)instruction_pointer(&regs),
			    site_addr());
	KUNIT_EXPECT_TRUE(test, text_poke_test_not_called(&regs));
	KUNIT_EXPECT_EQ(test, text_poke_rereads(), rereads + 1);
}

static int rereads_until_given_up(void *addr)
{
	struct pt_regs regs = {};
	int i;

	for (i = 0; i < 10 * TEXT_POKE_REREADS; i++)
		if (!hit(&regs, addr))
			break;
	return i;
}

/* Within a batch; the next one makes a new beginning. */
static void rereads_are_bounded(struct kunit *test)
{
	struct text_poke_site site = prepared(test, field_addr(1), insns.nop);

	guard(own_pokes)();
	preempt_disable();
	KUNIT_EXPECT_EQ(test, TEXT_POKE_REREADS,
			rereads_until_given_up(field_addr(0)));
	text_poke_publish(text_poke_test_queue(&site, 1));
	text_poke_retire();
	KUNIT_EXPECT_EQ(test, TEXT_POKE_REREADS,
			rereads_until_given_up(field_addr(0)));
	preempt_enable();
}

/**
 * struct runner - a thread that executes the site all the time
 * @task:	the thread
 * @calls:	how often it has
 * @wrong:	how often the result was none of nop, jump and call
 */
struct runner {
	struct task_struct *task;
	u64 calls;
	u64 wrong;
};

static int run_site(void *data)
{
	struct runner *runner = data;
	int i, ret;

	while (!kthread_should_stop()) {
		for (i = 0; i < 1000; i++) {
			ret = text_poke_test_fn();
			if (ret < 1 || ret > 3)
				runner->wrong++;
		}
		WRITE_ONCE(runner->calls, runner->calls + 1000);
		cond_resched();
	}
	return 0;
}

/* Change the site back and forth for @ms, with short breaks. */
static int poke_for(unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	const u8 *old = insns.nop, *new = insns.jump;
	int ret = 0;

	while (!ret && time_before(jiffies, end)) {
		ret = poke(site_addr(), old, new, LEN);
		old = new;
		new = old == insns.jump ? insns.call : insns.jump;
	}
	return poke(site_addr(), old, insns.nop, LEN) ?: ret;
}

/* Put @runner on a CPU other than this one, which the test then keeps. */
static void start_runner(struct kunit *test, struct runner *runner)
{
	int other = cpumask_any_but(cpu_online_mask, smp_processor_id());

	runner->task = start_on(run_site, runner, other);
	KUNIT_ASSERT_FALSE(test, IS_ERR(runner->task));
	while (!READ_ONCE(runner->calls))
		cond_resched();
}

/*
 * Under fire: another CPU runs the site all the time, through its traps, and
 * never sees anything but one of the three instructions.
 */
static void other_cpus_see_old_or_new(struct kunit *test)
{
	struct runner runner = {};

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs a second CPU");

	listen(test);
	migrate_disable();
	start_runner(test, &runner);
	KUNIT_EXPECT_EQ(test, 0, poke_for(1000));
	kthread_stop(runner.task);
	migrate_enable();

	KUNIT_EXPECT_EQ(test, runner.wrong, 0);
	KUNIT_EXPECT_GT(test, text_poke_test_traps, 0);
	kunit_info(test, "%llu calls, %llu traps, %llu pokes", runner.calls,
		   text_poke_test_traps, text_poke_test_stats.pokes);
}

/*
 * The core refuses sites in there, or exchanges them without a trap; a key that
 * cannot be changed, or not at a certain moment, had better be elsewhere.
 */
static void no_jump_label_in_the_trap_path(struct kunit *test)
{
	const struct text_poke_function *function = arch_text_poke_trap_path;
	struct jump_entry *entry;
	void *addr;

	for (; function->start; function++)
		KUNIT_EXPECT_TRUE(test, text_poke_in_trap_path(function->start));
	KUNIT_EXPECT_TRUE(test, text_poke_in_trap_path(text_poke_handle_trap));
	KUNIT_EXPECT_TRUE(test, text_poke_in_trap_path(arch_text_poke_emulate));
	KUNIT_EXPECT_FALSE(test, text_poke_in_trap_path(text_poke_batch_add));
	KUNIT_EXPECT_FALSE(test, text_poke_in_trap_path(NULL));

	for (entry = __start___jump_table; entry < __stop___jump_table; entry++) {
		addr = (void *)jump_entry_code(entry);
		KUNIT_EXPECT_FALSE_MSG(test, text_poke_in_trap_path(addr),
				       "static key at %pS", addr);
	}
}

/* What it is if no case changes it. */
static u64 arming_ns;

static int text_poke_test_init(struct kunit *test)
{
	text_poke_test_nop(insns.nop);
	text_poke_test_jump(insns.jump, site_addr(), text_poke_test_target);
	text_poke_test_call(insns.call, site_addr(), text_poke_test_callee);
	text_poke_test_odd(insns.odd);
	has_unencodable = text_poke_test_unencodable(insns.unencodable);

	arming_ns = text_poke_arming_ns;
	count_from_here();
	return 0;
}

/* Whatever a case has done, the next one starts from the same text. */
static void text_poke_test_exit(struct kunit *test)
{
	text_poke_arming_ns = arming_ns;
	text_poke_test_replace_nothing();
	KUNIT_EXPECT_TRUE(test, site_is(insns.nop));
	KUNIT_EXPECT_TRUE(test, field_is(insns.nop));
}

static struct kunit_case text_poke_cases[] = {
	KUNIT_CASE(direct_when_no_event_listens),
	KUNIT_CASE(guarded_without_records_when_it_must_be),
	KUNIT_CASE(guarded_when_an_event_listens),
	KUNIT_CASE(guarded_batches_go_step_by_step),
	KUNIT_CASE(wrong_old_bytes_change_nothing),
	KUNIT_CASE(unknown_old_bytes_are_read),
	KUNIT_CASE(no_change_is_no_batch),
	KUNIT_CASE(bad_lengths_are_refused),
	KUNIT_CASE(misaligned_sites_are_refused),
	KUNIT_CASE(addresses_outside_text_are_refused),
	KUNIT_CASE(early_pokes_outside_text_are_refused),
	KUNIT_CASE(early_pokes_of_live_text_are_refused),
	KUNIT_CASE(unencodable_branches_are_refused),
	KUNIT_CASE(instructions_nothing_can_emulate_are_refused),
#ifdef TEXT_POKE_TEST_NOTRAP
	KUNIT_CASE(sites_that_cannot_trap_are_exchanged),
#endif
	KUNIT_CASE(duplicates_change_nothing),
	KUNIT_CASE(overlaps_change_nothing),
	KUNIT_CASE(literals_are_checked_and_written),
	KUNIT_CASE(literals_need_no_guard),
	KUNIT_CASE(literals_come_before_the_branches_that_use_them),
	KUNIT_CASE(cancelled_sites_stay),
	KUNIT_CASE(large_batches_sync_once_and_map_once_per_page),
	KUNIT_CASE(large_guarded_batches_sync_once_per_wave),
	KUNIT_CASE_SLOW(groups_arm_for_a_bounded_time),
	KUNIT_CASE_SLOW(starving_pokers_do_not_leave_traps_armed),
	KUNIT_CASE(sites_may_come_in_any_order),
	KUNIT_CASE(runs_of_sites_may_come_in_any_order),
	KUNIT_CASE(duplicates_far_apart_change_nothing),
	KUNIT_CASE(failed_direct_batches_are_rolled_back),
	KUNIT_CASE(failed_guarded_batches_are_rolled_back),
	KUNIT_CASE(failed_waves_are_rolled_back),
	KUNIT_CASE(failed_groups_take_those_before_them_back),
	KUNIT_CASE(failed_rollbacks_keep_the_traps_served),
	KUNIT_CASE(batches_work_after_a_rollback),
	KUNIT_CASE(handler_emulates_the_new_instruction),
	KUNIT_CASE(handler_acts_at_both_ends_of_the_range),
	KUNIT_CASE(handler_finds_every_site_and_no_other),
	KUNIT_CASE(traps_are_told_with_their_site),
	KUNIT_CASE(retiring_waits_for_handlers),
	KUNIT_CASE(listeners_wait_for_the_batch),
	KUNIT_CASE(listeners_do_not_wait_for_the_mutex),
	KUNIT_CASE(traps_of_no_site_are_not_handled),
	KUNIT_CASE(vanished_traps_are_executed_again),
	KUNIT_CASE(rereads_are_bounded),
	KUNIT_CASE_SLOW(other_cpus_see_old_or_new),
	KUNIT_CASE(no_jump_label_in_the_trap_path),
	{}
};

static struct kunit_suite text_poke_suite = {
	.name		= "text_poke",
	.init		= text_poke_test_init,
	.exit		= text_poke_test_exit,
	.test_cases	= text_poke_cases,
};

kunit_test_suite(text_poke_suite);

MODULE_DESCRIPTION("KUnit test of the text poke core");
MODULE_LICENSE("GPL");
