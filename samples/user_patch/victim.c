// SPDX-License-Identifier: GPL-2.0
/*
 * A function that tells which of its instructions it had: each of its nine
 * constants is one instruction's, and no mixture of two versions gives the sum
 * that either has. It spends its time between them, so that a thread is more
 * often inside than not.
 */
#include "user_patch.h"

#define STEPS		8
#define BASE_0		0x10
#define STEP_0		0x101
#define BASE_1		0x2000
#define STEP_1		0x1001

#define STRING_(x)	#x
#define STRING(x)	STRING_(x)

#if defined(__x86_64__)
#define CODE(name, base, step)				\
	".globl " #name "\n"				\
	".type " #name ", @function\n"			\
	".balign 16\n"					\
	#name ":\n"					\
	"	movl	$" STRING(base) ", %eax\n"	\
	".rept " STRING(STEPS) "\n"			\
	"	addq	$" STRING(step) ", %rax\n"	\
	"	movq	%rdi, %rcx\n"			\
	"1:	decq	%rcx\n"				\
	"	jnz	1b\n"				\
	".endr\n"					\
	"	ret\n"					\
	".balign 16\n"					\
	".size " #name ", . - " #name "\n"
#elif defined(__aarch64__)
#define CODE(name, base, step)				\
	".globl " #name "\n"				\
	".type " #name ", %function\n"			\
	".balign 16\n"					\
	#name ":\n"					\
	"	mov	x2, #" STRING(base) "\n"	\
	".rept " STRING(STEPS) "\n"			\
	"	mov	x3, #" STRING(step) "\n"	\
	"	add	x2, x2, x3\n"			\
	"	mov	x4, x0\n"			\
	"1:	subs	x4, x4, #1\n"			\
	"	b.ne	1b\n"				\
	".endr\n"					\
	"	mov	x0, x2\n"			\
	"	ret\n"					\
	".balign 16\n"					\
	".size " #name ", . - " #name "\n"
#endif

#ifdef CODE
extern const char victim_0[], victim_1[];

asm(".pushsection .text.victim, \"ax\"\n"
	CODE(victim, BASE_0, STEP_0)
	CODE(victim_0, BASE_0, STEP_0)
	CODE(victim_1, BASE_1, STEP_1)
	".popsection\n"
	".pushsection .rodata\n"
	".globl victim_len\n"
	".balign 8\n"
	"victim_len: .quad victim_0 - victim\n"
	".popsection\n");

const void *victim_code(int version)
{
	return version ? victim_1 : victim_0;
}
#else
const size_t victim_len;

unsigned long victim(unsigned long spins)
{
	return spins ? victim_result(0) : 0;
}

const void *victim_code(int version)
{
	(void)version;
	return NULL;
}
#endif

unsigned long victim_result(int version)
{
	return version ? BASE_1 + STEPS * STEP_1 : BASE_0 + STEPS * STEP_0;
}
