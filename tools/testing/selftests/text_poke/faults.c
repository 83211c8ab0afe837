// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that are killed while they change text, or listen, and a machine that
 * is put to sleep meanwhile.
 *
 * Whatever is left behind shows in the replay: a trap that stays in the text is
 * in no record, and a batch that is not over lets nobody change anything.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "text_poke.h"

#define PM_TEST		"/sys/power/pm_test"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"
#define SLEEP		"/sys/power/state"

#define LIFE_NS		40000000L
#define VICTIMS		4

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

	if (!pid) {
		does();
		_exit(0);
	}
	if (pid < 0)
		return;
	nanosleep(&life, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
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

/* As far as devices go, and back at once: nothing could wake a guest up. */
bool frozen_work(void)
{
	write_file(PM_TEST_DELAY, "0");
	return !write_file(PM_TEST, "devices");
}

void frozen_set(bool on)
{
	if (on)
		write_file(SLEEP, "freeze");
	else
		write_file(PM_TEST, "devices");
}
