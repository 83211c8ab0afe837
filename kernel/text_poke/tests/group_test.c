// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of text groups: one batch for all, and all or nothing.
 */
#include <kunit/test.h>
#include <linux/jump_label.h>
#include <linux/static_call.h>
#include <linux/text_group.h>
#include <linux/text_poke.h>

#include "../fault.h"
#include "test.h"

#define KEYS 4

static DEFINE_STATIC_KEY_ARRAY_FALSE(keys, KEYS);

static noinline int branches_taken(void)
{
	int taken = 0;

	if (static_branch_unlikely(&keys[0]))
		taken++;
	if (static_branch_unlikely(&keys[1]))
		taken++;
	if (static_branch_unlikely(&keys[2]))
		taken++;
	if (static_branch_unlikely(&keys[3]))
		taken++;
	return taken;
}

/* A key with more sites than there is room for without memory. */
static DEFINE_STATIC_KEY_FALSE(wide);

#define WIDE 80

static __always_inline int branch(void)
{
	return static_branch_unlikely(&wide) ? 1 : 0;
}

static __always_inline int four_branches(void)
{
	return branch() + branch() + branch() + branch();
}

static __always_inline int twenty_branches(void)
{
	return four_branches() + four_branches() + four_branches() +
	       four_branches() + four_branches();
}

static noinline int wide_branches_taken(void)
{
	return twenty_branches() + twenty_branches() + twenty_branches() +
	       twenty_branches();
}

static int keys_enabled(void)
{
	int i, enabled = 0;

	for (i = 0; i < KEYS; i++)
		enabled += static_key_enabled(&keys[i]);
	return enabled;
}

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(text_group_test_answer, one);

static noinline int answer(void)
{
	int said = static_call(text_group_test_answer)();

	/* Lest it becomes a jump. */
	barrier();
	return said;
}

static void add_call(struct text_group *group, struct text_change *change,
		     int (*func)(void))
{
	text_group_call_by_name(group, change, text_group_test_answer, func);
}

/* The keys, and the call. */
static int change_all(struct text_change *changes, bool on)
{
	TEXT_GROUP(group);
	int i, ret;

	for (i = 0; i < KEYS; i++)
		text_group_key(&group, &changes[i], &keys[i].key, on);
	add_call(&group, &changes[KEYS], on ? two : one);
	text_poke_test_count_anew();
	ret = text_group_commit(&group);
	return list_empty(&group.changes) ? ret : -EBUSY;
}

static void expect_all(struct kunit *test, bool on)
{
	KUNIT_EXPECT_EQ(test, branches_taken(), on ? KEYS : 0);
	KUNIT_EXPECT_EQ(test, keys_enabled(), on ? KEYS : 0);
	KUNIT_EXPECT_EQ(test, answer(), on ? 2 : 1);
}

static void many_take_one_batch(struct kunit *test)
{
	struct text_change changes[KEYS + 1];

	KUNIT_EXPECT_EQ(test, 0, change_all(changes, true));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	expect_all(test, true);
	KUNIT_EXPECT_EQ(test, 0, change_all(changes, false));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	expect_all(test, false);
}

static void what_is_so_already_takes_none(struct kunit *test)
{
	TEXT_GROUP(group);
	struct text_change changes[KEYS + 1];

	KUNIT_EXPECT_EQ(test, 0, text_group_commit(&group));
	KUNIT_EXPECT_EQ(test, 0, change_all(changes, false));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 0);
	expect_all(test, false);
}

/* Another task may come first: the state counts that is there at the commit. */
static void states_are_looked_at_late(struct kunit *test)
{
	TEXT_GROUP(group);
	struct text_change changes[2];

	text_group_key(&group, &changes[0], &keys[0].key, true);
	add_call(&group, &changes[1], two);
	static_branch_enable(&keys[0]);
	static_call_update(text_group_test_answer, two);
	text_poke_test_count_anew();
	KUNIT_EXPECT_EQ(test, 0, text_group_commit(&group));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 0);
	KUNIT_EXPECT_EQ(test, branches_taken(), 1);
	KUNIT_EXPECT_EQ(test, keys_enabled(), 1);

	static_branch_disable(&keys[0]);
	static_call_update(text_group_test_answer, one);
	expect_all(test, false);
}

static void twice_in_a_group_is_an_error(struct kunit *test)
{
	TEXT_GROUP(group);
	struct text_change changes[2];

	text_group_key(&group, &changes[0], &keys[0].key, true);
	text_group_key(&group, &changes[1], &keys[0].key, false);
	KUNIT_EXPECT_EQ(test, -EEXIST, text_group_commit(&group));
	KUNIT_EXPECT_EQ(test, 0, changes[0].error);
	KUNIT_EXPECT_EQ(test, -EEXIST, changes[1].error);
	KUNIT_EXPECT_EQ(test, branches_taken(), 1);
	static_branch_disable(&keys[0]);
	expect_all(test, false);
}

/* The order of the two does not matter, nor does what the key was. */
static void twice_is_an_error_if_enabled_before(struct kunit *test)
{
	TEXT_GROUP(group);
	struct text_change changes[2];

	static_branch_enable(&keys[0]);
	text_group_key(&group, &changes[0], &keys[0].key, false);
	text_group_key(&group, &changes[1], &keys[0].key, true);
	KUNIT_EXPECT_EQ(test, -EEXIST, text_group_commit(&group));
	KUNIT_EXPECT_EQ(test, 0, changes[0].error);
	KUNIT_EXPECT_EQ(test, -EEXIST, changes[1].error);
	expect_all(test, false);
}

static int change_wide(struct text_change *changes, bool on)
{
	TEXT_GROUP(group);

	text_group_key(&group, &changes[0], &keys[0].key, on);
	text_group_key(&group, &changes[1], &wide.key, on);
	return text_group_commit(&group);
}

static void expect_wide(struct kunit *test, bool on)
{
	KUNIT_EXPECT_EQ(test, branches_taken(), on ? 1 : 0);
	KUNIT_EXPECT_EQ(test, keys_enabled(), on ? 1 : 0);
	KUNIT_EXPECT_EQ(test, wide_branches_taken(), on ? WIDE : 0);
	KUNIT_EXPECT_EQ(test, static_key_enabled(&wide), on);
}

/* One site of many finds no room: none of them changes, nor does another key. */
static void a_queue_without_memory_changes_none(struct kunit *test)
{
	struct text_change changes[2];
	int i;

	for (i = 0; i < 2; i++) {
		bool on = !i;

		text_poke_test_count_anew();
		text_poke_fail_at(TEXT_POKE_FAULT_QUEUE, 0);
		KUNIT_EXPECT_EQ(test, -ENOMEM, change_wide(changes, on));
		text_poke_fail_no_more();
		KUNIT_EXPECT_EQ(test, text_poke_test_failures, 1);
		KUNIT_EXPECT_EQ(test, -ENOMEM, changes[0].error);
		KUNIT_EXPECT_EQ(test, -ENOMEM, changes[1].error);
		expect_wide(test, !on);
		/* And tried again. */
		KUNIT_EXPECT_EQ(test, 0, change_wide(changes, on));
		expect_wide(test, on);
	}
}

static void expect_failure(struct kunit *test, bool on)
{
	struct text_change changes[KEYS + 1];
	int i;

	KUNIT_EXPECT_NE(test, 0, change_all(changes, on));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, text_poke_test_failures, 1);
	for (i = 0; i < KEYS; i++)
		KUNIT_EXPECT_NE(test, 0, changes[i].error);
	expect_all(test, !on);
	/* And tried again. */
	KUNIT_EXPECT_EQ(test, 0, change_all(changes, on));
	KUNIT_EXPECT_EQ(test, text_poke_test_failures, 0);
	expect_all(test, on);
}

static void all_change_or_none(struct kunit *test)
{
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	expect_failure(test, true);
	text_poke_fail_at(TEXT_POKE_FAULT_STORE, 1);
	expect_failure(test, false);
}

#ifdef CONFIG_HAVE_STATIC_CALL
/* A breakpoint where the call's trampoline was: it is left out. */
static void what_cannot_be_queued_is_left_out(struct kunit *test)
{
	void *tramp = &STATIC_CALL_TRAMP(text_group_test_answer);
	struct text_change changes[KEYS + 1];
	u8 was[TEXT_POKE_UNIT];
	int i;

	OPTIMIZER_HIDE_VAR(tramp);
	memcpy(was, tramp, sizeof(was));
	KUNIT_ASSERT_EQ(test, 0, put_unasked(tramp, TEXT_POKE_TEST_PROBE,
					     sizeof(was)));
	KUNIT_EXPECT_EQ(test, -EILSEQ, change_all(changes, true));
	KUNIT_ASSERT_EQ(test, 0, put_unasked(tramp, was, sizeof(was)));

	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	KUNIT_EXPECT_EQ(test, text_poke_test_failures, 1);
	for (i = 0; i < KEYS; i++)
		KUNIT_EXPECT_EQ(test, 0, changes[i].error);
	KUNIT_EXPECT_EQ(test, -EILSEQ, changes[KEYS].error);
	KUNIT_EXPECT_EQ(test, branches_taken(), KEYS);
	KUNIT_EXPECT_EQ(test, answer(), 1);
	KUNIT_EXPECT_EQ(test, 0, change_all(changes, false));
	expect_all(test, false);
}
#endif

static struct kunit_case group_cases[] = {
	KUNIT_CASE(many_take_one_batch),
	KUNIT_CASE(what_is_so_already_takes_none),
	KUNIT_CASE(states_are_looked_at_late),
	KUNIT_CASE(twice_in_a_group_is_an_error),
	KUNIT_CASE(twice_is_an_error_if_enabled_before),
	KUNIT_CASE(a_queue_without_memory_changes_none),
	KUNIT_CASE(all_change_or_none),
#ifdef CONFIG_HAVE_STATIC_CALL
	KUNIT_CASE(what_cannot_be_queued_is_left_out),
#endif
	{}
};

static struct kunit_suite group_suite = {
	.name		= "text_poke_group",
	.init		= text_poke_test_count_batches,
	.exit		= text_poke_test_count_no_more,
	.test_cases	= group_cases,
};

kunit_test_suite(group_suite);

MODULE_DESCRIPTION("KUnit test of text groups");
MODULE_LICENSE("GPL");
