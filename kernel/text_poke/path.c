// SPDX-License-Identifier: GPL-2.0
/*
 * The trap path: what a CPU runs from a trap to the end of the core's handler.
 *
 * A trap in there leads back to the beginning of the same path, again and again
 * until the stack is full.  So no site in it ever gets one.  ftrace and kprobes
 * stay out of noinstr code by themselves; jump labels, static calls and whoever
 * else pokes do not.
 *
 * Much of it is static or assembly, so it is known by name, and only to kernels
 * with KALLSYMS.  What the compiler has inlined is part of its caller.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/text_poke.h>

#include "busted.h"
#include "internal.h"

static const char * const names[] __initconst = {
	TEXT_POKE_TRAP_PATH,
	"text_poke_handle_trap",
	"arch_text_poke_trap_addr",
	"arch_text_poke_is_trap",
	"arch_text_poke_emulate",
};

/**
 * struct trap_path - a function of the path
 * @start:	its first address
 * @end:	the address behind it; 0: there is no such function
 */
static struct trap_path {
	unsigned long start;
	unsigned long end;
} trap_path[ARRAY_SIZE(names)] __ro_after_init;

/**
 * text_poke_in_trap_path - would a trap at this address lead back to itself?
 * @addr:	an address in kernel text
 *
 * Context: Any.
 * Return: true if so.  Before early initcalls, when there is no trap to be
 * handled yet, it is always false.
 */
bool text_poke_in_trap_path(const void *addr)
{
	unsigned long at = (unsigned long)addr;
	int i;

	if (busted(NO_PATH_CHECK))
		return false;
	for (i = 0; i < ARRAY_SIZE(trap_path); i++)
		if (at >= trap_path[i].start && at < trap_path[i].end)
			return true;
	return false;
}

static int __init find_trap_path(void)
{
	unsigned long start, size;
	int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		start = kallsyms_lookup_name(names[i]);
		if (!start || !kallsyms_lookup_size_offset(start, &size, NULL))
			continue;
		trap_path[i].start = start;
		trap_path[i].end = start + size;
	}
	return 0;
}
early_initcall(find_trap_path);
