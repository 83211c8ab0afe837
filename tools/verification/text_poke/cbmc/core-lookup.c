// SPDX-License-Identifier: GPL-2.0
/*
 * The trap handler finds its site, and no other
 *
 * source kernel/text_poke/trap.c
 * source kernel/text_poke/internal.h
 * unwind 8
 *
 * Proved, for every sorted batch of up to six sites and every trap, on one CPU
 * that nothing interrupts:
 *
 *   - While the batch is published, a trap at a site that can trap and is not
 *     passed on is handled, once, as that site.  No other trap is.
 *   - Before and after, none is.
 *   - A trap of no batch that is still there is passed on; one that is gone
 *     is done with, TEXT_POKE_REREADS times in a row and no more.
 *   - The references are afterwards what they were before.
 *
 * Stubs: one CPU; the hooks; kernel.h.  For more CPUs see the litmus tests.
 *
 * proof published_batch
 * proof retired_batch
 * proof endless
 *
 * mutant left in published_batch: "high = mid;" -> "high = mid - 1;"
 * mutant right in published_batch: "low = mid + 1;" -> "low = mid + 2;"
 * mutant last-step in published_batch: "while (low < high)"
 *	-> "while (low + 1 < high)"
 * mutant compare in published_batch: "->addr < addr)" -> "->addr <= addr)"
 * mutant other-site in published_batch: "if (site->addr != addr)" -> "if (0)"
 * mutant number in published_batch: "if (i >= nr)" -> "if (i >= nr - 1)"
 * mutant passed-on in published_batch: "site->trap && !site->foreign"
 *	-> "site->trap"
 * mutant not-trapping in published_batch: "site->trap && !site->foreign"
 *	-> "!site->foreign"
 * mutant put in published_batch: "	put_batch(this);" -> ""
 * mutant refs in retired_batch: "raw_atomic_inc_not_zero(&this->refs)"
 *	-> "raw_atomic_inc_not_zero(&this->refs) && 0"
 * mutant gone in retired_batch: "return !arch_text_poke_is_trap(addr);"
 *	-> "return arch_text_poke_is_trap(addr);"
 * mutant bound in endless: "gone_run++ < TEXT_POKE_REREADS"
 *	-> "gone_run++ < TEXT_POKE_REREADS || true"
 */
#include "kernel.h"

#define CONFIG_TEXT_POKE	1

#define CONFIG_TEXT_POKE_KUNIT_TEST 0
#define CONFIG_PREEMPT_RT	0

#define _LINUX_ATOMIC_H
#define _LINUX_PTRACE_H
#define __LINUX_CPUMASK_H
#define __LINUX_PERCPU_H
#define _LINUX_MM_H

/* A page has half of the pointers to the longest batch. */
#define PAGE_SIZE		32UL
#define NSEC_PER_USEC		1000L
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define smp_rmb()		do { } while (0)
#define smp_load_acquire(p)	(*(p))
#define smp_store_release(p, v)	(*(p) = (v))
#define smp_wmb()		do { } while (0)
#define smp_mb__before_atomic()	do { } while (0)

/* One CPU. */
#define DEFINE_PER_CPU_ALIGNED(type, name)	type name
#define per_cpu(name, cpu)			(name)
#define raw_cpu_ptr(p)				(p)
#define for_each_possible_cpu(cpu)		for (cpu = 0; cpu < 1; cpu++)

typedef struct { int counter; } atomic_t;

#define atomic_set_release(v, n)	((v)->counter = (n))
#define atomic_dec_and_test(v)		(!--(v)->counter)
#define raw_atomic_dec(v)		((v)->counter--)
#define atomic_cond_read_acquire(v, condition) \
	prove((v)->counter == 0, "no CPU is waited for")

static bool raw_atomic_inc_not_zero(atomic_t *v)
{
	if (!v->counter)
		return false;
	v->counter++;
	return true;
}

int kernel_text_address(unsigned long addr);

struct pt_regs {
	void *ip;
};

static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long ip)
{
	regs->ip = (void *)ip;
}

static inline unsigned long instruction_pointer(struct pt_regs *regs)
{
	return (unsigned long)regs->ip;
}

#include <linux/text_poke.h>

/* The text that a trap is in, and what became of the trap. */
static char text[64];
static bool still_there;
static const struct text_poke_site *handled;
static int times;

void *arch_text_poke_trap_addr(const struct pt_regs *regs)
{
	return regs->ip;
}

bool arch_text_poke_is_trap(const void *addr)
{
	return still_there;
}

void arch_text_poke_emulate(struct pt_regs *regs, const struct text_poke_site *site)
{
	handled = site;
	times++;
}

#include "kernel/text_poke/trap.c"

#define NR 6

/* Each for itself: of a pointer into an array CBMC looks at every byte of that. */
static struct text_poke_site one, two, three, four, five, six;
static struct text_poke_site *const sites[NR] = {
	&one, &two, &three, &four, &five, &six,
};
static struct text_poke_site *pages[2][TEXT_POKE_PER_INDEX];
static struct text_poke_queue queue = { .index = { pages[0], pages[1] } };
static unsigned int nr;

/* Any batch, in order. */
static void publish_any(void)
{
	unsigned int i, any_nr, at[NR];
	bool trap[NR], pass[NR];

	nr = any_nr;
	assume(nr > 0 && nr <= NR);
	for (i = 0; i < NR; i++) {
		assume(at[i] < sizeof(text));
		assume(!i || at[i - 1] < at[i]);
		sites[i]->addr = text + at[i];
		sites[i]->trap = trap[i];
		sites[i]->foreign = pass[i];
		pages[i / TEXT_POKE_PER_INDEX][i % TEXT_POKE_PER_INDEX] = sites[i];
	}
	queue.nr = nr;
	text_poke_publish(&queue);
}

static void *any_place(void)
{
	unsigned int at;

	assume(at < sizeof(text));
	return text + at;
}

/* The site whose trap is at @addr. */
static const struct text_poke_site *owner(const void *addr)
{
	const struct text_poke_site *found = NULL;
	unsigned int i;

	for (i = 0; i < NR; i++)
		if (i < nr && sites[i]->addr == addr && sites[i]->trap && !sites[i]->foreign)
			found = sites[i];
	return found;
}

void published_batch(void)
{
	struct pt_regs regs = { .ip = any_place() };
	const struct text_poke_site *site;
	bool ret;

	publish_any();
	still_there = true;
	site = owner(regs.ip);
	ret = text_poke_handle_trap(&regs);
	prove(ret == !!site, "a site's trap is handled, and no other");
	prove(handled == site && times == !!site, "as that site, and once");
	prove(text_poke_cpu.refs.counter == 1, "the reference is given back");
}

void retired_batch(void)
{
	struct pt_regs regs = { .ip = any_place() };
	bool any;

	publish_any();
	text_poke_retire();
	still_there = any;
	prove(text_poke_handle_trap(&regs) == !still_there,
	      "a trap that is gone is done with, and no other");
	prove(!times, "nothing is emulated");
	prove(!text_poke_cpu.refs.counter, "there is no reference");
}

/* Any number of traps that were gone before. */
void endless(void)
{
	struct pt_regs regs = { .ip = any_place() };
	unsigned int before;
	bool ret;

	assume(before <= TEXT_POKE_REREADS);
	text_poke_cpu.gone_addr = regs.ip;
	text_poke_cpu.gone_run = before;
	ret = text_poke_handle_trap(&regs);
	prove(ret == (before < TEXT_POKE_REREADS),
	      "a trap that is gone is believed so often");
}
