// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of text pokes under fire: what do CPUs see while text changes?
 *
 * A site goes back and forth between two instructions, and while it traps the
 * handler emulates a third one.  <phase.h> says what may be seen when; the test
 * enters PHASE_TRAPPING at the record.
 *
 * Readers are tasks that preempt each other, timers, interrupt work and
 * interrupts from other CPUs, on every CPU.
 */
#include <kunit/test.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/memory.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/text_poke.h>
#include <linux/uaccess.h>

#include "../phase.h"
#include "test.h"

/* The test goes on until all of this has happened, or for so many seconds. */
#define CHANGES_MIN	500
#define CALLS_MIN	400
#define TRAPS_MIN	25
#define PREEMPTED_MIN	25
#define SECONDS_MAX	150

#define TIMER_NS	(200 * NSEC_PER_USEC)
#define CALLS_PER_TURN	100

enum context { TASK, OTHER_TASK, TIMER, IRQ_WORK, IPI, NR_CONTEXTS };

static const char * const context_names[] = {
	[TASK]		= "task",
	[OTHER_TASK]	= "another task",
	[TIMER]		= "timer",
	[IRQ_WORK]	= "irq_work",
	[IPI]		= "interrupt from another CPU",
};

/* What text_poke_test_fn() returns, as bits. */
#define SAW_NOP		BIT(1)
#define SAW_TRAP	BIT(2)
#define SAW_CALL	BIT(3)

/**
 * struct reader - one context on one CPU
 * @calls:	how often it has executed the site
 * @traps:	how often that was the trap
 * @wrong:	how often it was what it cannot have been
 */
struct reader {
	u64 calls;
	u64 traps;
	u64 wrong;
};

struct reader_cpu {
	struct reader readers[NR_CONTEXTS];
	struct task_struct *tasks[2];
	struct hrtimer timer;
	struct irq_work work;
};

static DEFINE_PER_CPU(struct reader_cpu, reader_cpu);

static unsigned int live_phase;

/* How often a step came when it was not its turn. */
static u64 out_of_order;

static struct task_struct *interrupter;

/* One of these is at the site, in turn; the trap emulates the jump. */
static u8 nop[LEN], jump[LEN], call[LEN];

static struct text_poke_seen seen_in(const void *unused, unsigned int change)
{
	return (struct text_poke_seen) {
		.old	= change % 2 ? SAW_CALL : SAW_NOP,
		.trap	= SAW_TRAP,
		.new	= change % 2 ? SAW_NOP : SAW_CALL,
	};
}

static void read_site(struct reader *reader)
{
	unsigned int from = text_poke_phase_from(&live_phase);
	u32 saw = BIT(text_poke_test_fn());
	unsigned int to = text_poke_phase_to(&live_phase);

	reader->calls++;
	reader->traps += saw == SAW_TRAP;
	reader->wrong += !(saw & text_poke_visible(from, to, seen_in, NULL));
}

static void read_in(enum context context)
{
	read_site(this_cpu_ptr(&reader_cpu.readers[context]));
}

static int reader_task(void *data)
{
	struct reader *reader = data;
	int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < CALLS_PER_TURN; i++)
			read_site(reader);
		cond_resched();
	}
	return 0;
}

static void read_in_irq_work(struct irq_work *work)
{
	read_in(IRQ_WORK);
}

static enum hrtimer_restart read_in_timer(struct hrtimer *timer)
{
	read_in(TIMER);
	irq_work_queue(this_cpu_ptr(&reader_cpu.work));
	hrtimer_forward_now(timer, ns_to_ktime(TIMER_NS));
	return HRTIMER_RESTART;
}

static void read_in_ipi(void *unused)
{
	read_in(IPI);
}

static int interrupt_others(void *unused)
{
	while (!kthread_should_stop()) {
		preempt_disable();
		smp_call_function(read_in_ipi, NULL, 1);
		preempt_enable();
		usleep_range(100, 200);
	}
	return 0;
}

/* The poker goes first where it shares a CPU with readers. */
static struct task_struct *start_task(int (*fn)(void *data), void *data, int cpu)
{
	struct task_struct *task = kthread_create(fn, data, "text_poke_live");

	if (IS_ERR(task))
		return NULL;
	set_user_nice(task, MAX_NICE);
	if (cpu >= 0)
		kthread_bind(task, cpu);
	wake_up_process(task);
	return task;
}

static void start_timer(void *unused)
{
	struct reader_cpu *this = this_cpu_ptr(&reader_cpu);

	hrtimer_start(&this->timer, ns_to_ktime(TIMER_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void start_readers_on(int cpu)
{
	struct reader_cpu *this = per_cpu_ptr(&reader_cpu, cpu);
	int i;

	memset(this, 0, sizeof(*this));
	this->work = IRQ_WORK_INIT_HARD(read_in_irq_work);
	hrtimer_init(&this->timer, CLOCK_MONOTONIC,
		     HRTIMER_MODE_REL_PINNED_HARD);
	this->timer.function = read_in_timer;
	smp_call_function_single(cpu, start_timer, NULL, 1);
	for (i = 0; i < ARRAY_SIZE(this->tasks); i++)
		this->tasks[i] = start_task(reader_task,
					    &this->readers[TASK + i], cpu);
}

static void stop_task(struct task_struct *task)
{
	if (task)
		kthread_stop(task);
}

static void stop_readers_on(int cpu)
{
	struct reader_cpu *this = per_cpu_ptr(&reader_cpu, cpu);
	int i;

	for (i = 0; i < ARRAY_SIZE(this->tasks); i++)
		stop_task(this->tasks[i]);
	hrtimer_cancel(&this->timer);
	irq_work_sync(&this->work);
}

static bool holds_trap(const void *bytes, size_t len)
{
	u8 trap[LEN];

	text_poke_test_trap(trap);
	return len == TEXT_POKE_UNIT && !memcmp(bytes, trap, len);
}

static unsigned int phase_now(void)
{
	return live_phase % PHASES;
}

static void go_on(enum text_poke_phase from, enum text_poke_phase to)
{
	out_of_order += phase_now() != from;
	text_poke_phase_enter(&live_phase, live_phase + to - from);
}

/*
 * The first store is that of the trap, or of the whole instruction if the
 * change is direct; that of the unit comes last.
 */
static int watched_store(void *alias, const void *bytes, size_t len)
{
	if (phase_now() == PHASE_SETTLED)
		go_on(PHASE_SETTLED, holds_trap(bytes, len) ? PHASE_CHANGING :
							   PHASE_DIRECT);
	else if (phase_now() != PHASE_DIRECT && stores_unit(alias, len))
		go_on(PHASE_TRAPPING, PHASE_FINISHING);
	return copy_to_kernel_nofault(alias, bytes, len);
}

static void watched_record(const void *addr, const void *old, size_t old_len,
			   const void *new, size_t new_len)
{
	go_on(PHASE_CHANGING, PHASE_TRAPPING);
	perf_event_text_poke(addr, old, old_len, new, new_len);
}

/* From one instruction to the other. */
static int change_site(void)
{
	unsigned int change = live_phase / PHASES;
	int ret;

	mutex_lock(&text_mutex);
	ret = text_poke_single(text_poke_test_site, change % 2 ? call : nop,
			       change % 2 ? nop : call, LEN, jump);
	if (!ret)
		text_poke_phase_enter(&live_phase, (change + 1) * PHASES);
	mutex_unlock(&text_mutex);
	return ret;
}

/* Over all CPUs, the counters of one context. */
static struct reader sum_of(enum context context)
{
	struct reader sum = {};
	int cpu;

	for_each_online_cpu(cpu) {
		struct reader *reader;

		reader = per_cpu_ptr(&reader_cpu.readers[context], cpu);
		sum.calls += READ_ONCE(reader->calls);
		sum.traps += READ_ONCE(reader->traps);
		sum.wrong += READ_ONCE(reader->wrong);
	}
	return sum;
}

/* How often tasks were preempted, most of them next to the site. */
static u64 preemptions(void)
{
	u64 sum = 0;
	int cpu, i;

	for_each_online_cpu(cpu) {
		struct reader_cpu *this = per_cpu_ptr(&reader_cpu, cpu);

		for (i = 0; i < ARRAY_SIZE(this->tasks); i++)
			if (this->tasks[i])
				sum += READ_ONCE(this->tasks[i]->nivcsw);
	}
	return sum;
}

/* Enough of everything for the result to mean something. */
static bool enough(bool guarded)
{
	enum context context;

	if (live_phase / PHASES < CHANGES_MIN)
		return false;
	if (IS_ENABLED(CONFIG_PREEMPTION) && preemptions() < PREEMPTED_MIN)
		return false;
	for (context = 0; context < NR_CONTEXTS; context++) {
		struct reader sum = sum_of(context);

		if (context == IPI && num_online_cpus() < 2)
			continue;
		if (sum.calls < CALLS_MIN ||
		    (guarded && sum.traps < TRAPS_MIN))
			return false;
	}
	return true;
}

static int change_until_enough(bool guarded)
{
	unsigned long end = jiffies + SECONDS_MAX * HZ;
	int i, ret;

	while (!enough(guarded) && time_before(jiffies, end)) {
		/* An even number, so that the site ends as it began. */
		for (i = 0; i < 100; i++) {
			ret = change_site();
			if (ret)
				return ret;
		}
		cond_resched();
	}
	return 0;
}

static void report(struct kunit *test, bool guarded)
{
	enum context context;

	for (context = 0; context < NR_CONTEXTS; context++) {
		struct reader sum = sum_of(context);

		KUNIT_EXPECT_EQ_MSG(test, sum.wrong, 0, "in a reader: %s",
				    context_names[context]);
		if (!guarded)
			KUNIT_EXPECT_EQ(test, sum.traps, 0);
		kunit_info(test, "%s: %llu calls, %llu traps",
			   context_names[context], sum.calls, sum.traps);
	}
	kunit_info(test, "%u changes, %llu preemptions",
		   live_phase / PHASES, preemptions());
}

static void change_under_fire(struct kunit *test, bool guarded)
{
	int cpu;

	guard(cpus_read_lock)();
	live_phase = 0;
	out_of_order = 0;
	for_each_online_cpu(cpu)
		start_readers_on(cpu);
	interrupter = start_task(interrupt_others, NULL, -1);

	text_poke_test_store(watched_store);
	text_poke_test_record(watched_record);
	KUNIT_EXPECT_EQ(test, 0, change_until_enough(guarded));
	text_poke_test_record(NULL);
	text_poke_test_store(NULL);
	KUNIT_EXPECT_EQ(test, out_of_order, 0);

	KUNIT_EXPECT_TRUE_MSG(test, enough(guarded), "too little happened");
	report(test, guarded);
	stop_task(interrupter);
	for_each_online_cpu(cpu)
		stop_readers_on(cpu);
}

static void guarded_changes_are_seen_in_order(struct kunit *test)
{
	text_poke_test_listen(test);
	change_under_fire(test, true);
}

static bool changes_directly(void)
{
	struct text_poke_site site = {
		.addr	= text_poke_test_site,
		.len	= LEN,
		.trap	= true,
	};

	memcpy(site.old, nop, LEN);
	memcpy(site.new, call, LEN);
	return !arch_text_poke_prepare(&site, call) &&
	       arch_text_poke_atomic(&site) && !perf_text_poke_enabled();
}

static void direct_changes_are_seen_at_once(struct kunit *test)
{
	if (!changes_directly())
		kunit_skip(test, "an event listens, or the architecture guards");
	change_under_fire(test, false);
}

static int live_init(struct kunit *test)
{
	text_poke_test_nop(nop);
	text_poke_test_jump(jump, text_poke_test_site, text_poke_test_target);
	text_poke_test_call(call, text_poke_test_site, text_poke_test_callee);
	return 0;
}

static void live_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, text_poke_verify(text_poke_test_site, nop, LEN));
}

static struct kunit_case live_cases[] = {
	KUNIT_CASE_SLOW(guarded_changes_are_seen_in_order),
	KUNIT_CASE_SLOW(direct_changes_are_seen_at_once),
	{}
};

static struct kunit_suite live_suite = {
	.name		= "text_poke_live",
	.init		= live_init,
	.exit		= live_exit,
	.test_cases	= live_cases,
};

kunit_test_suite(live_suite);

MODULE_DESCRIPTION("KUnit test of text pokes under fire");
MODULE_LICENSE("GPL");
