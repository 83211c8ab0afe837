// SPDX-License-Identifier: GPL-2.0
/*
 * Probes that wait for a module: one in its thread, one in its __init function; and a tracer on
 * all of it. The module comes and goes with all of them armed, to the same place, and its init
 * text is freed under the second.
 */
#include "../tp.h"

#define NAME "10-module-probes"
#define MOD "trace_events_sample"
#define FILE_OF_MOD "/trace-events-sample.ko"

static int load_module(void)
{
	int fd = open(FILE_OF_MOD, O_RDONLY);
	int ret = fd < 0 ? -1 : syscall(__NR_finit_module, fd, "", 0);

	close(fd);
	return ret;
}

static long arm(void)
{
	long bad;

	bad = !!put(T "kprobe_events", "p:work " MOD ":simple_thread\n");
	bad += !!put(T "kprobe_events", "p:init " MOD ":trace_event_init\n");
	bad += !!put(T "events/kprobes/work/enable", "1");
	bad += !!put(T "events/kprobes/init/enable", "1");
	put(T "set_ftrace_filter", "vfs_open");
	put(T "set_ftrace_filter", "*:mod:" MOD);
	put(T "current_tracer", "function");
	return bad;
}

/* The init text is gone that a probe was on. */
static void disturb(int number)
{
	put(T "events/kprobes/init/enable", "0");
	put(T "events/kprobes/init/enable", "1");
	put(D "kprobes/enabled", "0");
	put(D "kprobes/enabled", "1");
	put(SCHEDSTATS, "%d", !!(number & 2));
}

/* Load the module, see both probes hit, and unload it. */
static long come_and_go(int number)
{
	long before = hits("work"), bad;

	if (load_module()) {
		printf("the module does not load: errno %d\n", errno);
		return 1;
	}
	for (int tries = 0; tries < 50 && hits("work") == before; tries++)
		usleep(100000);
	bad = hits("work") == before;
	bad += hits("init") != number + 1;
	if (number & 1)
		disturb(number);
	return bad + !!syscall(__NR_delete_module, MOD, O_NONBLOCK);
}

int main(void)
{
	long bad;

	begin();
	if (access(FILE_OF_MOD, R_OK))
		return skip(NAME, "there is no " FILE_OF_MOD);
	listen_all();
	bad = arm();
	load();
	for (int i = 0; i < 8; i++)
		bad += come_and_go(i);
	printf("hits: work %ld, init %ld\n", hits("work"), hits("init"));
	over = 1;
	put(T "current_tracer", "nop");
	no_probes();
	put(SCHEDSTATS, "1");
	return done(NAME, bad + verify() + complaints());
}
