// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of tracepoint groups: one batch for all, each probe gets its own
 * data, and what cannot be connected is not.
 */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/text_poke.h>
#include <linux/tracepoint_group.h>

#include "../fault.h"
#include "test.h"

#define NR 3

/* How often the tracepoint's own functions were called. */
static int registered;
static int times_registered;

static int count_registration(void)
{
	registered++;
	times_registered++;
	return 0;
}

static void uncount_registration(void)
{
	registered--;
}

DECLARE_TRACE(text_group_test_a, TP_PROTO(int value), TP_ARGS(value));
DECLARE_TRACE(text_group_test_b, TP_PROTO(int value), TP_ARGS(value));
DECLARE_TRACE(text_group_test_c, TP_PROTO(int value), TP_ARGS(value));
DEFINE_TRACE(text_group_test_a, TP_PROTO(int value), TP_ARGS(value));
DEFINE_TRACE(text_group_test_b, TP_PROTO(int value), TP_ARGS(value));
DEFINE_TRACE_FN(text_group_test_c, count_registration, uncount_registration,
		TP_PROTO(int value), TP_ARGS(value));

static struct tracepoint *const tps[NR] = {
	&__tracepoint_text_group_test_a,
	&__tracepoint_text_group_test_b,
	&__tracepoint_text_group_test_c,
};

/* The data of each probe, in which it counts its calls. */
static atomic_t f, g, wrong;

static void probe_f(void *data, int value)
{
	atomic_inc(data == &f ? &f : &wrong);
}

static void probe_g(void *data, int value)
{
	atomic_inc(data == &g ? &g : &wrong);
}

static noinline void hit(void)
{
	trace_text_group_test_a(1);
	trace_text_group_test_b(2);
	trace_text_group_test_c(3);
}

static void expect_hits(struct kunit *test, int of_f, int of_g)
{
	int f_before = atomic_read(&f), g_before = atomic_read(&g);

	hit();
	KUNIT_EXPECT_EQ(test, atomic_read(&f) - f_before, of_f);
	KUNIT_EXPECT_EQ(test, atomic_read(&g) - g_before, of_g);
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong), 0);
	KUNIT_EXPECT_EQ(test, registered, of_f + of_g > 0);
}

/* What is to be done with the probes of all three: one bit each. */
#define ADD_F		1
#define ADD_G		2
#define REMOVE_F	4
#define REMOVE_G	8
#define MOST		2

static struct tracepoint_request requests[MOST * NR];

static struct tracepoint_request *
add_requests(struct tracepoint_group *group, struct tracepoint_request *request,
	     void *probe, void *data, bool add)
{
	int i;

	for (i = 0; i < NR; i++, request++) {
		if (add)
			tracepoint_group_register(group, request, tps[i], probe,
						  data);
		else
			tracepoint_group_unregister(group, request, tps[i],
						    probe, data);
	}
	return request;
}

static int change(unsigned int what)
{
	TRACEPOINT_GROUP(group);
	struct tracepoint_request *request = requests;
	int ret;

	if (what & REMOVE_F)
		request = add_requests(&group, request, probe_f, &f, false);
	if (what & REMOVE_G)
		request = add_requests(&group, request, probe_g, &g, false);
	if (what & ADD_F)
		request = add_requests(&group, request, probe_f, &f, true);
	if (what & ADD_G)
		request = add_requests(&group, request, probe_g, &g, true);
	text_poke_test_count_anew();
	ret = tracepoint_group_commit(&group);
	return list_empty(&group.requests) ? ret : -EBUSY;
}

/* On x86 the calls change as well, elsewhere only the keys. */
static unsigned int batches_of_calls(void)
{
	return IS_ENABLED(CONFIG_HAVE_STATIC_CALL) ? 1 : 0;
}

static void many_take_one_batch(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	expect_hits(test, NR, 0);
	KUNIT_EXPECT_EQ(test, 0, change(ADD_G));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, batches_of_calls());
	expect_hits(test, NR, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, batches_of_calls());
	expect_hits(test, 0, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_G));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	expect_hits(test, 0, 0);
}

/* As of the tracer, which has probes of its own where there are events. */
static void one_tracepoint_may_come_twice(struct kunit *test)
{
	times_registered = 0;
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F | ADD_G));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	KUNIT_EXPECT_EQ(test, times_registered, 1);
	expect_hits(test, NR, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F | REMOVE_G));
	KUNIT_EXPECT_EQ(test, text_poke_test_batches, 1);
	expect_hits(test, 0, 0);
}

static void one_probe_takes_the_place_of_another(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F));
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F | ADD_G));
	expect_hits(test, 0, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_G | ADD_F));
	expect_hits(test, NR, 0);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F));
	expect_hits(test, 0, 0);
}

/* A tracepoint that has the probe does not keep others from getting it. */
static void each_request_has_its_error(struct kunit *test)
{
	TRACEPOINT_GROUP(group);
	int i;

	KUNIT_ASSERT_EQ(test, 0, tracepoint_probe_register(tps[0], probe_f, &f));
	add_requests(&group, requests, probe_f, &f, true);
	for (i = 0; i < NR; i++)
		requests[i].may_exist = true;
	KUNIT_EXPECT_EQ(test, -EEXIST, tracepoint_group_commit(&group));
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_EQ(test, i ? 0 : -EEXIST, requests[i].error);
	expect_hits(test, NR, 0);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F));
	expect_hits(test, 0, 0);
}

static void expect_errors(struct kunit *test, int of_f, int of_g)
{
	int i;

	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, text_poke_test_failures, 1);
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_NE(test, 0, requests[i].error);
	expect_hits(test, of_f, of_g);
}

/* Not the first and not the second; both are tried again. */
static void what_cannot_be_connected_is_not(struct kunit *test)
{
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, change(ADD_F));
	expect_errors(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F));
	expect_hits(test, NR, 0);
	if (batches_of_calls()) {
		text_poke_fail_at(TEXT_POKE_FAULT_STORE, 1);
		KUNIT_EXPECT_NE(test, 0, change(ADD_G));
		expect_errors(test, NR, 0);
	}
	KUNIT_EXPECT_EQ(test, 0, change(ADD_G));
	expect_hits(test, NR, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F | REMOVE_G));
}

/* The text calls F from then on, and must not get the data of G. */
static void what_cannot_be_removed_is_not_called(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F));
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, text_poke_test_failures, 1);
	expect_hits(test, 0, 0);

	if (batches_of_calls()) {
		text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
		KUNIT_EXPECT_NE(test, 0, change(ADD_G));
		expect_errors(test, 0, 0);
	}
	KUNIT_EXPECT_EQ(test, 0, change(ADD_G));
	expect_hits(test, 0, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_G));
	expect_hits(test, 0, 0);
}

/* The only one goes, although the one that follows it cannot come. */
static void a_failed_exchange_leaves_none(struct kunit *test)
{
	if (!batches_of_calls())
		kunit_skip(test, "no static calls");
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F));
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, change(REMOVE_F | ADD_G));
	text_poke_fail_no_more();
	expect_hits(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, change(ADD_G));
	expect_hits(test, 0, NR);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_G));
}

/* It stays, for what was to be removed is another, which was not even there. */
static void a_failure_leaves_what_was_not_to_go(struct kunit *test)
{
	int i;

	if (!batches_of_calls())
		kunit_skip(test, "no static calls");
	KUNIT_EXPECT_EQ(test, 0, change(ADD_F));
	text_poke_fail_at(TEXT_POKE_FAULT_MAP, 0);
	KUNIT_EXPECT_NE(test, 0, change(REMOVE_G | ADD_G));
	text_poke_fail_no_more();
	KUNIT_EXPECT_EQ(test, text_poke_test_failures, 1);
	for (i = 0; i < NR; i++) {
		KUNIT_EXPECT_EQ(test, 0, requests[i].error);
		KUNIT_EXPECT_NE(test, 0, requests[NR + i].error);
	}
	expect_hits(test, NR, 0);
	KUNIT_EXPECT_EQ(test, 0, change(REMOVE_F));
	expect_hits(test, 0, 0);
}

static int go_on_hitting(void *unused)
{
	while (!kthread_should_stop()) {
		hit();
		cond_resched();
	}
	return 0;
}

/* There and back, through every number of probes, beside another task. */
static const unsigned int walk[] = {
	ADD_F, ADD_G, REMOVE_F, REMOVE_G,
	ADD_G, REMOVE_G, ADD_F, REMOVE_F | ADD_G, ADD_F, REMOVE_G,
	REMOVE_F, ADD_F | ADD_G, REMOVE_F, REMOVE_G,
};

static void each_probe_gets_its_own_data(struct kunit *test)
{
	struct task_struct *reader;
	int i, round;

	reader = kthread_run(go_on_hitting, NULL, "text_group_test");
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	for (round = 0; round < 10; round++)
		for (i = 0; i < ARRAY_SIZE(walk); i++)
			KUNIT_EXPECT_EQ(test, 0, change(walk[i]));
	kthread_stop(reader);
	expect_hits(test, 0, 0);
}

static struct kunit_case tracepoint_cases[] = {
	KUNIT_CASE(many_take_one_batch),
	KUNIT_CASE(one_tracepoint_may_come_twice),
	KUNIT_CASE(one_probe_takes_the_place_of_another),
	KUNIT_CASE(each_request_has_its_error),
	KUNIT_CASE(what_cannot_be_connected_is_not),
	KUNIT_CASE(what_cannot_be_removed_is_not_called),
	KUNIT_CASE(a_failed_exchange_leaves_none),
	KUNIT_CASE(a_failure_leaves_what_was_not_to_go),
	KUNIT_CASE(each_probe_gets_its_own_data),
	{}
};

static struct kunit_suite tracepoint_suite = {
	.name		= "text_poke_tracepoint",
	.init		= text_poke_test_count_batches,
	.exit		= text_poke_test_count_no_more,
	.test_cases	= tracepoint_cases,
};

kunit_test_suite(tracepoint_suite);

MODULE_DESCRIPTION("KUnit test of tracepoint groups");
MODULE_LICENSE("GPL");
