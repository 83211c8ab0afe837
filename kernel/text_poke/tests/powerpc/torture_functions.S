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
 * Nothing else in it changes a register but r0, r11, and LR.
 */
#include <linux/linkage.h>

#include <asm/ppc_asm.h>
#include <asm/ptrace.h>

#include "arch_torture.h"

#define BEFORE	32

/* A site @at bytes past an address that is a multiple of @align. */
.macro torture_fn align:req, at:req, slow:req
	.balign	\align
	.skip	\at - BEFORE
	.type	text_poke_torture_fn_\@, @function
text_poke_torture_fn_\@:
	mflr	r11
.Lprobe_\@:
	li	r3, 0
	.rept	BEFORE / 4 - 2
	nop
	.endr
.Lsite_\@:
	nop
	addi	r3, r3, 1
	mtlr	r11
	blr
.Ltarget_\@:
	addi	r3, r3, 7
	mtlr	r11
	blr
	.size	text_poke_torture_fn_\@, . - text_poke_torture_fn_\@

	.pushsection .rodata.text_poke_torture, "a"
	.quad	text_poke_torture_fn_\@
	.long	.Lsite_\@ - text_poke_torture_fn_\@
	.long	.Ltarget_\@ - text_poke_torture_fn_\@
	.long	.Lprobe_\@ - text_poke_torture_fn_\@
	.short	4, \slow
	.popsection
.endm

	.pushsection .rodata.text_poke_torture, "a"
	.balign	8
SYM_DATA_START(text_poke_torture_begin)
	.popsection

	.text

/* Every place in a cache line. */
.irp word, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	torture_fn 128, (64+4*\word), 0
	torture_fn 128, (64+4*\word), 1
.endr
.irp word, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	torture_fn 256, (64+4*\word), 0
.endr

/* The last word of 4 KiB, and the first, and a page may be as long. */
.irp slow, 0, 1
	torture_fn 4096, (4096-4), \slow
	torture_fn 4096, 4096, \slow
.endr

	.pushsection .rodata.text_poke_torture, "a"
SYM_DATA_END_LABEL(text_poke_torture_begin, SYM_L_GLOBAL, text_poke_torture_end)
	.popsection

SYM_FUNC_START(text_poke_torture_callee)
	addi	r3, r3, 2
	blr
SYM_FUNC_END(text_poke_torture_callee)

#define FRAME	(STACK_FRAME_MIN_SIZE + 8 * 20)
#define REGS	(STACK_FRAME_MIN_SIZE)
#define SAVED(n) (STACK_FRAME_MIN_SIZE + 8 * ((n) - 12))
#define OUT(n)	(8 * (TEXT_POKE_TORTURE_REGS + (n)))

/* All that are not left alone. */
.macro each_reg op:req, base:req, at:req
	.irp	n, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 18, 19, 20, 21, 22
	\op	\n, (\at + 8 * \n)(\base)
	.endr
	.irp	n, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	\n, (\at + 8 * \n)(\base)
	.endr
.endm

.macro each_saved op:req
	.irp	n, 14, 15, 16, 17, 18, 19, 20, 21, 22
	\op	\n, SAVED(\n)(r1)
	.endr
	.irp	n, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	\n, SAVED(\n)(r1)
	.endr
.endm

/*
 * unsigned int text_poke_torture_call(void *fn, u64 *regs)
 *
 * Calls fn with registers as in the first half of regs, and puts into the
 * second half what they are afterwards.
 */
SYM_FUNC_START(text_poke_torture_call)
	mflr	r0
	std	r0, 16(r1)
	mfcr	r0
	std	r0, 8(r1)
	stdu	r1, -FRAME(r1)
	std	r4, REGS(r1)
	each_saved std

	mr	r12, r3
	mtctr	r12
	ld	r0, 0(r4)
	mtcr	r0
	ld	r0, 8(r4)
	mtxer	r0
	each_reg ld, r4, 0
	ld	r4, 32(r4)

	bctrl

	ld	r11, REGS(r1)
	mfcr	r0
	std	r0, OUT(0)(r11)
	mfxer	r0
	std	r0, OUT(1)(r11)
	std	r4, OUT(4)(r11)
	each_reg std, r11, OUT(0)

	each_saved ld
	addi	r1, r1, FRAME
	ld	r0, 8(r1)
	mtcr	r0
	ld	r0, 16(r1)
	mtlr	r0
	blr
SYM_FUNC_END(text_poke_torture_call)
