// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that go offline and come back, one after the other, all the time.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "text_poke.h"

#define PAUSE_NS	20000000L

static struct {
	pthread_t thread;
	bool running;
	bool stop;
	int cycles;
} hotplug;

/* Returns 0, or -1 if the CPU has stayed what it was. */
int cpu_set_online(int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/online", cpu);
	return write_file(path, online ? "1" : "0");
}

static void pause_a_little(void)
{
	struct timespec ts = { .tv_nsec = PAUSE_NS };

	nanosleep(&ts, NULL);
}

/* CPU 0 stays: on some machines it cannot go. */
static void *come_and_go(void *unused)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 1; !__atomic_load_n(&hotplug.stop, __ATOMIC_RELAXED);
	     cpu = cpu + 1 < cpus ? cpu + 1 : 1) {
		if (cpu_set_online(cpu, false))
			continue;
		pause_a_little();
		hotplug.cycles += !cpu_set_online(cpu, true);
		pause_a_little();
	}
	return NULL;
}

/* Whether there is a CPU that can go. */
bool hotplug_works(void)
{
	return !access("/sys/devices/system/cpu/cpu1/online", W_OK);
}

int hotplug_start(void)
{
	if (pthread_create(&hotplug.thread, NULL, come_and_go, NULL))
		return -1;
	hotplug.running = true;
	return 0;
}

/* Returns how often a CPU was away and has come back. */
int hotplug_stop(void)
{
	if (hotplug.running) {
		__atomic_store_n(&hotplug.stop, true, __ATOMIC_RELAXED);
		pthread_join(hotplug.thread, NULL);
	}
	return hotplug.cycles;
}
