/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_GENERIC_TEXT_POKE_H
#define _ASM_GENERIC_TEXT_POKE_H

/*
 * Defaults of the text poke hooks that an architecture may leave out.
 * <linux/text_poke.h> includes this at its end; no other file does.
 */

#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/barrier.h>

/*
 * The most text, in bytes, that the core asks arch_text_poke_map() for at once.
 * More make for fewer mappings, of which each is longer.
 */
#ifndef TEXT_POKE_WINDOW
#define TEXT_POKE_WINDOW	PAGE_SIZE
#endif

#ifndef arch_text_poke_atomic
/**
 * arch_text_poke_atomic - may old and new be exchanged under a running CPU?
 * @site:	the site, prepared
 *
 * True if the manual of the architecture promises that a CPU which executes
 * @site->addr during the store executes the old or the new instruction and
 * nothing else.  The default promises nothing, so that every batch of such an
 * architecture is guarded.
 *
 * Context: Process context, text_mutex held.
 * Return: true if so.
 */
static inline bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return false;
}
#endif

#ifndef arch_text_poke_guardable
/**
 * arch_text_poke_guardable - may a trap stand between old and new?
 * @site:	the site, prepared
 *
 * False if the manual does not allow that the trap goes over the old instruction,
 * or the new one over the trap, while a CPU may execute them: then only
 * text_poke_stopped() can change it, and others are refused.  The default is for
 * a trap that may go over everything.
 *
 * Context: Process context, text_mutex held.
 * Return: true if so.
 */
static inline bool arch_text_poke_guardable(const struct text_poke_site *site)
{
	return true;
}
#endif

#ifndef arch_text_poke_is_text
/**
 * arch_text_poke_is_text - is there kernel text at this address?
 * @addr:	any address
 *
 * What may be poked.  An architecture has its own if it pokes text that
 * kernel_text_address() does not know, such as a JIT's before it is shown to
 * kallsyms.
 *
 * Context: Process context, text_mutex held.
 * Return: true if so.
 */
static inline bool arch_text_poke_is_text(const void *addr)
{
	return kernel_text_address((unsigned long)addr);
}
#endif

#ifndef arch_text_poke_trappable
/**
 * arch_text_poke_trappable - can code at this address take a trap?
 * @addr:	an address in kernel text
 *
 * False for text that runs where the kernel's own trap handler cannot be
 * reached, such as a hypervisor's.  Such a site is written without a guard if
 * arch_text_poke_atomic() allows that, and is refused otherwise.  The default
 * is for an architecture all of whose kernel text can trap.
 *
 * Context: Process context, text_mutex held.
 * Return: true if it can.
 */
static inline bool arch_text_poke_trappable(const void *addr)
{
	return true;
}
#endif

#ifndef arch_text_poke_maybe_bug
/**
 * arch_text_poke_maybe_bug - could there be a BUG() or WARN()?
 * @site:	a site over whose old bytes a probe's breakpoint goes, or the
 *		reverse
 *
 * Asked for before the table of all of them is searched from one end to the
 * other.  The default always has it searched.
 *
 * Context: Process context, text_mutex held.
 * Return: false if the instruction at @site->addr cannot be theirs.
 */
static inline bool arch_text_poke_maybe_bug(const struct text_poke_site *site)
{
	return true;
}
#endif

#ifndef arch_text_poke_store
#ifdef CONFIG_UACCESS_MEMCPY
/* There nothing faults, but __put_kernel_nofault() may store byte by byte. */
#define text_poke_put(type, alias, val, fault)				\
do {									\
	WRITE_ONCE(*(type *)(alias), val);				\
	if (0)								\
		goto fault;						\
} while (0)
#else
#define text_poke_put(type, alias, val, fault)				\
	__put_kernel_nofault(alias, &(val), type, fault)
#endif

#define text_poke_store_as(type, alias, bytes, fault)			\
do {									\
	type val;							\
									\
	memcpy(&val, bytes, sizeof(val));				\
	text_poke_put(type, alias, val, fault);				\
} while (0)

/**
 * arch_text_poke_store - store through the writable alias
 * @alias:	what arch_text_poke_map() has given, or an address after it
 * @bytes:	what to store
 * @len:	how many bytes
 *
 * 1, 2, 4 or 8 bytes, and so any unit, are stored with a single store.  An
 * architecture has its own if its kernel may not touch the alias just like
 * that.
 *
 * The default does without copy_to_kernel_nofault(), which does not promise to
 * store at once, and calls what may be about to be traced, and trap.
 *
 * Context: Between arch_text_poke_map() and arch_text_poke_unmap().
 * Return: 0, or -EFAULT if the store faults.
 */
static inline int arch_text_poke_store(void *alias, const void *bytes,
				       size_t len)
{
	size_t i;

	pagefault_disable();
	switch (len) {
	case sizeof(u64):
		text_poke_store_as(u64, alias, bytes, fault);
		break;
	case sizeof(u32):
		text_poke_store_as(u32, alias, bytes, fault);
		break;
	case sizeof(u16):
		text_poke_store_as(u16, alias, bytes, fault);
		break;
	default:
		for (i = 0; i < len; i++)
			text_poke_store_as(u8, alias + i, bytes + i, fault);
	}
	pagefault_enable();
	return 0;
fault:
	pagefault_enable();
	return -EFAULT;
}
#endif

#ifndef arch_text_poke_sync
/**
 * arch_text_poke_sync - make every online CPU refetch its instructions
 *
 * On return every CPU that was online has, after the last
 * arch_text_poke_flush() before the call, done arch_text_poke_sync_cpu() or
 * something as good.  A CPU that comes online later does so in its own
 * bring-up, see text_poke_cpu_online().  One that is going offline may be
 * missed; what it still runs with interrupts off until it is dead may be old.
 *
 * The default asks each CPU with an interrupt.
 *
 * Context: Process context, interrupts on, preemption may be off, text_mutex
 * held.
 */
static inline void arch_text_poke_sync(void)
{
	text_poke_sync_by_ipi();
}
#endif

#ifndef arch_text_poke_fetch_mb
/**
 * arch_text_poke_fetch_mb - order stores before fetches
 *
 * With arch_text_poke_sync_cpu() after it: what this CPU has stored before can
 * be seen by all others before it fetches anything from then on.  The default is
 * for an architecture where that function waits for what smp_mb() orders; one
 * whose barriers for loads and stores say nothing about fetches has its own.
 *
 * Context: The CPU that comes online, interrupts off.
 */
static inline void arch_text_poke_fetch_mb(void)
{
	smp_mb();	/* pairs as said above */
}
#endif

#ifndef arch_text_poke_slots_written
/**
 * arch_text_poke_slots_written - slots are about to be entered for the first time
 *
 * A CPU that hits a trap goes to a slot before any sync.  An architecture whose
 * CPUs then might not fetch what arch_text_poke_flush() was called for makes
 * them do so here.  The default is for all others.
 *
 * Context: Process context, interrupts on, text_mutex held.
 */
static inline void arch_text_poke_slots_written(void) { }
#endif

#endif /* _ASM_GENERIC_TEXT_POKE_H */
