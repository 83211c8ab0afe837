// SPDX-License-Identifier: GPL-2.0
/*
 * Built against the packages' headers, for installed.sh: it switches a key of its
 * own as it is loaded, and is not loaded if the key does not follow.
 */
#include <linux/jump_label.h>
#include <linux/module.h>

static DEFINE_STATIC_KEY_FALSE(key);

static noinline bool is_on(void)
{
	return static_branch_unlikely(&key);
}

static bool follows(void)
{
	static_branch_enable(&key);
	if (!is_on())
		return false;
	static_branch_disable(&key);
	return !is_on();
}

static int __init textpoke_module_init(void)
{
	int i;

	for (i = 0; i < 10; i++)
		if (!follows())
			return -EIO;
	return 0;
}

static void __exit textpoke_module_exit(void)
{
}

module_init(textpoke_module_init);
module_exit(textpoke_module_exit);
MODULE_DESCRIPTION("Switch a key of its own");
MODULE_LICENSE("GPL");
