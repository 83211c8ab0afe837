// SPDX-License-Identifier: GPL-2.0
/*
 * A task that does not read the records in time is told how many are missing,
 * and a replay of the rest does not pass for a complete one. A task that
 * changes text meanwhile does not notice.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/perf_event.h>

#include "../kselftest.h"
#include "text_poke.h"

static struct image start, end;

static void change_text(void)
{
	if (trace_functions(true))
		ksft_exit_fail_perror(TRACER);
}

static void change_back(void)
{
	if (trace_functions(false))
		ksft_exit_fail_perror(TRACER);
}

static void snapshot(struct image *img)
{
	*img = start;
	img->bytes = NULL;
	if (text_read(img))
		ksft_exit_fail_perror("reading /proc/kcore");
}

/* While the events are still open: closing them changes text too. */
static void check_text(void)
{
	struct image now;

	snapshot(&now);
	ksft_test_result(!text_diff(&start, &now),
			 "text_ends_as_it_began: %zu bytes differ\n",
			 text_diff(&start, &now));
	free(now.bytes);
}

/*
 * A tracer that is used for the first time leaves some text behind it, and a
 * key that perf uses goes off a second after the last event is closed.
 */
static void wait_for_deferred_keys(void)
{
	change_text();
	change_back();
	sleep(2);
}

/* More than a page for each CPU holds, read when it is too late. */
static void full_buffers_tell(void)
{
	struct events *ev = events_open_small();
	long records;
	size_t came;

	if (!ev)
		ksft_exit_fail_perror("opening text-poke events");
	snapshot(&start);
	records = counter_read("records");
	change_text();
	records = counter_read("records") - records;
	snapshot(&end);
	came = events_settle(ev);
	/* There is room now, and the next record says that some are missing. */
	change_back();
	events_settle(ev);
	check_text();
	ksft_test_result(events_lost(ev), "lost_records_are_told: %llu\n",
			 events_lost(ev));
	events_stop(ev);
	ksft_test_result(came && came < (size_t)records,
			 "some_records_are_lost: %zu of %ld came\n", came,
			 records);
	ksft_test_result(events_lost(ev) >= records - came,
			 "all_losses_are_counted: %llu of at least %ld\n",
			 events_lost(ev), records - (long)came);
	ksft_test_result(!replay_clean(events_pokes(ev), &start, &end),
			 "what_came_is_not_taken_for_all\n");
}

/*
 * A record is in the buffer of the CPU that changes text, and what that buffer
 * has lost is told by the next one there.
 */
static void pin_to_cpu_0(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		ksft_exit_fail_perror("pinning to CPU 0");
}

/* Only how far it got tells how much of it was written over. */
static void buffers_that_cannot_be_written_turn_over(void)
{
	int fd = perf_open_text_poke(-1, 0, false);
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *meta;

	meta = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
	if (fd < 0 || meta == MAP_FAILED)
		ksft_exit_fail_perror("opening a text-poke event");
	change_text();
	change_back();
	ksft_test_result(meta->data_head > page,
			 "read_only_buffers_turn_over: %llu bytes\n",
			 meta->data_head);
	munmap(meta, 2 * page);
	close(fd);
}

static void listen_without_a_buffer(void)
{
	int fd = perf_open_text_poke(-1, 0, false);
	long records = counter_read("records");

	if (fd < 0)
		ksft_exit_fail_perror("opening a text-poke event");
	change_text();
	change_back();
	records = counter_read("records") - records;
	close(fd);
	ksft_test_result(records > 0, "no_buffer_is_no_matter: %ld records\n",
			 records);
}

int main(void)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records and kcore need root\n");
	mount_kernel_fs();
	if (counter_read("records") < 0 || access(TRACER, W_OK))
		ksft_exit_skip("no counters, or no tracer\n");
	ksft_set_plan(7);
	if (text_range(&start))
		ksft_exit_fail_perror("finding _stext and _etext");
	write_file(TRACING "tracing_on", "0");
	wait_for_deferred_keys();
	pin_to_cpu_0();
	full_buffers_tell();
	buffers_that_cannot_be_written_turn_over();
	listen_without_a_buffer();
	write_file(TRACING "tracing_on", "1");
	ksft_finished();
}
