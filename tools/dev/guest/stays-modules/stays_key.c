// SPDX-License-Identifier: GPL-2.0
/*
 * A static call: reading the parameter "answer" calls it, and writing a 1 to
 * "back" takes it back to the function that is here.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/static_call.h>

#include "stays.h"

int stays_answer(void)
{
	return 1;
}

DEFINE_STATIC_CALL(stays, stays_answer);
EXPORT_STATIC_CALL_GPL(stays);

static int answer_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", static_call(stays)());
}

static const struct kernel_param_ops answer_ops = {
	.get	= answer_get,
};

module_param_cb(answer, &answer_ops, NULL, 0400);
MODULE_PARM_DESC(answer, "What the function says that is called");

static int back_set(const char *val, const struct kernel_param *kp)
{
	static_call_update(stays, stays_answer);
	return 0;
}

static const struct kernel_param_ops back_ops = {
	.set	= back_set,
};

module_param_cb(back, &back_ops, NULL, 0200);
MODULE_PARM_DESC(back, "Let it call the function that is here");

MODULE_DESCRIPTION("A static call");
MODULE_LICENSE("GPL");
