// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that are killed while they change text, or listen, and a machine that
 * is put to sleep meanwhile.
 *
 * Whatever is left behind shows in the replay: a trap that stays in the text is
 * in no record, and a batch that is not over lets no other change anything.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "text_poke.h"

#define PM_TEST		"/sys/power/pm_test"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define MEM_SLEEP	"/sys/power/mem_sleep"
#define SLEEP		"/sys/power/state"

#define LIFE_NS		40000000L
#define VICTIMS		4

static int killed, frozen;
static bool deep;

static void change_text(void)
{
	static const char * const keys[] = {
		"/proc/sys/kernel/sched_schedstats",
		TRACING "events/sched/enable",
		TRACING "events/irq/enable",
	};

	for (;;) {
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			write_file(keys[i], "1");
		trace_functions(true);
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			write_file(keys[i], "0");
		trace_functions(false);
	}
}

static void listen_again_and_again(void)
{
	for (;;)
		close(perf_open_text_poke(-1, 0, false));
}

/* Anywhere in what it does. */
static void kill_at_it(void (*does)(void))
{
	struct timespec life = { .tv_nsec = rand() % LIFE_NS };
	pid_t pid = fork();
	int status;

	if (!pid) {
		does();
		_exit(0);
	}
	if (pid < 0)
		return;
	nanosleep(&life, NULL);
	kill(pid, SIGKILL);
	killed += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

bool killed_work(void)
{
	return true;
}

/* Off is what others may rely on; a victim may have left it on. */
void killed_set(bool on)
{
	for (int i = 0; on && i < VICTIMS; i++) {
		kill_at_it(change_text);
		kill_at_it(listen_again_and_again);
	}
	if (!on) {
		write_file("/proc/sys/kernel/sched_schedstats", "0");
		write_file(TRACING "events/sched/enable", "0");
		write_file(TRACING "events/irq/enable", "0");
		trace_functions(false);
	}
}

int killed_times(void)
{
	return killed;
}

/* It is not ours to choose: that would outlive us. */
static bool sleeps_deep(void)
{
	FILE *f = fopen(MEM_SLEEP, "r");
	char line[64] = "";

	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return strstr(line, "[deep]");
}

/*
 * As far as can be, and back at once, for nothing could wake a guest up: where
 * memory can keep itself all CPUs but one go offline, and that one has its
 * state restored.
 */
static bool come_back_at_once(void)
{
	return !write_file(PM_TEST, deep ? "core" : "platform");
}

bool frozen_work(void)
{
	write_file(PM_TEST_DELAY, "0");
	deep = sleeps_deep();
	return come_back_at_once();
}

void frozen_set(bool on)
{
	if (!on)
		write_file(PM_TEST, "none");
	else if (come_back_at_once())
		frozen += !write_file(SLEEP, deep ? "mem" : "freeze");
}

int frozen_times(void)
{
	return frozen;
}
