// SPDX-License-Identifier: GPL-2.0
/*
 * Replace the code of a function while threads of this process run it.
 *
 * A function is more than one store, and a thread may be anywhere in it. What
 * is needed is that no thread is inside while bytes change, that none enters,
 * and that each fetches the new bytes when it does:
 *
 *	patching thread				any other thread
 *	----------------------------------	------------------------------
 *	a: close the gate
 *	b: enable the breakpoints ............. b': entering the function is a
 *						SIGTRAP, whose handler waits
 *	c: ask each thread, several times ..... c': "I trap, and am outside"
 *	   ask those inside again, until
 *	   they have left
 *	d: store the new code
 *	e: membarrier(SYNC_CORE) .............. e': refetches
 *	f: disable the breakpoints
 *	g: open the gate ...................... g': goes back to the entry
 *
 * A thread that neither enters the function nor is in it loses the time of one
 * signal. A patch that gives up before d has changed nothing.
 *
 * b: There is one event for the entry, which was opened for the first thread
 *    before there were others. It is inherited by every thread that is created,
 *    for as long as there is one. Enabling and disabling it reaches all.
 *
 *    But for one: while a thread creates another, the kernel looks at the state
 *    of the event that is inherited, and only then puts the new one where
 *    enabling finds it. In between it may be missed, and the new thread has no
 *    guard; nor has what that one creates. So nothing is believed:
 *
 * c: A thread proves that it traps. There is a second breakpoint, on an
 *    instruction that only the answer to a question executes. It is always
 *    enabled, but it is the sibling in a group of which the entry's is the
 *    leader, and the kernel schedules no group whose leader is off. So a thread
 *    that traps there traps at the entry as well, whatever it has inherited and
 *    when. If a thread does not trap, b and c are repeated. The handler also shows
 *    in that way that SIGTRAP is not blocked.
 *
 *    Two passes would be needed in which each thread traps. Let U be a thread
 *    without a guard, and the first of its kind: what created it was at that since
 *    before the end of b. In the first pass its creator answers, so that U is
 *    there before the second one begins. U has then to answer itself. If U is
 *    gone by then, so is the creation of whatever it has created, to which the
 *    same applies. A thread that is gone before it has answered may have created
 *    another in time, so that a pass counts only if each thread has answered.
 *
 *    But an answer does not hold for long. When a thread follows another on a
 *    CPU, and the kernel takes their events for copies of the same, it lets them
 *    exchange these instead of switching. So what one lacks may be another's that
 *    has answered. Therefore the events are enabled anew before each pass, which
 *    reaches all threads that are there. What it may miss once more is a thread
 *    that is just being created by one that was missed the time before; and so on:
 *    after PASSES_NEEDED passes there would have to be as many generations, each
 *    created at the very moment. That is no proof. There would be one if the kernel
 *    read the state and put the copy into the list under the lock that enabling
 *    takes.
 *
 *    To ask each thread one must find each. /proc/self/task has them in the
 *    order of their creation, and reading it ends too early if a thread exits
 *    at the wrong moment. So a thread is created for each pass: it is the last,
 *    and a read that gets to it has found all that were there before. One read of
 *    everything is needed: a second one may go on at the wrong place.
 *
 *    A thread is inside if its next instruction is, the entry excepted. It stays
 *    outside once it is, for it traps. Without this step a thread that was
 *    inside goes on with half of either.
 *
 *    On x86 an interrupted thread may have the resume flag set, by a page fault
 *    on the first instruction or by the breakpoint itself. Then it would execute
 *    that without a trap. Both handlers take the flag away. arm64 has a similar
 *    state in the kernel, and leaves it when it calls a handler.
 *
 * e: Without this another CPU may execute what it has fetched before d, whatever
 *    memory holds. It comes before f: afterwards there is no guard.
 *
 * g: A thread goes back to the entry, and executes it if it does not trap any
 *    more. If it traps with the gate open, then its event was missed in f as
 *    others are in b, and its handler disables the events again.
 *
 * What this asks of a program:
 *  - The function is left by nothing but its end: it calls nothing, for a thread
 *    whose caller is the function would look as if it were outside. It is entered
 *    at its beginning only.
 *  - A signal handler may interrupt the function. So the handlers of the program
 *    have QUERY_SIGNAL in their sa_mask, and a thread in one answers later.
 *  - No thread that runs the function has SIGTRAP blocked. A thread that has it
 *    or QUERY_SIGNAL blocked for longer makes the patch give up.
 *  - A process that is forked has no guard. fork() waits for the end of a patch;
 *    a program that calls clone() has to see to that itself.
 *  - Two breakpoints of each thread.
 *  - perf_event_paranoid has to be 2 or less, or CAP_PERFMON be there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <linux/futex.h>
#include <linux/hw_breakpoint.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "user_patch.h"

#define QUERY_SIGNAL	SIGRTMIN
#define THREADS_MAX	32768
#define DENTS_BYTES	1048576
#define PASSES_NEEDED	4
#define ASK_AGAIN_NS	20000000ULL
#define NAP_NS		50000L

#ifndef TRAP_PERF
#define TRAP_PERF	6
#endif

#if defined(__x86_64__)
#define EFLAGS_RF	0x10000UL
#define BREAKPOINT_LEN	sizeof(long)
#define UNIT		unsigned char

static uintptr_t get_pc(const ucontext_t *uc)
{
	return uc->uc_mcontext.gregs[REG_RIP];
}

static void set_pc(ucontext_t *uc, uintptr_t pc)
{
	uc->uc_mcontext.gregs[REG_RIP] = pc;
}

static void set_result(ucontext_t *uc, unsigned long value)
{
	uc->uc_mcontext.gregs[REG_RAX] = value;
}

static void forget_resume(ucontext_t *uc)
{
	uc->uc_mcontext.gregs[REG_EFL] &= ~EFLAGS_RF;
}

asm(".pushsection .text\n"
	".type probe, @function\n"
	"probe:	xorl	%eax, %eax\n"
	"probe_trap: nop\n"
	"probe_done: ret\n"
	".size probe, . - probe\n"
	".popsection\n");
#elif defined(__aarch64__)
#define BREAKPOINT_LEN	HW_BREAKPOINT_LEN_4
#define UNIT		unsigned int

static uintptr_t get_pc(const ucontext_t *uc)
{
	return uc->uc_mcontext.pc;
}

static void set_pc(ucontext_t *uc, uintptr_t pc)
{
	uc->uc_mcontext.pc = pc;
}

static void set_result(ucontext_t *uc, unsigned long value)
{
	uc->uc_mcontext.regs[0] = value;
}

static void forget_resume(ucontext_t *uc)
{
	(void)uc;
}

asm(".pushsection .text\n"
	".type probe, %function\n"
	"probe:	mov	x0, #0\n"
	"probe_trap: nop\n"
	"probe_done: ret\n"
	".size probe, . - probe\n"
	".popsection\n");
#endif

unsigned long long user_patch_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#ifdef BREAKPOINT_LEN
/* Whether the thread traps: 1 comes from the handler. */
unsigned long probe(void);
/*
 * Hidden, or GCC takes their addresses from the global offset table. On arm64
 * what the linker puts there for a local label is where its section begins.
 */
extern const char probe_trap[] __attribute__((visibility("hidden")));
extern const char probe_done[] __attribute__((visibility("hidden")));

enum answer { NONE, UNGUARDED, INSIDE, OUTSIDE, GONE, NR_ANSWERS };

/*
 * One thread that is asked. What the handler is told is its place here, and
 * which pass it is. @state has the pass and the answer, so that a handler that
 * was asked twice, and is late, does not answer for another thread.
 */
struct thread {
	pid_t tid;
	unsigned long long state;
};

static struct {
	int probe_fd;
	int entry_fd;
	uintptr_t entry;
	uintptr_t end;
	/* 1: a thread that comes to the entry waits; a futex. */
	int closed;
	int waiting;
	/* Events are being enabled or disabled, or are to stay enabled. */
	int busy;
	unsigned long long pass;
	struct thread threads[THREADS_MAX];
	int nr_threads;
	char dents[DENTS_BYTES];
	unsigned long long deadline;
	struct user_patch_cost cost;
} guard = { .probe_fd = -1, .entry_fd = -1 };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void futex(int *word, int op, int value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void raise_to(unsigned long long *max, unsigned long long value)
{
	unsigned long long seen = __atomic_load_n(max, __ATOMIC_RELAXED);

	while (value > seen &&
	       !__atomic_compare_exchange_n(max, &seen, value, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* The group goes with its leader. */
static void events_disable(void)
{
	ioctl(guard.entry_fd, PERF_EVENT_IOC_DISABLE, 0);
}

static int events_enable(void)
{
	return ioctl(guard.entry_fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

static bool busy_trylock(void)
{
	return !__atomic_exchange_n(&guard.busy, 1, __ATOMIC_ACQUIRE);
}

static void busy_unlock(void)
{
	__atomic_store_n(&guard.busy, 0, __ATOMIC_RELEASE);
}

/* A thread that was being created in step f. If busy, it traps once more. */
static void disable_missed(void)
{
	if (!busy_trylock())
		return;
	events_disable();
	busy_unlock();
}

static void wait_for_gate(void)
{
	unsigned long long start = user_patch_now_ns(), waited;

	while (__atomic_load_n(&guard.closed, __ATOMIC_ACQUIRE))
		futex(&guard.closed, FUTEX_WAIT, 1);
	waited = user_patch_now_ns() - start;
	raise_to(&guard.cost.wait_max_ns, waited);
	__atomic_add_fetch(&guard.cost.wait_sum_ns, waited, __ATOMIC_RELAXED);
	__atomic_add_fetch(&guard.cost.waits, 1, __ATOMIC_RELAXED);
}

static void wait_at_entry(void)
{
	__atomic_add_fetch(&guard.waiting, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&guard.closed, __ATOMIC_ACQUIRE))
		wait_for_gate();
	else
		disable_missed();
	__atomic_sub_fetch(&guard.waiting, 1, __ATOMIC_RELEASE);
}

/* A trap of another kind: as if this handler were not there. */
static void pass_on(void)
{
	signal(SIGTRAP, SIG_DFL);
	raise(SIGTRAP);
}

/*
 * SIGTRAP was blocked when the thread came to the entry, or answered, and is not any
 * more: a handler had blocked it in another handler's context. The answer was that
 * the thread is unguarded.
 */
static bool is_late(const siginfo_t *info)
{
	uintptr_t addr = (uintptr_t)info->si_addr;

	return info->si_code == TRAP_PERF &&
	       (addr == (uintptr_t)probe_trap || addr == guard.entry);
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = get_pc(context);
	int saved = errno;

	(void)sig;
	if (info->si_code == TRAP_PERF && pc == (uintptr_t)probe_trap) {
		set_result(context, 1);
		set_pc(context, (uintptr_t)probe_done);
	} else if (info->si_code == TRAP_PERF && pc == guard.entry) {
		wait_at_entry();
	} else if (!is_late(info)) {
		pass_on();
	}
	forget_resume(context);
	errno = saved;
}

static unsigned long long state_of(unsigned long long pass, enum answer answer)
{
	return pass * NR_ANSWERS + answer;
}

static enum answer answer_of(const struct thread *t)
{
	return __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) % NR_ANSWERS;
}

/* By the patching thread alone: to ask again, or for one that is gone. */
static void answer_set(struct thread *t, enum answer answer)
{
	__atomic_store_n(&t->state, state_of(guard.pass, answer),
			 __ATOMIC_RELEASE);
}

static enum answer answer_now(uintptr_t pc)
{
	if (!probe())
		return UNGUARDED;
	return pc > guard.entry && pc < guard.end ? INSIDE : OUTSIDE;
}

/* Where a thread is asked: which pass, and which of its threads. */
static void on_query(int sig, siginfo_t *info, void *context)
{
	unsigned long long start = user_patch_now_ns();
	uintptr_t word = (uintptr_t)info->si_value.sival_ptr;
	struct thread *t = &guard.threads[word % THREADS_MAX];
	unsigned long long asked = state_of(word / THREADS_MAX, NONE);
	int saved = errno;
	enum answer answer;

	(void)sig;
	forget_resume(context);
	answer = answer_now(get_pc(context));
	__atomic_compare_exchange_n(&t->state, &asked,
				    state_of(word / THREADS_MAX, answer), false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	raise_to(&guard.cost.answer_max_ns, user_patch_now_ns() - start);
	errno = saved;
}

static int ask(int which)
{
	uintptr_t word = (uintptr_t)guard.pass * THREADS_MAX + which;
	siginfo_t info = {
		.si_code	= SI_QUEUE,
		.si_pid		= getpid(),
		.si_uid		= getuid(),
		.si_value	= { .sival_ptr = (void *)word },
	};

	info.si_signo = QUERY_SIGNAL;
	return syscall(SYS_rt_tgsigqueueinfo, getpid(),
		       guard.threads[which].tid, QUERY_SIGNAL, &info);
}

static bool too_late(void)
{
	return user_patch_now_ns() > guard.deadline;
}

static void nap(void)
{
	struct timespec nap = { .tv_nsec = NAP_NS };

	nanosleep(&nap, NULL);
}

/*
 * Waits for one thread, which has been asked. It is asked again when it was
 * inside, and after a while: it may be gone, and another have its number.
 */
static int await(int which, bool until_outside)
{
	struct thread *t = &guard.threads[which];
	unsigned long long asked = user_patch_now_ns();

	for (;;) {
		enum answer a = answer_of(t);
		bool again = until_outside && a == INSIDE;

		if (a != NONE && !again)
			return 0;
		if (too_late())
			return -ETIMEDOUT;
		nap();
		if (!again && user_patch_now_ns() - asked < ASK_AGAIN_NS)
			continue;
		asked = user_patch_now_ns();
		if (again)
			answer_set(t, NONE);
		if (ask(which) && errno == ESRCH)
			answer_set(t, GONE);
	}
}

/* A thread that is there for nothing but to be the last one. */
struct last {
	pthread_t thread;
	int tid;
	int done;
};

static void *be_last(void *arg)
{
	struct last *last = arg;

	__atomic_store_n(&last->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	futex(&last->tid, FUTEX_WAKE, INT_MAX);
	while (!__atomic_load_n(&last->done, __ATOMIC_ACQUIRE))
		futex(&last->done, FUTEX_WAIT, 0);
	return NULL;
}

static int last_create(struct last *last)
{
	int err;

	*last = (struct last) { 0 };
	err = pthread_create(&last->thread, NULL, be_last, last);
	if (err)
		return -err;
	while (!__atomic_load_n(&last->tid, __ATOMIC_ACQUIRE))
		futex(&last->tid, FUTEX_WAIT, 0);
	return 0;
}

static void last_end(struct last *last)
{
	__atomic_store_n(&last->done, 1, __ATOMIC_RELEASE);
	futex(&last->done, FUTEX_WAKE, INT_MAX);
	pthread_join(last->thread, NULL);
}

struct dent {
	unsigned long long ino;
	long long off;
	unsigned short len;
	unsigned char type;
	char name[];
};

static void thread_add(pid_t tid)
{
	if (tid != syscall(SYS_gettid) && guard.nr_threads < THREADS_MAX)
		guard.threads[guard.nr_threads++] = (struct thread) {
			.tid = tid, .state = state_of(guard.pass, NONE) };
}

/* True if it got as far as @last, and so has found all before it. */
static bool threads_read(pid_t last)
{
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long len = syscall(SYS_getdents64, fd, guard.dents, DENTS_BYTES);
	bool found = false;

	guard.nr_threads = 0;
	for (long pos = 0; pos < len && !found;) {
		struct dent *d = (struct dent *)(guard.dents + pos);
		pid_t tid = atoi(d->name);

		pos += d->len;
		found = tid == last;
		if (tid && !found)
			thread_add(tid);
	}
	close(fd);
	return found && guard.nr_threads < THREADS_MAX;
}

/* All threads that there are, at a time within this function. */
static int threads_find(void)
{
	struct last last;
	bool found;
	int err = last_create(&last);

	if (err)
		return err;
	do
		found = threads_read(last.tid);
	while (!found && !too_late());
	last_end(&last);
	return found ? 0 : -ETIMEDOUT;
}

static int ask_all(void)
{
	for (int i = 0; i < guard.nr_threads; i++) {
		/* With too many signals waiting, await() asks again. */
		if (ask(i) && errno == ESRCH)
			answer_set(&guard.threads[i], GONE);
	}
	for (int i = 0; i < guard.nr_threads; i++) {
		int err = await(i, false);

		if (err)
			return err;
	}
	return 0;
}

static bool any(enum answer answer)
{
	for (int i = 0; i < guard.nr_threads; i++)
		if (answer_of(&guard.threads[i]) == answer)
			return true;
	return false;
}

static int one_pass(void)
{
	int err;

	guard.pass++;
	guard.cost.passes++;
	err = threads_find();
	if (err)
		return err;
	if (guard.cost.asked < (unsigned int)guard.nr_threads)
		guard.cost.asked = guard.nr_threads;
	return ask_all();
}

/* Each thread traps. Those inside have not been waited for. */
static int all_trap(void)
{
	int clean = 0, err = 0;

	while (!err && clean < PASSES_NEEDED) {
		err = events_enable();
		if (!err)
			err = one_pass();
		if (!err && any(UNGUARDED)) {
			guard.cost.again++;
			clean = 0;
		} else if (!any(GONE)) {
			clean++;
		}
		if (!err && too_late())
			err = -ETIMEDOUT;
	}
	return err;
}

static int all_leave(void)
{
	int err = 0;

	for (int i = 0; i < guard.nr_threads && !err; i++)
		err = await(i, true);
	return err;
}

/*
 * Steps b and c. A thread inside that traps no more has not said that it has
 * left, and would not be kept out: all are asked anew.
 */
static int all_outside(enum user_patch_omission omit)
{
	int err;

	for (;;) {
		err = all_trap();
		if (!err && omit != USER_PATCH_OMIT_WAIT)
			err = all_leave();
		if (err || !any(UNGUARDED))
			return err;
		guard.cost.again++;
	}
}

/* Other code in these pages is executed while they can be written. */
static int protect(const struct user_patch *p, int prot)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)p->entry & -page;
	uintptr_t end = ((uintptr_t)p->entry + p->len + page - 1) & -page;

	return mprotect((void *)first, end - first, prot) ? -errno : 0;
}

static void store_all(const struct user_patch *p)
{
	UNIT *to = p->entry;
	const UNIT *from = p->code;

	for (size_t i = 0; i < p->len / sizeof(*to); i++) {
		if (to[i] == from[i])
			continue;
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
		if (p->between)
			p->between();
	}
}

/* Steps d and e. That it can be written is known before anything is. */
static int replace(const struct user_patch *p)
{
	int err = protect(p, PROT_READ | PROT_WRITE | PROT_EXEC);

	if (err)
		return err;
	store_all(p);
	__builtin___clear_cache((char *)p->entry, (char *)p->entry + p->len);
	/* It was tried when we registered, and does not fail after that. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
		    0, 0))
		abort();
	protect(p, PROT_READ | PROT_EXEC);
	return 0;
}

static void gate(bool closed)
{
	__atomic_store_n(&guard.closed, closed, __ATOMIC_RELEASE);
	if (!closed)
		futex(&guard.closed, FUTEX_WAKE, INT_MAX);
}

static int replace_guarded(const struct user_patch *p)
{
	int err;

	while (!busy_trylock())
		sched_yield();
	gate(true);
	err = all_outside(p->omit);
	if (!err)
		err = replace(p);
	events_disable();
	gate(false);
	busy_unlock();
	return err;
}

/**
 * user_patch_apply() - replace the code of the function
 * @p:		what to put there
 * @cost:	filled in: how long it took, and others had to wait; or NULL
 *
 * Context: any thread, but not a signal handler.
 * Return: 0 if every thread has the new code, or a negative errno if nothing has
 *	changed: -ETIMEDOUT if a thread has not answered, not trapped, or not left
 *	the function in time.
 */
int user_patch_apply(const struct user_patch *p, struct user_patch_cost *cost)
{
	unsigned long long start = user_patch_now_ns();
	int err;

	if ((uintptr_t)p->entry != guard.entry || p->len % sizeof(UNIT))
		return -EINVAL;
	pthread_mutex_lock(&one_at_a_time);
	memset(&guard.cost, 0, sizeof(guard.cost));
	guard.end = guard.entry + p->len;
	guard.deadline = start + p->timeout_ms * 1000000ULL;
	if (p->omit == USER_PATCH_OMIT_GUARD)
		err = replace(p);
	else
		err = replace_guarded(p);
	guard.cost.total_ns = user_patch_now_ns() - start;
	/* Until all that have waited have said for how long. */
	while (__atomic_load_n(&guard.waiting, __ATOMIC_ACQUIRE) && !too_late())
		nap();
	if (cost)
		*cost = guard.cost;
	pthread_mutex_unlock(&one_at_a_time);
	return err;
}

static int breakpoint(uintptr_t addr, int leader)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_BREAKPOINT,
		.size		= sizeof(attr),
		.bp_type	= HW_BREAKPOINT_X,
		.bp_addr	= addr,
		.bp_len		= BREAKPOINT_LEN,
		.sample_period	= 1,
		.disabled	= leader < 0,
		.inherit	= 1,
		.inherit_thread	= 1,
		.remove_on_exec	= 1,
		.sigtrap	= 1,
		.exclude_kernel	= 1,
		.exclude_hv	= 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, leader,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int handle(int sig, void (*handler)(int, siginfo_t *, void *), int more)
{
	struct sigaction act = {
		.sa_sigaction	= handler,
		.sa_flags	= SA_SIGINFO | SA_RESTART | more,
	};

	return sigaction(sig, &act, NULL) ? -errno : 0;
}

static void lock_for_fork(void)
{
	pthread_mutex_lock(&one_at_a_time);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&one_at_a_time);
}

static int open_events(void)
{
	guard.entry_fd = breakpoint(guard.entry, -1);
	if (guard.entry_fd < 0)
		return guard.entry_fd;
	guard.probe_fd = breakpoint((uintptr_t)probe_trap, guard.entry_fd);
	return guard.probe_fd < 0 ? guard.probe_fd : 0;
}

/* Only what is created later inherits. */
static int check_alone(void)
{
	struct last last;
	int err = last_create(&last);

	if (err)
		return err;
	if (!threads_read(last.tid) || guard.nr_threads)
		err = -EBUSY;
	last_end(&last);
	return err;
}

/**
 * user_patch_open() - prepare to replace the code of a function
 * @entry:	its first instruction
 *
 * Context: the only thread that there is.
 * Return: 0, or a negative errno: -EBUSY if there are other threads,
 *	-EOPNOTSUPP, -ENOENT or -EINVAL if this machine or kernel lacks hardware
 *	breakpoints for instructions, signals for them, or membarrier()'s SYNC_CORE.
 */
int user_patch_open(void *entry)
{
	int err = check_alone();

	if (err)
		return err;
	if (syscall(SYS_membarrier,
		    MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0))
		return -errno;
	guard.entry = (uintptr_t)entry;
	/* A question may come while a thread waits, and has to be answered. */
	err = handle(SIGTRAP, on_trap, SA_NODEFER);
	if (!err)
		err = handle(QUERY_SIGNAL, on_query, 0);
	if (!err)
		err = open_events();
	if (!err)
		err = -pthread_atfork(lock_for_fork, unlock_after_fork,
				      unlock_after_fork);
	if (err)
		user_patch_close();
	return err;
}

/**
 * user_patch_close() - give the breakpoints back
 *
 * Context: any thread; no patch is being applied or will be.
 */
void user_patch_close(void)
{
	if (guard.probe_fd >= 0)
		close(guard.probe_fd);
	if (guard.entry_fd >= 0)
		close(guard.entry_fd);
	guard.entry_fd = -1;
	guard.probe_fd = -1;
	guard.entry = 0;
}
#else
int user_patch_open(void *entry)
{
	(void)entry;
	return -EOPNOTSUPP;
}

int user_patch_apply(const struct user_patch *p, struct user_patch_cost *cost)
{
	(void)p;
	(void)cost;
	return -EOPNOTSUPP;
}

void user_patch_close(void)
{
}
#endif
