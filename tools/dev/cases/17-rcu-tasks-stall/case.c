// SPDX-License-Identifier: GPL-2.0
/*
 * x86: a task stays in one system call for seconds while the kprobe optimizer, with text_mutex
 * held, waits for every task to leave the kernel. Meanwhile another task begins to listen for
 * text pokes, and an unprivileged one enables events that it does not have. In 6.12 neither
 * waits, unlike a task that flips a key.
 */
#include "../tp.h"
#include <sys/prctl.h>
#include <sys/uio.h>

#define NAME "17-rcu-tasks-stall"
#define CHUNK (64 << 20)
#define CHUNKS 8

enum { LISTEN, ENABLE, FLIP, ACTS };

static volatile double hogged, since, took[ACTS];

/* Read half a GB at once, which takes seconds under emulation. */
static void *hog(void *unused)
{
	int fd = open("/dev/zero", O_RDONLY);
	struct iovec iov[CHUNKS];
	char *buf = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	for (int i = 0; i < CHUNKS; i++)
		iov[i] = (struct iovec){ buf, CHUNK };
	pin(1);
	since = now();
	hogged = readv(fd, iov, CHUNKS) < 0 ? 0.1 : now() - since;
	return unused;
}

static void act_once(long what, int turn)
{
	struct perf_event_attr attr = poke_attr();

	if (what == LISTEN)
		close(perf_open(&attr, -1, 1, -1));
	else if (what == ENABLE)
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
	else
		put(SCHEDSTATS, "%d", turn & 1);
}

/* Again and again; the longest counts. */
static void *act(void *arg)
{
	long what = (long)arg;

	for (int i = 1; !hogged; i++, usleep(10000)) {
		double start = now();

		act_once(what, i);
		if (now() - start > took[what])
			took[what] = now() - start;
	}
	return NULL;
}

/* Probes that are not so close that they cannot be jumps; a child enables them. */
static void optimize(void)
{
	for (int off = 5; off < 200; off++)
		if (!put(T "kprobe_events", "p:k%d vfs_read+%d\n", off, off))
			off += 9;
	if (!fork()) {
		put(T "events/kprobes/enable", "1");
		_exit(0);
	}
}

int main(void)
{
	struct perf_event_attr attr = poke_attr();
	pthread_t thread, others[ACTS];

	begin();
	pin(0);
	if (access("/proc/sys/debug/kprobes-optimization", R_OK))
		return skip(NAME, "there are no optimized kprobes");
	if (perf_open(&attr, -1, 0, -1) < 0)
		return done(NAME, 1);
	for (pthread_create(&thread, NULL, hog, NULL); !since;)
		usleep(1000);
	optimize();
	for (long i = 0; i < ACTS; i++)
		pthread_create(&others[i], NULL, act, (void *)i);
	pthread_join(thread, NULL);
	for (long i = 0; i < ACTS; i++)
		pthread_join(others[i], NULL);
	printf("system call %.2f s; meanwhile: listen %.2f s, enable events %.2f s, flip %.2f s\n",
	       hogged, took[LISTEN], took[ENABLE], took[FLIP]);
	if (hogged < 1.5 || took[FLIP] < 1)
		return skip(NAME, "the optimizer was not waited for");
	return done(NAME, (took[LISTEN] > 0.5) + (took[ENABLE] > 0.2) + complaints());
}
