// SPDX-License-Identifier: GPL-2.0
/*
 * Built against the packages' headers, for installed.sh: as long as it is enabled,
 * /proc/uptime has one word only.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static int show_word(struct seq_file *file, void *unused)
{
	seq_puts(file, "replaced\n");
	return 0;
}

static struct klp_func functions[] = {
	{ .old_name = "uptime_proc_show", .new_func = show_word },
	{ }
};

static struct klp_object objects[] = {
	{ .funcs = functions },	/* of the kernel itself */
	{ }
};

static struct klp_patch uptime_patch = {
	.mod	= THIS_MODULE,
	.objs	= objects,
};

static int __init textpoke_livepatch_init(void)
{
	return klp_enable_patch(&uptime_patch);
}

static void __exit textpoke_livepatch_exit(void)
{
}

module_init(textpoke_livepatch_init);
module_exit(textpoke_livepatch_exit);
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Replace a function of the kernel while it is called");
MODULE_LICENSE("GPL");
