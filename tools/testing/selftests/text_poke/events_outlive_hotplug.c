// SPDX-License-Identifier: GPL-2.0
/*
 * An event that waits for its CPU to come back is still an event: what is done
 * to it meanwhile is done, and tasks with events of their own, which run on
 * that CPU until it is dead, do not wake it up.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "../kselftest.h"
#include "text_poke.h"

#define CPU		1
#define MAX_TASKS	16
#define ROUNDS		5
#define PAUSE_US	50000

/* The last to run there, the very last of them migration/1. */
static const char * const task_names[] = {
	"migration/1", "ksoftirqd/1", "cpuhp/1",
};

static int tasks[MAX_TASKS];
static int nr_tasks;

static int open_event(__u64 config, bool text_poke, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= config,
		.read_format	= PERF_FORMAT_TOTAL_TIME_ENABLED,
		.text_poke	= text_poke,
	};

	return syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int listen_to_cpu(void)
{
	int fd = open_event(PERF_COUNT_SW_DUMMY, true, -1, CPU);

	if (fd < 0)
		ksft_exit_fail_perror("opening a text-poke event");
	return fd;
}

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(task_names); i++)
		if (!strcmp(name, task_names[i]))
			return true;
	return false;
}

static void watch_task(const char *pid)
{
	char path[64], name[32];
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fscanf(f, "%31s", name) == 1 && is_wanted(name)) {
		fd = open_event(PERF_COUNT_SW_CONTEXT_SWITCHES, false,
				atoi(pid), -1);
		if (fd >= 0 && nr_tasks < MAX_TASKS)
			tasks[nr_tasks++] = fd;
	}
	fclose(f);
}

/* Each time that one of them is switched in, so are the events of its CPU. */
static void watch_tasks(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			watch_task(entry->d_name);
	if (dir)
		closedir(dir);
}

static void set_online(bool online)
{
	if (cpu_set_online(CPU, online))
		ksft_exit_fail_perror("taking a CPU offline or online");
}

static __u64 enabled_ns(int fd)
{
	__u64 values[2];

	if (read(fd, values, sizeof(values)) != sizeof(values))
		ksft_exit_fail_perror("reading an event");
	return values[1];
}

/* Whether the time for which it is enabled goes on. */
static bool runs(int fd)
{
	__u64 before = enabled_ns(fd);

	usleep(PAUSE_US);
	return enabled_ns(fd) != before;
}

static void come_back_running(void)
{
	int fd = listen_to_cpu();

	set_online(false);
	set_online(true);
	ksft_test_result(runs(fd), "events_run_again\n");
	close(fd);
}

static void disable_while_away(void)
{
	int fd = listen_to_cpu();
	bool ran;

	set_online(false);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	set_online(true);
	ran = runs(fd);
	ksft_test_result(!ran, "disabled_events_stay_disabled\n");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ksft_test_result(runs(fd), "and_can_be_enabled_again\n");
	close(fd);
}

/* The kernel's own checks would complain about one that it has lost. */
static void close_while_away(void)
{
	int before[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		before[i] = listen_to_cpu();
	set_online(false);
	for (int i = 0; i < ROUNDS; i++)
		close(before[i]);
	set_online(true);
	come_back_running();
}

/* The step just above the death of a CPU: all others are undone by then. */
static int last_step(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/hotplug/states", "r");
	int step, found = -1;
	char name[64];

	while (f && fscanf(f, "%d: %63s", &step, name) == 2)
		if (!strcmp(name, "smpboot/threads:online"))
			found = step;
	if (f)
		fclose(f);
	return found;
}

static void stay_after_all(void)
{
	char step[16];
	bool stays;
	int fd;

	snprintf(step, sizeof(step), "%d", last_step());
	if (write_file("/sys/devices/system/cpu/cpu1/hotplug/fail", step)) {
		ksft_test_result_skip("no step can be made to fail\n");
		return;
	}
	fd = listen_to_cpu();
	stays = cpu_set_online(CPU, false);
	ksft_test_result(stays && runs(fd), "events_of_a_cpu_that_stays_run\n");
	close(fd);
	write_file("/sys/devices/system/cpu/cpu1/hotplug/fail", "-1");
	if (!stays)
		set_online(true);
}

int main(void)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records need root\n");
	mount_kernel_fs();
	if (!hotplug_works())
		ksft_exit_skip("no CPU can go offline\n");
	ksft_set_plan(6);
	watch_tasks();
	ksft_test_result(nr_tasks >= 2, "tasks_are_watched: %d\n", nr_tasks);
	come_back_running();
	disable_while_away();
	close_while_away();
	stay_after_all();
	ksft_finished();
}
