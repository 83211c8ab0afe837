// SPDX-License-Identifier: GPL-2.0
/*
 * arm64: the branch that is encoded goes where it was asked to go
 *
 * source arch/arm64/lib/insn.c
 *
 * Proved of aarch64_insn_gen_branch_imm(), for every address and target:
 *
 *   - It gives the mark of failure if and only if B or BL cannot get there.
 *   - What it gives otherwise is B or BL, as asked, and gets there: by the
 *     manual, and by the kernel's own decoder.
 *
 * Stubs: the registers; kernel.h.
 *
 * proof round_trip
 *
 * mutant range-low in round_trip: "offset < -range" -> "offset <= -range"
 * mutant range-high in round_trip: "if (offset >= SZ_128M)" -> "if (offset > SZ_128M)"
 * mutant range-long in round_trip: "label_imm_common(pc, addr, SZ_128M)"
 *	-> "label_imm_common(pc, addr, SZ_256M)"
 * mutant unaligned-pc in round_trip: "(pc & 0x3) || (addr & 0x3)" -> "(addr & 0x3)"
 * mutant unaligned-target in round_trip: "(pc & 0x3) || (addr & 0x3)" -> "(pc & 0x3)"
 * mutant backwards in round_trip: "((long)addr - (long)pc)" -> "((long)pc - (long)addr)"
 * mutant link in round_trip: "case AARCH64_INSN_BRANCH_LINK:
 *		insn = aarch64_insn_get_bl_value();"
 *	-> "case AARCH64_INSN_BRANCH_LINK:
 *		insn = aarch64_insn_get_b_value();"
 * mutant width in round_trip: "mask = BIT(26) - 1;" -> "mask = BIT(25) - 1;"
 * mutant decoder in round_trip: "(imm << 6) >> 4" -> "(imm << 6) >> 5"
 */
#include "kernel.h"
#include "arm64.h"

#include <asm/insn-def.h>
#include <linux/sizes.h>

#include "arch/arm64/lib/insn.c"

void round_trip(void)
{
	enum aarch64_insn_branch_type type;
	unsigned long pc, target;
	struct pt_regs cpu;
	bool reachable;
	u32 insn;

	assume(type == AARCH64_INSN_BRANCH_LINK || type == AARCH64_INSN_BRANCH_NOLINK);
	insn = aarch64_insn_gen_branch_imm(pc, target, type);

	/* 26 bits with sign, in words, from this one. */
	reachable = !(pc & 3) && !(target & 3) &&
		    (s64)(target - pc) >> 27 == (s64)(target - pc) >> 63;
	prove((insn != AARCH64_BREAK_FAULT) == reachable,
	      "the mark of failure, where there is no such branch");
	assume(reachable);

	prove(kind_of(insn) == (type == AARCH64_INSN_BRANCH_LINK ? BL : B),
	      "it is the branch that was asked for");
	cpu.pc = pc;
	execute(&cpu, B, insn);
	prove(cpu.pc == target, "it goes to its target");
	prove(pc + aarch64_get_branch_offset(insn) == target,
	      "the kernel's decoder says so");
}
