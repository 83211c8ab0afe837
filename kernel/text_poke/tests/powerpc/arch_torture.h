/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TORTURE_H
#define _TEXT_POKE_ARCH_TORTURE_H

/*
 * What the torture test of text pokes needs to know about powerpc.  Encodings
 * and effects are those of the other tests.
 */

/*
 * CR and XER, in the places of r0, into which MFLR goes, and r1; then r2 to r31,
 * of which r2, r3 and r11 to r13 are left alone.
 */
#define TEXT_POKE_TORTURE_REGS	32

#ifndef __ASSEMBLY__

#include <linux/string.h>
#include <linux/types.h>

#include <asm/ptrace.h>

#include "arch_conformance.h"

enum text_poke_torture_kind {
	TEXT_POKE_TORTURE_NOP,
	TEXT_POKE_TORTURE_B,
	TEXT_POKE_TORTURE_BL,
	TEXT_POKE_TORTURE_BC,
	TEXT_POKE_TORTURE_MFLR,
	TEXT_POKE_TORTURE_STEP,
	TEXT_POKE_TORTURE_KINDS,
};

#define TEXT_POKE_TORTURE_NAMES						\
	"nop", "b", "bl", "bc", "mflr", "step"

/* From here on they are executed in slots. */
#define TEXT_POKE_TORTURE_SLOW	TEXT_POKE_TORTURE_STEP

/* bc: if a bit of CR is set, or if it is not; both depend on the site. */
static inline u32 text_poke_torture_bc(const void *site, const void *target,
				       unsigned int nr)
{
	return 0x40000000 | (nr & 32 ? 12 : 4) << 21 | (nr & 31) << 16 |
	       ((target - site) & 0xfffc);
}

static inline bool text_poke_torture_taken(unsigned int nr, const u64 *regs)
{
	return (regs[0] >> (31 - (nr & 31)) & 1) == !!(nr & 32);
}

/* Instruction @kind for a site; false: there is none. */
static inline bool text_poke_torture_encode(u8 *insn, size_t len,
					    enum text_poke_torture_kind kind,
					    const void *site,
					    const void *target,
					    const void *callee, unsigned int nr)
{
	switch (kind) {
	case TEXT_POKE_TORTURE_NOP:
		text_poke_test_nop(insn);
		return true;
	case TEXT_POKE_TORTURE_B:
		text_poke_test_jump(insn, site, target);
		return true;
	case TEXT_POKE_TORTURE_BL:
		text_poke_test_call(insn, site, callee);
		return true;
	case TEXT_POKE_TORTURE_BC:
		text_poke_test_put(insn, text_poke_torture_bc(site, target, nr));
		return true;
	case TEXT_POKE_TORTURE_MFLR:
		/* mflr r0 */
		text_poke_test_put(insn, 0x7c0802a6);
		return true;
	default:
		/* xori r3,r3,TEXT_POKE_TEST_STEPPED, where r3 is 0 */
		text_poke_test_put(insn, 0x68630000 | TEXT_POKE_TEST_STEPPED);
		return IS_ENABLED(CONFIG_HAVE_TEXT_POKE_SLOTS);
	}
}

/* What a function returns whose site is of @kind: see torture_functions.S. */
static inline unsigned int
text_poke_torture_effect(enum text_poke_torture_kind kind, unsigned int nr,
			 const u64 *regs)
{
	switch (kind) {
	case TEXT_POKE_TORTURE_B:
		return 7;
	case TEXT_POKE_TORTURE_BL:
		return 3;
	case TEXT_POKE_TORTURE_BC:
		return text_poke_torture_taken(nr, regs) ? 7 : 1;
	case TEXT_POKE_TORTURE_STEP:
		return TEXT_POKE_TEST_STEPPED + 1;
	default:
		return 1;
	}
}

extern char text_poke_torture_callee[];

/* Make random registers fit to be loaded: XER has SO, OV and CA. */
static inline void text_poke_torture_fit(u64 *regs)
{
	regs[0] &= 0xffffffff;
	regs[1] &= 0xe0000000;
	regs[2] = 0;
	regs[3] = 0;
	memset(regs + 11, 0, 3 * sizeof(u64));
}

#endif /* !__ASSEMBLY__ */

#endif /* _TEXT_POKE_ARCH_TORTURE_H */
