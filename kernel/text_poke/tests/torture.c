// SPDX-License-Identifier: GPL-2.0
/*
 * Torture test of text pokes.
 *
 * Starts with text_poke_torture.run=1 at boot, or when a 1 is written to
 * /sys/module/text_poke_torture/parameters/run, and ends when a 0 is written
 * there.  Threads change sites, directly and guarded, while others execute
 * them; kprobes are put on the same functions, and on sites, which then must not
 * change; perf events appear and go, CPUs go offline and come back, and now and
 * then all of them are stopped.  While a 1 is in the parameter "hold" no text is
 * changed and all CPUs are online, so that the text can be looked at; the sites
 * are executed all the same.
 *
 * Figures are printed every stat_interval seconds, as NAME=VALUE, and at the
 * end with SUCCESS or FAILURE.  A run in which too little has happened has
 * failed too; parameters say how little that is.
 */
#define pr_fmt(fmt) "text_poke-torture:" fmt

#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/stop_machine.h>
#include <linux/torture.h>

#include "../internal.h"
#include "../listener.h"
#include "torture.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "text_poke_torture."

torture_param(int, nreaders, -1, "Reader threads, -1 for two per CPU");
torture_param(int, npokers, 2, "Threads that change sites");
torture_param(int, onoff_interval, 0,
	      "Time between CPU hotplugs (jiffies), 0=disable");
torture_param(int, shuffle_interval, 3, "Number of seconds between shuffles");
torture_param(int, shutdown_secs, 0, "Shutdown time (s), <= zero to disable");
torture_param(int, stat_interval, 60,
	      "Number of seconds between stats printk()s");
torture_param(int, stutter, 5,
	      "Seconds to halt after four times as many to run, 0=disable");
torture_param(int, verbose, 0, "Enable verbose debugging printk()s");
torture_param(int, faults, 0, "Of a hundred batches, how many are to fail");
torture_param(int, pokes_min, 1000, "Fewer changes are a failure");
torture_param(int, calls_min, 1000,
	      "Fewer calls from any context are a failure");
torture_param(int, traps_min, 10, "Fewer traps of any kind are a failure");
torture_param(int, cycles_min, 1,
	      "Fewer CPU hotplugs are a failure, if there are to be any");
torture_param(int, undone_min, 1,
	      "Fewer batches that failed are a failure, if any are to");
torture_param(int, others_min, 1,
	      "Fewer perf events, probes, or hits of these are a failure");

/* Interrupts shall not take all the time, also of a CPU that is emulated. */
#define TIMER_NS	(3 * NSEC_PER_MSEC)
#define NMI_MS		5
/* While all CPUs are stopped, nothing else goes on. */
#define STOP_MS		250
#define PROBE_MS	50
#define CALLS_PER_TURN	100
#define CALLS_OF_FIFO	10
#define CALLS_STOPPED	10
#define PROBES		8

static const char * const context_names[CONTEXTS] = {
	[IN_TASK]	= "task",
	[IN_FIFO]	= "fifo",
	[IN_TIMER]	= "timer",
	[IN_IDLE]	= "idle",
	[IN_IRQ_WORK]	= "irq_work",
	[IN_STOPPED]	= "stopped",
	[IN_NMI]	= "nmi",
};

static const char * const kind_names[TEXT_POKE_TORTURE_KINDS] = {
	TEXT_POKE_TORTURE_NAMES
};

/* Only with kprobes does <linux/kprobes.h> have one. */
#ifndef CONFIG_KPROBES
static inline void wait_for_kprobe_optimizer(void) { }
#endif

/* What else has happened since the beginning. */
static struct {
	u64 complaints_before;
	u64 listeners;
	u64 stranded;
	u64 probings;
	u64 site_probings;
	atomic64_t probe_hits;
	atomic64_t site_hits;
	atomic64_t probe_errors;
	u64 cycles;
	u64 preempted;
} counts;

static struct task_struct **readers;
static int nr_readers;
static struct task_struct **pokers;
static struct task_struct *fifo_reader, *nmi_sender, *listener, *prober;
static struct task_struct *site_prober, *stopper, *onoff, *teller;

/* All that change text or CPUs do so with it held, unless @hold is set. */
static DECLARE_RWSEM(calm);
static bool hold;

static bool may_act(void)
{
	down_read(&calm);
	if (!hold)
		return true;
	up_read(&calm);
	return false;
}

static void acted(void)
{
	up_read(&calm);
}

/* Readers */

struct reader_cpu {
	struct hrtimer timer;
	struct irq_work work;
	struct torture_random_state in_timer;
	struct torture_random_state in_work;
	struct torture_random_state in_stopped;
	struct torture_random_state in_nmi;
};

static DEFINE_PER_CPU(struct reader_cpu, reader_cpu);

/* Slowest of all, so that any other task preempts them, also next to a site. */
static int torture_reader(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);
	int i;

	set_user_nice(current, MAX_NICE);
	do {
		for (i = 0; i < CALLS_PER_TURN; i++)
			text_poke_torture_read(IN_TASK, &rand);
		cond_resched();
		stutter_wait("torture_reader");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_reader");
	return 0;
}

/* Preempts the others, also the poker in the middle of a batch. */
static int torture_fifo_reader(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);
	int i;

	sched_set_fifo_low(current);
	do {
		for (i = 0; i < CALLS_OF_FIFO; i++)
			text_poke_torture_read(IN_FIFO, &rand);
		torture_hrtimeout_ms(5, 5 * USEC_PER_MSEC, &rand);
		stutter_wait("torture_fifo_reader");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_fifo_reader");
	return 0;
}

static void read_in_irq_work(struct irq_work *work)
{
	struct reader_cpu *this = container_of(work, struct reader_cpu, work);

	text_poke_torture_read(IN_IRQ_WORK, &this->in_work);
}

static enum hrtimer_restart read_in_timer(struct hrtimer *timer)
{
	struct reader_cpu *this = container_of(timer, struct reader_cpu, timer);

	text_poke_torture_read(is_idle_task(current) ? IN_IDLE : IN_TIMER,
			       &this->in_timer);
	irq_work_queue(&this->work);
	hrtimer_forward_now(timer, ns_to_ktime(TIMER_NS));
	return HRTIMER_RESTART;
}

/**
 * text_poke_torture_read_in_nmi - execute a site in an NMI
 *
 * For an architecture that has NMIs.
 *
 * Context: NMI.
 */
void text_poke_torture_read_in_nmi(void)
{
	text_poke_torture_read(IN_NMI, this_cpu_ptr(&reader_cpu.in_nmi));
}

/* CPUs that take interrupts. */
static struct cpumask interruptible;

/* They come in the middle of everything else, the trap handler included. */
static int torture_nmi_sender(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);
	int cpu;

	do {
		scoped_guard(preempt)
			for_each_cpu(cpu, &interruptible)
				text_poke_torture_nmi_send(cpu);
		torture_hrtimeout_ms(NMI_MS, NMI_MS * USEC_PER_MSEC, &rand);
		stutter_wait("torture_nmi_sender");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_nmi_sender");
	return 0;
}

/* On each CPU that comes online; before it goes offline they end. */
static int start_interrupts(unsigned int cpu)
{
	struct reader_cpu *this = per_cpu_ptr(&reader_cpu, cpu);

	this->work = IRQ_WORK_INIT_HARD(read_in_irq_work);
	hrtimer_init(&this->timer, CLOCK_MONOTONIC,
		     HRTIMER_MODE_REL_PINNED_HARD);
	this->timer.function = read_in_timer;
	hrtimer_start(&this->timer, ns_to_ktime(TIMER_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
	text_poke_torture_nmi_online(cpu);
	cpumask_set_cpu(cpu, &interruptible);
	return 0;
}

static int stop_interrupts(unsigned int cpu)
{
	struct reader_cpu *this = per_cpu_ptr(&reader_cpu, cpu);

	cpumask_clear_cpu(cpu, &interruptible);
	text_poke_torture_nmi_offline(cpu);
	hrtimer_cancel(&this->timer);
	irq_work_sync(&this->work);
	return 0;
}

/* What changes something */

static bool may_fail(struct torture_random_state *rand)
{
	return IS_ENABLED(CONFIG_FAIL_TEXT_POKE) &&
	       (int)(torture_random(rand) % 100) < faults;
}

/* Two of them compete for text_mutex with each other, and with all others. */
static int torture_poker(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);

	do {
		if (may_act()) {
			text_poke_torture_poke(&rand, may_fail(&rand));
			acted();
		}
		torture_hrtimeout_us(200, NSEC_PER_MSEC, &rand);
		stutter_wait("torture_poker");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_poker");
	return 0;
}

/* A CPU may be gone by then; another turn will come. */
static struct perf_event *listen(void)
{
	struct perf_event *event;

	if (!may_act())
		return NULL;
	event = text_poke_listener_open(raw_smp_processor_id());
	acted();
	return IS_ERR(event) ? NULL : event;
}

/* With an event all batches are guarded, without one those that must be. */
static int torture_listener(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);
	struct perf_event *event;

	do {
		event = listen();
		torture_hrtimeout_ms(20, 200 * USEC_PER_MSEC, &rand);
		if (event) {
			perf_event_release_kernel(event);
			counts.listeners++;
		}
		torture_hrtimeout_ms(20, 100 * USEC_PER_MSEC, &rand);
		stutter_wait("torture_listener");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_listener");
	return 0;
}

static int count_hit(struct kprobe *p, struct pt_regs *regs)
{
	atomic64_inc(&counts.probe_hits);
	return 0;
}

static struct kprobe probes[PROBES];

/* How many there are, from the first on. */
static unsigned int nr_probes;

static void check_probe(const struct kprobe *p, int ret)
{
	if (!ret)
		return;
	pr_alert("!!! kprobe at %pS: error %d\n", p->addr, ret);
	atomic64_inc(&counts.probe_errors);
}

/*
 * In front of a site, so that its trap comes right after the probe's.  Not too
 * often: to make a probe into a jump keeps all others waiting.
 */
static void toggle_probe(struct kprobe *p)
{
	int ret = kprobe_disabled(p) ? enable_kprobe(p) : disable_kprobe(p);

	check_probe(p, ret);
	counts.probings += !ret;
}

static int torture_prober(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);

	do {
		if (may_act()) {
			toggle_probe(&probes[torture_random(&rand) % nr_probes]);
			acted();
		}
		torture_hrtimeout_ms(PROBE_MS, 2 * PROBE_MS * USEC_PER_MSEC,
				     &rand);
		stutter_wait("torture_prober");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_prober");
	return 0;
}

static int count_site_hit(struct kprobe *p, struct pt_regs *regs)
{
	atomic64_inc(&counts.site_hits);
	return 0;
}

static struct kprobe site_probe;

/* For a while, if there is memory for it. */
static void probe_site(struct torture_random_state *rand)
{
	int ret = register_kprobe(&site_probe);

	if (ret == -ENOMEM)
		return;
	check_probe(&site_probe, ret);
	if (ret)
		return;
	text_poke_torture_claim(site_probe.addr, PROBED);
	torture_hrtimeout_ms(PROBE_MS, PROBE_MS * USEC_PER_MSEC, rand);
	text_poke_torture_claim(site_probe.addr, CLAIMED);
	unregister_kprobe(&site_probe);
	counts.site_probings++;
}

/*
 * A site that is probed does what it did before, as all that execute it see.
 * What kprobes have copied, and put back, must not change in between.  There is
 * no kind of site that they refuse.  Interrupts are off in a probe, so that only
 * an NMI can hit one in the middle of another, and kprobes can take two.
 */
static int torture_site_prober(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);

	do {
		site_probe = (struct kprobe) {
			.addr		= text_poke_torture_pick(&rand),
			.pre_handler	= count_site_hit,
		};
		text_poke_torture_claim(site_probe.addr, CLAIMED);
		if (may_act()) {
			probe_site(&rand);
			acted();
		}
		/* A jump in place of a breakpoint goes later, hold or not. */
		wait_for_kprobe_optimizer();
		text_poke_torture_claim(site_probe.addr, UNCLAIMED);
		torture_hrtimeout_ms(PROBE_MS, PROBE_MS * USEC_PER_MSEC, &rand);
		stutter_wait("torture_site_prober");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_site_prober");
	return 0;
}

static void remove_probes(void)
{
	while (nr_probes)
		unregister_kprobe(&probes[--nr_probes]);
}

static int add_probes(void)
{
	int ret;

	if (!IS_ENABLED(CONFIG_KPROBES))
		return 0;
	for (; nr_probes < PROBES; nr_probes++) {
		probes[nr_probes] = (struct kprobe) {
			.addr		= text_poke_torture_probe(nr_probes),
			.pre_handler	= count_hit,
			.flags		= KPROBE_FLAG_DISABLED,
		};
		ret = register_kprobe(&probes[nr_probes]);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_stopped(void *unused)
{
	struct reader_cpu *this = this_cpu_ptr(&reader_cpu);
	int i;

	for (i = 0; i < CALLS_STOPPED; i++)
		text_poke_torture_read(IN_STOPPED, &this->in_stopped);
	return 0;
}

/* Also in the middle of a batch, whose traps are hit while all wait. */
static int torture_stopper(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);

	do {
		if (may_act()) {
			stop_machine(read_stopped, NULL, cpu_online_mask);
			acted();
		}
		torture_hrtimeout_ms(STOP_MS, STOP_MS * USEC_PER_MSEC, &rand);
		stutter_wait("torture_stopper");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_stopper");
	return 0;
}

static bool plugs(void)
{
	return IS_ENABLED(CONFIG_HOTPLUG_CPU) && onoff_interval > 0;
}

/* Which is refused while the machine goes to sleep. */
static void bring_back(unsigned int cpu, struct torture_random_state *rand)
{
	do {
		torture_hrtimeout_jiffies(onoff_interval, rand);
		if (!add_cpu(cpu))
			WRITE_ONCE(counts.cycles, counts.cycles + 1);
	} while (!cpu_online(cpu) && !torture_must_stop());
	if (!cpu_online(cpu) && add_cpu(cpu)) {
		pr_alert("!!! CPU %u stays offline\n", cpu);
		WRITE_ONCE(counts.stranded, counts.stranded + 1);
	}
}

/*
 * Not torture_onoff_init(): its thread leaves CPUs offline for as long as it
 * likes, and nothing could hold it.  Nor torture_offline(), which counts CPUs
 * and believes that nothing else takes them away.
 */
static void plug_out_and_in(struct torture_random_state *rand)
{
	unsigned int cpu = cpumask_nth(torture_random(rand) % num_online_cpus(),
				       cpu_online_mask);

	if (cpu >= nr_cpu_ids || !may_act())
		return;
	if (!remove_cpu(cpu))
		bring_back(cpu, rand);
	acted();
}

static int torture_hotplug(void *unused)
{
	DEFINE_TORTURE_RANDOM(rand);

	do {
		plug_out_and_in(&rand);
		torture_hrtimeout_jiffies(onoff_interval, &rand);
		stutter_wait("torture_hotplug");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_hotplug");
	return 0;
}

/* Figures */

/* Those of the runtime checker; KUnit's tests provoke some of their own. */
static u64 complaints(void)
{
	return READ_ONCE(text_poke_complaints) - counts.complaints_before;
}

/* Nearly all of them while a site is executed, or what is around it. */
static u64 preemptions(void)
{
	u64 sum = counts.preempted;
	int i;

	for (i = 0; i < nr_readers; i++)
		if (readers[i])
			sum += READ_ONCE(readers[i]->nivcsw);
	return sum;
}

static void put(struct seq_buf *s, const char *what, const char *of, u64 value)
{
	seq_buf_printf(s, " %s%s%s=%llu", what, of ? "-" : "", of ?: "", value);
}

static void put_reads(struct seq_buf *s, const struct text_poke_reads *reads)
{
	int i;

	for (i = 0; i < TEXT_POKE_TORTURE_KINDS; i++)
		put(s, "traps", kind_names[i], reads->traps[i]);
	for (i = 0; i < CONTEXTS; i++)
		put(s, "calls", context_names[i], reads->calls[i]);
	put(s, "nmis", NULL, TEXT_POKE_TORTURE_NMI);
	put(s, "traps-in-nmi", NULL, reads->traps_in_nmi);
	put(s, "preempted", NULL, preemptions());
	put(s, "wrong", NULL, reads->wrong);
	put(s, "spoilt", NULL, reads->spoilt);
}

static void put_writes(struct seq_buf *s)
{
	const struct text_poke_writes *writes = &text_poke_torture_writes;

	put(s, "pokes", NULL, READ_ONCE(writes->pokes));
	put(s, "batches", NULL, READ_ONCE(writes->batches));
	put(s, "guarded", NULL, READ_ONCE(writes->guarded));
	put(s, "undone", NULL, READ_ONCE(writes->undone));
	put(s, "refused", NULL, READ_ONCE(writes->refused));
	put(s, "full", NULL, READ_ONCE(writes->full));
	put(s, "errors", NULL, READ_ONCE(writes->errors));
	put(s, "listeners", NULL, READ_ONCE(counts.listeners));
	put(s, "probings", NULL, READ_ONCE(counts.probings));
	put(s, "probe-hits", NULL, atomic64_read(&counts.probe_hits));
	put(s, "site-probings", NULL, READ_ONCE(counts.site_probings));
	put(s, "site-hits", NULL, atomic64_read(&counts.site_hits));
	put(s, "probe-errors", NULL, atomic64_read(&counts.probe_errors));
	put(s, "cycles", NULL, READ_ONCE(counts.cycles));
	put(s, "complaints", NULL, complaints());
	put(s, "longest-map-ns", NULL, READ_ONCE(text_poke_longest_map));
}

/* The line is longer than a stack frame should be. */
static void tell(const char *what, const struct text_poke_reads *reads)
{
	static DEFINE_MUTEX(mutex);
	static char line[1000];
	struct seq_buf s;

	guard(mutex)(&mutex);
	seq_buf_init(&s, line, sizeof(line));
	put_writes(&s);
	put_reads(&s, reads);
	pr_alert("%s%s\n", what, seq_buf_str(&s));
}

static int torture_teller(void *unused)
{
	struct text_poke_reads reads;

	do {
		schedule_timeout_interruptible(stat_interval * HZ);
		text_poke_torture_sum(&reads);
		tell(" Figures:", &reads);
		torture_shutdown_absorb("torture_teller");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_teller");
	return 0;
}

/* The verdict */

/* What did not happen cannot have gone wrong. */
static bool enough(const char *what, const char *of, u64 value, u64 min)
{
	if (value >= min)
		return true;
	pr_alert("!!! too little: %llu of %llu %s %s\n", value, min, what,
		 of ?: "");
	return false;
}

/* Where there are such. */
static bool enough_others(void)
{
	bool good = true;

	if (IS_ENABLED(CONFIG_PERF_EVENTS))
		good &= enough("perf events", NULL, counts.listeners,
			       others_min);
	if (!IS_ENABLED(CONFIG_KPROBES))
		return good;
	good &= enough("probes", "put or taken", counts.probings, others_min);
	good &= enough("hits", "of probes", atomic64_read(&counts.probe_hits),
		       others_min);
	good &= enough("probes", "of sites", counts.site_probings, others_min);
	return enough("hits", "of probes of sites",
		      atomic64_read(&counts.site_hits), others_min) && good;
}

static bool enough_happened(const struct text_poke_reads *reads)
{
	bool good = enough_others();
	int i;

	good &= enough("pokes", NULL, text_poke_torture_writes.pokes, pokes_min);
	for (i = 0; i < CONTEXTS; i++)
		if (i != IN_NMI || TEXT_POKE_TORTURE_NMI)
			good &= enough("calls", context_names[i],
				       reads->calls[i], calls_min);
	if (TEXT_POKE_TORTURE_NMI)
		good &= enough("traps", "in NMIs", reads->traps_in_nmi,
			       traps_min);
	for (i = 0; i < TEXT_POKE_TORTURE_KINDS; i++)
		good &= enough("traps", kind_names[i], reads->traps[i],
			       traps_min);
	if (plugs())
		good &= enough("cycles", NULL, counts.cycles, cycles_min);
	if (faults > 0)
		good &= enough("undone", NULL, text_poke_torture_writes.undone,
			       undone_min);
	return good;
}

static bool nothing_went_wrong(const struct text_poke_reads *reads)
{
	return !reads->wrong && !reads->spoilt &&
	       !text_poke_torture_writes.errors &&
	       !atomic64_read(&counts.probe_errors) && !counts.stranded &&
	       !complaints();
}

static void give_verdict(bool restored)
{
	struct text_poke_reads reads;
	bool good;

	text_poke_torture_sum(&reads);
	if (!restored)
		pr_alert("!!! sites do not hold what they should\n");
	good = restored && nothing_went_wrong(&reads);
	good &= enough_happened(&reads);
	tell(good ? "--- End of test: SUCCESS:" : "--- End of test: FAILURE:",
	     &reads);
}

/* Beginning and end */

static int online_state;
static bool nmi_begun;

static int start_readers(void)
{
	int i, ret;

	nr_readers = nreaders >= 0 ? nreaders : 2 * num_online_cpus();
	readers = kcalloc(nr_readers, sizeof(*readers), GFP_KERNEL);
	if (!readers)
		return -ENOMEM;
	for (i = 0; i < nr_readers; i++) {
		ret = torture_create_kthread(torture_reader, NULL, readers[i]);
		if (ret)
			return ret;
	}
	ret = torture_create_kthread(torture_fifo_reader, NULL, fifo_reader);
	if (ret)
		return ret;
	ret = text_poke_torture_nmi_begin();
	if (ret)
		return ret;
	nmi_begun = true;
	online_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN,
					 "text_poke_torture:online",
					 start_interrupts, stop_interrupts);
	if (online_state < 0 || !TEXT_POKE_TORTURE_NMI_SENT)
		return min(online_state, 0);
	return torture_create_kthread(torture_nmi_sender, NULL, nmi_sender);
}

static int start_pokers(void)
{
	int i, ret;

	pokers = kcalloc(npokers, sizeof(*pokers), GFP_KERNEL);
	if (!pokers)
		return -ENOMEM;
	for (i = 0; i < npokers; i++) {
		ret = torture_create_kthread(torture_poker, NULL, pokers[i]);
		if (ret)
			return ret;
	}
	return torture_create_kthread(torture_listener, NULL, listener);
}

static int start_others(void)
{
	int ret;

	ret = add_probes();
	if (!ret && nr_probes)
		ret = torture_create_kthread(torture_prober, NULL, prober);
	if (!ret && IS_ENABLED(CONFIG_KPROBES))
		ret = torture_create_kthread(torture_site_prober, NULL,
					     site_prober);
	if (!ret)
		ret = torture_create_kthread(torture_stopper, NULL, stopper);
	if (!ret && plugs())
		ret = torture_create_kthread(torture_hotplug, NULL, onoff);
	if (!ret && stat_interval > 0)
		ret = torture_create_kthread(torture_teller, NULL, teller);
	return ret;
}

static void torture_stop(void);

static int start_framework(void)
{
	int ret = 0;

	if (shuffle_interval > 0)
		ret = torture_shuffle_init(shuffle_interval * HZ);
	if (!ret && stutter > 0)
		ret = torture_stutter_init(stutter * HZ, 4 * stutter * HZ);
	if (!ret && shutdown_secs > 0)
		ret = torture_shutdown_init(shutdown_secs, torture_stop);
	return ret;
}

/* In reverse order; what has not begun does not mind. */
static void stop_threads(void)
{
	int i;

	torture_stop_kthread(torture_teller, teller);
	torture_stop_kthread(torture_hotplug, onoff);
	torture_stop_kthread(torture_stopper, stopper);
	torture_stop_kthread(torture_site_prober, site_prober);
	torture_stop_kthread(torture_prober, prober);
	remove_probes();
	torture_stop_kthread(torture_listener, listener);
	for (i = 0; pokers && i < npokers; i++)
		torture_stop_kthread(torture_poker, pokers[i]);

	torture_stop_kthread(torture_nmi_sender, nmi_sender);
	if (online_state > 0)
		cpuhp_remove_state(online_state);
	online_state = 0;
	if (nmi_begun)
		text_poke_torture_nmi_end();
	nmi_begun = false;
	torture_stop_kthread(torture_fifo_reader, fifo_reader);
}

static void stop_readers(void)
{
	int i;

	counts.preempted = preemptions();
	for (i = 0; readers && i < nr_readers; i++)
		torture_stop_kthread(torture_reader, readers[i]);
}

static void free_threads(void)
{
	kfree(readers);
	readers = NULL;
	nr_readers = 0;
	kfree(pokers);
	pokers = NULL;
}

static void torture_stop(void)
{
	bool restored;

	if (torture_cleanup_begin())
		return;
	stop_threads();
	stop_readers();
	restored = text_poke_torture_end_sites();
	give_verdict(restored);
	free_threads();
	torture_cleanup_end();
}

/* A start that fails ends like a run, which then has failed. */
static int torture_start(void)
{
	int ret;

	if (!torture_init_begin("text_poke", verbose))
		return -EBUSY;
	add_taint(TAINT_TEST, LOCKDEP_STILL_OK);
	memset(&counts, 0, sizeof(counts));
	counts.complaints_before = text_poke_complaints;
	WRITE_ONCE(text_poke_longest_map, 0);

	ret = text_poke_torture_begin_sites();
	if (!ret)
		ret = start_readers();
	if (!ret)
		ret = start_pokers();
	if (!ret)
		ret = start_others();
	if (!ret)
		ret = start_framework();
	torture_init_end();
	if (ret)
		torture_stop();
	return ret;
}

/* Parameters that may be written */

static int may_write(void)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL);
}

static bool run;

static int start_or_stop(bool on)
{
	int ret = 0;

	if (on == run)
		return 0;
	if (on)
		ret = torture_start();
	else
		torture_stop();
	if (!ret)
		run = on;
	return ret;
}

/* While the command line is read, it is too early for threads. */
static int run_set(const char *val, const struct kernel_param *kp)
{
	bool on;
	int ret;

	ret = kstrtobool(val, &on);
	if (ret)
		return ret;
	if (system_state < SYSTEM_RUNNING) {
		run = on;
		return 0;
	}
	ret = may_write();
	return ret ?: start_or_stop(on);
}

static const struct kernel_param_ops run_ops = {
	.set	= run_set,
	.get	= param_get_bool,
};

module_param_cb(run, &run_ops, &run, 0600);
MODULE_PARM_DESC(run, "Start the test, or stop it");

/* On return from setting it, no task is changing anything. */
static int hold_set(const char *val, const struct kernel_param *kp)
{
	bool on;
	int ret;

	ret = kstrtobool(val, &on) ?: may_write();
	if (ret)
		return ret;
	guard(rwsem_write)(&calm);
	hold = on;
	return 0;
}

static const struct kernel_param_ops hold_ops = {
	.set	= hold_set,
	.get	= param_get_bool,
};

module_param_cb(hold, &hold_ops, &hold, 0600);
MODULE_PARM_DESC(hold, "Leave text and CPUs as they are for a while");

static int __init torture_init(void)
{
	int ret;

	if (!run)
		return 0;
	run = false;
	ret = may_write();
	return ret ?: start_or_stop(true);
}
late_initcall(torture_init);
