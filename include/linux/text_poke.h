/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TEXT_POKE_H
#define _LINUX_TEXT_POKE_H

/*
 * Text poke: changing kernel instructions while other CPUs execute them
 *
 * Jump labels, ftrace and their like turn a branch into a nop and back while
 * the kernel runs.  This is the one place that does it.  Callers queue the
 * instructions they want changed; the core writes them, makes every CPU
 * refetch, and tells perf what changed, so that a decoder of a
 * hardware trace of the kernel knows which instruction a CPU executed.
 *
 *
 * Words:
 *
 *   site     an address, its old bytes and its new bytes
 *   unit     the first bytes of a site, which one store changes at once:
 *            one byte on x86, the whole instruction on arm64, two bytes on
 *            RISC-V with compressed instructions
 *   tail     what follows the unit, if anything
 *   trap     a breakpoint instruction that fits into a unit
 *   literal  a constant in the text, which code reads and no CPU executes
 *   batch    the sites that change together
 *   poker    the task that changes them, and the CPU that it runs on
 *   sync     every online CPU has refetched its instructions, or is in user mode
 *            and does so before it executes any of the kernel's, see
 *            <linux/text_poke_catch_up.h>
 *   record   PERF_RECORD_TEXT_POKE
 *   event    a perf event; it listens if it asked for records
 *
 *
 * API overview:
 *
 *   text_poke_batch_add(addr, old, new, len, emulate);
 *   text_poke_batch_add_data(addr, old, new, len);
 *   text_poke_batch_finish();
 *   text_poke_batch_cancel();
 *
 *   text_poke_single(addr, old, new, len, emulate);
 *   text_poke_early(addr, old, new, len);
 *   text_poke_stopped(changes, nr);
 *   text_poke_verify(addr, old, len);
 *   text_poke_quiesce();
 *   text_poke_wait_for_tasks();
 *
 * Usage example:
 *
 *	mutex_lock(&text_mutex);
 *	for_each_call(call) {
 *		ret = text_poke_batch_add(call->addr, &nop, &bl, 4, NULL);
 *		if (ret)
 *			break;
 *	}
 *	if (ret)
 *		text_poke_batch_cancel();
 *	else
 *		ret = text_poke_batch_finish();
 *	mutex_unlock(&text_mutex);
 *
 * There is one batch, and text_mutex protects it from the first add to the
 * finish or cancel: a caller that drops it with sites still queued hands
 * them to the next caller.
 *
 *
 * The protocol:
 *
 *   poker                               any other CPU
 *   ----------------------------------  ------------------------------------
 *   a: publish the sorted batch
 *   b: write a trap into every unit
 *   c: sync ........................... the old instruction cannot run
 *   d: emit one record per site         a hit emulates the NEW instruction
 *   e: write the tails; sync .......... all have left code begun before d
 *   f: write the units
 *   g: sync ........................... the trap cannot be hit
 *   h: retire the batch
 *
 * Between c and g a CPU that comes to a site traps, and the trap handler does
 * what the new instruction would have done.  A record is stamped inside that
 * window, so whatever ran before the stamp was old and whatever runs after it
 * is new: no decoder has to guess.  This batch is called guarded.
 *
 * Two kinds of records are less exact.  Literals, which no CPU executes, are
 * written in b and recorded in d; a decoder may skip them.  The instruction
 * behind a literal may be in the same record.  Sites that cannot trap are
 * recorded in d and written in f, see arch_text_poke_trappable().
 *
 * A long batch takes these steps in waves of some thousand sites, one step
 * apart, so that a sync serves three waves: n waves take n + 2 syncs.  Traps
 * cost every CPU that comes by, so from the first trap to the last sync the
 * poker is not preempted, and does not take long: a long batch goes in groups
 * of waves, bounded by number and by time, between which nothing traps.
 *
 * Where the old or the new instruction is itself a breakpoint, a kprobe's for
 * one, that is also the trap, and what handles the one handles the other:
 * a probe hits from b on when it is armed, and until f when it is disarmed.
 * The trap handler passes such a trap on.
 *
 * If no event listens, and the architecture says that every pair of old and new
 * instruction in the batch may be exchanged under a running CPU, a to e are
 * left out: write, sync.  This batch is called direct.  The choice is made
 * once per batch under text_mutex, and text_poke_settle() keeps a new event
 * from appearing in the middle of one.
 *
 *
 * Where the manual allows a pair of instructions to be exchanged under a running
 * CPU neither directly nor by way of the trap, text_poke_batch_add() refuses it.
 * text_poke_stopped() stops the machine, once for up to 128 of the changes that
 * it gets, and records them while it is stopped.  An architecture that has such
 * pairs selects HAVE_TEXT_POKE_STOP.
 *
 *
 * The trap handler emulates a nop, a branch or a call.  Another instruction it
 * may let the CPU execute out of line, in a slot: a copy of the instruction
 * with a trap after it, from which the handler goes on after the site.
 * Slots last as long as their batch, and until text_poke_quiesce() says that
 * no task is left in them; perf is told when they come and go.
 *
 *
 * Rules for callers:
 *
 *   - Only one instruction of a sequence is ever changed.  A CPU, or a task
 *     that was preempted, may be between any two instructions.  Where two have
 *     to change, that takes two batches and text_poke_wait_for_tasks() in
 *     between, without text_mutex, for which the caller selects
 *     TEXT_POKE_QUIESCE.
 *   - An instruction of which arch_text_poke_atomic() says no may be torn on a
 *     CPU that comes or goes meanwhile, if all that a CPU executes need not be
 *     the same as memory: on RISC-V hold cpu_hotplug_lock.
 *   - Say what is there now.  A caller that really cannot know passes NULL
 *     for @old; no other does.
 *   - Between add and finish, do not change the sites by other means.
 *   - If it fails, keep what the text still leads to, and let it be tried again.
 *     A caller that has no error to return says so, with text_poke_failed().
 *   - The text must stay.  A module's sites are poked from MODULE_STATE_COMING
 *     on until it is gone; before, while its text is being put together, use
 *     text_poke_early().
 *
 * Lock order: kprobe_mutex, ftrace_lock, cpu_hotplug_lock, jump_label_mutex,
 * static_call_mutex, text_mutex, then the lock of the writable alias.  BPF's
 * mutexes are also taken before text_mutex.  The core takes no
 * lock on its own besides the last, and never waits for another CPU with that one
 * held.  A batch with slots ends with text_poke_quiesce(), which takes long, but
 * none of these locks; a batch of nops, branches and calls has no slots.
 *
 *
 * Errors, for every function that returns an int:
 *
 *   -EINVAL      misaligned address, impossible length, not an instruction; or
 *                what is there is not to be replaced, as a landing pad
 *   -ENXIO       the address is not in kernel text
 *   -EFAULT      the text cannot be read, or its alias cannot be written
 *   -EILSEQ      the old bytes are not what the caller said
 *   -ERANGE      the caller could not encode the new instruction
 *   -EOPNOTSUPP  the site has to trap, and either cannot, or nothing can
 *                emulate its new instruction meanwhile; or no CPU may run it
 *                while it is changed, see text_poke_stopped()
 *   -ENOMEM      no slot; no memory for a longer queue, as by fault injection;
 *                or it is full, with half a million sites if pages are of 4 KiB.
 *                The queue is as it was, and is either finished or cancelled
 *   -EEXIST      the site overlaps another one of the batch
 *   -EBUSY       text_mutex is not held, or other CPUs cannot be waited for
 *                here; or text_poke_early() on text that they may be running
 *   -EIO         this batch, or an earlier one, could neither be written nor
 *                rolled back; its traps are still served, but text no longer
 *                changes.  Of text_poke_stopped(): some changes are made, and
 *                text goes on changing
 *
 * An error means that nothing has changed and nothing was recorded, with two
 * exceptions.  A write which fails midway is rolled back: then there are
 * records of the change and of its reversal.  If that fails as well, sites of
 * the batch emulate their new instruction for good, and what that leads to has
 * to stay.
 */

#include <linux/compiler.h>
#include <linux/types.h>

struct cpumask;
struct pt_regs;

#ifdef CONFIG_TEXT_POKE

#include <asm/text_poke.h>

/**
 * struct text_poke_site - one place in the kernel text that is to change
 * @addr:	where it executes
 * @old:	the bytes that are there now
 * @new:	the bytes to put there
 * @len:	how many bytes; at most TEXT_POKE_MAX
 * @data:	a literal that the text reads and never executes
 * @trap:	a CPU that runs @addr may take a trap there
 * @foreign:	the trap is one that another handler deals with; set by
 *		arch_text_poke_prepare()
 * @ool:	the new instruction is executed out of line meanwhile; set by
 *		arch_text_poke_prepare()
 * @slot:	where, if @ool
 * @insn:	what the trap handler does on behalf of the new instruction,
 *		decoded by arch_text_poke_prepare()
 * @node:	for sorting the batch
 * @stage:	how far it has got; the runtime checker's
 * @unflushed:	what was stored last cannot be fetched yet; the checker's
 * @told:	a record says that it is new; the checker's
 */
struct text_poke_site {
	void *addr;
	u8 old[TEXT_POKE_MAX];
	u8 new[TEXT_POKE_MAX];
	u8 len;
	bool data;
	bool trap;
	bool foreign;
	bool ool;
	void *slot;
	struct arch_text_poke_insn insn;
	struct list_head node;
#ifdef CONFIG_TEXT_POKE_DEBUG
	u8 stage;
	bool unflushed;
	bool told;
#endif
};

/**
 * struct text_poke_change - one unit that is to change with the machine stopped
 * @addr:	where it executes
 * @old:	the bytes that are there now
 * @new:	the bytes to put there
 */
struct text_poke_change {
	void *addr;
	u8 old[TEXT_POKE_UNIT];
	u8 new[TEXT_POKE_UNIT];
};

int __must_check text_poke_batch_add(void *addr, const void *old,
				     const void *new, size_t len,
				     const void *emulate);
int __must_check text_poke_batch_add_data(void *addr, const void *old,
					  const void *new, size_t len);
int __must_check text_poke_batch_finish(void);
void text_poke_batch_cancel(void);
int __must_check text_poke_single(void *addr, const void *old, const void *new,
				  size_t len, const void *emulate);
int __must_check text_poke_early(void *addr, const void *old, const void *new,
				 size_t len);
int __must_check text_poke_stopped(struct text_poke_change *changes,
				   unsigned int nr);
int __must_check text_poke_verify(const void *addr, const void *old,
				  size_t len);
void text_poke_quiesce(void);
void text_poke_wait_for_tasks(void);
bool text_poke_is_dying(unsigned long addr);
bool text_poke_handle_trap(struct pt_regs *regs);
void text_poke_barrier(void);
bool text_poke_has_given_up(void);
void text_poke_failed(const char *what, const void *where, int error);
void text_poke_settle(void);
void text_poke_cpu_online(void);
void text_poke_sync_by_ipi(void);
void text_poke_sync_by_fence(void (*fence)(const struct cpumask *cpus));

/*
 * What an architecture gives
 *
 * <asm/text_poke.h> defines TEXT_POKE_UNIT, the size of a unit in bytes,
 * TEXT_POKE_MAX, the size of the longest site, and two structures that the
 * core passes around without looking inside: struct arch_text_poke_insn and
 * struct arch_text_poke_map.  It selects HAVE_TEXT_POKE.  A hook declared
 * here is required.  The optional ones are in <asm-generic/text_poke.h>, each
 * with its default; an architecture that has its own defines the name to
 * itself.
 *
 * One that can execute instructions out of line also selects
 * HAVE_TEXT_POKE_SLOTS, defines TEXT_POKE_SLOT, the size of a slot in bytes,
 * and has arch_text_poke_slot().
 *
 * The trap's entry code calls text_poke_handle_trap() before anything that
 * could itself be patched: before context tracking, lockdep and tracing.  If
 * that returns true, entry code goes straight back to where @regs now point.
 */

/**
 * struct text_poke_function - a function that cannot trap
 * @start:	where it begins
 * @size:	its length in bytes, which the core looks up at boot
 */
struct text_poke_function {
	const void *start;
	unsigned long size;
};

/*
 * The functions that run between the trap and text_poke_handle_trap(), and from
 * there to where @regs point; the last has no start.  Those that
 * arch_text_poke_trappable() says no to may be left out.
 */
extern struct text_poke_function arch_text_poke_trap_path[];

/**
 * arch_text_poke_prepare - check a site and decode what replaces it
 * @site:	addr, old, new and len are set; @site->insn is to be filled
 * @emulate:	the instruction to emulate while the trap is there; often but
 *		not always @site->new
 *
 * The core calls it when a site is queued.  If @old or @new is a breakpoint
 * that another handler deals with, it sets @site->foreign instead of decoding, and
 * arch_text_poke_trap() gives that breakpoint.  If the instruction does the
 * same at any other address, it may set @site->ool.
 *
 * Context: Process context, text_mutex held, may sleep; for text_poke_early(),
 * which never traps, it may not.
 * Return: 0; -EINVAL if address or length is impossible; -ERANGE if @new is
 * the mark of a failed encoding; -EOPNOTSUPP if nothing can emulate @emulate.
 */
int arch_text_poke_prepare(struct text_poke_site *site, const void *emulate);

/**
 * arch_text_poke_replaceable - may what is there be replaced?
 * @site:	a site that arch_text_poke_prepare() has accepted
 *
 * True if @site->old is one instruction of a kind that could have been put
 * there: one that can be emulated, or executed out of line.  False for what
 * others rely on to find there, as a landing pad, a constant or BUG(), and for
 * what is no instruction, as the end of a longer one.  Not asked if
 * @site->foreign.
 *
 * Context: Process context, text_mutex held.
 * Return: true if so.
 */
bool arch_text_poke_replaceable(const struct text_poke_site *site);

/**
 * arch_text_poke_trap - give the trap that goes into a site's unit
 * @site:	a site that arch_text_poke_prepare() has accepted
 * @unit:	buffer of TEXT_POKE_UNIT bytes
 *
 * Context: Process context, text_mutex held.
 */
void arch_text_poke_trap(const struct text_poke_site *site, void *unit);

/**
 * arch_text_poke_map - map kernel text for writing
 * @addr:	first byte
 * @len:	how many bytes are wanted; to be set to how many there are, if fewer
 * @map:	what arch_text_poke_unmap() needs
 *
 * The alias may end with any page in which there is text, but not within an
 * instruction that crosses into the next page.  It is never executable, and
 * goes away with arch_text_poke_unmap().  Meanwhile the core stores to it with
 * instructions that may fault, if the alias is a kernel address, and calls
 * arch_text_poke_trap(); it does not sleep, for an architecture may disable
 * interrupts or take a raw spinlock from map to unmap.
 *
 * Other sites may trap meanwhile, so that this must not sleep either, and it
 * finds the pages before it disables anything.  An architecture that has to
 * sleep in order to find them does so in arch_text_poke_prepare(), and keeps
 * them where this finds them by @addr: text does not move while text_mutex is
 * held.
 *
 * Context: Process context, preemption may be off, or early boot.
 * Return: the writable alias of @addr, or NULL if there is none.
 */
void *arch_text_poke_map(void *addr, size_t *len,
			 struct arch_text_poke_map *map);

/**
 * arch_text_poke_unmap - undo arch_text_poke_map()
 * @map:	what arch_text_poke_map() has filled
 *
 * On return no CPU can write through the alias; or, where others may hold it in
 * a TLB that only they can flush, none can after the next arch_text_poke_sync().
 *
 * Context: As arch_text_poke_map() left it.
 */
void arch_text_poke_unmap(struct arch_text_poke_map *map);

/**
 * arch_text_poke_flush - make stored instructions fetchable
 * @addr:	the address that executes, not the alias
 * @len:	bytes
 *
 * Cache maintenance as far as one CPU can do it for all of them.  On return
 * a CPU that refetches gets the new bytes; arch_text_poke_sync() makes the
 * others refetch.
 *
 * Context: Process context, preemption may be off, or early boot.
 */
void arch_text_poke_flush(void *addr, size_t len);

/**
 * arch_text_poke_sync_cpu - make this CPU refetch its instructions
 *
 * On return this CPU fetches what arch_text_poke_flush() has made fetchable
 * before: it has gone through whatever the architecture calls it, context
 * synchronisation, serialisation, FENCE.I.
 *
 * Context: Any; also from the interrupt of a sync, and in bring-up.
 */
void arch_text_poke_sync_cpu(void);

/**
 * arch_text_poke_trap_addr - say which site a trap belongs to
 * @regs:	the interrupted context
 *
 * Context: The trap's entry path; noinstr.
 * Return: the address of the trap instruction.
 */
void *arch_text_poke_trap_addr(const struct pt_regs *regs);

/*
 * An architecture may select HAVE_TEXT_POKE_CATCH_UP, which says what that
 * promises.  Then <asm/text_poke.h> defines arch_text_poke_catch_up(): as
 * arch_text_poke_sync_cpu(), but it is called when a CPU has entered the kernel,
 * also from an NMI, so it is always inlined.  Where there is a section for entry
 * code, TEXT_POKE_HAS_ENTRY_TEXT is defined, too.
 */

/**
 * arch_text_poke_is_trap - read the text again
 * @addr:	where a trap was taken
 *
 * The load has acquire semantics.  If the trap is gone, the instruction is
 * executed again: where a return from the exception does not make this CPU
 * refetch, this does, for a CPU that goes offline or comes online may not be
 * told to.
 *
 * Context: The trap's entry path; noinstr.
 * Return: true if the unit at @addr is (still) the trap.
 */
bool arch_text_poke_is_trap(const void *addr);

/**
 * arch_text_poke_emulate - do what the new instruction would have done
 * @regs:	the interrupted context, to be changed
 * @site:	the site that was hit
 *
 * Does it, or goes to where it is done, @site->slot.
 *
 * Context: The trap's entry path; noinstr.  No locks, no indirect calls, no
 * static keys; nothing but its arguments.
 */
void arch_text_poke_emulate(struct pt_regs *regs,
			    const struct text_poke_site *site);

/**
 * arch_text_poke_slot - give the contents of a slot
 * @site:	a site with @ool set; @slot says where the slot is
 * @slot:	buffer of TEXT_POKE_SLOT bytes
 *
 * The contents are the instruction, and after it the core's trap.  For such a
 * site, arch_text_poke_emulate() goes to @site->slot.
 *
 * Context: Process context, text_mutex held.
 */
void arch_text_poke_slot(const struct text_poke_site *site, void *slot);

/*
 * Bring-up calls text_poke_cpu_online() on the CPU that comes online, as soon
 * as it is marked so.  The CPU missed the syncs from before, and no other
 * makes it forget what it has fetched meanwhile.
 */

#include <asm-generic/text_poke.h>

#else /* !CONFIG_TEXT_POKE */

static inline void text_poke_barrier(void) { }
static inline bool text_poke_has_given_up(void) { return false; }
static inline void text_poke_settle(void) { }
static inline void text_poke_cpu_online(void) { }

static __always_inline bool text_poke_handle_trap(struct pt_regs *regs)
{
	return false;
}

#endif /* CONFIG_TEXT_POKE */

#endif /* _LINUX_TEXT_POKE_H */
