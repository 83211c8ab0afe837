/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_TEST_H
#define _TEXT_POKE_ARCH_TEST_H

/*
 * What the KUnit test of the text poke core needs to know about RISC-V.
 *
 * The encodings are written out here, from the RISC-V Instruction Set Manual,
 * Volume I, so that the test does not ask the code under test.
 */

#include <linux/stringify.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/asm.h>
#include <asm/byteorder.h>
#include <asm/csr.h>
#include <asm/ptrace.h>
#include <asm/sbi.h>

#define TEXT_POKE_TEST_LEN	4

/* How far a branch reaches. */
#define TEXT_POKE_TEST_AHEAD	(0x100000 - 2)
#define TEXT_POKE_TEST_BACK	0x100000

/*
 * int text_poke_test_fn(void), which returns what its site makes it return:
 *
 *	nop						1
 *	j text_poke_test_target				2
 *	jal text_poke_test_callee			3
 *
 * and void text_poke_test_field(void), which is nothing but sites.  What is in
 * text_poke_test_kept is not to be replaced: lui, ecall.
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
	    ".option push\n"						\
	    ".option norelax\n"						\
	    ".option norvc\n"						\
	    ".balign 8\n"						\
	    ".type text_poke_test_fn, @function\n"			\
	    "text_poke_test_fn:\n"					\
	    "	addi	sp, sp, -16\n"					\
	    "	" REG_S " ra, 8(sp)\n"					\
	    "	li	a0, 1\n"					\
	    "text_poke_test_site:\n"					\
	    "	nop\n"							\
	    "	j	1f\n"						\
	    "text_poke_test_target:\n"					\
	    "	li	a0, 2\n"					\
	    "1:	" REG_L " ra, 8(sp)\n"					\
	    "	addi	sp, sp, 16\n"					\
	    "	ret\n"							\
	    "text_poke_test_callee:\n"					\
	    "	li	a0, 3\n"					\
	    "	ret\n"							\
	    ".size text_poke_test_fn, . - text_poke_test_fn\n"		\
	    ".balign 8\n"						\
	    ".type text_poke_test_field, @function\n"			\
	    "text_poke_test_field:\n"					\
	    "	.rept	" __stringify(TEXT_POKE_TEST_FIELD) "\n"	\
	    "	nop\n"							\
	    "	.endr\n"						\
	    "	ret\n"							\
	    ".size text_poke_test_field, . - text_poke_test_field\n"	\
	    ".type text_poke_test_kept, @function\n"			\
	    "text_poke_test_kept:\n"					\
	    "	lui	a0, 0x130\n"					\
	    "	ecall\n"						\
	    "	ret\n"							\
	    ".size text_poke_test_kept, . - text_poke_test_kept\n"	\
	    ".option pop\n"						\
	    ".popsection\n")

static inline void text_poke_test_put(void *insn, u32 val)
{
	__le32 le = cpu_to_le32(val);

	memcpy(insn, &le, sizeof(le));
}

static inline void text_poke_test_nop(void *insn)
{
	text_poke_test_put(insn, 0x00000013);
}

/* JAL: imm[20|10:1|11|19:12] in bits 31:12. */
static inline void text_poke_test_jal(void *insn, u32 rd, const void *from,
				      const void *to)
{
	u32 imm = to - from;

	text_poke_test_put(insn, 0x6f | rd << 7 |
				 (imm >> 20 & 0x1) << 31 |
				 (imm >> 1 & 0x3ff) << 21 |
				 (imm >> 11 & 0x1) << 20 |
				 (imm >> 12 & 0xff) << 12);
}

static inline void text_poke_test_jump(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_jal(insn, 0, from, to);
}

static inline void text_poke_test_call(void *insn, const void *from,
				       const void *to)
{
	text_poke_test_jal(insn, 1, from, to);
}

/* An instruction that is neither emulated nor executed in a slot: sret. */
static inline void text_poke_test_odd(void *insn)
{
	text_poke_test_put(insn, 0x10200073);
}

/* One that is executed in a slot: li a0, TEXT_POKE_TEST_STEPPED. */
#define TEXT_POKE_TEST_STEPPED	4

static inline void text_poke_test_step(void *insn)
{
	text_poke_test_put(insn, 0x00000513 | TEXT_POKE_TEST_STEPPED << 20);
}

/* What an encoder returns for a branch that does not reach. */
static inline bool text_poke_test_unencodable(void *insn)
{
	text_poke_test_put(insn, 0);
	return true;
}

/* What kprobes put there. */
#define TEXT_POKE_TEST_PROBE						\
	(TEXT_POKE_UNIT == 2 ? (u8 []){ 0x02, 0x90 } :			\
			       (u8 []){ 0x73, 0x00, 0x10, 0x00 })

/* Input that is bad on this architecture: see input_test.c. */
#define TEXT_POKE_TEST_BAD_INPUTS {					\
	{ "misaligned", .addr = text_poke_test_site + TEXT_POKE_UNIT / 2, \
	  .new = nop, .len = LEN, .error = -EINVAL },			\
	{ "half of an instruction", .new = jump, .len = LEN / 2,	\
	  .error = -EINVAL },						\
	{ "two instructions", .new = too_long, .len = 2 * LEN,		\
	  .error = -EINVAL },						\
	{ "a branch that does not reach", .new = (u8 []){ 0, 0, 0, 0 },	\
	  .len = LEN, .error = -ERANGE },				\
	{ "the end of an instruction", .addr = text_poke_test_kept + 2,	\
	  .new = (u8 []){ 0x01, 0x00 }, .len = 2, .error = -EINVAL },	\
	{ "over what cannot be put back", .addr = text_poke_test_kept + 4, \
	  .new = nop, .len = LEN, .error = -EINVAL }			\
}

/* c.ebreak, or ebreak; @unit may be the start of a longer buffer. */
static inline void text_poke_test_trap(void *unit)
{
#ifdef CONFIG_RISCV_ISA_C
	__le16 trap = cpu_to_le16(0x9002);

	memcpy(unit, &trap, sizeof(trap));
#else
	text_poke_test_put(unit, 0x00100073);
#endif
}

/* The state in which a CPU arrives that has hit the trap at @addr. */
static inline void text_poke_test_hit(struct pt_regs *regs, void *addr)
{
	regs->epc = (unsigned long)addr;
	regs->ra = 0x30303030;
	regs->status = SR_PP | SR_PIE;
}

/* What a call that returns to @ret leaves behind. */
static inline bool text_poke_test_called(const struct pt_regs *regs,
					 const void *ret)
{
	return regs->ra == (unsigned long)ret;
}

static inline bool text_poke_test_not_called(const struct pt_regs *regs)
{
	return regs->ra == 0x30303030;
}

static inline bool text_poke_test_flags_kept(const struct pt_regs *regs)
{
	return regs->status == (SR_PP | SR_PIE);
}

/* CPUs come online even while text_mutex is held. */
#define TEXT_POKE_TEST_CPUS_COME	true

/* Firmware executes FENCE.I wherever the kernel is. */
#define text_poke_test_sync_interrupts() (!riscv_use_sbi_for_rfence())

/* bpf_arch_text_poke() holds cpu_hotplug_lock. */
#define TEXT_POKE_TEST_BPF_HOLDS_CPUS

/* What AUIPC does at a program's entry is the same with and without a call. */
#define TEXT_POKE_TEST_BPF_LEAD	4

/* A program ends with jr t1, and reads a literal after that. */
#define TEXT_POKE_TEST_BPF_LAST	0x00030067

/*
 * Of bpf_test.c.  The trampolines change nothing but t1 and t2, and go back to
 * where t0 says.
 */
#define TEXT_POKE_TEST_BPF_ASM						\
	"text_poke_test_bpf_first:\n"					\
	"	lla	t1, text_poke_test_bpf_hits\n"			\
	"	j	1f\n"						\
	"text_poke_test_bpf_second:\n"					\
	"	lla	t1, text_poke_test_bpf_hits + 8\n"		\
	"1:	ld	t2, (t1)\n"					\
	"	addi	t2, t2, 1\n"					\
	"	sd	t2, (t1)\n"					\
	"	jr	t0\n"						\
	"text_poke_test_bpf_instead:\n"					\
	"	li	a0, 42\n"					\
	"	ret\n"

#endif /* _TEXT_POKE_ARCH_TEST_H */
