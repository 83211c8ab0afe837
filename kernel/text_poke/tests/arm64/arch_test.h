/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TEST_H
#define _TEXT_POKE_ARCH_TEST_H

/*
 * What the KUnit test of the text poke core needs to know about arm64.
 *
 * The encodings are written out here, from the Arm Architecture Reference
 * Manual (DDI 0487), C6.2, so that the test does not ask the code under test.
 */

#include <linux/stringify.h>
#include <linux/types.h>

#include <asm/byteorder.h>
#include <asm/ptrace.h>

#define TEXT_POKE_TEST_LEN	4

/* How far a branch reaches. */
#define TEXT_POKE_TEST_AHEAD	(0x8000000 - TEXT_POKE_TEST_LEN)
#define TEXT_POKE_TEST_BACK	0x8000000

/*
 * int text_poke_test_fn(void), which returns what its site makes it return:
 *
 *	nop						1
 *	b text_poke_test_target				2
 *	bl text_poke_test_callee			3
 *
 * and void text_poke_test_field(void), which is nothing but sites.  What is in
 * text_poke_test_kept is not to be replaced: bti c, paciasp, ldxr.
 */
int text_poke_test_fn(void);
extern char text_poke_test_site[], text_poke_test_target[];
extern char text_poke_test_callee[], text_poke_test_field[];
extern char text_poke_test_kept[];

#define TEXT_POKE_TEST_FIELD	4096
#define TEXT_POKE_TEST_TEXT						\
	asm(".pushsection .text\n"					\
	    ".globl text_poke_test_fn, text_poke_test_site\n"		\
	    ".globl text_poke_test_target, text_poke_test_callee\n"	\
	    ".globl text_poke_test_field\n"				\
	    ".balign 8\n"						\
	    ".type text_poke_test_fn, %function\n"			\
	    "text_poke_test_fn:\n"					\
	    "	stp	x29, x30, [sp, #-16]!\n"			\
	    "	mov	x29, sp\n"					\
	    "	mov	w0, #1\n"					\
	    "text_poke_test_site:\n"					\
	    "	nop\n"							\
	    "	b	1f\n"						\
	    "text_poke_test_target:\n"					\
	    "	mov	w0, #2\n"					\
	    "1:	ldp	x29, x30, [sp], #16\n"				\
	    "	ret\n"							\
	    "text_poke_test_callee:\n"					\
	    "	mov	w0, #3\n"					\
	    "	ret\n"							\
	    ".size text_poke_test_fn, . - text_poke_test_fn\n"		\
	    ".balign 8\n"						\
	    ".type text_poke_test_field, %function\n"			\
	    "text_poke_test_field:\n"					\
	    "	.rept	" __stringify(TEXT_POKE_TEST_FIELD) "\n"	\
	    "	nop\n"							\
	    "	.endr\n"						\
	    "	ret\n"							\
	    ".size text_poke_test_field, . - text_poke_test_field\n"	\
	    ".type text_poke_test_kept, %function\n"			\
	    "text_poke_test_kept:\n"					\
	    "	hint	#34\n"						\
	    "	hint	#25\n"						\
	    "	ldxr	x0, [x1]\n"					\
	    "	ret\n"							\
	    ".size text_poke_test_kept, . - text_poke_test_kept\n"	\
	    ".popsection\n"						\
	    ".pushsection .entry.text, \"ax\"\n"				\
	    ".globl text_poke_test_notrap\n"				\
	    ".balign 4\n"						\
	    "text_poke_test_notrap:\n"					\
	    "	nop\n"							\
	    "	ret\n"							\
	    ".popsection\n")

/* A nop among entry code; and what else cannot trap. */
extern char text_poke_test_notrap[];
#define TEXT_POKE_TEST_NOTRAP	text_poke_test_notrap
#define TEXT_POKE_TEST_NOTRAPS \
	{ __entry_text_start, __hyp_text_start, __hyp_idmap_text_start }

static inline void text_poke_test_put(void *insn, u32 val)
{
	*(__le32 *)insn = cpu_to_le32(val);
}

static inline u32 text_poke_test_imm26(const void *from, const void *to)
{
	return ((to - from) >> 2) & 0x3ffffff;
}

static inline void text_poke_test_nop(void *insn)
{
	text_poke_test_put(insn, 0xd503201f);
}

static inline void text_poke_test_jump(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_put(insn, 0x14000000 | text_poke_test_imm26(from, to));
}

static inline void text_poke_test_call(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_put(insn, 0x94000000 | text_poke_test_imm26(from, to));
}

/* An instruction that is not emulated: eret. */
static inline void text_poke_test_odd(void *insn)
{
	text_poke_test_put(insn, 0xd69f03e0);
}

/* What an encoder returns for a branch that does not reach. */
static inline bool text_poke_test_unencodable(void *insn)
{
	text_poke_test_put(insn, 0xd4202000);
	return true;
}

/* One that B2.2.5 does not list. */
#define TEXT_POKE_TEST_UNLISTED_ASM	"add	x0, x0, #0"

/* What kprobes put there. */
#define TEXT_POKE_TEST_PROBE	((u8 []){ 0x80, 0x00, 0x20, 0xd4 })

/*
 * Input that is bad on this architecture: see input_test.c.  The first ones run
 * from elsewhere than where they are linked; what enters the kernel cannot trap.
 */
#define TEXT_POKE_TEST_BAD_INPUTS {					\
	OUTSIDE("the identity map", .addr = __idmap_text_start),	\
	OUTSIDE("KPTI's trampoline", .addr = __entry_tramp_text_start),	\
	OUTSIDE("kexec", .addr = __relocate_new_kernel_start),		\
	{ "misaligned", .addr = text_poke_test_site + 2, .new = nop,	\
	  .len = LEN, .error = -EINVAL },				\
	{ "half of an instruction", .new = jump, .len = LEN / 2,	\
	  .error = -EINVAL },						\
	{ "two instructions", .new = too_long, .len = 2 * LEN,		\
	  .error = -EINVAL },						\
	{ "a branch that does not reach",				\
	  .new = (u8 []){ 0x00, 0x20, 0x20, 0xd4 }, .len = LEN,		\
	  .error = -ERANGE },						\
	{ "a jump into entry code", .addr = __entry_text_start,		\
	  .new = jump, .len = LEN, .error = -EOPNOTSUPP },		\
	{ "a probe of entry code", .addr = __entry_text_start,		\
	  .new = TEXT_POKE_TEST_PROBE, .len = LEN,			\
	  .error = -EOPNOTSUPP },					\
	{ "a landing pad", .addr = text_poke_test_kept, .new = nop,	\
	  .len = LEN, .error = -EINVAL },				\
	{ "a landing pad that signs", .addr = text_poke_test_kept + 4,	\
	  .new = nop, .len = LEN, .error = -EINVAL },			\
	{ "over what cannot be put back", .addr = text_poke_test_kept + 8, \
	  .new = nop, .len = LEN, .error = -EINVAL },			\
	{ "what the manual does not list",				\
	  .new = (u8 []){ 0xc0, 0x03, 0x5f, 0xd6 }, .len = LEN,		\
	  .error = -EOPNOTSUPP },					\
	{ "the trap handler", .addr = text_poke_handle_trap,		\
	  .new = nop, .len = LEN, .error = -EOPNOTSUPP }		\
}

/* brk #8 */
static inline void text_poke_test_trap(void *unit)
{
	text_poke_test_put(unit, 0xd4200100);
}

/* The state in which a CPU arrives that has hit the trap at @addr. */
static inline void text_poke_test_hit(struct pt_regs *regs, void *addr)
{
	regs->pc = (unsigned long)addr;
	regs->regs[30] = 0x30303030;
	regs->pstate = PSR_MODE_EL1h | PSR_BTYPE_MASK | PSR_N_BIT;
}

/* What a call that returns to @ret leaves behind. */
static inline bool text_poke_test_called(const struct pt_regs *regs,
					 const void *ret)
{
	return regs->regs[30] == (unsigned long)ret;
}

static inline bool text_poke_test_not_called(const struct pt_regs *regs)
{
	return regs->regs[30] == 0x30303030;
}

/* The flags are as before, and the landing pad state is over. */
static inline bool text_poke_test_flags_kept(const struct pt_regs *regs)
{
	return regs->pstate == (PSR_MODE_EL1h | PSR_N_BIT);
}

/* CPUs come online even while text_mutex is held. */
#define TEXT_POKE_TEST_CPUS_COME	true

/* A program's entry keeps the link register in x9, after a landing pad. */
#define TEXT_POKE_TEST_BPF_LEAD	(IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) ? 8 : 4)

/* It ends with br x10, and reads a literal after that. */
#define TEXT_POKE_TEST_BPF_LAST	0xd61f0140

/*
 * Of bpf_test.c: the landing pads (BTI jc) are for targets that are far away.
 * The trampolines change nothing but x10 and x11, and go back with the link
 * register as it was.
 */
#define TEXT_POKE_TEST_BPF_ASM						\
	"text_poke_test_bpf_first:\n"					\
	"	hint	#38\n"						\
	"	adrp	x10, text_poke_test_bpf_hits\n"			\
	"	add	x10, x10, :lo12:text_poke_test_bpf_hits\n"	\
	"	b	1f\n"						\
	"text_poke_test_bpf_second:\n"					\
	"	hint	#38\n"						\
	"	adrp	x10, text_poke_test_bpf_hits + 8\n"		\
	"	add	x10, x10, :lo12:text_poke_test_bpf_hits + 8\n"	\
	"1:	ldr	x11, [x10]\n"					\
	"	add	x11, x11, #1\n"					\
	"	str	x11, [x10]\n"					\
	"	mov	x10, x30\n"					\
	"	mov	x30, x9\n"					\
	"	ret	x10\n"						\
	"text_poke_test_bpf_instead:\n"					\
	"	hint	#38\n"						\
	"	mov	x0, #42\n"					\
	"	ret\n"

#endif /* _TEXT_POKE_ARCH_TEST_H */
