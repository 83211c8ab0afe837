// SPDX-License-Identifier: GPL-2.0
/*
 * KFENCE with static keys opens its gate again and again for ever: a key in the allocator, which
 * also the poker and perf call, changed from a worker, whether an event listens or not.
 */
#include "../tp.h"

#define NAME "22-kfence-keys"
#define INTERVAL "/sys/module/kfence/parameters/sample_interval"

/* The tracer and a CPU come and go meanwhile. */
static long disturb(void)
{
	long bad = 0;

	for (int i = 0; i < 4; i++) {
		put(T "current_tracer", i & 1 ? "nop" : "function");
		sleep(2);
		bad += !!online(1, i & 1);
	}
	return bad;
}

/* Let the copy of the text be one of a quiet kernel. */
static void listen_at_rest(void)
{
	put(INTERVAL, "0");
	sleep(1);
	listen_all();
	put(INTERVAL, "1");
}

int main(void)
{
	long bad, alone;

	begin();
	if (access(D "kfence/stats", R_OK) || !ksym("toggle_allocation_gate"))
		return skip(NAME, "the kernel has no CONFIG_KFENCE");
	put(INTERVAL, "1");
	load();
	sleep(5);
	listen_at_rest();
	sleep(10);
	alone = nr_evs;
	bad = disturb();
	put(INTERVAL, "0");
	printf("%ld records of KFENCE alone in 10 s, %zu in all\n%s", alone, nr_evs,
	       get(D "kfence/stats"));
	if (!alone)
		return skip(NAME, "KFENCE changes no text (CONFIG_KFENCE_STATIC_KEYS)");
	over = 1;
	return done(NAME, bad + verify() + complaints());
}
