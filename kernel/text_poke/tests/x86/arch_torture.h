/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TORTURE_H
#define _TEXT_POKE_ARCH_TORTURE_H

/*
 * What the torture test of text pokes needs to know about x86.  Encodings and
 * effects are those of the other tests.
 */

/* The flags, then every register but RAX, RSP and R11. */
#define TEXT_POKE_TORTURE_REGS	14

/* CF, PF, AF, ZF, SF and OF: no instruction that is poked changes them. */
#define TEXT_POKE_TORTURE_FLAGS	0x8d5

#ifndef __ASSEMBLY__

#include <linux/cpumask.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>
#include <asm/text-patching.h>

#include "arch_conformance.h"

enum text_poke_torture_kind {
	TEXT_POKE_TORTURE_NOP,
	TEXT_POKE_TORTURE_JUMP,
	TEXT_POKE_TORTURE_SHORT,
	TEXT_POKE_TORTURE_CALL,
	TEXT_POKE_TORTURE_JCC,
	TEXT_POKE_TORTURE_RET,
	TEXT_POKE_TORTURE_KINDS,
};

#define TEXT_POKE_TORTURE_NAMES						\
	"nop", "jump", "short", "call", "jcc", "ret"

/* None is executed out of line. */
#define TEXT_POKE_TORTURE_SLOW	TEXT_POKE_TORTURE_KINDS

static inline bool text_poke_torture_jcc(u8 *insn, size_t len, u8 cc,
					 const void *site, const void *target)
{
	s32 disp = target - (site + len);

	if (len == 2) {
		insn[0] = 0x70 | cc;
		insn[1] = disp;
		return true;
	}
	insn[0] = 0x0f;
	insn[1] = 0x80 | cc;
	memcpy(insn + 2, &disp, sizeof(disp));
	return len == 6;
}

/* What is longer than a jump or RET is never executed. */
static inline bool text_poke_torture_jump(u8 *insn, size_t len,
					  const void *site, const void *target)
{
	memset(insn, INT3_INSN_OPCODE, len);
	text_poke_test_jump(insn, site, target);
	return len >= JMP32_INSN_SIZE;
}

static inline bool text_poke_torture_short(u8 *insn, size_t len,
					   const void *site, const void *target)
{
	memset(insn, INT3_INSN_OPCODE, len);
	insn[0] = JMP8_INSN_OPCODE;
	insn[1] = target - (site + JMP8_INSN_SIZE);
	return len >= JMP8_INSN_SIZE;
}

/* Instruction @kind for a site of @len bytes; false: it has another length. */
static inline bool text_poke_torture_encode(u8 *insn, size_t len,
					    enum text_poke_torture_kind kind,
					    const void *site,
					    const void *target,
					    const void *callee, unsigned int nr)
{
	switch (kind) {
	case TEXT_POKE_TORTURE_NOP:
		memcpy(insn, x86_nops[len], len);
		return true;
	case TEXT_POKE_TORTURE_JUMP:
		return text_poke_torture_jump(insn, len, site, target);
	case TEXT_POKE_TORTURE_SHORT:
		return text_poke_torture_short(insn, len, site, target);
	case TEXT_POKE_TORTURE_CALL:
		text_poke_test_call(insn, site, callee);
		return len == 5;
	case TEXT_POKE_TORTURE_JCC:
		return text_poke_torture_jcc(insn, len, nr & 0xf, site, target);
	case TEXT_POKE_TORTURE_RET:
		memset(insn, INT3_INSN_OPCODE, len);
		insn[0] = RET_INSN_OPCODE;
		return true;
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
	case TEXT_POKE_TORTURE_JUMP:
	case TEXT_POKE_TORTURE_SHORT:
		return 4;
	case TEXT_POKE_TORTURE_CALL:
		return 3;
	case TEXT_POKE_TORTURE_JCC:
		return text_poke_test_cond(regs[0], nr & 0xf) ? 4 : 1;
	case TEXT_POKE_TORTURE_RET:
		return 0;
	default:
		return 1;
	}
}

/* Make random registers fit to be loaded. */
static inline void text_poke_torture_fit(u64 *regs)
{
	regs[0] &= TEXT_POKE_TORTURE_FLAGS;
}

/* Readers are sent NMIs. */
#define TEXT_POKE_TORTURE_NMI		true
#define TEXT_POKE_TORTURE_NMI_SENT	true

/* CPUs that have been sent one and have not taken it. */
static struct cpumask text_poke_torture_nmi_due;

/* Each NMI reads, whatever has sent it. */
static int text_poke_torture_nmi(unsigned int type, struct pt_regs *regs)
{
	int cpu = raw_smp_processor_id();

	text_poke_torture_read_in_nmi();
	return cpumask_test_and_clear_cpu(cpu, &text_poke_torture_nmi_due) ?
	       NMI_HANDLED : NMI_DONE;
}

static inline int text_poke_torture_nmi_begin(void)
{
	return register_nmi_handler(NMI_LOCAL, text_poke_torture_nmi, 0,
				    "text_poke_torture");
}

static inline void text_poke_torture_nmi_end(void)
{
	unregister_nmi_handler(NMI_LOCAL, "text_poke_torture");
}

/* One at a time, or the second could find that it was not due. */
static inline void text_poke_torture_nmi_send(int cpu)
{
	if (!cpumask_test_and_set_cpu(cpu, &text_poke_torture_nmi_due))
		__apic_send_IPI(cpu, NMI_VECTOR);
}

/* What a CPU was sent before it went offline never came. */
#define text_poke_torture_nmi_online text_poke_torture_nmi_online
static inline void text_poke_torture_nmi_online(int cpu)
{
	cpumask_clear_cpu(cpu, &text_poke_torture_nmi_due);
}

#endif /* !__ASSEMBLY__ */

#endif /* _TEXT_POKE_ARCH_TORTURE_H */
