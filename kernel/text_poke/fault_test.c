// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of what fail_text_poke makes fail: whatever it is, and whenever,
 * the text is the old one or the new one, and the next batch works.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <linux/text_poke.h>

#include <asm/text_poke_test.h>

#include "fault.h"
#include "test.h"

/* More than any way to change one instruction has of anything. */
#define MANY 20U

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

/* A queue that cannot grow is written as it is, and filled anew. */
static void queues_do_not_grow(struct kunit *test)
{
	const unsigned int nr = min_t(unsigned int, 1000, TEXT_POKE_TEST_FIELD);
	u64 batches;
	u8 step[LEN];

	text_poke_test_jump(step, field_addr(0), field_addr(1));
	guard(own_pokes)();
	batches = text_poke_stats.batches;
	text_poke_fail_at(TEXT_POKE_FAULT_QUEUE, 0);
	KUNIT_EXPECT_EQ(test, 0, queue_nops(nr, nop, step));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	KUNIT_EXPECT_EQ(test, text_poke_stats.batches, batches + 2);

	KUNIT_EXPECT_EQ(test, 0, queue_nops(nr, step, nop));
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
}

static void syncs_take_long(struct kunit *test)
{
	unsigned long start = jiffies;

	text_poke_test_listen(test);
	KUNIT_EXPECT_EQ(test, 0, poke_failing_at(TEXT_POKE_FAULT_SYNC, 1));
	KUNIT_EXPECT_GE(test, jiffies - start, msecs_to_jiffies(100));
	KUNIT_EXPECT_TRUE(test, site_is(jump));
	KUNIT_EXPECT_EQ(test, 0, poke(site_addr(), jump, nop, LEN));
}

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
#endif

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
	KUNIT_CASE(syncs_take_long),
#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
	KUNIT_CASE(slots_fail),
#endif
	{}
};

static struct kunit_suite fault_suite = {
	.name		= "text_poke_fault",
	.init		= fault_init,
	.test_cases	= fault_cases,
};

kunit_test_suite(fault_suite);

MODULE_DESCRIPTION("KUnit test of text pokes that fail");
MODULE_LICENSE("GPL");
