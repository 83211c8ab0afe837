// SPDX-License-Identifier: GPL-2.0
/*
 * The sites of the torture test: what changes them, what executes them, and
 * whether what was executed is what may have been there.
 *
 * Every site goes through instructions of each kind that it can hold, and while
 * it traps, the handler emulates one of any kind.  Which they are follows from
 * the number of the change alone, so that a reader of a site needs nothing
 * but the phases before and after: see phase.h.
 *
 * With a kprobe on it a site stays in its phase.  What the kprobe writes there
 * must not show, nor must a change be let through: see enum text_poke_claim.
 */
#define pr_fmt(fmt) "text_poke-torture:" fmt

#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include "../debug.h"
#include "../internal.h"
#include "../fault.h"
#include "../phase.h"
#include "torture.h"

#define REGS	TEXT_POKE_TORTURE_REGS
#define KINDS	TEXT_POKE_TORTURE_KINDS

/* Failures that are described; all are counted. */
#define FAILURES_SHOWN 20

/* A batch in so many has sites that need a slot, for that makes it slow. */
#define SLOW_TURNS 16

/* A batch maps text about so often: a mapping that fails is one of these. */
#define LATEST_MAP 8

/**
 * struct torture_site - a site, and what becomes of it
 * @entry:	the function that it is in
 * @addr:	where it is
 * @phase:	see phase.h
 * @claim:	whether it may be changed; under text_mutex
 * @kinds:	what it can hold; the first is what it began with
 * @nr_kinds:	how many
 * @first:	the bytes that it began with
 */
struct torture_site {
	const struct text_poke_torture_entry *entry;
	void *addr;
	unsigned int phase;
	enum text_poke_claim claim;
	u8 kinds[KINDS];
	u8 nr_kinds;
	u8 first[TEXT_POKE_MAX];
};

static struct torture_site *sites;
static unsigned int nr_sites;

struct text_poke_writes text_poke_torture_writes;

static DEFINE_PER_CPU(struct text_poke_reads, reads);

static unsigned int number_of(const struct torture_site *site)
{
	return site - sites;
}

static bool encode(const struct torture_site *site, unsigned int kind, u8 *insn)
{
	const struct text_poke_torture_entry *entry = site->entry;

	return text_poke_torture_encode(insn, entry->len, kind, site->addr,
					entry->fn + entry->target,
					text_poke_torture_callee,
					number_of(site));
}

/* What the site holds after so many changes. */
static unsigned int kind_after(const struct torture_site *site,
			       unsigned int changes)
{
	u32 i = jhash_2words(number_of(site), changes, 0);

	return site->kinds[changes ? i % site->nr_kinds : 0];
}

/* What it holds now. */
static void encode_now(const struct torture_site *site, u8 *insn)
{
	encode(site, kind_after(site, site->phase / PHASES), insn);
}

/* What the trap emulates in the change that comes after so many. */
static unsigned int trap_after(const struct torture_site *site,
			       unsigned int changes)
{
	u32 i = jhash_2words(number_of(site), changes, 1);

	return site->kinds[i % site->nr_kinds];
}

/* Executing */

/**
 * struct torture_call - a call of a site
 * @site:	which
 * @regs:	registers before, and afterwards
 */
struct torture_call {
	const struct torture_site *site;
	u64 regs[2 * REGS];
};

static u32 effect(const struct torture_call *call, unsigned int kind)
{
	return BIT(text_poke_torture_effect(kind, number_of(call->site),
					    call->regs));
}

static struct text_poke_seen seen_in(const void *data, unsigned int change)
{
	const struct torture_call *call = data;

	return (struct text_poke_seen) {
		.old	= effect(call, kind_after(call->site, change)),
		.trap	= effect(call, trap_after(call->site, change)),
		.new	= effect(call, kind_after(call->site, change + 1)),
	};
}

static void show_failure(const char *what, const struct torture_call *call,
			 unsigned int from, unsigned int to, unsigned int ret)
{
	static atomic_t shown = ATOMIC_INIT(0);

	if (atomic_inc_return(&shown) > FAILURES_SHOWN)
		return;
	pr_alert("!!! %s at %pS: returned %u, change %u phase %u to change %u phase %u, now %*ph\n",
		 what, call->site->addr, ret, from / PHASES, from % PHASES,
		 to / PHASES, to % PHASES, call->site->entry->len,
		 call->site->addr);
}

/* Nothing but a trap was there, or can have returned that. */
static bool was_trap(const struct torture_call *call, unsigned int from,
		     unsigned int to, u32 saw)
{
	struct text_poke_seen seen = seen_in(call, from / PHASES);

	if (from == to && from % PHASES == PHASE_TRAPPING)
		return true;
	return from / PHASES == to / PHASES && (saw & seen.trap) &&
	       !(saw & (seen.old | seen.new));
}

static void count_trap(const struct torture_call *call, unsigned int change)
{
	this_cpu_inc(reads.traps[trap_after(call->site, change)]);
	if (in_nmi())
		this_cpu_inc(reads.traps_in_nmi);
}

static void judge(const struct torture_call *call, unsigned int from,
		  unsigned int to, unsigned int ret)
{
	u32 saw = ret < 32 ? BIT(ret) : 0;

	if (!(saw & text_poke_visible(from, to, seen_in, call))) {
		this_cpu_inc(reads.wrong);
		show_failure("what cannot be", call, from, to, ret);
	}
	if (memcmp(call->regs, call->regs + REGS, REGS * sizeof(u64))) {
		this_cpu_inc(reads.spoilt);
		show_failure("registers spoilt", call, from, to, ret);
	}
	if (was_trap(call, from, to, saw))
		count_trap(call, from / PHASES);
}

/* Random is what comes first; what follows from it only has to differ. */
static void fill(u64 *regs, struct torture_random_state *rand)
{
	u64 x = torture_random(rand);
	int i;

	for (i = 0; i < REGS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		regs[i] = x ^ x >> 32;
	}
	text_poke_torture_fit(regs);
	memcpy(regs + REGS, regs, REGS * sizeof(u64));
}

/**
 * text_poke_torture_read - execute some site, and judge what it did
 * @context:	where we are
 * @rand:	the caller's own
 *
 * Context: Any.
 */
void text_poke_torture_read(enum text_poke_context context,
			    struct torture_random_state *rand)
{
	struct torture_site *site = &sites[torture_random(rand) % nr_sites];
	struct torture_call call = { .site = site };
	unsigned int from, to, ret;

	fill(call.regs, rand);
	from = text_poke_phase_from(&site->phase);
	ret = text_poke_torture_call(site->entry->fn, call.regs);
	to = text_poke_phase_to(&site->phase);

	judge(&call, from, to, ret);
	this_cpu_inc(reads.calls[context]);
}

/**
 * text_poke_torture_sum - what has been read on all CPUs
 * @sum:	to be filled
 *
 * Context: Any; what is counted meanwhile may be missing.
 */
void text_poke_torture_sum(struct text_poke_reads *sum)
{
	u64 *to = (u64 *)sum;
	int cpu, i;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const u64 *from = (u64 *)per_cpu_ptr(&reads, cpu);

		for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			to[i] += READ_ONCE(from[i]);
	}
}

/* Changing */

static int cmp_addr(const void *key, const void *elt)
{
	const struct torture_site *site = elt;

	if (key < site->addr)
		return -1;
	return key > site->addr;
}

/* Nearly all that others change is elsewhere, and there may be a lot of it. */
static struct torture_site *find(const void *addr)
{
	if (addr < sites[0].addr || addr > sites[nr_sites - 1].addr)
		return NULL;
	return bsearch(addr, sites, nr_sites, sizeof(*sites), cmp_addr);
}

/* How many changes on a site holds again what it held before this one. */
static unsigned int changes_to_same(const struct torture_site *site)
{
	unsigned int changes = site->phase / PHASES, by = 2;

	while (kind_after(site, changes + by) != kind_after(site, changes))
		by++;
	return by;
}

/* The phase of a site of the batch; from PHASES on, its change is over. */
static unsigned int phase_of(const struct torture_site *ours,
			     const struct text_poke_site *site, bool guarded,
			     enum text_poke_moment moment)
{
	if (moment == BATCH_ENDS)
		return PHASES;
	if (moment == BATCH_UNDONE)
		return PHASES * changes_to_same(ours);
	if (!guarded)
		return PHASE_DIRECT;
	if (moment == BATCH_UNDOING)
		return PHASE_UNDOING;
	switch (site->stage) {
	case STAGE_SYNCED:
		return PHASE_TRAPPING;
	case STAGE_LEFT:
	case STAGE_DONE:
		return PHASE_FINISHING;
	default:
		return PHASE_CHANGING;
	}
}

static void follow(struct torture_site *site, unsigned int phase)
{
	unsigned int began = site->phase - site->phase % PHASES;

	if (site->phase != began + phase)
		text_poke_phase_enter(&site->phase, began + phase);
}

/*
 * Any user's batch may have our sites, that of a kprobe for one.  If one is
 * claimed, the change is none of the instruction.
 */
static void watch(const struct text_poke_queue *batch, bool guarded,
		  enum text_poke_moment moment)
{
	/* One that fails at once has nothing to take back. */
	static bool stored;
	unsigned int i, ours = 0;

	if (moment == BATCH_BEGINS)
		stored = false;
	for (i = 0; i < batch->nr; i++) {
		const struct text_poke_site *queued = text_poke_site_at(batch, i);
		struct torture_site *site = find(queued->addr);

		if (!site || site->claim != UNCLAIMED)
			continue;
		follow(site, phase_of(site, queued, guarded, moment));
		stored |= queued->stage != STAGE_IDLE;
		ours++;
	}
	text_poke_torture_writes.undone += stored && moment == BATCH_UNDONE;
	if (!ours || moment != BATCH_ENDS)
		return;
	text_poke_torture_writes.pokes += ours;
	text_poke_torture_writes.batches++;
	text_poke_torture_writes.guarded += guarded;
}

/* With a kprobe there the old bytes are those of its breakpoint, or its jump. */
static int refusal(const struct torture_site *site, int ret)
{
	if (ret == -EILSEQ) {
		text_poke_torture_writes.refused++;
		return 0;
	}
	pr_alert_ratelimited("!!! change of %pS, with a probe: answered by %d\n",
			     site->addr, ret);
	return ret ?: -EBUSY;
}

/* Queue the next change of a site. */
static int queue(struct torture_site *site)
{
	u8 old[TEXT_POKE_MAX], new[TEXT_POKE_MAX], act[TEXT_POKE_MAX];
	unsigned int changes = site->phase / PHASES;
	int ret;

	encode_now(site, old);
	encode(site, kind_after(site, changes + 1), new);
	encode(site, trap_after(site, changes), act);
	if (site->claim == UNCLAIMED && !memcmp(old, new, site->entry->len)) {
		text_poke_phase_enter(&site->phase, (changes + 1) * PHASES);
		return 0;
	}
	ret = text_poke_batch_add(site->addr, old, new, site->entry->len, act);
	return site->claim == PROBED ? refusal(site, ret) : ret;
}

/* May it be tried to change the site? */
static bool wants_change(const struct torture_site *site, bool slow)
{
	return site->claim != CLAIMED && (slow || !site->entry->slow);
}

/* Queue any number of sites, from any one on, in either direction. */
static int queue_some(struct torture_random_state *rand)
{
	unsigned int chance = torture_random(rand) % 100;
	unsigned int first = torture_random(rand) % nr_sites;
	bool slow = !(torture_random(rand) % SLOW_TURNS);
	bool down = torture_random(rand) % 2;
	unsigned int i, at;
	int ret = 0;

	for (i = 0; !ret && i < nr_sites; i++) {
		at = (first + (down ? nr_sites - i : i)) % nr_sites;
		if (!wants_change(&sites[at], slow))
			continue;
		if (torture_random(rand) % 100 <= chance)
			ret = queue(&sites[at]);
	}
	return ret;
}

/* Write the batch, and let it fail somewhere on the way, if it goes so far. */
static int finish_with_fault(struct torture_random_state *rand)
{
	bool store = torture_random(rand) % 2;
	int ret;

	if (store)
		text_poke_fail_at(TEXT_POKE_FAULT_STORE,
				  torture_random(rand) % (2 * nr_sites));
	else
		text_poke_fail_at(TEXT_POKE_FAULT_MAP,
				  torture_random(rand) % LATEST_MAP);
	ret = text_poke_batch_finish();
	text_poke_fail_no_more();
	return ret == -EFAULT ? 0 : ret;
}

/* Some instructions are not to be changed while a CPU comes or goes. */
#ifndef TEXT_POKE_TORTURE_HOLDS_CPUS
#define TEXT_POKE_TORTURE_HOLDS_CPUS false
#endif

static void text_poke_torture_lock(void)
{
	if (TEXT_POKE_TORTURE_HOLDS_CPUS)
		cpus_read_lock();
	mutex_lock(&text_mutex);
}

static void text_poke_torture_unlock(void)
{
	mutex_unlock(&text_mutex);
	if (TEXT_POKE_TORTURE_HOLDS_CPUS)
		cpus_read_unlock();
}

/* Which sites are not as they should be is what tells most about an error. */
static void count_error(int ret)
{
	u8 old[TEXT_POKE_MAX];
	unsigned int i;

	text_poke_torture_writes.errors++;
	pr_alert_ratelimited("!!! a batch: answered by %d\n", ret);
	for (i = 0; i < nr_sites; i++) {
		encode_now(&sites[i], old);
		if (sites[i].claim == UNCLAIMED &&
		    text_poke_verify(sites[i].addr, old, sites[i].entry->len))
			pr_alert_ratelimited("!!! %pS holds %*ph, not %*ph\n",
					     sites[i].addr, sites[i].entry->len,
					     sites[i].addr, sites[i].entry->len,
					     old);
	}
}

/**
 * text_poke_torture_poke - change some of the sites
 * @rand:	the caller's own
 * @fault:	something is to fail, so that all is as before
 *
 * Context: Process context, may sleep.
 */
void text_poke_torture_poke(struct torture_random_state *rand, bool fault)
{
	int ret;

	text_poke_torture_lock();
	ret = queue_some(rand);
	if (ret)
		text_poke_batch_cancel();
	else
		ret = fault ? finish_with_fault(rand) : text_poke_batch_finish();
	if (ret == -ENOMEM)
		text_poke_torture_writes.full++;
	else if (ret)
		count_error(ret);
	text_poke_torture_unlock();
}

/* Beginning and end */

/**
 * text_poke_torture_probe - where a kprobe may be put
 * @i:		any number
 *
 * Return: the address of an instruction of one of the functions.
 */
void *text_poke_torture_probe(unsigned int i)
{
	const struct text_poke_torture_entry *entry = sites[i % nr_sites].entry;

	return entry->fn + entry->probe;
}

/**
 * text_poke_torture_pick - some site, to put a kprobe on
 * @rand:	the caller's own
 *
 * Return: its address.
 */
void *text_poke_torture_pick(struct torture_random_state *rand)
{
	return sites[torture_random(rand) % nr_sites].addr;
}

/**
 * text_poke_torture_claim - say what is to become of a site
 * @addr:	where it is
 * @claim:	what, from now on
 *
 * Context: Process context, may sleep.
 */
void text_poke_torture_claim(const void *addr, enum text_poke_claim claim)
{
	guard(mutex)(&text_mutex);
	find(addr)->claim = claim;
}

/* A site that is never slow leaves out what needs a slot. */
static void init_site(struct torture_site *site,
		      const struct text_poke_torture_entry *entry)
{
	unsigned int kind;
	u8 insn[TEXT_POKE_MAX];

	site->entry = entry;
	site->addr = entry->fn + entry->site;
	memcpy(site->first, site->addr, entry->len);
	for (kind = 0; kind < KINDS; kind++)
		if ((entry->slow || kind < TEXT_POKE_TORTURE_SLOW) &&
		    encode(site, kind, insn))
			site->kinds[site->nr_kinds++] = kind;
}

/**
 * text_poke_torture_begin_sites - make a list of the sites, and watch them
 *
 * Context: Process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int text_poke_torture_begin_sites(void)
{
	unsigned int i;

	nr_sites = text_poke_torture_end - text_poke_torture_begin;
	sites = kcalloc(nr_sites, sizeof(*sites), GFP_KERNEL);
	if (!sites)
		return -ENOMEM;

	for (i = 0; i < nr_sites; i++)
		init_site(&sites[i], &text_poke_torture_begin[i]);
	memset(&text_poke_torture_writes, 0, sizeof(text_poke_torture_writes));
	for_each_possible_cpu(i)
		memset(per_cpu_ptr(&reads, i), 0, sizeof(reads));

	guard(mutex)(&text_mutex);
	text_poke_watcher = watch;
	return 0;
}

/* Is it what the test has left there?  Then put back what was there first. */
static int restore(const struct torture_site *site)
{
	u8 last[TEXT_POKE_MAX];

	encode_now(site, last);
	return text_poke_single(site->addr, last, site->first, site->entry->len,
				NULL);
}

/**
 * text_poke_torture_end_sites - put back what the sites began with
 *
 * No CPU executes them any more.
 *
 * Context: Process context, may sleep.
 * Return: true if every site held what it should, and now holds that.
 */
bool text_poke_torture_end_sites(void)
{
	unsigned int i, bad = 0;

	if (!sites)
		return true;
	text_poke_torture_lock();
	text_poke_watcher = NULL;
	for (i = 0; i < nr_sites; i++)
		bad += restore(&sites[i]) ||
		       text_poke_verify(sites[i].addr, sites[i].first,
					sites[i].entry->len);
	text_poke_torture_unlock();
	kfree(sites);
	sites = NULL;
	return !bad;
}
