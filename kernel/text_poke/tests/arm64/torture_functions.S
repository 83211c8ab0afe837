/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for the torture test of text pokes.
 *
 * Each has one site, and returns the sum of what it has come through:
 *
 *	fn:	0
 *	site:	nop, or what it is changed to; a call adds 2
 *		+ 1, return
 *	target:	+ 7, return
 *
 * Nothing else in it changes a register but X9 and X16, or a flag.
 */
#include <linux/linkage.h>

#include <asm/assembler.h>

#include "arch_torture.h"

#define BEFORE	32

/* A site @at bytes past an address that is a multiple of @align. */
.macro torture_fn align:req, at:req, slow:req
	.balign	\align
	.skip	\at - BEFORE
	.type	text_poke_torture_fn_\@, %function
text_poke_torture_fn_\@:
	bti	c
	mov	x9, x30
.Lprobe_\@:
	mov	w0, #0
	adr	x16, .Ltarget_\@
	.rept	BEFORE / 4 - 4
	nop
	.endr
.Lsite_\@:
	nop
	add	w0, w0, #1
	ret	x9
.Ltarget_\@:
	bti	j
	add	w0, w0, #7
	ret	x9
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

/* The last word of a page, and the first. */
.irp slow, 0, 1
	torture_fn 4096, (4096-4), \slow
	torture_fn 4096, 4096, \slow
.endr

	.pushsection .rodata.text_poke_torture, "a"
SYM_DATA_END_LABEL(text_poke_torture_begin, SYM_L_GLOBAL, text_poke_torture_end)
	.popsection

SYM_FUNC_START(text_poke_torture_callee)
	add	w0, w0, #2
	ret
SYM_FUNC_END(text_poke_torture_callee)

#define IN(n)	(8 * (n))
#define OUT(n)	(8 * (TEXT_POKE_TORTURE_REGS + (n)))

/*
 * unsigned int text_poke_torture_call(void *fn, u64 *regs)
 *
 * Calls fn with flags and registers as in the first half of regs, and puts
 * into the second half what they are afterwards.
 */
SYM_FUNC_START(text_poke_torture_call)
	stp	x29, x30, [sp, #-112]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x1, [sp, #96]

	mov	x16, x0
	mov	x0, x1
	ldr	x1, [x0, #IN(0)]
	msr	nzcv, x1
	ldp	x1, x2, [x0, #IN(1)]
	ldp	x3, x4, [x0, #IN(3)]
	ldp	x5, x6, [x0, #IN(5)]
	ldp	x7, x8, [x0, #IN(7)]
	ldp	x10, x11, [x0, #IN(10)]
	ldp	x12, x13, [x0, #IN(12)]
	ldp	x14, x15, [x0, #IN(14)]
	ldr	x17, [x0, #IN(17)]
	ldp	x19, x20, [x0, #IN(19)]
	ldp	x21, x22, [x0, #IN(21)]
	ldp	x23, x24, [x0, #IN(23)]
	ldp	x25, x26, [x0, #IN(25)]
	ldp	x27, x28, [x0, #IN(27)]

	blr	x16

	ldr	x16, [sp, #96]
	mrs	x9, nzcv
	str	x9, [x16, #OUT(0)]
	add	x16, x16, #OUT(0)
	stp	x1, x2, [x16, #IN(1)]
	stp	x3, x4, [x16, #IN(3)]
	stp	x5, x6, [x16, #IN(5)]
	stp	x7, x8, [x16, #IN(7)]
	stp	x10, x11, [x16, #IN(10)]
	stp	x12, x13, [x16, #IN(12)]
	stp	x14, x15, [x16, #IN(14)]
	str	x17, [x16, #IN(17)]
	stp	x19, x20, [x16, #IN(19)]
	stp	x21, x22, [x16, #IN(21)]
	stp	x23, x24, [x16, #IN(23)]
	stp	x25, x26, [x16, #IN(25)]
	stp	x27, x28, [x16, #IN(27)]

	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #112
	ret
SYM_FUNC_END(text_poke_torture_call)
