/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __ASM_INSN_EMULATE_H
#define __ASM_INSN_EMULATE_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/ptrace.h>

/*
 * What single instructions do to the registers, for whoever has put a
 * breakpoint over one: kprobes and the text poke core.
 *
 * The text poke core runs these before the kernel has properly been entered,
 * so they are always inlined and call nothing.
 */

/**
 * aarch64_insn_emulate_b_bl - act as B or BL
 * @regs:	registers, to be changed
 * @insn:	the instruction
 * @addr:	where it is
 *
 *   31 30   26 25                      0
 *   +--+------+------------------------+
 *   |op|00101 |         imm26          |   op = 1: X30 = @addr + 4
 *   +--+------+------------------------+   PC = @addr + SignExtend(imm26:00)
 *
 * Arm Architecture Reference Manual (DDI 0487), C6.2, B and BL.
 */
static __always_inline void aarch64_insn_emulate_b_bl(struct pt_regs *regs,
						      u32 insn,
						      unsigned long addr)
{
	s64 offset = sign_extend64((u64)(insn & GENMASK(25, 0)) << 2, 27);

	if (insn & BIT(31))
		regs->regs[30] = addr + 4;
	regs->pc = addr + offset;
}

#endif /* __ASM_INSN_EMULATE_H */
