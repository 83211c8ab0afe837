/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_CONFORMANCE_H
#define _TEXT_POKE_ARCH_CONFORMANCE_H

/*
 * powerpc's row of the conformance test of text poke backends.
 *
 * Encodings and effects are written out here, from the Power ISA, Book I, so
 * that the test does not ask the code under test.
 */

#include <linux/types.h>
#include <linux/uaccess.h>

#include <asm/code-patching.h>
#include <asm/mmu.h>
#include <asm/ptrace.h>

#include "arch_test.h"

#define TEXT_POKE_TEST_ALIGN	4

/*
 * Instructions, and what the backend says about them: name, bytes, length,
 * return value, atomic, foreign, ool, kept.  Atomic is the patch class.
 */
#define TEXT_POKE_TEST_INSN(name, b3, b2, b1, b0, ...)			\
	{ name, { 0x##b0, 0x##b1, 0x##b2, 0x##b3 }, 4, __VA_ARGS__ }

#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
#define TEXT_POKE_TEST_OOL	0, .ool = true
#else
#define TEXT_POKE_TEST_OOL	-EOPNOTSUPP
#endif

#define TEXT_POKE_TEST_INSNS {						\
	TEXT_POKE_TEST_INSN("nop", 60, 00, 00, 00, 0, true),		\
	TEXT_POKE_TEST_INSN("b .", 48, 00, 00, 00, 0, true),		\
	TEXT_POKE_TEST_INSN("b . + 4", 48, 00, 00, 04, 0, true),	\
	TEXT_POKE_TEST_INSN("b . - 4", 4b, ff, ff, fc, 0, true),	\
	TEXT_POKE_TEST_INSN("b . + 0x1fffffc", 49, ff, ff, fc, 0, true), \
	TEXT_POKE_TEST_INSN("b . - 0x2000000", 4a, 00, 00, 00, 0, true), \
	TEXT_POKE_TEST_INSN("bl .", 48, 00, 00, 01, 0, true),		\
	TEXT_POKE_TEST_INSN("bl . - 4", 4b, ff, ff, fd, 0, true),	\
	TEXT_POKE_TEST_INSN("bl . + 0x1fffffc", 49, ff, ff, fd, 0, true), \
	TEXT_POKE_TEST_INSN("bl . - 0x2000000", 4a, 00, 00, 01, 0, true), \
	TEXT_POKE_TEST_INSN("ba 0x100", 48, 00, 01, 02, 0, true),	\
	TEXT_POKE_TEST_INSN("ba -4", 4b, ff, ff, fe, 0, true),		\
	TEXT_POKE_TEST_INSN("bla 0x100", 48, 00, 01, 03, 0, true),	\
	TEXT_POKE_TEST_INSN("bla -4", 4b, ff, ff, ff, 0, true),		\
	TEXT_POKE_TEST_INSN("beq . + 8", 41, 82, 00, 08, 0),		\
	TEXT_POKE_TEST_INSN("bne cr7, . - 4", 40, 9e, ff, fc, 0),	\
	TEXT_POKE_TEST_INSN("bdnz . + 8", 42, 00, 00, 08, 0),		\
	TEXT_POKE_TEST_INSN("bdz . + 8", 42, 40, 00, 08, 0),		\
	TEXT_POKE_TEST_INSN("bdnzt so, . + 0x7ffc", 41, 03, 7f, fc, 0),	\
	TEXT_POKE_TEST_INSN("bdzf eq, . - 0x8000", 40, 42, 80, 00, 0),	\
	TEXT_POKE_TEST_INSN("beqa 0x100", 41, 82, 01, 02, 0),		\
	TEXT_POKE_TEST_INSN("beql . + 8", 41, 82, 00, 09, 0),		\
	TEXT_POKE_TEST_INSN("bcl 20, 31, . + 4", 42, 9f, 00, 05, 0),	\
	TEXT_POKE_TEST_INSN("blr", 4e, 80, 00, 20, 0),			\
	TEXT_POKE_TEST_INSN("blrl", 4e, 80, 00, 21, 0),			\
	TEXT_POKE_TEST_INSN("beqlr", 4d, 82, 00, 20, 0),		\
	TEXT_POKE_TEST_INSN("bdnzlr", 4e, 00, 00, 20, 0),		\
	TEXT_POKE_TEST_INSN("bctr", 4e, 80, 04, 20, 0),			\
	TEXT_POKE_TEST_INSN("bctrl", 4e, 80, 04, 21, 0),		\
	TEXT_POKE_TEST_INSN("bnectr", 4c, 82, 04, 20, 0),		\
	TEXT_POKE_TEST_INSN("bcctr that counts", 4e, 00, 04, 20, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("mflr r0", 7c, 08, 02, a6, 0),		\
	TEXT_POKE_TEST_INSN("mflr r31", 7f, e8, 02, a6, 0),		\
	TEXT_POKE_TEST_INSN("mtlr r0", 7c, 08, 03, a6, 0),		\
	TEXT_POKE_TEST_INSN("mfctr r12", 7d, 89, 02, a6, 0),		\
	TEXT_POKE_TEST_INSN("mtctr r12", 7d, 89, 03, a6, 0),		\
	TEXT_POKE_TEST_INSN("mfxer r3", 7c, 61, 02, a6, 0),		\
	TEXT_POKE_TEST_INSN("mtxer r3", 7c, 61, 03, a6, 0),		\
	TEXT_POKE_TEST_INSN("li r3, 1", 38, 60, 00, 01, 0),		\
	TEXT_POKE_TEST_INSN("addi r3, r3, -1", 38, 63, ff, ff, 0),	\
	TEXT_POKE_TEST_INSN("addis r2, r12, 1", 3c, 4c, 00, 01, 0),	\
	TEXT_POKE_TEST_INSN("lis r9, -0x8000", 3d, 20, 80, 00, 0),	\
	TEXT_POKE_TEST_INSN("ori r31, r31, 0", 63, ff, 00, 00, 0),	\
	TEXT_POKE_TEST_INSN("ori r3, r4, 0xffff", 60, 83, ff, ff, 0),	\
	TEXT_POKE_TEST_INSN("trap", 7f, e0, 00, 08, 0, true, true),	\
	TEXT_POKE_TEST_INSN("twi 31, r0, 0", 0f, e0, 00, 00, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("twge r2, r2", 7d, 82, 10, 08, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("tdnei r3, 0", 0b, 03, 00, 00, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("all zeros", 00, 00, 00, 00, -ERANGE),	\
	TEXT_POKE_TEST_INSN("a prefix", 06, 00, 00, 00, -EINVAL),	\
	TEXT_POKE_TEST_INSN("lwarx r3, 0, r4", 7c, 60, 20, 28, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("stdu r1, -32(r1)", f8, 21, ff, e1, TEXT_POKE_TEST_OOL), \
	TEXT_POKE_TEST_INSN("ld r3, 0(r4)", e8, 64, 00, 00, TEXT_POKE_TEST_OOL), \
	TEXT_POKE_TEST_INSN("stdcx. r3, 0, r4", 7c, 60, 21, ad, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("xori r3, r3, 5", 68, 63, 00, 05, TEXT_POKE_TEST_OOL), \
	TEXT_POKE_TEST_INSN("add r3, r3, r4", 7c, 63, 22, 14, TEXT_POKE_TEST_OOL), \
	TEXT_POKE_TEST_INSN("addpcis r3, 0", 4c, 60, 00, 04, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("mtmsrd r9, 1", 7d, 21, 01, 64, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("mfspr r3, SRR0", 7c, 7a, 02, a6, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("mtspr SRR1, r3", 7c, 7b, 03, a6, -EOPNOTSUPP), \
	TEXT_POKE_TEST_INSN("isync", 4c, 00, 01, 2c, -EOPNOTSUPP),	\
	TEXT_POKE_TEST_INSN("sc", 44, 00, 00, 02, -EOPNOTSUPP),		\
	TEXT_POKE_TEST_INSN("rfid", 4c, 00, 00, 24, -EOPNOTSUPP)	\
}

/*
 * With radix page tables the alias is in an address space that one CPU has
 * loaded; otherwise it is in the kernel's.
 */
#define TEXT_POKE_TEST_ALIAS_IS_SHARED					\
	(!IS_ENABLED(CONFIG_SMP) || !radix_enabled())

/* The alias may be where users have theirs, but no user may touch it. */
#define text_poke_test_rewrite text_poke_test_rewrite
static inline bool text_poke_test_rewrite(void *alias)
{
	u8 byte;

	pagefault_disable();
	__get_kernel_nofault(&byte, alias, u8, fault);
	__put_kernel_nofault(alias, &byte, u8, fault);
	pagefault_enable();
	return true;
fault:
	pagefault_enable();
	return false;
}

/* The kernel's own encoder. */
static inline void text_poke_test_gen(void *insn, const void *from,
				      const void *to, int flags)
{
	ppc_inst_t val;

	create_branch(&val, from, (unsigned long)to, flags);
	text_poke_test_put(insn, ppc_inst_val(val));
}

static inline void text_poke_test_gen_jump(void *insn, const void *from,
					   const void *to)
{
	text_poke_test_gen(insn, from, to, 0);
}

static inline void text_poke_test_gen_call(void *insn, const void *from,
					   const void *to)
{
	text_poke_test_gen(insn, from, to, BRANCH_SET_LINK);
}

/* @regs are random; make them those of a CPU that has trapped at @addr. */
static inline void text_poke_test_trapped(struct pt_regs *regs, void *addr,
					  void *stack)
{
	regs->nip = (unsigned long)addr;
	regs->gpr[1] = (unsigned long)stack;
	regs->msr = MSR_KERNEL | (regs->msr & MSR_EE);
}

/* Bits @first to @last, of which 0 is the highest. */
static inline u64 text_poke_test_bits(u32 insn, int first, int last)
{
	return (u64)insn >> (31 - last) & ((1UL << (last - first + 1)) - 1);
}

/* EXTS() */
static inline u64 text_poke_test_exts(u64 val, int bits)
{
	u64 sign = 1UL << (bits - 1);

	return (val ^ sign) - sign;
}

/* LR or CTR that is branched to, XER, LR or CTR that is moved; or NULL. */
static inline unsigned long *text_poke_test_spr(struct pt_regs *regs, u32 insn)
{
	switch (text_poke_test_bits(insn, 11, 20)) {
	case 1 << 5:
		return &regs->xer;
	case 8 << 5:
		return &regs->link;
	case 9 << 5:
		return &regs->ctr;
	default:
		return NULL;
	}
}

/* ctr_ok & cond_ok, after CTR has been counted if BO says so. */
static inline bool text_poke_test_taken(struct pt_regs *regs, u32 insn)
{
	u64 bo = text_poke_test_bits(insn, 6, 10);
	u64 bi = text_poke_test_bits(insn, 11, 15);
	bool ctr_ok = true;

	if (!(bo & 4)) {
		regs->ctr--;
		ctr_ok = (regs->ctr != 0) != (bo >> 1 & 1);
	}
	return ctr_ok && (bo >> 4 || (regs->ccr >> (31 - bi) & 1) == (bo >> 3 & 1));
}

/* b, bc, bclr, bcctr: false if it is none of them; where it goes if so. */
static inline bool text_poke_test_branch(struct pt_regs *regs, u64 cia, u32 insn,
					 u64 *nia)
{
	u64 base = insn & 2 ? 0 : cia, to;
	bool always = false;

	if (insn >> 26 == 18) {
		to = base + text_poke_test_exts(insn & 0x3fffffc, 26);
		always = true;
	} else if (insn >> 26 == 16) {
		to = base + text_poke_test_exts(insn & 0xfffc, 16);
	} else if (insn >> 26 == 19 && text_poke_test_bits(insn, 21, 30) == 16) {
		to = regs->link & ~3UL;
	} else if (insn >> 26 == 19 && text_poke_test_bits(insn, 21, 30) == 528 &&
		   text_poke_test_bits(insn, 8, 8)) {
		to = regs->ctr & ~3UL;
	} else {
		return false;
	}
	if (always || text_poke_test_taken(regs, insn))
		*nia = to;
	if (insn & 1)
		regs->link = cia + 4;
	return true;
}

/* mfspr, mtspr: bits 32 to 63 are all that XER has. */
static inline bool text_poke_test_move(struct pt_regs *regs, u32 insn)
{
	unsigned long *spr = text_poke_test_spr(regs, insn);
	unsigned long *gpr = &regs->gpr[text_poke_test_bits(insn, 6, 10)];
	u64 xo = text_poke_test_bits(insn, 21, 30);
	u64 mask = spr == &regs->xer ? 0xffffffff : ~0UL;

	if (insn >> 26 != 31 || !spr || (xo != 339 && xo != 467))
		return false;
	if (xo == 339)
		*gpr = *spr & mask;
	else
		*spr = *gpr & mask;
	return true;
}

/* addi, addis, ori; of which ori 0,0,0 is the nop. */
static inline bool text_poke_test_compute(struct pt_regs *regs, u32 insn)
{
	u64 t = text_poke_test_bits(insn, 6, 10);
	u64 a = text_poke_test_bits(insn, 11, 15);
	u64 base = a ? regs->gpr[a] : 0;

	switch (insn >> 26) {
	case 14:
		regs->gpr[t] = base + text_poke_test_exts(insn & 0xffff, 16);
		return true;
	case 15:
		regs->gpr[t] = base + (text_poke_test_exts(insn & 0xffff, 16) << 16);
		return true;
	case 24:
		regs->gpr[a] = regs->gpr[t] | (insn & 0xffff);
		return true;
	default:
		return false;
	}
}

/* In 64-bit mode, in which the kernel runs. */
static inline bool text_poke_test_reference(struct pt_regs *regs, void *addr,
					    const u8 *bytes, size_t len)
{
	u32 insn = bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
		   (u32)bytes[3] << 24;
	u64 cia = (u64)addr, nia = cia + 4;

	if (!text_poke_test_branch(regs, cia, insn, &nia) &&
	    !text_poke_test_move(regs, insn) &&
	    !text_poke_test_compute(regs, insn))
		return false;
	regs->nip = nia;
	return true;
}

/* Most of them of a class that has something to emulate in it. */
static inline void text_poke_test_random(u8 *insn, u8 *len, u32 a, u32 b)
{
	static const u32 classes[][2] = {
		{ 0xfc000000, 0x48000000 }, { 0xfc000000, 0x40000000 },
		{ 0xfc0007fe, 0x4c000020 }, { 0xfc0007fe, 0x4c000420 },
		{ 0xfc1cfffe, 0x7c0802a6 }, { 0xfc1cfffe, 0x7c0803a6 },
		{ 0xfc000000, 0x60000000 }, { 0xf8000000, 0x38000000 },
		{ 0xfc000000, 0x4c000000 }, { 0xfc000000, 0x7c000000 },
		{ 0, 0 }, { 0, 0 },
	};
	const u32 *class = classes[b % ARRAY_SIZE(classes)];
	u32 val = (a & ~class[0]) | class[1];

	text_poke_test_put(insn, val);
	*len = 4;
}

#endif /* _TEXT_POKE_ARCH_CONFORMANCE_H */
