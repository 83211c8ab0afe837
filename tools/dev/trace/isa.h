/* SPDX-License-Identifier: GPL-2.0 */
/* What an instruction does to the path of a CPU: all that is known here of an architecture. */
#ifndef TRACE_ISA_H
#define TRACE_ISA_H

#include <stdint.h>

enum kind {
	GOES_ON,	/* to the next instruction */
	MAY_JUMP,	/* to one fixed place */
	JUMPS,		/* there, always */
	LEAPS,		/* to wherever a register or memory says */
	RETURNS,	/* the same, from an exception */
	IS_TOLD,	/* to the next one, but a trace unit tells of it (ISB) */
};

struct insn {
	enum kind kind;
	uint64_t addr, next, target;
};

struct isa {
	const char *name;
	struct insn (*read)(uint64_t addr, const uint8_t *code, uint32_t length);
};

extern const struct isa x86, arm64;

#endif
