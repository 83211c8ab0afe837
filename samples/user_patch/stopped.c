// SPDX-License-Identifier: GPL-2.0
/*
 * Replace the code of a function while all threads are stopped: what debuggers
 * and tools for live patches of programs do. Another process attaches to each
 * thread, stops it, lets it go on as long as it is inside, and writes when none
 * is. To compare with; so threads that are created meanwhile are not cared for.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "user_patch.h"

#define THREADS_MAX	1024

#if defined(__x86_64__)
#define PC(regs)	((regs)->rip)
#elif defined(__aarch64__)
#define PC(regs)	((regs)->pc)
#endif

#ifdef PC
struct stopped {
	pid_t tid;
	unsigned long long since;
};

static struct stopped threads[THREADS_MAX];
static int nr_threads;

/* Whatever else it stops for, it goes on with; until it stops for us. */
static int await_stop(pid_t tid)
{
	int status;

	for (;;) {
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return -ESRCH;
		if (status >> 16 == PTRACE_EVENT_STOP)
			return 0;
		ptrace(PTRACE_CONT, tid, 0L, (long)WSTOPSIG(status));
	}
}

static bool is_inside(pid_t tid, const struct user_patch *p)
{
	struct user_regs_struct regs;
	struct iovec iov = { .iov_base = &regs, .iov_len = sizeof(regs) };
	uintptr_t entry = (uintptr_t)p->entry;

	if (ptrace(PTRACE_GETREGSET, tid, (long)NT_PRSTATUS, &iov))
		return true;
	return PC(&regs) > entry && PC(&regs) < entry + p->len;
}

static int stop_outside(pid_t tid, const struct user_patch *p,
			unsigned long long deadline)
{
	struct timespec nap = { .tv_nsec = 50000 };
	int err;

	if (ptrace(PTRACE_INTERRUPT, tid, 0L, 0L))
		return -errno;
	for (err = await_stop(tid); !err; err = await_stop(tid)) {
		if (!is_inside(tid, p))
			return 0;
		if (user_patch_now_ns() > deadline)
			return -ETIMEDOUT;
		ptrace(PTRACE_CONT, tid, 0L, 0L);
		nanosleep(&nap, NULL);
		ptrace(PTRACE_INTERRUPT, tid, 0L, 0L);
	}
	return err;
}

static int seize_all(pid_t pid)
{
	char path[32];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)) && nr_threads < THREADS_MAX) {
		pid_t tid = atoi(d->d_name);

		if (tid && !ptrace(PTRACE_SEIZE, tid, 0L, 0L))
			threads[nr_threads++].tid = tid;
	}
	if (dir)
		closedir(dir);
	return nr_threads ? 0 : -EPERM;
}

static int write_all(pid_t pid, const struct user_patch *p)
{
	const char *code = p->code;
	char path[32];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (size_t i = 0; i < p->len && !err; i += USER_PATCH_UNIT) {
		/* We are a copy: what is here was there when we were made. */
		if (!__builtin_memcmp((char *)p->entry + i, code + i,
				      USER_PATCH_UNIT))
			continue;
		if (pwrite(fd, code + i, USER_PATCH_UNIT,
			   (uintptr_t)p->entry + i) != USER_PATCH_UNIT)
			err = -EIO;
		if (p->between)
			p->between();
	}
	close(fd);
	return err;
}

static void let_go(struct stopped *t, struct user_patch_cost *cost)
{
	unsigned long long waited;

	ptrace(PTRACE_DETACH, t->tid, 0L, 0L);
	if (!t->since)
		return;
	waited = user_patch_now_ns() - t->since;
	cost->waits++;
	cost->wait_sum_ns += waited;
	if (cost->wait_max_ns < waited)
		cost->wait_max_ns = waited;
}

static int stop_and_write(pid_t pid, const struct user_patch *p,
			  struct user_patch_cost *cost)
{
	unsigned long long deadline = user_patch_now_ns() +
				      p->timeout_ms * 1000000ULL;
	int err = seize_all(pid);

	for (int i = 0; i < nr_threads && !err; i++) {
		err = stop_outside(threads[i].tid, p, deadline);
		threads[i].since = user_patch_now_ns();
	}
	if (!err)
		err = write_all(pid, p);
	for (int i = 0; i < nr_threads; i++)
		let_go(&threads[i], cost);
	cost->asked = nr_threads;
	return err;
}

/* What the child says when it is done. */
struct report {
	struct user_patch_cost cost;
	int err;
};

/**
 * stopped_apply() - replace the code of a function with all threads stopped
 * @p:		what to put there
 * @cost:	filled in: how long it took, and threads were stopped
 *
 * Context: no threads are being created.
 * Return: 0, or a negative errno.
 */
int stopped_apply(const struct user_patch *p, struct user_patch_cost *cost)
{
	unsigned long long start = user_patch_now_ns();
	struct report report = { .err = -EIO };
	int pipes[2];
	pid_t child;

	if (pipe(pipes))
		return -errno;
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	child = fork();
	if (!child) {
		report.err = stop_and_write(getppid(), p, &report.cost);
		if (write(pipes[1], &report, sizeof(report)) < 0)
			_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	if (child < 0 ||
	    read(pipes[0], &report, sizeof(report)) != sizeof(report))
		report.err = -EIO;
	close(pipes[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	*cost = report.cost;
	cost->total_ns = user_patch_now_ns() - start;
	return report.err;
}
#else
int stopped_apply(const struct user_patch *p, struct user_patch_cost *cost)
{
	(void)p;
	(void)cost;
	return -EOPNOTSUPP;
}
#endif
