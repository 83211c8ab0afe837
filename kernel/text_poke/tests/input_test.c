// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of bad input: whatever is asked for, and wherever in a batch, the
 * answer is the error that <linux/text_poke.h> promises, nothing is written and
 * nothing is recorded.
 *
 * Which instructions are no good is in the tables of the conformance test.
 */
#include <kunit/test.h>
#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/delay.h>
#include <linux/execmem.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/text_poke.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "../fault.h"
#include "test.h"

static u8 nop[LEN], jump[LEN], odd[LEN];
static u8 too_long[TEXT_POKE_MAX + 1];

/* What is not text, though it could hold instructions. */
static const u8 rodata[LEN] __aligned(8) = { 1 };
static u8 data[LEN] __aligned(8) = { 1 };
static void *nowhere, *heap, *stack, *vmalloced, *unformed, *freed, *bug;

/**
 * struct bad_input - what the core has to turn down
 * @name:	of the case
 * @addr:	where; NULL: at text_poke_test_site
 * @at:	where the address is kept, if it is known only later
 * @old:	what is said to be there; NULL: nothing is
 * @new:	what shall be there
 * @len:	length of both
 * @error:	what is returned
 */
struct bad_input {
	const char *name;
	const void *addr;
	void *const *at;
	const void *old;
	const void *new;
	size_t len;
	int error;
};

#define OUTSIDE(what, ...) \
	{ .name = what, .new = nop, .len = LEN, .error = -ENXIO, __VA_ARGS__ }

static const struct bad_input inputs[] = {
	OUTSIDE("NULL", .at = &nowhere),
	OUTSIDE("user space", .addr = (void *)0x10000),
	OUTSIDE("the last address", .addr = (void *)-(long)LEN),
	OUTSIDE("in front of the text", .addr = _stext - 8),
	OUTSIDE("after the text", .addr = _etext),
	OUTSIDE("read-only data", .addr = rodata),
	OUTSIDE("data", .addr = data),
	OUTSIDE("the heap", .at = &heap),
	OUTSIDE("a stack", .at = &stack),
	OUTSIDE("vmalloc", .at = &vmalloced),
	OUTSIDE("a module that is not formed", .at = &unformed),
	OUTSIDE("a module that was freed", .at = &freed),
	{ "no bytes", .new = jump, .error = -EINVAL },
	{ "no bytes at all", .addr = _stext, .new = jump, .error = -EINVAL },
	{ "too many bytes", .new = too_long, .len = TEXT_POKE_MAX + 1,
	  .error = -EINVAL },
	{ "no instruction", .len = LEN, .error = -EINVAL },
	{ "other old bytes", .old = jump, .new = jump, .len = LEN,
	  .error = -EILSEQ },
	{ "what nothing can emulate", .old = nop, .new = odd, .len = LEN,
	  .error = -EOPNOTSUPP },
	{ "BUG()", .at = &bug, .new = nop, .len = LEN, .error = -EINVAL },
	{ "a probe of BUG()", .at = &bug, .new = TEXT_POKE_TEST_PROBE,
	  .len = TEXT_POKE_UNIT, .error = -EINVAL },
	{ "a probe of the trap handler", .addr = text_poke_handle_trap,
	  .new = TEXT_POKE_TEST_PROBE, .len = TEXT_POKE_UNIT,
	  .error = -EOPNOTSUPP },
	{ "a probe of what it calls", .addr = arch_text_poke_emulate,
	  .new = TEXT_POKE_TEST_PROBE, .len = TEXT_POKE_UNIT,
	  .error = -EOPNOTSUPP },
};

static const struct bad_input arch_inputs[] = TEXT_POKE_TEST_BAD_INPUTS;

static void name_of(const struct bad_input *bad, char *desc)
{
	strscpy(desc, bad->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(inputs, inputs, name_of);
KUNIT_ARRAY_PARAM(arch_inputs, arch_inputs, name_of);

static void *addr_of(const struct bad_input *bad)
{
	if (bad->at)
		return *bad->at;
	return bad->addr ? (void *)bad->addr : site_addr();
}

/* In front of the bad one: none, one, and more than fit without memory. */
static const unsigned int places[] = { 0, 1, 100 };

static int queue_field(unsigned int nr, const u8 *old, const u8 *new)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < nr; i++)
		ret = text_poke_batch_add(field_addr(i), old, new, LEN, NULL);
	return ret;
}

/* Which sites of the field do not hold @insn below @nr, and a nop from there? */
static unsigned int count_wrong(unsigned int nr, const u8 *insn)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < TEXT_POKE_TEST_FIELD; i++)
		wrong += !!text_poke_verify(field_addr(i), i < nr ? insn : nop,
					    LEN);
	return wrong;
}

static int queue_good_ones(unsigned int nr)
{
	u8 branch[LEN];

	text_poke_test_jump(branch, field_addr(0), field_addr(1));
	return queue_field(nr, nop, branch);
}

static bool texts_are_untouched(void)
{
	return !count_wrong(0, nop) && !text_poke_verify(site_addr(), nop, LEN);
}

/* The good ones are given up, as callers do when one of theirs is refused. */
static void add_bad_one(struct kunit *test, const struct bad_input *bad,
			unsigned int place)
{
	u8 before[LEN] = {}, after[LEN] = {};
	void *addr = addr_of(bad);

	copy_from_kernel_nofault(before, addr, LEN);
	scoped_guard(own_pokes) {
		KUNIT_EXPECT_EQ(test, 0, queue_good_ones(place));
		KUNIT_EXPECT_EQ_MSG(test, bad->error,
				    text_poke_batch_add(addr, bad->old, bad->new,
							bad->len, NULL),
				    "after %u others", place);
		text_poke_batch_cancel();
	}
	copy_from_kernel_nofault(after, addr, LEN);
	KUNIT_EXPECT_MEMEQ(test, before, after, LEN);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.refused, 1);
}

static void check_input(struct kunit *test, const struct bad_input *bad)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		text_poke_test_stats = (struct text_poke_stats) {};
		add_bad_one(test, bad, places[i]);
		KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, 0);
		KUNIT_EXPECT_EQ(test, text_poke_test_stats.mappings, 0);
		KUNIT_EXPECT_EQ(test, text_poke_test_stats.records, 0);
	}
	KUNIT_EXPECT_TRUE(test, texts_are_untouched());
}

static void bad_inputs_change_nothing(struct kunit *test)
{
	const struct bad_input *bad = test->param_value;

	if (bad->at == &bug && !bug)
		kunit_skip(test, "no BUG() in this kernel");
	check_input(test, bad);
	text_poke_test_listen(test);
	check_input(test, bad);
}

static void bad_inputs_of_this_architecture_do_not_either(struct kunit *test)
{
	bad_inputs_change_nothing(test);
}

/* A refused site is not in the batch; those beside it are written. */
static void others_of_the_batch_are_still_good(struct kunit *test)
{
	u8 branch[LEN];

	text_poke_test_jump(branch, field_addr(0), field_addr(1));
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, queue_good_ones(1));
	KUNIT_EXPECT_EQ(test, -EILSEQ,
			text_poke_batch_add(site_addr(), jump, jump, LEN, NULL));
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(field_addr(0), branch, LEN));
	KUNIT_EXPECT_EQ(test, 0, text_poke_single(field_addr(0), branch, nop,
						  LEN, NULL));
}

/* Until the init text is freed it is text; then it is not, though still there. */
static void init_text_that_goes_is_refused(struct kunit *test)
{
	u8 *addr = (u8 *)ALIGN((unsigned long)_sinittext, 8);
	enum system_states state = system_state;
	u8 before[LEN];

	if (state >= SYSTEM_FREEING_INITMEM)
		kunit_skip(test, "it has gone");

	memcpy(before, addr, LEN);
	scoped_guard(own_pokes) {
		system_state = SYSTEM_FREEING_INITMEM;
		KUNIT_EXPECT_EQ(test, -ENXIO, text_poke_single(addr, NULL, nop,
							       LEN, NULL));
		KUNIT_EXPECT_EQ(test, -ENXIO, text_poke_early(addr, NULL, nop,
							      LEN));
		system_state = state;
	}
	KUNIT_EXPECT_MEMEQ(test, before, addr, LEN);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, 0);
}

#ifdef CONFIG_FAIL_TEXT_POKE
/* There is no event to be told of it, and nothing to be taken back. */
static void early_pokes_need_an_alias(struct kunit *test)
{
	u8 before[LEN];

	memcpy(before, unformed, LEN);
	guard(own_pokes)();
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_EQ(test, -EFAULT, text_poke_early(unformed, NULL, nop,
						       LEN));
	text_poke_fail_no_more();
	KUNIT_EXPECT_MEMEQ(test, before, unformed, LEN);
	KUNIT_EXPECT_EQ(test, 0, text_poke_early(unformed, before, nop, LEN));
	KUNIT_EXPECT_MEMEQ(test, nop, unformed, LEN);
}
#endif

/* Where modules are put, but there is none. */
static void early_pokes_need_memory(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EFAULT, text_poke_early(freed, NULL, nop, LEN));
	KUNIT_EXPECT_EQ(test, -EINVAL, text_poke_early(unformed, NULL, nop, 0));
	KUNIT_EXPECT_EQ(test, -EILSEQ, text_poke_early(unformed, jump, nop, LEN));
}

static void what_cannot_be_compared_is_no_match(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EINVAL, text_poke_verify(site_addr(), too_long,
							sizeof(too_long)));
	KUNIT_EXPECT_EQ(test, -EFAULT, text_poke_verify(freed, nop, LEN));
	KUNIT_EXPECT_EQ(test, -EILSEQ, text_poke_verify(site_addr(), jump, LEN));
}

/* There is an alias, or a store, for each byte, or an error. */
static void stores_to_nowhere_fail(struct kunit *test)
{
	static const size_t lens[] = { 1, 2, 3, 4, 8 };
	int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		KUNIT_EXPECT_EQ(test, -EFAULT, arch_text_poke_store(freed,
								    too_long,
								    lens[i]));
}

#ifdef text_poke_test_debugger_store
/* They write where the core would not. */
static void debuggers_write_read_only_data(struct kunit *test)
{
	static const u8 other[LEN] = { 2 };
	u8 before[LEN];

	memcpy(before, rodata, LEN);
	guard(own_pokes)();
	text_poke_test_debugger_store((void *)rodata, other, LEN);
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(rodata, other, LEN));
	text_poke_test_debugger_store((void *)rodata, before, LEN);
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(rodata, before, LEN));
}
#endif

#ifdef CONFIG_KGDB
static void breakpoints_of_a_debugger_are_other_old_bytes(struct kunit *test)
{
	const u8 *trap = arch_kgdb_ops.gdb_bpt_instr;

	KUNIT_ASSERT_EQ(test, 0, put_unasked(site_addr(), trap,
					     BREAK_INSTR_SIZE));
	KUNIT_EXPECT_EQ(test, -EILSEQ, poke(site_addr(), nop, jump, LEN));
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(site_addr(), trap,
						  BREAK_INSTR_SIZE));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, 0);
	KUNIT_EXPECT_EQ(test, 0, put_unasked(site_addr(), nop, LEN));
}
#endif

/* What a caller is told that may not call. */
struct answers {
	int add;
	int finish;
	int single;
};

/* A site that would be good, were it not for the text that is said to be there. */
static int ask_to_add(void)
{
	return text_poke_batch_add(site_addr(), jump, jump, LEN, NULL);
}

static void ask(struct answers *answers)
{
	answers->add = ask_to_add();
	answers->finish = text_poke_batch_finish();
	answers->single = text_poke_single(site_addr(), jump, jump, LEN, NULL);
}

/*
 * Another task may hold it, and its batch would be finished: without lockdep it
 * is taken for the caller's.
 */
static void ask_without_the_mutex(struct answers *answers)
{
	int i;

	if (IS_ENABLED(CONFIG_LOCKDEP)) {
		ask(answers);
		return;
	}
	for (i = 0; i < 100 && answers->add != -EBUSY; i++) {
		if (i)
			msleep(20);
		answers->add = ask_to_add();
	}
	answers->finish = answers->add;
	answers->single = answers->add;
}

static void ask_with_interrupts_off(struct answers *answers)
{
	guard(own_pokes)();
	guard(irqsave)();
	ask(answers);
}

static void ask_with_bottom_halves_off(struct answers *answers)
{
	guard(own_pokes)();
	local_bh_disable();
	ask(answers);
	local_bh_enable();
}

#ifdef CONFIG_KPROBES
/* A probe with one of these stays a breakpoint. */
static void after_probe(struct kprobe *probe, struct pt_regs *regs,
			unsigned long flags)
{
}

/* What another user has put there is not taken for the instruction. */
static void foreign_breakpoints_are_other_old_bytes(struct kunit *test)
{
	struct kprobe probe = {
		.addr		= site_addr(),
		.post_handler	= after_probe,
	};

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&probe));
	KUNIT_EXPECT_EQ(test, -EILSEQ, poke(site_addr(), nop, jump, LEN));
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, 0);
	KUNIT_EXPECT_EQ(test, text_poke_test_fn(), 1);
	unregister_kprobe(&probe);
}
#endif

/* KUnit looks for its stubs with a lock, which lockdep does not want in an NMI. */
#if defined(CONFIG_KPROBES) && !defined(CONFIG_LOCKDEP)
#define HAVE_PROBE_THAT_ASKS

static struct answers *asked_by_probe;

static int ask_from_probe(struct kprobe *probe, struct pt_regs *regs)
{
	ask(asked_by_probe);
	return 0;
}

/* A trap's handler that has something to change by itself. */
static void ask_in_a_handler(struct answers *answers)
{
	struct kprobe probe = {
		.addr		= site_addr(),
		.pre_handler	= ask_from_probe,
		.post_handler	= after_probe,
	};

	asked_by_probe = answers;
	if (register_kprobe(&probe))
		return;
	scoped_guard(own_pokes)
		text_poke_test_fn();
	unregister_kprobe(&probe);
}
#endif

/**
 * struct bad_caller - a context in which the core has to turn its caller down
 * @name:	of the case
 * @ask:	asks in that context
 * @alone:	also if there is one CPU
 */
struct bad_caller {
	const char *name;
	void (*ask)(struct answers *answers);
	bool alone;
};

static const struct bad_caller callers[] = {
	{ "without text_mutex", ask_without_the_mutex, true },
	{ "interrupts off", ask_with_interrupts_off },
	{ "bottom halves off", ask_with_bottom_halves_off },
#ifdef HAVE_PROBE_THAT_ASKS
	{ "in the handler of a trap", ask_in_a_handler },
#endif
};

static void name_of_caller(const struct bad_caller *caller, char *desc)
{
	strscpy(desc, caller->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(callers, callers, name_of_caller);

/* With one CPU there is no other to be waited for. */
static void bad_callers_are_told(struct kunit *test)
{
	const struct bad_caller *caller = test->param_value;
	struct answers answers = {};

	if (!caller->alone && num_online_cpus() == 1)
		kunit_skip(test, "there is one CPU");
	if (!caller->alone && IS_ENABLED(CONFIG_PREEMPT_RT))
		kunit_skip(test, "KUnit's lock of the stubs may sleep");
	text_poke_test_hear(true);
	caller->ask(&answers);
	text_poke_test_hear(false);

	KUNIT_EXPECT_EQ(test, answers.add, -EBUSY);
	KUNIT_EXPECT_EQ(test, answers.finish, -EBUSY);
	KUNIT_EXPECT_EQ(test, answers.single, -EBUSY);
	KUNIT_EXPECT_NOT_NULL(test, text_poke_test_said);
	KUNIT_EXPECT_EQ(test, text_poke_test_stats.batches, 0);
	KUNIT_EXPECT_TRUE(test, texts_are_untouched());
}

/* All there is to a batch of no sites is its end. */
static void empty_batches_do_nothing(struct kunit *test)
{
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	text_poke_batch_cancel();
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
}

static void poke_field(struct kunit *test, unsigned int nr, const u8 *old,
		       const u8 *new)
{
	guard(own_pokes)();
	KUNIT_EXPECT_EQ(test, 0, queue_field(nr, old, new));
	KUNIT_EXPECT_EQ(test, 0, text_poke_batch_finish());
	KUNIT_EXPECT_EQ(test, 0, count_wrong(nr, new));
}

/* Around what fits into the queue first, into its pages, and into a wave. */
static void batches_may_have_any_size(struct kunit *test)
{
	static const unsigned int sizes[] = {
		1, 2, 63, 64, 65, 128, 129, 255, 256, 257, TEXT_POKE_WAVE - 1,
		TEXT_POKE_WAVE, TEXT_POKE_WAVE + 1, TEXT_POKE_TEST_FIELD,
	};
	u8 branch[LEN];
	int i;

	text_poke_test_listen(test);
	text_poke_test_jump(branch, field_addr(0), field_addr(1));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		poke_field(test, sizes[i], nop, branch);
		poke_field(test, sizes[i], branch, nop);
	}
}

static int poke_there_and_back(unsigned int cpu)
{
	return poke(site_addr(), nop, jump, LEN) ?:
	       poke(site_addr(), jump, nop, LEN);
}

/* One that does so holds cpu_hotplug_lock, which comes before text_mutex. */
static void callbacks_of_cpu_hotplug_may_poke(struct kunit *test)
{
	int state;

	text_poke_test_listen(test);
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "text_poke:test",
				  poke_there_and_back, NULL);
	KUNIT_EXPECT_GT(test, state, 0);
	if (state > 0)
		cpuhp_remove_state(state);
	KUNIT_EXPECT_GE(test, text_poke_test_stats.guarded,
			2 * num_online_cpus());
}

#ifdef CONFIG_GENERIC_BUG
extern struct bug_entry __start___bug_table[], __stop___bug_table[];

static void *address_of(const struct bug_entry *entry)
{
#ifdef CONFIG_GENERIC_BUG_RELATIVE_POINTERS
	return (void *)&entry->bug_addr_disp + entry->bug_addr_disp;
#else
	return (void *)entry->bug_addr;
#endif
}

static bool stays(const void *addr)
{
	return is_kernel_text((unsigned long)addr) &&
	       !is_kernel_inittext((unsigned long)addr);
}

/* It may have been taken out for a CPU that has no need of it. */
static bool is_bug(void *addr)
{
	struct text_poke_site site = { .addr = addr, .len = TEXT_POKE_UNIT };

	memcpy(site.old, addr, TEXT_POKE_UNIT);
	return arch_text_poke_maybe_bug(&site);
}

/*
 * One that is not about to be freed, and not refused for where it is; NULL: there
 * is none.
 */
static void *find_some_bug(void)
{
	const struct bug_entry *entry;

	for (entry = __start___bug_table; entry < __stop___bug_table; entry++)
		if (stays(address_of(entry)) &&
		    arch_text_poke_trappable(address_of(entry)) &&
		    is_bug(address_of(entry)))
			return address_of(entry);
	return NULL;
}
#else
static void *find_some_bug(void)
{
	return NULL;
}
#endif

/* A module's text while it is put together is as writable as any memory. */
static void *alloc_text(void)
{
	void *text = execmem_alloc(EXECMEM_MODULE_TEXT, PAGE_SIZE);

	if (text)
		memset(text, 0, PAGE_SIZE);
	return text;
}

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(number, one);

/*
 * Some architectures keep what no CPU can execute.  Its call has a site of its
 * own, to be changed as the kernel boots: it is no text, and no error either.
 */
static int __exit call_at_exit(void)
{
	return static_call(number)();
}

static void static_calls_of_exit_code_are_no_error(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, static_call(number)(), 1);
	static_call_update(number, two);
	KUNIT_EXPECT_EQ(test, static_call(number)(), 2);
	static_call_update(number, one);
}

static bool called;

static void call(void)
{
	called = true;
}

DEFINE_STATIC_CALL_NULL(nothing, call);

/* What is there at first is no instruction that any user would put there. */
static void static_calls_may_begin_with_nothing(struct kunit *test)
{
	called = false;
	static_call_cond(nothing)();
	KUNIT_EXPECT_FALSE(test, called);
	static_call_update(nothing, call);
	static_call_cond(nothing)();
	KUNIT_EXPECT_TRUE(test, called);
	static_call_update(nothing, NULL);
	called = false;
	static_call_cond(nothing)();
	KUNIT_EXPECT_FALSE(test, called);
}

static int input_suite_init(struct kunit_suite *suite)
{
	text_poke_test_nop(nop);
	text_poke_test_jump(jump, site_addr(), text_poke_test_target);
	text_poke_test_odd(odd);

	heap = kzalloc(LEN, GFP_KERNEL);
	vmalloced = vzalloc(PAGE_SIZE);
	bug = find_some_bug();
	unformed = alloc_text();
	freed = alloc_text();
	if (!heap || !vmalloced || !unformed || !freed)
		return -ENOMEM;
	execmem_free(freed);
	vm_unmap_aliases();
	return 0;
}

static void input_suite_exit(struct kunit_suite *suite)
{
	kfree(heap);
	vfree(vmalloced);
	if (unformed)
		execmem_free(unformed);
}

static int input_init(struct kunit *test)
{
	stack = current->stack;
	text_poke_test_stats = (struct text_poke_stats) {};
	return 0;
}

static struct kunit_case input_cases[] = {
	KUNIT_CASE_PARAM(bad_inputs_change_nothing, inputs_gen_params),
	KUNIT_CASE_PARAM(bad_inputs_of_this_architecture_do_not_either,
			 arch_inputs_gen_params),
	KUNIT_CASE(others_of_the_batch_are_still_good),
	KUNIT_CASE(init_text_that_goes_is_refused),
	KUNIT_CASE(early_pokes_need_memory),
#ifdef CONFIG_FAIL_TEXT_POKE
	KUNIT_CASE(early_pokes_need_an_alias),
#endif
	KUNIT_CASE(what_cannot_be_compared_is_no_match),
	KUNIT_CASE(stores_to_nowhere_fail),
#ifdef text_poke_test_debugger_store
	KUNIT_CASE(debuggers_write_read_only_data),
#endif
#ifdef CONFIG_KPROBES
	KUNIT_CASE(foreign_breakpoints_are_other_old_bytes),
#endif
#ifdef CONFIG_KGDB
	KUNIT_CASE(breakpoints_of_a_debugger_are_other_old_bytes),
#endif
	KUNIT_CASE_PARAM(bad_callers_are_told, callers_gen_params),
	KUNIT_CASE(empty_batches_do_nothing),
	KUNIT_CASE(batches_may_have_any_size),
	KUNIT_CASE(callbacks_of_cpu_hotplug_may_poke),
	KUNIT_CASE(static_calls_of_exit_code_are_no_error),
	KUNIT_CASE(static_calls_may_begin_with_nothing),
	{}
};

static struct kunit_suite input_suite = {
	.name		= "text_poke_input",
	.suite_init	= input_suite_init,
	.suite_exit	= input_suite_exit,
	.init		= input_init,
	.test_cases	= input_cases,
};

kunit_test_suite(input_suite);

MODULE_DESCRIPTION("KUnit test of what the text poke core refuses");
MODULE_LICENSE("GPL");
