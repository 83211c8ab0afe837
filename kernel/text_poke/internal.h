/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_INTERNAL_H
#define _TEXT_POKE_INTERNAL_H

#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/text_poke.h>

/**
 * struct text_poke_stats - what the core has done since boot
 * @pokes:	sites changed
 * @batches:	batches written, of which
 * @direct:	 without a guard
 * @guarded:	 with one
 * @stops:	how often the machine was stopped for changes
 * @syncs:	calls of arch_text_poke_sync()
 * @mappings:	calls of arch_text_poke_map()
 * @records:	records emitted, those of a reversal included
 * @readers_ns:	how long batches have waited for what reads the records
 * @refused:	sites or batches turned down
 * @rolled_back: batches that failed midway
 * @unwatched:	batches with a site in what runs while a CPU counts as in user
 *		mode, so that every CPU was interrupted
 * @left_alone:	how often a CPU in user mode was not
 *
 * Written under text_mutex; read without.
 */
struct text_poke_stats {
	u64 pokes;
	u64 batches;
	u64 direct;
	u64 guarded;
	u64 stops;
	u64 syncs;
	u64 mappings;
	u64 records;
	u64 readers_ns;
	u64 refused;
	u64 rolled_back;
	u64 unwatched;
	u64 left_alone;
};

extern struct text_poke_stats text_poke_stats;

/* For how many nanoseconds traps were armed, at most, from group to group. */
extern u64 text_poke_longest_armed;

/* For how many nanoseconds a CPU has changed text with the machine stopped, at most. */
extern u64 text_poke_longest_stop;

/*
 * The number of changes that share a stop, at most: nothing else runs on any CPU
 * meanwhile, not even a timer.  Each takes a mapping, which is invalidated on all
 * CPUs, cache maintenance that reaches all of them, and a record: some
 * microseconds on a large machine, by estimate.  So a stop should stay below a
 * millisecond, which is the shortest tick; stop_max_ns in debugfs says what it
 * was.
 */
#define TEXT_POKE_STOP_CHANGES 128U

/* What the runtime checker has found wrong since boot. */
extern u64 text_poke_complaints;

/* For how many nanoseconds it has seen text mapped for writing, at most. */
extern u64 text_poke_longest_map;

/*
 * The number of times in a row that a CPU may find the same trap gone before
 * text_poke_handle_trap() stops believing it.  One is normal.  A CPU that
 * keeps executing what memory no longer holds has missed a sync or its cache
 * maintenance, and is better off with a report than in a loop.
 */
#define TEXT_POKE_REREADS 256

/*
 * The number of sites in a wave.  Fewer make for fewer traps, more for fewer
 * syncs; this is one sync for some 1500 functions that ftrace turns on, each
 * of which is a call site and a literal.
 */
#define TEXT_POKE_WAVE 3072U

/*
 * The number of sites in a group, at most.  The poker keeps its CPU while any
 * site of a group traps.  Four waves take six syncs.
 */
#define TEXT_POKE_GROUP (4 * TEXT_POKE_WAVE)

/*
 * A batch of so many sites waits for what reads its records, where nothing traps:
 * for so long in all, and for a reader that does not get on.  Fewer sites do not
 * fill a buffer of the usual size, which is 512 KiB.
 */
#define TEXT_POKE_READERS_SITES 1024U
#define TEXT_POKE_READERS_NS (100 * NSEC_PER_MSEC)
#define TEXT_POKE_READER_IDLE_NS (20 * NSEC_PER_MSEC)

/*
 * For how many nanoseconds a group arms sites.  It then takes what is armed to
 * its end, which is two more rounds.  A CPU that does a store and a record in a
 * microsecond arms a whole group in less; a slower one makes smaller groups of
 * it.  10 ms is one tick at HZ=100: with PREEMPT_NONE a task may have to wait
 * for that anyway.  PREEMPT_RT would rather have more syncs.
 */
#define TEXT_POKE_ARMING_NS \
	((IS_ENABLED(CONFIG_PREEMPT_RT) ? 200 : 10000) * NSEC_PER_USEC)

/* TEXT_POKE_ARMING_NS, unless it was set to something else. */
extern u64 text_poke_arming_ns;

/*
 * The number of stores through one mapping, at most.  An architecture may have
 * interrupts off for so long, and every store takes a line away from the
 * CPUs that have it in a cache: 32 take some microseconds.  More would hardly
 * save time: so many call sites are on half a dozen pages.
 */
#define TEXT_POKE_STORES 32U

/*
 * The number of records that perf is told of at once, at most.  As perf opens its
 * events they are 64 bytes each on every architecture, so that this is one
 * reservation of 4 KiB in the buffer; or 88 with a literal and its call, and then
 * it is two.  The stamp of a reservation is the same.
 */
#define TEXT_POKE_RECORDS 64U

/*
 * A literal and the instruction behind it share a record if they are no longer
 * than this, with what is between them.  For a call that ftrace changes arm64 has
 * the literal, a BTI, a move and the branch, 20 bytes; RISC-V the literal, an
 * AUIPC and the JALR, 16 bytes.
 */
#define TEXT_POKE_PAIR 24U

/* Pages of pointers, and how many are in one. */
#define TEXT_POKE_INDEX		1024
#define TEXT_POKE_PER_INDEX	(PAGE_SIZE / sizeof(struct text_poke_site *))

/**
 * struct text_poke_queue - the sites of a batch, in the order of addresses
 * @index:	pages of pointers to them, all but the last of which are full
 * @nr:		how many sites
 *
 * The trap handler searches it, so all of it is mapped and stays where it is.
 */
struct text_poke_queue {
	struct text_poke_site **index[TEXT_POKE_INDEX];
	unsigned int nr;
};

/**
 * text_poke_site_at - give a site of a batch
 * @queue:	the batch
 * @i:		its number, below @queue->nr
 *
 * Context: Any; noinstr.
 * Return: the site.
 */
static __always_inline struct text_poke_site *
text_poke_site_at(const struct text_poke_queue *queue, unsigned int i)
{
	return queue->index[i / TEXT_POKE_PER_INDEX][i % TEXT_POKE_PER_INDEX];
}

/**
 * text_poke_first_from - find the first site of a batch from an address on
 * @queue:	the batch, which is sorted
 * @nr:		how many of its sites are searched
 * @addr:	the address
 *
 * Context: Any; noinstr.
 * Return: the number of the site; @nr if there is none.
 */
static __always_inline unsigned int
text_poke_first_from(const struct text_poke_queue *queue, unsigned int nr,
		     const void *addr)
{
	unsigned int low = 0, high = nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (text_poke_site_at(queue, mid)->addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void text_poke_warn(const char *what, const void *where);
bool text_poke_mutex_is_held(void);
void text_poke_batch_begins(void);
void text_poke_batch_ends(void);
void text_poke_unstick(void);
atomic_t *text_poke_refs(int cpu);

void text_poke_publish(const struct text_poke_queue *queue);
void text_poke_retire(void);
/* Of how many traps a CPU remembers the sites; a power of two. */
#define TEXT_POKE_TRAPPED	64

u64 text_poke_traps(void);
const void *text_poke_trapped(int cpu, unsigned int ago);
u64 text_poke_rereads(void);

bool text_poke_in_trap_path(const void *addr);

int text_poke_write(void *addr, const void *bytes, size_t len);
void text_poke_sync_cpus(void);
void text_poke_record(const void *addr, const void *old, size_t old_len,
		      const void *new, size_t new_len);

u64 text_poke_wait_for_room(unsigned int nr, u64 waited);

#ifdef CONFIG_PERF_EVENTS
bool text_poke_is_untold(void);
void text_poke_tell(void);
void text_poke_record_pair(const struct text_poke_site *literal,
			   const struct text_poke_site *insn, bool reverse);
#else
static inline bool text_poke_is_untold(void) { return false; }
static inline void text_poke_tell(void) { }
static inline void text_poke_record_pair(const struct text_poke_site *literal,
					 const struct text_poke_site *insn,
					 bool reverse) { }
#endif

#ifdef CONFIG_TEXT_POKE_CATCH_UP

bool text_poke_ask(int cpu);
bool text_poke_leaves_alone(int cpu);
void text_poke_catch_up_begin(const struct text_poke_queue *batch);
void text_poke_catch_up_end(void);

#else /* !CONFIG_TEXT_POKE_CATCH_UP */

static inline bool text_poke_leaves_alone(int cpu) { return false; }
static inline void
text_poke_catch_up_begin(const struct text_poke_queue *batch) { }
static inline void text_poke_catch_up_end(void) { }

#endif /* CONFIG_TEXT_POKE_CATCH_UP */

#if defined(CONFIG_TEXT_POKE_CATCH_UP) && defined(CONFIG_TEXT_POKE_DEBUG)
DECLARE_PER_CPU(const void *, text_poke_early_trap);
void text_poke_note_early_trap(const void *addr);
const void *text_poke_take_early_trap(void);
#else
static __always_inline void text_poke_note_early_trap(const void *addr) { }
static inline const void *text_poke_take_early_trap(void) { return NULL; }
#endif

#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS

/* The number of slots in the page; no more than a table of addresses is good for. */
#define TEXT_POKE_SLOTS min_t(size_t, PAGE_SIZE / TEXT_POKE_SLOT, 256)

/**
 * struct text_poke_slots - the slots of the batch
 * @page:	where they are; NULL: there are none
 * @nr:		how many are taken
 * @used:	CPUs may have entered
 * @recorded:	perf has been told
 * @back:	where to go on after each
 */
struct text_poke_slots {
	void *page;
	unsigned int nr;
	bool used;
	bool recorded;
	void *back[256];
};

extern struct text_poke_slots text_poke_slots;

/**
 * text_poke_slot_end - where to go on after a slot
 * @addr:	where a trap was taken
 *
 * Context: The trap's entry path.
 * Return: the address after the slot's site; NULL: @addr is not in a slot.
 */
static __always_inline void *text_poke_slot_end(const void *addr)
{
	const void *page = READ_ONCE(text_poke_slots.page);

	if (!page || addr < page ||
	    addr >= page + TEXT_POKE_SLOTS * TEXT_POKE_SLOT)
		return NULL;
	return text_poke_slots.back[(addr - page) / TEXT_POKE_SLOT];
}

bool text_poke_slots_full(void);
int text_poke_slot_get(struct text_poke_site *site);
void text_poke_slots_begin(bool listening);
void text_poke_slots_free(void);

#else /* !CONFIG_HAVE_TEXT_POKE_SLOTS */

static __always_inline void *text_poke_slot_end(const void *addr)
{
	return NULL;
}

static inline bool text_poke_slots_full(void) { return false; }
static inline int text_poke_slot_get(struct text_poke_site *site)
{
	return -EOPNOTSUPP;
}

static inline void text_poke_slots_begin(bool listening) { }
static inline void text_poke_slots_free(void) { }

#endif /* CONFIG_HAVE_TEXT_POKE_SLOTS */

#endif /* _TEXT_POKE_INTERNAL_H */
