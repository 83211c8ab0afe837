// SPDX-License-Identifier: GPL-2.0
/*
 * Tracer, events and probes that the command line asks for, one of them on a function whose text
 * is freed later: what they changed in early boot can be taken back and put there again, and
 * freed text is left alone.
 */
#include "../tp.h"

#define NAME "12-boot-probes"

static long as_asked_for(void)
{
	long bad;

	printf("tracer %sprobes:\n%s", get(T "current_tracer"), get(T "kprobe_profile"));
	bad = strcmp(get(T "current_tracer"), "function\n") != 0;
	bad += hits("b1") < 10;
	/* In init text, which was there then */
	return bad + (hits("b2") != 1);
}

/* All of it goes and comes. */
static long go_and_come(void)
{
	long bad = 0;

	for (int i = 0; i < 4; i++) {
		put(D "kprobes/enabled", "%d", i & 1);
		put(T "events/kprobes/b2/enable", "%d", i & 1);
		put(T "events/kprobes/b1/enable", "%d", i & 1);
		put(T "events/enable", "%d", i & 1);
		bad += !!put(T "current_tracer", i & 1 ? "function" : "nop");
	}
	return bad;
}

static long another_probe(void)
{
	long before;

	put(T "kprobe_events", "-:b2\n");
	put(T "kprobe_events", "p:b3 vfs_read\n");
	put(T "events/kprobes/b3/enable", "1");
	before = hits("b3");
	return reads(20) + (hits("b3") < before + 20);
}

int main(void)
{
	long bad;

	begin();
	/* From the beginning */
	lseek(kmsg, 0, SEEK_SET);
	if (!strstr(get("/proc/cmdline"), "kprobe_event="))
		return skip(NAME, "not booted with kprobe_event= ftrace=function");
	bad = as_asked_for();
	listen_all();
	bad += go_and_come() + another_probe();
	put(T "events/enable", "0");
	no_probes();
	put(T "current_tracer", "nop");
	clear(T "set_ftrace_filter");
	/* Every function, when init text is gone */
	bad += !!put(T "current_tracer", "function");
	put(T "current_tracer", "nop");
	return done(NAME, bad + verify() + complaints());
}
