// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of changes with the machine stopped, and of what makes them: probes
 * over instructions that must not be exchanged under a running CPU.
 *
 * The text is a function that has NR_INSNS of such an instruction of the
 * architecture, all the same, and then returns; NR_FNS that have one; and one for
 * events, which are refused in functions that are not traced.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/stringify.h>
#include <linux/string.h>
#include <linux/text_poke.h>
#include <linux/trace_events.h>

#include "../fault.h"
#include "../internal.h"
#include "../listener.h"
#include "test.h"

#define NR_PROBES	64
#define UNIT		TEXT_POKE_UNIT

/* Two stops and a half. */
#define NR_INSNS	320
#define NR_STOPS	DIV_ROUND_UP(NR_INSNS, TEXT_POKE_STOP_CHANGES)

static_assert(NR_INSNS > 2 * TEXT_POKE_STOP_CHANGES);
static_assert(NR_PROBES <= TEXT_POKE_STOP_CHANGES);

#define NR_FNS		4

/* Of events, in the group that kprobe_event_gen_cmd_start() puts them into. */
#define GROUP		"kprobes"
#define EVENT		"text_poke_stop_%u"
#define NR_EVENTS	16

void text_poke_test_unlisted(void);
void text_poke_test_unlisted_0(void);
void text_poke_test_unlisted_1(void);
void text_poke_test_unlisted_2(void);
void text_poke_test_unlisted_3(void);

asm("	.pushsection .text, \"ax\", @progbits\n"
	"	.balign 8\n"
	"	.type text_poke_test_unlisted, %function\n"
	"text_poke_test_unlisted:\n"
	"	.rept	" __stringify(NR_INSNS) "\n"
	"	" TEXT_POKE_TEST_UNLISTED_ASM "\n"
	"	.endr\n"
	"	ret\n"
	"	.size text_poke_test_unlisted, . - text_poke_test_unlisted\n"
	"	.irp nr, 0, 1, 2, 3\n"
	"	.balign 8\n"
	"	.type text_poke_test_unlisted_\\nr, %function\n"
	"text_poke_test_unlisted_\\nr:\n"
	"	" TEXT_POKE_TEST_UNLISTED_ASM "\n"
	"	ret\n"
	"	.size text_poke_test_unlisted_\\nr, . - text_poke_test_unlisted_\\nr\n"
	"	.endr\n"
	"	.popsection\n");

static void * const functions[NR_FNS] = {
	text_poke_test_unlisted_0,
	text_poke_test_unlisted_1,
	text_poke_test_unlisted_2,
	text_poke_test_unlisted_3,
};

/* No symbol for kallsyms, where the function would end there. */
extern char text_poke_test_events[] asm(".Ltext_poke_test_events");

static noinline __noclone void text_poke_test_traced(void)
{
	asm volatile(".Ltext_poke_test_events:\n"
		     "	.rept	" __stringify(NR_EVENTS) "\n"
		     "	" TEXT_POKE_TEST_UNLISTED_ASM "\n"
		     "	.endr\n" ::: "memory");
}

static struct kprobe probes[NR_PROBES], *all[NR_PROBES];
static struct text_poke_change changes[NR_INSNS];
static u8 insn[UNIT], other[UNIT];
static unsigned int hits, told;

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

	for (i = 0; i < NR_INSNS; i++)
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

static void fill(struct text_poke_change *change, unsigned int nr,
		 const void *old, const void *new)
{
	change->addr = addr_of(nr);
	memcpy(change->old, old, UNIT);
	memcpy(change->new, new, UNIT);
}

static void fill_all(const void *old, const void *new)
{
	unsigned int i;

	for (i = 0; i < NR_INSNS; i++)
		fill(&changes[i], i, old, new);
}

static int stopped(struct text_poke_change *changes, unsigned int nr)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	return text_poke_stopped(changes, nr);
}

/* What kprobes do not know of. */
static void put(unsigned int nr, const void *bytes)
{
	WARN_ON(put_unasked(addr_of(nr), bytes, UNIT));
}

static void hear_failed(const char *what, const void *where, int error)
{
	told++;
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
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
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
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
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
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
}

/* Two at one place: what is armed already keeps none of the others waiting. */
static void probes_may_share_an_instruction(struct kunit *test)
{
	struct kprobe other = { .addr = addr_of(3), .pre_handler = count_hit };
	u64 before;

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&other));
	before = stops();
	KUNIT_EXPECT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	text_poke_test_unlisted();
	KUNIT_EXPECT_EQ(test, hits, NR_PROBES + 1);
	before = stops();
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_TRUE(test, holds(3, TEXT_POKE_TEST_PROBE));
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS - 1);
	unregister_kprobe(&other);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
}

/* The second half at the places of the first. */
static void probes_of_one_array_may_share_instructions(struct kunit *test)
{
	u64 before = stops();
	unsigned int i;

	for (i = NR_PROBES / 2; i < NR_PROBES; i++)
		probes[i].addr = addr_of(i - NR_PROBES / 2);
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	text_poke_test_unlisted();
	KUNIT_EXPECT_EQ(test, hits, NR_PROBES);

	/* Those that are left need all of it. */
	before = stops();
	unregister_kprobes(all, NR_PROBES / 2);
	KUNIT_EXPECT_EQ(test, stops() - before, 0);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE),
			NR_PROBES / 2);
	KUNIT_EXPECT_EQ(test, 0, register_kprobes(all, NR_PROBES / 2));
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
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

static void register_disabled(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_PROBES; i++)
		probes[i].flags = KPROBE_FLAG_DISABLED;
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	KUNIT_ASSERT_EQ(test, count_holding(insn), NR_INSNS);
}

static unsigned int count_enabled(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_PROBES; i++)
		nr += !kprobe_disabled(&probes[i]);
	return nr;
}

static void probes_are_enabled_with_one_stop(struct kunit *test)
{
	u64 before;

	register_disabled(test);
	before = stops();
	KUNIT_EXPECT_EQ(test, 0, enable_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE), NR_PROBES);
	text_poke_test_unlisted();
	KUNIT_EXPECT_EQ(test, hits, NR_PROBES);

	before = stops();
	KUNIT_EXPECT_EQ(test, 0, disable_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
	KUNIT_EXPECT_EQ(test, count_enabled(), 0);
	unregister_kprobes(all, NR_PROBES);
}

/* As after a disarming that failed; the others still share a stop. */
static void breakpoints_that_are_there_hold_nothing_up(struct kunit *test)
{
	u64 before;

	register_disabled(test);
	put(5, TEXT_POKE_TEST_PROBE);
	before = stops();
	KUNIT_EXPECT_EQ(test, 0, enable_kprobes(all, NR_PROBES));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE), NR_PROBES);
	unregister_kprobes(all, NR_PROBES);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
}

/* One has another instruction there than it had: one stop, and one back. */
static void all_or_none_is_enabled(struct kunit *test)
{
	u64 before;

	register_disabled(test);
	put(5, other);
	before = stops();
	KUNIT_EXPECT_LT(test, enable_kprobes(all, NR_PROBES), 0);
	KUNIT_EXPECT_EQ(test, stops() - before, 2);
	KUNIT_EXPECT_EQ(test, told, 1);
	KUNIT_EXPECT_EQ(test, count_enabled(), 0);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS - 1);
	put(5, insn);
	unregister_kprobes(all, NR_PROBES);
}

/* The switch kprobes/enabled. */
static void the_switch_stops_it_once(struct kunit *test)
{
	u64 before;

	if (!IS_ENABLED(CONFIG_DEBUG_FS))
		kunit_skip(test, "there is no switch without debugfs");
	KUNIT_ASSERT_EQ(test, 0, register_kprobes(all, NR_PROBES));
	before = stops();
	KUNIT_EXPECT_EQ(test, 0, disarm_all_kprobes());
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
	before = stops();
	KUNIT_EXPECT_EQ(test, 0, arm_all_kprobes());
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE), NR_PROBES);
	unregister_kprobes(all, NR_PROBES);
}

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Not by way of their addresses: with CFI that takes a hash before each. */
static void call_functions(void)
{
	text_poke_test_unlisted_0();
	text_poke_test_unlisted_1();
	text_poke_test_unlisted_2();
	text_poke_test_unlisted_3();
}

static void kretprobes_stop_it_once(struct kunit *test)
{
	static struct kretprobe returns[NR_FNS], *rps[NR_FNS];
	u64 before = stops();
	unsigned int i;

	if (!IS_ENABLED(CONFIG_KRETPROBES))
		kunit_skip(test, "there are no kretprobes");
	for (i = 0; i < NR_FNS; i++) {
		returns[i] = (struct kretprobe) {
			.kp.addr	= functions[i],
			.handler	= count_return,
		};
		rps[i] = &returns[i];
	}
	KUNIT_ASSERT_EQ(test, 0, register_kretprobes(rps, NR_FNS));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	call_functions();
	KUNIT_EXPECT_EQ(test, hits, NR_FNS);

	before = stops();
	unregister_kretprobes(rps, NR_FNS);
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	call_functions();
	KUNIT_EXPECT_EQ(test, hits, NR_FNS);
}

static void *event_addr(unsigned int nr)
{
	return (void *)text_poke_test_events + nr * UNIT;
}

static unsigned int count_events(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < NR_EVENTS; i++)
		nr += !text_poke_verify(event_addr(i), TEXT_POKE_TEST_PROBE,
					UNIT);
	return nr;
}

static int define_event(unsigned int nr)
{
	struct dynevent_cmd cmd;
	char name[32], place[64], *buf;
	int ret;

	buf = kzalloc(MAX_DYNEVENT_CMD_LEN, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	snprintf(name, sizeof(name), EVENT, nr);
	snprintf(place, sizeof(place), "text_poke_test_traced+%td",
		 event_addr(nr) - (void *)text_poke_test_traced);
	kprobe_event_cmd_init(&cmd, buf, MAX_DYNEVENT_CMD_LEN);
	ret = kprobe_event_gen_cmd_start(&cmd, name, place);
	ret = ret ?: kprobe_event_gen_cmd_end(&cmd);
	kfree(buf);
	return ret;
}

static void delete_events(void *unused)
{
	char name[32];
	unsigned int i;

	trace_set_clr_event(GROUP, NULL, 0);
	for (i = 0; i < NR_EVENTS; i++) {
		snprintf(name, sizeof(name), EVENT, i);
		kprobe_event_delete(name);
	}
}

static void define_events(struct kunit *test)
{
	unsigned int i;

	if (!IS_ENABLED(CONFIG_KPROBE_EVENTS))
		kunit_skip(test, "there are no events of kprobes");
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, delete_events, NULL));
	for (i = 0; i < NR_EVENTS; i++)
		KUNIT_ASSERT_EQ(test, 0, define_event(i));
}

/* As of writing to events/GROUP/enable. */
static void groups_of_events_stop_it_once(struct kunit *test)
{
	u64 before;

	define_events(test);
	before = stops();
	KUNIT_EXPECT_EQ(test, 0, trace_set_clr_event(GROUP, NULL, 1));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_events(), NR_EVENTS);
	KUNIT_EXPECT_EQ(test, 0, trace_set_clr_event(GROUP, NULL, 1));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	text_poke_test_traced();

	before = stops();
	KUNIT_EXPECT_EQ(test, 0, trace_set_clr_event(GROUP, NULL, 0));
	KUNIT_EXPECT_EQ(test, stops() - before, 1);
	KUNIT_EXPECT_EQ(test, count_events(), 0);
}

/* One of them cannot be: it is told, and the others are there, as before. */
static void events_that_fail_are_told(struct kunit *test)
{
	define_events(test);
	WARN_ON(put_unasked(event_addr(5), other, UNIT));
	KUNIT_EXPECT_LT(test, trace_set_clr_event(GROUP, NULL, 1), 0);
	KUNIT_EXPECT_EQ(test, count_events(), NR_EVENTS - 1);
	KUNIT_EXPECT_EQ(test, 0, trace_set_clr_event(GROUP, NULL, 0));
	WARN_ON(put_unasked(event_addr(5), insn, UNIT));
	KUNIT_EXPECT_EQ(test, count_events(), 0);
}

/* However many there are, the machine goes on in between. */
static void stops_are_bounded(struct kunit *test)
{
	u64 before = stops();

	fill_all(insn, TEXT_POKE_TEST_PROBE);
	KUNIT_EXPECT_EQ(test, 0, stopped(changes, NR_INSNS));
	KUNIT_EXPECT_EQ(test, stops() - before, NR_STOPS);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE), NR_INSNS);
	fill_all(TEXT_POKE_TEST_PROBE, insn);
	KUNIT_EXPECT_EQ(test, 0, stopped(changes, NR_INSNS));
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
	kunit_info(test, "longest stop: %llu ns", text_poke_longest_stop);
}

#ifdef CONFIG_FAIL_TEXT_POKE

/* Whatever store fails, of whichever stop. */
static void failed_stops_are_rolled_back(struct kunit *test)
{
	unsigned int after;
	int ret;

	for (after = 0; after < NR_INSNS; after += 37) {
		fill_all(insn, TEXT_POKE_TEST_PROBE);
		text_poke_fail_at(TEXT_POKE_FAULT_STORE, after);
		ret = stopped(changes, NR_INSNS);
		text_poke_fail_no_more();
		KUNIT_EXPECT_EQ(test, -EFAULT, ret);
		KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
	}
}

/* Whole stops that were made are made again, the other way; others leave nothing. */
static void rollbacks_are_recorded(struct kunit *test)
{
	struct perf_event *listener = text_poke_listener_open(0);
	u64 before = records();

	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	fill_all(insn, TEXT_POKE_TEST_PROBE);
	text_poke_fail_at(TEXT_POKE_FAULT_STORE, TEXT_POKE_STOP_CHANGES + 7);
	KUNIT_EXPECT_EQ(test, -EFAULT, stopped(changes, NR_INSNS));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, records() - before, 2 * TEXT_POKE_STOP_CHANGES);
	perf_event_release_kernel(listener);
}

/* Nothing works any more: what stays in the text is recorded. */
static void what_stays_is_recorded(struct kunit *test)
{
	struct perf_event *listener = text_poke_listener_open(0);
	u64 before = records();

	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	fill_all(insn, TEXT_POKE_TEST_PROBE);
	text_poke_fail_from(TEXT_POKE_FAULT_STORE, 7);
	text_poke_test_hear(true);
	KUNIT_EXPECT_EQ(test, -EIO, stopped(changes, NR_INSNS));
	text_poke_test_hear(false);
	text_poke_fail_no_more();
	KUNIT_EXPECT_NOT_NULL(test, text_poke_test_said);
	KUNIT_EXPECT_EQ(test, count_holding(TEXT_POKE_TEST_PROBE), 7);
	KUNIT_EXPECT_EQ(test, records() - before, 7);

	fill_all(TEXT_POKE_TEST_PROBE, insn);
	KUNIT_EXPECT_EQ(test, 0, stopped(changes, 7));
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
	perf_event_release_kernel(listener);
}

/* Together or one by one: none is there in the end, and the caller is told. */
static void probes_that_cannot_be_stored_are_told(struct kunit *test)
{
	int ret;

	text_poke_fail_always(TEXT_POKE_FAULT_STORE);
	ret = register_kprobes(all, 4);
	text_poke_fail_no_more();
	KUNIT_EXPECT_LT(test, ret, 0);
	KUNIT_EXPECT_GT(test, told, 0);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
}

#endif /* CONFIG_FAIL_TEXT_POKE */

static void wrong_changes_change_nothing(struct kunit *test)
{
	u64 before = stops();

	fill_all(insn, TEXT_POKE_TEST_PROBE);
	changes[1].addr = addr_of(0);
	KUNIT_EXPECT_EQ(test, -EEXIST, stopped(changes, 2));
	fill_all(insn, TEXT_POKE_TEST_PROBE);
	changes[1].old[0] ^= 1;
	KUNIT_EXPECT_EQ(test, -EILSEQ, stopped(changes, 2));
	fill_all(insn, TEXT_POKE_TEST_PROBE);
	changes[1].addr++;
	KUNIT_EXPECT_EQ(test, -EINVAL, stopped(changes, 2));
	changes[1].addr = &probes;
	KUNIT_EXPECT_EQ(test, -ENXIO, stopped(changes, 2));
	changes[1].addr = (void *)text_poke_handle_trap;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, stopped(changes, 2));

	KUNIT_EXPECT_EQ(test, stops() - before, 0);
	KUNIT_EXPECT_EQ(test, count_holding(insn), NR_INSNS);
}

static int stop_init(struct kunit *test)
{
	unsigned int i;

	memcpy(insn, addr_of(0), UNIT);
	memcpy(other, insn, UNIT);
	other[0] ^= 1;
	hits = 0;
	told = 0;
	kunit_activate_static_stub(test, text_poke_failed, hear_failed);
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
	KUNIT_CASE(probes_of_one_array_may_share_instructions),
	KUNIT_CASE(probes_are_enabled_with_one_stop),
	KUNIT_CASE(breakpoints_that_are_there_hold_nothing_up),
	KUNIT_CASE(all_or_none_is_enabled),
	KUNIT_CASE(the_switch_stops_it_once),
	KUNIT_CASE(kretprobes_stop_it_once),
	KUNIT_CASE(groups_of_events_stop_it_once),
	KUNIT_CASE(events_that_fail_are_told),
	KUNIT_CASE(listed_instructions_do_not_stop_it),
	KUNIT_CASE(batches_refuse_what_has_to_stop_it),
	KUNIT_CASE(wrong_changes_change_nothing),
	KUNIT_CASE(stops_are_bounded),
#ifdef CONFIG_FAIL_TEXT_POKE
	KUNIT_CASE(failed_stops_are_rolled_back),
	KUNIT_CASE(rollbacks_are_recorded),
	KUNIT_CASE(what_stays_is_recorded),
	KUNIT_CASE(probes_that_cannot_be_stored_are_told),
#endif
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
