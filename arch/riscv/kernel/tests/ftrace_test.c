// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of call sites that change while a task is inside.
 *
 * The entry of a traceable function is a pair of instructions.  A task is parked
 * between them, preempted, while tracers come and go, and goes on when they are
 * others, or none:
 *
 *   victim                  controller, on another CPU
 *   ----------------------  -----------------------------------------
 *   AUIPC
 *   (parked)                register and unregister tracers
 *   NOP or JALR             let it go, look which of them it has called
 *
 * To get there, a kprobe on AUIPC raises an interrupt, which is taken when the
 * probe is over.  That wakes a real-time task, which keeps the CPU.
 *
 * And of code that shares a site with tracers: kprobes, and what replaces
 * functions; and of code that meets a kprobe's breakpoint or the core's trap
 * unawares.
 */
#include <linux/bug.h>
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/text_poke.h>

#include <asm/csr.h>
#include <asm/entry-common.h>
#include <asm/irq_regs.h>

#include "../../../../kernel/text_poke/park.h"

/* How often a task is parked; and for how long that may take. */
#define ROUNDS	60
#define PATIENCE (10 * HZ)

static unsigned long site(void)
{
	return (unsigned long)traced + FTRACE_SITE_OFFSET;
}

/* A tracer that counts; what is not allocated needs no wait for its readers. */
struct tracer {
	struct ftrace_ops ops;
	unsigned long hits;
};

static void count_hit(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct tracer *tracer = container_of(ops, struct tracer, ops);

	/* An argument that is not the function's would be a broken entry. */
	if (ip == site() && (int)ftrace_regs_get_argument(fregs, 0) >= 0)
		WRITE_ONCE(tracer->hits, tracer->hits + 1);
}

static struct tracer tracers[] = {
	{ .ops.func = count_hit },
	{ .ops.func = count_hit },
};

#define NONE ARRAY_SIZE(tracers)

/* Which of them is registered. */
static unsigned int current_tracer = NONE;

/* In the interrupt after the kprobe, most of them; others come and go. */
static void park(struct irq_work *work)
{
	struct pt_regs *regs = get_irq_regs();

	if (!regs || regs->epc != site() || current != victim)
		return;
	WRITE_ONCE(wanted, false);
	WRITE_ONCE(parked, true);
	wake_up_process(keeper);
}

static struct irq_work park_work;

static int before_pair(struct kprobe *p, struct pt_regs *regs)
{
	if (current == victim && READ_ONCE(wanted))
		irq_work_queue(&park_work);
	return 0;
}

static struct kprobe probe = {
	.pre_handler	= before_pair,
};

static unsigned long calls_before;

static bool has_gone_on(void)
{
	return READ_ONCE(calls) != calls_before;
}

static int change_to(unsigned int next)
{
	int ret = 0;

	if (next == current_tracer)
		return 0;
	/* The new one first: then no call is missed in between. */
	if (next != NONE)
		ret = register_ftrace_function(&tracers[next].ops);
	if (!ret && current_tracer != NONE)
		ret = unregister_ftrace_function(&tracers[current_tracer].ops);
	current_tracer = next;
	return ret;
}

/* Park the victim, change tracers behind its back, and let it go. */
static void one_round(struct kunit *test, unsigned int round)
{
	unsigned long hits[NONE] = {};
	unsigned int i;

	WRITE_ONCE(wanted, true);
	KUNIT_ASSERT_TRUE_MSG(test, wait_until(is_parked, PATIENCE), "never parked");

	for (i = 0; i <= round % 3; i++)
		KUNIT_EXPECT_EQ(test, 0, change_to((round + 2 * i) %
						   (NONE + 1)));
	for (i = 0; i < NONE; i++)
		hits[i] = READ_ONCE(tracers[i].hits);
	calls_before = READ_ONCE(calls);
	WRITE_ONCE(parked, false);
	KUNIT_ASSERT_TRUE_MSG(test, wait_until(has_gone_on, PATIENCE), "gone for ever");

	for (i = 0; i < NONE; i++)
		KUNIT_EXPECT_EQ_MSG(test, i == current_tracer,
				    READ_ONCE(tracers[i].hits) != hits[i],
				    "tracer %u, round %u", i, round);
}

static int begin(struct kunit *test)
{
	int ret, i;

	for (i = 0; i < NONE; i++) {
		ret = ftrace_set_filter_ip(&tracers[i].ops, site(), 0, 1);
		if (ret)
			return ret;
	}
	park_work = IRQ_WORK_INIT_HARD(park);
	probe.addr = (kprobe_opcode_t *)traced;
	return begin_parking(test) ?: register_kprobe(&probe);
}

static void ftrace_exit(struct kunit *test)
{
	if (!parking_has_begun())
		return;
	let_parked_go();
	KUNIT_EXPECT_EQ(test, 0, change_to(NONE));
	unregister_kprobe(&probe);
	irq_work_sync(&park_work);
	end_parking(test);
}

static void tasks_inside_the_pair_go_on(struct kunit *test)
{
	unsigned int round;

	KUNIT_ASSERT_EQ(test, 0, begin(test));
	for (round = 0; round < ROUNDS; round++)
		one_round(test, round);
	kunit_info(test, "%lu calls, %lu and %lu traced", calls,
		   tracers[0].hits, tracers[1].hits);
}

#define EIGHT_LONGS	long a, long b, long c, long d, \
			long e, long f, long g, long h

/* Every register that an argument is in has a weight of its own. */
static __always_inline long weight_of(EIGHT_LONGS)
{
	barrier();
	return a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h;
}

static noinline __noclone long weigh(EIGHT_LONGS)
{
	return weight_of(a, b, c, d, e, f, g, h);
}

static noinline __noclone long weigh_down(EIGHT_LONGS)
{
	return -weight_of(a, b, c, d, e, f, g, h);
}

/* As a live patch does. */
static void redirect(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)weigh_down);
}

static struct ftrace_ops redirection = {
	.func	= redirect,
	.flags	= FTRACE_OPS_FL_IPMODIFY,
};

static void replacements_get_the_arguments(struct kunit *test)
{
	unsigned long addr = (unsigned long)weigh + FTRACE_SITE_OFFSET;
	long weight = weight_of(3, 5, 7, 11, 13, 17, 19, 23);

	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&redirection, addr, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&redirection));
	KUNIT_EXPECT_EQ(test, weigh(3, 5, 7, 11, 13, 17, 19, 23), -weight);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&redirection));
	KUNIT_EXPECT_EQ(test, weigh(3, 5, 7, 11, 13, 17, 19, 23), weight);
}

static unsigned long probe_hits;

static int count_probe(struct kprobe *p, struct pt_regs *regs)
{
	WRITE_ONCE(probe_hits, probe_hits + 1);
	return 0;
}

/* Call it, and see what that has hit. */
static void expect_hits(struct kunit *test, unsigned long probes,
			unsigned long traces)
{
	unsigned long probed = READ_ONCE(probe_hits);
	unsigned long hits = READ_ONCE(tracers[0].hits);

	KUNIT_EXPECT_EQ(test, traced(1), 2);
	KUNIT_EXPECT_EQ(test, READ_ONCE(probe_hits) - probed, probes);
	KUNIT_EXPECT_EQ(test, READ_ONCE(tracers[0].hits) - hits, traces);
}

/* On the first instruction or on the second, in whichever order they come. */
static void probe_and_trace(struct kunit *test, unsigned long addr)
{
	struct kprobe kp = {
		.addr		= (kprobe_opcode_t *)addr,
		.pre_handler	= count_probe,
	};

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&kp));
	expect_hits(test, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, change_to(0));
	expect_hits(test, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&kp));
	expect_hits(test, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, change_to(NONE));
	expect_hits(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&kp));
	expect_hits(test, 1, 0);
	KUNIT_EXPECT_EQ(test, 0, change_to(0));
	unregister_kprobe(&kp);
	expect_hits(test, 0, 1);

	kp = (struct kprobe) {
		.addr		= (kprobe_opcode_t *)addr,
		.pre_handler	= count_probe,
	};
	KUNIT_EXPECT_EQ(test, 0, register_kprobe(&kp));
	expect_hits(test, 1, 1);
	KUNIT_EXPECT_EQ(test, 0, change_to(NONE));
	expect_hits(test, 1, 0);
	unregister_kprobe(&kp);
	expect_hits(test, 0, 0);
}

static void probes_share_the_pair_with_tracers(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&tracers[0].ops, site(), 0,
						      1));
	probe_and_trace(test, (unsigned long)traced);
	probe_and_trace(test, site());
}

/* A literal is no instruction, whatever it looks like. */
static void literals_are_not_probed(struct kunit *test)
{
	struct kprobe literal = {};
	int off;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS))
		kunit_skip(test, "call sites have no literals");
	for (off = FTRACE_LITERAL_OFFSET; off < 0; off += 2) {
		literal.addr = (void *)traced + off;
		KUNIT_EXPECT_TRUE(test, ftrace_is_literal((unsigned long)traced +
							  off));
		KUNIT_EXPECT_NE(test, 0, register_kprobe(&literal));
	}
	KUNIT_EXPECT_FALSE(test, ftrace_is_literal((unsigned long)traced));
}

/* Nor is what is after the breakpoint of another probe. */
static void halves_are_not_probed(struct kunit *test)
{
	unsigned long addrs[] = { (unsigned long)traced, site() };
	int i;

	for (i = 0; i < ARRAY_SIZE(addrs); i++) {
		struct kprobe whole = { .addr = (void *)addrs[i] };
		struct kprobe half = { .addr = (void *)addrs[i] + 2 };

		KUNIT_EXPECT_EQ(test, register_kprobe(&half), -EILSEQ);
		KUNIT_ASSERT_EQ(test, 0, register_kprobe(&whole));
		KUNIT_EXPECT_EQ(test, register_kprobe(&half), -EILSEQ);
		KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&whole));
		KUNIT_EXPECT_EQ(test, register_kprobe(&half), -EILSEQ);
		unregister_kprobe(&whole);
	}
}

/* Is it hit once, and does it emulate @insn? */
static void expect_emulates(struct kunit *test, const struct kprobe *kp,
			    u32 insn)
{
	KUNIT_EXPECT_EQ(test, kp->opcode, insn);
	expect_hits(test, 1, insn != NOP4);
}

/* A probe emulates what is after its breakpoint, not what is queued. */
static void probes_outlive_cancelled_batches(struct kunit *test)
{
	unsigned int offset = FTRACE_ADDR - (unsigned long)traced;
	struct dyn_ftrace rec = { .ip = site() };
	struct kprobe kp = {
		.addr		= (kprobe_opcode_t *)site(),
		.pre_handler	= count_probe,
	};

	if (sizeof(u32) == TEXT_POKE_UNIT)
		kunit_skip(test, "the breakpoint covers the whole instruction");
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&tracers[0].ops, site(), 0,
						      1));
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&kp));
	expect_emulates(test, &kp, NOP4);

	ftrace_arch_code_modify_prepare();
	KUNIT_EXPECT_EQ(test, 0, ftrace_make_call(&rec, FTRACE_ADDR));
	KUNIT_EXPECT_EQ(test, kp.opcode, NOP4);
	text_poke_batch_cancel();
	ftrace_arch_code_modify_post_process();
	expect_emulates(test, &kp, NOP4);

	KUNIT_EXPECT_EQ(test, 0, change_to(0));
	expect_emulates(test, &kp, to_jalr_t0(offset));
	KUNIT_EXPECT_EQ(test, 0, change_to(NONE));
	expect_emulates(test, &kp, NOP4);
	unregister_kprobe(&kp);
	expect_hits(test, 0, 0);
}

/* What a store that the CPU cannot do leads to, if this is found there. */
static int emulate(const void *insn)
{
	struct pt_regs regs = {
		.epc	= (unsigned long)insn,
		.status	= SR_PP,
	};
	int ret = handle_misaligned_store(&regs);

	return regs.epc == (unsigned long)insn ? ret : 0;
}

static void accesses_under_probes_are_executed_again(struct kunit *test)
{
	static const u16 lr_w[] __aligned(4) = { 0x202f, 0x1000 };
	static const u16 probed[] __aligned(4) = { __BUG_INSN_16, 0x1000 };

	if (!IS_ENABLED(CONFIG_RISCV_MISALIGNED))
		kunit_skip(test, "nothing is emulated");
	KUNIT_EXPECT_EQ(test, emulate(probed), -EAGAIN);
	KUNIT_EXPECT_EQ(test, emulate(lr_w), -1);
}

/* What they would save might be a trap that is gone when they put it back. */
static void debuggers_do_not_see_half_a_batch(struct kunit *test)
{
#ifdef CONFIG_KGDB
	struct kgdb_bkpt bpt = { .bpt_addr = (unsigned long)traced };

	guard(mutex)(&text_mutex);
	KUNIT_EXPECT_EQ(test, kgdb_arch_set_breakpoint(&bpt), -EBUSY);
#else
	kunit_skip(test, "there is no debugger");
#endif
}

static struct kunit_case ftrace_cases[] = {
	KUNIT_CASE_SLOW(tasks_inside_the_pair_go_on),
	KUNIT_CASE(replacements_get_the_arguments),
	KUNIT_CASE(probes_share_the_pair_with_tracers),
	KUNIT_CASE(literals_are_not_probed),
	KUNIT_CASE(halves_are_not_probed),
	KUNIT_CASE(probes_outlive_cancelled_batches),
	KUNIT_CASE(accesses_under_probes_are_executed_again),
	KUNIT_CASE(debuggers_do_not_see_half_a_batch),
	{}
};

static struct kunit_suite ftrace_suite = {
	.name		= "riscv_ftrace",
	.exit		= ftrace_exit,
	.test_cases	= ftrace_cases,
};

kunit_test_suite(ftrace_suite);

MODULE_DESCRIPTION("KUnit test of RISC-V's call sites");
MODULE_LICENSE("GPL");
