/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86's registers, and what its instructions do to them.
 *
 * execute() is the Intel Software Developer's Manual, Volume 2, written down
 * without a look at the kernel's: CALL, Jcc, JMP, NOP and RET in 64-bit mode.
 */
#ifndef _TEXT_POKE_CBMC_X86_H
#define _TEXT_POKE_CBMC_X86_H

#define _ASM_X86_PTRACE_H

struct pt_regs {
	unsigned long ip;
	unsigned long sp;
	unsigned long flags;
	unsigned long others;
};

/* Volume 1, 3.4.3. */
#define X86_EFLAGS_CF		(1UL << 0)
#define X86_EFLAGS_PF		(1UL << 2)
#define X86_EFLAGS_ZF		(1UL << 6)
#define X86_EFLAGS_SF_BIT	7
#define X86_EFLAGS_SF		(1UL << X86_EFLAGS_SF_BIT)
#define X86_EFLAGS_OF_BIT	11
#define X86_EFLAGS_OF		(1UL << X86_EFLAGS_OF_BIT)

enum kind { OTHER, CALL, JCC8, JCC32, JMP8, JMP32, NOP, RET };

static bool starts(const u8 *bytes, const char *with, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (bytes[i] != (u8)with[i])
			return false;
	return true;
}

/* The length of a NOP from the table in its description; 0: it is none. */
static int nop_length(const u8 *bytes)
{
	if (bytes[0] == 0x90)
		return 1;
	if (starts(bytes, "\x66\x90", 2))
		return 2;
	if (starts(bytes, "\x66\x0f\x1f\x44\x00\x00", 6))
		return 6;
	if (bytes[0] != 0x0f || bytes[1] != 0x1f)
		return 0;
	if (bytes[2] == 0x00)
		return 3;
	if (starts(bytes + 2, "\x40\x00", 2))
		return 4;
	if (starts(bytes + 2, "\x44\x00\x00", 3))
		return 5;
	if (starts(bytes + 2, "\x80\x00\x00\x00\x00", 5))
		return 7;
	return starts(bytes + 2, "\x84\x00\x00\x00\x00\x00", 6) ? 8 : 0;
}

static enum kind kind_of(const u8 *bytes)
{
	switch (bytes[0]) {
	case 0xc3:
		return RET;
	case 0xe8:
		return CALL;
	case 0xe9:
		return JMP32;
	case 0xeb:
		return JMP8;
	}
	if (bytes[0] >= 0x70 && bytes[0] <= 0x7f)
		return JCC8;
	if (bytes[0] == 0x0f && bytes[1] >= 0x80 && bytes[1] <= 0x8f)
		return JCC32;
	return nop_length(bytes) ? NOP : OTHER;
}

static int length_of(enum kind kind, const u8 *bytes)
{
	switch (kind) {
	case NOP:
		return nop_length(bytes);
	case RET:
		return 1;
	case JMP8:
	case JCC8:
		return 2;
	case JCC32:
		return 6;
	default:
		return 5;
	}
}

/* The displacement at the end of an instruction of @len bytes. */
static long rel8(const u8 *bytes, int len)
{
	return (s8)bytes[len - 1];
}

static long rel32(const u8 *bytes, int len)
{
	u32 rel = bytes[len - 4] | bytes[len - 3] << 8 | bytes[len - 2] << 16 |
		  (u32)bytes[len - 1] << 24;

	return (s32)rel;
}

static long displacement(enum kind kind, const u8 *bytes)
{
	int len = length_of(kind, bytes);

	switch (kind) {
	case JMP8:
	case JCC8:
		return rel8(bytes, len);
	case CALL:
	case JMP32:
	case JCC32:
		return rel32(bytes, len);
	default:
		return 0;
	}
}

/* Volume 1, Appendix B: the condition in the low four bits of the opcode. */
static bool condition_holds(unsigned long flags, int cc)
{
	bool cf = flags & 1, pf = flags >> 2 & 1, zf = flags >> 6 & 1;
	bool sf = flags >> 7 & 1, of = flags >> 11 & 1;

	switch (cc) {
	case 0x0: return of;
	case 0x1: return !of;
	case 0x2: return cf;
	case 0x3: return !cf;
	case 0x4: return zf;
	case 0x5: return !zf;
	case 0x6: return cf || zf;
	case 0x7: return !cf && !zf;
	case 0x8: return sf;
	case 0x9: return !sf;
	case 0xa: return pf;
	case 0xb: return !pf;
	case 0xc: return sf != of;
	case 0xd: return sf == of;
	case 0xe: return zf || sf != of;
	}
	return !zf && sf == of;
}

/* Where the instruction at @addr goes if it goes. */
static unsigned long target_of(enum kind kind, const u8 *bytes, unsigned long addr)
{
	return addr + length_of(kind, bytes) + displacement(kind, bytes);
}

/* The condition of a Jcc. */
static int condition_of(enum kind kind, const u8 *bytes)
{
	return bytes[kind == JCC32] & 0xf;
}

/*
 * Execute an instruction of @kind, with the next one after it at @next and,
 * if it goes there when @condition holds, its target; @top is that of the stack.
 */
static void execute(struct pt_regs *cpu, enum kind kind, int condition,
		    unsigned long next, unsigned long target,
		    unsigned long **top)
{
	switch (kind) {
	case CALL:
		cpu->sp -= 8;
		*--*top = next;
		cpu->ip = target;
		break;
	case RET:
		cpu->sp += 8;
		cpu->ip = *(*top)++;
		break;
	case JMP8:
	case JMP32:
		cpu->ip = target;
		break;
	case JCC8:
	case JCC32:
		cpu->ip = condition_holds(cpu->flags, condition) ? target : next;
		break;
	default:
		cpu->ip = next;
		break;
	}
}

#endif /* _TEXT_POKE_CBMC_X86_H */
