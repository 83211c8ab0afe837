// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.ftrace_enabled goes off and on under a tracer and a probe at a function's entry, which
 * on x86 is a tracer as well. Off, the calls are nops and nothing counts; on, all count again,
 * and no call is left or missing.
 */
#include "../tp.h"

#define NAME "13-ftrace-enabled"
#define SYSCTL "/proc/sys/kernel/ftrace_enabled"

/* What comes while it is off is not armed yet. */
static void come_again(void)
{
	put(T "current_tracer", "nop");
	put(T "current_tracer", "function");
	put(T "events/kprobes/e/enable", "0");
	put(T "events/kprobes/e/enable", "1");
}

static long off_and_on(int number)
{
	long bad = !!put(SYSCTL, "0"), before;

	if (number % 3 == 1)
		come_again();
	put(SCHEDSTATS, "%d", number & 1);
	bad += !!put(SYSCTL, "1");
	before = hits("e");
	return bad + reads(100) + (hits("e") < before + 100);
}

static long traces(void)
{
	clear(T "trace");
	reads(100);
	over = 1;
	put(T "tracing_on", "0");
	return strstr(get(T "trace"), "vfs_read") ? 0 : 1;
}

int main(void)
{
	long bad;

	begin();
	if (access(SYSCTL, W_OK))
		return skip(NAME, "the kernel has no function tracer");
	listen_all();
	put(T "set_ftrace_filter", "vfs_*");
	bad = !!put(T "kprobe_events", "p:e vfs_read\n");
	bad += !!put(T "events/kprobes/e/enable", "1") + !!put(T "current_tracer", "function");
	load();
	for (int i = 0; i < 15; i++)
		bad += off_and_on(i);
	bad += traces();
	printf("probe hit %ld times\n", hits("e"));
	put(T "current_tracer", "nop");
	no_probes();
	put(SCHEDSTATS, "1");
	return done(NAME, bad + verify() + complaints());
}
