// SPDX-License-Identifier: GPL-2.0
/*
 * x86: a kprobe has become a jump of five bytes. A second one on an instruction that the jump
 * covers makes it a breakpoint again; when that one goes, is disabled, or comes back within the
 * optimizer's delay, both count each call, and in the end the text is what it was.
 */
#include "../tp.h"

#define NAME "09-optprobe-neighbours"

/* Elsewhere a jump is longer than the shortest instruction. */
#ifdef __powerpc__
#define ONE_INSTRUCTION 1
#else
#define ONE_INSTRUCTION 0
#endif
#define MOST 64

static int at[MOST];

static int optimized(int off)
{
	char name[32], *p;

	snprintf(name, sizeof(name), "vfs_read+0x%x ", off);
	p = strstr(get(D "kprobes/list"), name);
	return p && memmem(p, strcspn(p, "\n"), "[OPTIMIZED]", 11);
}

/* Where instructions of vfs_read() begin; returns how many there are. */
static int instructions(void)
{
	int nr = 0;

	for (int off = 5; off < 160 && nr < MOST; off++)
		if (!put(T "kprobe_events", "p:t vfs_read+%d\n", off)) {
			at[nr++] = off;
			put(T "kprobe_events", "-:t\n");
		}
	return nr;
}

/* Put a probe on one; returns whether it has become a jump. */
static int becomes_jump(int off)
{
	if (put(T "kprobe_events", "p:a vfs_read+%d\n", off))
		return 0;
	put(T "events/kprobes/a/enable", "1");
	for (int tries = 0; tries < 20 && !optimized(off); tries++)
		usleep(50000);
	if (optimized(off))
		return 1;
	no_probes();
	return 0;
}

/* The first of two instructions that a jump covers; -1 if there are none. */
static int neighbours(void)
{
	int nr = instructions();

	for (int i = 0; i + 1 < nr; i++)
		if (at[i + 1] - at[i] <= 4 && becomes_jump(at[i]))
			return i;
	return -1;
}

/* The second comes, both count, the second goes, and the first goes and comes. */
static long round_of(int number, int first)
{
	long bad, a, b;

	put(T "kprobe_events", "p:b vfs_read+%d\n", at[first + 1]);
	put(T "events/kprobes/b/enable", "1");
	a = hits("a");
	b = hits("b");
	bad = reads(300);
	a = hits("a") - a;
	b = hits("b") - b;
	bad += a < 300 || b < 300 || optimized(at[first]);
	if (bad)
		printf("round %d: counts %ld and %ld\n", number, a, b);
	put(T "events/kprobes/b/enable", "0");
	put(T "kprobe_events", "-:b\n");
	usleep(number * 5000);
	put(T "events/kprobes/a/enable", "0");
	usleep(number % 8 * 8000);
	put(T "events/kprobes/a/enable", "1");
	return bad;
}

int main(void)
{
	long bad = 0;
	int first;

	begin();
	if (ONE_INSTRUCTION)
		return skip(NAME, "a jump covers one instruction");
	if (access("/proc/sys/debug/kprobes-optimization", R_OK))
		return skip(NAME, "there are no optimized kprobes");
	listen_all();
	put(T "tracing_on", "0");
	first = neighbours();
	if (first < 0)
		return skip(NAME, "nothing in vfs_read() can be a jump over another instruction");
	printf("probes at vfs_read+%d and +%d\n", at[first], at[first + 1]);
	for (int i = 0; i < 40; i++)
		bad += round_of(i, first);
	sleep(1);
	printf("optimized again: %s\n", optimized(at[first]) ? "yes" : "no");
	no_probes();
	sleep(2);
	return done(NAME, bad + text_differs() + verify() + complaints());
}
