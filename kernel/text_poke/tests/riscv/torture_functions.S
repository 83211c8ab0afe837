/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for the torture test of text pokes.
 *
 * Each has one site, and returns the sum of what it has come through:
 *
 *	fn:	0
 *	site:	nop, or what it is changed to; a call adds 2, and what is
 *		executed in a slot makes it TEXT_POKE_TEST_STEPPED
 *		+ 1, return
 *	target:	+ 7, return
 *
 * Nothing else in it changes a register but t6, and ra.
 */
#include <linux/linkage.h>

#include <asm/asm.h>

#include "arch_torture.h"

#define BEFORE	32

	.option	norelax
	.option	norvc

/* A site of @len bytes, @at bytes past an address that is a multiple of @align. */
.macro torture_fn align:req, at:req, len:req, slow:req
	.balign	\align
	.skip	\at - BEFORE
	.type	text_poke_torture_fn_\@, @function
text_poke_torture_fn_\@:
	mv	t6, ra
.Lprobe_\@:
	li	a0, 0
	.rept	BEFORE / 4 - 2
	nop
	.endr
.Lsite_\@:
	.if	\len == 2
	.option	push
	.option	rvc
	c.nop
	.option	pop
	.else
	nop
	.endif
	addi	a0, a0, 1
	jr	t6
.Ltarget_\@:
	addi	a0, a0, 7
	jr	t6
	.size	text_poke_torture_fn_\@, . - text_poke_torture_fn_\@

	.pushsection .rodata.text_poke_torture, "a"
	.quad	text_poke_torture_fn_\@
	.long	.Lsite_\@ - text_poke_torture_fn_\@
	.long	.Ltarget_\@ - text_poke_torture_fn_\@
	.long	.Lprobe_\@ - text_poke_torture_fn_\@
	.short	\len, \slow
	.popsection
.endm

	.pushsection .rodata.text_poke_torture, "a"
	.balign	8
SYM_DATA_START(text_poke_torture_begin)
	.popsection

	.text

/* Every place in half a cache line. */
.irp word, 0, 1, 2, 3, 4, 5, 6, 7
	torture_fn 128, (64+4*\word), 4, 0
	torture_fn 128, (64+4*\word), 4, 1
#ifdef CONFIG_RISCV_ISA_C
	torture_fn 128, (66+4*\word), 4, 0
	torture_fn 128, (66+4*\word), 4, 1
	torture_fn 128, (64+4*\word), 2, 0
	torture_fn 128, (66+4*\word), 2, 1
#endif
.endr

/* The last word of a page, and the first; and one that is in both. */
.irp slow, 0, 1
	torture_fn 4096, (4096-4), 4, \slow
	torture_fn 4096, 4096, 4, \slow
#ifdef CONFIG_RISCV_ISA_C
	torture_fn 4096, (4096-2), 4, \slow
	torture_fn 4096, (4096-2), 2, \slow
#endif
.endr

	.pushsection .rodata.text_poke_torture, "a"
SYM_DATA_END_LABEL(text_poke_torture_begin, SYM_L_GLOBAL, text_poke_torture_end)
	.popsection

	.balign	4
SYM_FUNC_START(text_poke_torture_callee)
	addi	a0, a0, 2
	ret
SYM_FUNC_END(text_poke_torture_callee)

#define OUT(n)	(8 * (TEXT_POKE_TORTURE_REGS + (n)))

/* All that are not left alone. */
.macro each_reg op:req, base:req, at:req
	.irp	n, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18
	\op	x\n, (\at + 8 * \n)(\base)
	.endr
	.irp	n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	\op	x\n, (\at + 8 * \n)(\base)
	.endr
.endm

.macro each_saved op:req
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\op	s\n, (16 + 8 * \n)(sp)
	.endr
.endm

/*
 * unsigned int text_poke_torture_call(void *fn, u64 *regs)
 *
 * Calls fn with registers as in the first half of regs, and puts into the
 * second half what they are afterwards.
 */
SYM_FUNC_START(text_poke_torture_call)
	addi	sp, sp, -128
	sd	ra, 0(sp)
	sd	a1, 8(sp)
	each_saved sd

	mv	t6, a0
	mv	a0, a1
	each_reg ld, a0, 0

	jalr	t6

	ld	t6, 8(sp)
	each_reg sd, t6, OUT(0)

	each_saved ld
	ld	ra, 0(sp)
	addi	sp, sp, 128
	ret
SYM_FUNC_END(text_poke_torture_call)
