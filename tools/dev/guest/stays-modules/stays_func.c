// SPDX-License-Identifier: GPL-2.0
/* Another function for stays_key's static call, which calls it once this is loaded. */
#include <linux/module.h>
#include <linux/static_call.h>

#include "stays.h"

static int another_answer(void)
{
	return 2;
}

static int __init stays_func_init(void)
{
	static_call_update(stays, another_answer);
	return 0;
}

/* That it is called no more is for stays.sh to see to. */
static void __exit stays_func_exit(void)
{
}

module_init(stays_func_init);
module_exit(stays_func_exit);
MODULE_DESCRIPTION("Another function for a static call");
MODULE_LICENSE("GPL");
