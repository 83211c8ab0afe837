// SPDX-License-Identifier: GPL-2.0
/*
 * powerpc: the branch that is encoded goes where it was asked to go
 *
 * source arch/powerpc/include/asm/code-patching.h
 *
 * Proved of create_branch(), which jump labels, ftrace and kprobes use, for every
 * address, target and flags:
 *
 *   - It fails, and gives zeros, which the core refuses, if and only if b cannot
 *     get there: beyond 32 MiB, or at no multiple of 4.
 *   - What it gives otherwise is b, bl, ba or bla, as asked, and gets there, with
 *     the return address in LR if that was asked for, and no other change.
 *
 * Stubs: the registers; kernel.h.
 *
 * proof branch
 *
 * mutant range-low in branch: "offset >= -0x2000000" -> "offset > -0x2000000"
 * mutant range-high in branch: "offset <= 0x1fffffc" -> "offset <= 0x2000000"
 * mutant range-short in branch: "offset <= 0x1fffffc" -> "offset < 0x1fffffc"
 * mutant odd in branch: "offset <= 0x1fffffc && !(offset & 0x3)"
 *	-> "offset <= 0x1fffffc && !(offset & 0x1)"
 * mutant no-mark in branch: "*instr = ppc_inst(0);" -> "*instr = ppc_inst(4);"
 * mutant backwards in branch: "offset = offset - (unsigned long)addr;"
 *	-> "offset = (unsigned long)addr - offset;"
 * mutant absolute in branch: "if (! (flags & BRANCH_ABSOLUTE))" -> "if (1)"
 * mutant link in branch: "(flags & 0x3)" -> "(flags & 0x2)"
 * mutant mask in branch: "(offset & 0x03FFFFFC)" -> "(offset & 0x01FFFFFC)"
 * mutant opcode in branch: "ppc_inst(0x48000000 |" -> "ppc_inst(0x40000000 |"
 */
#include "kernel.h"
#include "powerpc.h"

#define _ASM_POWERPC_ASM_COMPAT_H
#define _ASM_POWERPC_PPC_OPCODE_H
#define _ASM_POWERPC_TYPES_H
#define _LINUX_KALLSYMS_H

#define ppc_inst(x)	((ppc_inst_t){ .val = (x) })

u32 ppc_inst_val(ppc_inst_t insn)
{
	return insn.val;
}

int ppc_inst_primary_opcode(ppc_inst_t insn)
{
	return insn.val >> 26;
}

unsigned long kallsyms_lookup_name(const char *name);

#include <asm/code-patching.h>

/* Is @offset a number of @bits bits, with a sign? */
static bool fits(s64 offset, int bits)
{
	return offset >> (bits - 1) == offset >> 63;
}

void branch(void)
{
	unsigned long from, to, distance;
	struct pt_regs cpu, want;
	ppc_inst_t insn;
	bool reachable;
	int flags, ret;

	assume(!(flags & ~3));
	ret = create_branch(&insn, (u32 *)from, to, flags);

	distance = flags & BRANCH_ABSOLUTE ? to : to - from;
	reachable = !(distance & 3) && fits(distance, 26);
	prove(!ret == reachable, "an error, where there is no such branch");
	prove((insn.val == 0) == !reachable, "zeros with the error");
	assume(reachable);

	prove(kind_of(insn.val) == B, "it is an I-form branch");
	assume(cpu.msr & MSR_64BIT);
	cpu.nip = from;
	want = cpu;
	execute(&cpu, B, insn.val);
	want.nip = to;
	if (flags & BRANCH_SET_LINK)
		want.link = from + 4;
	prove(same(&cpu, &want), "it goes to its target, and leaves the link");
}
