// SPDX-License-Identifier: GPL-2.0
/*
 * The trap path: what a CPU runs from a trap to the end of the core's handler,
 * and on the way back.
 *
 * A trap in there leads back to the beginning of the same path, again and again
 * until the stack is full.  So no site in it ever gets one.  ftrace and kprobes
 * stay out of noinstr code by themselves; jump labels, static calls and all
 * other users do not.
 *
 * How long the functions are is known to kernels with KALLSYMS only.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/text_poke.h>

#include "internal.h"

static struct text_poke_function trap_path[] __ro_after_init = {
	{ text_poke_handle_trap },
	{ arch_text_poke_trap_addr },
	{ arch_text_poke_is_trap },
	{ arch_text_poke_emulate },
	{ }
};

static bool is_in(const struct text_poke_function *function, const void *addr)
{
	for (; function->start; function++)
		if (addr >= function->start &&
		    addr < function->start + function->size)
			return true;
	return false;
}

/**
 * text_poke_in_trap_path - would a trap at this address lead back to itself?
 * @addr:	an address in kernel text
 *
 * Context: Any.
 * Return: true if so.  Always false before early initcalls, one of which looks
 * the sizes up.
 */
bool text_poke_in_trap_path(const void *addr)
{
	return is_in(trap_path, addr) || is_in(arch_text_poke_trap_path, addr);
}

static void __init find_sizes(struct text_poke_function *function)
{
	for (; function->start; function++)
		kallsyms_lookup_size_offset((unsigned long)function->start,
					    &function->size, NULL);
}

static int __init find_trap_path(void)
{
	find_sizes(trap_path);
	find_sizes(arch_text_poke_trap_path);
	return 0;
}
early_initcall(find_trap_path);
