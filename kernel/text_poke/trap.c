// SPDX-License-Identifier: GPL-2.0
/*
 * The trap handler, and the batch it looks into.
 *
 * A CPU that hits a trap can be in any context: with interrupts off, in an
 * NMI, in the entry code of another exception, holding any lock, before RCU
 * watches.  So text_poke_handle_trap() uses its arguments, this CPU's counters,
 * the published batch and the slots, and nothing else.
 *
 * Each CPU has a reference count of its own, because on a large machine all
 * CPUs may hit the same site in the same microsecond.  The poker holds one
 * reference on every count while the batch is published; a handler takes one
 * only if the count is not zero.
 *
 *   poker                               handler
 *   ----------------------------------  ------------------------------------
 *   write the batch
 *   a: refs = 1         (release)
 *      batches++        (release)
 *      smp_wmb()                        take the trap
 *   b: write the traps                  smp_rmb()
 *      ...                              batches             (acquire)
 *   f: write the units                  if (refs == 0)
 *      ...                                      smp_rmb(),
 *      ...                                      look at the text (acquire)
 *   g: sync                             refs++              (full order)
 *   h: refs--                           find the site, emulate
 *      wait for refs == 0 (acquire)     refs--                 (release)
 *      reuse the batch
 *
 * To look at the text is for a trap that was fetched before g and handled after
 * h.  If it is still there, and no batch was published since the handler began,
 * it is not the core's; otherwise it may be that batch's, and the handler begins
 * anew.  A sync by interrupt cannot leave one behind on a CPU that is online,
 * because the interrupt waits for the handler; one that is acknowledged inside
 * the handler can.  (With such a sync a late trap may also find the next batch on
 * the same site, and emulate that batch's new instruction before its step b.)
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/text_poke.h>

#include "debug.h"
#include "internal.h"

/**
 * struct text_poke_cpu - what one CPU's trap handler keeps
 * @refs:	0: no batch; 1: published; more: this CPU is looking into it
 * @gone_run:	how often in a row the trap at @gone_addr was gone
 * @gone_addr:	where that was
 * @gone_batch:	the batch that was published last by then
 * @traps:	traps handled
 * @trapped:	the sites of the last of them
 * @rereads:	traps that were gone
 */
struct text_poke_cpu {
	atomic_t refs;
	unsigned int gone_run;
	const void *gone_addr;
	unsigned int gone_batch;
	u64 traps;
	const void *trapped[TEXT_POKE_TRAPPED];
	u64 rereads;
};

static DEFINE_PER_CPU_ALIGNED(struct text_poke_cpu, text_poke_cpu);

static const struct text_poke_queue *published;
static unsigned int batches_published;

/**
 * text_poke_publish - show a batch to the trap handler (step a)
 * @queue:	its sites, sorted by address
 *
 * Context: text_mutex held; no batch is published.
 */
void text_poke_publish(const struct text_poke_queue *queue)
{
	int cpu;

	published = queue;

	/*
	 * Release: a handler that gets a reference in text_poke_handle_trap()
	 * sees this batch, not the one before.
	 */
	for_each_possible_cpu(cpu)
		atomic_set_release(&per_cpu(text_poke_cpu.refs, cpu), 1);

	/*
	 * Release: pairs with the acquire in text_poke_handle_trap().  A handler
	 * that has counted this batch finds a reference to take, unless it is
	 * retired.
	 */
	smp_store_release(&batches_published, batches_published + 1);

	/*
	 * Pairs with smp_rmb() in text_poke_handle_trap(): a CPU that executes a
	 * trap of this batch finds a reference to take, and has to count it.
	 * A release orders what comes before it; without this barrier the
	 * traps, which come after, could be seen first and would belong to
	 * no batch.
	 */
	smp_wmb();
	text_poke_check_published(true);
}

/**
 * text_poke_retire - take the batch back (step h)
 *
 * On return no handler looks at the batch, and none will.
 *
 * Context: text_mutex held.  Spins for handlers, which do not wait.
 */
void text_poke_retire(void)
{
	int cpu;

	text_poke_check_published(false);
	for_each_possible_cpu(cpu) {
		atomic_t *refs = &per_cpu(text_poke_cpu.refs, cpu);

		/*
		 * Acquire pairs with the release in put_batch(): what the
		 * handler still read of the batch it read before the memory
		 * is used again.
		 */
		if (!atomic_dec_and_test(refs))
			atomic_cond_read_acquire(refs, !VAL);
		text_poke_check_let_go(refs);
	}
}

#if IS_ENABLED(CONFIG_TEXT_POKE_KUNIT_TEST)
/* For a test that is a handler which takes its time. */
atomic_t *text_poke_refs(int cpu)
{
	return &per_cpu(text_poke_cpu.refs, cpu);
}
#endif

/* How many traps have been handled on all CPUs since boot. */
u64 text_poke_traps(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(text_poke_cpu.traps, cpu));
	return sum;
}

/*
 * Where a CPU has met a trap: the last time, or @ago times before that.  NULL:
 * that is forgotten, or was never.  It may be overwritten meanwhile.
 */
const void *text_poke_trapped(int cpu, unsigned int ago)
{
	const struct text_poke_cpu *that = &per_cpu(text_poke_cpu, cpu);
	u64 last = READ_ONCE(that->traps) - 1;

	if (ago >= TEXT_POKE_TRAPPED)
		return NULL;
	return READ_ONCE(that->trapped[(last - ago) % TEXT_POKE_TRAPPED]);
}

/* How many traps were gone when the handler looked, since boot. */
u64 text_poke_rereads(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(text_poke_cpu.rereads, cpu));
	return sum;
}

static __always_inline const struct text_poke_site *find_site(const void *addr)
{
	const struct text_poke_site *site;
	unsigned int nr = published->nr;
	unsigned int i = text_poke_first_from(published, nr, addr);

	if (i >= nr)
		return NULL;
	site = text_poke_site_at(published, i);
	if (site->addr != addr)
		return NULL;
	return site->trap && !site->foreign ? site : NULL;
}

static __always_inline void put_batch(struct text_poke_cpu *this)
{
	/* Release: pairs with the acquire in text_poke_retire(). */
	smp_mb__before_atomic();
	raw_atomic_dec(&this->refs);
}

static __always_inline void note_trap(struct text_poke_cpu *this,
				      const void *addr)
{
	WRITE_ONCE(this->trapped[this->traps % TEXT_POKE_TRAPPED], addr);
	WRITE_ONCE(this->traps, this->traps + 1);
}

/* Emulate the site at @addr, if the published batch has one there. */
static __always_inline bool handle_site(struct text_poke_cpu *this,
					struct pt_regs *regs, const void *addr)
{
	const struct text_poke_site *site;

	if (!raw_atomic_inc_not_zero(&this->refs))
		return false;

	site = find_site(addr);
	if (site) {
		arch_text_poke_emulate(regs, site);
		this->gone_run = 0;
		note_trap(this, addr);
		text_poke_note_early_trap(addr);
	}

	put_batch(this);
	return site;
}

/*
 * At the end of a slot, go on after its site.  Its batch may be retired, but
 * the slot stays until every CPU has left, see text_poke_slots_free().
 */
static __always_inline bool leave_slot(struct pt_regs *regs, const void *addr)
{
	void *end = text_poke_slot_end(addr);

	if (!end)
		return false;
	instruction_pointer_set(regs, (unsigned long)end);
	return true;
}

/*
 * Count a trap that was gone.  False if the same one has been gone too often in
 * a row since the last batch: then this CPU executes what memory does not hold.
 */
static __always_inline bool count_gone(struct text_poke_cpu *this,
				       const void *addr)
{
	unsigned int batch = READ_ONCE(batches_published);

	if (this->gone_addr != addr || this->gone_batch != batch) {
		this->gone_addr = addr;
		this->gone_batch = batch;
		this->gone_run = 0;
	}
	this->rereads++;
	return this->gone_run++ < TEXT_POKE_REREADS;
}

/* Look at the text after no batch was found. */
static __always_inline bool trap_is_gone(const void *addr)
{
	/*
	 * First the count, then the text: pairs with the fully ordered
	 * decrement in text_poke_retire(), which comes after the final write.
	 * A CPU that saw a count of zero sees that write.  Without the barrier the
	 * count could be read last, for an acquire only orders what follows.
	 *
	 * The load acquires: it pairs with smp_wmb() in text_poke_publish().
	 * A CPU that sees the trap of a later batch finds that batch, and
	 * counts it.
	 */
	smp_rmb();
	return !arch_text_poke_is_trap(addr);
}

/**
 * text_poke_handle_trap - handle a trap that may be the core's
 * @regs:	the interrupted kernel context
 *
 * Entry code calls this first of all, for traps taken in kernel mode that
 * look like the core's own.
 *
 * Context: Any; noinstr; not preemptible.
 * Return: true if @regs say how to go on; false if the trap is not the core's.
 */
noinstr bool text_poke_handle_trap(struct pt_regs *regs)
{
	struct text_poke_cpu *this = raw_cpu_ptr(&text_poke_cpu);
	const void *addr = arch_text_poke_trap_addr(regs);
	unsigned int batch;

	/*
	 * Pairs with smp_wmb() in text_poke_publish(): having seen the trap,
	 * this CPU now sees the count that was set before it.
	 */
	smp_rmb();

	do {
		/* Acquire: pairs with the release in text_poke_publish(). */
		batch = smp_load_acquire(&batches_published);

		if (handle_site(this, regs, addr))
			return true;
		if (leave_slot(regs, addr))
			return true;

		/*
		 * No batch's that was there.  Either the trap is gone, and this
		 * CPU executes what is there by going back; or it is that of a
		 * batch which was published meanwhile.
		 */
		if (trap_is_gone(addr))
			return count_gone(this, addr);
		this->gone_run = 0;
	} while (batch != READ_ONCE(batches_published));

	return false;
}
