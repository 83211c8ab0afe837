// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of the runtime checker: it has nothing against the protocol, and
 * says what is wrong with what it is told.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include "../debug.h"
#include "test.h"

static void poke_heard(struct kunit *test, const void *old, const void *new)
{
	int ret;

	guard(own_pokes)();
	text_poke_test_hear(true);
	ret = text_poke_single(site_addr(), old, new, LEN, NULL);
	text_poke_test_hear(false);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_NULL(test, text_poke_test_said);
}

static void poke_there_and_back(struct kunit *test)
{
	u8 nop[LEN], jump[LEN];

	text_poke_test_nop(nop);
	text_poke_test_jump(jump, site_addr(), text_poke_test_target);
	poke_heard(test, nop, jump);
	poke_heard(test, jump, nop);
}

static void checker_has_nothing_against_the_protocol(struct kunit *test)
{
	poke_there_and_back(test);
	text_poke_test_listen(test);
	poke_there_and_back(test);
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
	text_poke_check_fenced(cpu_online_mask);
	text_poke_check_sync_end();
}

/* Of a change that is none. */
static void sync_while_untold(void)
{
	text_poke_record(site_addr(), site_addr(), LEN, site_addr(), LEN);
	text_poke_check_sync_begin();
	text_poke_tell();
	text_poke_check_fenced(cpu_online_mask);
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

static struct text_poke_site one, *page[1];
static struct text_poke_queue queue = { .index = { page }, .nr = 1 };

/* A guarded batch of one site, which has got to @stage before it is taken back. */
static void take_back(enum text_poke_stage stage, enum text_poke_stored what,
		      bool recorded)
{
	one = (struct text_poke_site) {
		.addr = site_addr(), .len = LEN, .trap = true,
	};
	page[0] = &one;
	text_poke_check_begin(&queue, true, recorded);
	if (recorded) {
		one.stage = STAGE_SYNCED;
		text_poke_check_record(&one);
	}
	one.stage = stage;
	text_poke_check_undo();
	text_poke_check_mapped(true);
	text_poke_check_store(&one, what);
	text_poke_check_mapped(false);
}

static void take_back_live_text(void)
{
	take_back(STAGE_DONE, STORED_UNIT, false);
}

static void take_back_as_a_whole(void)
{
	take_back(STAGE_LEFT, STORED_WHOLE, false);
}

static void take_back_what_was_recorded(void)
{
	take_back(STAGE_LEFT, STORED_UNIT, true);
}

/* This CPU is left out. */
static void fence_without_this_cpu(void)
{
	static struct cpumask others;

	guard(preempt)();
	cpumask_andnot(&others, cpu_online_mask,
		       cpumask_of(smp_processor_id()));
	text_poke_check_sync_begin();
	text_poke_check_fenced(&others);
	text_poke_check_sync_end();
}

#ifdef CONFIG_TEXT_POKE_CATCH_UP
/* A trap that was taken in user mode, as it were. */
static void sync_after_early_trap(void)
{
	raw_cpu_write(text_poke_early_trap, site_addr());
	text_poke_check_sync_begin();
	text_poke_check_fenced(cpu_online_mask);
	text_poke_check_sync_end();
}
#endif

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
		{ sync_while_untold, "synced before perf was told" },
		{ store_often, "too many stores through one mapping" },
		{ take_back_live_text, "a unit out of turn" },
		{ take_back_as_a_whole, "stored without a guard" },
		{ take_back_what_was_recorded,
		  "taken back, and no record says so" },
		{ fence_without_this_cpu, "a CPU has not refetched in a sync" },
#ifdef CONFIG_TEXT_POKE_CATCH_UP
		{ sync_after_early_trap,
		  "a site was run in what counts as user mode" },
#endif
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
	KUNIT_CASE(checker_has_nothing_against_the_protocol),
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
