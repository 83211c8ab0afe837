// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in debugfs, one "name value" per line: text_poke/stats; where the
 * last traps of each CPU were, as "CPU symbol", the latest first:
 * text_poke/trapped; and for how many nanoseconds a group arms sites:
 * text_poke/arming_ns.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "internal.h"

static const struct {
	const char *name;
	const u64 *value;
} counters[] = {
	{ "pokes",		&text_poke_stats.pokes },
	{ "batches",		&text_poke_stats.batches },
	{ "direct",		&text_poke_stats.direct },
	{ "guarded",		&text_poke_stats.guarded },
	{ "stops",		&text_poke_stats.stops },
	{ "syncs",		&text_poke_stats.syncs },
	{ "mappings",		&text_poke_stats.mappings },
	{ "records",		&text_poke_stats.records },
	{ "readers_ns",		&text_poke_stats.readers_ns },
	{ "refused",		&text_poke_stats.refused },
	{ "rolled_back",	&text_poke_stats.rolled_back },
#ifdef CONFIG_TEXT_POKE_CATCH_UP
	{ "unwatched",		&text_poke_stats.unwatched },
	{ "left_alone",		&text_poke_stats.left_alone },
#endif
};

static u64 read_counter(const u64 *value)
{
	/* Written under text_mutex: it may be old and, on 32 bits, torn. */
	return data_race(*value);
}

static int stats_show(struct seq_file *m, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		seq_printf(m, "%s %llu\n", counters[i].name,
			   read_counter(counters[i].value));
	seq_printf(m, "traps %llu\n", text_poke_traps());
	seq_printf(m, "rereads %llu\n", text_poke_rereads());
	seq_printf(m, "armed_max_ns %llu\n",
		   read_counter(&text_poke_longest_armed));
	if (IS_ENABLED(CONFIG_HAVE_TEXT_POKE_STOP))
		seq_printf(m, "stop_max_ns %llu\n",
			   read_counter(&text_poke_longest_stop));
	if (IS_ENABLED(CONFIG_TEXT_POKE_DEBUG)) {
		seq_printf(m, "complaints %llu\n",
			   read_counter(&text_poke_complaints));
		seq_printf(m, "longest_map_ns %llu\n",
			   read_counter(&text_poke_longest_map));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

/* What has no symbol, as a trampoline, is told of without its address. */
static void show_symbol(struct seq_file *m, int cpu, const void *addr)
{
	char symbol[KSYM_SYMBOL_LEN] = "";

	sprint_symbol(symbol, (unsigned long)addr);
	if (!symbol[0] || !strncmp(symbol, "0x", 2))
		strscpy(symbol, "no symbol");
	seq_printf(m, "%d %s\n", cpu, symbol);
}

static void show_trapped(struct seq_file *m, int cpu)
{
	const void *addr;
	unsigned int ago;

	for (ago = 0; (addr = text_poke_trapped(cpu, ago)); ago++)
		show_symbol(m, cpu, addr);
}

static int trapped_show(struct seq_file *m, void *unused)
{
	int cpu;

	for_each_possible_cpu(cpu)
		show_trapped(m, cpu);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(trapped);

static int __init text_poke_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("text_poke", NULL);

	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("trapped", 0400, dir, NULL, &trapped_fops);
	debugfs_create_u64("arming_ns", 0600, dir, &text_poke_arming_ns);
	return 0;
}
late_initcall(text_poke_debugfs_init);
