// SPDX-License-Identifier: GPL-2.0
/*
 * A site for each key of bench_keys: all are on, and all have to change while
 * this module is loaded.
 */
#include <linux/module.h>

#include "keys.h"

int bench_key_sites_all(int nr);

#define TEST(name)	if (static_branch_unlikely(&bench_##name)) nr++;

/* Not static, so that it stays. */
int bench_key_sites_all(int nr)
{
	FIVE_HUNDRED(TEST)
	return nr;
}

MODULE_DESCRIPTION("Sites of many static keys");
MODULE_LICENSE("GPL");
