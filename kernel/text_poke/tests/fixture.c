// SPDX-License-Identifier: GPL-2.0
/*
 * What the KUnit suites of the text poke core share: see test.h.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/text_poke.h>

#include <trace/events/text_poke.h>

#include "../internal.h"
#include "../listener.h"
#include "test.h"

struct text_poke_replaced text_poke_replaced;

/* What has been counted since the case began, or since it began to listen. */
struct text_poke_stats text_poke_test_stats;
u64 text_poke_test_traps;

static struct text_poke_stats stats_at_lock;
static u64 traps_at_lock;

static_assert(sizeof(text_poke_test_stats) % sizeof(u64) == 0);

void text_poke_test_lock(void)
{
	mutex_lock(&text_mutex);
	stats_at_lock = text_poke_stats;
	traps_at_lock = text_poke_traps();
}

/* Since then. */
u64 text_poke_test_syncs(void)
{
	return text_poke_stats.syncs - stats_at_lock.syncs;
}

void text_poke_test_unlock(void)
{
	const u64 *from = (u64 *)&stats_at_lock, *to = (u64 *)&text_poke_stats;
	u64 *own = (u64 *)&text_poke_test_stats;
	size_t i;

	for (i = 0; i < sizeof(text_poke_test_stats) / sizeof(u64); i++)
		own[i] += to[i] - from[i];
	text_poke_test_traps += text_poke_traps() - traps_at_lock;
	mutex_unlock(&text_mutex);
}

static void listener_close(void *event)
{
	perf_event_release_kernel(event);
}

void text_poke_test_listen(struct kunit *test)
{
	struct perf_event *event = text_poke_listener_open(0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(event));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, listener_close,
							   event));
}

/* Only the test's own task, and no task at all if nothing is replaced. */
static void replaced_changes(void)
{
	const struct text_poke_replaced *replaced = &text_poke_replaced;
	bool any = replaced->store || replaced->record || replaced->warn;

	WRITE_ONCE(text_poke_replaced.in, any ? current : NULL);
}

void text_poke_test_store(text_poke_store_t *store)
{
	text_poke_replaced.store = store;
	replaced_changes();
}

void text_poke_test_record(text_poke_record_t *record)
{
	text_poke_replaced.record = record;
	replaced_changes();
}

const char *text_poke_test_said;

static void hear(const char *what, const void *where)
{
	text_poke_test_said = text_poke_test_said ?: what;
}

void text_poke_test_hear(bool on)
{
	if (on)
		text_poke_test_said = NULL;
	text_poke_replaced.warn = on ? hear : NULL;
	replaced_changes();
}

void text_poke_test_replace_nothing(void)
{
	WRITE_ONCE(text_poke_replaced.in, NULL);
}

unsigned int text_poke_test_batches, text_poke_test_failures;
static struct task_struct *tester;

static void count_batch(void *unused, unsigned int sites, bool guarded,
			bool listening)
{
	if (current == tester)
		text_poke_test_batches++;
}

static void count_failure(const char *what, const void *where, int error)
{
	text_poke_test_failures++;
}

void text_poke_test_count_anew(void)
{
	text_poke_test_batches = 0;
	text_poke_test_failures = 0;
}

int text_poke_test_count_batches(struct kunit *test)
{
	kunit_activate_static_stub(test, text_poke_failed, count_failure);
	tester = current;
	return register_trace_text_poke_batch_begin(count_batch, NULL);
}

void text_poke_test_count_no_more(struct kunit *test)
{
	unregister_trace_text_poke_batch_begin(count_batch, NULL);
	tracepoint_synchronize_unregister();
}

static struct text_poke_queue test_queue;
static struct text_poke_site *test_index[TEXT_POKE_TEST_MANY];

const struct text_poke_queue *
text_poke_test_queue(const struct text_poke_site *sites, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		test_index[i] = (struct text_poke_site *)&sites[i];
		if (i % TEXT_POKE_PER_INDEX == 0)
			test_queue.index[i / TEXT_POKE_PER_INDEX] =
				&test_index[i];
	}
	test_queue.nr = nr;
	return &test_queue;
}
