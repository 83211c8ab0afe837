/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_TEXT_POKE_H
#define _ASM_X86_TEXT_POKE_H

#include <linux/types.h>

#include <asm/sync_core.h>
#include <asm/text-alias.h>

struct text_poke_site;

/* INT3 is one byte; the longest instruction poked is Jcc.d32, with 6. */
#define TEXT_POKE_UNIT		1
#define TEXT_POKE_MAX		8

/* A mapping costs much more than a page in it. */
#define TEXT_POKE_WINDOW	((TEXT_ALIAS_PAGES - 1) * PAGE_SIZE)

/**
 * struct arch_text_poke_insn - what the trap handler emulates
 * @dest:	where it goes, if it goes
 * @opcode:	of CALL, JMP.d32, RET or a Jcc.d8; the others are mapped to these
 */
struct arch_text_poke_insn {
	unsigned long dest;
	u8 opcode;
};

/**
 * struct arch_text_poke_map - the alias that is mapped
 * @alias:	where it is mapped, and the interrupt flags from before
 * @in_place:	the text is still writable and is its own alias
 */
struct arch_text_poke_map {
	struct text_alias alias;
	bool in_place;
};

bool arch_text_poke_atomic(const struct text_poke_site *site);
#define arch_text_poke_atomic arch_text_poke_atomic

bool arch_text_poke_is_text(const void *addr);
#define arch_text_poke_is_text arch_text_poke_is_text

bool arch_text_poke_trappable(const void *addr);
#define arch_text_poke_trappable arch_text_poke_trappable

bool arch_text_poke_maybe_bug(const struct text_poke_site *site);
#define arch_text_poke_maybe_bug arch_text_poke_maybe_bug

#define TEXT_POKE_HAS_ENTRY_TEXT

/*
 * Neither what enters the kernel nor the atomic operation that makes RCU watch is
 * serializing.  Without SERIALIZE this is an IRET, which lets another NMI in;
 * exc_nmi() puts that off until it is through with the first.
 */
static __always_inline void arch_text_poke_catch_up(void)
{
	sync_core();
}

#endif /* _ASM_X86_TEXT_POKE_H */
