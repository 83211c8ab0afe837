// SPDX-License-Identifier: GPL-2.0
/*
 * The steps of a batch, wherever a store fails
 *
 * source kernel/text_poke/core.c
 * source kernel/text_poke/batch.c
 * source kernel/text_poke/guard.c
 * source kernel/text_poke/write.c
 * source kernel/text_poke/sync.c
 * source kernel/text_poke/report.c
 * unwind 20
 *
 * Proved of text_poke_batch_finish(), for two sites with any contents, in
 * waves of one, whichever of its stores fails, and if all fail from there on:
 *
 *   - Every store is within its mapping and its site, and is one unit, one
 *     tail, or all of a site that does not trap.
 *   - No CPU can execute a torn instruction, in whatever order it fetches what
 *     memory has held since its last sync.
 *   - As long as a CPU can execute a trap the poker is not preempted.
 *   - A record is emitted when every CPU traps, and there is a sync between it
 *     and the store of what it says.
 *   - A trap is stored after the batch is published, and when the batch is
 *     retired no CPU can execute one.
 *   - On success there is the new text, on failure the old one, on every CPU,
 *     and nothing else has changed.  Records, if an event listens, say so.
 *   - If a rollback fails, the batch stays published.
 *   - The poker sleeps only where it may be preempted.
 *
 * How long the sites are and whether they trap is what struct layout says.  All
 * sites are one group, or each is one of its own, as on a machine that is slow.
 *
 * perf is told of one record, or of two at once, which are all that are kept.
 *
 * Limits: one length of a queue.  A store that fails has changed nothing, which
 * holds of those that have the size of a number.
 *
 * Stubs: the hooks, with one CPU that stands for any; the trap handler's side;
 * locks and perf; kernel.h.  Sites are as text_poke_batch_add() leaves them.
 *
 * proof forth
 * proof back
 * proof stuck
 * proof mixed
 * proof direct
 * proof grouped
 * proof grouped_stuck
 *
 * mutant window-end in direct at 0: "<= first + len) {" -> "<= first + len + 4) {"
 * mutant final-early in forth at 0: "&at->final, synced.tailed)"
 *	-> "&at->final, synced.armed)"
 * mutant record-early in forth at 0: "emit_records(&at->recorded, synced.armed)"
 *	-> "emit_records(&at->recorded, wave)"
 * mutant told-late in forth at 0: "	perf_event_text_pokes(untold, nr_untold);"
 *	-> "	if (nr_untold < TEXT_POKE_RECORDS)
 *		return;
 *	perf_event_text_pokes(untold, nr_untold);"
 * mutant told-again in forth at 0: "	nr_untold = 0;"
 *	-> "	nr_untold %= TEXT_POKE_RECORDS;"
 * mutant told-in-part in back at 4: "	perf_event_text_pokes(untold, nr_untold);"
 *	-> "	perf_event_text_pokes(untold, 1);"
 * mutant told-never in back at 4: "	if (nr_untold == TEXT_POKE_RECORDS)
 *		text_poke_tell();" -> "	if (nr_untold == TEXT_POKE_RECORDS)
 *		nr_untold = 0;"
 * mutant tail-early in forth at 0: "write_pass(PASS_TAIL, &at->tailed, synced.armed)"
 *	-> "write_pass(PASS_TAIL, &at->tailed, wave)"
 * mutant progress in forth at 0: "struct text_poke_progress synced = *at;"
 *	-> "struct text_poke_progress synced = { at->first, at->armed, at->armed, at->armed, at->armed };"
 * mutant no-sync in forth at 0: "		text_poke_sync_cpus();					/" -> "		/"
 * mutant waves in forth at 0: "at->final == at->armed && end_of_wave(at) == at->armed"
 *	-> "end_of_wave(at) == at->armed"
 * mutant preempted in forth at 0: "	preempt_disable();" -> ""
 * mutant waits-in-group in grouped at 0: "			wait_for_readers(&at);"
 *	-> "			preempt_disable();
 *			wait_for_readers(&at);"
 * mutant group-ends in grouped at 0: "at->final == at->armed && end_of_wave(at) == at->armed"
 *	-> "end_of_wave(at) == at->armed"
 * mutant undo-no-rearm in back at 4: "text_poke_undo_pass(PASS_REARM, at->first, at->final)"
 *	-> "true"
 * mutant undo-no-sync in back at 4: "	if (at->final > at->first)
 *		text_poke_sync_cpus();" -> ""
 * mutant undo-tail-last in back at 2: "text_poke_undo_pass(PASS_UNDO_TAIL, at->first, at->tailed)"
 *	-> "text_poke_undo_pass(PASS_UNDO_TAIL, at->first, at->first)"
 * mutant undo-armed in mixed at 1: "text_poke_undo_pass(PASS_UNDO_ARM, at->first, at->armed)"
 *	-> "text_poke_undo_pass(PASS_UNDO_ARM, at->first, at->tailed)"
 * mutant undo-records in back at 3: "emit_reversals(at->first, at->recorded);"
 *	-> "emit_reversals(at->first, at->armed);"
 * mutant undo-others in grouped at 3: "back.final < at->first" -> "0"
 * mutant undo-others-records in grouped at 3: "at->first, i, i, i, i, at->began"
 *	-> "at->first, i, at->first, i, i, at->began"
 * mutant undo-others-first in grouped at 3: "emit_reversals(at->first, at->recorded);"
 *	-> "emit_reversals(0, at->recorded);"
 * mutant undo-tail-bytes in back at 2: "tail_piece(site, site->old, piece)"
 *	-> "tail_piece(site, site->new, piece)"
 * mutant retire-stuck in stuck at 1: "	if (!text_poke_stuck)
 *		text_poke_retire" -> "	text_poke_retire"
 * mutant retire-stuck-group in grouped_stuck at 1: "	if (!text_poke_stuck)
 *		text_poke_retire" -> "	text_poke_retire"
 * mutant trap-length in forth at 0: "piece_at(site, piece->trap, 0, TEXT_POKE_UNIT, piece)"
 *	-> "piece_at(site, piece->trap, 0, site->len, piece)"
 * mutant tail-start in forth at 0: "piece_at(site, bytes, TEXT_POKE_UNIT, site->len, piece)"
 *	-> "piece_at(site, bytes, 0, site->len, piece)"
 * mutant whole in forth at 1: "site->trap ? TEXT_POKE_UNIT : site->len,"
 *	-> "TEXT_POKE_UNIT,"
 * mutant direct-undo in direct at 1: "text_poke_undo_pass(PASS_UNDO_DIRECT, 0, done)"
 *	-> "text_poke_undo_pass(PASS_UNDO_DIRECT, 0, 0)"
 */
#define SHORT	4
#include "kernel.h"

#define CONFIG_TEXT_POKE	1
#define CONFIG_LOCKDEP		0
#define CONFIG_PERF_EVENTS	1
#define CONFIG_PREEMPT_RT	0
#define CONFIG_TEXT_POKE_KUNIT_TEST 0

#define _LINUX_ATOMIC_H
#define _LINUX_CLEANUP_H
#define _LINUX_DELAY_H
#define __LINUX_CPUMASK_H
#define __LINUX_GFP_H
#define _LINUX_KALLSYMS_H
#define _LINUX_LIST_H
#define _LINUX_LIST_SORT_H
#define __LINUX_LOCKDEP_H
#define _LINUX_MEMORY_H_
#define __LINUX_MUTEX_H
#define _LINUX_MM_H
#define _LINUX_PERF_EVENT_H
#define __LINUX_PREEMPT_H
#define _LINUX_RATELIMIT_H
#define _LINUX_SCHED_H
#define __LINUX_SMP_H
#define _LINUX_TIMEKEEPING_H

#define PAGE_SHIFT		3
#define PAGE_SIZE		(1UL << PAGE_SHIFT)

#define WARN_ON_ONCE(condition)		(condition)
#define WARN_ONCE(condition, ...)	(condition)
#define WARN_RATELIMIT(...)		do { } while (0)
#define might_sleep()			do { } while (0)
#define cond_resched()			prove(!preempt_off, "the poker goes on when it may")
#define preempt_disable()		(preempt_off++)
#define preempt_enable()		may_be_preempted()
#define cpu_relax()			do { } while (0)
#define guard(lock)			nothing_held
#define current				((struct task_struct *)NULL)
#define msleep(ms)			do { } while (0)
#define smp_wmb()			do { } while (0)
#define smp_mb()			do { } while (0)
#define mutex_is_locked(lock)		true
#define lockdep_is_held(lock)		true
#define mutex_lock(lock)		do { } while (0)
#define mutex_trylock(lock)		true
#define mutex_unlock(lock)		do { } while (0)
#define raw_smp_processor_id()		0
#define num_online_cpus()		2
#define in_atomic()			false
#define irqs_disabled()			false
#define ktime_get_mono_fast_ns()	(now += slow ? TEXT_POKE_ARMING_NS : 0)
#define NSEC_PER_USEC			1000L
#define U64_MAX				(~0ULL)
#define UINT_MAX			(~0U)
#define max(a, b)			((a) > (b) ? (a) : (b))
#define READ_ONCE(x)			(x)
#define GFP_NOIO			0
#define __GFP_NOFAIL			0

#define LIST_HEAD(name)			struct list_head name
#define list_entry(node, type, member)	((type *)NULL)
#define list_next_entry(site, member)	(site)
#define list_for_each_entry(site, list, member) while (0)

typedef struct { int counter; } atomic_t;

/* Preemption is off, and the time; each look at the clock takes long if slow. */
static int preempt_off;
static bool slow;
static u64 now;

static void may_be_preempted(void);

enum { SYSTEM_BOOTING, SYSTEM_FREEING_INITMEM };
static int system_state;

/* Not called. */
int kernel_text_address(unsigned long addr);
bool is_kernel_text(unsigned long addr);
bool __is_kernel_text(unsigned long addr);
bool is_kernel_inittext(unsigned long addr);
bool is_vmalloc_or_module_addr(const void *addr);
long copy_from_kernel_nofault(void *to, const void *from, size_t n);
unsigned long get_zeroed_page(int flags);
static void free_page(unsigned long page) { }
void list_add(struct list_head *node, struct list_head *head);
bool list_is_last(const struct list_head *node, const struct list_head *list);
void list_sort(void *priv, struct list_head *list,
	       int (*cmp)(void *priv, const struct list_head *a,
			  const struct list_head *b));
int smp_call_function_single(int cpu, void (*call)(void *), void *arg, int wait);

/* Whether an event listens. */
static bool listening;

static bool perf_text_poke_enabled(void)
{
	return listening;
}

struct perf_text_poke {
	const void *addr, *old_bytes, *new_bytes;
	u16 old_len, new_len;
};

static void perf_event_text_pokes(const struct perf_text_poke *pokes,
				  unsigned int nr);
static bool store_fails(void *alias, const void *bytes, size_t n);

/* Where the machine is slow, nothing reads the records. */
static unsigned long perf_text_poke_room(void)
{
	return slow ? 0 : -1UL;
}

static void usleep_range(unsigned long min, unsigned long max)
{
	prove(!preempt_off, "the poker sleeps where it may be preempted");
}

#undef __put_kernel_nofault
#define __put_kernel_nofault(alias, from, type, label)			\
do {									\
	if (store_fails(alias, from, sizeof(type)))			\
		goto label;						\
} while (0)

static void on_each_cpu_cond(bool (*cond)(int cpu, void *arg),
			     void (*call)(void *), void *arg, bool wait)
{
	if (cond(0, arg))
		call(arg);
}

static void nothing_held(void) { }

/* Of what fences: not called. */
struct cpumask { unsigned long bits; };
#define cpu_online_mask			((struct cpumask *)NULL)
#define cpumask_copy(to, from)		do { } while (0)
#define cpumask_clear_cpu(cpu, mask)	do { } while (0)
#define for_each_cpu(cpu, mask)		for ((cpu) = 0; (cpu) < 0; (cpu)++)

#include <linux/text_poke.h>

#include "internal.h"

#undef TEXT_POKE_WAVE
#define TEXT_POKE_WAVE		1U

#undef TEXT_POKE_RECORDS
#define TEXT_POKE_RECORDS	2U

#undef TEXT_POKE_READERS_SITES
#define TEXT_POKE_READERS_SITES	1U

#undef TEXT_POKE_READERS_NS
#define TEXT_POKE_READERS_NS	(2 * TEXT_POKE_ARMING_NS)

#undef TEXT_POKE_READER_IDLE_NS
#define TEXT_POKE_READER_IDLE_NS	TEXT_POKE_ARMING_NS

#include "kernel/text_poke/report.c"
#include "kernel/text_poke/sync.c"
#include "kernel/text_poke/write.c"
#include "kernel/text_poke/guard.c"
#include "kernel/text_poke/batch.c"
#include "kernel/text_poke/core.c"

#define NR	2
#define TRAP	0xcc

enum { OLD = 1, TRAPS = 2, NEW = 4 };

/**
 * struct seen - what a CPU can see of a site
 * @unit:	what memory has in the unit
 * @tail:	and after it
 * @may_unit:	all that a CPU may execute in the unit
 * @may_tail:	and after it
 * @recorded:	the last record says that it is new
 * @records:	how many there were
 * @synced:	there was a sync after the last record
 */
struct seen {
	u8 unit, tail, may_unit, may_tail;
	bool recorded, synced;
	int records;
};

/* Length of each site, and whether it traps. */
struct layout {
	u8 len[NR];
	bool trap[NR];
};

#define ALL_TRAP	{ { 4, 3 }, { true, true } }
#define SOME_TRAP	{ { 4, 3 }, { false, true } }
#define SHORT_AND_LONG	{ { 4, 2 }, { true, true } }

/* As many stores as there are if none fails: trap, tail and unit of each site. */
#define STORES		(3 * NR)

#ifdef AT
#define FIRST		AT
#define LAST		AT
#else
#define FIRST		0
#define LAST		(STORES - 1)
#endif
#define DO(round)	(FIRST <= (round) && (round) <= LAST)

static u8 text[16];
static struct text_poke_site given[NR], placed[NR], *page[NR];
static struct seen seen[NR];
static bool published, retired;

/* What the architecture promises about exchanging its instructions. */
static bool atomic;

/* The mapping, and how much it may be. */
static void *mapped;
static size_t mapped_len;
static size_t room;

/* Stores until one fails, and whether all do from there on. */
static int stores_left;
static bool for_ever;

bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return atomic;
}

void text_poke_batch_begins(void)
{
}

void text_poke_batch_ends(void)
{
}

/* Not the end of a batch that stays as it is. */
static void may_be_preempted(void)
{
	int i;

	preempt_off--;
	for (i = 0; i < NR; i++)
		prove(text_poke_stuck || !(seen[i].may_unit & TRAPS), "no trap is left when the poker may be preempted");
}

void text_poke_publish(const struct text_poke_queue *queue)
{
	prove(queue->nr == NR, "all sites are published");
	published = true;
}

void text_poke_retire(void)
{
	int i;

	for (i = 0; i < NR; i++)
		prove(!(seen[i].may_unit & TRAPS), "no trap is left when the batch is retired");
	published = false;
	retired = true;
}

void arch_text_poke_trap(const struct text_poke_site *site, void *unit)
{
	((u8 *)unit)[0] = TRAP;
	((u8 *)unit)[1] = TRAP;
}

void *arch_text_poke_map(void *addr, size_t *len, struct arch_text_poke_map *map)
{
	*len = min(*len, room);
	mapped = addr;
	mapped_len = *len;
	return addr;
}

void arch_text_poke_unmap(struct arch_text_poke_map *map)
{
	mapped = NULL;
}

void arch_text_poke_flush(void *addr, size_t len)
{
}

void arch_text_poke_sync_cpu(void)
{
	int i;

	for (i = 0; i < NR; i++) {
		seen[i].may_unit = seen[i].unit;
		seen[i].may_tail = seen[i].tail;
		seen[i].synced = true;
	}
}

/* The unit of site @i changes. */
static void store_unit(int i, const u8 *bytes)
{
	struct seen *now = &seen[i];

	if (bytes[0] == TRAP) {
		prove(published, "a trap is stored after the batch is published");
		prove(preempt_off, "the poker is not preempted while a site traps");
		now->unit = TRAPS;
	} else {
		now->unit = bytes[0] == given[i].new[0] ? NEW : OLD;
		prove(!listening || now->recorded == (now->unit == NEW),
		      "what is stored is what was recorded");
		prove(!now->records || now->synced,
		      "there is a sync between record and store");
	}
	now->may_unit |= now->unit;
}

static void check_torn(int i)
{
	if (given[i].len == TEXT_POKE_UNIT)
		return;
	prove(!(seen[i].may_unit & OLD) || !(seen[i].may_tail & NEW), "no new tail after an old unit");
	prove(!(seen[i].may_unit & NEW) || !(seen[i].may_tail & OLD), "no old tail after a new unit");
}

/* Where @bytes go in site @i. */
static void store_at(int i, size_t at, const u8 *bytes, size_t n)
{
	struct seen *now = &seen[i];

	if (!given[i].trap) {
		prove(at == 0 && n == given[i].len, "a site without a trap is stored at once");
		now->unit = bytes[0] == given[i].new[0] ? NEW : OLD;
		now->may_unit |= now->unit;
		now->tail = now->unit;
		now->may_tail |= now->unit;
		return;
	}
	if (at == 0 && (n == TEXT_POKE_UNIT || !published)) {
		prove(n == TEXT_POKE_UNIT || n == given[i].len, "a direct store is of all");
		store_unit(i, bytes);
	} else {
		prove(at >= TEXT_POKE_UNIT, "a unit is stored at once");
	}
	if (at + n > TEXT_POKE_UNIT) {
		now->tail = bytes[n - 1] == given[i].new[at + n - 1] ? NEW : OLD;
		now->may_tail |= now->tail;
	}
	if (published)
		check_torn(i);
}

static bool store_fails(void *alias, const void *bytes, size_t n)
{
	bool found = false;
	u8 *to = alias;
	int i;

	prove(mapped && alias >= mapped && alias + n <= mapped + mapped_len, "a store is within its mapping");
	if (stores_left-- == 0) {
		stores_left += for_ever;
		return true;
	}
	for (i = 0; i < NR; i++) {
		u8 *from = given[i].addr;

		if (to < from || to >= from + given[i].len)
			continue;
		prove(to + n <= from + given[i].len, "a store is within its site");
		store_at(i, to - from, bytes, n);
		found = true;
	}
	prove(found, "only sites change");
	memcpy(to, bytes, n);
	return false;
}

static void told_of(const void *addr, const void *old, size_t old_len,
		    const void *new, size_t new_len)
{
	int i;

	prove(listening, "an event listens");
	for (i = 0; i < NR; i++) {
		if (addr != given[i].addr)
			continue;
		prove(!given[i].trap || seen[i].may_unit == TRAPS, "every CPU traps when a record is emitted");
		prove(old_len == given[i].len && new_len == old_len, "a record is of all of a site");
		prove(seen[i].recorded == !memcmp(new, given[i].old, new_len),
		      "a record says something new");
		seen[i].recorded = !seen[i].recorded;
		prove(!memcmp(seen[i].recorded ? given[i].old : given[i].new, old, old_len),
		      "a record has both contents");
		seen[i].records++;
		seen[i].synced = false;
	}
}

static void perf_event_text_pokes(const struct perf_text_poke *pokes,
				  unsigned int nr)
{
	unsigned int i;

	prove(nr <= TEXT_POKE_RECORDS, "no more is told than is kept");
	for (i = 0; i < TEXT_POKE_RECORDS; i++)
		if (i < nr)
			told_of(pokes[i].addr, pokes[i].old_bytes,
				pokes[i].old_len, pokes[i].new_bytes,
				pokes[i].new_len);
}

/*
 * Site @i is moved to where few others are: at each look at one of few_sites
 * CBMC would go through all of them, which takes most of its time.
 */
static void move_site(int i)
{
	placed[i] = *site_at(i);
	text_poke_batch.index[i][0] = &placed[i];
}

/* Sites with any contents. */
static void queue_any(const struct layout *layout)
{
	static const u8 at[NR] = { 4, 8 };
	int i, n;

	for (i = 0; i < NR; i++) {
		struct text_poke_site any = { };

		/* A page of the index is as short as a pointer here. */
		if (i)
			text_poke_batch.index[i] = &page[i];
		given[i] = any;
		given[i].addr = text + at[i];
		given[i].len = layout->len[i];
		given[i].trap = layout->trap[i];
		for (n = 0; n < layout->len[i]; n++) {
			u8 old, new;

			assume(old != new && old != TRAP && new != TRAP);
			given[i].old[n] = old;
			given[i].new[n] = new;
			text[at[i] + n] = old;
		}
		seen[i] = (struct seen) { OLD, OLD, OLD, OLD };
		queue_site(&given[i]);
		move_site(i);
	}
}

/* What is left of a batch that has ended. */
static void check_end(int i, bool ok)
{
	const u8 *bytes = ok ? given[i].new : given[i].old;
	u8 wanted = ok ? NEW : OLD;

	prove(!memcmp(given[i].addr, bytes, given[i].len), "the text is new on success, and old on failure");
	prove(seen[i].may_unit == wanted, "on every CPU");
	prove(given[i].len == TEXT_POKE_UNIT || seen[i].may_tail == wanted,
	      "and after the unit");
	prove(seen[i].recorded == (ok && listening), "the last record says so");
	prove(!ok || seen[i].records == listening, "one record for one change");
}

/* One batch from its beginning to its end. */
static void write_one(const struct layout *layout)
{
	int i, ret;

	published = retired = false;
	queue_any(layout);
	ret = text_poke_batch_finish();
	if (text_poke_stuck) {
		prove(ret && !retired, "the batch stays published if it cannot be taken back");
		text_poke_stuck = false;
		reset_batch();
		return;
	}
	prove(!published, "the batch is retired");
	for (i = 0; i < NR; i++)
		check_end(i, !ret);
}

/* No store fails; each mapping is as short as a site. */
static void write_forth(const struct layout *layout)
{
	stores_left = STORES;
	room = TEXT_POKE_MAX;
	write_one(layout);
}

/* Every store fails in turn, for once or for good; or the one @AT alone. */
static void write_back(const struct layout *layout)
{
	int nth;

	room = sizeof(text);
	for (nth = FIRST; nth <= LAST; nth++) {
		stores_left = nth;
		write_one(layout);
	}
}

void forth(void)
{
	struct layout all = ALL_TRAP, some = SOME_TRAP;

	listening = true;
	if (DO(0))
		write_forth(&all);
	if (DO(1))
		write_forth(&some);
	listening = false;
	if (DO(2))
		write_forth(&all);
}

void back(void)
{
	struct layout layout = ALL_TRAP;

	listening = true;
	write_back(&layout);
}

void stuck(void)
{
	struct layout layout = ALL_TRAP;

	listening = true;
	for_ever = true;
	write_back(&layout);
}

void mixed(void)
{
	struct layout layout = SOME_TRAP;

	listening = true;
	write_back(&layout);
}

void grouped(void)
{
	struct layout layout = ALL_TRAP;

	slow = true;
	listening = true;
	write_forth(&layout);
	write_back(&layout);
}

void grouped_stuck(void)
{
	struct layout layout = ALL_TRAP;

	slow = true;
	listening = true;
	for_ever = true;
	write_back(&layout);
}

void direct(void)
{
	struct layout layout = SHORT_AND_LONG;

	atomic = true;
	write_forth(&layout);
	write_back(&layout);
}
