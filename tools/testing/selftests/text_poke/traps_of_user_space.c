// SPDX-License-Identifier: GPL-2.0
/*
 * The trap instruction in a program is that program's: it gets SIGTRAP, and the
 * kernel does not look for a batch.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "../kselftest.h"
#include "text_poke.h"

#define TURNS	1000

#if defined(__x86_64__) || defined(__i386__)
/* The instruction pointer is after it already. */
#define TRAP	"int3"
#define PASS(ctx)	((void)(ctx))
#elif defined(__aarch64__)
#define TRAP	"brk #8"
#define PASS(ctx)	((ctx)->uc_mcontext.pc += 4)
#elif defined(__riscv)
/* The assembler makes it C.EBREAK where that is there; low bits set: 4 bytes. */
#define TRAP	"ebreak"
#define PASS(ctx)	pass_ebreak(&(ctx)->uc_mcontext.__gregs[REG_PC])

static void pass_ebreak(unsigned long *pc)
{
	*pc += (*(unsigned short *)*pc & 3) == 3 ? 4 : 2;
}
#elif defined(__powerpc64__)
#include <asm/ptrace.h>

#define TRAP	"tw 31, 1, 1"
#define PASS(ctx)	((ctx)->uc_mcontext.gp_regs[PT_NIP] += 4)
#endif

static sig_atomic_t signals;

#ifdef TRAP
static void on_trap(int sig, siginfo_t *info, void *ucontext)
{
	ucontext_t *ctx = ucontext;

	PASS(ctx);
	__atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

static void run_traps(void)
{
	struct sigaction act = { .sa_sigaction = on_trap,
				 .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &act, NULL);
	for (int i = 0; i < TURNS; i++)
		asm volatile(TRAP ::: "memory");
}
#else
static void run_traps(void)
{
	ksft_exit_skip("this test does not know the trap\n");
}
#endif

int main(void)
{
	long traps, rereads;

	ksft_print_header();
	mount_kernel_fs();
	traps = counter_read("traps");
	rereads = counter_read("rereads");
	if (traps < 0)
		ksft_exit_skip("no counters\n");
	ksft_set_plan(2);
	run_traps();
	ksft_test_result(signals == TURNS, "each_is_a_signal: %d of %d\n",
			 (int)signals, TURNS);
	/* The kernel itself may come through a few of its own. */
	traps = counter_read("traps") - traps;
	rereads = counter_read("rereads") - rereads;
	ksft_test_result(traps + rereads < TURNS,
			 "none_is_handled: %ld traps, %ld rereads\n", traps,
			 rereads);
	ksft_finished();
}
