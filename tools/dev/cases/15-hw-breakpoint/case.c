// SPDX-License-Identifier: GPL-2.0
/*
 * A hardware breakpoint on an instruction that is changed: the call site of a function, between
 * NOP, trap and call. It counts each time that the function is called, and no CPU is stuck there.
 */
#include "../tp.h"
#include <linux/hw_breakpoint.h>

#define NAME "15-hw-breakpoint"
#define TIMES 3000

#ifdef __x86_64__
#define CALL "__x64_sys_getppid"
#define LEN sizeof(long)
#define MOST TIMES
/* Behind ENDBR64 */
#define SITE(insn) ((insn) == 0xfa1e0ff3 ? 4 : 0)
#else
#define CALL "__arm64_sys_getppid"
#define LEN HW_BREAKPOINT_LEN_4
/* An interrupt between breakpoint and step makes it hit once more, on 6.12 as well. */
#define MOST (TIMES + TIMES / 50)
/* BTI, MOV X9, LR: then the call */
#define SITE(insn) ((insn) == 0xd503245f ? 8 : 4)
#endif

enum { AS_NOP, CHANGING, AS_CALL, WITH_PROBE, PHASES };

static int breakpoint(uint64_t at)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.exclude_user = 1,
		.bp_type = HW_BREAKPOINT_X,
		.bp_len = LEN,
	};
	uint32_t insn;

	memcpy(&insn, text_then + (at - text_start), sizeof(insn));
	attr.bp_addr = at + SITE(insn);
	return perf_open(&attr, -1, 1, -1);
}

/* A child that changes the site all the time */
static int toggler(void)
{
	int pid = fork();

	if (pid)
		return pid;
	for (pin(0);;) {
		put(T "current_tracer", "function");
		put(T "current_tracer", "nop");
	}
}

static long calls(int fd, int phase)
{
	uint64_t count = 0;
	long bad;

	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	for (int i = 0; i < TIMES; i++)
		syscall(__NR_getppid);
	bad = read(fd, &count, sizeof(count)) != sizeof(count) || count < TIMES || count > MOST;
	printf("phase %d: %llu of %d\n", phase, (unsigned long long)count, TIMES);
	return bad;
}

static long one_phase(int fd, int phase)
{
	int child = phase == CHANGING ? toggler() : -1;
	long bad = 0;

	if (phase >= AS_CALL)
		put(T "current_tracer", "function");
	if (phase == WITH_PROBE)
		bad = put(T "kprobe_events", "p:k " CALL "\n") ||
		      put(T "events/kprobes/k/enable", "1");
	bad += calls(fd, phase);
	if (child > 0) {
		kill(child, SIGKILL);
		wait(NULL);
	}
	return bad;
}

int main(void)
{
	uint64_t at = ksym(CALL);
	long bad = 0;
	int fd;

	begin();
	listen_all();
	fd = at && text_then ? breakpoint(at) : -1;
	if (fd < 0)
		return skip(NAME, "there is no breakpoint to be had in the kernel");
	put(T "set_ftrace_filter", CALL);
	pin(1);
	for (int phase = 0; phase < PHASES; phase++)
		bad += one_phase(fd, phase);
	put(T "current_tracer", "nop");
	no_probes();
	return done(NAME, bad + verify() + complaints());
}
