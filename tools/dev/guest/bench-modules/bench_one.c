// SPDX-License-Identifier: GPL-2.0
/*
 * A static key with one site and a static call with one, each switched by a
 * parameter of this module.
 */
#include <linux/jump_label.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/static_call.h>

int bench_one_key_site(int nr);
int bench_one_call_site(int nr);

static noinline int one_more(int nr)
{
	return nr + 1;
}

static noinline int one_less(int nr)
{
	return nr - 1;
}

static DEFINE_STATIC_KEY_FALSE(one_key);
DEFINE_STATIC_CALL(bench_one_call, one_more);

/* Not static, so that they stay; and apart, so that the compiler doubles neither site. */
int bench_one_key_site(int nr)
{
	if (static_branch_unlikely(&one_key))
		nr++;
	return nr;
}

int bench_one_call_site(int nr)
{
	return static_call(bench_one_call)(nr) + 1;
}

static int key_set(const char *text, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret)
		return ret;
	if (on)
		static_branch_enable(&one_key);
	else
		static_branch_disable(&one_key);
	return 0;
}

static int call_set(const char *text, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (!ret)
		static_call_update(bench_one_call, on ? one_less : one_more);
	return ret;
}

static const struct kernel_param_ops key_ops = { .set = key_set };
static const struct kernel_param_ops call_ops = { .set = call_set };

module_param_cb(key, &key_ops, NULL, 0200);
module_param_cb(call, &call_ops, NULL, 0200);

MODULE_DESCRIPTION("One static key and one static call");
MODULE_LICENSE("GPL");
