// SPDX-License-Identifier: GPL-2.0
/*
 * The runtime checker: is every site taken through the steps in their order?
 *
 *            store     sync       record      sync      store       sync
 *             trap                                       unit
 *   IDLE ---> ARMED ---> SYNCED ---> RECORDED ---> LEFT ---> WRITTEN ---> DONE
 *               b          c            d            e          f           g
 *
 * with a store of the tail, if there is one, while RECORDED.  Without an event
 * the second sync leads from SYNCED to LEFT.  What is stored must be flushed
 * before the next sync, at the address that executes and with the alias gone;
 * a sync must have been through every CPU that was online before and after it,
 * or have left it alone in user mode, where no CPU may come to a site; perf must
 * have been told of what was recorded since the last one; and all of it happens
 * with text_mutex held.  While a site traps the poker is not preempted, and while
 * text is mapped it stores no more often than it may.
 *
 * Two kinds of sites have shorter ways.  In a direct batch, and for literals,
 * the store leads from IDLE to WRITTEN.  A site that cannot trap is recorded
 * while IDLE, and stored when it is LEFT.
 *
 * A rollback may start from anywhere.  It arms again what is WRITTEN or DONE,
 * and then goes the same way; a site that was not recorded may be stored as soon
 * as it is SYNCED, and one that was only after a record that says the reverse.
 *
 * The monitors of kernel/trace/rv follow a CPU or a task from tracepoint to
 * tracepoint.  This follows thousands of sites at once, and with a raw spinlock
 * held, so it is not one of them.
 *
 * What is wrong is noted when it happens, which may be with a raw spinlock
 * held, and said at the end of the batch.
 */
#define pr_fmt(fmt) "text_poke: " fmt

#include <linux/bug.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/text_poke.h>
#include <linux/timekeeping.h>

#include "debug.h"
#include "internal.h"

/**
 * struct checked_batch - what the checker knows of the batch being written
 * @batch:	its sites; NULL: no batch is being written
 * @guarded:	it has a guard
 * @listening:	there must be records
 * @in_group:	a group of its sites is on its way, and may trap
 * @published:	the trap handler can find it
 * @undoing:	a rollback is under way
 * @mapped:	text is mapped for writing
 * @mapped_at:	since then, in nanoseconds
 * @stores:	so often it was written since then
 * @complaint:	the first thing that was wrong; NULL: nothing
 * @where:	the site at which it was
 */
struct checked_batch {
	const struct text_poke_queue *batch;
	bool guarded;
	bool listening;
	bool in_group;
	bool published;
	bool undoing;
	bool mapped;
	u64 mapped_at;
	unsigned int stores;
	const char *complaint;
	const void *where;
};

static struct checked_batch checked;

u64 text_poke_complaints;

u64 text_poke_longest_map;

text_poke_watch_t *text_poke_watcher;

/* How many syncs were begun, and which of them each CPU was last part of. */
static unsigned long sync_round;
static DEFINE_PER_CPU(unsigned long, refetched_in);

/* The CPUs that were online when the sync began. */
static struct cpumask online_before;

/* The CPU has refetched since it counts as online. */
static DEFINE_PER_CPU(bool, online_refetched);

static void complain_at(const char *what, const void *where)
{
	if (checked.complaint)
		return;
	checked.complaint = what;
	checked.where = where;
}

static void expect_at(bool good, const char *what, const void *where)
{
	if (!good)
		complain_at(what, where);
}

/* Tests publish sites without writing them. */
static unsigned int nr_sites(void)
{
	return checked.batch ? checked.batch->nr : 0;
}

static struct text_poke_site *site_at(unsigned int i)
{
	return text_poke_site_at(checked.batch, i);
}

static const void *first_addr(void)
{
	return checked.batch ? site_at(0)->addr : NULL;
}

static void expect_mutex(const void *where)
{
	expect_at(text_poke_mutex_is_held(), "text_mutex is not held", where);
}

static void say_what_was_wrong(void)
{
	if (!checked.complaint)
		return;
	text_poke_complaints++;
	text_poke_warn(checked.complaint, checked.where);
	checked.complaint = NULL;
}

static void tell_watcher(enum text_poke_moment moment)
{
	if (text_poke_watcher && checked.batch)
		text_poke_watcher(checked.batch, checked.guarded, moment);
}

void text_poke_check_begin(const struct text_poke_queue *batch, bool guarded,
			   bool listening)
{
	unsigned int i;

	checked.batch = batch;
	checked.guarded = guarded;
	checked.listening = listening;
	checked.undoing = false;
	expect_mutex(first_addr());
	expect_at(guarded || !listening, "unguarded although an event listens",
		  first_addr());
	for (i = 0; i < batch->nr; i++) {
		site_at(i)->stage = STAGE_IDLE;
		site_at(i)->unflushed = false;
		site_at(i)->told = false;
	}
	tell_watcher(BATCH_BEGINS);
}

static void check_left(const struct text_poke_site *site)
{
	expect_at(site->stage == STAGE_DONE || site->stage == STAGE_IDLE,
		  "a group ends while it traps", site->addr);
}

void text_poke_check_group(bool begins)
{
	unsigned int i;

	checked.in_group = begins;
	for (i = 0; !begins && !checked.undoing && i < nr_sites(); i++)
		check_left(site_at(i));
}

static void check_retired(const struct text_poke_site *site)
{
	expect_at(site->stage == STAGE_DONE || site->stage == STAGE_IDLE,
		  "retired while it may still trap", site->addr);
}

void text_poke_check_published(bool published)
{
	unsigned int i;

	expect_at(checked.published != published,
		  published ? "published over another batch" : "retired twice",
		  first_addr());
	checked.published = published;
	for (i = 0; !published && i < nr_sites(); i++)
		check_retired(site_at(i));
}

void text_poke_check_let_go(const atomic_t *refs)
{
	expect_at(!atomic_read(refs), "retired while a handler holds it",
		  first_addr());
}

void text_poke_check_mapped(bool mapped)
{
	u64 now = ktime_get_mono_fast_ns();

	expect_at(checked.mapped != mapped, "an alias was left mapped",
		  first_addr());
	checked.mapped = mapped;
	checked.stores = 0;
	if (mapped)
		checked.mapped_at = now;
	else
		text_poke_longest_map = max(text_poke_longest_map,
					    now - checked.mapped_at);
}

/* May the unit be stored over the trap? */
static bool unit_is_due(const struct text_poke_site *site)
{
	return site->stage == STAGE_LEFT ||
	       (checked.undoing && site->stage == STAGE_SYNCED);
}

/* A literal, or an instruction of a direct batch, or one that cannot trap. */
static bool whole_is_due(const struct text_poke_site *site)
{
	if (site->data || !checked.guarded)
		return true;
	return !site->trap && (checked.undoing || !checked.listening ||
			       site->stage == STAGE_LEFT);
}

static bool tail_is_due(const struct text_poke_site *site)
{
	return site->stage == STAGE_RECORDED ||
	       (!checked.listening && site->stage == STAGE_SYNCED) ||
	       (checked.undoing && site->stage >= STAGE_SYNCED &&
		site->stage <= STAGE_LEFT);
}

/* New bytes are stored or, in a rollback, those from before. */
static void check_content(struct text_poke_site *site, bool due,
			  const char *what)
{
	expect_at(due, what, site->addr);
	expect_at(!checked.undoing || !site->told,
		  "taken back, and no record says so", site->addr);
	site->stage = STAGE_WRITTEN;
}

void text_poke_check_store(struct text_poke_site *site,
			   enum text_poke_stored what)
{
	expect_mutex(site->addr);
	expect_at(++checked.stores <= TEXT_POKE_STORES,
		  "too many stores through one mapping", site->addr);
	site->unflushed = true;
	switch (what) {
	case STORED_WHOLE:
		check_content(site, whole_is_due(site),
			      "stored without a guard");
		break;
	case STORED_TRAP:
		expect_at(checked.published, "a trap without a published batch",
			  site->addr);
		expect_at(checked.undoing || site->stage == STAGE_IDLE,
			  "a trap in the middle of a change", site->addr);
		site->stage = STAGE_ARMED;
		break;
	case STORED_TAIL:
		expect_at(tail_is_due(site), "a tail out of turn", site->addr);
		if (site->stage == STAGE_LEFT)
			site->stage = STAGE_SYNCED;
		break;
	case STORED_UNIT:
		check_content(site, unit_is_due(site), "a unit out of turn");
		break;
	}
}

/* The site in front of @addr may reach over it. */
void text_poke_check_flush(const void *addr, size_t len)
{
	unsigned int i = text_poke_first_from(checked.batch, nr_sites(), addr);

	expect_at(!checked.mapped, "flushed with the alias mapped", addr);
	if (i)
		i--;
	for (; i < nr_sites() && site_at(i)->addr < addr + len; i++)
		if (site_at(i)->addr + site_at(i)->len > addr)
			site_at(i)->unflushed = false;
}

void text_poke_check_refetched(void)
{
	/*
	 * The interrupt orders this load after the store in
	 * text_poke_check_sync_begin(), and a poker that waits for the
	 * interrupt's end sees the store below.
	 */
	this_cpu_write(refetched_in, READ_ONCE(sync_round));
}

/* It was asked, and looks before it runs what may be changed. */
void text_poke_check_left_alone(int cpu)
{
	WRITE_ONCE(per_cpu(refetched_in, cpu), sync_round);
}

void text_poke_check_fenced(const struct cpumask *cpus)
{
	int cpu;

	for_each_cpu(cpu, cpus)
		WRITE_ONCE(per_cpu(refetched_in, cpu), sync_round);
}

void text_poke_check_sync_begin(void)
{
	expect_mutex(NULL);
	expect_at(!checked.in_group || !preemptible(),
		  "the poker may be preempted while sites trap", first_addr());
	expect_at(!checked.mapped, "synced with the alias mapped", NULL);
	expect_at(!text_poke_is_untold(), "synced before perf was told",
		  first_addr());
	cpumask_copy(&online_before, cpu_online_mask);
	WRITE_ONCE(sync_round, sync_round + 1);
}

/* Where a sync takes a site. */
static enum text_poke_stage after_sync(enum text_poke_stage stage)
{
	switch (stage) {
	case STAGE_ARMED:
		return STAGE_SYNCED;
	case STAGE_SYNCED:
		return checked.listening ? STAGE_SYNCED : STAGE_LEFT;
	case STAGE_RECORDED:
		return STAGE_LEFT;
	case STAGE_WRITTEN:
		return STAGE_DONE;
	default:
		return stage;
	}
}

/* A CPU that counts as in user mode has not refetched, and runs no site. */
static void check_early_traps(void)
{
	const void *addr = text_poke_take_early_trap();

	expect_at(!addr, "a site was run in what counts as user mode", addr);
}

/* A CPU that went offline meanwhile, or came online, is not asked. */
static void check_cpus(void)
{
	int cpu;

	for_each_cpu_and(cpu, &online_before, cpu_online_mask)
		expect_at(READ_ONCE(per_cpu(refetched_in, cpu)) == sync_round,
			  "a CPU has not refetched in a sync", NULL);
}

void text_poke_check_sync_end(void)
{
	unsigned int i;

	check_cpus();
	check_early_traps();
	for (i = 0; i < nr_sites(); i++) {
		struct text_poke_site *site = site_at(i);

		expect_at(!site->unflushed, "not flushed before a sync",
			  site->addr);
		site->stage = after_sync(site->stage);
	}
	tell_watcher(checked.undoing ? BATCH_UNDOING : BATCH_SYNCED);
}

/* The stages in which the record, or that of the reversal, is due. */
static bool record_is_due(const struct text_poke_site *site)
{
	if (checked.undoing)
		return true;
	if (site->data)
		return site->stage == STAGE_DONE;
	return site->stage == (site->trap ? STAGE_SYNCED : STAGE_IDLE);
}

void text_poke_check_record(struct text_poke_site *site)
{
	expect_mutex(site->addr);
	expect_at(record_is_due(site), "a record out of turn", site->addr);
	site->told = !checked.undoing;
	if (!site->data)
		site->stage = STAGE_RECORDED;
}

void text_poke_check_undo(void)
{
	checked.undoing = true;
	tell_watcher(BATCH_UNDOING);
}

void text_poke_check_end(void)
{
	unsigned int i;

	for (i = 0; i < nr_sites(); i++)
		check_retired(site_at(i));
	expect_at(!checked.published, "over, but not retired", first_addr());
	tell_watcher(checked.undoing ? BATCH_UNDONE : BATCH_ENDS);
	checked.batch = NULL;
	say_what_was_wrong();
}

void text_poke_check_online(void)
{
	text_poke_check_refetched();
	/* A CPU that does so before it is marked misses what is stored in between. */
	this_cpu_write(online_refetched, cpu_online(smp_processor_id()));
}

static int check_came_online(unsigned int cpu)
{
	if (!this_cpu_read(online_refetched))
		text_poke_warn("a CPU came online and has not refetched", NULL);
	return 0;
}

/* One that only tried to go offline does not come this way. */
static int check_comes_up(unsigned int cpu)
{
	per_cpu(online_refetched, cpu) = false;
	return 0;
}

static int __init text_poke_check_boot_cpu(void)
{
	this_cpu_write(online_refetched, true);
	return 0;
}
early_initcall(text_poke_check_boot_cpu);

static int __init text_poke_check_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					"text_poke:prepare", check_comes_up,
					NULL);
	if (ret < 0)
		return ret;
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "text_poke:check",
				check_came_online, NULL);
	return ret < 0 ? ret : 0;
}
late_initcall(text_poke_check_init);
