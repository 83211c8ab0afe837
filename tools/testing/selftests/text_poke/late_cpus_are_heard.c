// SPDX-License-Identifier: GPL-2.0
/*
 * A task that listens gets every record once, whichever CPU changes the text:
 * also one that was offline when the events were opened, for which there is
 * none; and is told how many are missing if there was no CPU to get them on.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../kselftest.h"
#include "text_poke.h"

#define LATE	1
#define TOGGLES	11
#define KEY	"/proc/sys/kernel/sched_schedstats"

static struct image start, end;

static void snapshot(struct image *img)
{
	free(img->bytes);
	img->bytes = NULL;
	if (text_read(img))
		ksft_exit_fail_perror("reading /proc/kcore");
}

/* Also where the test ends while it is offline. */
static void bring_back(void)
{
	cpu_set_online(LATE, true);
}

static void set_online(bool online)
{
	if (cpu_set_online(LATE, online))
		ksft_exit_fail_perror("taking a CPU offline or online");
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		ksft_exit_fail_perror("pinning to a CPU");
}

/* Returns how many records that has made. */
static long toggle_on(int cpu)
{
	long records = counter_read("records");

	pin(cpu);
	for (int i = 0; i < TOGGLES; i++)
		if (write_file(KEY, i & 1 ? "0" : "1"))
			ksft_exit_fail_perror(KEY);
	return counter_read("records") - records;
}

/* Likewise, and some of these changes may stop the machine. */
static long probe_on(int cpu)
{
	long records = counter_read("records");

	pin(cpu);
	for (int i = 0; i < TOGGLES; i++) {
		kprobes_set(true);
		kprobes_set(false);
	}
	/* What is optimized changes later. */
	sleep(1);
	return counter_read("records") - records;
}

static struct events *listen_on(int cpu)
{
	struct events *ev = cpu < 0 ? events_open() : events_open_on(cpu);

	if (!ev)
		ksft_exit_fail_perror("opening text-poke events");
	return ev;
}

/* Two that listen, for neither may get what is meant for the other. */
static void late_cpus_are_heard(void)
{
	struct events *ev[2];
	long records;

	set_online(false);
	ev[0] = listen_on(-1);
	ev[1] = listen_on(-1);
	set_online(true);
	snapshot(&start);
	for (int i = 0; i < 2; i++)
		events_forget(ev[i]);
	records = toggle_on(LATE);
	snapshot(&end);
	for (int i = 0; i < 2; i++) {
		size_t came = events_settle(ev[i]);

		events_stop(ev[i]);
		ksft_test_result(records > 0 && came == (size_t)records,
				 "each_record_comes_once: %zu of %ld came\n",
				 came, records);
		ksft_test_result(!events_lost(ev[i]) &&
				 replay_clean(events_pokes(ev[i]), &start, &end),
				 "and_they_explain_the_text\n");
	}
}

/* Records of slots, which are none of the core's, are not among them. */
static size_t came_of_text(const struct events *ev)
{
	const struct pokes *p = events_pokes(ev);
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++)
		nr += poke_in_text(&p->v[i], &start);
	return nr;
}

/* With the machine stopped no other CPU can take a record for this one. */
static void stops_are_heard(void)
{
	long records, stops = counter_read("stops");
	struct events *ev;
	size_t came;

	if (!kprobes_work()) {
		ksft_test_result_skip("stops_are_heard: no kprobes\n");
		return;
	}
	set_online(false);
	ev = listen_on(-1);
	set_online(true);
	/* Which CPU stops last is up to the one that asks. */
	records = probe_on(LATE) + probe_on(0);
	events_settle(ev);
	events_stop(ev);
	came = came_of_text(ev);
	stops = counter_read("stops") - stops;
	if (!stops) {
		ksft_test_result_skip("stops_are_heard: probes stop nothing\n");
		return;
	}
	ksft_print_msg("%ld stops\n", stops);
	ksft_test_result(records > 0 && came == (size_t)records &&
			 !events_lost(ev),
			 "stops_are_heard: %zu of %ld came, %llu lost\n", came,
			 records, events_lost(ev));
}

/* One event, of another CPU than the one that changes text. */
static void other_cpus_are_heard(void)
{
	struct events *ev = listen_on(LATE);
	long records = toggle_on(0);
	size_t came = events_settle(ev);

	ksft_test_result(records > 0 && came == (size_t)records,
			 "other_cpus_are_heard: %zu of %ld came\n", came,
			 records);
	events_stop(ev);
}

/* What happens while its CPU is away is told when that is back. */
static void absence_is_told(void)
{
	struct events *ev = listen_on(LATE);
	long records = counter_read("records"), away;
	size_t came;

	set_online(false);
	away = toggle_on(0);
	set_online(true);
	toggle_on(0);
	records = counter_read("records") - records;
	came = events_settle(ev);
	events_stop(ev);
	ksft_test_result(away > 0 && events_lost(ev) >= (__u64)away,
			 "absence_is_told: %llu of %ld\n", events_lost(ev),
			 away);
	ksft_test_result(came + events_lost(ev) == (size_t)records,
			 "and_nothing_else_is_missing: %zu of %ld came\n", came,
			 records);
}

int main(void)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records and kcore need root\n");
	mount_kernel_fs();
	if (!hotplug_works())
		ksft_exit_skip("no CPU can go offline\n");
	if (counter_read("records") < 0 || access(KEY, W_OK))
		ksft_exit_skip("no counters, or no key\n");
	atexit(bring_back);
	/* It is off until the end. */
	if (keep_file(KEY) || write_file(KEY, "0"))
		ksft_exit_fail_perror(KEY);
	ksft_set_plan(8);
	if (text_range(&start))
		ksft_exit_fail_perror("finding _stext and _etext");
	end = start;
	late_cpus_are_heard();
	stops_are_heard();
	other_cpus_are_heard();
	absence_is_told();
	ksft_finished();
}
