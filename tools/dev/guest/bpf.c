// SPDX-License-Identifier: GPL-2.0
/*
 * bpf TRACEPOINT: have a program of BPF run at a tracepoint, for as long as this runs
 *
 * The program calls another by way of an array of programs.  On SIGUSR1 that is put
 * there, on SIGUSR2 it is taken out; where the JIT compiler has made a jump of it the
 * kernel's text changes with it.  "ready" is printed as soon as the program runs.
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>

#define INSN(op, to, from, offset, value)				\
	((struct bpf_insn){ .code = (op), .dst_reg = (to),		\
			    .src_reg = (from), .off = (offset),		\
			    .imm = (value) })
#define MOVE(to, value)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define CALL(function)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define EXIT			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static uint64_t pointer(const void *what)
{
	return (uintptr_t)what;
}

static int load(const char *name, const struct bpf_insn *insns, unsigned int count)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = pointer(insns),
		.insn_cnt = count,
		.license = pointer("GPL"),
	};

	strncpy(attr.prog_name, name, sizeof(attr.prog_name) - 1);
	return bpf(BPF_PROG_LOAD, &attr);
}

static int make_array(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PROG_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* A branch that goes now one way, now the other. */
static int load_tail(void)
{
	const struct bpf_insn insns[] = {
		CALL(BPF_FUNC_ktime_get_ns),
		INSN(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, 64),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0),
		MOVE(BPF_REG_0, 1),
		EXIT,
	};

	return load("tail", insns, sizeof(insns) / sizeof(*insns));
}

static int load_head(int array)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, array),
		INSN(0, 0, 0, 0, 0),
		MOVE(BPF_REG_3, 0),
		CALL(BPF_FUNC_tail_call),
		MOVE(BPF_REG_0, 0),
		EXIT,
	};

	return load("head", insns, sizeof(insns) / sizeof(*insns));
}

static int attach(int program, const char *tracepoint)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = pointer(tracepoint),
		.raw_tracepoint.prog_fd = program,
	};

	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static int set_tail(int array, int tail, int there)
{
	uint32_t key = 0, value = tail;
	union bpf_attr attr = {
		.map_fd = array,
		.key = pointer(&key),
		.value = there ? pointer(&value) : 0,
	};

	return bpf(there ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr);
}

static int fail(const char *what)
{
	fprintf(stderr, "bpf: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	int array, tail, head, signal;
	sigset_t signals;

	if (argc != 2) {
		fprintf(stderr, "usage: bpf TRACEPOINT\n");
		return 2;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);

	array = make_array();
	if (array < 0)
		return fail("an array of programs");
	tail = load_tail();
	head = load_head(array);
	if (tail < 0 || head < 0)
		return fail("a program");
	if (attach(head, argv[1]) < 0)
		return fail(argv[1]);
	puts("ready");
	fflush(stdout);

	while (!sigwait(&signals, &signal))
		if (set_tail(array, tail, signal == SIGUSR1))
			return fail("the tail");
	return 1;
}
