// SPDX-License-Identifier: GPL-2.0
/*
 * Several users come to and go from the same tracepoints at once: perf events on each CPU, events
 * of two instances of tracing, and the graph tracer, which is a user of sched_switch itself and
 * becomes one with ftrace's lock held. Each change is a static key, and on x86 static calls, in
 * code that every CPU runs all the time.
 */
#include "../tp.h"

#define NAME "19-tracepoint-churn"
#define A T "instances/a/"
#define B T "instances/b/"

static long seen[2];

static int tracepoint(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), T "events/%s/id", name);
	return atoi(get(path));
}

static void *perf_user(void *name)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint(name),
	};
	uint64_t number;

	for (int i = 0; !over; i++) {
		int fd = perf_open(&attr, -1, i & 1, -1);

		usleep(2000);
		if (fd < 0)
			continue;
		if (read(fd, &number, sizeof(number)) == sizeof(number))
			__atomic_add_fetch(&seen[i & 1], number, __ATOMIC_RELAXED);
		close(fd);
	}
	return NULL;
}

static void *instance_user(void *path)
{
	for (int i = 0; !over; i++)
		put(path, "%d", !(i & 1));
	put(path, "0");
	return NULL;
}

static const struct {
	void *(*user)(void *arg);
	char *arg;
} users[] = {
	{ perf_user, "sched/sched_switch" },
	{ perf_user, "raw_syscalls/sys_enter" },
	{ instance_user, A "events/sched/sched_switch/enable" },
	{ instance_user, B "events/sched/enable" },
	{ instance_user, B "events/raw_syscalls/enable" },
};

static long graph_tracer(void)
{
	long bad = 0;

	for (int i = 0; i < 12; i++) {
		bad += !!put(T "current_tracer", i & 1 ? "nop" : "function_graph");
		usleep(500000);
	}
	return bad;
}

int main(void)
{
	pthread_t threads[ARRAY_SIZE(users)];
	long bad;

	begin();
	mkdir(A, 0755);
	mkdir(B, 0755);
	if (put(T "set_graph_function", "vfs_read"))
		return skip(NAME, "the kernel has no graph tracer");
	listen_all();
	load();
	for (size_t i = 0; i < ARRAY_SIZE(users); i++)
		pthread_create(&threads[i], NULL, users[i].user, users[i].arg);
	bad = graph_tracer();
	over = 1;
	for (size_t i = 0; i < ARRAY_SIZE(users); i++)
		pthread_join(threads[i], NULL);
	printf("events seen: %ld %ld, records %zu\n", seen[0], seen[1], nr_evs);
	bad += !!rmdir(A) + !!rmdir(B) + !seen[0];
	return done(NAME, bad + verify() + complaints());
}
