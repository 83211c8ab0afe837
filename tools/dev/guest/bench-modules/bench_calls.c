// SPDX-License-Identifier: GPL-2.0
/*
 * A module with many static calls, each with a call site.  They are not called:
 * what counts is what the kernel does with them while the module is loaded.
 */
#include <linux/module.h>
#include <linux/static_call.h>

#include "many.h"

int bench_calls_all(int nr);

static noinline int one_more(int nr)
{
	return nr + 1;
}

#define DEFINE(name)	DEFINE_STATIC_CALL(bench_##name, one_more);
#define CALL(name)	nr = static_call(bench_##name)(nr);

FIVE_HUNDRED(DEFINE)

/* Not static, so that it stays. */
int bench_calls_all(int nr)
{
	FIVE_HUNDRED(CALL)
	return nr;
}

MODULE_DESCRIPTION("Many static calls");
MODULE_LICENSE("GPL");
