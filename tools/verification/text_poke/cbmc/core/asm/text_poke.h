/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An architecture for the proofs about the core: a unit of two bytes, and a
 * tail of up to two.
 */
#ifndef _TEXT_POKE_CBMC_CORE_ASM_H
#define _TEXT_POKE_CBMC_CORE_ASM_H

#define TEXT_POKE_UNIT		2
#define TEXT_POKE_MAX		4
#define TEXT_POKE_WINDOW	(2 * PAGE_SIZE)

struct arch_text_poke_insn {
	u8 unused;
};

struct arch_text_poke_map {
	u8 unused;
};

struct text_poke_site;

bool arch_text_poke_atomic(const struct text_poke_site *site);
#define arch_text_poke_atomic arch_text_poke_atomic

#endif /* _TEXT_POKE_CBMC_CORE_ASM_H */
