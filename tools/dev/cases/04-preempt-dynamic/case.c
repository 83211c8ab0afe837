// SPDX-License-Identifier: GPL-2.0
/*
 * The preemption model of a running kernel is switched: static calls on x86, static keys
 * elsewhere, in cond_resched() and on the way out of every interrupt, also of those that the
 * poker itself takes. Every distribution's kernel can do that.
 */
#include "../tp.h"

#define NAME "04-preempt-dynamic"
#define PREEMPT D "sched/preempt"

static const char *const modes[] = { "none", "voluntary", "full" };

/* Between them the function tracer comes and goes, so that many functions trap. */
static long switch_often(void)
{
	long bad = 0;

	for (int i = 0; i < 90; i++) {
		bad += !!put(PREEMPT, "%s", modes[i % 3]);
		if (i % 10 == 9)
			put(T "current_tracer", i % 20 == 19 ? "nop" : "function");
	}
	put(T "current_tracer", "nop");
	return bad;
}

int main(void)
{
	long bad, records;

	begin();
	if (access(PREEMPT, W_OK))
		return skip(NAME, "the kernel has no CONFIG_PREEMPT_DYNAMIC");
	printf("was: %s", get(PREEMPT));
	listen_all();
	load();
	bad = switch_often();
	for (int i = 0; i < 2; i++)
		bad += !!put(PREEMPT, "%s", modes[i]);
	records = nr_evs;
	bad += verify();
	if (records < 100)
		printf("only %ld records\n", records);
	return done(NAME, bad + (records < 100) + complaints());
}
