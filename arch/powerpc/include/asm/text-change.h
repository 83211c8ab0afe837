/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_POWERPC_TEXT_CHANGE_H
#define _ASM_POWERPC_TEXT_CHANGE_H

/*
 * Changing instructions that other CPUs may run, with text_mutex held.
 *
 * Where there is the text poke core, which is on 64-bit little-endian Book3S,
 * what is added is written by change_text_finish(), all of it or nothing.
 * Elsewhere each instruction is written when it is added, and other CPUs are not
 * told, as it has always been.
 */

#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/text_poke.h>
#include <linux/uaccess.h>

#include <asm/code-patching.h>

#ifdef CONFIG_TEXT_POKE
static inline int verify_text(const u32 *addr, u32 insn)
{
	return text_poke_verify(addr, &insn, sizeof(insn));
}

static inline int change_text_add(u32 *addr, u32 old, u32 new)
{
	return text_poke_batch_add(addr, &old, &new, sizeof(new), NULL);
}

static inline int change_text_finish(void)
{
	return text_poke_batch_finish();
}

static inline void change_text_cancel(void)
{
	text_poke_batch_cancel();
}

/* Of text that no CPU can be executing. */
static inline int change_text_early(u32 *addr, u32 old, u32 new)
{
	return text_poke_early(addr, &old, &new, sizeof(new));
}

/* Text that is about to be freed, and need not be changed any more. */
static inline bool change_text_is_futile(const u32 *addr)
{
	return text_poke_is_dying((unsigned long)addr);
}

/* Is the trap of a probe handled there? */
static inline bool change_text_can_trap(const void *addr)
{
	return arch_text_poke_trappable(addr);
}

static inline void change_text_failed(const char *what, const void *where,
				      int error)
{
	text_poke_failed(what, where, error);
}
#else
static inline int verify_text(const u32 *addr, u32 insn)
{
	u32 found;

	if (get_kernel_nofault(found, addr))
		return -EFAULT;
	return found == insn ? 0 : -EILSEQ;
}

static inline int change_text_add(u32 *addr, u32 old, u32 new)
{
	int ret = verify_text(addr, old);

	/* A branch that does not reach */
	if (!new)
		return -ERANGE;
	return ret ?: patch_uint(addr, new);
}

static inline int change_text_finish(void)
{
	return 0;
}

static inline void change_text_cancel(void) { }

static inline int change_text_early(u32 *addr, u32 old, u32 new)
{
	return change_text_add(addr, old, new);
}

static inline bool change_text_is_futile(const u32 *addr)
{
	return false;
}

static inline bool change_text_can_trap(const void *addr)
{
	return true;
}

static inline void change_text_failed(const char *what, const void *where,
				      int error)
{
	WARN_ONCE(1, "%s at %pS: error %d\n", what, where, error);
}
#endif

#endif /* _ASM_POWERPC_TEXT_CHANGE_H */
