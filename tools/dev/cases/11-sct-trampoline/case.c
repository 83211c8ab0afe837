// SPDX-License-Identifier: GPL-2.0
/*
 * x86: a kprobe on the trampoline of a static call, which only a module can ask for. It is
 * refused, or the static call is changed as if there were none: the trampoline must not keep its
 * old target when the probe is gone.
 */
#include "../tp.h"

#define NAME "11-sct-trampoline"
#define TP "sched_process_exec"
#define EVENT T "events/sched/" TP "/enable"
#define MODULE "/kprobe_example.ko"

/* Where the jump at an address goes; 0 if there is none. */
static uint64_t target(uint64_t at)
{
	uint8_t *text = snapshot(), *insn = text + (at - text_start);
	int32_t rel;

	if (!text || *insn != 0xe9)
		return 0;
	memcpy(&rel, insn + 1, 4);
	return at + 5 + rel;
}

static uint64_t target_with_event(uint64_t trampoline)
{
	uint64_t found;

	put(EVENT, "1");
	found = target(trampoline);
	put(EVENT, "0");
	return found;
}

/* An event for the tracepoint */
static void execute(void)
{
	if (!fork()) {
		execl("/proc/self/exe", "case", "x", NULL);
		_exit(1);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	uint64_t trampoline = ksym("__SCT__tp_func_" TP), was, is;
	int fd = open(MODULE, O_RDONLY);
	long bad;

	if (argc > 1 && !strcmp(argv[1], "x"))
		return 0;
	begin();
	if (!trampoline)
		return skip(NAME, "there are no static calls with trampolines");
	if (fd < 0)
		return skip(NAME, "there is no " MODULE);
	listen_all();
	was = target_with_event(trampoline);
	printf("trampoline %llx, with the event on it goes to %llx\n",
	       (unsigned long long)trampoline, (unsigned long long)was);
	if (syscall(__NR_finit_module, fd, "symbol=__SCT__tp_func_" TP, 0)) {
		printf("refused: errno %d\n", errno);
		return done(NAME, !was);
	}
	put(EVENT, "1");
	execute();
	bad = !!syscall(__NR_delete_module, "kprobe_example", O_NONBLOCK);
	sleep(1);
	is = target(trampoline);
	printf("after the probe it goes to %llx: %s\n", (unsigned long long)is,
	       is == was ? "right" : "STALE");
	put(EVENT, "0");
	return done(NAME, bad + (!was || is != was) + verify() + complaints());
}
