/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_TEST_H
#define _TEXT_POKE_TEST_H

/* What the KUnit suites of the text poke core share. */

#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/memory.h>
#include <linux/text_poke.h>

#include <asm/text_poke_test.h>

struct kunit;

#define LEN TEXT_POKE_TEST_LEN

/* Hidden from the compiler, lest objtool sees references into the middle. */
static inline void *site_addr(void)
{
	void *site = text_poke_test_site;

	OPTIMIZER_HIDE_VAR(site);
	return site;
}

static inline void *field_addr(unsigned int i)
{
	void *field = text_poke_test_field;

	OPTIMIZER_HIDE_VAR(field);
	return field + i * LEN;
}

/* One change in a batch of its own. */
static inline int poke(void *addr, const void *old, const void *new, size_t len)
{
	guard(mutex)(&text_mutex);
	return text_poke_single(addr, old, new, len, NULL);
}

/* From here to the end of the case somebody listens. */
void text_poke_test_listen(struct kunit *test);

#endif /* _TEXT_POKE_TEST_H */
