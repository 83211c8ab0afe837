// SPDX-License-Identifier: GPL-2.0
/*
 * Threads run a function whose code is replaced meanwhile, with a guard of
 * perf's breakpoints and with all threads stopped, and it is told how long they
 * had to wait. Half of the threads have nothing to do with that function.
 *
 * user-patch [THREADS [PATCHES]]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user_patch.h"

#define SPINS		200
#define THREADS		8
#define PATCHES		20
#define TIMEOUT_MS	10000

typedef int apply_fn(const struct user_patch *p, struct user_patch_cost *cost);

static bool stop;
static unsigned long calls, mixtures;

static bool is_whole(unsigned long result)
{
	return result == victim_result(0) || result == victim_result(1);
}

/* Most of a program is something else; stopped there, a thread is outside. */
static void spend_time_outside(void)
{
	for (int i = 0; i < 8 * SPINS; i++)
		asm volatile("" ::: "memory");
}

static void *run_victim(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (!is_whole(victim(SPINS)))
			__atomic_add_fetch(&mixtures, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
		spend_time_outside();
	}
	return NULL;
}

static void *run_something_else(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		__atomic_load_n(&calls, __ATOMIC_RELAXED);
	return NULL;
}

static void start(pthread_t *threads, int nr)
{
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, i % 2 ? run_victim :
				   run_something_else, NULL)) {
			perror("pthread_create");
			exit(1);
		}
}

static void add(struct user_patch_cost *sum, const struct user_patch_cost *one)
{
	sum->waits += one->waits;
	sum->wait_sum_ns += one->wait_sum_ns;
	sum->total_ns += one->total_ns;
	if (sum->wait_max_ns < one->wait_max_ns)
		sum->wait_max_ns = one->wait_max_ns;
	if (sum->answer_max_ns < one->answer_max_ns)
		sum->answer_max_ns = one->answer_max_ns;
}

static void tell(const char *how, int patches, const struct user_patch_cost *c)
{
	printf("%s: %d patches in %llu us each\n", how, patches,
	       c->total_ns / 1000 / patches);
	printf("  threads waited %u times, %llu us at most, %llu us together\n",
	       c->waits, c->wait_max_ns / 1000, c->wait_sum_ns / 1000);
	if (c->answer_max_ns)
		printf("  threads were asked where they are, for %llu us at most\n",
		       c->answer_max_ns / 1000);
}

static int run(const char *how, apply_fn *apply, int patches)
{
	struct user_patch_cost cost, sum = { 0 };

	for (int i = 0; i < patches; i++) {
		struct user_patch patch = {
			.entry		= victim,
			.code		= victim_code(!(i % 2)),
			.len		= victim_len,
			.timeout_ms	= TIMEOUT_MS,
		};
		int err = apply(&patch, &cost);

		if (err) {
			fprintf(stderr, "%s: %s\n", how, strerror(-err));
			return err;
		}
		add(&sum, &cost);
	}
	tell(how, patches, &sum);
	return 0;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : THREADS;
	int patches = argc > 2 ? atoi(argv[2]) : PATCHES;
	pthread_t *threads = calloc(nr > 0 ? nr : 1, sizeof(*threads));
	int err;

	if (!threads || nr < 1 || patches < 1) {
		fprintf(stderr, "usage: user-patch [THREADS [PATCHES]]\n");
		return 2;
	}
	err = user_patch_open(victim);
	if (err) {
		fprintf(stderr, "no hardware breakpoint on instructions that raises a signal: %s\n",
			strerror(-err));
		return 1;
	}
	start(threads, nr);
	err = run("guarded by breakpoints", user_patch_apply, patches) ||
	      run("stopped by ptrace", stopped_apply, patches);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%lu calls, %lu of them of a mixture\n", calls, mixtures);
	return err || mixtures;
}
