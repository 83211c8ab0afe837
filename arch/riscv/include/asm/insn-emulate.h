/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __ASM_INSN_EMULATE_H
#define __ASM_INSN_EMULATE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/insn.h>
#include <asm/ptrace.h>

/*
 * What single instructions do to the registers, for code that has put a
 * breakpoint over one: kprobes, uprobes and the text poke core.
 *
 * The text poke core runs these before the kernel has properly been entered,
 * so they are always inlined, call nothing and touch no memory but @regs.
 *
 * The encodings are those of the RISC-V Instruction Set Manual, Volume I,
 * chapters "RV32I" and "C".  An instruction of 16 bits stands in the lower
 * half; what is in the upper half does not matter.
 */

/**
 * enum riscv_insn_emulation - which of the emulations is an instruction's
 * @RISCV_EMULATE_NONE:		there is none
 * @RISCV_EMULATE_NOP:		NOP
 * @RISCV_EMULATE_JAL:		JAL
 * @RISCV_EMULATE_JALR:		JALR
 * @RISCV_EMULATE_AUIPC:	AUIPC
 * @RISCV_EMULATE_BRANCH:	BEQ, BNE, BLT, BGE, BLTU, BGEU
 * @RISCV_EMULATE_C_NOP:	C.NOP
 * @RISCV_EMULATE_C_J:		C.J
 * @RISCV_EMULATE_C_JR:		C.JR
 * @RISCV_EMULATE_C_JALR:	C.JALR
 * @RISCV_EMULATE_C_BRANCH:	C.BEQZ, C.BNEZ
 */
enum riscv_insn_emulation {
	RISCV_EMULATE_NONE,
	RISCV_EMULATE_NOP,
	RISCV_EMULATE_JAL,
	RISCV_EMULATE_JALR,
	RISCV_EMULATE_AUIPC,
	RISCV_EMULATE_BRANCH,
	RISCV_EMULATE_C_NOP,
	RISCV_EMULATE_C_J,
	RISCV_EMULATE_C_JR,
	RISCV_EMULATE_C_JALR,
	RISCV_EMULATE_C_BRANCH,
};

/* NOP is ADDI x0, x0, 0; C.NOP is C.ADDI x0, 0. */
#define RISCV_INSN_NOP4		0x00000013U
#define RISCV_INSN_C_NOP	0x0001U

/* The two lowest bits of an instruction of 32 bits are ones. */
static __always_inline unsigned int riscv_insn_len(u32 insn)
{
	return (insn & GENMASK(1, 0)) == GENMASK(1, 0) ? 4 : 2;
}

/* The conditions that there are: 2 and 3 are reserved. */
static __always_inline bool riscv_insn_is_real_branch(u32 insn)
{
	return riscv_insn_is_branch(insn) &&
	       (insn & GENMASK(14, 13)) != BIT(13);
}

static __always_inline enum riscv_insn_emulation
riscv_insn_emulation_c(u32 insn)
{
	if ((insn & GENMASK(15, 0)) == RISCV_INSN_C_NOP)
		return RISCV_EMULATE_C_NOP;
	if (riscv_insn_is_c_j(insn))
		return RISCV_EMULATE_C_J;
	if (riscv_insn_is_c_jr(insn))
		return RISCV_EMULATE_C_JR;
	if (riscv_insn_is_c_jalr(insn))
		return RISCV_EMULATE_C_JALR;
	if (riscv_insn_is_c_beqz(insn) || riscv_insn_is_c_bnez(insn))
		return RISCV_EMULATE_C_BRANCH;
	return RISCV_EMULATE_NONE;
}

/**
 * riscv_insn_emulation - decode an instruction for riscv_insn_emulate()
 * @insn:	the instruction
 *
 * Return: the emulation, or RISCV_EMULATE_NONE.
 */
static __always_inline enum riscv_insn_emulation riscv_insn_emulation(u32 insn)
{
	if (riscv_insn_len(insn) == 2)
		return riscv_insn_emulation_c(insn);
	if (insn == RISCV_INSN_NOP4)
		return RISCV_EMULATE_NOP;
	if (riscv_insn_is_jal(insn))
		return RISCV_EMULATE_JAL;
	if (riscv_insn_is_jalr(insn))
		return RISCV_EMULATE_JALR;
	if (riscv_insn_is_auipc(insn))
		return RISCV_EMULATE_AUIPC;
	if (riscv_insn_is_real_branch(insn))
		return RISCV_EMULATE_BRANCH;
	return RISCV_EMULATE_NONE;
}

/* x0 is zero; struct pt_regs has the pc in its place. */
static __always_inline unsigned long
riscv_insn_get_reg(const struct pt_regs *regs, unsigned int reg)
{
	return reg ? ((const unsigned long *)regs)[reg] : 0;
}

static __always_inline void riscv_insn_set_reg(struct pt_regs *regs,
					       unsigned int reg,
					       unsigned long val)
{
	if (reg)
		((unsigned long *)regs)[reg] = val;
}

static __always_inline unsigned int riscv_insn_rd(u32 insn)
{
	return insn >> 7 & GENMASK(4, 0);
}

static __always_inline unsigned int riscv_insn_rs1(u32 insn)
{
	return insn >> 15 & GENMASK(4, 0);
}

static __always_inline unsigned int riscv_insn_rs2(u32 insn)
{
	return insn >> 20 & GENMASK(4, 0);
}

/*
 *   31        30       21      20      19        12 11 7 6       0
 *   +-------+-----------+---------+----------------+----+---------+
 *   |imm[20]| imm[10:1] | imm[11] |   imm[19:12]   | rd | 1101111 |  JAL
 *   +-------+-----------+---------+----------------+----+---------+
 */
static __always_inline void
riscv_insn_emulate_jal(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	s32 imm = RV_EXTRACT_JTYPE_IMM(insn);

	riscv_insn_set_reg(regs, riscv_insn_rd(insn), addr + 4);
	regs->epc = addr + imm;
}

/* The target is read before rd is written: they may be the same register. */
static __always_inline void
riscv_insn_emulate_jalr(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	unsigned long base = riscv_insn_get_reg(regs, riscv_insn_rs1(insn));
	s32 imm = RV_EXTRACT_ITYPE_IMM(insn);

	riscv_insn_set_reg(regs, riscv_insn_rd(insn), addr + 4);
	regs->epc = (base + imm) & ~1UL;
}

static __always_inline void
riscv_insn_emulate_auipc(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	s32 imm = insn & GENMASK(31, 12);

	riscv_insn_set_reg(regs, riscv_insn_rd(insn), addr + imm);
	regs->epc = addr + 4;
}

/* funct3: bit 2 says less than, bit 1 unsigned, bit 0 the opposite. */
static __always_inline bool riscv_insn_branch_taken(const struct pt_regs *regs,
						    u32 insn)
{
	unsigned long a = riscv_insn_get_reg(regs, riscv_insn_rs1(insn));
	unsigned long b = riscv_insn_get_reg(regs, riscv_insn_rs2(insn));
	bool opposite = insn & BIT(12);

	if (!(insn & BIT(14)))
		return (a == b) != opposite;
	if (insn & BIT(13))
		return (a < b) != opposite;
	return ((long)a < (long)b) != opposite;
}

static __always_inline void
riscv_insn_emulate_branch(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	s32 imm = RV_EXTRACT_BTYPE_IMM(insn);

	regs->epc = addr + (riscv_insn_branch_taken(regs, insn) ? imm : 4);
}

/*
 *   15   13 12                             2 1    0
 *   +------+--------------------------------+------+
 *   | 101  | imm[11|4|9:8|10|6|7|3:1|5]     |  01  |   C.J
 *   +------+--------------------------------+------+
 */
static __always_inline void
riscv_insn_emulate_c_j(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	s32 imm = RVC_EXTRACT_JTYPE_IMM(insn);

	regs->epc = addr + imm;
}

static __always_inline void
riscv_insn_emulate_c_jr(struct pt_regs *regs, u32 insn)
{
	regs->epc = riscv_insn_get_reg(regs, riscv_insn_rd(insn)) & ~1UL;
}

/* C.JALR: the link register is x1, which may also hold the target. */
static __always_inline void
riscv_insn_emulate_c_jalr(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	riscv_insn_emulate_c_jr(regs, insn);
	regs->ra = addr + 2;
}

/* Bits 9:7 name one of x8 to x15; funct3 is 110 for C.BEQZ, 111 for C.BNEZ. */
static __always_inline void
riscv_insn_emulate_c_branch(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	unsigned int reg = 8 + (insn >> 7 & GENMASK(2, 0));
	bool taken = !riscv_insn_get_reg(regs, reg) == !(insn & BIT(13));
	s32 imm = RVC_EXTRACT_BTYPE_IMM(insn);

	regs->epc = addr + (taken ? imm : 2);
}

/**
 * riscv_insn_emulate - do what an instruction would have done
 * @regs:	registers, to be changed
 * @how:	what riscv_insn_emulation() has said about it
 * @insn:	the instruction
 * @addr:	where it is, or would be
 */
static __always_inline void riscv_insn_emulate(struct pt_regs *regs,
					       enum riscv_insn_emulation how,
					       u32 insn, unsigned long addr)
{
	switch (how) {
	case RISCV_EMULATE_NONE:
		break;
	case RISCV_EMULATE_NOP:
		regs->epc = addr + 4;
		break;
	case RISCV_EMULATE_JAL:
		riscv_insn_emulate_jal(regs, insn, addr);
		break;
	case RISCV_EMULATE_JALR:
		riscv_insn_emulate_jalr(regs, insn, addr);
		break;
	case RISCV_EMULATE_AUIPC:
		riscv_insn_emulate_auipc(regs, insn, addr);
		break;
	case RISCV_EMULATE_BRANCH:
		riscv_insn_emulate_branch(regs, insn, addr);
		break;
	case RISCV_EMULATE_C_NOP:
		regs->epc = addr + 2;
		break;
	case RISCV_EMULATE_C_J:
		riscv_insn_emulate_c_j(regs, insn, addr);
		break;
	case RISCV_EMULATE_C_JR:
		riscv_insn_emulate_c_jr(regs, insn);
		break;
	case RISCV_EMULATE_C_JALR:
		riscv_insn_emulate_c_jalr(regs, insn, addr);
		break;
	case RISCV_EMULATE_C_BRANCH:
		riscv_insn_emulate_c_branch(regs, insn, addr);
		break;
	}
}

#endif /* __ASM_INSN_EMULATE_H */
