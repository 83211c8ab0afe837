// SPDX-License-Identifier: GPL-2.0
/*
 * What samples/user_patch/ does: no thread ever runs half of a function that is
 * replaced, nor the old one afterwards, threads that come and go included. That
 * this would be noticed is shown with steps left out; that nothing is changed by
 * a patch that gives up, with threads that do not let it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "../kselftest.h"
#include "../../../../samples/user_patch/user_patch.h"

#define WORKERS		4
#define BYSTANDERS	4
#define CHURNERS	2
#define CALLS		3
#define SPINS		500
#define SLOW_SECONDS	0.05
#define SPINS_FOREVER	0x10000000000UL
#define STORE_US	200
#define STACK_BYTES	262144
#define PATCHES_MIN	20
#define SECONDS_MIN	2
#define SECONDS_MAX	20
#define TIMEOUT_MS	60000
#define IMPATIENT_MS	100
#define LEAVING_MS	2000

static double now_seconds(void)
{
	return user_patch_now_ns() / 1e9;
}

typedef int apply_fn(const struct user_patch *p, struct user_patch_cost *cost);

static bool stop;
static unsigned long calls, mixtures, stale, come_and_gone;
/* Patches that have begun and ended; the last one makes the version. */
static unsigned int begun, ended;

static void count(unsigned long *what)
{
	__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

static unsigned long counted(unsigned long *what)
{
	return __atomic_load_n(what, __ATOMIC_RELAXED);
}

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* What was there before or after any patch that the call has met is fine. */
static void judge(unsigned long result, unsigned int from, unsigned int until)
{
	for (unsigned int i = from; i <= until; i++)
		if (result == victim_result(i % VICTIM_VERSIONS))
			return;
	if (result == victim_result(0) || result == victim_result(1))
		count(&stale);
	else
		count(&mixtures);
}

static void call_victim_for(unsigned long spins)
{
	unsigned int from = __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
	unsigned long result = victim(spins);

	judge(result, from, __atomic_load_n(&begun, __ATOMIC_ACQUIRE));
	count(&calls);
}

static void call_victim(void)
{
	call_victim_for(SPINS);
}

static void *worker(void *arg)
{
	while (!stopped())
		call_victim();
	return arg;
}

/* A call that lasts longer than it takes to ask all threads where they are. */
static unsigned long slow_spins(void)
{
	unsigned long spins = SPINS;
	double start, took;

	do {
		spins *= 2;
		start = now_seconds();
		victim(spins);
		took = now_seconds() - start;
	} while (took < SLOW_SECONDS);
	return spins;
}

static unsigned long slow;

static void *slow_worker(void *arg)
{
	while (!stopped())
		call_victim_for(slow);
	return arg;
}

/* Runs, but never comes to the function. */
static void *bystander(void *arg)
{
	while (!stopped())
		sched_yield();
	return arg;
}

static void create(pthread_t *thread, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_create(thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	if (err)
		ksft_exit_fail_msg("creating a thread: %s\n", strerror(err));
}

/* Threads of threads: a guard is inherited by more than one generation. */
static void *generation(void *arg)
{
	long left = (long)arg;
	pthread_t next;

	if (left)
		create(&next, generation, (void *)(left - 1));
	for (int i = 0; i < CALLS; i++)
		call_victim();
	if (left)
		pthread_join(next, NULL);
	count(&come_and_gone);
	return NULL;
}

static void *churner(void *arg)
{
	pthread_t first;

	while (!stopped()) {
		create(&first, generation, (void *)2L);
		pthread_join(first, NULL);
	}
	return arg;
}

static pthread_t threads[WORKERS + BYSTANDERS + CHURNERS];
static int nr_threads;

static void start(void *(*fn)(void *), int nr)
{
	while (nr--)
		create(&threads[nr_threads++], fn, NULL);
}

static void join_all(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	while (nr_threads)
		pthread_join(threads[--nr_threads], NULL);
	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	mixtures = 0;
	stale = 0;
}

static void let_others_run(void)
{
	usleep(STORE_US);
}

static struct user_patch next_patch(void)
{
	return (struct user_patch) {
		.entry		= victim,
		.code		= victim_code((ended + 1) % VICTIM_VERSIONS),
		.len		= victim_len,
		.timeout_ms	= TIMEOUT_MS,
		.between	= let_others_run,
	};
}

static void apply(apply_fn *how, const struct user_patch *p,
		  struct user_patch_cost *cost)
{
	int err;

	__atomic_store_n(&begun, ended + 1, __ATOMIC_RELEASE);
	err = how(p, cost);
	if (err)
		ksft_exit_fail_msg("replacing code: %s\n", strerror(-err));
	__atomic_store_n(&ended, begun, __ATOMIC_RELEASE);
}

static void mixture_is_seen(enum user_patch_omission omit,
			    void *(*caller)(void *), const char *name)
{
	double end = now_seconds() + SECONDS_MAX;
	struct user_patch_cost cost;
	int patches = 0;

	start(caller, WORKERS);
	while (!counted(&mixtures) && now_seconds() < end) {
		struct user_patch p = next_patch();

		p.omit = omit;
		apply(user_patch_apply, &p, &cost);
		patches++;
	}
	ksft_test_result(counted(&mixtures), "%s: %lu calls after %d patches\n",
			 name, counted(&mixtures), patches);
	join_all();
}

static void none_is_seen(void)
{
	double end = now_seconds() + SECONDS_MIN;
	struct user_patch_cost cost;
	unsigned long waits = 0;
	int patches = 0, again = 0;

	start(worker, WORKERS);
	start(slow_worker, 1);
	start(churner, CHURNERS);
	come_and_gone = 0;
	calls = 0;
	while (patches < PATCHES_MIN || now_seconds() < end) {
		struct user_patch p = next_patch();

		apply(user_patch_apply, &p, &cost);
		waits += cost.waits;
		again += cost.again;
		patches++;
	}
	ksft_print_msg("%d patches, %lu calls, %lu waits, %d times a thread without a guard\n",
		       patches, counted(&calls), waits, again);
	ksft_test_result(!counted(&mixtures), "no_call_is_of_a_mixture: %lu\n",
			 counted(&mixtures));
	ksft_test_result(!counted(&stale), "no_call_is_of_old_code: %lu\n",
			 counted(&stale));
	ksft_test_result(waits, "threads_wait_at_the_entry: %lu\n", waits);
	ksft_test_result(counted(&come_and_gone), "threads_come_and_go: %lu\n",
			 counted(&come_and_gone));
	join_all();
}

static bool is_version(int version)
{
	return !memcmp(victim, victim_code(version), victim_len);
}

/* Code as it was, and no thread waits any more. */
static void gives_up(const char *name, unsigned int timeout_ms)
{
	struct user_patch p = next_patch();
	struct user_patch_cost cost;
	int err;

	p.timeout_ms = timeout_ms;
	err = user_patch_apply(&p, &cost);
	call_victim();
	ksft_test_result(err == -ETIMEDOUT &&
			 is_version(ended % VICTIM_VERSIONS),
			 "%s: %s\n", name, strerror(-err));
}

static sigset_t trap_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	return set;
}

static void *block_traps(void *arg)
{
	sigset_t set = trap_signal();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return bystander(arg);
}

static void *stay_inside(void *arg)
{
	victim(SPINS_FOREVER);
	return arg;
}

/* What it interrupts goes on with SIGTRAP blocked. */
static void block_interrupted(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
}

/* When the patch waits for the thread to leave, and for nothing else. */
static void *block_inside(void *arg)
{
	struct sigaction act = {
		.sa_sigaction	= block_interrupted,
		.sa_flags	= SA_SIGINFO | SA_RESTART,
	};
	double start = now_seconds();

	sigfillset(&act.sa_mask);
	sigaction(SIGUSR1, &act, NULL);
	/* A question ends a sleep, and a handler what was blocked in it. */
	while (now_seconds() < start + LEAVING_MS / 2e3)
		usleep(STORE_US);
	while (now_seconds() < start + LEAVING_MS / 1e3) {
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
		usleep(STORE_US);
	}
	return arg;
}

/* It goes with the process: nothing else gets it out. */
static void gives_up_on_a_thread_that_stays(void)
{
	pthread_t thread, blocker;

	create(&thread, stay_inside, NULL);
	/* Until it is there; were it not, the patch would succeed. */
	usleep(100000);
	gives_up("a_thread_that_stays_is_not_cut_off", IMPATIENT_MS);
	create(&blocker, block_inside, &thread);
	gives_up("a_thread_that_traps_no_more_has_not_left", LEAVING_MS);
	pthread_join(blocker, NULL);
}

static void gives_up_on_a_thread_that_does_not_trap(void)
{
	start(block_traps, 1);
	usleep(100000);
	gives_up("a_thread_that_does_not_trap_is_not_trusted", IMPATIENT_MS);
	join_all();
}

static void tell(const char *how, apply_fn *fn)
{
	struct user_patch p = next_patch();
	struct user_patch_cost c;

	p.between = NULL;
	apply(fn, &p, &c);
	ksft_print_msg("%s: %llu us, answers of %u threads in %llu us at most\n",
		       how, c.total_ns / 1000, c.asked, c.answer_max_ns / 1000);
	ksft_print_msg("%s: %u threads waited, %llu us at most, %llu together\n",
		       how, c.waits, c.wait_max_ns / 1000,
		       c.wait_sum_ns / 1000);
	ksft_test_result(is_version(ended % VICTIM_VERSIONS),
			 "the_code_is_new: %s\n", how);
}

static void *worker_at_times(void *arg)
{
	while (!stopped()) {
		call_victim();
		usleep(STORE_US);
	}
	return arg;
}

/* Stopped by ptrace, every thread waits; with a guard, those that come. */
static void compare(void)
{
	start(worker_at_times, WORKERS);
	start(bystander, BYSTANDERS);
	tell("guarded by breakpoints", user_patch_apply);
	tell("stopped by ptrace", stopped_apply);
	join_all();
}

int main(void)
{
	int err;

	ksft_print_header();
	err = user_patch_open(victim);
	if (err)
		ksft_exit_skip("no breakpoints on instructions that raise signals: %s\n",
			       strerror(-err));
	ksft_set_plan(11);
	slow = slow_spins();
	mixture_is_seen(USER_PATCH_OMIT_GUARD, worker,
			"without_a_guard_there_are_mixtures");
	mixture_is_seen(USER_PATCH_OMIT_WAIT, slow_worker,
			"a_thread_inside_would_run_a_mixture");
	none_is_seen();
	compare();
	gives_up_on_a_thread_that_does_not_trap();
	gives_up_on_a_thread_that_stays();
	ksft_finished();
}
