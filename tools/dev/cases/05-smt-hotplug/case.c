// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads of one core: whenever one goes offline or comes back, the kernel flips
 * sched_smt_present, from the task that takes the CPU down or brings it up, with cpu_hotplug_lock
 * held, on the very CPU whose events are on their way out or back in.
 */
#include "../tp.h"

#define NAME "05-smt-hotplug"

int main(void)
{
	char *siblings = get("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
	long bad = 0;

	begin();
	if (!strchr(siblings, '1'))
		return skip(NAME, "CPU1 is no thread of CPU0's core");
	listen_all();
	load();
	for (int i = 0; i < 20; i++) {
		bad += !!online(1, 0);
		put(SCHEDSTATS, "%d", i & 1);
		bad += !!online(1, 1);
	}
	/* It ends with the key off. */
	bad += !!online(1, 0);
	printf("%zu records\n", nr_evs);
	bad += verify() + !nr_evs;
	return done(NAME, bad + complaints());
}
