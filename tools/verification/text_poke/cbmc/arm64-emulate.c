// SPDX-License-Identifier: GPL-2.0
/*
 * arm64: what the trap handler does is what the instruction does
 *
 * source arch/arm64/include/asm/insn-emulate.h
 * source arch/arm64/include/asm/insn.h
 *
 * Proved, for every instruction, at every address, with any registers:
 *
 *   - aarch64_insn_emulation() says that there is an emulation if and only if
 *     the instruction is NOP, B, BL, B.cond, BC.cond, CBZ, CBNZ, TBZ, TBNZ,
 *     BR, BLR, RET, ADR or ADRP.
 *   - aarch64_insn_emulate() leaves all registers as the instruction does.
 *
 * The reference below is the pseudo-code of the Arm Architecture Reference
 * Manual (DDI 0487), C6.2, written down without a look at the kernel's.
 *
 * Stubs: the registers; kernel.h.
 *
 * proof other
 * proof branch
 * proof branch_cond
 * proof compare
 * proof test
 * proof branch_reg
 * proof adr
 * proof adrp
 *
 * mutant b-link in branch: "	regs->pc = addr + aarch64_insn_simm(insn, 0, 26)"
 *	-> "	regs->regs[30] -= 4; regs->pc = addr + aarch64_insn_simm(insn, 0, 26)"
 * mutant b-width in branch: "aarch64_insn_simm(insn, 0, 26)"
 *	-> "aarch64_insn_simm(insn, 0, 25)"
 * mutant b-scale in branch: "26) * AARCH64_INSN_SIZE" -> "26) * 2"
 * mutant sign in branch_cond: "width - 1);" -> "width);"
 * mutant zero-register in compare: "reg == 31 ? 0 : regs->regs[reg]"
 *	-> "reg == 31 ? regs->sp : regs->regs[reg]"
 * mutant cbz-width in compare: "if (!(insn & BIT(31)))" -> "if (insn & BIT(31))"
 * mutant cbz-sense in compare: "return !val == !(insn & BIT(24));"
 *	-> "return !val != !(insn & BIT(24));"
 * mutant tbz-bit in test: "insn >> 31 << 5" -> "insn >> 31 << 4"
 * mutant tbz-sense in test: "(val >> bit & 1) == !(insn & BIT(24))"
 *	-> "(val >> bit & 1) == !(insn & BIT(25))"
 * mutant tbz-width in test: "aarch64_insn_simm(insn, 5, 14)"
 *	-> "aarch64_insn_simm(insn, 5, 13)"
 * mutant cond-hi in branch_cond: "(c && !z) != opposite" -> "(c || !z) != opposite"
 * mutant cond-ge in branch_cond: "(n == v) != opposite" -> "(n != v) != opposite"
 * mutant cond-nv in branch_cond: "	}
 *	return true;
 *}" -> "	}
 *	return !opposite;
 *}"
 * mutant not-taken in branch_cond: "(taken ? imm : 1)" -> "(taken ? imm : 2)"
 * mutant blr-target in branch_reg: "insn >> 5 & GENMASK(4, 0)"
 *	-> "insn & GENMASK(4, 0)"
 * mutant blr-no-link in branch_reg: "if (aarch64_insn_is_blr(insn))"
 *	-> "if (aarch64_insn_is_br(insn))"
 * mutant adr-low-bits in adr: "(insn >> 29 & 3)" -> "(insn >> 29 & 1)"
 * mutant adr-zero-register in adr: "if (reg == 31)" -> "if (reg == 30)"
 * mutant adrp-page in adrp: "ALIGN_DOWN(addr, SZ_4K) + imm" -> "addr + imm"
 * mutant nop in other: "return AARCH64_EMULATE_NOP;" -> "return AARCH64_EMULATE_NONE;"
 * mutant ret-mask in other: "(ret,	0xFFFFFC1F," -> "(ret,	0xFFFFF01F,"
 */
#include "kernel.h"
#include "arm64.h"

#include <asm/insn-emulate.h>

/* @kind, of which the kernel says @how. */
static void prove_kind(enum kind kind, enum aarch64_insn_emulation how)
{
	struct pt_regs regs, cpu;
	u32 insn;

	assume(kind_of(insn) == kind);
	prove(aarch64_insn_emulation(insn) == how,
	      "what is emulated is what the manual calls so");
	if (kind == OTHER)
		return;

	cpu = regs;
	execute(&cpu, kind, insn);
	aarch64_insn_emulate(&regs, how, insn, regs.pc);
	prove(same(&regs, &cpu), "registers are as after the instruction");
}

void other(void)
{
	prove_kind(OTHER, AARCH64_EMULATE_NONE);
	prove_kind(NOP, AARCH64_EMULATE_NOP);
}

void branch(void)
{
	prove_kind(B, AARCH64_EMULATE_B_BL);
	prove_kind(BL, AARCH64_EMULATE_B_BL);
}

void branch_cond(void)
{
	prove_kind(B_COND, AARCH64_EMULATE_B_COND);
}

void compare(void)
{
	prove_kind(CBZ, AARCH64_EMULATE_CBZ_CBNZ);
	prove_kind(CBNZ, AARCH64_EMULATE_CBZ_CBNZ);
}

void test(void)
{
	prove_kind(TBZ, AARCH64_EMULATE_TBZ_TBNZ);
	prove_kind(TBNZ, AARCH64_EMULATE_TBZ_TBNZ);
}

void branch_reg(void)
{
	prove_kind(BR, AARCH64_EMULATE_BR_BLR_RET);
	prove_kind(BLR, AARCH64_EMULATE_BR_BLR_RET);
	prove_kind(RET, AARCH64_EMULATE_BR_BLR_RET);
}

void adr(void)
{
	prove_kind(ADR, AARCH64_EMULATE_ADR_ADRP);
}

void adrp(void)
{
	prove_kind(ADRP, AARCH64_EMULATE_ADR_ADRP);
}
