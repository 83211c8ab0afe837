// SPDX-License-Identifier: GPL-2.0
/*
 * What changes the kernel's text, and what runs it meanwhile.
 *
 * The poker turns knobs on and off from one CPU after the other, so that the
 * records of one site come from different buffers. A reader on every CPU
 * enters the kernel as often as it can, through code that the knobs change.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "text_poke.h"

#define KEY_TURNS	4
#define ROUNDS_MIN	4

struct knob {
	const char *path;
	const char *on;
	const char *off;
};

/* Tracepoints are static keys, and on some architectures static calls too. */
static const struct knob keys_knobs[] = {
	{ "/proc/sys/kernel/sched_schedstats",		"1", "0" },
	{ "/proc/sys/kernel/bpf_stats_enabled",		"1", "0" },
	{ TRACING "events/sched/enable",		"1", "0" },
	{ TRACING "events/raw_syscalls/enable",		"1", "0" },
	{ TRACING "events/timer/enable",		"1", "0" },
	{ TRACING "events/irq/enable",			"1", "0" },
};

static const struct knob ftrace_knobs[] = {
	{ TRACER,					"function", "nop" },
};

/* Knobs, or functions that do the same. */
struct knob_group {
	const char *name;
	const struct knob *knobs;
	bool (*work)(void);
	void (*set)(bool on);
	int nr;
	int turns;
	bool used;
};

#define GROUP(n, turn)	{ .name = #n, .knobs = n ## _knobs, .turns = turn, \
			  .nr = sizeof(n ## _knobs) / sizeof(*n ## _knobs) }
#define CALLS(n)	{ .name = #n, .work = n ## _work, .set = n ## _set, \
			  .turns = 1 }

/* A key is turned faster than the tracer: a few sites against thousands. */
static struct knob_group groups[] = {
	GROUP(keys, KEY_TURNS),
	CALLS(kprobes),
	CALLS(bpf),
	CALLS(modules),
	CALLS(killed),
	CALLS(frozen),
	GROUP(ftrace, 1),
};

#define NR_GROUPS	(sizeof(groups) / sizeof(*groups))

static struct {
	pthread_t *threads;
	int nr;
	bool stop;
} readers;

/* Off is how every knob begins, so that trying it changes nothing. */
static bool knob_works(const struct knob *k)
{
	return !write_file(k->path, k->off);
}

static bool group_works(const struct knob_group *g)
{
	if (g->work)
		return g->work();
	for (int i = 0; i < g->nr; i++)
		if (knob_works(&g->knobs[i]))
			return true;
	return false;
}

static struct knob_group *group_of(const char *name)
{
	for (size_t i = 0; i < NR_GROUPS; i++)
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	return NULL;
}

/* Returns how many of the named groups this kernel has a knob of. */
int workload_parse(const char *names)
{
	char *copy = strdup(names);
	int found = 0;

	for (char *n = strtok(copy, ","); n; n = strtok(NULL, ",")) {
		struct knob_group *g = group_of(n);

		if (g && group_works(g)) {
			g->used = true;
			found++;
		} else {
			printf("# no knob of %s in this kernel\n", n);
		}
	}
	free(copy);
	return found;
}

bool workload_has(const char *name)
{
	const struct knob_group *g = group_of(name);

	return g && g->used;
}

static void group_set(const struct knob_group *g, bool on)
{
	if (g->used && g->set)
		g->set(on);
	for (int i = 0; g->used && i < g->nr; i++) {
		const struct knob *k = &g->knobs[i];

		write_file(k->path, on ? k->on : k->off);
	}
}

static void group_turn(const struct knob_group *g)
{
	for (int i = 0; i < g->turns; i++) {
		group_set(g, true);
		group_set(g, false);
	}
}

/* Of the calling thread; a CPU that is offline is refused and no matter. */
static int pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* For half of the time everything else changes under the tracer. */
static void one_round(int round)
{
	if (round & 2)
		group_set(group_of("ftrace"), true);
	for (size_t i = 0; i < NR_GROUPS; i++)
		group_turn(&groups[i]);
}

/*
 * Ends with everything on: a replay over a text that ends as it began could
 * not be told from one that did nothing.
 */
int workload_run(double seconds)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);
	double end = now_seconds() + seconds;
	int rounds = 0;

	/* Recording every function would only fill the trace buffer. */
	write_file(TRACING "tracing_on", "0");
	do {
		pin(rounds % cpus);
		one_round(rounds++);
	} while (now_seconds() < end || rounds < ROUNDS_MIN);
	for (size_t i = 0; i < NR_GROUPS; i++)
		group_set(&groups[i], true);
	return rounds;
}

void workload_undo(void)
{
	for (size_t i = 0; i < NR_GROUPS; i++)
		group_set(&groups[i], false);
	write_file(TRACING "tracing_on", "1");
}

/* Scheduler, timers, memory, pipes, files: code with keys and with mcount. */
static void read_once(int null, int zero, const int *pipes)
{
	struct timespec instant = { .tv_nsec = 1 };
	char buf[64];
	void *map;

	syscall(SYS_getppid);
	sched_yield();
	if (write(null, buf, sizeof(buf)) < 0 || read(zero, buf, 64) < 0)
		return;
	if (write(pipes[1], buf, 1) == 1 && read(pipes[0], buf, 1) != 1)
		return;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map != MAP_FAILED) {
		__atomic_store_n((char *)map, 1, __ATOMIC_RELAXED);
		munmap(map, 4096);
	}
	nanosleep(&instant, NULL);
}

static void *reader(void *arg)
{
	int null = open("/dev/null", O_WRONLY);
	int zero = open("/dev/zero", O_RDONLY);
	int pipes[2];

	/* A CPU that is offline has no reader: another one is harmless. */
	pin((long)arg);
	if (pipe(pipes))
		return NULL;
	while (!__atomic_load_n(&readers.stop, __ATOMIC_RELAXED))
		read_once(null, zero, pipes);
	close(pipes[0]);
	close(pipes[1]);
	close(null);
	close(zero);
	return NULL;
}

int readers_start(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	readers.threads = calloc(cpus, sizeof(*readers.threads));
	if (!readers.threads)
		return -1;
	for (long i = 0; i < cpus; i++) {
		if (pthread_create(&readers.threads[i], NULL, reader, (void *)i))
			return -1;
		readers.nr++;
	}
	return 0;
}

void readers_stop(void)
{
	__atomic_store_n(&readers.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < readers.nr; i++)
		pthread_join(readers.threads[i], NULL);
	free(readers.threads);
}
