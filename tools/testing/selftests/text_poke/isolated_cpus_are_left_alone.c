// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU that runs a program without a tick is not interrupted when text changes,
 * and what it calls in the kernel afterwards is the new text.
 *
 * Needs a kernel that was booted with nohz_full=CPU.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../kselftest.h"
#include "text_poke.h"

#define NOHZ_FULL	"/sys/devices/system/cpu/nohz_full"
#define SCHEDSTATS	"/proc/sys/kernel/sched_schedstats"
#define FILTER		TRACING "set_ftrace_filter"
#define CALLS		1000
#define TRIES		3

/* Shared with the program; @calls: so many times it is to call the kernel. */
struct program {
	volatile unsigned long spins;
	volatile int calls;
};

/* What a file begins with, or -1. */
static int first_number(const char *path)
{
	FILE *f = fopen(path, "r");
	int nr = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &nr) != 1)
		nr = -1;
	fclose(f);
	return nr;
}

static int stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* In user mode all the time, but for what it is told to call. */
static void run_program(struct program *p, int cpu)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (stay_on(cpu))
		_exit(1);
	for (;;) {
		p->spins++;
		if (!p->calls)
			continue;
		while (p->calls) {
			syscall(SYS_getppid);
			p->calls--;
		}
	}
}

static pid_t start_program(struct program *p, int cpu)
{
	pid_t pid = fork();

	if (!pid)
		run_program(p, cpu);
	if (pid < 0)
		return -1;
	/* By then its last interrupts, and the tick, are over. */
	sleep(2);
	return pid;
}

/* Which column of /proc/interrupts is a CPU's? Only those that are online have one. */
static int column_of(const char *header, int cpu)
{
	int column = 0, found, len;

	while (sscanf(header, " CPU%d%n", &found, &len) == 1) {
		if (found == cpu)
			return column;
		header += len;
		column++;
	}
	return -1;
}

static long number_in(const char *line, int column)
{
	char *word = strchr(line, ':') + 1;
	long nr = 0;

	for (int i = 0; i <= column; i++)
		nr = strtol(word, &word, 10);
	return nr;
}

/* How many function call interrupts a CPU has had. */
static long function_calls(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char *line = NULL;
	size_t size = 0;
	int column = -1;
	long nr = -1;

	if (f && getline(&line, &size, f) > 0)
		column = column_of(line, cpu);
	while (column >= 0 && nr < 0 && getline(&line, &size, f) > 0)
		if (strstr(line, "Function call interrupts"))
			nr = number_in(line, column);
	if (nr < 0)
		ksft_exit_fail_msg("/proc/interrupts counts no function calls of CPU %d\n", cpu);
	free(line);
	fclose(f);
	return nr;
}

/*
 * Of some functions: the program takes CPU time from the poker where CPUs take
 * turns, as they do under emulation, and batches are the shorter for that.
 */
static void change_text(void)
{
	bool stats = first_number(SCHEDSTATS) == 1;
	int i;

	write_file(FILTER, "vfs_*");
	for (i = 0; i < 4; i++) {
		trace_functions(true);
		trace_functions(false);
	}
	for (i = 0; i < 20; i++) {
		write_file(SCHEDSTATS, stats ? "0" : "1");
		write_file(SCHEDSTATS, stats ? "1" : "0");
	}
	close(open(FILTER, O_WRONLY | O_TRUNC));
}

/* What comes with time alone: the scheduler may look after the CPU every second. */
static long calls_in(int cpu, double seconds)
{
	long calls = function_calls(cpu);

	usleep(seconds * 1e6);
	return function_calls(cpu) - calls;
}

struct measured {
	long syncs;
	long calls;
	long others;
	long left;
};

static struct measured measure(int cpu)
{
	struct measured m = {
		.syncs	= -counter_read("syncs"),
		.calls	= -function_calls(cpu),
		.left	= -counter_read("left_alone"),
	};
	double began = now_seconds();

	change_text();
	m.calls += function_calls(cpu);
	m.others = calls_in(cpu, now_seconds() - began);
	m.syncs += counter_read("syncs");
	m.left += counter_read("left_alone");
	ksft_print_msg("%ld syncs, %ld interrupts, %ld without them, left alone %ld times\n",
		       m.syncs, m.calls, m.others, m.left);
	return m;
}

/*
 * One in ten may be: if the CPU is in the kernel just then, because its clock does
 * not let it do without a tick.
 */
static bool not_interrupted(const struct measured *m)
{
	return (m->calls - m->others) * 10 <= m->syncs;
}

/* On RISC-V CPUs may refetch in firmware: an idle one is not interrupted then. */
static bool syncs_interrupt(int cpu)
{
#ifdef __riscv
	struct measured m = measure(cpu);

	return (m.calls - m.others) * 2 > m.syncs;
#else
	return true;
#endif
}

/* Text pokes would interrupt it each time; the load of the host does at times. */
static void test_left_alone(int cpu, bool interrupting)
{
	struct measured m = measure(cpu);

	for (int i = 1; i < TRIES && !not_interrupted(&m); i++)
		m = measure(cpu);
	ksft_test_result(m.syncs >= 40, "text_was_changed\n");
	if (interrupting)
		ksft_test_result(not_interrupted(&m), "cpu_was_not_interrupted\n");
	else
		ksft_test_result_skip("cpu_was_not_interrupted: CPUs refetch without\n");
	ksft_test_result(m.left * 10 >= m.syncs * 9, "cpu_was_left_alone\n");
}

static int forget_trace(void)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC);

	return fd < 0 ? -1 : close(fd);
}

/* How many calls the tracer has seen of those that the program then makes. */
static int calls_traced(struct program *p, pid_t pid, int cpu)
{
	char path[64], line[512];
	int nr = 0;
	FILE *f;

	p->calls = CALLS;
	while (p->calls) {
		if (waitpid(pid, NULL, WNOHANG))
			ksft_exit_fail_msg("the program has ended\n");
		usleep(1000);
	}
	snprintf(path, sizeof(path), TRACING "per_cpu/cpu%d/trace", cpu);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		nr += line[0] != '#' && strstr(line, "sys_getppid");
	fclose(f);
	return nr;
}

static void test_new_text(struct program *p, pid_t pid, int cpu)
{
	int on = -1, off = -1;

	if (write_file(FILTER, "*sys_getppid") || forget_trace()) {
		ksft_test_result_skip("cpu_runs_calls\n");
		ksft_test_result_skip("cpu_runs_no_calls\n");
		return;
	}
	if (!trace_functions(true))
		on = calls_traced(p, pid, cpu);
	if (!trace_functions(false) && !forget_trace())
		off = calls_traced(p, pid, cpu);
	close(open(FILTER, O_WRONLY | O_TRUNC));
	ksft_print_msg("%d calls: %d traced, then %d\n", CALLS, on, off);
	ksft_test_result(on >= CALLS, "cpu_runs_calls\n");
	ksft_test_result(off == 0, "cpu_runs_no_calls\n");
}

/* Why there is nothing to test, or NULL. */
static const char *lacking(int cpu)
{
	if (geteuid())
		return "not root";
	if (counter_read("left_alone") < 0)
		return "this kernel interrupts every CPU";
	if (cpu < 0)
		return "nohz_full= names no CPU";
	return trace_functions(false) ? "no function tracer" : NULL;
}

int main(void)
{
	int cpu = first_number(NOHZ_FULL);
	struct program *p;
	bool interrupting;
	const char *why;
	pid_t pid;

	ksft_print_header();
	mount_kernel_fs();
	why = lacking(cpu);
	ksft_set_plan(why ? 1 : 5);
	if (why) {
		ksft_test_result_skip("cpu_was_left_alone: %s\n", why);
		ksft_finished();
	}

	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || stay_on(cpu ? 0 : 1))
		ksft_exit_fail_msg("no memory, or no other CPU\n");
	interrupting = syncs_interrupt(cpu);
	pid = start_program(p, cpu);
	if (pid < 0 || !p->spins)
		ksft_exit_fail_msg("the program does not run\n");

	test_left_alone(cpu, interrupting);
	test_new_text(p, pid, cpu);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ksft_finished();
}
