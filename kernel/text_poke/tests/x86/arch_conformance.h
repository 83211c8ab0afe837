/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_ARCH_CONFORMANCE_H
#define _TEXT_POKE_ARCH_CONFORMANCE_H

/*
 * x86's row of the conformance test of text poke backends.
 *
 * Encodings and effects are written out here, from the Intel Software
 * Developer's Manual, Volume 2, so that the test does not ask the code under
 * test; but for the nops, of which the kernel uses one of each length.
 */

#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <asm/nops.h>
#include <asm/processor-flags.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/text-patching.h>

#include "arch_test.h"

#define TEXT_POKE_TEST_ALIGN	1

/*
 * Instructions, and what the backend says about them: name, bytes, length,
 * return value, atomic, foreign, padded.  None of them is atomic.
 */
#define TEXT_POKE_TEST_INSNS {						\
	{ "nop", { BYTES_NOP1 }, 1 },					\
	{ "nop2", { BYTES_NOP2 }, 2 },					\
	{ "nop3", { BYTES_NOP3 }, 3 },					\
	{ "nop4", { BYTES_NOP4 }, 4 },					\
	{ "nop5", { BYTES_NOP5 }, 5 },					\
	{ "nop6", { BYTES_NOP6 }, 6 },					\
	{ "nop7", { BYTES_NOP7 }, 7 },					\
	{ "nop8", { BYTES_NOP8 }, 8 },					\
	{ "jmp .", { 0xeb, 0xfe }, 2 },					\
	{ "jmp . + 0x81", { 0xeb, 0x7f }, 2 },				\
	{ "jmp . - 0x7e", { 0xeb, 0x80 }, 2 },				\
	{ "jmp padded", { 0xeb, 0x10, 0xcc, 0xcc, 0xcc }, 5,		\
	  .padded = true },						\
	{ "jmp.d32 next", { 0xe9, 0x00, 0x00, 0x00, 0x00 }, 5 },	\
	{ "jmp.d32 ahead", { 0xe9, 0xff, 0xff, 0xff, 0x7f }, 5 },	\
	{ "jmp.d32 back", { 0xe9, 0x00, 0x00, 0x00, 0x80 }, 5 },	\
	{ "call next", { 0xe8, 0x00, 0x00, 0x00, 0x00 }, 5 },		\
	{ "call ahead", { 0xe8, 0xff, 0xff, 0xff, 0x7f }, 5 },		\
	{ "call back", { 0xe8, 0x00, 0x00, 0x00, 0x80 }, 5 },		\
	{ "ret", { 0xc3 }, 1 },						\
	{ "ret padded", { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc }, 5,		\
	  .padded = true },						\
	{ "ret padded to 3", { 0xc3, 0xcc, 0xcc }, 3, .padded = true },	\
	{ "ret padded to 4", { 0xc3, 0xcc, 0xcc, 0xcc }, 4,		\
	  .padded = true },						\
	{ "ret padded to 7", { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc }, \
	  7, .padded = true },						\
	{ "ret padded to 8", { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, \
	  0xcc }, 8, .padded = true },					\
	{ "jo . + 0x12", { 0x70, 0x10 }, 2 },				\
	{ "jo ahead", { 0x0f, 0x80, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jno . - 2", { 0x71, 0xfc }, 2 },				\
	{ "jno back", { 0x0f, 0x81, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "jb . + 0x12", { 0x72, 0x10 }, 2 },				\
	{ "jb ahead", { 0x0f, 0x82, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jnb . - 2", { 0x73, 0xfc }, 2 },				\
	{ "jnb back", { 0x0f, 0x83, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "jz . + 0x12", { 0x74, 0x10 }, 2 },				\
	{ "jz ahead", { 0x0f, 0x84, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jnz . - 2", { 0x75, 0xfc }, 2 },				\
	{ "jnz back", { 0x0f, 0x85, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "jbe . + 0x12", { 0x76, 0x10 }, 2 },				\
	{ "jbe ahead", { 0x0f, 0x86, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jnbe . - 2", { 0x77, 0xfc }, 2 },				\
	{ "jnbe back", { 0x0f, 0x87, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "js . + 0x12", { 0x78, 0x10 }, 2 },				\
	{ "js ahead", { 0x0f, 0x88, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jns . - 2", { 0x79, 0xfc }, 2 },				\
	{ "jns back", { 0x0f, 0x89, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "jp . + 0x12", { 0x7a, 0x10 }, 2 },				\
	{ "jp ahead", { 0x0f, 0x8a, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jnp . - 2", { 0x7b, 0xfc }, 2 },				\
	{ "jnp back", { 0x0f, 0x8b, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "jl . + 0x12", { 0x7c, 0x10 }, 2 },				\
	{ "jl ahead", { 0x0f, 0x8c, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jnl . - 2", { 0x7d, 0xfc }, 2 },				\
	{ "jnl back", { 0x0f, 0x8d, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "jle . + 0x12", { 0x7e, 0x10 }, 2 },				\
	{ "jle ahead", { 0x0f, 0x8e, 0xff, 0xff, 0xff, 0x7f }, 6 },	\
	{ "jnle . - 2", { 0x7f, 0xfc }, 2 },				\
	{ "jnle back", { 0x0f, 0x8f, 0x00, 0x00, 0x00, 0x80 }, 6 },	\
	{ "int3", { 0xcc }, 1, .foreign = true },			\
	{ "two instructions", { 0x90, 0x90 }, 2, -EINVAL },		\
	{ "nop padded", { 0x90, 0xcc }, 2, -EINVAL },			\
	{ "call padded", { 0xe8, 0, 0, 0, 0, 0xcc }, 6, -EINVAL },	\
	{ "ret, then ret", { 0xc3, 0xc3 }, 2, -EINVAL },		\
	{ "push", { 0x55 }, 1, -EOPNOTSUPP },				\
	{ "ret $8", { 0xc2, 0x08, 0x00 }, 3, -EOPNOTSUPP },		\
	{ "iret", { 0xcf }, 1, -EOPNOTSUPP },				\
	{ "hlt", { 0xf4 }, 1, -EOPNOTSUPP },				\
	{ "loop", { 0xe2, 0x10 }, 2, -EOPNOTSUPP },			\
	{ "jmp.d32 with prefix", { 0x2e, 0xe9, 0, 0, 0, 0 }, 6,		\
	  -EOPNOTSUPP },						\
	{ "mov $1, %eax", { 0xb8, 0x01, 0x00, 0x00, 0x00 }, 5,		\
	  -EOPNOTSUPP },						\
	{ "ud2", { 0x0f, 0x0b }, 2, -EOPNOTSUPP },			\
	{ "static call that returns 0", { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 }, \
	  5, -EOPNOTSUPP, .found = true },				\
	{ "static call to nothing", { 0xc3, 0xcc, 0x90, 0x90, 0x90 }, 5, \
	  -EINVAL, .found = true }					\
}

/* The alias is in an address space that one CPU has loaded, among its users'. */
#define TEXT_POKE_TEST_ALIAS_IS_SHARED	false

#define text_poke_test_rewrite text_poke_test_rewrite
/* copy_from_user_nofault() would refuse an address space that is no task's. */
static inline bool text_poke_test_rewrite(void *alias)
{
	void __user *to = (void __user *)alias;
	bool good;
	u8 byte;

	pagefault_disable();
	good = !__copy_from_user_inatomic(&byte, to, 1) &&
	       !__copy_to_user_inatomic(to, &byte, 1);
	pagefault_enable();
	return good;
}

/* The kernel's own encoders. */
static inline void text_poke_test_gen_jump(void *insn, const void *from,
					   const void *to)
{
	memcpy(insn, text_gen_insn(JMP32_INSN_OPCODE, from, to),
	       JMP32_INSN_SIZE);
}

static inline void text_poke_test_gen_call(void *insn, const void *from,
					   const void *to)
{
	memcpy(insn, text_gen_insn(CALL_INSN_OPCODE, from, to),
	       CALL_INSN_SIZE);
}

/* @regs are random; make them those of a CPU that has trapped at @addr. */
static inline void text_poke_test_trapped(struct pt_regs *regs, void *addr,
					  void *stack)
{
	regs->ip = (unsigned long)addr;
	regs->sp = (unsigned long)stack;
	regs->cs = __KERNEL_CS;
	regs->flags |= X86_EFLAGS_FIXED;
}

/* The condition of Jcc, by the low bits of its opcode; odd is the opposite. */
static inline bool text_poke_test_cond(unsigned long flags, u8 cc)
{
	bool cf = flags & BIT(0), pf = flags & BIT(2), zf = flags & BIT(6);
	bool sf = flags & BIT(7), of = flags & BIT(11);
	bool result[] = { of, cf, zf, cf || zf, sf, pf, sf != of,
			  zf || sf != of };

	return result[(cc & 0xf) >> 1] != (cc & 1);
}

/* The displacement of @size bytes at the end of an instruction. */
static inline long text_poke_test_disp(const u8 *end, int size)
{
	s32 disp;

	if (size == 1)
		return (s8)end[-1];
	memcpy(&disp, end - sizeof(disp), sizeof(disp));
	return disp;
}

static inline bool text_poke_test_is_nop(const u8 *insn, size_t len)
{
	static const u8 nops[][9] = {
		{ 0 }, { BYTES_NOP1 }, { BYTES_NOP2 }, { BYTES_NOP3 },
		{ BYTES_NOP4 }, { BYTES_NOP5 }, { BYTES_NOP6 },
		{ BYTES_NOP7 }, { BYTES_NOP8 },
	};

	return !memcmp(insn, nops[len], len);
}

/* The length of the instruction that @opcode begins; 0: not a known one. */
static inline size_t text_poke_test_length(const u8 *insn, size_t len)
{
	switch (insn[0]) {
	case 0xe8:
	case 0xe9:
		return 5;
	case 0xeb:
	case 0x70 ... 0x7f:
		return 2;
	case 0xc3:
		return 1;
	case 0x0f:
		return len > 1 && (insn[1] & 0xf0) == 0x80 ? 6 : 0;
	}
	return 0;
}

/* JMP and RET may have INT3 after them. */
static inline bool text_poke_test_fits(const u8 *insn, size_t len, size_t own)
{
	bool goes = insn[0] == 0xe9 || insn[0] == 0xeb || insn[0] == 0xc3;

	if (!own || own > len)
		return false;
	for (; goes && own < len; own++)
		if (insn[own] != 0xcc)
			return false;
	return own == len;
}

/* None of them changes flags or any other register but the stack pointer. */
static inline bool text_poke_test_reference(struct pt_regs *regs, void *addr,
					    const u8 *insn, size_t len)
{
	size_t own = text_poke_test_length(insn, len);
	unsigned long next = (unsigned long)addr + own;
	unsigned long *stack = (unsigned long *)regs->sp;

	if (text_poke_test_is_nop(insn, len)) {
		regs->ip = (unsigned long)addr + len;
		return true;
	}
	if (!text_poke_test_fits(insn, len, own))
		return false;

	regs->ip = next;
	if (insn[0] == 0xc3) {
		regs->ip = *stack;
		regs->sp += sizeof(*stack);
	} else if (insn[0] == 0xe8) {
		*--stack = next;
		regs->sp -= sizeof(*stack);
		regs->ip += text_poke_test_disp(insn + own, 4);
	} else if (insn[0] == 0xe9 || insn[0] == 0xeb) {
		regs->ip += text_poke_test_disp(insn + own, own - 1);
	} else if (text_poke_test_cond(regs->flags, insn[own == 6])) {
		regs->ip += text_poke_test_disp(insn + own, own == 6 ? 4 : 1);
	}
	return true;
}

/* Most of them of one that is emulated; the rest are any bytes. */
static inline void text_poke_test_random(u8 *insn, u8 *len, u32 a, u32 b)
{
	static const u8 opcodes[][2] = {
		{ 0xe8, 5 }, { 0xe9, 5 }, { 0xeb, 2 }, { 0xc3, 1 },
		{ 0x70, 2 }, { 0x0f, 6 },
	};
	u8 kind = b % 8;

	memcpy(insn + 2, &a, sizeof(a));
	insn[0] = b >> 8;
	insn[1] = b >> 16;
	*len = 1 + (b >> 24) % 6;
	if (kind >= ARRAY_SIZE(opcodes))
		return;

	insn[0] = opcodes[kind][0];
	*len = opcodes[kind][1];
	if (insn[0] == 0x70)
		insn[0] |= insn[1] >> 4;
	if (insn[0] == 0x0f)
		insn[1] = 0x80 | (insn[1] & 0xf);
}

#endif /* _TEXT_POKE_ARCH_CONFORMANCE_H */
