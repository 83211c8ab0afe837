/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_POWERPC_TEXT_POKE_H
#define _ASM_POWERPC_TEXT_POKE_H

#include <linux/types.h>

#include <asm/insn-emulate.h>
#include <asm/text-alias.h>

struct text_poke_site;

/* An instruction is one unit; a literal may have 8 bytes. */
#define TEXT_POKE_UNIT		4
#define TEXT_POKE_MAX		8

/* The instruction, and the trap. */
#define TEXT_POKE_SLOT		8

/*
 * twu r1,r1: always taken, and none of those that BUG(), kprobes, KGDB and xmon
 * have.
 */
#define TEXT_POKE_TRAP_INSN	0x7fe10808

/**
 * struct arch_text_poke_insn - what the trap handler emulates
 * @insn:	the instruction, in CPU byte order
 * @how:	how to emulate it
 */
struct arch_text_poke_insn {
	u32 insn;
	enum ppc_insn_emulation how;
};

/**
 * struct arch_text_poke_map - the alias that is mapped
 * @alias:	what lib/code-patching.c needs to take it away
 */
struct arch_text_poke_map {
	struct text_alias alias;
};

bool text_poke_program_check(struct pt_regs *regs);
void text_poke_find_untrappable(void);

bool arch_text_poke_atomic(const struct text_poke_site *site);
#define arch_text_poke_atomic arch_text_poke_atomic

bool arch_text_poke_trappable(const void *addr);
#define arch_text_poke_trappable arch_text_poke_trappable

bool arch_text_poke_maybe_bug(const struct text_poke_site *site);
#define arch_text_poke_maybe_bug arch_text_poke_maybe_bug

#endif /* _ASM_POWERPC_TEXT_POKE_H */
