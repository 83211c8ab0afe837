/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __ASM_TEXT_POKE_H
#define __ASM_TEXT_POKE_H

#include <linux/linkage.h>
#include <linux/types.h>

#include <asm/bug.h>
#include <asm/fixmap.h>
#include <asm/insn-emulate.h>
#include <asm/page.h>
#include <asm/tlbflush.h>

struct text_poke_site;

/*
 * With compressed instructions any of them may begin on a 2-byte boundary, and
 * be no longer than that: the trap is C.EBREAK then, and EBREAK otherwise.
 */
#ifdef CONFIG_RISCV_ISA_C
#define TEXT_POKE_UNIT		2
#define TEXT_POKE_TRAP_INSN	__BUG_INSN_16
#else
#define TEXT_POKE_UNIT		4
#define TEXT_POKE_TRAP_INSN	__BUG_INSN_32
#endif

/* An instruction; ftrace keeps 8-byte literals in the text. */
#define TEXT_POKE_MAX		8

/* The instruction, and traps up to the end. */
#define TEXT_POKE_SLOT		8

/* The fixmap has room for two pages. */
#define TEXT_POKE_WINDOW	(2 * PAGE_SIZE)

/**
 * struct arch_text_poke_insn - what the trap handler emulates
 * @insn:	the instruction; one of 16 bits is in the lower half
 * @how:	how to emulate it
 */
struct arch_text_poke_insn {
	u32 insn;
	enum riscv_insn_emulation how;
};

/**
 * struct arch_text_poke_map - the alias that is mapped
 * @addr:	the text,
 * @len:	and how much of it
 * @flags:	interrupt flags from before
 */
struct arch_text_poke_map {
	void *addr;
	size_t len;
	unsigned long flags;
};

asmlinkage void handle_exception(void);
asmlinkage void ret_from_exception(void);

bool arch_text_poke_atomic(const struct text_poke_site *site);
#define arch_text_poke_atomic arch_text_poke_atomic

bool arch_text_poke_maybe_bug(const struct text_poke_site *site);
#define arch_text_poke_maybe_bug arch_text_poke_maybe_bug

void arch_text_poke_sync(void);
#define arch_text_poke_sync arch_text_poke_sync

void arch_text_poke_slots_written(void);
#define arch_text_poke_slots_written arch_text_poke_slots_written

/*
 * Neither a trap nor an atomic operation has this CPU refetch.  And it forgets the
 * alias, as arch_text_poke_sync_cpu() does, of which this is a copy that nothing
 * can be called from.
 */
static __always_inline void arch_text_poke_catch_up(void)
{
#ifdef CONFIG_MMU
	ALT_SFENCE_VMA_ADDR(__fix_to_virt(FIX_TEXT_POKE0));
	ALT_SFENCE_VMA_ADDR(__fix_to_virt(FIX_TEXT_POKE1));
#endif
	asm volatile("fence.i" : : : "memory");
}

#endif /* __ASM_TEXT_POKE_H */
