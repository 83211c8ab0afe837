/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_REPLACED_H
#define _TEXT_POKE_REPLACED_H

/*
 * What the KUnit suites have in place of what the core calls.
 *
 * Without CONFIG_TEXT_POKE_KUNIT_TEST nothing is asked, and what the core calls
 * is called: it comes to the same instructions.
 *
 * Static stubs of KUnit will not do: to look for one takes a lock, which may
 * sleep with PREEMPT_RT, and may not be there with text mapped.
 */

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/sched.h>
#include <linux/text_poke.h>

typedef int text_poke_store_t(void *alias, const void *bytes, size_t len);
typedef void text_poke_record_t(const void *addr, const void *old,
				size_t old_len, const void *new,
				size_t new_len);
typedef void text_poke_warn_t(const char *what, const void *where);

/**
 * struct text_poke_replaced - what a test has in place of what the core does
 * @in:		only in this task; NULL: in none
 * @store:	for arch_text_poke_store(), if not NULL
 * @record:	for text_poke_record()
 * @warn:	for text_poke_warn()
 */
struct text_poke_replaced {
	const struct task_struct *in;
	text_poke_store_t *store;
	text_poke_record_t *record;
	text_poke_warn_t *warn;
};

/* The tests' own. */
extern struct text_poke_replaced text_poke_replaced;

/* Has a test something else in place of it? */
#define is_replaced(what)						\
	(IS_ENABLED(CONFIG_TEXT_POKE_KUNIT_TEST) &&			\
	 READ_ONCE(text_poke_replaced.in) == current &&			\
	 text_poke_replaced.what)

/* As arch_text_poke_store(). */
static inline int text_poke_store(void *alias, const void *bytes, size_t len)
{
	if (is_replaced(store))
		return text_poke_replaced.store(alias, bytes, len);
	return arch_text_poke_store(alias, bytes, len);
}

#endif /* _TEXT_POKE_REPLACED_H */
