/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_TEXT_ALIAS_H
#define _ASM_X86_TEXT_ALIAS_H

#include <linux/types.h>

#include <asm/pgtable_types.h>

struct mm_struct;

/*
 * The most pages that one alias has.  Interrupts are off while it is mapped, and
 * every store takes a line away from the CPUs that have it in a cache: 8 pages
 * may hold a hundred call sites.
 */
#define TEXT_ALIAS_PAGES	8

/**
 * struct text_alias - kernel text that is mapped for writing
 * @prev_mm:	the mm to go back to
 * @ptep:	the first page's entry in poking_mm
 * @flags:	interrupt flags from before
 * @nr_pages:	how many pages there are
 */
struct text_alias {
	struct mm_struct *prev_mm;
	pte_t *ptep;
	unsigned long flags;
	unsigned int nr_pages;
};

void *text_alias_map(void *addr, size_t *len, struct text_alias *alias);
void text_alias_unmap(struct text_alias *alias);

#endif /* _ASM_X86_TEXT_ALIAS_H */
