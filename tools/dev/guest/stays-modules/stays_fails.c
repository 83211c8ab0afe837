// SPDX-License-Identifier: GPL-2.0
/*
 * One more function for stays_key's static call.  It cannot be exchanged for another,
 * and then the init of the module fails, so that nothing can keep it.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "stays.h"

static int one_answer(void)
{
	return 3;
}

static int other_answer(void)
{
	return 4;
}

/* stays.sh has prepared that text cannot be mapped by a task that fails. */
static int __init stays_fails_init(void)
{
	static_call_update(stays, one_answer);
	current->make_it_fail = 1;
	static_call_update(stays, other_answer);
	current->make_it_fail = 0;
	return -ENODEV;
}

module_init(stays_fails_init);
MODULE_DESCRIPTION("A static call's function whose module does not come");
MODULE_LICENSE("GPL");
