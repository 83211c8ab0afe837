/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_POWERPC_TEXT_ALIAS_H
#define _ASM_POWERPC_TEXT_ALIAS_H

#include <linux/spinlock_types.h>
#include <linux/types.h>

#include <asm/page.h>

struct mm_struct;

/**
 * struct text_alias - a page of kernel text that is mapped for writing
 * @prev_mm:	the mm to go back to; NULL if the alias is in the kernel's
 * @pte:	the entry of the alias; NULL if there is none, and the text
 *		itself is written to
 * @ptl:	the lock of @pte, if in an mm of its own
 * @addr:	the page of the alias
 * @flags:	interrupt flags from before
 */
struct text_alias {
	struct mm_struct *prev_mm;
	pte_t *pte;
	spinlock_t *ptl;
	unsigned long addr;
	unsigned long flags;
};

void *text_alias_map(void *addr, size_t *len, struct text_alias *alias);
void text_alias_unmap(struct text_alias *alias);

#endif /* _ASM_POWERPC_TEXT_ALIAS_H */
