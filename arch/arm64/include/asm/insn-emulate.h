/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __ASM_INSN_EMULATE_H
#define __ASM_INSN_EMULATE_H

#include <linux/align.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/wordpart.h>

#include <asm/insn.h>
#include <asm/ptrace.h>

/*
 * What single instructions do to the registers, for code that has put a
 * breakpoint over one: kprobes, uprobes and the text poke core.
 *
 * The text poke core runs these before the kernel has properly been entered,
 * so they are always inlined, call nothing and touch no memory but @regs.
 *
 * The encodings are those of the Arm Architecture Reference Manual (DDI 0487),
 * C6.2.  None of the functions changes PSTATE; in particular, the landing pad
 * that BR and BLR ask for is the caller's business.
 */

/**
 * enum aarch64_insn_emulation - which of the emulations is an instruction's
 * @AARCH64_EMULATE_NONE:	there is none
 * @AARCH64_EMULATE_NOP:	NOP
 * @AARCH64_EMULATE_B_BL:	B, BL
 * @AARCH64_EMULATE_B_COND:	B.cond, BC.cond
 * @AARCH64_EMULATE_CBZ_CBNZ:	CBZ, CBNZ
 * @AARCH64_EMULATE_TBZ_TBNZ:	TBZ, TBNZ
 * @AARCH64_EMULATE_BR_BLR_RET:	BR, BLR, RET; not the ones with authentication
 * @AARCH64_EMULATE_ADR_ADRP:	ADR, ADRP
 */
enum aarch64_insn_emulation {
	AARCH64_EMULATE_NONE,
	AARCH64_EMULATE_NOP,
	AARCH64_EMULATE_B_BL,
	AARCH64_EMULATE_B_COND,
	AARCH64_EMULATE_CBZ_CBNZ,
	AARCH64_EMULATE_TBZ_TBNZ,
	AARCH64_EMULATE_BR_BLR_RET,
	AARCH64_EMULATE_ADR_ADRP,
};

/**
 * aarch64_insn_emulation - decode an instruction for aarch64_insn_emulate()
 * @insn:	the instruction
 *
 * Return: the emulation, or AARCH64_EMULATE_NONE.
 */
static __always_inline enum aarch64_insn_emulation
aarch64_insn_emulation(u32 insn)
{
	if (insn == aarch64_insn_gen_nop())
		return AARCH64_EMULATE_NOP;
	if (aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn))
		return AARCH64_EMULATE_B_BL;
	if (aarch64_insn_is_bcond(insn))
		return AARCH64_EMULATE_B_COND;
	if (aarch64_insn_is_cbz(insn) || aarch64_insn_is_cbnz(insn))
		return AARCH64_EMULATE_CBZ_CBNZ;
	if (aarch64_insn_is_tbz(insn) || aarch64_insn_is_tbnz(insn))
		return AARCH64_EMULATE_TBZ_TBNZ;
	if (aarch64_insn_is_br(insn) || aarch64_insn_is_blr(insn) ||
	    aarch64_insn_is_ret(insn))
		return AARCH64_EMULATE_BR_BLR_RET;
	if (aarch64_insn_is_adr_adrp(insn))
		return AARCH64_EMULATE_ADR_ADRP;
	return AARCH64_EMULATE_NONE;
}

/* The signed field of @width bits from bit @lsb on. */
static __always_inline s64 aarch64_insn_simm(u32 insn, int lsb, int width)
{
	return sign_extend64(insn >> lsb & GENMASK(width - 1, 0), width - 1);
}

/* Where these instructions have a register, 31 is XZR, not SP. */
static __always_inline u64 aarch64_insn_get_reg(const struct pt_regs *regs,
						unsigned int reg)
{
	return reg == 31 ? 0 : regs->regs[reg];
}

/* CBZ and CBNZ: bit 31 says 64-bit, bit 24 non-zero, bits 4:0 the register. */
static __always_inline bool aarch64_insn_cbz_taken(const struct pt_regs *regs,
						   u32 insn)
{
	u64 val = aarch64_insn_get_reg(regs, insn & GENMASK(4, 0));

	if (!(insn & BIT(31)))
		val = lower_32_bits(val);
	return !val == !(insn & BIT(24));
}

/* TBZ and TBNZ: as CBZ and CBNZ, for the one bit that 31 and 23:19 name. */
static __always_inline bool aarch64_insn_tbz_taken(const struct pt_regs *regs,
						   u32 insn)
{
	u64 val = aarch64_insn_get_reg(regs, insn & GENMASK(4, 0));
	unsigned int bit = (insn >> 19 & GENMASK(4, 0)) | (insn >> 31 << 5);

	return !(val >> bit & 1) == !(insn & BIT(24));
}

/* An odd condition is the opposite of the one before, but 15 is "always", too. */
static __always_inline bool aarch64_insn_cond_holds(u64 pstate, u32 cond)
{
	bool n = pstate & PSR_N_BIT, z = pstate & PSR_Z_BIT;
	bool c = pstate & PSR_C_BIT, v = pstate & PSR_V_BIT;
	bool opposite = cond & 1;

	switch (cond >> 1) {
	case 0:
		return z != opposite;
	case 1:
		return c != opposite;
	case 2:
		return n != opposite;
	case 3:
		return v != opposite;
	case 4:
		return (c && !z) != opposite;
	case 5:
		return (n == v) != opposite;
	case 6:
		return (n == v && !z) != opposite;
	}
	return true;
}

/*
 *   31 30   26 25                      0
 *   +--+------+------------------------+
 *   |op|00101 |         imm26          |   op = 1: X30 = @addr + 4
 *   +--+------+------------------------+   PC = @addr + SignExtend(imm26:00)
 */
static __always_inline void
aarch64_insn_emulate_b_bl(struct pt_regs *regs, u32 insn, unsigned long addr)
{
	if (insn & BIT(31))
		regs->regs[30] = addr + AARCH64_INSN_SIZE;
	regs->pc = addr + aarch64_insn_simm(insn, 0, 26) * AARCH64_INSN_SIZE;
}

/* Over @imm instructions if the branch is @taken, to the next one if not. */
static __always_inline void
aarch64_insn_emulate_if(struct pt_regs *regs, bool taken, s64 imm,
			unsigned long addr)
{
	regs->pc = addr + (taken ? imm : 1) * AARCH64_INSN_SIZE;
}

/* The target is read before X30 is written: BLR X30 is legal. */
static __always_inline void
aarch64_insn_emulate_br_blr_ret(struct pt_regs *regs, u32 insn,
				unsigned long addr)
{
	regs->pc = aarch64_insn_get_reg(regs, insn >> 5 & GENMASK(4, 0));
	if (aarch64_insn_is_blr(insn))
		regs->regs[30] = addr + AARCH64_INSN_SIZE;
}

/*
 *   31 30    29 28   24 23                 5 4  0
 *   +--+-------+-------+--------------------+----+
 *   |op| immlo | 10000 |       immhi        | Rd |   op = 1: in 4K pages
 *   +--+-------+-------+--------------------+----+
 */
static __always_inline void
aarch64_insn_emulate_adr_adrp(struct pt_regs *regs, u32 insn,
			      unsigned long addr)
{
	s64 imm = aarch64_insn_simm(insn, 5, 19) * 4 + (insn >> 29 & 3);
	unsigned int reg = insn & GENMASK(4, 0);

	regs->pc = addr + AARCH64_INSN_SIZE;
	if (reg == 31)
		return;
	if (aarch64_insn_is_adrp(insn))
		regs->regs[reg] = ALIGN_DOWN(addr, SZ_4K) + imm * SZ_4K;
	else
		regs->regs[reg] = addr + imm;
}

/**
 * aarch64_insn_emulate - do what an instruction would have done
 * @regs:	registers, to be changed
 * @how:	what aarch64_insn_emulation() has said about it
 * @insn:	the instruction
 * @addr:	where it is, or would be
 */
static __always_inline void
aarch64_insn_emulate(struct pt_regs *regs, enum aarch64_insn_emulation how,
		     u32 insn, unsigned long addr)
{
	bool taken;

	switch (how) {
	case AARCH64_EMULATE_NONE:
		break;
	case AARCH64_EMULATE_NOP:
		regs->pc = addr + AARCH64_INSN_SIZE;
		break;
	case AARCH64_EMULATE_B_BL:
		aarch64_insn_emulate_b_bl(regs, insn, addr);
		break;
	case AARCH64_EMULATE_B_COND:
		taken = aarch64_insn_cond_holds(regs->pstate, insn & 0xf);
		aarch64_insn_emulate_if(regs, taken,
					aarch64_insn_simm(insn, 5, 19), addr);
		break;
	case AARCH64_EMULATE_CBZ_CBNZ:
		taken = aarch64_insn_cbz_taken(regs, insn);
		aarch64_insn_emulate_if(regs, taken,
					aarch64_insn_simm(insn, 5, 19), addr);
		break;
	case AARCH64_EMULATE_TBZ_TBNZ:
		taken = aarch64_insn_tbz_taken(regs, insn);
		aarch64_insn_emulate_if(regs, taken,
					aarch64_insn_simm(insn, 5, 14), addr);
		break;
	case AARCH64_EMULATE_BR_BLR_RET:
		aarch64_insn_emulate_br_blr_ret(regs, insn, addr);
		break;
	case AARCH64_EMULATE_ADR_ADRP:
		aarch64_insn_emulate_adr_adrp(regs, insn, addr);
		break;
	}
}

#endif /* __ASM_INSN_EMULATE_H */
