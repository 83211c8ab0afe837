// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of call sites that change while a task is inside.
 *
 * The entry of a traceable function is a pair of instructions, see ftrace_mflr.c.
 * A task is parked between them, preempted, while a tracer comes and goes:
 *
 *   victim                   worker, controller, on another CPU
 *   -----------------------  ---------------------------------------------
 *   nop, where mflr will be
 *   (parked)                 register a tracer: it has to wait
 *   (goes on)
 *   nop, where bl will be    registered
 *
 * To get there a kprobe on the first instruction goes on at the second one, with
 * what r0 would be, and wakes a real-time task, which takes the CPU when the
 * probe is over.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <asm/cpu_has_feature.h>
#include <asm/ftrace-mflr.h>
#include <asm/ppc-opcode.h>
#include <asm/ptrace.h>

#include "../../../../kernel/text_poke/park.h"

/* How often a task is parked; and for how long that may take. */
#define ROUNDS		10
#define PATIENCE	(20 * HZ)

/* How long a tracer that must not wait is given, and one that has to. */
#define A_WHILE		msecs_to_jiffies(200)

/* What no caller is at. */
#define STALE		0x5a1e5a1e5a1e0000UL

/* How often it was traced. */
static unsigned long hits;

static u32 *site(void)
{
	return (u32 *)ftrace_location((unsigned long)traced);
}

static u32 *before_site(void)
{
	return site() - 1;
}

/* As the document says, and not as the code under test does. */
static bool mflr_goes(void)
{
	return strstr(saved_command_line, "ftrace_mflr=remove") &&
	       cpu_has_feature(CPU_FTR_ARCH_300);
}

static void count_hit(unsigned long ip, unsigned long parent_ip,
		      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	WRITE_ONCE(hits, hits + 1);
}

static struct ftrace_ops tracer = {
	.func	= count_hit,
};

static bool is_traced;
static int traced_error;

static void change_tracer(struct work_struct *work)
{
	int ret = is_traced ? unregister_ftrace_function(&tracer) :
			      register_ftrace_function(&tracer);

	if (!ret)
		is_traced = !is_traced;
	WRITE_ONCE(traced_error, ret);
}

static DECLARE_WORK(change_work, change_tracer);

/*
 * The word is a nop while there is no bl, if mflr goes; and an mflr otherwise.
 * With the CPU taken away this is where the task is preempted.
 */
static int go_inside(struct kprobe *p, struct pt_regs *regs)
{
	bool is_off = READ_ONCE(*site()) == PPC_RAW_NOP();

	if (current != victim || !READ_ONCE(wanted))
		return 0;
	WRITE_ONCE(wanted, false);
	regs->gpr[0] = is_off && mflr_goes() ? STALE : regs->link;
	regs_set_return_ip(regs, (unsigned long)site());
	WRITE_ONCE(parked, true);
	wake_up_process(keeper);
	return 1;
}

/* With this one it is not optimized. */
static void after(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler	= go_inside,
	.post_handler	= after,
};

/* The flags are left over from the last time: a probe that was there is disabled. */
static int put_probe(void)
{
	probe.addr = before_site();
	probe.flags = 0;
	return register_kprobe(&probe);
}

static unsigned long calls_before;

static bool has_gone_on(void)
{
	return READ_ONCE(calls) - calls_before > 2;
}

/* Of the pair, with a probe on the first one or without. */
static void expect_words(struct kunit *test, bool probed)
{
	u32 mflr = PPC_RAW_MFLR(_R0), nop = PPC_RAW_NOP();

	if (!probed)
		KUNIT_EXPECT_EQ(test, *before_site(),
				!is_traced && mflr_goes() ? nop : mflr);
	KUNIT_EXPECT_EQ(test, *site() == nop, !is_traced);
}

static void toggle(struct kunit *test)
{
	change_tracer(NULL);
	KUNIT_EXPECT_EQ(test, traced_error, 0);
}

static void pair_is_there_while_traced(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_EQ(test, mflr_goes(), ftrace_precedes_call(before_site()));
	for (i = 0; i < 4; i++) {
		expect_words(test, false);
		toggle(test);
	}
	expect_words(test, false);
	kunit_info(test, "mflr %s", mflr_goes() ? "goes" : "stays");
}

/* It emulates mflr, whatever is there, and leaves that behind. */
static void probes_on_the_first_do_not_matter(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, put_probe());
	toggle(test);
	WRITE_ONCE(hits, 0);
	KUNIT_EXPECT_EQ(test, traced(1), 2);
	KUNIT_EXPECT_EQ(test, READ_ONCE(hits), 1);
	expect_words(test, true);
	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&probe));
	expect_words(test, false);
	toggle(test);
	expect_words(test, false);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&probe));
	toggle(test);
	toggle(test);
	unregister_kprobe(&probe);
	toggle(test);
	toggle(test);
	expect_words(test, false);
}

/* Park the victim, change the tracer behind its back, and let it go. */
static void one_round(struct kunit *test)
{
	bool waits = !is_traced && mflr_goes();

	WRITE_ONCE(wanted, true);
	KUNIT_ASSERT_TRUE_MSG(test, wait_until(is_parked, PATIENCE),
			      "never parked, %lu calls, %lu missed",
			      READ_ONCE(calls), probe.nmissed);

	schedule_work_on(raw_smp_processor_id(), &change_work);
	schedule_timeout_interruptible(A_WHILE);
	if (waits) {
		KUNIT_EXPECT_EQ(test, *site(), PPC_RAW_NOP());
		KUNIT_EXPECT_FALSE(test, is_traced);
	} else {
		flush_work(&change_work);
	}

	calls_before = READ_ONCE(calls);
	WRITE_ONCE(parked, false);
	flush_work(&change_work);
	KUNIT_EXPECT_EQ(test, traced_error, 0);
	KUNIT_ASSERT_TRUE_MSG(test, wait_until(has_gone_on, PATIENCE), "gone for ever");
	expect_words(test, true);
}

static int begin(struct kunit *test)
{
	return begin_parking(test) ?: put_probe();
}

static void tasks_inside_the_pair_go_on(struct kunit *test)
{
	int round;

	KUNIT_ASSERT_EQ(test, 0, begin(test));
	for (round = 0; round < ROUNDS; round++)
		one_round(test);
	kunit_info(test, "%lu calls, %lu traced", calls, READ_ONCE(hits));
	KUNIT_EXPECT_GT(test, READ_ONCE(hits), 0);
}

static void *paca(void)
{
	void *here;

	asm volatile("mr %0, 13" : "=r" (here));
	return here;
}

/* The task that is to be moved, and the PACA of the CPU it has been moved to. */
static struct task_struct *moving;
static void *paca_there;

static void move(unsigned long ip, unsigned long parent_ip,
		 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	int cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	if (current != READ_ONCE(moving) || !preemptible())
		return;
	if (!set_cpus_allowed_ptr(current, cpumask_of(cpu)))
		WRITE_ONCE(paca_there, paca());
}

/* Only ftrace_regs_caller() puts all registers back. */
static struct ftrace_ops mover = {
	.func	= move,
	.flags	= FTRACE_OPS_FL_SAVE_REGS,
};

/*
 * Call the function, and return the PACA that it is left with.  Right after
 * it the PACA is put right, so that a failure is not the end of the kernel.
 */
static void *moved_by_a_tracer(void)
{
	void *left_with, *right;

	WRITE_ONCE(paca_there, NULL);
	WRITE_ONCE(moving, current);
	traced(1);
	left_with = paca();
	right = READ_ONCE(paca_there);
	if (right)
		asm volatile("mr 13, %0" : : "r" (right));
	WRITE_ONCE(moving, NULL);
	return left_with;
}

static void tracers_may_move_to_another_cpu(struct kunit *test)
{
	struct cpumask allowed;
	void *left_with;

	if (!IS_ENABLED(CONFIG_PREEMPTION) || num_online_cpus() < 2)
		kunit_skip(test, "needs preemption, and a second CPU");

	cpumask_copy(&allowed, current->cpus_ptr);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&mover));
	left_with = moved_by_a_tracer();
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&mover));
	KUNIT_EXPECT_EQ(test, 0, set_cpus_allowed_ptr(current, &allowed));
	KUNIT_EXPECT_NOT_NULL(test, paca_there);
	KUNIT_EXPECT_PTR_EQ(test, left_with, paca_there);
}

static int begin_test(struct kunit *test)
{
	unsigned long ip = (unsigned long)site();

	return ftrace_set_filter_ip(&tracer, ip, 0, 1) ?:
	       ftrace_set_filter_ip(&mover, ip, 0, 1);
}

static void end_test(struct kunit *test)
{
	let_parked_go();
	flush_work(&change_work);
	if (is_traced)
		change_tracer(NULL);
	if (!parking_has_begun())
		return;
	unregister_kprobe(&probe);
	end_parking(test);
}

static struct kunit_case ftrace_cases[] = {
	KUNIT_CASE(pair_is_there_while_traced),
	KUNIT_CASE(probes_on_the_first_do_not_matter),
	KUNIT_CASE_SLOW(tasks_inside_the_pair_go_on),
	KUNIT_CASE(tracers_may_move_to_another_cpu),
	{}
};

static struct kunit_suite ftrace_suite = {
	.name		= "powerpc_ftrace",
	.init		= begin_test,
	.exit		= end_test,
	.test_cases	= ftrace_cases,
};
kunit_test_suite(ftrace_suite);

MODULE_DESCRIPTION("KUnit test of call sites that change while a task is inside");
MODULE_LICENSE("GPL");
