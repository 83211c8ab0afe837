/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_CONFORMANCE_H
#define _TEXT_POKE_ARCH_CONFORMANCE_H

/*
 * RISC-V's row of the conformance test of text poke backends.
 *
 * Encodings and effects are written out here, from the RISC-V Instruction Set
 * Manual, Volume I, so that the test does not ask the code under test.
 */

#include <linux/types.h>

#include <asm/insn.h>
#include <asm/ptrace.h>

#include "arch_test.h"

/*
 * Instructions, and what the backend says about them: name, bytes, length,
 * return value, atomic, foreign, ool.  All of them are atomic where these tests put
 * them, which is on a boundary of their own size.
 */
#define TEXT_POKE_TEST_INSN(name, b3, b2, b1, b0, ...)			\
	{ name, { 0x##b0, 0x##b1, 0x##b2, 0x##b3 }, 4, __VA_ARGS__ }
#define TEXT_POKE_TEST_C(name, b1, b0, ...)				\
	{ name, { 0x##b0, 0x##b1 }, 2, __VA_ARGS__ }

#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
#define TEXT_POKE_TEST_OOL	0, true, .ool = true
#else
#define TEXT_POKE_TEST_OOL	-EOPNOTSUPP, true
#endif

#define TEXT_POKE_TEST_REFUSED	-EOPNOTSUPP, true

#ifdef CONFIG_RISCV_ISA_C
#define TEXT_POKE_TEST_ALIGN	2
#define TEXT_POKE_TEST_EBREAK	TEXT_POKE_TEST_REFUSED
#define TEXT_POKE_TEST_INSNS_C						\
	TEXT_POKE_TEST_C("c.nop", 00, 01, 0, true),			\
	TEXT_POKE_TEST_C("c.j .", a0, 01, 0, true),			\
	TEXT_POKE_TEST_C("c.j . + 2", a0, 09, 0, true),			\
	TEXT_POKE_TEST_C("c.j . - 2", bf, fd, 0, true),			\
	TEXT_POKE_TEST_C("c.j . + 0x7fe", af, fd, 0, true),		\
	TEXT_POKE_TEST_C("c.j . - 0x800", b0, 01, 0, true),		\
	TEXT_POKE_TEST_C("c.jr ra", 80, 82, 0, true),			\
	TEXT_POKE_TEST_C("c.jr a0", 85, 02, 0, true),			\
	TEXT_POKE_TEST_C("c.jalr ra", 90, 82, 0, true),			\
	TEXT_POKE_TEST_C("c.jalr a0", 95, 02, 0, true),			\
	TEXT_POKE_TEST_C("c.beqz a0, . + 4", c1, 11, 0, true),		\
	TEXT_POKE_TEST_C("c.beqz s0, . - 0x100", d0, 01, 0, true),	\
	TEXT_POKE_TEST_C("c.bnez a0, . + 4", e1, 11, 0, true),		\
	TEXT_POKE_TEST_C("c.bnez a5, . + 0xfe", ef, fd, 0, true),	\
	TEXT_POKE_TEST_C("c.ebreak", 90, 02, 0, true, true),		\
	TEXT_POKE_TEST_C("c.unimp", 00, 00, -ERANGE, true),		\
	TEXT_POKE_TEST_C("c.li a0, 1", 45, 05, TEXT_POKE_TEST_OOL),	\
	TEXT_POKE_TEST_C("c.mv a0, a1", 85, 2e, TEXT_POKE_TEST_OOL),	\
	TEXT_POKE_TEST_C("c.lw a0, 0(a0)", 41, 08, TEXT_POKE_TEST_OOL),
#else
#define TEXT_POKE_TEST_ALIGN	4
#define TEXT_POKE_TEST_EBREAK	0, true, true
#define TEXT_POKE_TEST_INSNS_C						\
	TEXT_POKE_TEST_C("c.nop", 00, 01, -EINVAL, true),		\
	TEXT_POKE_TEST_C("c.ebreak", 90, 02, -EINVAL, true),
#endif

#define TEXT_POKE_TEST_INSNS {						\
	TEXT_POKE_TEST_INSN("nop", 00, 00, 00, 13, 0, true),		\
	TEXT_POKE_TEST_INSN("j .", 00, 00, 00, 6f, 0, true),		\
	TEXT_POKE_TEST_INSN("j . + 4", 00, 40, 00, 6f, 0, true),	\
	TEXT_POKE_TEST_INSN("j . - 4", ff, df, f0, 6f, 0, true),	\
	TEXT_POKE_TEST_INSN("j . + 0xffffe", 7f, ff, f0, 6f, 0, true),	\
	TEXT_POKE_TEST_INSN("j . - 0x100000", 80, 00, 00, 6f, 0, true),	\
	TEXT_POKE_TEST_INSN("jal ra, .", 00, 00, 00, ef, 0, true),	\
	TEXT_POKE_TEST_INSN("jal ra, . - 4", ff, df, f0, ef, 0, true),	\
	TEXT_POKE_TEST_INSN("jal ra, . + 0xffffe", 7f, ff, f0, ef, 0, true),	\
	TEXT_POKE_TEST_INSN("jal ra, . - 0x100000", 80, 00, 00, ef, 0, true),	\
	TEXT_POKE_TEST_INSN("jal t0, . + 8", 00, 80, 02, ef, 0, true),	\
	TEXT_POKE_TEST_INSN("jal t6, . + 8", 00, 80, 0f, ef, 0, true),	\
	TEXT_POKE_TEST_INSN("ret", 00, 00, 80, 67, 0, true),		\
	TEXT_POKE_TEST_INSN("jr zero", 00, 00, 00, 67, 0, true),	\
	TEXT_POKE_TEST_INSN("jalr ra, ra", 00, 00, 80, e7, 0, true),	\
	TEXT_POKE_TEST_INSN("jalr ra, 1(a0)", 00, 15, 00, e7, 0, true),	\
	TEXT_POKE_TEST_INSN("jalr t0, 0x7ff(t0)", 7f, f2, 82, e7, 0, true),	\
	TEXT_POKE_TEST_INSN("jalr t0, -0x800(t0)", 80, 02, 82, e7, 0, true),	\
	TEXT_POKE_TEST_INSN("auipc t0, 0", 00, 00, 02, 97, 0, true),	\
	TEXT_POKE_TEST_INSN("auipc t0, 0x7ffff", 7f, ff, f2, 97, 0, true),	\
	TEXT_POKE_TEST_INSN("auipc t0, 0x80000", 80, 00, 02, 97, 0, true),	\
	TEXT_POKE_TEST_INSN("auipc t6, 0xfffff", ff, ff, ff, 97, 0, true),	\
	TEXT_POKE_TEST_INSN("auipc zero, 1", 00, 00, 10, 17, 0, true),	\
	TEXT_POKE_TEST_INSN("beq a0, a1, . + 8", 00, b5, 04, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("bne a0, a1, . + 8", 00, b5, 14, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("blt a0, a1, . + 8", 00, b5, 44, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("bge a0, a1, . + 8", 00, b5, 54, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("bltu a0, a1, . + 8", 00, b5, 64, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("bgeu a0, a1, . + 8", 00, b5, 74, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("beqz zero, . - 0x1000", 80, 00, 00, 63, 0, true),	\
	TEXT_POKE_TEST_INSN("bge a0, a0, . + 0xffe", 7e, a5, 5f, e3, 0, true),	\
	TEXT_POKE_TEST_INSN("branch, funct3 2", 00, b5, 24, 63, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("branch, funct3 3", 00, b5, 34, 63, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("ebreak", 00, 10, 00, 73, TEXT_POKE_TEST_EBREAK),	\
	TEXT_POKE_TEST_INSN("all zeros", 00, 00, 00, 00, -ERANGE, true),	\
	TEXT_POKE_TEST_INSN("ecall", 00, 00, 00, 73, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("sret", 10, 20, 00, 73, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("wfi", 10, 50, 00, 73, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("csrr t0, sstatus", 10, 00, 22, f3, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("fence", 0f, f0, 00, 0f, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("fence.i", 00, 00, 10, 0f, TEXT_POKE_TEST_REFUSED),	\
	TEXT_POKE_TEST_INSN("li a0, 1", 00, 10, 05, 13, TEXT_POKE_TEST_OOL),	\
	TEXT_POKE_TEST_INSN("lui t0, 1", 00, 00, 12, b7, TEXT_POKE_TEST_OOL),	\
	TEXT_POKE_TEST_INSN("add a0, a0, a1", 00, b5, 05, 33, TEXT_POKE_TEST_OOL),	\
	TEXT_POKE_TEST_INSN("lw a0, 0(a1)", 00, 05, a5, 03, TEXT_POKE_TEST_OOL),	\
	TEXT_POKE_TEST_INSNS_C						\
}

/* The alias is in the kernel's page tables, which all CPUs have loaded. */
#define TEXT_POKE_TEST_ALIAS_IS_SHARED	true

/* The kernel's own encoder. */
static inline void text_poke_test_gen_jump(void *insn, const void *from,
					   const void *to)
{
	text_poke_test_put(insn, riscv_insn_gen_jal(0, (unsigned long)from,
						    (unsigned long)to));
}

static inline void text_poke_test_gen_call(void *insn, const void *from,
					   const void *to)
{
	text_poke_test_put(insn, riscv_insn_gen_jal(1, (unsigned long)from,
						    (unsigned long)to));
}

/* @regs are random; make them those of a CPU that has trapped at @addr. */
static inline void text_poke_test_trapped(struct pt_regs *regs, void *addr,
					  void *stack)
{
	regs->epc = (unsigned long)addr;
	regs->sp = (unsigned long)stack;
	regs->status |= SR_PP;
}

/* Bits @high to @low of the instruction, in the place of bit @to and above. */
static inline u32 text_poke_test_bits(u32 insn, int high, int low, int to)
{
	return insn << (31 - high) >> (31 - high + low) << to;
}

/* The number of @bits bits, with a sign. */
static inline long text_poke_test_signed(u32 val, int bits)
{
	return (s32)(val << (32 - bits)) >> (32 - bits);
}

/* x[n]; in struct pt_regs, pc is in the place of x0. */
static inline unsigned long text_poke_test_x(const struct pt_regs *regs, u32 n)
{
	return n ? ((const unsigned long *)regs)[n] : 0;
}

static inline void text_poke_test_set_x(struct pt_regs *regs, u32 n,
					unsigned long val)
{
	if (n)
		((unsigned long *)regs)[n] = val;
}

/* Is the condition that funct3 names fulfilled? */
static inline bool text_poke_test_cond(u32 funct3, unsigned long a,
				       unsigned long b)
{
	switch (funct3) {
	case 0:
		return a == b;
	case 1:
		return a != b;
	case 4:
		return (long)a < (long)b;
	case 5:
		return (long)a >= (long)b;
	case 6:
		return a < b;
	default:
		return a >= b;
	}
}

static inline bool text_poke_test_ref_branch(struct pt_regs *regs,
					     unsigned long pc, u32 insn)
{
	u32 funct3 = text_poke_test_bits(insn, 14, 12, 0);
	u32 imm = text_poke_test_bits(insn, 31, 31, 12) |
		  text_poke_test_bits(insn, 7, 7, 11) |
		  text_poke_test_bits(insn, 30, 25, 5) |
		  text_poke_test_bits(insn, 11, 8, 1);
	unsigned long rs1, rs2;

	if (funct3 == 2 || funct3 == 3)
		return false;
	rs1 = text_poke_test_x(regs, text_poke_test_bits(insn, 19, 15, 0));
	rs2 = text_poke_test_x(regs, text_poke_test_bits(insn, 24, 20, 0));
	if (text_poke_test_cond(funct3, rs1, rs2))
		regs->epc = pc + text_poke_test_signed(imm, 13);
	else
		regs->epc = pc + 4;
	return true;
}

/* Chapter 2.5, "Control Transfer Instructions", AUIPC, and NOP. */
static inline bool text_poke_test_ref_4(struct pt_regs *regs, unsigned long pc,
					u32 insn)
{
	u32 rd = text_poke_test_bits(insn, 11, 7, 0), imm;
	unsigned long target;

	switch (insn & 0x7f) {
	case 0x6f:
		imm = text_poke_test_bits(insn, 31, 31, 20) |
		      text_poke_test_bits(insn, 19, 12, 12) |
		      text_poke_test_bits(insn, 20, 20, 11) |
		      text_poke_test_bits(insn, 30, 21, 1);
		text_poke_test_set_x(regs, rd, pc + 4);
		regs->epc = pc + text_poke_test_signed(imm, 21);
		return true;
	case 0x67:
		if (text_poke_test_bits(insn, 14, 12, 0))
			return false;
		imm = text_poke_test_bits(insn, 31, 20, 0);
		target = text_poke_test_x(regs, insn >> 15 & 31) +
			 text_poke_test_signed(imm, 12);
		text_poke_test_set_x(regs, rd, pc + 4);
		regs->epc = target - target % 2;
		return true;
	case 0x17:
		text_poke_test_set_x(regs, rd, pc +
				     text_poke_test_signed(insn >> 12, 20) *
				     4096);
		regs->epc = pc + 4;
		return true;
	case 0x63:
		return text_poke_test_ref_branch(regs, pc, insn);
	}
	regs->epc = pc + 4;
	return insn == 0x00000013;
}

/* Chapter "C", "Control Transfer Instructions", and C.NOP. */
static inline bool text_poke_test_ref_2(struct pt_regs *regs, unsigned long pc,
					u32 insn)
{
	unsigned long rs1 = text_poke_test_x(regs, insn >> 7 & 31);
	u32 imm;

	if ((insn & 0xe003) == 0xa001) {
		imm = text_poke_test_bits(insn, 12, 12, 11) |
		      text_poke_test_bits(insn, 11, 11, 4) |
		      text_poke_test_bits(insn, 10, 9, 8) |
		      text_poke_test_bits(insn, 8, 8, 10) |
		      text_poke_test_bits(insn, 7, 7, 6) |
		      text_poke_test_bits(insn, 6, 6, 7) |
		      text_poke_test_bits(insn, 5, 3, 1) |
		      text_poke_test_bits(insn, 2, 2, 5);
		regs->epc = pc + text_poke_test_signed(imm, 12);
		return true;
	}
	if ((insn & 0xc003) == 0xc001) {
		rs1 = text_poke_test_x(regs, 8 + (insn >> 7 & 7));
		imm = text_poke_test_bits(insn, 12, 12, 8) |
		      text_poke_test_bits(insn, 11, 10, 3) |
		      text_poke_test_bits(insn, 6, 5, 6) |
		      text_poke_test_bits(insn, 4, 3, 1) |
		      text_poke_test_bits(insn, 2, 2, 5);
		if (text_poke_test_bits(insn, 13, 13, 0) ? rs1 != 0 : rs1 == 0)
			regs->epc = pc + text_poke_test_signed(imm, 9);
		else
			regs->epc = pc + 2;
		return true;
	}
	if ((insn & 0xe07f) == 0x8002 && (insn >> 7 & 31)) {
		if (insn & 0x1000)
			text_poke_test_set_x(regs, 1, pc + 2);
		regs->epc = rs1 - rs1 % 2;
		return true;
	}
	regs->epc = pc + 2;
	return insn == 0x0001;
}

static inline bool text_poke_test_reference(struct pt_regs *regs, void *addr,
					    const u8 *bytes, size_t len)
{
	u32 insn = bytes[0] | bytes[1] << 8;

	if (len == 2)
		return text_poke_test_ref_2(regs, (unsigned long)addr, insn);
	insn |= bytes[2] << 16 | (u32)bytes[3] << 24;
	return text_poke_test_ref_4(regs, (unsigned long)addr, insn);
}

/* Most of them of a class that has jumps, branches or AUIPC in it. */
static inline void text_poke_test_random(u8 *insn, u8 *len, u32 a, u32 b)
{
	static const u32 classes[][2] = {
		{ 0x7f, 0x6f }, { 0x707f, 0x67 }, { 0x7f, 0x67 },
		{ 0x7f, 0x17 }, { 0x7f, 0x63 }, { 0x3, 0x3 },
#ifdef CONFIG_RISCV_ISA_C
		{ 0xe003, 0xa001 }, { 0xc003, 0xc001 }, { 0xe07f, 0x8002 },
		{ 0x3, 0x0 }, { 0x3, 0x1 }, { 0x3, 0x2 },
#endif
	};
	const u32 *class = classes[b % ARRAY_SIZE(classes)];

	text_poke_test_put(insn, (a & ~class[0]) | class[1]);
	*len = (class[1] & 3) == 3 ? 4 : 2;
}

#endif /* _TEXT_POKE_ARCH_CONFORMANCE_H */
