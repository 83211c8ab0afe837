// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that make the kernel change text: a tail call into a slot of a
 * program array, which some JITs patch when the slot is filled, and, where the
 * kernel has BTF, programs at the entry and at the exit of a kernel function.
 * When the latter goes, its trampoline is made to jump past it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "text_poke.h"

#define FUNCTION	"vfs_write"
#define LOAD_TRIES	20

/* They are loaded and freed each time, so that their code comes and goes. */
static int array = -1, caller = -1, callee = -1;

/*
 * One stays, and with it the pages that programs share: to fill new ones takes
 * seconds where each page is mapped for it, as on RISC-V.
 */
static int keeper = -1;

/* A program at one end of the function, and the link that holds it there. */
static struct tracing {
	enum bpf_attach_type type;
	int prog, link;
} tracings[] = {
	{ BPF_TRACE_FENTRY, -1, -1 },
	{ BPF_TRACE_FEXIT, -1, -1 },
};

#define TRACINGS	((int)(sizeof(tracings) / sizeof(*tracings)))

/* How often all of them were put there, and called directly. */
static int entries;

/* The map in which they count their runs. */
static int runs = -1;

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* The verifier gives up when the task is to be frozen, as it is for a suspend. */
static int load(union bpf_attr *attr, const struct bpf_insn *insns, int nr)
{
	int fd, tries = LOAD_TRIES;

	attr->insns = (__u64)(unsigned long)insns;
	attr->insn_cnt = nr;
	attr->license = (__u64)(unsigned long)"GPL";
	do {
		fd = bpf(BPF_PROG_LOAD, attr);
	} while (fd < 0 && errno == EAGAIN && --tries);
	return fd;
}

#define SET_R0	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 }
#define EXIT	{ .code = BPF_JMP | BPF_EXIT }

static int load_callee(void)
{
	const struct bpf_insn insns[] = { SET_R0, EXIT };
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_KPROBE };

	return load(&attr, insns, 2);
}

/* The context is in R1 already; the index has to be a constant. */
static int load_caller(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 2,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = array },
		{ },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call },
		SET_R0,
		EXIT,
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_KPROBE };

	return load(&attr, insns, sizeof(insns) / sizeof(*insns));
}

/* Of one entry. */
static int make_map(__u32 type, __u32 value_size)
{
	union bpf_attr attr = {
		.map_type	= type,
		.key_size	= 4,
		.value_size	= value_size,
		.max_entries	= 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static void fill_array(bool on)
{
	__u32 key = 0, value = callee;
	union bpf_attr attr = {
		.map_fd	= array,
		.key	= (__u64)(unsigned long)&key,
		.value	= on ? (__u64)(unsigned long)&value : 0,
	};

	bpf(on ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr);
}

/* What follows a type's header, in bytes. */
static size_t btf_tail(const struct btf_type *t)
{
	size_t vlen = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return vlen * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return vlen * 8;
	case BTF_KIND_ENUM64:
	case BTF_KIND_DATASEC:
		return vlen * 12;
	default:
		return 0;
	}
}

static int btf_find(const struct btf_header *h, const char *name)
{
	const char *data = (const char *)h + h->hdr_len;
	const char *at = data + h->type_off, *end = at + h->type_len;

	for (int id = 1; at < end; id++) {
		const struct btf_type *t = (const void *)at;

		if (BTF_INFO_KIND(t->info) == BTF_KIND_FUNC &&
		    !strcmp(data + h->str_off + t->name_off, name))
			return id;
		at += sizeof(*t) + btf_tail(t);
	}
	return -1;
}

static void *read_btf(void)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY);
	struct stat st;
	size_t done = 0;
	char *data;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	data = malloc(st.st_size);
	while (data && done < (size_t)st.st_size) {
		ssize_t got = read(fd, data + done, st.st_size - done);

		if (got <= 0)
			break;
		done += got;
	}
	close(fd);
	return data;
}

static int load_tracing(enum bpf_attach_type type, int id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = runs },
		{ },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 1 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = 1,
		  .src_reg = 2, .imm = BPF_ADD },
		SET_R0,
		EXIT,
	};
	union bpf_attr attr = {
		.prog_type		= BPF_PROG_TYPE_TRACING,
		.expected_attach_type	= type,
		.attach_btf_id		= id,
	};

	return load(&attr, insns, sizeof(insns) / sizeof(*insns));
}

static void load_tracings(void)
{
	void *btf = read_btf();
	int id = btf ? btf_find(btf, FUNCTION) : -1;

	free(btf);
	if (id < 0)
		return;
	if (runs < 0)
		runs = make_map(BPF_MAP_TYPE_ARRAY, 8);
	for (int i = 0; i < TRACINGS; i++)
		tracings[i].prog = load_tracing(tracings[i].type, id);
}

/* Flag D, and no other tracer there: else they are called by the tracer. */
static bool call_is_direct(void)
{
	FILE *f = fopen(TRACING "enabled_functions", "r");
	char line[512];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, FUNCTION " (1)", strlen(FUNCTION " (1)")) &&
			strstr(line, " D");
	if (f)
		fclose(f);
	return found;
}

static void attach(void)
{
	int attached = 0;

	for (int i = 0; i < TRACINGS; i++) {
		union bpf_attr attr = { .raw_tracepoint.prog_fd = tracings[i].prog };

		if (tracings[i].prog >= 0)
			tracings[i].link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
		attached += tracings[i].link >= 0;
	}
	entries += attached == TRACINGS && call_is_direct();
}

static void forget(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void load_all(void)
{
	if (keeper < 0)
		keeper = load_callee();
	array = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4);
	callee = load_callee();
	caller = array < 0 ? -1 : load_caller();
	load_tracings();
}

static void forget_all(void)
{
	for (int i = TRACINGS; i--; ) {
		forget(&tracings[i].link);
		forget(&tracings[i].prog);
	}
	forget(&caller);
	forget(&callee);
	forget(&array);
}

void bpf_set(bool on)
{
	if (on)
		load_all();
	fill_array(on);
	if (on)
		attach();
	else
		forget_all();
}

/* Without BTF no program can be put there. */
bool bpf_has_btf(void)
{
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

int bpf_entries(void)
{
	return entries;
}

__u64 bpf_runs(void)
{
	__u64 value = 0;
	__u32 key = 0;
	union bpf_attr attr = {
		.map_fd	= runs,
		.key	= (__u64)(unsigned long)&key,
		.value	= (__u64)(unsigned long)&value,
	};

	return runs >= 0 && !bpf(BPF_MAP_LOOKUP_ELEM, &attr) ? value : 0;
}

bool bpf_work(void)
{
	bool works;

	load_all();
	works = caller >= 0 && callee >= 0;
	forget_all();
	return works;
}
