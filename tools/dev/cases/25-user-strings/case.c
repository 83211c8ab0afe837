// SPDX-License-Identifier: GPL-2.0
/*
 * A probe that reads a string of user space, as security modules do, in a system call that
 * several threads make with good and bad pointers at once, so that its handler faults, while it
 * is armed and disarmed and the function traced. The calls give what they give without a probe.
 */
#include "../tp.h"

#define NAME "25-user-strings"
#define THREADS 4

static long wrong, calls;

/* Whether a call gives anything else than an error. */
static int differs(const char *path, int error)
{
	return access(path, R_OK) != -1 || errno != error;
}

static void *mapped(size_t size, int prot)
{
	return mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long six_calls(char *two, char *none)
{
	long bad;

	strcpy(two, "/proc/self/stat");
	/* Goes on where nothing is. */
	memcpy(two + PAGE - 5, "/proc", 5);
	bad = access(two, R_OK) != 0;
	bad += differs(two + PAGE - 5, EFAULT);
	bad += differs(none, EFAULT);
	bad += differs((char *)8, EFAULT);
	bad += differs((char *)-4096l, EFAULT);
	madvise(two, PAGE, MADV_DONTNEED);
	/* An empty string, of a page that is not there */
	return bad + differs(two, ENOENT);
}

static void *caller(void *cpu)
{
	char *two = mapped(2 * PAGE, PROT_READ | PROT_WRITE), *none = mapped(PAGE, PROT_NONE);
	long bad = 0, number = 0;

	pin((long)cpu & 1);
	munmap(two + PAGE, PAGE);
	for (; !over; number += 6)
		bad += six_calls(two, none);
	__atomic_add_fetch(&wrong, bad, __ATOMIC_RELAXED);
	__atomic_add_fetch(&calls, number, __ATOMIC_RELAXED);
	return NULL;
}

static long change(void)
{
	long bad = 0;

	for (int i = 0; i < 60; i++) {
		bad += !!put(T "events/kprobes/enable", "%d", !(i & 1));
		usleep(20000);
		put(T "current_tracer", i & 2 ? "nop" : "function");
	}
	return bad;
}

int main(void)
{
	pthread_t threads[THREADS];
	long bad;

	begin();
	if (put(T "kprobe_events", "p:us do_faccessat path=+0($arg2):ustring\n"))
		return skip(NAME, "do_faccessat() cannot be probed");
	put(T "kprobe_events", "r:ur do_faccessat ret=$retval\n");
	put(T "set_ftrace_filter", "do_faccessat");
	listen_all();
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, caller, (void *)i);
	bad = change();
	over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld calls, %ld wrong; probe hit %ld times, return probe %ld\n", calls, wrong,
	       hits("us"), hits("ur"));
	bad += wrong + !hits("us") + !hits("ur");
	put(T "current_tracer", "nop");
	no_probes();
	return done(NAME, bad + verify() + complaints());
}
