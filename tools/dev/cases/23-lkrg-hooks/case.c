// SPDX-License-Identifier: GPL-2.0
/*
 * LKRG checks a hash of the kernel's text, and takes it anew when a function that changes text
 * returns: it has return probes on some of them, by name. So they have to be there, to be hit for
 * each change, and when arch_jump_label_transform_apply() returns, the new instruction has to be
 * in the text.
 */
#include "../tp.h"

#define NAME "23-lkrg-hooks"

/* The second one, if there is no first. */
static const char *const names[][2] = {
	{ "arch_jump_label_transform_apply" },
#ifdef __x86_64__
	{ "text_group_commit", "arch_static_call_transform" },
#endif
};

static const char *found[ARRAY_SIZE(names)];

/* The first poke of the text by flipping a key, which ends as it began; NULL if there is none. */
static struct ev *poke_of_key(void)
{
	put(SCHEDSTATS, "1");
	sleep(1);
	put(SCHEDSTATS, "0");
	sleep(1);
	for (size_t i = 0; i < nr_evs; i++)
		if (is_poke_in_text(&evs[i]) && evs[i].old == evs[i].new)
			return memcpy(malloc(sizeof(*evs)), &evs[i], sizeof(*evs));
	return NULL;
}

/* Return probes that note so many bytes at an address */
static long add_probes(uint64_t at, unsigned int bytes)
{
	long bad = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (int j = 0; j < 2 && names[i][j] && !found[i]; j++)
			if (!put(T "kprobe_events", "r:h%zu %s text=@0x%llx:x%u\n", i, names[i][j],
				 (unsigned long long)at, 8 * bytes))
				found[i] = names[i][j];
		if (!found[i]) {
			bad++;
			printf("no return probe on %s\n", names[i][0]);
		}
	}
	put(T "events/kprobes/enable", "1");
	return bad;
}

/* What the last hit of the first probe has seen; whether there was one. */
static int last_seen(unsigned int *seen)
{
	char *line = get(T "trace"), *last = NULL;

	while ((line = strstr(line, "h0:")))
		last = line++;
	last = last ? strstr(last, "text=") : NULL;
	return last && sscanf(last, "text=0x%x", seen) == 1;
}

static long flip(const struct ev *e, unsigned int bytes, int on)
{
	unsigned int seen = ~0, want = 0;
	long bad;

	clear(T "trace");
	bad = !!put(SCHEDSTATS, "%d", on);
	memcpy(&want, e->bytes + (on ? e->old : 0), bytes);
	if (last_seen(&seen) && seen == want)
		return bad;
	printf("key %s: text %x at the return, should be %x\n", on ? "on" : "off", seen, want);
	return bad + 1;
}

/* Were all of them hit? */
static long all_hit(void)
{
	char event[8];
	long bad = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(event, sizeof(event), "h%zu", i);
		printf("%s returned %ld times\n", found[i], hits(event));
		bad += hits(event) < 1;
	}
	return bad;
}

int main(void)
{
	unsigned int bytes;
	struct ev *e;
	long bad;

	begin();
	listen_all();
	e = poke_of_key();
	if (!e)
		return skip(NAME, "nothing is recorded when a key is flipped");
	bytes = e->old >= 4 ? 4 : e->old >= 2 ? 2 : 1;
	bad = add_probes(e->addr, bytes);
	for (int i = 0; i < 20; i++)
		bad += flip(e, bytes, !(i & 1));
	/* LKRG can probe this one; kprobe_events cannot. */
	bad += !ksym("ftrace_modify_all_code");
	put(T "events/sched/sched_process_exec/enable", "1");
	put(T "events/sched/sched_process_exec/enable", "0");
	bad += all_hit();
	no_probes();
	return done(NAME, bad + verify() + complaints());
}
