/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_TORTURE_H
#define _TEXT_POKE_TORTURE_H

/*
 * The torture test of text pokes: torture_sites.c changes, executes and judges
 * the sites; torture.c has the threads that make it do so, and counts.
 */

#include <linux/torture.h>
#include <linux/types.h>

/* For an architecture that has NMIs. */
void text_poke_torture_read_in_nmi(void);

#include "arch_torture.h"

/*
 * Whether there are NMIs here; while the test goes on it does not change.  On
 * RISC-V there are none.
 */
#ifndef TEXT_POKE_TORTURE_NMI
#define TEXT_POKE_TORTURE_NMI	false
#endif

/* Where they come because each CPU is sent some. */
#ifndef TEXT_POKE_TORTURE_NMI_SENT
#define TEXT_POKE_TORTURE_NMI_SENT	false

static inline int text_poke_torture_nmi_begin(void)
{
	return 0;
}

static inline void text_poke_torture_nmi_end(void) { }
static inline void text_poke_torture_nmi_send(int cpu) { }
#endif

/* On a CPU that has just come online; and that is going offline. */
#ifndef text_poke_torture_nmi_online
static inline void text_poke_torture_nmi_online(int cpu) { }
#endif

#ifndef text_poke_torture_nmi_offline
static inline void text_poke_torture_nmi_offline(int cpu) { }
#endif

/**
 * enum text_poke_context - from where a site is executed
 * @IN_TASK:		tasks that preempt each other
 * @IN_FIFO:		a real-time task
 * @IN_TIMER:		hard interrupts of timers, while a task runs
 * @IN_IDLE:		the same while the CPU is idle
 * @IN_IRQ_WORK:	interrupt work
 * @IN_STOPPED:		stop_machine(), on all CPUs at once
 * @IN_NMI:		NMIs, where the architecture can
 * @CONTEXTS:		how many there are
 */
enum text_poke_context {
	IN_TASK,
	IN_FIFO,
	IN_TIMER,
	IN_IDLE,
	IN_IRQ_WORK,
	IN_STOPPED,
	IN_NMI,
	CONTEXTS,
};

/**
 * enum text_poke_claim - what is to become of a site meanwhile
 * @UNCLAIMED:	it changes
 * @CLAIMED:	a kprobe comes or goes, and has to find the same instruction
 * @PROBED:	a kprobe is there: any change of it is refused
 */
enum text_poke_claim {
	UNCLAIMED,
	CLAIMED,
	PROBED,
};

/**
 * struct text_poke_reads - what executing the sites has shown
 * @calls:	how often, by context
 * @traps:	how often that was a trap, by what it emulated
 * @traps_in_nmi: and how often in an NMI
 * @wrong:	results that cannot be
 * @spoilt:	registers or flags that were not left alone
 */
struct text_poke_reads {
	u64 calls[CONTEXTS];
	u64 traps[TEXT_POKE_TORTURE_KINDS];
	u64 traps_in_nmi;
	u64 wrong;
	u64 spoilt;
};

/**
 * struct text_poke_writes - what was done to the sites
 * @pokes:	sites changed
 * @batches:	in so many batches, of which
 * @guarded:	 with a guard
 * @undone:	batches that failed on the way, and were taken back
 * @refused:	sites that were not changed, as there was a kprobe
 * @full:	batches that had to be given up for lack of memory
 * @errors:	and those that failed
 */
struct text_poke_writes {
	u64 pokes;
	u64 batches;
	u64 guarded;
	u64 undone;
	u64 refused;
	u64 full;
	u64 errors;
};

extern struct text_poke_writes text_poke_torture_writes;

int text_poke_torture_begin_sites(void);
bool text_poke_torture_end_sites(void);
void text_poke_torture_poke(struct torture_random_state *rand, bool fault);
void text_poke_torture_read(enum text_poke_context context,
			    struct torture_random_state *rand);
void *text_poke_torture_probe(unsigned int i);
void *text_poke_torture_pick(struct torture_random_state *rand);
void text_poke_torture_claim(const void *addr, enum text_poke_claim claim);
void text_poke_torture_sum(struct text_poke_reads *sum);

/**
 * struct text_poke_torture_entry - a function, as torture_functions.S lists it
 * @fn:		where it begins
 * @site:	where its site is, in bytes from there
 * @target:	where that may jump to
 * @probe:	an instruction that may be probed
 * @len:	bytes of the site
 * @slow:	it may need a slot
 */
struct text_poke_torture_entry {
	void *fn;
	u32 site;
	u32 target;
	u32 probe;
	u16 len;
	u16 slow;
};

/* In torture_functions.S of an architecture. */
extern const struct text_poke_torture_entry text_poke_torture_begin[];
extern const struct text_poke_torture_entry text_poke_torture_end[];
unsigned int text_poke_torture_call(void *fn, u64 *regs);
extern char text_poke_torture_callee[];

#endif /* _TEXT_POKE_TORTURE_H */
