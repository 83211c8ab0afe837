/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RISC-V's registers, and what its instructions do to them.
 *
 * execute() is the text of the RISC-V Instruction Set Manual, Volume I,
 * chapters "RV32I", "RV64I" and "C", written down without a look at the
 * kernel's.
 */
#ifndef _TEXT_POKE_CBMC_RISCV_H
#define _TEXT_POKE_CBMC_RISCV_H

#define __LINUX_BITS_H
#define _ASM_RISCV_PTRACE_H

/* The pc stands where x0 would. */
struct pt_regs {
	unsigned long epc;
	unsigned long ra;
	unsigned long others[30];
};

/* Bits @high to @low of @insn. */
static u64 field(u32 insn, int high, int low)
{
	return (u64)insn << (63 - high) >> (63 - high + low);
}

static u64 sign_extended(u64 value, int width)
{
	u64 sign = 1UL << (width - 1);

	return (value ^ sign) - sign;
}

static u64 x(const struct pt_regs *cpu, u64 n)
{
	if (n == 0)
		return 0;
	return n == 1 ? cpu->ra : cpu->others[n - 2];
}

static void set_x(struct pt_regs *cpu, u64 n, u64 value)
{
	if (n == 1)
		cpu->ra = value;
	else if (n)
		cpu->others[n - 2] = value;
}

/* Which of the instructions that can be emulated is it? */
enum kind {
	OTHER, NOP, JAL, JALR, AUIPC, BRANCH,
	C_NOP, C_J, C_JR, C_JALR, C_BEQZ, C_BNEZ,
};

static enum kind kind_of_compressed(u32 insn)
{
	u64 quadrant = field(insn, 1, 0), funct3 = field(insn, 15, 13);

	if (field(insn, 15, 0) == 0x0001)
		return C_NOP;
	if (quadrant == 1) {
		switch (funct3) {
		case 5: return C_J;
		case 6: return C_BEQZ;
		case 7: return C_BNEZ;
		}
	}
	if (quadrant == 2 && funct3 == 4 && !field(insn, 6, 2) && field(insn, 11, 7))
		return field(insn, 12, 12) ? C_JALR : C_JR;
	return OTHER;
}

static enum kind kind_of(u32 insn)
{
	u64 opcode = field(insn, 6, 0), funct3 = field(insn, 14, 12);

	if (field(insn, 1, 0) != 3)
		return kind_of_compressed(insn);
	if (insn == 0x00000013)
		return NOP;
	if (opcode == 0x6f)
		return JAL;
	if (opcode == 0x67 && funct3 == 0)
		return JALR;
	if (opcode == 0x17)
		return AUIPC;
	if (opcode == 0x63 && funct3 != 2 && funct3 != 3)
		return BRANCH;
	return OTHER;
}

/* The immediates: where each bit of the instruction goes. */

static u64 imm_j(u32 insn)
{
	return sign_extended(field(insn, 31, 31) << 20 | field(insn, 19, 12) << 12 |
			     field(insn, 20, 20) << 11 | field(insn, 30, 21) << 1, 21);
}

static u64 imm_b(u32 insn)
{
	return sign_extended(field(insn, 31, 31) << 12 | field(insn, 7, 7) << 11 |
			     field(insn, 30, 25) << 5 | field(insn, 11, 8) << 1, 13);
}

static u64 imm_cj(u32 insn)
{
	return sign_extended(field(insn, 12, 12) << 11 | field(insn, 11, 11) << 4 |
			     field(insn, 10, 9) << 8 | field(insn, 8, 8) << 10 |
			     field(insn, 7, 7) << 6 | field(insn, 6, 6) << 7 |
			     field(insn, 5, 3) << 1 | field(insn, 2, 2) << 5, 12);
}

static u64 imm_cb(u32 insn)
{
	return sign_extended(field(insn, 12, 12) << 8 | field(insn, 11, 10) << 3 |
			     field(insn, 6, 5) << 6 | field(insn, 4, 3) << 1 |
			     field(insn, 2, 2) << 5, 9);
}

static bool holds(u64 funct3, u64 a, u64 b)
{
	switch (funct3) {
	case 0: return a == b;
	case 1: return a != b;
	case 4: return (s64)a < (s64)b;
	case 5: return (s64)a >= (s64)b;
	case 6: return a < b;
	}
	return a >= b;
}

/* Execute @insn, which is of @kind, at cpu->epc. */
static void execute(struct pt_regs *cpu, enum kind kind, u32 insn)
{
	u64 pc = cpu->epc, rd = field(insn, 11, 7), rs1 = field(insn, 19, 15), target;

	cpu->epc = pc + (field(insn, 1, 0) == 3 ? 4 : 2);
	switch (kind) {
	case JAL:
		set_x(cpu, rd, pc + 4);
		cpu->epc = pc + imm_j(insn);
		break;
	case JALR:
		target = x(cpu, rs1) + sign_extended(field(insn, 31, 20), 12);
		set_x(cpu, rd, pc + 4);
		cpu->epc = target & -2UL;
		break;
	case AUIPC:
		set_x(cpu, rd, pc + sign_extended(field(insn, 31, 12) << 12, 32));
		break;
	case BRANCH:
		if (holds(field(insn, 14, 12), x(cpu, rs1), x(cpu, field(insn, 24, 20))))
			cpu->epc = pc + imm_b(insn);
		break;
	case C_J:
		cpu->epc = pc + imm_cj(insn);
		break;
	case C_JR:
		cpu->epc = x(cpu, rd) & -2UL;
		break;
	case C_JALR:
		target = x(cpu, rd);
		set_x(cpu, 1, pc + 2);
		cpu->epc = target & -2UL;
		break;
	case C_BEQZ:
	case C_BNEZ:
		if (!x(cpu, 8 + field(insn, 9, 7)) == (kind == C_BEQZ))
			cpu->epc = pc + imm_cb(insn);
		break;
	default:
		break;
	}
}

/* Are the same registers in both?  Any of them stands for all. */
static bool same(const struct pt_regs *a, const struct pt_regs *b)
{
	unsigned int n;

	assume(n < 30);
	return a->epc == b->epc && a->ra == b->ra && a->others[n] == b->others[n];
}

#endif /* _TEXT_POKE_CBMC_RISCV_H */
