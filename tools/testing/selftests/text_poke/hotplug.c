// SPDX-License-Identifier: GPL-2.0
/*
 * CPUs that go offline and come back, one after the other, all the time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "text_poke.h"

#define PAUSE_US	20000
#define PAUSES_MAX	500

static struct {
	pthread_t thread;
	bool running;
	bool stop;
	int cycles;
} hotplug;

/*
 * Returns 0, or -1 if the CPU has stayed what it was. While the machine goes to
 * sleep no CPU can come; one that is left offline then would be so for all
 * tests that follow.
 */
int cpu_set_online(int cpu, bool online)
{
	char path[64];
	int tries = 0;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/online", cpu);
	while (write_file(path, online ? "1" : "0")) {
		if (!online || errno != EBUSY || ++tries > PAUSES_MAX)
			return -1;
		usleep(PAUSE_US);
	}
	return 0;
}

/* CPU 0 stays: on some machines it cannot go. */
static void *come_and_go(void *unused)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 1; !__atomic_load_n(&hotplug.stop, __ATOMIC_RELAXED);
	     cpu = cpu + 1 < cpus ? cpu + 1 : 1) {
		if (cpu_set_online(cpu, false))
			continue;
		usleep(PAUSE_US);
		hotplug.cycles += !cpu_set_online(cpu, true);
		usleep(PAUSE_US);
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
