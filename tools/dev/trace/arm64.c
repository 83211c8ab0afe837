// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "isa.h"

/* bits that are fixed of an instruction, and where its offset is, in words, of so many bits */
static const struct form {
	uint32_t mask, value;
	enum kind kind;
	int shift, bits;
} forms[] = {
	{ 0x7c000000, 0x14000000, JUMPS, 0, 26 },	/* b, bl */
	{ 0xff000000, 0x54000000, MAY_JUMP, 5, 19 },	/* b.cond */
	{ 0x7e000000, 0x34000000, MAY_JUMP, 5, 19 },	/* cbz, cbnz */
	{ 0x7e000000, 0x36000000, MAY_JUMP, 5, 14 },	/* tbz, tbnz */
	{ 0xfffff3ff, 0xd69f03e0, RETURNS, 0, 0 },	/* eret */
	{ 0xfffffbff, 0xd69f0bff, RETURNS, 0, 0 },	/* eretaa, eretab */
	{ 0xfe000000, 0xd6000000, LEAPS, 0, 0 },	/* br, blr, ret, with keys or without */
	{ 0xfffff0ff, 0xd50330df, IS_TOLD, 0, 0 },	/* isb */
};

static int64_t offset_in(uint32_t word, const struct form *form)
{
	uint64_t field = word >> form->shift & ((1u << form->bits) - 1);

	return ((int64_t)(field << (64 - form->bits)) >> (64 - form->bits)) * 4;
}

static struct insn arm64_read(uint64_t addr, const uint8_t *code, uint32_t length)
{
	struct insn insn = { GOES_ON, addr, addr + 4, 0 };
	const struct form *form;
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	for (form = forms; form < forms + sizeof(forms) / sizeof(forms[0]); form++) {
		if ((word & form->mask) != form->value)
			continue;
		insn.kind = form->kind;
		if (form->bits)
			insn.target = addr + offset_in(word, form);
		break;
	}
	return insn;
}

const struct isa arm64 = { "arm64", arm64_read };
