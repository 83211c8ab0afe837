/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for the torture test of text pokes.
 *
 * Each has one site, of 1, 2, 5 or 6 bytes, and returns the sum of what it has
 * come through:
 *
 *	fn:	0
 *	site:	nop, or what it is changed to; a call adds 2
 *		+ 1, return
 *	target:	+ 4, return
 *
 * Nothing else in it changes a register or a flag.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

#include <asm/frame.h>
#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>

#include "arch_torture.h"

#define BEFORE	32

.macro torture_nop len:req
	.if \len == 1
	ASM_NOP1
	.elseif \len == 2
	ASM_NOP2
	.elseif \len == 5
	ASM_NOP5
	.else
	ASM_NOP6
	.endif
.endm

/* A site @at bytes past an address that is a multiple of @align. */
.macro torture_fn len:req, align:req, at:req
	.balign	\align, 0xcc
	.skip	\at - BEFORE, 0xcc
	.type	text_poke_torture_fn_\@, @function
	.type	text_poke_torture_target_\@, @function
text_poke_torture_fn_\@:
	ENDBR
.Lprobe_\@:
	movl	$0, %eax
	.org	text_poke_torture_fn_\@ + BEFORE, 0x90
.Lsite_\@:
	torture_nop \len
	leal	1(%rax), %eax
	RET
	.size	text_poke_torture_fn_\@, . - text_poke_torture_fn_\@
text_poke_torture_target_\@:
	ANNOTATE_NOENDBR
	leal	4(%rax), %eax
	RET
	.size	text_poke_torture_target_\@, . - text_poke_torture_target_\@

	.pushsection .rodata.text_poke_torture, "a"
	.quad	text_poke_torture_fn_\@
	.long	.Lsite_\@ - text_poke_torture_fn_\@
	.long	text_poke_torture_target_\@ - text_poke_torture_fn_\@
	.long	.Lprobe_\@ - text_poke_torture_fn_\@
	.short	\len, 0
	.popsection
.endm

	.pushsection .rodata.text_poke_torture, "a"
	.balign	8
SYM_DATA_START(text_poke_torture_begin)
	.popsection

	.text

/* Every alignment; some cross a cache line. */
.irp offset, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	torture_fn 1, 128, (56+\offset)
	torture_fn 2, 128, (56+\offset)
	torture_fn 5, 128, (56+\offset)
	torture_fn 6, 128, (56+\offset)
.endr

/* Across pages, in every way. */
	torture_fn 2, 4096, (4096-1)
.irp before, 1, 2, 3, 4
	torture_fn 5, 4096, (4096-\before)
.endr
.irp before, 1, 2, 3, 4, 5
	torture_fn 6, 4096, (4096-\before)
.endr

	.pushsection .rodata.text_poke_torture, "a"
SYM_DATA_END_LABEL(text_poke_torture_begin, SYM_L_GLOBAL, text_poke_torture_end)
	.popsection

SYM_FUNC_START(text_poke_torture_callee)
	leal	2(%rax), %eax
	RET
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
	FRAME_BEGIN
#ifndef CONFIG_FRAME_POINTER
	pushq	%rbp
#endif
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rsi

	movq	%rdi, %r11
	movq	%rsi, %rax
	movq	IN(0)(%rax), %rcx
	pushfq
	andq	$~TEXT_POKE_TORTURE_FLAGS, (%rsp)
	orq	%rcx, (%rsp)
	popfq
	movq	IN(1)(%rax), %rbx
	movq	IN(2)(%rax), %rcx
	movq	IN(3)(%rax), %rdx
	movq	IN(4)(%rax), %rsi
	movq	IN(5)(%rax), %rdi
#ifndef CONFIG_FRAME_POINTER
	movq	IN(6)(%rax), %rbp
#endif
	movq	IN(7)(%rax), %r8
	movq	IN(8)(%rax), %r9
	movq	IN(9)(%rax), %r10
	movq	IN(10)(%rax), %r12
	movq	IN(11)(%rax), %r13
	movq	IN(12)(%rax), %r14
	movq	IN(13)(%rax), %r15

	/* A thunk may change flags. */
	ANNOTATE_RETPOLINE_SAFE
	call	*%r11

	pushfq
	pushq	%rcx
	movq	16(%rsp), %rcx
	movq	%rbx, OUT(1)(%rcx)
	movq	%rdx, OUT(3)(%rcx)
	movq	%rsi, OUT(4)(%rcx)
	movq	%rdi, OUT(5)(%rcx)
#ifndef CONFIG_FRAME_POINTER
	movq	%rbp, OUT(6)(%rcx)
#endif
	movq	%r8, OUT(7)(%rcx)
	movq	%r9, OUT(8)(%rcx)
	movq	%r10, OUT(9)(%rcx)
	movq	%r12, OUT(10)(%rcx)
	movq	%r13, OUT(11)(%rcx)
	movq	%r14, OUT(12)(%rcx)
	movq	%r15, OUT(13)(%rcx)
	popq	%rdx
	movq	%rdx, OUT(2)(%rcx)
	popq	%rdx
	andq	$TEXT_POKE_TORTURE_FLAGS, %rdx
	movq	%rdx, OUT(0)(%rcx)

	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
#ifndef CONFIG_FRAME_POINTER
	popq	%rbp
#endif
	FRAME_END
	RET
SYM_FUNC_END(text_poke_torture_call)
