// SPDX-License-Identifier: GPL-2.0
/*
 * A bit of everything that changes text, booted with other parameters each time.
 */
#include "../tp.h"

#define NAME "28-boot-matrix"

static int add_probes(void)
{
	int nr = 0;

	for (int off = 0; off < 120 && nr < 16; off++)
		nr += !put(T "kprobe_events", "p:k%d vfs_read+%d\n", nr, off);
	return nr;
}

static long a_bit_of_everything(int number)
{
	long bad = 0;

	for (int k = 0; k < 30; k++)
		bad += !!put(SCHEDSTATS, "%d", k & 1);
	bad += !!put(T "current_tracer", number & 1 ? "function" : "function_graph");
	bad += !!put(T "events/kprobes/enable", "1");
	bad += reads(100) + (hits("k0") < 100);
	bad += !!put(T "events/kprobes/enable", "0");
	bad += !!put(T "current_tracer", "nop");
	/* Where there is one */
	online(1, 0);
	online(1, 1);
	return bad;
}

int main(void)
{
	long bad = 0;
	int nr;

	begin();
	printf("%s", get("/proc/cmdline"));
	listen_all();
	put(T "tracing_on", "0");
	load();
	nr = add_probes();
	for (int i = 0; i < 3; i++)
		bad += a_bit_of_everything(i);
	over = 1;
	put(SCHEDSTATS, "1");
	no_probes();
	printf("%d probes, %zu records\n", nr, nr_evs);
	return done(NAME, bad + !nr + verify() + complaints());
}
