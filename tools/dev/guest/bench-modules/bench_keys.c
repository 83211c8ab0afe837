// SPDX-License-Identifier: GPL-2.0
/*
 * Many static keys that are on.  They have no code here: what loads
 * bench_key_sites finds every key in another state than its code.
 */
#include <linux/jump_label.h>
#include <linux/module.h>

#include "keys.h"

#define DEFINE(name) \
	DEFINE_STATIC_KEY_FALSE(bench_##name); \
	EXPORT_SYMBOL_GPL(bench_##name);
#define ENABLE(name)	static_branch_enable(&bench_##name);
#define DISABLE(name)	static_branch_disable(&bench_##name);

FIVE_HUNDRED(DEFINE)

static int __init bench_keys_init(void)
{
	FIVE_HUNDRED(ENABLE)
	return 0;
}
module_init(bench_keys_init);

static void __exit bench_keys_exit(void)
{
	FIVE_HUNDRED(DISABLE)
}
module_exit(bench_keys_exit);

MODULE_DESCRIPTION("Many static keys");
MODULE_LICENSE("GPL");
