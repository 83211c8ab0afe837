/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TEST_H
#define _TEXT_POKE_ARCH_TEST_H

/*
 * What the KUnit test of the text poke core needs to know about x86.
 *
 * The encodings are written out here, from the Intel Software Developer's
 * Manual, Volume 2, so that the test does not ask the code under test.
 */

#include <linux/compiler.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <linux/string.h>
#include <linux/stringify.h>
#include <linux/types.h>

#include <asm/nops.h>
#include <asm/ptrace.h>
#include <asm/realmode.h>
#include <asm/text-patching.h>

#define TEXT_POKE_TEST_LEN	5

/* How far a branch reaches from its own first byte. */
#define TEXT_POKE_TEST_AHEAD	0x80000004UL
#define TEXT_POKE_TEST_BACK	0x7ffffffbUL

/*
 * int text_poke_test_fn(void), which returns what its site makes it return:
 *
 *	nop						1
 *	jmp text_poke_test_target			2
 *	call text_poke_test_callee			3
 *
 * and void text_poke_test_field(void), which is nothing but sites.  What is in
 * text_poke_test_kept is not to be replaced: movl $constant, %eax; endbr64.
 */
int text_poke_test_fn(void);
extern char text_poke_test_site[], text_poke_test_target[];
extern char text_poke_test_callee[], text_poke_test_field[];
extern char text_poke_test_kept[];

#define TEXT_POKE_TEST_NOP	".byte " __stringify(BYTES_NOP5) "\n"

#define TEXT_POKE_TEST_FIELD	4096
#define TEXT_POKE_TEST_TEXT						\
	asm(".pushsection .text\n"					\
	    ".balign 16\n"						\
	    ".type text_poke_test_fn, @function\n"			\
	    "text_poke_test_fn:\n"					\
	    "	movl	$1, %eax\n"					\
	    "text_poke_test_site:\n"					\
	    ANNOTATE_NOENDBR						\
	    TEXT_POKE_TEST_NOP						\
	    "	testl	%eax, %eax\n"					\
	    "	jnz	1f\n"						\
	    "text_poke_test_target:\n"					\
	    ANNOTATE_NOENDBR						\
	    "	movl	$2, %eax\n"					\
	    "1:	" ASM_RET						\
	    ".size text_poke_test_fn, . - text_poke_test_fn\n"		\
	    ".type text_poke_test_callee, @function\n"			\
	    "text_poke_test_callee:\n"					\
	    ANNOTATE_NOENDBR						\
	    "	movl	$3, %eax\n"					\
	    "	" ASM_RET						\
	    ".size text_poke_test_callee, . - text_poke_test_callee\n"	\
	    ".balign 16\n"						\
	    ".type text_poke_test_field, @function\n"			\
	    "text_poke_test_field:\n"					\
	    ANNOTATE_NOENDBR						\
	    "	.rept	" __stringify(TEXT_POKE_TEST_FIELD) "\n"	\
	    TEXT_POKE_TEST_NOP						\
	    "	.endr\n"						\
	    "	" ASM_RET						\
	    ".size text_poke_test_field, . - text_poke_test_field\n"	\
	    ".type text_poke_test_kept, @function\n"			\
	    "text_poke_test_kept:\n"					\
	    ANNOTATE_NOENDBR						\
	    "	movl	$0x12345678, %eax\n"				\
	    "	endbr64\n"						\
	    "	" ASM_RET						\
	    ".size text_poke_test_kept, . - text_poke_test_kept\n"	\
	    ".popsection\n")

static inline void text_poke_test_nop(void *insn)
{
	static const u8 nop[] = { BYTES_NOP5 };

	memcpy(insn, nop, sizeof(nop));
}

static inline void text_poke_test_rel32(void *insn, u8 opcode, const void *from,
					const void *to)
{
	s32 disp;

	/* Lest objtool sees a reference into the middle of a function. */
	OPTIMIZER_HIDE_VAR(from);
	disp = to - (from + TEXT_POKE_TEST_LEN);

	*(u8 *)insn = opcode;
	memcpy(insn + 1, &disp, sizeof(disp));
}

static inline void text_poke_test_jump(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_rel32(insn, 0xe9, from, to);
}

static inline void text_poke_test_call(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_rel32(insn, 0xe8, from, to);
}

/* An instruction that nothing emulates: mov $1, %eax. */
static inline void text_poke_test_odd(void *insn)
{
	static const u8 odd[] = { 0xb8, 1, 0, 0, 0 };

	memcpy(insn, odd, sizeof(odd));
}

/* What kprobes put there. */
#define TEXT_POKE_TEST_PROBE	((u8 []){ 0xcc })

/*
 * Input that is bad on this architecture: see input_test.c.  The trampoline to
 * protected mode and the vDSO are copies, of which the kernel's text has none.
 */
#define TEXT_POKE_TEST_BAD_INPUTS {					\
	OUTSIDE("over the end of the text", .addr = _etext - 2),	\
	OUTSIDE("a trampoline", .at = (void *)&real_mode_header),	\
	{ "half of an instruction", .new = jump, .len = LEN - 1,	\
	  .error = -EINVAL },						\
	{ "an instruction and a half", .new = (u8 []){ 0x90, 0xe9 },	\
	  .len = 2, .error = -EINVAL },					\
	{ "a constant in front of a function",				\
	  .addr = text_poke_test_kept, .new = nop, .len = LEN,		\
	  .error = -EINVAL },						\
	{ "the end of an instruction", .addr = text_poke_test_kept + 1,	\
	  .new = (u8 []){ BYTES_NOP4 }, .len = 4, .error = -EINVAL },	\
	{ "a landing pad", .addr = text_poke_test_kept + 5,		\
	  .new = (u8 []){ BYTES_NOP4 }, .len = 4, .error = -EINVAL },	\
	{ "the trap handler", .addr = text_poke_handle_trap,		\
	  .new = nop, .len = LEN, .error = -EOPNOTSUPP },		\
	{ "entry code", .addr = __entry_text_start, .new = nop,		\
	  .len = LEN, .error = -EOPNOTSUPP }				\
}

/* The encoders have nothing to return for a branch that does not reach. */
static inline bool text_poke_test_unencodable(void *insn)
{
	return false;
}

static inline void text_poke_test_trap(void *unit)
{
	*(u8 *)unit = 0xcc;
}

/* The stack of a CPU that has hit a trap. */
static unsigned long text_poke_test_stack[4];

/* The state in which a CPU arrives that has hit the trap at @addr. */
static inline void text_poke_test_hit(struct pt_regs *regs, void *addr)
{
	regs->ip = (unsigned long)addr;
	regs->sp = (unsigned long)&text_poke_test_stack[2];
	regs->flags = X86_EFLAGS_FIXED | X86_EFLAGS_CF | X86_EFLAGS_IF;
}

/* What a call that returns to @ret leaves behind. */
static inline bool text_poke_test_called(const struct pt_regs *regs,
					 const void *ret)
{
	return regs->sp == (unsigned long)&text_poke_test_stack[1] &&
	       text_poke_test_stack[1] == (unsigned long)ret;
}

static inline bool text_poke_test_not_called(const struct pt_regs *regs)
{
	return regs->sp == (unsigned long)&text_poke_test_stack[2];
}

static inline bool text_poke_test_flags_kept(const struct pt_regs *regs)
{
	return regs->flags == (X86_EFLAGS_FIXED | X86_EFLAGS_CF | X86_EFLAGS_IF);
}

/* Bring-up takes text_mutex: no CPU comes in the middle of a batch. */
#define TEXT_POKE_TEST_CPUS_COME	false

/* What KGDB does where it may not simply write. */
#define text_poke_test_debugger_store(addr, bytes, len) \
	text_poke_kgdb(addr, bytes, len)

/* A program's entry begins with the call. */
#define TEXT_POKE_TEST_BPF_LEAD	0

/* Of bpf_test.c. */
#define TEXT_POKE_TEST_BPF_FN(name, does)				\
	".type text_poke_test_bpf_" name ", @function\n"		\
	"text_poke_test_bpf_" name ":\n"				\
	ANNOTATE_NOENDBR						\
	"	" does "\n"						\
	"	" ASM_RET						\
	".size text_poke_test_bpf_" name ", . - text_poke_test_bpf_" name "\n"

#define TEXT_POKE_TEST_BPF_ASM						\
	TEXT_POKE_TEST_BPF_FN("first",					\
			      "incq text_poke_test_bpf_hits(%rip)")	\
	TEXT_POKE_TEST_BPF_FN("second",					\
			      "incq text_poke_test_bpf_hits + 8(%rip)")	\
	TEXT_POKE_TEST_BPF_FN("instead", "movl $42, %eax")

#endif /* _TEXT_POKE_ARCH_TEST_H */
