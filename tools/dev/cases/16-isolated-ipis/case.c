// SPDX-License-Identifier: GPL-2.0
/*
 * What a task on CPU0 does to another one that spins in user space on CPU1: function call
 * interrupts there, for one key, 64 probes, the tracer, a program that is compiled, an event of a
 * task. The number of sites must not matter.
 */
#include "../tp.h"
#include <linux/bpf.h>

#define NAME "16-isolated-ipis"
#define PROBES 64
/* Not judged */
#define ANY 1000000

static long ipis(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[512];
	long number = 0;

	while (fgets(line, sizeof(line), file))
		if (strstr(line, "Function call interrupts"))
			sscanf(line, " %*s %*d %ld", &number);
	fclose(file);
	return number;
}

static void *spin(void *unused)
{
	pin(1);
	while (!over)
		;
	return unused;
}

/* A line of the table, for what was done since the last one; returns whether that was too many. */
static long row(const char *what, long most)
{
	static long since;
	long number = ipis() - since;

	printf("IPIS %-28s %ld%s\n", what, number, number > most ? "  TOO MANY" : "");
	since = ipis();
	return number > most;
}

static int add_probes(void)
{
	int nr = 0;

	for (int off = 0; off < 600 && nr < PROBES; off++)
		nr += !put(T "kprobe_events", "p:k%d do_sys_openat2+%d\n", nr, off);
	printf("%d probes\n", nr);
	return nr;
}

static long flip_one(void)
{
	long bad;

	put(SCHEDSTATS, "1");
	bad = row("one static key on", 4);
	put(SCHEDSTATS, "0");
	return bad + row("the same off", 4);
}

static long trace_all(void)
{
	long bad = 0;

	if (put(T "current_tracer", "function"))
		printf("there is no function tracer\n");
	bad += row("function tracer on", 40);
	put(T "current_tracer", "nop");
	return bad + row("function tracer off", 40);
}

static long enable_probes(int nr)
{
	long bad;

	put(T "events/kprobes/enable", "1");
	bad = row("those probes on", 3 * nr);
	put(T "events/kprobes/enable", "0");
	return bad + row("those probes off", 3 * nr);
}

/*
 * A program's memory is given back later. RISC-V flushes every TLB for each of its 512 pages
 * then, twice, with an interrupt each time: 1024, on 6.12 as well.
 */
static void settle(void)
{
	long was = -1;

	for (int i = 0; i < 120 && was != ipis(); i++) {
		was = ipis();
		sleep(1);
	}
}

static void compile(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = (long)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (long)"GPL",
	};

	close(syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)));
	settle();
	row("BPF program compiled, freed", ANY);
}

static long event_of_task(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
	};

	close(perf_open(&attr, 0, -1, -1));
	sleep(2);
	return row("event of a task, two seconds", 12);
}

int main(void)
{
	pthread_t thread;
	long bad;
	int nr;

	begin();
	pthread_create(&thread, NULL, spin, NULL);
	pin(0);
	put(T "tracing_on", "0");
	/* Else a slow CPU makes more groups of what it arms, each of three syncs. */
	put(D "text_poke/arming_ns", "1000000000");
	/* Notes the tasks' names, which a tracer need not begin then. */
	put(T "events/sched/sched_switch/enable", "1");
	nr = add_probes();
	sleep(1);
	row("until now", ANY);
	sleep(2);
	row("two seconds of nothing", ANY);
	bad = flip_one() + trace_all() + enable_probes(nr);
	compile();
	bad += event_of_task();
	return done(NAME, bad + complaints());
}
