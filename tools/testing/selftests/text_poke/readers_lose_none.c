// SPDX-License-Identifier: GPL-2.0
/*
 * A task that reads the records with buffers as perf has them loses none while
 * all functions begin to be traced, which makes more of them than a buffer holds.
 * One that does not read delays the change for a moment only.
 */
#include <stdio.h>
#include <unistd.h>

#include "../kselftest.h"
#include "text_poke.h"

#define TURNS		2
/* Of a record, at least. */
#define RECORD_BYTES	48
/* For each batch that is long, and a sleep that takes longer than was asked for. */
#define SLEEPER_MS	(20 + 20)
#define LONG_BATCHES	2

static void trace(bool on)
{
	if (trace_functions(on))
		ksft_exit_fail_perror(TRACER);
}

static void one_that_reads_loses_none(void)
{
	struct events *ev = events_open_usual();
	size_t came;

	if (!ev)
		ksft_exit_fail_perror("opening text-poke events");
	for (int i = 0; i < TURNS; i++) {
		trace(true);
		trace(false);
	}
	came = events_settle(ev);
	ksft_test_result(came * RECORD_BYTES > 2 * TURNS * EVENTS_USUAL_BYTES,
			 "more_records_than_a_buffer_holds: %zu\n", came);
	ksft_test_result(!events_lost(ev), "none_is_lost: %llu\n",
			 events_lost(ev));
	events_stop(ev);
}

/* How long a switch of the tracer has waited for events that nothing reads, in ms. */
static double waited_for(struct events *ev)
{
	long waited = counter_read("readers_ns");

	if (!ev)
		ksft_exit_fail_perror("opening text-poke events");
	trace(true);
	waited = counter_read("readers_ns") - waited;
	trace(false);
	events_stop(ev);
	return waited / 1e6;
}

static void one_that_sleeps_delays_little(void)
{
	double ms = waited_for(events_open_unread());

	ksft_test_result(ms > 0, "a_reader_is_waited_for: %.0f ms\n", ms);
	ksft_test_result(ms <= LONG_BATCHES * SLEEPER_MS,
			 "not_for_long_if_it_sleeps: %.0f ms\n", ms);
	ms = waited_for(events_open_small());
	ksft_test_result(!ms, "not_for_a_small_buffer: %.0f ms\n", ms);
}

int main(void)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records need root\n");
	mount_kernel_fs();
	if (counter_read("readers_ns") < 0 || access(TRACER, W_OK))
		ksft_exit_skip("no counters, or no tracer\n");
	ksft_set_plan(5);
	write_file(TRACING "tracing_on", "0");
	one_that_reads_loses_none();
	one_that_sleeps_delays_little();
	write_file(TRACING "tracing_on", "1");
	ksft_finished();
}
