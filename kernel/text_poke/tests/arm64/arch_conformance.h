/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_CONFORMANCE_H
#define _TEXT_POKE_ARCH_CONFORMANCE_H

/*
 * arm64's row of the conformance test of text poke backends.
 *
 * Encodings and effects are written out here, from the Arm Architecture
 * Reference Manual (DDI 0487), C6.2, so that the test does not ask the code
 * under test.
 */

#include <linux/types.h>
#include <linux/unaligned.h>

#include <asm/insn.h>
#include <asm/ptrace.h>

#include "arch_test.h"

/* B.cond, CBZ, CBNZ, TBZ and TBNZ: the condition of one, the target of another */
static inline bool text_poke_test_is_conditional(const u8 *bytes)
{
	u32 insn = get_unaligned_le32(bytes);

	return (insn & 0xff000000) == 0x54000000 ||
	       (insn & 0x7c000000) == 0x34000000;
}

#define TEXT_POKE_TEST_MIXES(bytes)	text_poke_test_is_conditional(bytes)

#define TEXT_POKE_TEST_ALIGN	4

/*
 * Instructions, and what the backend says about them: name, bytes, length,
 * return value, atomic, foreign, ool, kept.  Atomic are those that B2.2.5 lists.
 */
#define TEXT_POKE_TEST_INSN(name, b3, b2, b1, b0, ...)			\
	{ name, { 0x##b0, 0x##b1, 0x##b2, 0x##b3 }, 4, __VA_ARGS__ }
#define TEXT_POKE_TEST_ATOMIC_ONLY	true
#define TEXT_POKE_TEST_INSNS {						\
	TEXT_POKE_TEST_INSN("nop", d5, 03, 20, 1f, 0, true),		\
	TEXT_POKE_TEST_INSN("b .", 14, 00, 00, 00, 0, true),		\
	TEXT_POKE_TEST_INSN("b . + 4", 14, 00, 00, 01, 0, true),	\
	TEXT_POKE_TEST_INSN("b . - 4", 17, ff, ff, ff, 0, true),	\
	TEXT_POKE_TEST_INSN("b . + 0x7fffffc", 15, ff, ff, ff, 0, true),	\
	TEXT_POKE_TEST_INSN("b . - 0x8000000", 16, 00, 00, 00, 0, true),	\
	TEXT_POKE_TEST_INSN("bl .", 94, 00, 00, 00, 0, true),		\
	TEXT_POKE_TEST_INSN("bl . - 4", 97, ff, ff, ff, 0, true),	\
	TEXT_POKE_TEST_INSN("bl . + 0x7fffffc", 95, ff, ff, ff, 0, true),	\
	TEXT_POKE_TEST_INSN("bl . - 0x8000000", 96, 00, 00, 00, 0, true),	\
	TEXT_POKE_TEST_INSN("b.eq . + 8", 54, 00, 00, 40, 0, true),	\
	TEXT_POKE_TEST_INSN("b.ne . + 8", 54, 00, 00, 41, 0, true),	\
	TEXT_POKE_TEST_INSN("b.cs . + 8", 54, 00, 00, 42, 0, true),	\
	TEXT_POKE_TEST_INSN("b.cc . + 8", 54, 00, 00, 43, 0, true),	\
	TEXT_POKE_TEST_INSN("b.mi . + 8", 54, 00, 00, 44, 0, true),	\
	TEXT_POKE_TEST_INSN("b.pl . + 8", 54, 00, 00, 45, 0, true),	\
	TEXT_POKE_TEST_INSN("b.vs . + 8", 54, 00, 00, 46, 0, true),	\
	TEXT_POKE_TEST_INSN("b.vc . + 8", 54, 00, 00, 47, 0, true),	\
	TEXT_POKE_TEST_INSN("b.hi . + 8", 54, 00, 00, 48, 0, true),	\
	TEXT_POKE_TEST_INSN("b.ls . + 8", 54, 00, 00, 49, 0, true),	\
	TEXT_POKE_TEST_INSN("b.ge . + 8", 54, 00, 00, 4a, 0, true),	\
	TEXT_POKE_TEST_INSN("b.lt . + 8", 54, 00, 00, 4b, 0, true),	\
	TEXT_POKE_TEST_INSN("b.gt . + 8", 54, 00, 00, 4c, 0, true),	\
	TEXT_POKE_TEST_INSN("b.le . + 8", 54, 00, 00, 4d, 0, true),	\
	TEXT_POKE_TEST_INSN("b.al . + 8", 54, 00, 00, 4e, 0, true),	\
	TEXT_POKE_TEST_INSN("b.nv . + 8", 54, 00, 00, 4f, 0, true),	\
	TEXT_POKE_TEST_INSN("b.eq . + 0xffffc", 54, 7f, ff, e0, 0, true),	\
	TEXT_POKE_TEST_INSN("b.eq . - 0x100000", 54, 80, 00, 00, 0, true),	\
	TEXT_POKE_TEST_INSN("cbz w1, . + 8", 34, 00, 00, 41, 0, true),	\
	TEXT_POKE_TEST_INSN("cbz x1, . - 4", b4, ff, ff, e1, 0, true),	\
	TEXT_POKE_TEST_INSN("cbz wzr, . + 8", 34, 00, 00, 5f, 0, true),	\
	TEXT_POKE_TEST_INSN("cbnz w2, . + 8", 35, 00, 00, 42, 0, true),	\
	TEXT_POKE_TEST_INSN("cbnz x2, . - 0x100000", b5, 80, 00, 02, 0, true),	\
	TEXT_POKE_TEST_INSN("cbnz xzr, . + 8", b5, 00, 00, 5f, 0, true),	\
	TEXT_POKE_TEST_INSN("tbz w3, #0, . + 8", 36, 00, 00, 43, 0, true),	\
	TEXT_POKE_TEST_INSN("tbz w3, #31, . - 4", 36, ff, ff, e3, 0, true),	\
	TEXT_POKE_TEST_INSN("tbz x3, #32, . + 8", b6, 00, 00, 43, 0, true),	\
	TEXT_POKE_TEST_INSN("tbz x3, #63, . + 0x7ffc", b6, fb, ff, e3, 0, true),	\
	TEXT_POKE_TEST_INSN("tbnz w4, #1, . - 0x8000", 37, 0c, 00, 04, 0, true),	\
	TEXT_POKE_TEST_INSN("tbnz x4, #63, . + 8", b7, f8, 00, 44, 0, true),	\
	TEXT_POKE_TEST_INSN("br x16", d6, 1f, 02, 00, 0),		\
	TEXT_POKE_TEST_INSN("br xzr", d6, 1f, 03, e0, 0),		\
	TEXT_POKE_TEST_INSN("blr x5", d6, 3f, 00, a0, 0),		\
	TEXT_POKE_TEST_INSN("blr x30", d6, 3f, 03, c0, 0),		\
	TEXT_POKE_TEST_INSN("ret", d6, 5f, 03, c0, 0),			\
	TEXT_POKE_TEST_INSN("ret x6", d6, 5f, 00, c0, 0),		\
	TEXT_POKE_TEST_INSN("adr x7, .", 10, 00, 00, 07, 0),		\
	TEXT_POKE_TEST_INSN("adr x7, . + 0xfffff", 70, 7f, ff, e7, 0),	\
	TEXT_POKE_TEST_INSN("adr x30, . - 0x100000", 10, 80, 00, 1e, 0),	\
	TEXT_POKE_TEST_INSN("adr xzr, . + 1", 30, 00, 00, 1f, 0),	\
	TEXT_POKE_TEST_INSN("adrp x8, .", 90, 00, 00, 08, 0),		\
	TEXT_POKE_TEST_INSN("adrp x8, . - 0x1000", f0, ff, ff, e8, 0),	\
	TEXT_POKE_TEST_INSN("adrp xzr, .", 90, 00, 00, 1f, 0),		\
	TEXT_POKE_TEST_INSN("brk #4", d4, 20, 00, 80, 0, true, true),	\
	TEXT_POKE_TEST_INSN("brk #0x100", d4, 20, 20, 00, -ERANGE, true),	\
	TEXT_POKE_TEST_INSN("brk #5", d4, 20, 00, a0, -EOPNOTSUPP, true),	\
	TEXT_POKE_TEST_INSN("brk #8", d4, 20, 01, 00, -EOPNOTSUPP, true),	\
	TEXT_POKE_TEST_INSN("mov w0, #1", 52, 80, 00, 20, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("yield", d5, 03, 20, 3f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("bti c", d5, 03, 24, 5f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("bti j", d5, 03, 24, 9f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("paciasp", d5, 03, 23, 3f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("pacibsp", d5, 03, 23, 7f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("paciaz", d5, 03, 23, 1f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("autiasp", d5, 03, 23, bf, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("retaa", d6, 5f, 0b, ff, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("braa x1, x2", d7, 1f, 08, 22, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("blraaz x1", d6, 3f, 08, 3f, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("bc.eq . + 8", 54, 00, 00, 50, 0),		\
	TEXT_POKE_TEST_INSN("eret", d6, 9f, 03, e0, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("ldr x0, .", 58, 00, 00, 00, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("ldxr x0, [x1]", c8, 5f, 7c, 20, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("svc #0", d4, 00, 00, 01, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("isb", d5, 03, 3f, df, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("udf #0", 00, 00, 00, 00, -EOPNOTSUPP)	\
}

/* The alias is in the kernel's page tables, which all CPUs have loaded. */
#define TEXT_POKE_TEST_ALIAS_IS_SHARED	true

/* The kernel's own encoders. */
static inline void text_poke_test_gen_jump(void *insn, const void *from,
					   const void *to)
{
	u32 val = aarch64_insn_gen_branch_imm((unsigned long)from,
					      (unsigned long)to,
					      AARCH64_INSN_BRANCH_NOLINK);

	text_poke_test_put(insn, val);
}

static inline void text_poke_test_gen_call(void *insn, const void *from,
					   const void *to)
{
	u32 val = aarch64_insn_gen_branch_imm((unsigned long)from,
					      (unsigned long)to,
					      AARCH64_INSN_BRANCH_LINK);

	text_poke_test_put(insn, val);
}

/* @regs are random; make them those of a CPU that has trapped at @addr. */
static inline void text_poke_test_trapped(struct pt_regs *regs, void *addr,
					  void *stack)
{
	regs->pc = (unsigned long)addr;
	regs->sp = (unsigned long)stack;
	regs->pstate &= ~(u64)(PSR_MODE_MASK | PSR_MODE32_BIT | PSR_IL_BIT);
	regs->pstate |= PSR_MODE_EL1h;
}

/* Bits @high to @low. */
static inline u64 text_poke_test_bits(u64 val, int high, int low)
{
	return val << (63 - high) >> (63 - high + low);
}

/* SignExtend() of the field of the instruction, times 4. */
static inline u64 text_poke_test_offset(u32 insn, int high, int low)
{
	return (u64)((s64)((u64)insn << (63 - high)) >> (63 - high + low)) * 4;
}

/* X[n]; 31 is the zero register. */
static inline u64 text_poke_test_x(const struct pt_regs *regs, u32 n)
{
	return n == 31 ? 0 : regs->regs[n];
}

/* ConditionHolds(), from the pseudocode in J1.3. */
static inline bool text_poke_test_cond(u64 pstate, u32 cond)
{
	bool n = pstate >> 31 & 1, z = pstate >> 30 & 1;
	bool c = pstate >> 29 & 1, v = pstate >> 28 & 1;
	bool result[] = { z, c, n, v, c && !z, n == v, n == v && !z, true };

	if ((cond & 1) && cond != 15)
		return !result[cond >> 1];
	return result[cond >> 1];
}

/*
 * Is it one of the branches that depend on something, and is it taken?
 * BC.cond, which has bit 4 set, is B.cond with a hint for the prediction.
 */
static inline bool text_poke_test_taken(const struct pt_regs *regs, u32 insn,
					bool *taken, u64 *offset)
{
	u64 val = text_poke_test_x(regs, insn & 31);

	*offset = text_poke_test_offset(insn, 23, 5);
	if ((insn & 0xff000000) == 0x54000000) {
		*taken = text_poke_test_cond(regs->pstate, insn & 15);
		return true;
	}
	if ((insn & 0x7e000000) == 0x34000000) {
		if (!text_poke_test_bits(insn, 31, 31))
			val = (u32)val;
		*taken = (val == 0) == !text_poke_test_bits(insn, 24, 24);
		return true;
	}
	if ((insn & 0x7e000000) == 0x36000000) {
		u32 bit = text_poke_test_bits(insn, 31, 31) * 32 +
			  text_poke_test_bits(insn, 23, 19);

		*offset = text_poke_test_offset(insn, 18, 5);
		*taken = (val >> bit & 1) == text_poke_test_bits(insn, 24, 24);
		return true;
	}
	return false;
}

/* BR, BLR, RET: the fields that are fixed are all but Rn and the opcode. */
static inline bool text_poke_test_indirect(struct pt_regs *regs, u64 pc,
					   u32 insn)
{
	u64 target = text_poke_test_x(regs, insn >> 5 & 31);
	u32 op = text_poke_test_bits(insn, 22, 21);

	if ((insn & 0xff9ffc1f) != 0xd61f0000 || op == 3)
		return false;
	if (op == 1)
		regs->regs[30] = pc + 4;
	regs->pc = target;
	return true;
}

static inline bool text_poke_test_address(struct pt_regs *regs, u64 pc,
					  u32 insn)
{
	u64 imm = text_poke_test_offset(insn, 23, 5) +
		  text_poke_test_bits(insn, 30, 29);
	u32 rd = insn & 31;

	if ((insn & 0x1f000000) != 0x10000000)
		return false;
	if (rd != 31)
		regs->regs[rd] = insn >> 31 ? (pc & ~0xfffUL) + (imm << 12) :
					      pc + imm;
	regs->pc = pc + 4;
	return true;
}

/*
 * D1.3: PSTATE.BTYPE is zero after any instruction but an indirect branch, and
 * the backend documents that it does not ask for a landing pad after these
 * either.  D2.11: PSTATE.SS is zero after a step.
 */
static inline bool text_poke_test_reference(struct pt_regs *regs, void *addr,
					    const u8 *bytes, size_t len)
{
	u32 insn = bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
		   (u32)bytes[3] << 24;
	u64 pc = (u64)addr, offset;
	bool taken;

	if ((insn & 0x7c000000) == 0x14000000) {
		if (insn >> 31)
			regs->regs[30] = pc + 4;
		regs->pc = pc + text_poke_test_offset(insn, 25, 0);
	} else if (text_poke_test_taken(regs, insn, &taken, &offset)) {
		regs->pc = pc + (taken ? offset : 4);
	} else if (insn == 0xd503201f) {
		regs->pc = pc + 4;
	} else if (!text_poke_test_indirect(regs, pc, insn) &&
		   !text_poke_test_address(regs, pc, insn)) {
		return false;
	}
	regs->pstate &= ~(3UL << 10 | 1UL << 21);
	return true;
}

/* Most of them of a class that has branches or ADR in it. */
static inline void text_poke_test_random(u8 *insn, u8 *len, u32 a, u32 b)
{
	static const u32 classes[][2] = {
		{ 0x7c000000, 0x14000000 }, { 0xff000000, 0x54000000 },
		{ 0x7e000000, 0x34000000 }, { 0x7e000000, 0x36000000 },
		{ 0xff9ffc1f, 0xd61f0000 }, { 0x1f000000, 0x10000000 },
		{ 0xfe000000, 0xd6000000 }, { 0, 0 },
	};
	const u32 *class = classes[b % 8];

	text_poke_test_put(insn, (a & ~class[0]) | class[1]);
	*len = 4;
}

#endif /* _TEXT_POKE_ARCH_CONFORMANCE_H */
