// SPDX-License-Identifier: GPL-2.0
/*
 * The batch, and the order in which it reaches the text.
 *
 * Letters at the steps are those of the timeline in <linux/text_poke.h>.
 *
 * What goes wrong without each sync of a guarded batch, with one site that
 * changes from OLD to NEW, and a decoder that applies the record at its stamp:
 *
 *   no c   CPU1 still runs OLD out of its pipeline after the record (d).
 *          Decoded as NEW: wrong.
 *   no e   CPU1 left its last interrupt before d and runs straight on, over
 *          the site, after f.  The trace of that run starts before d, so it
 *          is decoded with OLD.  It ran NEW: wrong.
 *   no g   CPU1 takes the trap after h, when no batch says whose it was.
 *
 * The longer a batch is, the more of what the poker itself calls is trapping
 * meanwhile, and each of these calls makes the batch last longer.  So a long
 * batch goes through the steps in waves, one step apart, and every sync serves
 * three of them:
 *
 *   wave 1   b  c  d  e  f  g
 *   wave 2         b  c  d  e  f  g
 *   wave 3               b  c  d  e  f  g
 *               |     |     |     |     |
 *              sync  sync  sync  sync  sync
 *
 * A site still has a sync between any two of its steps b, d, f and h.
 *
 * While a site traps, every CPU that comes by pays for it, and the poker may be
 * preempted, throttled, or starved by a task that has more to say.  So it keeps
 * its CPU from the first trap to the sync after the last unit: preemption is
 * off, interrupts are on.  That must not take long.  So the waves go in groups,
 * each of which comes to its end before the next one begins, and between which
 * nothing traps:
 *
 *   group   b c  d e b c  d e f g   preempt_enable(), cond_resched()
 *
 * A group arms sites until there are TEXT_POKE_GROUP of them, or it has done so
 * for TEXT_POKE_ARMING_NS.
 *
 * What a rollback looks like depends on how far the batch got.  As long as
 * every site traps no CPU runs OLD or NEW, so it goes back through that state:
 * traps again, sync, records with old and new exchanged, old tails, sync, old
 * units, sync.  Groups that were through with it do so as well, one by one.
 */
#define pr_fmt(fmt) "text_poke: " fmt

#include <linux/bug.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/text_poke.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include <asm/sections.h>

#include "debug.h"
#include "fault.h"
#include "internal.h"
#include "replaced.h"

#define CREATE_TRACE_POINTS
#include <trace/events/text_poke.h>

/* The batch that needs no memory: enough for any key in early boot. */
#define TEXT_POKE_FEW 64

static struct text_poke_site few_sites[TEXT_POKE_FEW];
static struct text_poke_site *few_index[TEXT_POKE_FEW];

/**
 * struct text_poke_chunk - a page of sites
 * @next:	the one that was filled before
 * @sites:	as many as fit
 */
struct text_poke_chunk {
	struct text_poke_chunk *next;
	struct text_poke_site sites[];
};

#define SITES_PER_CHUNK							\
	((PAGE_SIZE - sizeof(struct text_poke_chunk)) /			\
	 sizeof(struct text_poke_site))

/**
 * struct text_poke_batch - the sites that are queued
 * @queue:	where to find them; few_index, or a page, comes first
 * @chunks:	where they are, but for those in few_sites; the newest first
 * @room:	how many more fit into the newest chunk
 * @unsorted:	some site was added below the one before it
 * @stuck:	a rollback failed; if the sites are published they stay so
 */
struct text_poke_batch {
	struct text_poke_queue queue;
	struct text_poke_chunk *chunks;
	unsigned int room;
	bool unsorted;
	bool stuck;
};

static struct text_poke_batch batch = {
	.queue.index[0] = few_index,
};

static_assert(TEXT_POKE_FEW <= TEXT_POKE_PER_INDEX);

u64 text_poke_longest_armed;

u64 text_poke_arming_ns = TEXT_POKE_ARMING_NS;

static struct text_poke_site *site_at(unsigned int i)
{
	return text_poke_site_at(&batch.queue, i);
}

static_assert(TEXT_POKE_UNIT <= TEXT_POKE_MAX);
static_assert(sizeof(u64) <= TEXT_POKE_MAX, "a literal must fit into a site");

/*
 * Passes: which bytes of which sites are stored in one go over the batch.
 */
enum text_poke_pass {
	/* The new bytes, whole. */
	PASS_DIRECT,
	PASS_UNDO_DIRECT,
	/* Literals whole; traps into the units (step b). */
	PASS_ARM,
	/* What follows the units (step e). */
	PASS_TAIL,
	PASS_UNDO_TAIL,
	/* New units over the traps; sites without a trap whole (step f). */
	PASS_FINAL,
	/* Traps over the new units. */
	PASS_REARM,
	/* Old units over the traps; literals and sites without a trap whole. */
	PASS_UNDO_ARM,
};

/* One store. */
struct text_poke_piece {
	void *addr;
	const u8 *bytes;
	size_t len;
	u8 trap[TEXT_POKE_UNIT];
};

static bool piece_at(const struct text_poke_site *site, const u8 *bytes,
		     size_t from, size_t to, struct text_poke_piece *piece)
{
	piece->addr = site->addr + from;
	piece->bytes = bytes + from;
	piece->len = to - from;
	return from < to;
}

static bool trap_piece(const struct text_poke_site *site,
		       struct text_poke_piece *piece)
{
	if (!site->trap)
		return false;
	arch_text_poke_trap(site, piece->trap);
	return piece_at(site, piece->trap, 0, TEXT_POKE_UNIT, piece);
}

static bool tail_piece(const struct text_poke_site *site, const u8 *bytes,
		       struct text_poke_piece *piece)
{
	return site->trap &&
	       piece_at(site, bytes, TEXT_POKE_UNIT, site->len, piece);
}

static bool unit_piece(const struct text_poke_site *site, const u8 *bytes,
		       struct text_poke_piece *piece)
{
	return piece_at(site, bytes, 0, site->trap ? TEXT_POKE_UNIT : site->len,
			piece);
}

/* What @pass stores at @site.  False: nothing. */
static bool piece_of(const struct text_poke_site *site,
		     enum text_poke_pass pass, struct text_poke_piece *piece)
{
	switch (pass) {
	case PASS_DIRECT:
		return piece_at(site, site->new, 0, site->len, piece);
	case PASS_UNDO_DIRECT:
		return piece_at(site, site->old, 0, site->len, piece);
	case PASS_ARM:
		if (site->data)
			return piece_at(site, site->new, 0, site->len, piece);
		return trap_piece(site, piece);
	case PASS_TAIL:
		return tail_piece(site, site->new, piece);
	case PASS_UNDO_TAIL:
		return tail_piece(site, site->old, piece);
	case PASS_FINAL:
		return !site->data && unit_piece(site, site->new, piece);
	case PASS_REARM:
		return trap_piece(site, piece);
	case PASS_UNDO_ARM:
		return unit_piece(site, site->old, piece);
	}
	return false;
}

/* What a piece that belongs to @pass is, for the checker. */
static enum text_poke_stored stored_by(enum text_poke_pass pass,
				       const struct text_poke_site *site)
{
	if (!site->trap)
		return STORED_WHOLE;
	switch (pass) {
	case PASS_ARM:
	case PASS_REARM:
		return STORED_TRAP;
	case PASS_TAIL:
	case PASS_UNDO_TAIL:
		return STORED_TAIL;
	case PASS_FINAL:
	case PASS_UNDO_ARM:
		return STORED_UNIT;
	default:
		return STORED_WHOLE;
	}
}

static int store(void *alias, const void *bytes, size_t len)
{
	if (text_poke_store_fails())
		return -EFAULT;
	return text_poke_store(alias, bytes, len);
}

/* For at most @stores of them. */
static void *map_text(void *addr, size_t *len, struct arch_text_poke_map *map,
		      unsigned int stores)
{
	if (text_poke_should_fail(TEXT_POKE_FAULT_MAP))
		return NULL;
	text_poke_plan_stores(stores);
	return arch_text_poke_map(addr, len, map);
}

/**
 * text_poke_write - write bytes that no CPU executes yet
 * @addr:	where
 * @bytes:	what
 * @len:	how many
 *
 * Through a mapping of their own, which is not counted.
 *
 * Context: as arch_text_poke_map().
 * Return: 0 or -EFAULT.
 */
int text_poke_write(void *addr, const void *bytes, size_t len)
{
	struct arch_text_poke_map map;
	size_t room = len;
	void *alias;
	int ret;

	alias = map_text(addr, &room, &map, 1);
	if (!alias)
		return -EFAULT;
	ret = room < len ? -EFAULT : store(alias, bytes, len);
	arch_text_poke_unmap(&map);
	arch_text_poke_flush(addr, len);
	return ret;
}

/* The end of what went through a mapping: @len bytes from @addr on. */
static void flush_and_unmap(struct arch_text_poke_map *map, void *addr,
			    size_t len)
{
	arch_text_poke_unmap(map);
	text_poke_check_mapped(false);
	if (len) {
		arch_text_poke_flush(addr, len);
		text_poke_check_flush(addr, len);
	}
}

/* The first site from @i on that @pass changes, below @end; or @end. */
static unsigned int next_site(enum text_poke_pass pass, unsigned int i,
			      unsigned int end, struct text_poke_piece *piece)
{
	while (i < end && !piece_of(site_at(i), pass, piece))
		i++;
	return i;
}

/*
 * How much text to map from @first on, which is in site @i: to the last of the
 * sites below @end that lie close enough together, if they are not too many.
 * @nr is set to how many.
 */
static size_t window(const void *first, unsigned int i, unsigned int end,
		     unsigned int *nr)
{
	const struct text_poke_site *site = site_at(i);

	for (*nr = 1; ++i < end && *nr < TEXT_POKE_STORES; ++*nr) {
		const struct text_poke_site *next = site_at(i);

		if (next->addr - site->addr >= PAGE_SIZE ||
		    next->addr - first + next->len > TEXT_POKE_WINDOW)
			break;
		site = next;
	}
	return site->addr - first + site->len;
}

/*
 * Store what @pass has for site *@i and those behind it, through one mapping,
 * and go on until it ends.  *@i is left at the first site not done.
 */
static int write_window(enum text_poke_pass pass, unsigned int *i,
			unsigned int end, struct text_poke_piece *piece)
{
	void *first = piece->addr, *last = first;
	struct arch_text_poke_map map;
	struct text_poke_site *site;
	int ret = -EFAULT;
	unsigned int nr;
	void *alias;
	size_t len;

	text_poke_stats.mappings++;
	len = window(first, *i, end, &nr);
	alias = map_text(first, &len, &map, nr);
	if (!alias)
		return -EFAULT;
	text_poke_check_mapped(true);

	while (*i < end && piece->addr + piece->len <= first + len) {
		site = site_at(*i);
		ret = store(alias + (piece->addr - first), piece->bytes,
			    piece->len);
		if (ret)
			break;
		text_poke_check_store(site, stored_by(pass, site));
		if (site->data) {
			/*
			 * A literal before the branch that makes a CPU read
			 * it.  Pairs with the fetch of that branch, by a load
			 * whose address depends on where the branch was.  Where
			 * that does not order the two, as on RISC-V, either
			 * value has to do: see what reads the literal.
			 */
			smp_wmb();
		}
		last = piece->addr + piece->len;
		*i = next_site(pass, *i + 1, end, piece);
	}

	flush_and_unmap(&map, first, last - first);
	return ret;
}

/* Nothing traps: others may have this CPU. */
static void rest(void)
{
	if (text_poke_should_fail(TEXT_POKE_FAULT_REST))
		text_poke_dawdle();
	cond_resched();
}

/* Nothing traps before, in or after these. */
static bool is_direct(enum text_poke_pass pass)
{
	return pass == PASS_DIRECT || pass == PASS_UNDO_DIRECT;
}

/*
 * Run one pass over the sites from *@i to @end, or as far as it gets until
 * @deadline; at least as far as one mapping goes.  *@i is left at the first site
 * that the pass has not dealt with: @end, or one that failed or has to wait.
 */
static int write_until(enum text_poke_pass pass, u64 deadline, unsigned int *i,
		       unsigned int end)
{
	struct text_poke_piece piece;
	int ret = 0;

	*i = next_site(pass, *i, end, &piece);
	while (*i < end && !ret) {
		ret = write_window(pass, i, end, &piece);
		if (is_direct(pass))
			rest();
		if (ktime_get_mono_fast_ns() >= deadline)
			break;
	}
	return ret;
}

static int write_pass(enum text_poke_pass pass, unsigned int *i,
		      unsigned int end)
{
	return write_until(pass, U64_MAX, i, end);
}

static void refetch(void *unused)
{
	arch_text_poke_sync_cpu();
	text_poke_check_refetched();
}

/**
 * text_poke_sync_by_ipi - make every online CPU refetch by an interrupt
 *
 * Context: Process context, interrupts on.
 */
void text_poke_sync_by_ipi(void)
{
	on_each_cpu(refetch, NULL, true);
}

/**
 * text_poke_sync_by_fence - make every online CPU refetch without the kernel there
 * @fence:	has the other CPUs refetch, by firmware for one, and this one
 *
 * Where the kernel runs on the other CPU makes no difference: it may be in the
 * trap handler, or have interrupts off.
 *
 * Context: Process context, interrupts on.
 */
void text_poke_sync_by_fence(void (*fence)(void))
{
	fence();
	text_poke_check_all_refetched();
}

/**
 * text_poke_cpu_online - this CPU has just been marked online
 *
 * Bring-up calls it.  Until the mark was set, syncs passed this CPU by.
 *
 * Context: The CPU that comes online, interrupts off.
 */
void text_poke_cpu_online(void)
{
	/*
	 * Orders the mark before the fetches from here on.  Pairs with what
	 * the poker does between its stores and looking which CPUs are online, in
	 * arch_text_poke_flush() or arch_text_poke_unmap().  Either this CPU
	 * is among those and gets the interrupt, or it fetches what was
	 * stored.  Otherwise it could go on with an instruction that it has
	 * fetched before, and that the poker believes no CPU can run any more.
	 */
	arch_text_poke_fetch_mb();
	arch_text_poke_sync_cpu();
	text_poke_check_online();
}

static void sync_cpus(void)
{
	text_poke_stats.syncs++;
	if (text_poke_should_fail(TEXT_POKE_FAULT_SYNC))
		text_poke_dawdle();
	text_poke_check_sync_begin();
	arch_text_poke_sync();
	text_poke_check_sync_end();
}

/* A rollback has failed at site @i.  There is no way back. */
static void give_up(unsigned int i)
{
	sync_cpus();
	text_poke_warn("cannot roll back, text stays as it is",
		       site_at(i)->addr);
	batch.stuck = true;
}

/* A pass of a rollback over the sites from @i to @end.  False: it gave up. */
static bool undo_pass(enum text_poke_pass pass, unsigned int i, unsigned int end)
{
	if (!write_pass(pass, &i, end))
		return true;
	give_up(i);
	return false;
}

/* One record for every site from *@i to @end (step d). */
static void emit_records(unsigned int *i, unsigned int end)
{
	struct text_poke_site *site;

	for (; *i < end; ++*i) {
		site = site_at(*i);
		text_poke_record(site->addr, site->old, site->len, site->new,
				 site->len);
		text_poke_check_record(site);
	}
}

/* The reversals of the records of the sites from @i to @end. */
static void emit_reversals(unsigned int i, unsigned int end)
{
	struct text_poke_site *site;

	for (; i < end; i++) {
		site = site_at(i);
		text_poke_record(site->addr, site->new, site->len, site->old,
				 site->len);
		text_poke_check_record(site);
	}
}

/**
 * struct text_poke_progress - how far a guarded batch has got
 * @first:	where the group that is under way begins
 * @armed:	this many sites of the batch have been through step b,
 * @recorded:	this many of them through step d,
 * @tailed:	through step e,
 * @final:	and through step f
 * @began:	when the group did, in nanoseconds
 */
struct text_poke_progress {
	unsigned int first;
	unsigned int armed;
	unsigned int recorded;
	unsigned int tailed;
	unsigned int final;
	u64 began;
};

/* From here to end_group() sites may trap. */
static void begin_group(struct text_poke_progress *at)
{
	at->first = at->final;
	preempt_disable();
	at->began = ktime_get_mono_fast_ns();
	text_poke_check_group(true);
}

static void end_group(const struct text_poke_progress *at)
{
	u64 armed = ktime_get_mono_fast_ns() - at->began;

	text_poke_check_group(false);
	text_poke_longest_armed = max(text_poke_longest_armed, armed);
	preempt_enable();
	rest();
}

static u64 arming_ends(const struct text_poke_progress *at)
{
	return at->began + READ_ONCE(text_poke_arming_ns);
}

/* Where the next wave of the group ends; it has none if it is full. */
static unsigned int end_of_wave(const struct text_poke_progress *at)
{
	unsigned int end = min(at->first + TEXT_POKE_GROUP, batch.queue.nr);

	if (at->armed > at->first &&
	    ktime_get_mono_fast_ns() >= arming_ends(at))
		return at->armed;
	return min(at->armed + TEXT_POKE_WAVE, end);
}

/*
 * Take a group back, all of which traps that was final.  Those before it are as
 * they were.  False: it gave up.
 */
static bool undo_group(const struct text_poke_progress *at, bool listening)
{
	if (at->final > at->first)
		sync_cpus();
	if (listening)
		emit_reversals(at->first, at->recorded);
	if (!undo_pass(PASS_UNDO_TAIL, at->first, at->tailed))
		return false;
	sync_cpus();
	if (!undo_pass(PASS_UNDO_ARM, at->first, at->armed))
		return false;
	sync_cpus();
	return true;
}

/*
 * Of the sites from @at->final to @end, which are through all steps, take back as
 * many as make a group.
 */
static bool undo_some(struct text_poke_progress *at, unsigned int end,
		      bool listening)
{
	unsigned int i = at->final;
	bool ret = false;

	begin_group(at);
	end = min(at->first + TEXT_POKE_GROUP, end);
	if (write_until(PASS_REARM, arming_ends(at), &i, end)) {
		give_up(i);
	} else {
		*at = (struct text_poke_progress) {
			at->first, i, i, i, i, at->began
		};
		ret = undo_group(at, listening);
	}
	end_group(at);
	return ret;
}

/* Take a guarded batch back: first the group that has failed, then the others. */
static void undo_guarded(const struct text_poke_progress *at, bool listening)
{
	struct text_poke_progress back = {};
	bool ret;

	text_poke_check_undo();
	ret = undo_pass(PASS_REARM, at->first, at->final) &&
	      undo_group(at, listening);
	end_group(at);
	while (ret && back.final < at->first)
		ret = undo_some(&back, at->first, listening);
}

/*
 * One round: take every wave that is under way one step further.  What is in
 * @at on entry has been synced since it was done; what is added has not.
 */
static int write_round(struct text_poke_progress *at, bool listening)
{
	struct text_poke_progress synced = *at;
	unsigned int wave = end_of_wave(at);
	int ret;

	ret = write_pass(PASS_FINAL, &at->final, synced.tailed);	/* f */
	if (ret)
		return ret;

	if (listening)
		emit_records(&at->recorded, synced.armed);		/* d */
	ret = write_pass(PASS_TAIL, &at->tailed, synced.armed);		/* e */
	if (ret)
		return ret;

	return write_until(PASS_ARM, arming_ends(at), &at->armed, wave); /* b */
}

static bool group_is_over(const struct text_poke_progress *at)
{
	return at->final == at->armed && end_of_wave(at) == at->armed;
}

/* Take a group of sites through all steps; preemption is off if that fails. */
static int write_group(struct text_poke_progress *at, bool listening)
{
	int ret;

	begin_group(at);
	do {
		ret = write_round(at, listening);
		if (ret)
			return ret;
		sync_cpus();						/* c e g */
	} while (!group_is_over(at));
	end_group(at);
	return 0;
}

static int write_guarded(bool listening)
{
	struct text_poke_progress at = {};
	int ret;

	text_poke_slots_begin(listening);
	text_poke_publish(&batch.queue);				/* a */

	do {
		ret = write_group(&at, listening);
	} while (!ret && at.final < batch.queue.nr);

	if (ret)
		undo_guarded(&at, listening);
	if (!batch.stuck)
		text_poke_retire();					/* h */
	return ret;
}

static int write_direct(void)
{
	unsigned int done = 0;
	int ret;

	ret = write_pass(PASS_DIRECT, &done, batch.queue.nr);
	if (ret) {
		text_poke_check_undo();
		undo_pass(PASS_UNDO_DIRECT, 0, done);
	}
	sync_cpus();
	return ret;
}

static bool batch_is_atomic(void)
{
	unsigned int i;

	for (i = 0; i < batch.queue.nr; i++)
		if (!site_at(i)->data && !arch_text_poke_atomic(site_at(i)))
			return false;
	return true;
}

/* On how many pages the batch, which is sorted, has sites. */
static unsigned int count_pages(void)
{
	unsigned long page, last = 0;
	unsigned int i, nr = 0;

	for (i = 0; i < batch.queue.nr; i++) {
		page = (unsigned long)site_at(i)->addr >> PAGE_SHIFT;
		nr += page != last;
		last = page;
	}
	return nr;
}

/* Write the batch in the way that was chosen, with a tracepoint at each end. */
static int write_traced(bool guarded, bool listening)
{
	u64 mappings = text_poke_stats.mappings, syncs = text_poke_stats.syncs;
	u64 start = ktime_get_mono_fast_ns();
	int ret;

	trace_text_poke_batch_begin(batch.queue.nr, guarded, listening);
	text_poke_check_begin(&batch.queue, guarded, listening);
	ret = guarded ? write_guarded(listening) : write_direct();
	if (batch.stuck)
		ret = -EIO;
	else
		text_poke_check_end();
	if (trace_text_poke_batch_end_enabled())
		trace_text_poke_batch_end(batch.queue.nr, count_pages(),
					  text_poke_stats.mappings - mappings,
					  text_poke_stats.syncs - syncs,
					  ktime_get_mono_fast_ns() - start, ret);
	return ret;
}

static int write_batch(void)
{
	bool listening, guarded;
	int ret;

	text_poke_batch_begins();
	listening = perf_text_poke_enabled();
	guarded = listening || !batch_is_atomic();

	ret = write_traced(guarded, listening);
	text_poke_batch_ends();

	text_poke_stats.batches++;
	if (guarded)
		text_poke_stats.guarded++;
	else
		text_poke_stats.direct++;
	if (ret)
		text_poke_stats.rolled_back++;
	else
		text_poke_stats.pokes += batch.queue.nr;
	return ret;
}

static int cmp_sites(void *unused, const struct list_head *a,
		     const struct list_head *b)
{
	const struct text_poke_site *x, *y;

	x = list_entry(a, struct text_poke_site, node);
	y = list_entry(b, struct text_poke_site, node);
	cond_resched();
	return x->addr > y->addr;
}

/* By merging lists, for which the sites need not be moved. */
static void sort_queue(struct text_poke_queue *queue)
{
	struct text_poke_site *site;
	unsigned int i;
	LIST_HEAD(sites);

	for (i = 0; i < queue->nr; i++)
		list_add_tail(&text_poke_site_at(queue, i)->node, &sites);
	list_sort(NULL, &sites, cmp_sites);
	i = 0;
	list_for_each_entry(site, &sites, node) {
		queue->index[i / TEXT_POKE_PER_INDEX]
			    [i % TEXT_POKE_PER_INDEX] = site;
		i++;
	}
}

/* Bring the batch into the order that the trap handler searches. */
static int sort_batch(void)
{
	const struct text_poke_site *prev;
	unsigned int i;

	if (batch.unsorted)
		sort_queue(&batch.queue);

	for (i = 1; i < batch.queue.nr; i++) {
		prev = site_at(i - 1);
		if (prev->addr + prev->len > site_at(i)->addr)
			return -EEXIST;
	}
	return 0;
}

static void free_chunks(void)
{
	struct text_poke_chunk *chunk;

	while ((chunk = batch.chunks)) {
		batch.chunks = chunk->next;
		free_page((unsigned long)chunk);
	}
	batch.room = 0;
}

static void free_index(struct text_poke_queue *queue)
{
	unsigned int i;

	for (i = 0; i < TEXT_POKE_INDEX && queue->index[i]; i++) {
		if (queue->index[i] != few_index)
			free_page((unsigned long)queue->index[i]);
		queue->index[i] = NULL;
	}
	queue->index[0] = few_index;
	queue->nr = 0;
}

static void reset_batch(void)
{
	if (batch.stuck)
		return;
	text_poke_slots_free();
	free_chunks();
	free_index(&batch.queue);
	batch.unsorted = false;
}

static int check_mutex(const void *where)
{
	if (text_poke_mutex_is_held())
		return 0;
	text_poke_warn("text_mutex is not held", where);
	return -EBUSY;
}

/*
 * Without the mutex this would be another caller's batch.  And where interrupts
 * are off, or it is in one, another CPU may wait for this one while this one
 * waits for it to sync.
 */
static int check_caller(const void *where)
{
	int ret = check_mutex(where);

	if (ret || num_online_cpus() == 1)
		return ret;
	if (!in_atomic() && !irqs_disabled())
		return 0;
	text_poke_warn("called where it cannot wait for other CPUs", where);
	return -EBUSY;
}

/**
 * text_poke_batch_finish - write the queued sites
 *
 * On success every site is live on every CPU.  On failure none is.  Either way
 * the queue is empty afterwards.
 *
 * Context: Process context, may sleep, interrupts on, text_mutex held since
 * the first site was queued.
 * Return: 0, -EEXIST if two sites overlap, -EFAULT if a write failed and was
 * rolled back, -EIO if the rollback of this batch or of an earlier one has
 * failed; -EBUSY, with a warning, if the context is another one: then the queue
 * is as it was.
 */
int text_poke_batch_finish(void)
{
	int ret;

	ret = check_caller(NULL);
	if (ret)
		return ret;
	might_sleep();

	if (batch.stuck)
		return -EIO;
	if (!batch.queue.nr)
		return 0;

	ret = sort_batch();
	if (ret)
		text_poke_stats.refused++;
	else
		ret = write_batch();
	reset_batch();
	return ret;
}

/**
 * text_poke_batch_cancel - forget the queued sites
 *
 * Context: Process context, may sleep, text_mutex held.
 */
void text_poke_batch_cancel(void)
{
	if (!check_mutex(NULL))
		reset_batch();
}

#if IS_ENABLED(CONFIG_TEXT_POKE_KUNIT_TEST)
/*
 * A test that made the rollback of a guarded batch fail tries it again, with
 * stores that work.
 */
void text_poke_unstick(void)
{
	if (!batch.stuck) {
		reset_batch();
		return;
	}
	batch.stuck = false;
	if (undo_pass(PASS_UNDO_TAIL, 0, batch.queue.nr))
		sync_cpus();
	if (undo_pass(PASS_UNDO_ARM, 0, batch.queue.nr))
		sync_cpus();
	text_poke_retire();
	text_poke_check_end();
	reset_batch();
}
#endif

/*
 * Single pages, which are there without compacting memory, and mapped wherever
 * the trap handler may run.
 */
static void *get_page_for_queue(void)
{
	if (text_poke_should_fail(TEXT_POKE_FAULT_QUEUE))
		return NULL;
	return (void *)get_zeroed_page(GFP_KERNEL | __GFP_NOWARN);
}

/* Room for one more site, and nothing else changes. */
static bool grow_chunks(void)
{
	struct text_poke_chunk *chunk;

	if (batch.queue.nr < TEXT_POKE_FEW || batch.room)
		return true;
	chunk = get_page_for_queue();
	if (!chunk)
		return false;
	chunk->next = batch.chunks;
	batch.chunks = chunk;
	batch.room = SITES_PER_CHUNK;
	return true;
}

/* Room for a pointer to it. */
static bool grow_index(struct text_poke_queue *queue)
{
	unsigned int i = queue->nr / TEXT_POKE_PER_INDEX;
	struct text_poke_site **page;

	if (i == TEXT_POKE_INDEX)
		return false;
	if (queue->index[i] && (queue->nr != TEXT_POKE_FEW ||
				queue->index[i] != few_index))
		return true;
	page = get_page_for_queue();
	if (!page)
		return false;
	if (queue->index[i])
		memcpy(page, few_index, sizeof(few_index));
	queue->index[i] = page;
	return true;
}

static int make_room(bool slot)
{
	if (slot && text_poke_slots_full())
		return -ENOMEM;
	return grow_chunks() && grow_index(&batch.queue) ? 0 : -ENOMEM;
}

/* A place for one more site, of those that make_room() has made. */
static struct text_poke_site *take_room(void)
{
	if (batch.queue.nr < TEXT_POKE_FEW)
		return &few_sites[batch.queue.nr];
	return &batch.chunks->sites[SITES_PER_CHUNK - batch.room--];
}

static void queue_site(const struct text_poke_site *site)
{
	struct text_poke_site *place = take_room();
	unsigned int nr = batch.queue.nr++;

	*place = *site;
	batch.queue.index[nr / TEXT_POKE_PER_INDEX]
			 [nr % TEXT_POKE_PER_INDEX] = place;
	if (nr && site->addr < site_at(nr - 1)->addr)
		batch.unsorted = true;
}

/**
 * text_poke_verify - compare kernel text with what it should be
 * @addr:	where
 * @old:	the bytes expected there
 * @len:	how many, at most TEXT_POKE_MAX
 *
 * Context: Any.
 * Return: 0, -EILSEQ if they differ, -EFAULT if they cannot be read, -EINVAL if
 * they are too many.
 */
int text_poke_verify(const void *addr, const void *old, size_t len)
{
	u8 bytes[TEXT_POKE_MAX];

	if (len > sizeof(bytes))
		return -EINVAL;
	if (copy_from_kernel_nofault(bytes, addr, len))
		return -EFAULT;
	return memcmp(bytes, old, len) ? -EILSEQ : 0;
}

/* Fill in @site and check it against the text; @old may be NULL. */
static int init_site(struct text_poke_site *site, void *addr, const void *old,
		     const void *new, size_t len)
{
	if (!new || !len || len > TEXT_POKE_MAX)
		return -EINVAL;

	*site = (struct text_poke_site) {
		.addr	= addr,
		.len	= len,
	};
	memcpy(site->new, new, len);

	if (copy_from_kernel_nofault(site->old, addr, len))
		return -EFAULT;
	if (old && text_poke_should_fail(TEXT_POKE_FAULT_VERIFY))
		return -EILSEQ;
	return old && memcmp(site->old, old, len) ? -EILSEQ : 0;
}

static bool is_text(void *addr, size_t len)
{
	return arch_text_poke_is_text(addr) &&
	       (!len || arch_text_poke_is_text(addr + len - 1));
}

/*
 * May what is there go?  A probe's breakpoint goes over any instruction, but
 * not over one that is a trap itself, and that a report looks up.
 */
static bool may_replace(const struct text_poke_site *site)
{
	if (site->pass)
		return !arch_text_poke_maybe_bug(site) ||
		       !find_bug((unsigned long)site->addr);
	return arch_text_poke_replaceable(site);
}

/* A site that cannot trap may be exchanged, but not for a trap. */
static int init_trap(struct text_poke_site *site)
{
	site->trap = arch_text_poke_trappable(site->addr) &&
		     !text_poke_in_trap_path(site->addr);
	site->ool &= site->trap;
	if (site->trap)
		return 0;
	return site->pass || !arch_text_poke_atomic(site) ? -EOPNOTSUPP : 0;
}

static int init_insn(struct text_poke_site *site, void *addr, const void *old,
		     const void *new, size_t len, const void *emulate)
{
	int ret;

	if (!is_text(addr, len))
		return -ENXIO;
	ret = init_site(site, addr, old, new, len);
	if (ret)
		return ret;
	ret = arch_text_poke_prepare(site, emulate ?: new);
	if (ret)
		return ret;
	ret = init_trap(site);
	if (ret)
		return ret;
	if (!may_replace(site))
		return -EINVAL;
	return !site->trap || arch_text_poke_guardable(site) ? 0 : -EOPNOTSUPP;
}

static int init_data(struct text_poke_site *site, void *addr, const void *old,
		     const void *new, size_t len)
{
	int ret;

	if (len != sizeof(u32) && len != sizeof(long))
		return -EINVAL;
	if (!IS_ALIGNED((unsigned long)addr, len))
		return -EINVAL;
	if (!is_text(addr, len))
		return -ENXIO;
	ret = init_site(site, addr, old, new, len);
	site->data = true;
	return ret;
}

/* Queue @site, of which @ret says whether it is fit. */
static int add_site(struct text_poke_site *site, int ret)
{
	/* Before what a trap of the stuck batch makes of the old bytes. */
	if (batch.stuck)
		ret = -EIO;
	if (!ret && !memcmp(site->old, site->new, site->len))
		return 0;
	if (!ret)
		ret = make_room(site->ool);
	if (!ret && site->ool)
		ret = text_poke_slot_get(site);
	if (ret) {
		text_poke_stats.refused++;
		return ret;
	}
	queue_site(site);
	cond_resched();
	return 0;
}

/**
 * text_poke_batch_add - queue an instruction to be changed
 * @addr:	where it is
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	length in bytes of both
 * @emulate:	what a CPU that hits the trap shall do; NULL: what @new does
 *
 * Nothing is written before text_poke_batch_finish().  Sites may be added in
 * any order; in ascending order is fastest.  A site where @old and @new are the
 * same is not queued and there will be no record of it.
 *
 * Context: Process context, may sleep, text_mutex held.
 * Return: 0 or one of the errors listed in <linux/text_poke.h>; the sites
 * queued before remain so.
 */
int text_poke_batch_add(void *addr, const void *old, const void *new,
			size_t len, const void *emulate)
{
	struct text_poke_site site;

	return check_caller(addr) ?:
	       add_site(&site, init_insn(&site, addr, old, new, len, emulate));
}

/**
 * text_poke_batch_add_data - queue a literal in the text to be changed
 * @addr:	where it is, aligned to @len
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	4 or 8
 *
 * A literal is read by instructions and never executed, so that it needs
 * neither trap nor sync.  It is written before every site at a higher address.
 *
 * Context: Process context, may sleep, text_mutex held.
 * Return: as text_poke_batch_add().
 */
int text_poke_batch_add_data(void *addr, const void *old, const void *new,
			     size_t len)
{
	struct text_poke_site site;

	return check_caller(addr) ?:
	       add_site(&site, init_data(&site, addr, old, new, len));
}

/**
 * text_poke_single - change one instruction, after all that is queued
 * @addr:	where it is
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	length in bytes of both
 * @emulate:	what a CPU that hits the trap shall do; NULL: what @new does
 *
 * Context: Process context, may sleep, interrupts on, text_mutex held.
 * Return: 0 or one of the errors listed in <linux/text_poke.h>.
 */
int text_poke_single(void *addr, const void *old, const void *new, size_t len,
		     const void *emulate)
{
	int ret = check_caller(addr);

	if (!ret)
		ret = text_poke_batch_finish();
	if (!ret)
		ret = text_poke_batch_add(addr, old, new, len, emulate);
	if (!ret)
		ret = text_poke_batch_finish();
	return ret;
}

/**
 * text_poke_is_dying - is this init text that is about to be freed?
 * @addr:	an address
 *
 * No CPU runs it any more, and it is no longer text to be poked, but users may
 * not have forgotten their sites in it yet.
 *
 * Context: Any; the answer lasts while text_mutex is held.
 * Return: true if so.
 */
bool text_poke_is_dying(unsigned long addr)
{
	return system_state >= SYSTEM_FREEING_INITMEM &&
	       is_kernel_inittext(addr);
}

static bool may_be_text_at(unsigned long addr)
{
	if (is_kernel_inittext(addr))
		return !text_poke_is_dying(addr);
	return is_kernel_text(addr) || is_vmalloc_or_module_addr((void *)addr);
}

/* In the kernel's text, or where the text of a module is put together. */
static bool may_be_text(void *addr, size_t len)
{
	return may_be_text_at((unsigned long)addr) &&
	       (!len || may_be_text_at((unsigned long)addr + len - 1));
}

/*
 * True if no other CPU can be running the text at @addr: because there is no
 * other CPU yet, or because it belongs to a module that is being loaded.
 */
static bool nobody_runs(void *addr)
{
	return system_state == SYSTEM_BOOTING ||
	       !kernel_text_address((unsigned long)addr);
}

/**
 * text_poke_early - change an instruction that no other CPU can run
 * @addr:	where it is
 * @old:	what is there now; NULL if the caller does not know
 * @new:	what shall be there
 * @len:	length in bytes of both
 *
 * For early boot, when one CPU runs with interrupts off and there is neither
 * a mutex nor an IPI to be had, and for the text of a module that is not yet
 * formed.  There is no guard and no record: there is no listener, or no CPU runs
 * it.
 *
 * Context: Any in which the caller is alone with the text.
 * Return: 0; -EBUSY, with a warning, if the caller is not alone; or one of
 * the errors listed in <linux/text_poke.h>.
 */
int text_poke_early(void *addr, const void *old, const void *new, size_t len)
{
	struct text_poke_site site;
	int ret;

	if (!may_be_text(addr, len))
		return -ENXIO;
	if (!nobody_runs(addr)) {
		text_poke_warn("too late for an early poke", addr);
		return -EBUSY;
	}

	ret = init_site(&site, addr, old, new, len);
	if (!ret)
		ret = arch_text_poke_prepare(&site, new);
	/* What cannot be emulated can still be written: no CPU traps. */
	if (ret && ret != -EOPNOTSUPP)
		return ret;

	return text_poke_write(addr, new, len);
}

/**
 * text_poke_barrier - wait until text_mutex has been free
 *
 * Called before text is freed, when it can no longer be found: on return no site
 * in it is queued, and no store to it is under way.  See text_poke_settle() for
 * what a new listener calls.
 *
 * Context: Process context, may sleep; text_mutex not held.
 */
void text_poke_barrier(void)
{
	mutex_lock(&text_mutex);
	mutex_unlock(&text_mutex);
}
