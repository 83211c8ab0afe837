/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64's registers, and what its instructions do to them.
 *
 * execute() is the pseudo-code of the Arm Architecture Reference Manual
 * (DDI 0487), C6.2, written down without a look at the kernel's.
 */
#ifndef _TEXT_POKE_CBMC_ARM64_H
#define _TEXT_POKE_CBMC_ARM64_H

#define __ASM_PTRACE_H
#define __ASM_DEBUG_MONITORS_H
#define _ASM_ARM_KPROBES_H

struct pt_regs {
	u64 regs[31];
	u64 sp;
	u64 pc;
	u64 pstate;
};

/* SPSR_EL1, C5.2.18. */
#define PSR_N_BIT	(1UL << 31)
#define PSR_Z_BIT	(1UL << 30)
#define PSR_C_BIT	(1UL << 29)
#define PSR_V_BIT	(1UL << 28)
#define DBG_SPSR_SS	(1UL << 21)
#define PSR_BTYPE_MASK	(3UL << 10)

/* Bits @high to @low of @insn. */
static u64 field(u32 insn, int high, int low)
{
	return (u64)insn << (63 - high) >> (63 - high + low);
}

/* SignExtend(). */
static u64 extend(u64 value, int width)
{
	u64 sign = 1UL << (width - 1);

	return (value ^ sign) - sign;
}

static u64 x(const struct pt_regs *cpu, u64 n)
{
	return n == 31 ? 0 : cpu->regs[n];
}

static void set_x(struct pt_regs *cpu, u64 n, u64 value)
{
	if (n != 31)
		cpu->regs[n] = value;
}

/* ConditionHolds(). */
static bool condition_holds(const struct pt_regs *cpu, u64 cond)
{
	bool n = cpu->pstate >> 31 & 1, z = cpu->pstate >> 30 & 1;
	bool c = cpu->pstate >> 29 & 1, v = cpu->pstate >> 28 & 1;

	switch (cond) {
	case 0x0: return z;
	case 0x1: return !z;
	case 0x2: return c;
	case 0x3: return !c;
	case 0x4: return n;
	case 0x5: return !n;
	case 0x6: return v;
	case 0x7: return !v;
	case 0x8: return c && !z;
	case 0x9: return !c || z;
	case 0xa: return n == v;
	case 0xb: return n != v;
	case 0xc: return !z && n == v;
	case 0xd: return z || n != v;
	}
	return true;
}

/* Which of the instructions that can be emulated is it? */
enum kind { OTHER, NOP, B, BL, B_COND, CBZ, CBNZ, TBZ, TBNZ, BR, BLR, RET, ADR, ADRP };

static enum kind kind_of(u32 insn)
{
	if (insn == 0xd503201f)
		return NOP;
	if (field(insn, 30, 26) == 0x05)
		return field(insn, 31, 31) ? BL : B;
	if (field(insn, 31, 24) == 0x54)
		return B_COND;
	if (field(insn, 30, 25) == 0x1a)
		return field(insn, 24, 24) ? CBNZ : CBZ;
	if (field(insn, 30, 25) == 0x1b)
		return field(insn, 24, 24) ? TBNZ : TBZ;
	if (field(insn, 28, 24) == 0x10)
		return field(insn, 31, 31) ? ADRP : ADR;
	if (field(insn, 31, 25) == 0x6b && field(insn, 20, 10) == 0x7c0 && !field(insn, 4, 0)) {
		switch (field(insn, 24, 21)) {
		case 0: return BR;
		case 1: return BLR;
		case 2: return RET;
		}
	}
	return OTHER;
}

/* Execute @insn, which is of @kind, at cpu->pc. */
static void execute(struct pt_regs *cpu, enum kind kind, u32 insn)
{
	u64 pc = cpu->pc, t = field(insn, 4, 0), target;
	u64 operand, imm21;

	cpu->pc = pc + 4;
	switch (kind) {
	case BL:
		set_x(cpu, 30, pc + 4);
		cpu->pc = pc + extend(field(insn, 25, 0) * 4, 28);
		break;
	case B:
		cpu->pc = pc + extend(field(insn, 25, 0) * 4, 28);
		break;
	case B_COND:
		if (condition_holds(cpu, field(insn, 3, 0)))
			cpu->pc = pc + extend(field(insn, 23, 5) * 4, 21);
		break;
	case CBZ:
	case CBNZ:
		operand = x(cpu, t);
		if (!field(insn, 31, 31))
			operand = (u32)operand;
		if ((operand == 0) == (kind == CBZ))
			cpu->pc = pc + extend(field(insn, 23, 5) * 4, 21);
		break;
	case TBZ:
	case TBNZ:
		operand = x(cpu, t) >> (field(insn, 31, 31) * 32 + field(insn, 23, 19));
		if (!(operand & 1) == (kind == TBZ))
			cpu->pc = pc + extend(field(insn, 18, 5) * 4, 16);
		break;
	case BR:
	case RET:
		cpu->pc = x(cpu, field(insn, 9, 5));
		break;
	case BLR:
		target = x(cpu, field(insn, 9, 5));
		set_x(cpu, 30, pc + 4);
		cpu->pc = target;
		break;
	case ADR:
		imm21 = extend(field(insn, 23, 5) * 4 + field(insn, 30, 29), 21);
		set_x(cpu, t, pc + imm21);
		break;
	case ADRP:
		imm21 = extend(field(insn, 23, 5) * 4 + field(insn, 30, 29), 21);
		set_x(cpu, t, (pc >> 12 << 12) + imm21 * 4096);
		break;
	default:
		break;
	}
}

/* Are the same registers in both?  Any of them stands for all. */
static bool same(const struct pt_regs *a, const struct pt_regs *b)
{
	unsigned int n;

	assume(n < 31);
	return a->regs[n] == b->regs[n] && a->sp == b->sp &&
	       a->pc == b->pc && a->pstate == b->pstate;
}

#endif /* _TEXT_POKE_CBMC_ARM64_H */
