/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __ASM_TEXT_POKE_H
#define __ASM_TEXT_POKE_H

#include <linux/types.h>

#include <asm/barrier.h>
#include <asm/brk-imm.h>
#include <asm/insn-emulate.h>

struct text_poke_site;

/* An instruction is one unit; ftrace keeps 8-byte literals in the text. */
#define TEXT_POKE_UNIT		AARCH64_INSN_SIZE
#define TEXT_POKE_MAX		8

#define TEXT_POKE_BRK_INSN	(AARCH64_BREAK_MON | (TEXT_POKE_BRK_IMM << 5))

/**
 * struct arch_text_poke_insn - what the trap handler emulates
 * @insn:	the instruction, in CPU byte order
 * @how:	how to emulate it
 */
struct arch_text_poke_insn {
	u32 insn;
	enum aarch64_insn_emulation how;
};

/**
 * struct arch_text_poke_map - the alias that is mapped
 * @flags:	interrupt flags from before
 */
struct arch_text_poke_map {
	unsigned long flags;
};

bool arch_text_poke_listed(u32 insn);

bool arch_text_poke_atomic(const struct text_poke_site *site);
#define arch_text_poke_atomic arch_text_poke_atomic

/* The trap is on the list, and no conditional branch. */
bool arch_text_poke_guardable(const struct text_poke_site *site);
#define arch_text_poke_guardable arch_text_poke_guardable

bool arch_text_poke_trappable(const void *addr);
#define arch_text_poke_trappable arch_text_poke_trappable

void arch_text_poke_fetch_mb(void);
#define arch_text_poke_fetch_mb arch_text_poke_fetch_mb

bool arch_text_poke_maybe_bug(const struct text_poke_site *site);
#define arch_text_poke_maybe_bug arch_text_poke_maybe_bug

#define TEXT_POKE_HAS_ENTRY_TEXT

/*
 * An exception from user mode is a context synchronisation event, but it comes
 * too early: this CPU may have fetched ahead before RCU watches, and until then
 * the poker takes it to be in user mode.
 */
static __always_inline void arch_text_poke_catch_up(void)
{
	isb();
}

#endif /* __ASM_TEXT_POKE_H */
