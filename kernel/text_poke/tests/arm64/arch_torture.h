/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TORTURE_H
#define _TEXT_POKE_ARCH_TORTURE_H

/*
 * What the torture test of text pokes needs to know about arm64.  Encodings
 * and effects are those of the other tests.
 */

/* NZCV, then X1 to X28; X9, X16 and X18 are left alone. */
#define TEXT_POKE_TORTURE_REGS	29

#ifndef __ASSEMBLY__

#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf/arm_pmu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/types.h>

#include <asm/ptrace.h>

#include "arch_conformance.h"

enum text_poke_torture_kind {
	TEXT_POKE_TORTURE_NOP,
	TEXT_POKE_TORTURE_B,
	TEXT_POKE_TORTURE_BL,
	TEXT_POKE_TORTURE_BCOND,
	TEXT_POKE_TORTURE_CBZ,
	TEXT_POKE_TORTURE_CBNZ,
	TEXT_POKE_TORTURE_TBZ,
	TEXT_POKE_TORTURE_TBNZ,
	TEXT_POKE_TORTURE_KINDS,
};

#define TEXT_POKE_TORTURE_NAMES						\
	"nop", "b", "bl", "bcond", "cbz", "cbnz", "tbz", "tbnz"

/* None is executed in a slot. */
#define TEXT_POKE_TORTURE_SLOW	TEXT_POKE_TORTURE_KINDS

/* The registers that CBZ and CBNZ look at, and TBZ and TBNZ. */
#define TEXT_POKE_TORTURE_XC	11
#define TEXT_POKE_TORTURE_XT	12

/* TBZ, forwards; the bit depends on the site. */
static inline u32 text_poke_torture_tbz(u32 imm, unsigned int nr)
{
	return 0x36000000 | (nr >> 5 & 1) << 31 | (nr & 31) << 19 | imm << 5 |
	       TEXT_POKE_TORTURE_XT;
}

/* Those that B2.2.5 lists; the others change with the machine stopped. */
static inline u32 text_poke_torture_insn(enum text_poke_torture_kind kind,
					 const void *site, const void *target,
					 unsigned int nr)
{
	u32 imm = (target - site) >> 2;

	switch (kind) {
	case TEXT_POKE_TORTURE_BCOND:
		return 0x54000000 | imm << 5 | (nr & 15);
	case TEXT_POKE_TORTURE_CBZ:
		return 0xb4000000 | imm << 5 | TEXT_POKE_TORTURE_XC;
	case TEXT_POKE_TORTURE_CBNZ:
		return 0xb5000000 | imm << 5 | TEXT_POKE_TORTURE_XC;
	case TEXT_POKE_TORTURE_TBZ:
		return text_poke_torture_tbz(imm, nr);
	default:
		return text_poke_torture_tbz(imm, nr) | 0x01000000;
	}
}

/* Instruction @kind for a site; false: there is none. */
static inline bool text_poke_torture_encode(u8 *insn, size_t len,
					    enum text_poke_torture_kind kind,
					    const void *site,
					    const void *target,
					    const void *callee, unsigned int nr)
{
	switch (kind) {
	case TEXT_POKE_TORTURE_NOP:
		text_poke_test_nop(insn);
		return true;
	case TEXT_POKE_TORTURE_B:
		text_poke_test_jump(insn, site, target);
		return true;
	case TEXT_POKE_TORTURE_BL:
		text_poke_test_call(insn, site, callee);
		return true;
	default:
		text_poke_test_put(insn, text_poke_torture_insn(kind, site,
								target, nr));
		return true;
	}
}

/* Is the jump to the target taken? */
static inline bool text_poke_torture_taken(enum text_poke_torture_kind kind,
					   unsigned int nr, const u64 *regs)
{
	bool bit = regs[TEXT_POKE_TORTURE_XT] >> (nr & 63) & 1;

	switch (kind) {
	case TEXT_POKE_TORTURE_B:
		return true;
	case TEXT_POKE_TORTURE_BCOND:
		return text_poke_test_cond(regs[0], nr & 15);
	case TEXT_POKE_TORTURE_CBZ:
		return !regs[TEXT_POKE_TORTURE_XC];
	case TEXT_POKE_TORTURE_CBNZ:
		return regs[TEXT_POKE_TORTURE_XC];
	case TEXT_POKE_TORTURE_TBZ:
		return !bit;
	case TEXT_POKE_TORTURE_TBNZ:
		return bit;
	default:
		return false;
	}
}

/* What a function returns whose site is of @kind: see torture_functions.S. */
static inline unsigned int
text_poke_torture_effect(enum text_poke_torture_kind kind, unsigned int nr,
			 const u64 *regs)
{
	switch (kind) {
	case TEXT_POKE_TORTURE_BL:
		return 3;
	default:
		return text_poke_torture_taken(kind, nr, regs) ? 7 : 1;
	}
}

extern char text_poke_torture_callee[];

/* Make random registers fit to be loaded; CBZ is to be taken now and then. */
static inline void text_poke_torture_fit(u64 *regs)
{
	regs[0] &= PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT;
	regs[9] = 0;
	regs[16] = 0;
	regs[18] = 0;
	if (regs[1] & BIT(20))
		regs[TEXT_POKE_TORTURE_XC] = 0;
}

#ifdef CONFIG_ARM_PMU
/*
 * With pseudo NMIs, a counter's overflow is one.  Not in the trap handler, which
 * runs with DAIF masked.
 */
#define TEXT_POKE_TORTURE_NMI	arm_pmu_irq_is_nmi()

/* From one to the next: 5 ms at 1 GHz. */
#define TEXT_POKE_TORTURE_CYCLES	5000000

static DEFINE_PER_CPU(struct perf_event *, text_poke_torture_counter);

static inline void text_poke_torture_overflow(struct perf_event *event,
					      struct perf_sample_data *data,
					      struct pt_regs *regs)
{
	if (in_nmi())
		text_poke_torture_read_in_nmi();
}

/* If a CPU has no counter to spare, too few NMIs will be the verdict. */
#define text_poke_torture_nmi_online text_poke_torture_nmi_online
static inline void text_poke_torture_nmi_online(int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_CPU_CYCLES,
		.size		= sizeof(attr),
		.sample_period	= TEXT_POKE_TORTURE_CYCLES,
		.pinned		= 1,
	};
	struct perf_event *event;

	if (!TEXT_POKE_TORTURE_NMI)
		return;
	event = perf_event_create_kernel_counter(&attr, cpu, NULL,
						 text_poke_torture_overflow,
						 NULL);
	per_cpu(text_poke_torture_counter, cpu) = IS_ERR(event) ? NULL : event;
}

#define text_poke_torture_nmi_offline text_poke_torture_nmi_offline
static inline void text_poke_torture_nmi_offline(int cpu)
{
	struct perf_event **counter = per_cpu_ptr(&text_poke_torture_counter,
						  cpu);

	if (*counter)
		perf_event_release_kernel(*counter);
	*counter = NULL;
}
#endif /* CONFIG_ARM_PMU */

#endif /* !__ASSEMBLY__ */

#endif /* _TEXT_POKE_ARCH_TORTURE_H */
