// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <string.h>

#include "isa.h"

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 ||
	       byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 ||
	       byte == 0x64 || byte == 0x65 || (byte & 0xf0) == 0x40;
}

/* Group 5: calls and jumps, near and far, through a register or memory. */
static bool leaps_by_group5(uint8_t modrm)
{
	unsigned int op = modrm >> 3 & 7;

	return op >= 2 && op <= 5;
}

static enum kind kind_of_two(uint8_t byte)
{
	switch (byte) {
	case 0x05:	/* syscall */
	case 0x07:	/* sysret */
	case 0x34:	/* sysenter */
	case 0x35:	/* sysexit */
		return LEAPS;
	default:
		return byte >= 0x80 && byte <= 0x8f ? MAY_JUMP : GOES_ON;
	}
}

static enum kind kind_of(const uint8_t *op)
{
	switch (*op) {
	case 0x0f:
		return kind_of_two(op[1]);
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:	/* loop, jrcxz */
		return MAY_JUMP;
	case 0xe8:
	case 0xe9:
	case 0xeb:
		return JUMPS;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcf:
		return LEAPS;
	case 0xff:
		return leaps_by_group5(op[1]) ? LEAPS : GOES_ON;
	default:
		return GOES_ON;
	}
}

/* The displacement is at the end: a byte for the short ones, else four. */
static int32_t displacement(const uint8_t *op, const uint8_t *end)
{
	int32_t value;

	if (end - op == 2)
		return (int8_t)op[1];
	memcpy(&value, end - 4, 4);
	return value;
}

static struct insn x86_read(uint64_t addr, const uint8_t *code, uint32_t length)
{
	struct insn insn = { GOES_ON, addr, addr + length, 0 };
	const uint8_t *op = code, *end = code + length;

	while (op < end - 1 && is_prefix(*op))
		op++;
	insn.kind = kind_of(op);
	if (insn.kind == MAY_JUMP || insn.kind == JUMPS)
		insn.target = insn.next + displacement(op, end);
	return insn;
}

const struct isa x86 = { "x86", x86_read };
