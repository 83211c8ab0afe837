// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: what the trap handler does is what the instruction does
 *
 * source arch/riscv/include/asm/insn-emulate.h
 * source arch/riscv/include/asm/insn.h
 *
 * Proved, for every instruction, at every address, with any registers:
 *
 *   - riscv_insn_emulation() says that there is an emulation if and only if
 *     the instruction is NOP, JAL, JALR, AUIPC, BEQ, BNE, BLT, BGE, BLTU, BGEU,
 *     C.NOP, C.J, C.JR, C.JALR, C.BEQZ or C.BNEZ; whatever is in the upper half
 *     of the word that has a compressed instruction in the lower one.
 *   - riscv_insn_emulate() leaves all registers as the instruction does. Of the
 *     conditional branches that is proved with two of the registers as operands,
 *     and for all 32 that the operands are those that the manual names: together
 *     it would take a minute.
 *
 * Stubs: the registers; kernel.h.
 *
 * proof other
 * proof jal
 * proof jalr
 * proof auipc
 * proof branch
 * proof operands
 * proof c_jump
 * proof c_branch
 *
 * mutant nop in other: "return RISCV_EMULATE_NOP;" -> "return RISCV_EMULATE_NONE;"
 * mutant upper-half in other: "(insn & GENMASK(15, 0)) == RISCV_INSN_C_NOP"
 *	-> "insn == RISCV_INSN_C_NOP"
 * mutant reserved-branch in other: "if (riscv_insn_is_real_branch(insn))"
 *	-> "if (riscv_insn_is_branch(insn))"
 * mutant length in other: "(insn & GENMASK(1, 0)) == GENMASK(1, 0) ? 4 : 2"
 *	-> "(insn & GENMASK(1, 0)) >= GENMASK(1, 1) ? 4 : 2"
 * mutant jal-sign in jal: "s32 imm = RV_EXTRACT_JTYPE_IMM(insn);"
 *	-> "s32 imm = RV_EXTRACT_JTYPE_IMM(insn) & GENMASK(20, 0);"
 * mutant jal-link in jal: "addr + 4);
 *	regs->epc = addr + imm;" -> "addr + 2);
 *	regs->epc = addr + imm;"
 * mutant x0-written in jal: "	if (reg)
 *		((unsigned long *)regs)[reg] = val;"
 *	-> "	((unsigned long *)regs)[reg + !reg] = val;"
 * mutant x0-read in jalr: "return reg ? ((const unsigned long *)regs)[reg] : 0;"
 *	-> "return ((const unsigned long *)regs)[reg];"
 * mutant jalr-order in jalr: "(base + imm) & ~1UL"
 *	-> "(riscv_insn_get_reg(regs, riscv_insn_rs1(insn)) + imm) & ~1UL"
 * mutant jalr-even in jalr: "(base + imm) & ~1UL" -> "base + imm"
 * mutant auipc-sign in auipc: "s32 imm = insn & GENMASK(31, 12);"
 *	-> "u32 imm = insn & GENMASK(31, 12);"
 * mutant auipc-next in auipc: "addr + imm);
 *	regs->epc = addr + 4;" -> "addr + imm);
 *	regs->epc = addr + 2;"
 * mutant unsigned in branch: "((long)a < (long)b) != opposite" -> "(a < b) != opposite"
 * mutant opposite in branch: "bool opposite = insn & BIT(12);"
 *	-> "bool opposite = insn & BIT(13);"
 * mutant second-operand in operands: "insn >> 20 & GENMASK(4, 0)"
 *	-> "insn >> 20 & GENMASK(3, 0)"
 * mutant not-taken in branch: "(riscv_insn_branch_taken(regs, insn) ? imm : 4)"
 *	-> "(riscv_insn_branch_taken(regs, insn) ? imm : 2)"
 * mutant cj-sign in c_jump: "s32 imm = RVC_EXTRACT_JTYPE_IMM(insn);"
 *	-> "u16 imm = RVC_EXTRACT_JTYPE_IMM(insn);"
 * mutant cjr-even in c_jump: "riscv_insn_get_reg(regs, riscv_insn_rd(insn)) & ~1UL"
 *	-> "riscv_insn_get_reg(regs, riscv_insn_rd(insn))"
 * mutant cjalr-order in c_jump: "	riscv_insn_emulate_c_jr(regs, insn);
 *	regs->ra = addr + 2;"
 *	-> "	regs->ra = addr + 2;
 *	riscv_insn_emulate_c_jr(regs, insn);"
 * mutant cb-register in c_branch: "8 + (insn >> 7 & GENMASK(2, 0))"
 *	-> "insn >> 7 & GENMASK(2, 0)"
 * mutant cb-sense in c_branch: "== !(insn & BIT(13))" -> "!= !(insn & BIT(13))"
 * mutant cb-not-taken in c_branch: "(taken ? imm : 2)" -> "(taken ? imm : 4)"
 */
#include "kernel.h"
#include "riscv.h"

#include <asm/insn-emulate.h>

/* @kind, of which the kernel says @how. */
static void prove_kind(enum kind kind, enum riscv_insn_emulation how)
{
	struct pt_regs regs, cpu;
	u32 insn;

	assume(kind_of(insn) == kind);
	prove(riscv_insn_emulation(insn) == how,
	      "what is emulated is what the manual calls so");
	prove(riscv_insn_len(insn) == (field(insn, 1, 0) == 3 ? 4 : 2),
	      "it is as long as the manual says");
	if (kind == OTHER)
		return;

	if (kind == BRANCH)
		assume(field(insn, 19, 15) == 10 && field(insn, 24, 20) == 11);
	cpu = regs;
	execute(&cpu, kind, insn);
	riscv_insn_emulate(&regs, how, insn, regs.epc);
	prove(same(&regs, &cpu), "registers are as after the instruction");
}

void other(void)
{
	prove_kind(OTHER, RISCV_EMULATE_NONE);
	prove_kind(NOP, RISCV_EMULATE_NOP);
	prove_kind(C_NOP, RISCV_EMULATE_C_NOP);
}

void jal(void)
{
	prove_kind(JAL, RISCV_EMULATE_JAL);
}

void jalr(void)
{
	prove_kind(JALR, RISCV_EMULATE_JALR);
}

void auipc(void)
{
	prove_kind(AUIPC, RISCV_EMULATE_AUIPC);
}

void branch(void)
{
	prove_kind(BRANCH, RISCV_EMULATE_BRANCH);
}

/* For branches the two operands are enough to know that any other two will do. */
void operands(void)
{
	struct pt_regs regs;
	u32 insn;

	prove(riscv_insn_get_reg(&regs, riscv_insn_rs1(insn)) == x(&regs, field(insn, 19, 15)),
	      "the first operand is that of the manual");
	prove(riscv_insn_get_reg(&regs, riscv_insn_rs2(insn)) == x(&regs, field(insn, 24, 20)),
	      "the second operand is that of the manual");
}

void c_jump(void)
{
	prove_kind(C_J, RISCV_EMULATE_C_J);
	prove_kind(C_JR, RISCV_EMULATE_C_JR);
	prove_kind(C_JALR, RISCV_EMULATE_C_JALR);
}

void c_branch(void)
{
	prove_kind(C_BEQZ, RISCV_EMULATE_C_BRANCH);
	prove_kind(C_BNEZ, RISCV_EMULATE_C_BRANCH);
}
