/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TEST_H
#define _TEXT_POKE_ARCH_TEST_H

/*
 * What the KUnit test of the text poke core needs to know about powerpc.
 *
 * The encodings are written out here, from the Power ISA, Book I, so that the
 * test does not ask the code under test.
 */

#include <linux/cacheflush.h>
#include <linux/stringify.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/cpu_setup.h>
#include <asm/interrupt.h>
#include <asm/mmu_context.h>
#include <asm/ptrace.h>
#include <asm/reg.h>
#include <asm/sections.h>

#define TEXT_POKE_TEST_LEN	4

/* How far a branch reaches. */
#define TEXT_POKE_TEST_AHEAD	(0x2000000 - TEXT_POKE_TEST_LEN)
#define TEXT_POKE_TEST_BACK	0x2000000

/*
 * int text_poke_test_fn(void), which returns what its site makes it return:
 *
 *	nop						1
 *	b text_poke_test_target				2
 *	bl text_poke_test_callee			3
 *
 * and void text_poke_test_field(void), which is nothing but sites.  What is in
 * text_poke_test_kept is not to be replaced: lwarx, sc, twi, and an instruction
 * with a prefix.
 */
int text_poke_test_fn(void);
extern char text_poke_test_site[], text_poke_test_target[];
extern char text_poke_test_callee[], text_poke_test_field[];
extern char text_poke_test_kept[];

/* How far the instruction at text_poke_test_mover moves the stack, in bytes. */
long text_poke_test_moved(void);
extern char text_poke_test_mover[];
#define TEXT_POKE_TEST_MOVED	64

#define TEXT_POKE_TEST_FIELD	4096
#define TEXT_POKE_TEST_TEXT						\
	asm(".pushsection .text\n"					\
	    ".globl text_poke_test_fn, text_poke_test_site\n"		\
	    ".globl text_poke_test_target, text_poke_test_callee\n"	\
	    ".globl text_poke_test_field, text_poke_test_kept\n"	\
	    ".balign 8\n"						\
	    ".type text_poke_test_fn, @function\n"			\
	    "text_poke_test_fn:\n"					\
	    "	mflr	0\n"						\
	    "	std	0, 16(1)\n"					\
	    "	stdu	1, -32(1)\n"					\
	    "	li	3, 1\n"						\
	    "text_poke_test_site:\n"					\
	    "	nop\n"							\
	    "	b	1f\n"						\
	    "text_poke_test_target:\n"					\
	    "	li	3, 2\n"						\
	    "1:	addi	1, 1, 32\n"					\
	    "	ld	0, 16(1)\n"					\
	    "	mtlr	0\n"						\
	    "	blr\n"							\
	    "text_poke_test_callee:\n"					\
	    "	li	3, 3\n"						\
	    "	blr\n"							\
	    ".size text_poke_test_fn, . - text_poke_test_fn\n"		\
	    ".balign 8\n"						\
	    ".type text_poke_test_field, @function\n"			\
	    "text_poke_test_field:\n"					\
	    "	.rept	" __stringify(TEXT_POKE_TEST_FIELD) "\n"	\
	    "	nop\n"							\
	    "	.endr\n"						\
	    "	blr\n"							\
	    ".size text_poke_test_field, . - text_poke_test_field\n"	\
	    ".balign 64\n"						\
	    ".type text_poke_test_kept, @function\n"			\
	    "text_poke_test_kept:\n"					\
	    "	lwarx	3, 0, 4\n"					\
	    "	sc\n"							\
	    "	twi	31, 0, 1\n"					\
	    "	nop\n"							\
	    "	.long	0x06000000, 0x38600001\n"			\
	    "	blr\n"							\
	    ".size text_poke_test_kept, . - text_poke_test_kept\n"	\
	    ".globl text_poke_test_moved, text_poke_test_mover\n"	\
	    ".balign 8\n"						\
	    ".type text_poke_test_moved, @function\n"			\
	    "text_poke_test_moved:\n"					\
	    "	mr	4, 1\n"						\
	    "text_poke_test_mover:\n"					\
	    "	addi	1, 1, -64\n"					\
	    "	subf	3, 1, 4\n"					\
	    "	mr	1, 4\n"						\
	    "	blr\n"							\
	    ".size text_poke_test_moved, . - text_poke_test_moved\n"	\
	    ".popsection\n"						\
	    ".pushsection .noinstr.text, \"ax\"\n"			\
	    ".globl text_poke_test_notrap\n"				\
	    ".balign 4\n"						\
	    "text_poke_test_notrap:\n"					\
	    "	nop\n"							\
	    "	blr\n"							\
	    ".popsection\n")

/* A nop among noinstr code; and what else cannot trap. */
extern char text_poke_test_notrap[];
#define TEXT_POKE_TEST_NOTRAP	text_poke_test_notrap
#define TEXT_POKE_TEST_NOTRAPS						\
	{ _stext, __head_end - 4, __end_soft_masked - 4,		\
	  __noinstr_text_start, (const char *)flush_icache_range + 8,	\
	  (const char *)__restore_cpu_power9 + 8,			\
	  (const char *)radix__switch_mmu_context + 8 }

static inline void text_poke_test_put(void *insn, u32 val)
{
	memcpy(insn, &val, sizeof(val));
}

/* I-form: LI in bits 6 to 29, then AA and LK. */
static inline u32 text_poke_test_li(const void *from, const void *to)
{
	return (to - from) & 0x3fffffc;
}

static inline void text_poke_test_nop(void *insn)
{
	text_poke_test_put(insn, 0x60000000);
}

static inline void text_poke_test_jump(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_put(insn, 0x48000000 | text_poke_test_li(from, to));
}

static inline void text_poke_test_call(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_put(insn, 0x48000001 | text_poke_test_li(from, to));
}

/* An instruction that is neither emulated nor executed in a slot: rfid. */
static inline void text_poke_test_odd(void *insn)
{
	text_poke_test_put(insn, 0x4c000024);
}

/* One that is executed in a slot: xori r3,r3,5, where r3 is 1. */
#define TEXT_POKE_TEST_STEPPED	4

static inline void text_poke_test_step(void *insn)
{
	text_poke_test_put(insn, 0x68630000 | (TEXT_POKE_TEST_STEPPED ^ 1));
}

/* What an encoder returns for a branch that does not reach. */
static inline bool text_poke_test_unencodable(void *insn)
{
	text_poke_test_put(insn, 0);
	return true;
}

/* What kprobes put there. */
#define TEXT_POKE_TEST_PROBE	((u8 []){ 0x08, 0x00, 0xe0, 0x7f })

/* What KGDB puts there. */
#define TEXT_POKE_TEST_BREAKPOINT ((u8 []){ 0x08, 0x10, 0x82, 0x7d })

/* Input that is bad on this architecture: see input_test.c. */
#define TEXT_POKE_TEST_BAD_INPUTS {					\
	{ "misaligned", .addr = text_poke_test_site + 2, .new = nop,	\
	  .len = LEN, .error = -EINVAL },				\
	{ "half of an instruction", .new = jump, .len = LEN / 2,	\
	  .error = -EINVAL },						\
	{ "two instructions", .new = too_long, .len = 2 * LEN,		\
	  .error = -EINVAL },						\
	{ "a branch that does not reach", .new = (u8 []){ 0, 0, 0, 0 },	\
	  .len = LEN, .error = -ERANGE },				\
	{ "a prefix", .new = (u8 []){ 0, 0, 0, 6 }, .len = LEN,		\
	  .error = -EINVAL },						\
	{ "over a prefix", .addr = text_poke_test_kept + 16, .new = nop, \
	  .len = LEN, .error = -EINVAL },				\
	{ "a suffix", .addr = text_poke_test_kept + 20, .new = nop,	\
	  .len = LEN, .error = -EINVAL },				\
	{ "a probe of a suffix", .addr = text_poke_test_kept + 20,	\
	  .new = TEXT_POKE_TEST_PROBE, .len = LEN, .error = -EINVAL },	\
	{ "a probe of an interrupt vector", .addr = _stext + 0x700,	\
	  .new = TEXT_POKE_TEST_PROBE, .len = LEN,			\
	  .error = -EOPNOTSUPP },					\
	{ "a probe of what runs in real mode",				\
	  .addr = (void *)flush_icache_range,				\
	  .new = TEXT_POKE_TEST_PROBE, .len = LEN,			\
	  .error = -EOPNOTSUPP },					\
	{ "over what reserves", .addr = text_poke_test_kept,		\
	  .new = nop, .len = LEN, .error = -EINVAL },			\
	{ "over a system call", .addr = text_poke_test_kept + 4,	\
	  .new = nop, .len = LEN, .error = -EINVAL },			\
	{ "over another's trap", .addr = text_poke_test_kept + 8,	\
	  .new = nop, .len = LEN, .error = -EINVAL },			\
	{ "the trap handler", .addr = text_poke_handle_trap,		\
	  .new = nop, .len = LEN, .error = -EOPNOTSUPP }		\
}

/* tw 31,r1,r1 */
static inline void text_poke_test_trap(void *unit)
{
	text_poke_test_put(unit, 0x7fe10808);
}

#define TEXT_POKE_TEST_MSR	(MSR_KERNEL | MSR_EE)

/* The state in which a CPU arrives that has hit the trap at @addr. */
static inline void text_poke_test_hit(struct pt_regs *regs, void *addr)
{
	regs->nip = (unsigned long)addr;
	regs->link = 0x30303030;
	regs->msr = TEXT_POKE_TEST_MSR;
	regs->ccr = 0x5a5a5a5a;
}

/* What a call that returns to @ret leaves behind. */
static inline bool text_poke_test_called(const struct pt_regs *regs,
					 const void *ret)
{
	return regs->link == (unsigned long)ret;
}

static inline bool text_poke_test_not_called(const struct pt_regs *regs)
{
	return regs->link == 0x30303030;
}

static inline bool text_poke_test_flags_kept(const struct pt_regs *regs)
{
	return regs->msr == TEXT_POKE_TEST_MSR && regs->ccr == 0x5a5a5a5a;
}

/* CPUs come online even while text_mutex is held. */
#define TEXT_POKE_TEST_CPUS_COME	true

#endif /* _TEXT_POKE_ARCH_TEST_H */
