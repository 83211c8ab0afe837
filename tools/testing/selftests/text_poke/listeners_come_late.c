// SPDX-License-Identifier: GPL-2.0
/*
 * A task that begins to listen while text is changed, and then copies the text,
 * can take the copy to where memory is in the end by the records that come from
 * there on.
 *
 * An event gets records once its buffer is mapped and it is enabled, by itself,
 * with its group, or with all that its task has opened. What the batch of that
 * time has recorded before is nowhere: so its traps must not be in the copy.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "../kselftest.h"
#include "text_poke.h"

#define ROUNDS		10
#define MIDWAY_MIN	3
#define STEPS		20	/* that the change takes while an event listens */
#define QUIET_US	50000

static const char * const ways[NR_STARTS] = {
	[START_MAP] = "mapped", [START_GROUP] = "enabled_with_their_group",
	[START_TASK] = "enabled_with_their_task",
};

static struct image first, last;
static bool changed;

static void *trace(void *unused)
{
	if (trace_functions(true))
		ksft_exit_fail_perror(TRACER);
	__atomic_store_n(&changed, true, __ATOMIC_RELEASE);
	return NULL;
}

static void change_back(void)
{
	if (trace_functions(false))
		ksft_exit_fail_perror(TRACER);
}

static void copy_text(struct image *img)
{
	if (text_read(img))
		ksft_exit_fail_perror("reading /proc/kcore");
}

/*
 * When nothing has changed for a while, nor while it was copied.  Returns how
 * many records there are by then: what comes later is not in the copy.
 */
static size_t copy_end(struct events *ev)
{
	size_t before;

	do {
		usleep(QUIET_US);
		before = events_settle(ev);
		events_barrier(ev);
		copy_text(&last);
		events_barrier(ev);
	} while (events_settle(ev) != before);
	return before;
}

/* Listen when the change has been under way for @delay us; is it still? */
static bool listen_after(struct events *ev, unsigned int delay)
{
	bool midway;

	usleep(delay);
	midway = !__atomic_load_n(&changed, __ATOMIC_ACQUIRE);
	if (events_start(ev))
		ksft_exit_fail_perror("beginning to listen");
	copy_text(&first);
	return midway;
}

/* Returns how many bytes the records do not account for. */
static size_t come_late(enum start how, unsigned int delay, int *midway)
{
	struct events *ev = events_prepare(how);
	struct verdict v;
	struct pokes p;
	size_t until;
	pthread_t tracer;

	changed = false;
	if (!ev || pthread_create(&tracer, NULL, trace, NULL))
		ksft_exit_fail_perror("opening text-poke events");
	*midway += listen_after(ev, delay);
	pthread_join(tracer, NULL);
	until = copy_end(ev);
	events_stop(ev);
	p = events_between(ev, 0, until);
	replay(&p, FORWARDS, &first, &last, &v);
	change_back();
	return v.diff;
}

/* In microseconds */
static unsigned int time_once(enum start how)
{
	struct events *ev = events_prepare(how);
	double began;

	if (!ev || events_start(ev))
		ksft_exit_fail_perror("opening text-poke events");
	began = now_seconds();
	trace(NULL);
	began = now_seconds() - began;
	events_stop(ev);
	change_back();
	return began * 1e6;
}

/* Anything may hold up one of two. */
static unsigned int time_change(enum start how)
{
	unsigned int once = time_once(how), again = time_once(how);

	return once < again ? once : again;
}

static void come_late_often(enum start how)
{
	unsigned int step = time_change(how) / STEPS;
	size_t wrong = 0, rounds = 0;
	int midway = 0;

	for (unsigned int i = 1; i <= ROUNDS; i++) {
		size_t diff = come_late(how, i * step, &midway);

		wrong += diff;
		rounds += !!diff;
	}
	ksft_test_result(midway >= MIDWAY_MIN,
			 "%s_in_the_middle: %d of %d times\n", ways[how],
			 midway, ROUNDS);
	ksft_test_result(!wrong,
			 "%s_records_lead_to_the_end: %zu bytes differ in %zu rounds\n",
			 ways[how], wrong, rounds);
}

int main(void)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records and kcore need root\n");
	mount_kernel_fs();
	if (access(TRACER, W_OK))
		ksft_exit_skip("no tracer\n");
	ksft_set_plan(2 * NR_STARTS);
	if (text_range(&first))
		ksft_exit_fail_perror("finding _stext and _etext");
	last = first;
	write_file(TRACING "tracing_on", "0");
	for (enum start how = 0; how < NR_STARTS; how++)
		come_late_often(how);
	write_file(TRACING "tracing_on", "1");
	ksft_finished();
}
