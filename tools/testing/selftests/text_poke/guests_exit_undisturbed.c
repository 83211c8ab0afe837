// SPDX-License-Identifier: GPL-2.0
/*
 * KVM on RISC-V never takes a trap of the text poke core for a guest's exit.
 *
 * Why a trap was taken is in the same registers, whether a guest has exited or
 * the kernel has met a breakpoint after that. A guest that does nothing but
 * ask the hypervisor for its version never has to come to user space, while all
 * functions are changed that run between its exits and entries.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kvm.h>

#include "../kselftest.h"
#include "text_poke.h"

#define GUEST_AT	0x80000000UL
#define GUEST_SIZE	4096
#define ROUNDS		6
#define CALLS_MIN	1000
#define TRAPS_MIN	1000
#define CORE_REG(name)	(KVM_REG_RISCV | KVM_REG_SIZE_U64 | \
			 KVM_REG_RISCV_CORE | KVM_REG_RISCV_CORE_REG(name))

static const __u32 guest_code[] = {
	0x00140413,	/* 1: addi	s0, s0, 1 */
	0x01000893,	/*    li	a7, 0x10	SBI's base extension */
	0x00000813,	/*    li	a6, 0		its version */
	0x00000073,	/*    ecall */
	0xff1ff06f,	/*    j		1b */
};

static struct kvm_run *run;
static int vcpu;
static bool stop;
static long strange;

static void *map(size_t len, int flags, int fd)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		ksft_exit_fail_perror("mapping memory");
	return at;
}

static int ask(int fd, unsigned long request, unsigned long arg,
	       const char *what)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		ksft_exit_fail_perror(what);
	return ret;
}

static __u64 get_reg(__u64 id)
{
	__u64 val = 0;
	struct kvm_one_reg reg = { .id = id, .addr = (unsigned long)&val };

	ask(vcpu, KVM_GET_ONE_REG, (unsigned long)&reg, "reading a register");
	return val;
}

static void set_reg(__u64 id, __u64 val)
{
	struct kvm_one_reg reg = { .id = id, .addr = (unsigned long)&val };

	ask(vcpu, KVM_SET_ONE_REG, (unsigned long)&reg, "writing a register");
}

static void create_guest(int kvm)
{
	int vm = ask(kvm, KVM_CREATE_VM, 0, "creating a guest");
	void *memory = map(GUEST_SIZE, MAP_SHARED | MAP_ANONYMOUS, -1);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_AT,
		.memory_size = GUEST_SIZE,
		.userspace_addr = (unsigned long)memory,
	};

	memcpy(memory, guest_code, sizeof(guest_code));
	ask(vm, KVM_SET_USER_MEMORY_REGION, (unsigned long)&region,
	    "giving memory to a guest");
	vcpu = ask(vm, KVM_CREATE_VCPU, 0, "creating a vCPU");
	run = map(ask(kvm, KVM_GET_VCPU_MMAP_SIZE, 0, "KVM"), MAP_SHARED, vcpu);
	set_reg(CORE_REG(regs.pc), GUEST_AT);
	set_reg(CORE_REG(regs.s0), 0);
}

/* Runs the guest, which comes back only because of a signal. */
static void *run_guest(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (!ioctl(vcpu, KVM_RUN, 0)) {
			if (!strange++)
				ksft_print_msg("exit reason %u\n",
					       run->exit_reason);
		} else if (errno != EINTR) {
			ksft_exit_fail_perror("KVM_RUN");
		}
	}
	return NULL;
}

static void on_signal(int unused)
{
}

static void stop_guest(pthread_t runner)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	run->immediate_exit = 1;
	pthread_kill(runner, SIGUSR1);
	pthread_join(runner, NULL);
}

/* With an event that listens, so that there are traps. */
static void change_functions(void)
{
	struct events *ev = events_open();

	if (!ev)
		ksft_exit_fail_perror("opening text-poke events");
	for (int i = 0; i < ROUNDS; i++) {
		if (trace_functions(true) || trace_functions(false))
			ksft_exit_fail_perror(TRACER);
		events_settle(ev);
	}
	events_stop(ev);
}

int main(void)
{
	long traps;
	pthread_t runner;
	__u64 calls;
	int kvm;

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records need root\n");
	mount_kernel_fs();
	if (access(TRACER, W_OK))
		ksft_exit_skip("no tracer\n");
	kvm = open("/dev/kvm", O_RDWR);
	if (kvm < 0)
		ksft_exit_skip("no KVM\n");
	ksft_set_plan(3);
	signal(SIGUSR1, on_signal);
	create_guest(kvm);

	traps = counter_read("traps");
	write_file(TRACING "tracing_on", "0");
	if (pthread_create(&runner, NULL, run_guest, NULL))
		ksft_exit_fail_perror("running a guest");
	change_functions();
	stop_guest(runner);
	write_file(TRACING "tracing_on", "1");
	traps = counter_read("traps") - traps;
	calls = get_reg(CORE_REG(regs.s0));

	ksft_test_result(calls >= CALLS_MIN, "guest_runs: %llu calls\n", calls);
	ksft_test_result(traps >= TRAPS_MIN, "functions_trap: %ld traps\n",
			 traps);
	ksft_test_result(!strange, "no_strange_exit: %ld\n", strange);
	ksft_finished();
}
