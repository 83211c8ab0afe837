/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replace the code of a function while threads of this process run it, and stop
 * only those threads that come to it meanwhile.
 *
 *	user_patch_open(function);		before there are threads
 *	...
 *	user_patch_apply(&(struct user_patch) {	by any thread, at any time
 *		.entry = function, .code = code, .len = len,
 *		.timeout_ms = 1000,
 *	}, &cost);
 *
 * user_patch.c has the protocol, why it is right, and what it asks of the
 * program.
 */
#ifndef SAMPLES_USER_PATCH_H
#define SAMPLES_USER_PATCH_H

#include <stddef.h>

/* What a test leaves out, to see that it would be missed. */
enum user_patch_omission {
	USER_PATCH_OMIT_NOTHING,
	USER_PATCH_OMIT_GUARD,
	USER_PATCH_OMIT_WAIT,
};

/*
 * @entry: where every thread comes in: the first instruction of the function
 * @code: what is to be there; it has to run at another address than its own
 * @len: how many bytes of it; a multiple of USER_PATCH_UNIT
 * @timeout_ms: give up, with nothing changed, if some thread takes longer to
 *	answer or to leave the function
 * @between: called after each store that changes something, or NULL
 */
struct user_patch {
	void *entry;
	const void *code;
	size_t len;
	unsigned int timeout_ms;
	void (*between)(void);
	enum user_patch_omission omit;
};

/*
 * @asked: threads that were asked where they are, at most at a time
 * @passes: how often all of them were asked
 * @again: passes after which a thread was found without a guard
 * @waits: threads that came to the entry, and waited there
 * @wait_max_ns, @wait_sum_ns: for how long
 * @answer_max_ns: how long a thread was busy with an answer, at most
 * @total_ns: from the first step to the last
 */
struct user_patch_cost {
	unsigned int asked;
	unsigned int passes;
	unsigned int again;
	unsigned int waits;
	unsigned long long wait_max_ns;
	unsigned long long wait_sum_ns;
	unsigned long long answer_max_ns;
	unsigned long long total_ns;
};

/* The part of an instruction that one store may change. */
#if defined(__x86_64__)
#define USER_PATCH_UNIT	1
#else
#define USER_PATCH_UNIT	4
#endif

int user_patch_open(void *entry);
int user_patch_apply(const struct user_patch *patch,
		     struct user_patch_cost *cost);
void user_patch_close(void);

unsigned long long user_patch_now_ns(void);

/* victim.c: a function to try it on, and the code that it may have. */
#define VICTIM_VERSIONS	2

extern const size_t victim_len;

unsigned long victim(unsigned long spins);
const void *victim_code(int version);
unsigned long victim_result(int version);

/* stopped.c: the same, with all threads stopped by ptrace meanwhile. */
int stopped_apply(const struct user_patch *patch, struct user_patch_cost *cost);

#endif
