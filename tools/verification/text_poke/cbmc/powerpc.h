/* SPDX-License-Identifier: GPL-2.0 */
/*
 * powerpc's registers, and what its instructions do to them.
 *
 * execute() is the text of the Power ISA, Book I, chapters "Branch Facility" and
 * "Fixed-Point Facility", written down without a look at the kernel's. Bits have
 * the numbers of the manual, which begin at the most significant one.
 */
#ifndef _TEXT_POKE_CBMC_POWERPC_H
#define _TEXT_POKE_CBMC_POWERPC_H

#define __LINUX_BITS_H
#define _ASM_POWERPC_INST_H
#define _ASM_POWERPC_PTRACE_H
#define _ASM_POWERPC_REG_H

#define SPRN_XER	1
#define SPRN_LR		8
#define SPRN_CTR	9
#define MSR_64BIT	(1UL << 63)

typedef struct {
	u32 val;
	u32 suffix;
} ppc_inst_t;

typedef struct {
	u32 u[4];
} __vector128;

struct pt_regs {
	unsigned long gpr[32];
	unsigned long nip;
	unsigned long msr;
	unsigned long ctr;
	unsigned long link;
	unsigned long xer;
	unsigned long ccr;
};

static void regs_set_return_ip(struct pt_regs *regs, unsigned long ip)
{
	regs->nip = ip;
}

/* Bits @first to @last of @insn. */
static u64 field(u32 insn, int first, int last)
{
	return (u64)insn >> (31 - last) & ((1UL << (last - first + 1)) - 1);
}

/* EXTS(). */
static u64 exts(u64 value, int width)
{
	u64 sign = 1UL << (width - 1);

	return (value ^ sign) - sign;
}

static u64 cr(const struct pt_regs *cpu, u64 bit)
{
	return cpu->ccr >> (31 - bit) & 1;
}

/* Which of the instructions that can be emulated is it? */
enum kind { OTHER, B, BC, BCLR, BCCTR, MF_SPR, MT_SPR, ADDI, ADDIS, ORI };

static bool is_spr(u32 insn)
{
	u64 n = field(insn, 16, 20) * 32 + field(insn, 11, 15);

	return n == 1 || n == 8 || n == 9;
}

static enum kind kind_of(u32 insn)
{
	u64 xo = field(insn, 21, 30);

	switch (field(insn, 0, 5)) {
	case 14: return ADDI;
	case 15: return ADDIS;
	case 16: return BC;
	case 18: return B;
	case 24: return ORI;
	case 19:
		if (xo == 16)
			return BCLR;
		/* "If the decrement and test CTR option is specified (BO2=0), the form is invalid." */
		return xo == 528 && field(insn, 8, 8) ? BCCTR : OTHER;
	case 31:
		if (xo == 339 && is_spr(insn))
			return MF_SPR;
		return xo == 467 && is_spr(insn) ? MT_SPR : OTHER;
	}
	return OTHER;
}

/* ctr_ok & cond_ok; where the kernel runs all 64 bits of CTR count. */
static bool condition_holds(struct pt_regs *cpu, u32 insn)
{
	u64 bo0 = field(insn, 6, 6), bo1 = field(insn, 7, 7), bo2 = field(insn, 8, 8);
	u64 bo3 = field(insn, 9, 9), bi = field(insn, 11, 15);
	bool ctr_ok, cond_ok;

	if (!bo2)
		cpu->ctr = cpu->ctr - 1;
	ctr_ok = bo2 || (cpu->ctr != 0) ^ bo3;
	cond_ok = bo0 || cr(cpu, bi) == bo1;
	return ctr_ok && cond_ok;
}

static unsigned long *special(struct pt_regs *cpu, u32 insn)
{
	switch (field(insn, 11, 15)) {
	case 1: return &cpu->xer;
	case 8: return &cpu->link;
	}
	return &cpu->ctr;
}

/* NIA: in 32-bit mode the upper half of it is zero. */
static u64 nia(const struct pt_regs *cpu, u64 address)
{
	return cpu->msr >> 63 ? address : (u32)address;
}

/* Where a branch goes that is taken. */
static u64 target(const struct pt_regs *cpu, enum kind kind, u32 insn)
{
	u64 aa = field(insn, 30, 30);

	switch (kind) {
	case B:
		return exts(field(insn, 6, 29) * 4, 26) + (aa ? 0 : cpu->nip);
	case BC:
		return exts(field(insn, 16, 29) * 4, 16) + (aa ? 0 : cpu->nip);
	case BCLR:
		return cpu->link / 4 * 4;
	default:
		return cpu->ctr / 4 * 4;
	}
}

/* Execute @insn, which is of @kind, at cpu->nip. */
static void execute(struct pt_regs *cpu, enum kind kind, u32 insn)
{
	u64 t = field(insn, 6, 10), a = field(insn, 11, 15), imm = field(insn, 16, 31);
	u64 next = nia(cpu, cpu->nip + 4), base = a ? cpu->gpr[a] : 0, to;

	switch (kind) {
	case B:
	case BC:
	case BCLR:
	case BCCTR:
		to = nia(cpu, target(cpu, kind, insn));
		if (kind != B && !condition_holds(cpu, insn))
			to = next;
		if (field(insn, 31, 31))
			cpu->link = next;
		next = to;
		break;
	case MF_SPR:
		/* What XER has above 32 bits is not the program's. */
		cpu->gpr[t] = *special(cpu, insn) & (field(insn, 11, 15) == 1 ? 0xffffffffUL : ~0UL);
		break;
	case MT_SPR:
		*special(cpu, insn) = cpu->gpr[t] & (field(insn, 11, 15) == 1 ? 0xffffffffUL : ~0UL);
		break;
	case ADDI:
		cpu->gpr[t] = base + exts(imm, 16);
		break;
	case ADDIS:
		cpu->gpr[t] = base + exts(imm << 16, 32);
		break;
	case ORI:
		cpu->gpr[a] = cpu->gpr[t] | imm;
		break;
	default:
		break;
	}
	cpu->nip = next;
}

/* Are the same registers in both?  Any of them stands for all. */
static bool same(const struct pt_regs *a, const struct pt_regs *b)
{
	unsigned int n;

	assume(n < 32);
	return a->gpr[n] == b->gpr[n] && a->nip == b->nip && a->msr == b->msr &&
	       a->ctr == b->ctr && a->link == b->link && a->xer == b->xer &&
	       a->ccr == b->ccr;
}

#endif /* _TEXT_POKE_CBMC_POWERPC_H */
