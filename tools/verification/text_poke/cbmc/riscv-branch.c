// SPDX-License-Identifier: GPL-2.0
/*
 * RISC-V: the branch that is encoded goes where it was asked to go
 *
 * source arch/riscv/include/asm/insn.h
 * source arch/riscv/include/asm/ftrace.h
 *
 * Proved of riscv_insn_gen_jal(), which jump labels and BPF use, for every
 * address, target and register:
 *
 *   - It gives zeros, which the core refuses, if and only if JAL cannot get
 *     there: beyond 1 MiB, or at an odd distance.
 *   - What it gives otherwise is JAL, and gets there: by the manual, and by the
 *     kernel's own decoder. It leaves the return address where it was asked to,
 *     and nothing else.
 *
 * Proved of to_auipc_t0() and to_jalr_t0(), which ftrace uses, for every address
 * and target that the pair can reach:
 *
 *   - They are AUIPC and JALR, and get there, with the return address in t0.
 *   - Nothing but t0 changes, by AUIPC alone or by both.
 *
 * The pair does not know how far it reaches, about 2 GiB; the kernel is smaller.
 * Nothing encodes C.J: what is changed is 4 bytes long.
 *
 * Stubs: the registers; kernel.h.
 *
 * proof jal
 * proof pair
 *
 * mutant range-low in jal: "offset < -SZ_1M" -> "offset <= -SZ_1M"
 * mutant range-high in jal: "offset >= SZ_1M" -> "offset > SZ_1M"
 * mutant range-short in jal: "offset < -SZ_1M || offset >= SZ_1M"
 *	-> "offset < -SZ_512K || offset >= SZ_512K"
 * mutant range-long in jal: "offset < -SZ_1M || offset >= SZ_1M"
 *	-> "offset < -SZ_2M || offset >= SZ_2M"
 * mutant odd in jal: "offset & 1 || offset" -> "offset"
 * mutant narrow in jal: "long offset = to - from;" -> "int offset = to - from;"
 * mutant backwards in jal: "long offset = to - from;" -> "long offset = from - to;"
 * mutant link in jal: "rd << RVG_RD_OPOFF;" -> "1 << RVG_RD_OPOFF;"
 * mutant sign in jal: "(RV_X(imm, RV_J_IMM_SIGN_OFF, 1) << RV_J_IMM_SIGN_OPOFF)"
 *	-> "0"
 * mutant bit-11 in jal: "(RV_X(imm, RV_J_IMM_11_OFF, RV_J_IMM_11_MASK) <<"
 *	-> "(RV_X(imm, RV_J_IMM_SIGN_OFF, RV_J_IMM_11_MASK) <<"
 * mutant places in jal: "#define RV_J_IMM_19_12_OPOFF	12"
 *	-> "#define RV_J_IMM_19_12_OPOFF	13"
 * mutant decoder in jal: "return RV_EXTRACT_JTYPE_IMM(insn);"
 *	-> "return RV_EXTRACT_JTYPE_IMM(insn) & GENMASK(20, 0);"
 * mutant no-carry in pair: "#define AUIPC_PAD		(0x00001000)"
 *	-> "#define AUIPC_PAD		(0x00000000)"
 * mutant carry-bit in pair: "#define JALR_SIGN_MASK		(0x00000800)"
 *	-> "#define JALR_SIGN_MASK		(0x00000400)"
 * mutant low-bits in pair: "#define JALR_OFFSET_MASK	(0x00000fff)"
 *	-> "#define JALR_OFFSET_MASK	(0x000007ff)"
 * mutant jalr-links in pair: "(0x000282e7)" -> "(0x000280e7)"
 * mutant jalr-base in pair: "(0x000282e7)" -> "(0x000302e7)"
 * mutant auipc-register in pair: "(0x00000297)" -> "(0x00000317)"
 */
#include "kernel.h"
#include "riscv.h"

#include <asm/insn.h>

/* Of ftrace only how a call is encoded, which assembly may know as well. */
#define CONFIG_DYNAMIC_FTRACE	1
#define __ASSEMBLY__
#include <asm/ftrace.h>
#undef __ASSEMBLY__

/* Is @offset a number of @bits bits, with a sign? */
static bool fits(s64 offset, int bits)
{
	return offset >> (bits - 1) == offset >> 63;
}

void jal(void)
{
	struct pt_regs cpu, before;
	unsigned long from, to;
	unsigned int rd;
	bool reachable;
	u32 insn;

	assume(rd < 32);
	insn = riscv_insn_gen_jal(rd, from, to);

	reachable = !((to - from) & 1) && fits(to - from, 21);
	prove((insn != 0) == reachable, "zeros, where there is no such branch");
	assume(reachable);

	prove(kind_of(insn) == JAL, "it is JAL");
	prove(from + riscv_insn_extract_jtype_imm(insn) == to,
	      "the kernel's decoder says so");

	cpu.epc = from;
	before = cpu;
	execute(&cpu, JAL, insn);
	before.epc = to;
	set_x(&before, rd, from + 4);
	prove(same(&cpu, &before),
	      "it goes to its target, and the link is all it leaves");
}

/* The offset is computed as in ftrace_init_nop() and site_call(). */
void pair(void)
{
	struct pt_regs cpu, before;
	unsigned long entry, target;
	unsigned int offset = target - entry;
	u32 auipc = to_auipc_t0(offset), jalr = to_jalr_t0(offset);

	/* AUIPC adds 32 bits with a sign, and JALR 12: targets are even. */
	assume(!(entry & 1) && !(target & 1));
	assume(fits(target - entry + 0x800, 32));

	prove(kind_of(auipc) == AUIPC, "the first one is AUIPC");
	prove(kind_of(jalr) == JALR, "the second one is JALR");

	cpu.epc = entry;
	before = cpu;
	execute(&cpu, AUIPC, auipc);
	before.epc = entry + FTRACE_SITE_OFFSET;
	set_x(&before, 5, x(&cpu, 5));
	prove(same(&cpu, &before), "AUIPC changes nothing but t0");

	execute(&cpu, JALR, jalr);
	before.epc = target;
	set_x(&before, 5, entry + FTRACE_RETURN_OFFSET);
	prove(same(&cpu, &before),
	      "they go to their target, with the return address in t0");
}
