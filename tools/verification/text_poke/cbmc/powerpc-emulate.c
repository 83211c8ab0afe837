// SPDX-License-Identifier: GPL-2.0
/*
 * powerpc: what the trap handler does is what the instruction does
 *
 * source arch/powerpc/include/asm/insn-emulate.h
 *
 * Proved, for every instruction, at every address, with any registers, in 64-bit
 * mode and in 32-bit mode:
 *
 *   - ppc_insn_emulation() says that there is an emulation if and only if the
 *     instruction is b, bl, ba, bla, one of the bc, bclr and bcctr forms that are
 *     valid, a move from or to XER, LR or CTR, addi, addis or ori. It says no to
 *     all prefixes and traps.
 *   - ppc_insn_emulate() leaves all registers as the instruction does, and so
 *     analyse_instr() and emulate_update_regs() do, which are made from its
 *     halves. Of addi and addis that is proved with one register as the target,
 *     another or none as the operand, and for all 32 that these are those that
 *     the manual names: together it would take minutes.
 *   - nop changes nothing but the address; blr goes to LR, and mflr r0 leaves LR
 *     in r0 and changes nothing else: what stands at the entry of a function.
 *
 * Limits: that all of CTR counts is so in 64-bit mode. In 32-bit mode, which the
 * kernel does not run in, the lower half does; the decoder is as it was.
 *
 * Stubs: the registers; kernel.h.
 *
 * proof other
 * proof b
 * proof bc
 * proof bclr
 * proof bcctr
 * proof spr
 * proof add
 * proof operands
 * proof ori
 * proof entry
 *
 * mutant opcode in other: "case 15:
 *		return PPC_EMULATE_ADDIS;" -> "case 13:
 *		return PPC_EMULATE_ADDIS;"
 * mutant invalid-form in other: "if (ppc_insn_bo(insn) & PPC_BO_NO_CTR)
 *			return PPC_EMULATE_BCCTR;" -> "return PPC_EMULATE_BCCTR;"
 * mutant any-spr in other: "if (!ppc_insn_spr_is_saved(insn))" -> "if (0)"
 * mutant spr-number in other: "insn >> 6 & 0x3e0" -> "insn >> 6 & 0x1e0"
 * mutant b-sign in b: "(s32)(insn << 6) >> 6 & ~3L" -> "insn & 0x03fffffc"
 * mutant b-absolute in b: "insn & 2 ? 0 : regs->nip" -> "regs->nip"
 * mutant b-link in b: "	if (insn & 1)
 *		op->type |= SETLK;" -> "	op->type |= SETLK;"
 * mutant b-return in b: "regs->link = next_pc;" -> "regs->link = op->val;"
 * mutant b-mode in b: "regs->msr & MSR_64BIT ? addr : addr & 0xffffffffUL" -> "addr"
 * mutant b-bits in b: ">> 6 & ~3L" -> ">> 6"
 * mutant bc-sign in bc: "(s16)insn & ~3L" -> "(u16)insn & ~3L"
 * mutant bc-cr-bit in bc: "regs->ccr >> (31 - bi) & 1" -> "regs->ccr >> bi & 1"
 * mutant bc-sense in bc: "is_set == !!(bo & PPC_BO_CR_SET)"
 *	-> "is_set != !!(bo & PPC_BO_CR_SET)"
 * mutant bc-ctr-sense in bc: "is_last != !!(bo & PPC_BO_CTR_ZERO)"
 *	-> "is_last == !!(bo & PPC_BO_CTR_ZERO)"
 * mutant bc-ctr-late in bc: "is_last = regs->ctr == 1" -> "is_last = regs->ctr == 0"
 * mutant bc-ctr-kept in bc: "		--regs->ctr;" -> "		;"
 * mutant bc-counts-if-taken in bc: "		op->type |= DECCTR;
 *		if (is_last != !!(bo & PPC_BO_CTR_ZERO))
 *			return;" -> "		if (is_last != !!(bo & PPC_BO_CTR_ZERO))
 *			return;
 *		op->type |= DECCTR;"
 * mutant bc-always in bc: "bo & PPC_BO_NO_CR || " -> ""
 * mutant bc-falls-through in bc: "op->type & BRTAKEN ? op->val : next_pc" -> "op->val"
 * mutant bclr-low-bits in bclr: "reg & ~3UL" -> "reg"
 * mutant bclr-order in bclr: "	ppc_insn_decode(&op, regs, how, insn);
 *	regs_set_return_ip" -> "	regs->link = regs->nip + 4;
 *	ppc_insn_decode(&op, regs, how, insn);
 *	regs_set_return_ip"
 * mutant bcctr-register in bcctr: "ppc_insn_decode_bcreg(op, regs, insn, regs->ctr);"
 *	-> "ppc_insn_decode_bcreg(op, regs, insn, regs->link);"
 * mutant mflr in spr: "regs->gpr[op->reg] = regs->link;" -> "regs->gpr[op->reg] = regs->ctr;"
 * mutant mflr-register in spr: "	op->reg = insn >> 21 & 0x1f;
 *	op->spr" -> "	op->reg = insn >> 16 & 0x1f;
 *	op->spr"
 * mutant mtlr in spr: "regs->link = op->val;" -> "regs->link = op->val & ~3UL;"
 * mutant mtxer in spr: "regs->xer = op->val & 0xffffffffUL;" -> "regs->xer = op->val;"
 * mutant li in add: "(ra ? regs->gpr[ra] : 0) + immediate" -> "regs->gpr[ra] + immediate"
 * mutant add-target in operands: "op->reg = insn >> 21 & 0x1f;
 *	op->val = (ra" -> "op->reg = insn >> 21 & 0xf;
 *	op->val = (ra"
 * mutant add-operand in operands: "unsigned int ra = insn >> 16 & 0x1f;"
 *	-> "unsigned int ra = insn >> 16 & 0xf;"
 * mutant addi-sign in add: "ppc_insn_decode_add(op, regs, insn, (s16)insn);"
 *	-> "ppc_insn_decode_add(op, regs, insn, (u16)insn);"
 * mutant addis-sign in add: "(s32)(insn << 16)" -> "insn << 16"
 * mutant ori-target in ori: "op->reg = insn >> 16 & 0x1f;" -> "op->reg = insn >> 21 & 0x1f;"
 * mutant ori-sign in ori: "| (u16)insn" -> "| (s16)insn"
 * mutant nop-length in entry: "regs->nip + GETLENGTH(op->type)" -> "regs->nip"
 */
#include "kernel.h"
#include "powerpc.h"

#include <asm/insn-emulate.h>

/* @kind, of which the kernel says @how. */
static void prove_kind(enum kind kind, enum ppc_insn_emulation how)
{
	struct pt_regs regs, cpu;
	u32 insn;

	assume(kind_of(insn) == kind);
	prove(ppc_insn_emulation(insn) == how,
	      "what is emulated is what the manual calls so");
	if (kind == OTHER)
		return;

	if (kind == ADDI || kind == ADDIS)
		assume(field(insn, 6, 10) == 3 && !(field(insn, 11, 15) & ~4UL));
	cpu = regs;
	execute(&cpu, kind, insn);
	ppc_insn_emulate(&regs, how, insn);
	prove(same(&regs, &cpu), "registers are as after the instruction");
}

void other(void)
{
	prove_kind(OTHER, PPC_EMULATE_NONE);
}

void b(void)
{
	prove_kind(B, PPC_EMULATE_B);
}

void bc(void)
{
	prove_kind(BC, PPC_EMULATE_BC);
}

void bclr(void)
{
	prove_kind(BCLR, PPC_EMULATE_BCLR);
}

void bcctr(void)
{
	prove_kind(BCCTR, PPC_EMULATE_BCCTR);
}

void spr(void)
{
	prove_kind(MF_SPR, PPC_EMULATE_MFSPR);
	prove_kind(MT_SPR, PPC_EMULATE_MTSPR);
}

void add(void)
{
	prove_kind(ADDI, PPC_EMULATE_ADDI);
	prove_kind(ADDIS, PPC_EMULATE_ADDIS);
}

/* For the sums two registers and zero are enough to know that any others will do. */
void operands(void)
{
	struct instruction_op op;
	struct pt_regs regs;
	u64 a;
	u32 insn;

	a = field(insn, 11, 15);
	ppc_insn_decode_add(&op, &regs, insn, 0);
	prove(op.reg == field(insn, 6, 10), "the target is that of the manual");
	prove(op.val == (a ? regs.gpr[a] : 0), "the operand is that of the manual");
}

void ori(void)
{
	prove_kind(ORI, PPC_EMULATE_ORI);
}

static void emulate(struct pt_regs *regs, u32 insn)
{
	ppc_insn_emulate(regs, ppc_insn_emulation(insn), insn);
}

void entry(void)
{
	struct pt_regs regs, want;

	assume(regs.msr & MSR_64BIT && !(regs.link & 3));
	want = regs;
	want.nip += 4;
	emulate(&regs, 0x60000000);
	prove(same(&regs, &want), "nop goes on");

	want.nip += 4;
	want.gpr[0] = regs.link;
	emulate(&regs, 0x7c0802a6);
	prove(same(&regs, &want), "mflr r0 saves LR in r0");

	want.nip = regs.link;
	emulate(&regs, 0x4e800020);
	prove(same(&regs, &want), "blr returns");
}
