// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of the runtime checker: it has nothing against the protocol, and
 * sees each step that is left out or comes out of turn.
 *
 * Only what does no harm is broken here; see busted.h for the rest.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/text_poke_test.h>

#include "busted.h"
#include "debug.h"
#include "test.h"

/**
 * struct broken - a step that goes wrong
 * @name:	of the case
 * @step:	what goes wrong
 * @unheard:	there is no listener
 * @others:	only where there are other CPUs
 * @preempt:	only where preemption is counted
 * @complaint:	what the checker says
 * @with_tail:	what it says where a site has a tail, if that is something else
 */
struct broken {
	const char *name;
	enum text_poke_busted step;
	bool unheard;
	bool others;
	bool preempt;
	const char *complaint;
	const char *with_tail;
};

#define BROKEN(what, ...) \
	{ .name = #what, .step = TEXT_POKE_BUSTED_##what, __VA_ARGS__ }

static const struct broken broken[] = {
	BROKEN(NOTHING),
	BROKEN(NOTHING, .unheard = true),
	BROKEN(ALWAYS_DIRECT,
	       .complaint = "unguarded although somebody listens"),
	BROKEN(MUTEX_DROPPED, .complaint = "text_mutex is not held"),
	BROKEN(PUBLISH_LATE,
	       .complaint = "a trap without a published batch"),
	BROKEN(RETIRE_EARLY, .complaint = "retired while it may still trap"),
	BROKEN(NO_TRAP, .complaint = "a record out of turn"),
	BROKEN(NO_UNIT, .complaint = "a group ends while it traps"),
	BROKEN(UNIT_BEFORE_TAIL, .complaint = "a unit out of turn"),
	BROKEN(NO_FLUSH, .complaint = "not flushed before a sync"),
	BROKEN(FLUSH_ELSEWHERE, .complaint = "not flushed before a sync"),
	BROKEN(UNMAP_LATE, .complaint = "flushed with the alias mapped"),
	BROKEN(PREEMPTIBLE, .preempt = true,
	       .complaint = "the poker may be preempted while sites trap"),
	BROKEN(NO_SYNC_C, .complaint = "a record out of turn"),
	BROKEN(NO_SYNC_E, .complaint = "a unit out of turn"),
	BROKEN(NO_SYNC_G, .complaint = "a group ends while it traps"),
	BROKEN(SYNC_SELF, .others = true,
	       .complaint = "a CPU has not refetched in a sync"),
	BROKEN(RECORD_EARLY, .complaint = "a record out of turn"),
	BROKEN(RECORD_LATE, .complaint = "a unit out of turn",
	       .with_tail = "a tail out of turn"),
};

static void name_of(const struct broken *b, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s%s", b->name,
		 b->unheard ? ", unheard" : "");
}

KUNIT_ARRAY_PARAM(broken, broken, name_of);

static void poke_broken(struct kunit *test, enum text_poke_busted step,
			const void *old, const void *new)
{
	int ret, before;

	guard(own_pokes)();
	before = text_poke_busted_step;
	text_poke_test_hear(true);
	WRITE_ONCE(text_poke_busted_step, step);
	ret = text_poke_single(site_addr(), old, new, LEN, NULL);
	WRITE_ONCE(text_poke_busted_step, before);
	text_poke_test_hear(false);
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static const char *complaint_of(const struct broken *b)
{
	return TAIL && b->with_tail ? b->with_tail : b->complaint;
}

static void checker_notices(struct kunit *test)
{
	const struct broken *b = test->param_value;
	u8 nop[LEN], jump[LEN];

	if (b->others && num_online_cpus() == 1)
		kunit_skip(test, "there is one CPU");
	if (b->preempt && !IS_ENABLED(CONFIG_PREEMPT_COUNT))
		kunit_skip(test, "nobody counts preemption");
	if (!b->unheard)
		text_poke_test_listen(test);
	text_poke_test_nop(nop);
	text_poke_test_jump(jump, site_addr(), text_poke_test_target);

	text_poke_test_said = NULL;
	poke_broken(test, b->step, nop, jump);
	if (b->complaint)
		KUNIT_EXPECT_STREQ(test, text_poke_test_said, complaint_of(b));
	else
		KUNIT_EXPECT_NULL(test, text_poke_test_said);

	/* It may be a trap, which is not to be replaced. */
	KUNIT_EXPECT_EQ(test, 0, put_unasked(site_addr(), nop, LEN));
	text_poke_test_said = NULL;
	poke_broken(test, TEXT_POKE_BUSTED_NOTHING, nop, jump);
	poke_broken(test, TEXT_POKE_BUSTED_NOTHING, jump, nop);
	KUNIT_EXPECT_NULL(test, text_poke_test_said);
}

static void let_go_of_a_held_batch(void)
{
	static const atomic_t held = ATOMIC_INIT(1);

	text_poke_check_let_go(&held);
}

static void map_twice(void)
{
	text_poke_check_mapped(true);
	text_poke_check_mapped(true);
	text_poke_check_mapped(false);
}

static void sync_while_mapped(void)
{
	text_poke_check_mapped(true);
	text_poke_check_sync_begin();
	text_poke_check_mapped(false);
	text_poke_check_all_refetched();
	text_poke_check_sync_end();
}

static void store_often(void)
{
	struct text_poke_site literal = {
		.addr = site_addr(), .len = LEN, .data = true,
	};
	unsigned int i;

	text_poke_check_mapped(true);
	for (i = 0; i <= TEXT_POKE_STORES; i++)
		text_poke_check_store(&literal, STORED_WHOLE);
	text_poke_check_mapped(false);
}

/* What no single step of the core would do wrong for long enough. */
static void checker_knows_what_it_is_told(struct kunit *test)
{
	static const struct {
		void (*tell)(void);
		const char *complaint;
	} told[] = {
		{ let_go_of_a_held_batch, "retired while a handler holds it" },
		{ map_twice, "an alias was left mapped" },
		{ sync_while_mapped, "synced with the alias mapped" },
		{ store_often, "too many stores through one mapping" },
	};
	int i;

	guard(own_pokes)();
	text_poke_test_hear(true);
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		text_poke_test_said = NULL;
		told[i].tell();
		text_poke_check_end();
		KUNIT_EXPECT_STREQ(test, text_poke_test_said,
				   told[i].complaint);
	}
	text_poke_test_hear(false);
}

static struct kunit_case debug_cases[] = {
	KUNIT_CASE_PARAM(checker_notices, broken_gen_params),
	KUNIT_CASE(checker_knows_what_it_is_told),
	{}
};

static struct kunit_suite debug_suite = {
	.name		= "text_poke_debug",
	.test_cases	= debug_cases,
};

kunit_test_suite(debug_suite);

MODULE_DESCRIPTION("KUnit test of the text poke core's runtime checker");
MODULE_LICENSE("GPL");
