// SPDX-License-Identifier: GPL-2.0
/*
 * world-switch COMMAND [ARGUMENT...]: run a command beside a guest of KVM
 *
 * The guest makes a hypercall that the kernel answers, reads a register that it must
 * not have, and uses the floating-point unit, for ever: it is left and entered all the
 * time, each time by way of the handlers that run with the hypervisor's vectors, and
 * never comes back here.  Afterwards the number of its rounds is printed.
 *
 * Text pokes are recorded meanwhile, so that all are guarded.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kvm.h>
#include <linux/perf_event.h>

#define GUEST_AT	0x80000000UL
#define GUEST_SIZE	4096
#define CORE_REG(name)	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | \
			 KVM_REG_ARM_CORE | KVM_REG_ARM_CORE_REG(name))

static const uint32_t guest_code[] = {
	0xd2a00601,	/*    mov	x1, #(3 << 20)	FPEN */
	0xd5181041,	/*    msr	cpacr_el1, x1 */
	0xd5033fdf,	/*    isb */
	0x91000673,	/* 1: add	x19, x19, #1 */
	0x52b08000,	/*    mov	w0, #0x84000000	PSCI_VERSION */
	0xd4000002,	/*    hvc	#0 */
	0xd5380401,	/*    mrs	x1, id_aa64pfr0_el1 */
	0x9e670260,	/*    fmov	d0, x19 */
	0x17fffffb,	/*    b		1b */
};

static struct kvm_run *run;
static int vcpu;
static bool stop;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int ask(int fd, unsigned long request, unsigned long arg,
	       const char *what)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		die(what);
	return ret;
}

static void *map(size_t len, int flags, int fd)
{
	void *at = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		die("mapping memory");
	return at;
}

static uint64_t get_reg(uint64_t id)
{
	uint64_t val = 0;
	struct kvm_one_reg reg = { .id = id, .addr = (unsigned long)&val };

	ask(vcpu, KVM_GET_ONE_REG, (unsigned long)&reg, "reading a register");
	return val;
}

static void set_reg(uint64_t id, uint64_t val)
{
	struct kvm_one_reg reg = { .id = id, .addr = (unsigned long)&val };

	ask(vcpu, KVM_SET_ONE_REG, (unsigned long)&reg, "writing a register");
}

static void init_vcpu(int vm)
{
	struct kvm_vcpu_init init = { };

	ask(vm, KVM_ARM_PREFERRED_TARGET, (unsigned long)&init, "a target");
	init.features[0] |= 1 << KVM_ARM_VCPU_PSCI_0_2;
	ask(vcpu, KVM_ARM_VCPU_INIT, (unsigned long)&init, "a vCPU's state");
	set_reg(CORE_REG(regs.pc), GUEST_AT);
	set_reg(CORE_REG(regs.regs[19]), 0);
}

static void create_guest(void)
{
	int kvm = open("/dev/kvm", O_RDWR);
	void *memory = map(GUEST_SIZE, MAP_SHARED | MAP_ANONYMOUS, -1);
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_AT,
		.memory_size = GUEST_SIZE,
		.userspace_addr = (unsigned long)memory,
	};
	int vm;

	if (kvm < 0)
		die("/dev/kvm");
	memcpy(memory, guest_code, sizeof(guest_code));
	vm = ask(kvm, KVM_CREATE_VM, 0, "creating a guest");
	ask(vm, KVM_SET_USER_MEMORY_REGION, (unsigned long)&region, "memory");
	vcpu = ask(vm, KVM_CREATE_VCPU, 0, "creating a vCPU");
	run = map(ask(kvm, KVM_GET_VCPU_MMAP_SIZE, 0, "KVM"), MAP_SHARED, vcpu);
	init_vcpu(vm);
}

/* It comes back only because of a signal. */
static void *run_guest(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (!ioctl(vcpu, KVM_RUN, 0)) {
			printf("strange exit: %u\n", run->exit_reason);
			exit(1);
		}
		if (errno != EINTR)
			die("KVM_RUN");
	}
	return NULL;
}

static void on_signal(int unused)
{
}

static void listen_on(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.text_poke = 1,
	};

	if (syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0) < 0)
		die("listening");
}

static int command(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(*argv, argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("the command");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	pthread_t runner;
	int cpu, ret;

	if (argc < 2)
		return 2;
	for (cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		listen_on(cpu);
	signal(SIGUSR1, on_signal);
	create_guest();
	if (pthread_create(&runner, NULL, run_guest, NULL))
		die("a thread");
	ret = command(argv + 1);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	run->immediate_exit = 1;
	pthread_kill(runner, SIGUSR1);
	pthread_join(runner, NULL);
	printf("rounds %llu\n",
	       (unsigned long long)get_reg(CORE_REG(regs.regs[19])));
	return ret;
}
