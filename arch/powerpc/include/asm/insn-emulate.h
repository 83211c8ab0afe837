/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef _ASM_POWERPC_INSN_EMULATE_H
#define _ASM_POWERPC_INSN_EMULATE_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/ptrace.h>
#include <asm/reg.h>
#include <asm/sstep.h>

/*
 * What single instructions do to the registers, for code that has put a trap
 * over one: kprobes, uprobes and the text poke core.
 *
 * analyse_instr() and emulate_update_regs() know many more.  These are the ones
 * that stand where text is changed: nop, branches, calls and returns, moves from
 * and to LR and CTR, and the first instructions of a function.  The text poke
 * core runs them before the kernel has properly been entered, so they are always
 * inlined, test no CPU feature, and touch no memory but @regs and the PACA.
 *
 * The encodings are those of the Power ISA, Book I.
 */

/**
 * enum ppc_insn_emulation - which of the emulations is an instruction's
 * @PPC_EMULATE_NONE:	there is none
 * @PPC_EMULATE_B:	b, bl, ba, bla
 * @PPC_EMULATE_BC:	bc, bcl, bca, bcla
 * @PPC_EMULATE_BCLR:	bclr, bclrl; blr is one
 * @PPC_EMULATE_BCCTR:	bcctr, bcctrl; bctr is one
 * @PPC_EMULATE_MFSPR:	mfxer, mflr, mfctr
 * @PPC_EMULATE_MTSPR:	mtxer, mtlr, mtctr
 * @PPC_EMULATE_ADDI:	addi; li is one
 * @PPC_EMULATE_ADDIS:	addis; lis is one
 * @PPC_EMULATE_ORI:	ori; nop is one
 */
enum ppc_insn_emulation {
	PPC_EMULATE_NONE,
	PPC_EMULATE_B,
	PPC_EMULATE_BC,
	PPC_EMULATE_BCLR,
	PPC_EMULATE_BCCTR,
	PPC_EMULATE_MFSPR,
	PPC_EMULATE_MTSPR,
	PPC_EMULATE_ADDI,
	PPC_EMULATE_ADDIS,
	PPC_EMULATE_ORI,
};

/* The number is split into halves of 5 bits, the lower one first. */
static __always_inline unsigned int ppc_insn_spr(u32 insn)
{
	return (insn >> 16 & 0x1f) | (insn >> 6 & 0x3e0);
}

/* Of the branches with a condition; two bits of it say which condition. */
#define PPC_BO_NO_CR	BIT(4)
#define PPC_BO_CR_SET	BIT(3)
#define PPC_BO_NO_CTR	BIT(2)
#define PPC_BO_CTR_ZERO	BIT(1)

static __always_inline unsigned int ppc_insn_bo(u32 insn)
{
	return insn >> 21 & 0x1f;
}

static __always_inline enum ppc_insn_emulation ppc_insn_emulation_19(u32 insn)
{
	switch (insn >> 1 & 0x3ff) {
	case 16:
		return PPC_EMULATE_BCLR;
	case 528:
		/* What would branch to the CTR and count it is no instruction. */
		if (ppc_insn_bo(insn) & PPC_BO_NO_CTR)
			return PPC_EMULATE_BCCTR;
		break;
	}
	return PPC_EMULATE_NONE;
}

static __always_inline bool ppc_insn_spr_is_saved(u32 insn)
{
	unsigned int spr = ppc_insn_spr(insn);

	return spr == SPRN_XER || spr == SPRN_LR || spr == SPRN_CTR;
}

static __always_inline enum ppc_insn_emulation ppc_insn_emulation_31(u32 insn)
{
	if (!ppc_insn_spr_is_saved(insn))
		return PPC_EMULATE_NONE;

	switch (insn >> 1 & 0x3ff) {
	case 339:
		return PPC_EMULATE_MFSPR;
	case 467:
		return PPC_EMULATE_MTSPR;
	}
	return PPC_EMULATE_NONE;
}

/**
 * ppc_insn_emulation - say which emulation an instruction has
 * @insn:	the instruction; of a prefixed one, the prefix, which has none
 *
 * Return: the emulation, or PPC_EMULATE_NONE.
 */
static __always_inline enum ppc_insn_emulation ppc_insn_emulation(u32 insn)
{
	switch (insn >> 26) {
	case 14:
		return PPC_EMULATE_ADDI;
	case 15:
		return PPC_EMULATE_ADDIS;
	case 16:
		return PPC_EMULATE_BC;
	case 18:
		return PPC_EMULATE_B;
	case 19:
		return ppc_insn_emulation_19(insn);
	case 24:
		return PPC_EMULATE_ORI;
	case 31:
		return ppc_insn_emulation_31(insn);
	}
	return PPC_EMULATE_NONE;
}

/* Addresses have 32 bits in 32-bit mode. */
static __always_inline unsigned long ppc_insn_address(const struct pt_regs *regs,
						      unsigned long addr)
{
	return regs->msr & MSR_64BIT ? addr : addr & 0xffffffffUL;
}

/*
 *   0    5 6                       29 30 31
 *   +-----+--------------------------+--+--+
 *   | 18  |            LI            |AA|LK|  b, bl, ba, bla
 *   +-----+--------------------------+--+--+
 *   | 16  | BO | BI |       BD       |AA|LK|  bc, bcl, bca, bcla
 *   +-----+----+----+----------------+--+--+
 */
static __always_inline void
ppc_insn_decode_target(struct instruction_op *op, const struct pt_regs *regs,
		       u32 insn, long distance)
{
	unsigned long base = insn & 2 ? 0 : regs->nip;

	op->val = ppc_insn_address(regs, base + distance);
}

static __always_inline void ppc_insn_decode_link(struct instruction_op *op, u32 insn)
{
	op->type = BRANCH;
	if (insn & 1)
		op->type |= SETLK;
}

/* The CTR is counted whether the branch is taken or not. */
static __always_inline void
ppc_insn_decode_condition(struct instruction_op *op, const struct pt_regs *regs,
			  u32 insn)
{
	unsigned int bo = ppc_insn_bo(insn), bi = insn >> 16 & 0x1f;
	bool is_set = regs->ccr >> (31 - bi) & 1, is_last = regs->ctr == 1;

	if (!(bo & PPC_BO_NO_CTR)) {
		op->type |= DECCTR;
		if (is_last != !!(bo & PPC_BO_CTR_ZERO))
			return;
	}
	if (bo & PPC_BO_NO_CR || is_set == !!(bo & PPC_BO_CR_SET))
		op->type |= BRTAKEN;
}

static __always_inline void
ppc_insn_decode_b(struct instruction_op *op, const struct pt_regs *regs, u32 insn)
{
	ppc_insn_decode_link(op, insn);
	op->type |= BRTAKEN;
	ppc_insn_decode_target(op, regs, insn, (s32)(insn << 6) >> 6 & ~3L);
}

static __always_inline void
ppc_insn_decode_bc(struct instruction_op *op, const struct pt_regs *regs, u32 insn)
{
	ppc_insn_decode_link(op, insn);
	ppc_insn_decode_target(op, regs, insn, (s16)insn & ~3L);
	ppc_insn_decode_condition(op, regs, insn);
}

/* bclr, bcctr: to where @reg says, whose lowest bits do not count. */
static __always_inline void
ppc_insn_decode_bcreg(struct instruction_op *op, const struct pt_regs *regs,
		      u32 insn, unsigned long reg)
{
	ppc_insn_decode_link(op, insn);
	op->val = ppc_insn_address(regs, reg & ~3UL);
	ppc_insn_decode_condition(op, regs, insn);
}

static __always_inline void
ppc_insn_decode_spr(struct instruction_op *op, const struct pt_regs *regs,
		    u32 insn, int type)
{
	op->type = type;
	op->reg = insn >> 21 & 0x1f;
	op->spr = ppc_insn_spr(insn);
	op->val = regs->gpr[op->reg];
}

/* Register 0 stands for zero. */
static __always_inline void
ppc_insn_decode_add(struct instruction_op *op, const struct pt_regs *regs,
		    u32 insn, long immediate)
{
	unsigned int ra = insn >> 16 & 0x1f;

	op->type = COMPUTE | SETREG;
	op->reg = insn >> 21 & 0x1f;
	op->val = (ra ? regs->gpr[ra] : 0) + immediate;
}

/* The target stands where the source of others does. */
static __always_inline void
ppc_insn_decode_ori(struct instruction_op *op, const struct pt_regs *regs, u32 insn)
{
	op->type = COMPUTE | SETREG;
	op->reg = insn >> 16 & 0x1f;
	op->val = regs->gpr[insn >> 21 & 0x1f] | (u16)insn;
}

/**
 * ppc_insn_decode - say what an instruction would do
 * @op:		where to say it, for ppc_insn_update()
 * @regs:	registers, with the nip at the instruction
 * @how:	what ppc_insn_emulation() has said about it, which is not NONE
 * @insn:	the instruction
 */
static __always_inline void ppc_insn_decode(struct instruction_op *op,
					    const struct pt_regs *regs,
					    enum ppc_insn_emulation how, u32 insn)
{
	switch (how) {
	case PPC_EMULATE_NONE:
		break;
	case PPC_EMULATE_B:
		ppc_insn_decode_b(op, regs, insn);
		break;
	case PPC_EMULATE_BC:
		ppc_insn_decode_bc(op, regs, insn);
		break;
	case PPC_EMULATE_BCLR:
		ppc_insn_decode_bcreg(op, regs, insn, regs->link);
		break;
	case PPC_EMULATE_BCCTR:
		ppc_insn_decode_bcreg(op, regs, insn, regs->ctr);
		break;
	case PPC_EMULATE_MFSPR:
		ppc_insn_decode_spr(op, regs, insn, MFSPR);
		break;
	case PPC_EMULATE_MTSPR:
		ppc_insn_decode_spr(op, regs, insn, MTSPR);
		break;
	case PPC_EMULATE_ADDI:
		ppc_insn_decode_add(op, regs, insn, (s16)insn);
		break;
	case PPC_EMULATE_ADDIS:
		ppc_insn_decode_add(op, regs, insn, (s32)(insn << 16));
		break;
	case PPC_EMULATE_ORI:
		ppc_insn_decode_ori(op, regs, insn);
		break;
	}
}

static __always_inline void ppc_insn_update_compute(struct pt_regs *regs,
						    const struct instruction_op *op)
{
	if (op->type & SETREG)
		regs->gpr[op->reg] = op->val;
	if (op->type & SETCC)
		regs->ccr = op->ccval;
	if (op->type & SETXER)
		regs->xer = op->xerval;
}

/* Return: where to go on, which is @next_pc if the branch is not taken. */
static __always_inline unsigned long
ppc_insn_update_branch(struct pt_regs *regs, const struct instruction_op *op,
		       unsigned long next_pc)
{
	if (op->type & SETLK)
		regs->link = next_pc;
	if (op->type & DECCTR)
		--regs->ctr;
	return op->type & BRTAKEN ? op->val : next_pc;
}

static __always_inline void ppc_insn_update_mfspr(struct pt_regs *regs,
						  const struct instruction_op *op)
{
	switch (op->spr) {
	case SPRN_XER:
		regs->gpr[op->reg] = regs->xer & 0xffffffffUL;
		break;
	case SPRN_LR:
		regs->gpr[op->reg] = regs->link;
		break;
	case SPRN_CTR:
		regs->gpr[op->reg] = regs->ctr;
		break;
	}
}

static __always_inline void ppc_insn_update_mtspr(struct pt_regs *regs,
						  const struct instruction_op *op)
{
	switch (op->spr) {
	case SPRN_XER:
		regs->xer = op->val & 0xffffffffUL;
		break;
	case SPRN_LR:
		regs->link = op->val;
		break;
	case SPRN_CTR:
		regs->ctr = op->val;
		break;
	}
}

/**
 * ppc_insn_update - do what has been decoded
 * @regs:	registers, to be changed
 * @op:		what an instruction does to them; of any other kind nothing
 *		is done
 *
 * Return: where to go on.
 */
static __always_inline unsigned long
ppc_insn_update(struct pt_regs *regs, const struct instruction_op *op)
{
	unsigned long next_pc = regs->nip + GETLENGTH(op->type);

	next_pc = ppc_insn_address(regs, next_pc);
	switch (GETTYPE(op->type)) {
	case COMPUTE:
		ppc_insn_update_compute(regs, op);
		break;
	case BRANCH:
		return ppc_insn_update_branch(regs, op, next_pc);
	case MFSPR:
		ppc_insn_update_mfspr(regs, op);
		break;
	case MTSPR:
		ppc_insn_update_mtspr(regs, op);
		break;
	}
	return next_pc;
}

/**
 * ppc_insn_emulate - do what an instruction would have done
 * @regs:	registers, to be changed, with the nip at the instruction
 * @how:	what ppc_insn_emulation() has said about it
 * @insn:	the instruction
 */
static __always_inline void ppc_insn_emulate(struct pt_regs *regs,
					     enum ppc_insn_emulation how, u32 insn)
{
	struct instruction_op op;

	if (how == PPC_EMULATE_NONE)
		return;
	ppc_insn_decode(&op, regs, how, insn);
	regs_set_return_ip(regs, ppc_insn_update(regs, &op));
}

#endif /* _ASM_POWERPC_INSN_EMULATE_H */
