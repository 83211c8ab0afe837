/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TORTURE_H
#define _TEXT_POKE_ARCH_TORTURE_H

/*
 * What the torture test of text pokes needs to know about RISC-V.  Encodings
 * and effects are those of the other tests.
 */

/* By number; x0 to x4, x10 and x31 are left alone. */
#define TEXT_POKE_TORTURE_REGS	32

#ifndef __ASSEMBLY__

#include <linux/string.h>
#include <linux/types.h>

#include <asm/ptrace.h>

#include "arch_conformance.h"

enum text_poke_torture_kind {
	TEXT_POKE_TORTURE_NOP,
	TEXT_POKE_TORTURE_J,
	TEXT_POKE_TORTURE_JAL,
	TEXT_POKE_TORTURE_JALR,
	TEXT_POKE_TORTURE_BRANCH,
	TEXT_POKE_TORTURE_BRANCHZ,
	TEXT_POKE_TORTURE_RET,
	TEXT_POKE_TORTURE_AUIPC,
	TEXT_POKE_TORTURE_STEP,
	TEXT_POKE_TORTURE_KINDS,
};

#define TEXT_POKE_TORTURE_NAMES						\
	"nop", "j", "jal", "jalr", "branch", "branchz", "ret", "auipc", "step"

/* Sites are anywhere, so that some are fetched in two parts. */
#define TEXT_POKE_TORTURE_HOLDS_CPUS true

/* From here on they are executed in slots. */
#define TEXT_POKE_TORTURE_SLOW	TEXT_POKE_TORTURE_STEP

/* The registers that branches look at, s0 and a1; and that JALR goes to, t4. */
#define TEXT_POKE_TORTURE_XA	8
#define TEXT_POKE_TORTURE_XB	11
#define TEXT_POKE_TORTURE_XF	29

/* 2 and 3 are no conditions. */
static inline u32 text_poke_torture_funct3(unsigned int nr)
{
	return nr % 6 < 2 ? nr % 6 : nr % 6 + 2;
}

/* Depending on s0 and another register; forwards by no more than 30 bytes. */
static inline void text_poke_torture_branch(u8 *insn, u32 funct3, u32 rs2,
					    u32 imm)
{
	text_poke_test_put(insn, 0x63 | (imm >> 1 & 0xf) << 8 | funct3 << 12 |
				 TEXT_POKE_TORTURE_XA << 15 | rs2 << 20);
}

static inline bool text_poke_torture_encode_4(u8 *insn,
					      enum text_poke_torture_kind kind,
					      const void *site,
					      const void *target,
					      const void *callee,
					      unsigned int nr)
{
	u32 imm = target - site;

	switch (kind) {
	case TEXT_POKE_TORTURE_NOP:
		text_poke_test_nop(insn);
		return true;
	case TEXT_POKE_TORTURE_J:
		text_poke_test_jump(insn, site, target);
		return true;
	case TEXT_POKE_TORTURE_JAL:
		text_poke_test_call(insn, site, callee);
		return true;
	case TEXT_POKE_TORTURE_JALR:
		/* jalr ra, (t4) */
		text_poke_test_put(insn, 0x000e80e7);
		return true;
	case TEXT_POKE_TORTURE_BRANCH:
		text_poke_torture_branch(insn, text_poke_torture_funct3(nr),
					 TEXT_POKE_TORTURE_XB, imm);
		return true;
	case TEXT_POKE_TORTURE_BRANCHZ:
		text_poke_torture_branch(insn, nr % 2, 0, imm);
		return true;
	case TEXT_POKE_TORTURE_RET:
		/* jr t6 */
		text_poke_test_put(insn, 0x000f8067);
		return true;
	case TEXT_POKE_TORTURE_AUIPC:
		/* auipc zero, 1 */
		text_poke_test_put(insn, 0x00001017);
		return true;
	default:
		text_poke_test_step(insn);
		return IS_ENABLED(CONFIG_HAVE_TEXT_POKE_SLOTS);
	}
}

/* Forwards by no more than 30 bytes, too. */
static inline u32 text_poke_torture_c(enum text_poke_torture_kind kind, u32 imm,
				      unsigned int nr)
{
	u32 bits = (imm >> 1 & 3) << 3;

	switch (kind) {
	case TEXT_POKE_TORTURE_NOP:
		return 0x0001;
	case TEXT_POKE_TORTURE_J:
		return 0xa001 | (imm >> 1 & 7) << 3 | (imm >> 4 & 1) << 11;
	case TEXT_POKE_TORTURE_JALR:
		/* c.jalr t4 */
		return 0x9e82;
	case TEXT_POKE_TORTURE_BRANCHZ:
		/* c.beqz s0, c.bnez s0 */
		return (nr % 2 ? 0xe001 : 0xc001) | bits | (imm >> 3 & 3) << 10;
	case TEXT_POKE_TORTURE_RET:
		/* c.jr t6 */
		return 0x8f82;
	case TEXT_POKE_TORTURE_STEP:
		/* c.li a0, TEXT_POKE_TEST_STEPPED */
		return 0x4501 | TEXT_POKE_TEST_STEPPED << 2;
	default:
		return 0;
	}
}

/* Instruction @kind for a site; false: there is none. */
static inline bool text_poke_torture_encode(u8 *insn, size_t len,
					    enum text_poke_torture_kind kind,
					    const void *site,
					    const void *target,
					    const void *callee, unsigned int nr)
{
	__le16 c;

	if (len == 4)
		return text_poke_torture_encode_4(insn, kind, site, target,
						  callee, nr);
	c = cpu_to_le16(text_poke_torture_c(kind, target - site, nr));
	memcpy(insn, &c, sizeof(c));
	return c && (kind != TEXT_POKE_TORTURE_STEP ||
		     IS_ENABLED(CONFIG_HAVE_TEXT_POKE_SLOTS));
}

/* Is the jump to the target taken? */
static inline bool text_poke_torture_taken(enum text_poke_torture_kind kind,
					   unsigned int nr, const u64 *regs)
{
	u64 a = regs[TEXT_POKE_TORTURE_XA];

	switch (kind) {
	case TEXT_POKE_TORTURE_J:
		return true;
	case TEXT_POKE_TORTURE_BRANCH:
		return text_poke_test_cond(text_poke_torture_funct3(nr), a,
					   regs[TEXT_POKE_TORTURE_XB]);
	case TEXT_POKE_TORTURE_BRANCHZ:
		return nr % 2 ? a != 0 : a == 0;
	default:
		return false;
	}
}

/* What a function returns whose site is of @kind: see torture_functions.S. */
static inline unsigned int
text_poke_torture_effect(enum text_poke_torture_kind kind, unsigned int nr,
			 const u64 *regs)
{
	switch (kind) {
	case TEXT_POKE_TORTURE_JAL:
	case TEXT_POKE_TORTURE_JALR:
		return 3;
	case TEXT_POKE_TORTURE_RET:
		return 0;
	case TEXT_POKE_TORTURE_STEP:
		return TEXT_POKE_TEST_STEPPED + 1;
	default:
		return text_poke_torture_taken(kind, nr, regs) ? 7 : 1;
	}
}

extern char text_poke_torture_callee[];

/* Make random registers fit to be loaded; equal ones and zeros are rare. */
static inline void text_poke_torture_fit(u64 *regs)
{
	memset(regs, 0, 5 * sizeof(u64));
	regs[10] = 0;
	regs[31] = 0;
	regs[TEXT_POKE_TORTURE_XF] = (u64)text_poke_torture_callee;
	if (regs[5] & BIT(20))
		regs[TEXT_POKE_TORTURE_XA] = regs[TEXT_POKE_TORTURE_XB];
	if (regs[5] & BIT(21))
		regs[TEXT_POKE_TORTURE_XA] = 0;
}

#endif /* !__ASSEMBLY__ */

#endif /* _TEXT_POKE_ARCH_TORTURE_H */
