// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin for QEMU that logs what the CPUs of a guest execute in the kernel,
 * from the first to the second call of a function: see log.h.
 *
 *	-plugin plugin.so,out=DIR,marker=ADDR,low=PHYS,text=ADDR,length=BYTES
 *		[,clock=ADDR][,vectors=FILE]
 *
 * marker	the function
 * low, text	where the kernel's text is mapped at its physical address while
 *		it boots, and where it belongs: QEMU has one translation for both
 * clock	the function that tells the kernel the time, in ns, where what
 *		CPUs count is too coarse, or perf does not say what it has to do
 *		with the time; else reads of the CPUs' own clock are logged
 * vectors	where interrupts and exceptions lead, if QEMU does not tell of them
 *
 * It is for CPUs that take turns, with -icount: then callbacks come in the
 * order of execution, no two at a time, and the guest's clock counts
 * instructions. QEMU gives the wrong CPU then (translations are shared, and
 * have one built in), so that the base register of its per-CPU data says
 * which it is, or a register that has its number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "plugin.h"
#include "qemu.h"

#define UPPER		(1ull << 63)
#define CPUS		64
#define LONGEST		16
#define CALLS		16

/* An architecture: how its clock is read, and which registers have what. */
struct target {
	const char *name;
	const char *base[2];	/* of per-CPU data: the first in the upper half */
	bool numbered;		/* the first is the CPU's number instead */
	const char *clock[32];	/* those into which the clock is read */
	bool halves;		/* lower and upper half of it, in two of them */
	int (*reads_clock)(const uint8_t *code, size_t length);
	bool (*repeats)(uint8_t first);
	const char *call[3];	/* what a call has: see enum */
	uint64_t local;		/* where in a function calls from nearby enter it, too */
};

enum { BACK, STACK, RESULT };

/* A translation that is instrumented. */
struct code {
	uint64_t addr;
	uint64_t last;		/* its last instruction */
	uint32_t number;
	int clock;		/* 1 + the register into which that reads it; 0: it does not */
	const struct vector *vector;	/* that begins here, if QEMU does not tell of traps */
	bool repeats;		/* a string instruction: QEMU enters it for each of its steps */
};

static struct {
	FILE *blocks, *log;
	uint64_t marker, low, text, length, clock;
} set;

static const struct target *target;
static struct qemu_plugin_register *base[2], *clock_regs[32], *call_regs[3];
static struct garray *scratch;

/* A CPU of the guest. Those that have no base yet are the first one here. */
static struct cpu {
	uint64_t base;
	uint64_t last, count;	/* its last instruction, and when that was */
	uint64_t clock_addr;	/* what is to read the clock, and into which register */
	int clock;
	bool in_user;
} cpus[CPUS], *now = cpus;

/*
 * Calls of the function that tells the time, which have not returned. A task
 * may be moved to another CPU meanwhile, but not its stack. The oldest may be
 * forgotten: there are never that many.
 */
static struct call {
	uint64_t back, stack;
} calls[CALLS];
static unsigned int next_call;

static bool logging;
static const struct code *repeating;	/* what was written last, if it is such */
static uint64_t count;
static uint32_t blocks;

/* rdtsc and rdtscp: edx:eax */
static int x86_reads_clock(const uint8_t *code, size_t length)
{
	return (length == 2 && !memcmp(code, "\x0f\x31", 2)) ||
	       (length == 3 && !memcmp(code, "\x0f\x01\xf9", 3));
}

static bool x86_repeats(uint8_t first)
{
	return first == 0xf2 || first == 0xf3;
}

/* mrs xN, cntvct_el0 or cntvctss_el0 */
static int arm64_reads_clock(const uint8_t *code, size_t length)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	if ((word & ~0x1fu) != 0xd53be040 && (word & ~0x1fu) != 0xd53be0c0)
		return 0;
	return (word & 0x1f) == 31 ? 0 : 1 + (word & 0x1f);
}

static const struct target targets[] = {
	{ .name = "x86_64", .base = { "gs_base", "k_gs_base" },
	  .clock = { "rax", "rdx" }, .halves = true,
	  .reads_clock = x86_reads_clock, .repeats = x86_repeats },
	{ .name = "aarch64", .base = { "TPIDR_EL1" }, .reads_clock = arm64_reads_clock,
	  .clock = {
	    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
	    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20",
	    "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30" } },
	/* tp is a task's there, and the debugger's view has what only firmware may read. */
	{ .name = "riscv64", .base = { "mhartid" }, .numbered = true,
	  .call = { "ra", "sp", "a0" } },
	/* Where the kernel keeps its paca, also while in user space. */
	{ .name = "ppc64", .base = { "sprg1" }, .call = { "lr", "r1", "r3" }, .local = 8 },
};

static void put(uint32_t what)
{
	struct entry entry = { what, count };

	repeating = NULL;
	fwrite(&entry, sizeof(entry), 1, set.log);
}

static void put_words(uint32_t what, const uint64_t *words)
{
	put(what);
	fwrite(words, sizeof(*words), log_words(what), set.log);
}

uint64_t plugin_read_register(struct qemu_plugin_register *handle)
{
	uint64_t value = 0;

	g_byte_array_set_size(scratch, 0);
	if (handle && qemu_plugin_read_register(handle, scratch))
		memcpy(&value, scratch->data,
		       scratch->len < 8 ? scratch->len : 8);
	return value;
}

/* A CPU that has just come up has a base of its own only after a while. */
static uint64_t read_base(void)
{
	uint64_t value = plugin_read_register(base[0]);

	if (target->numbered)
		return base[0] ? value | UPPER : 0;
	if (!(value & UPPER) && base[1])
		value = plugin_read_register(base[1]);
	return value & UPPER ? value : 0;
}

static struct cpu *find_cpu(uint64_t value)
{
	struct cpu *cpu = cpus;

	if (!value)
		return cpu;
	for (cpu++; cpu < cpus + CPUS - 1 && cpu->base; cpu++)
		if (cpu->base == value)
			break;
	cpu->base = value;
	return cpu;
}

static void note_cpu(bool always)
{
	uint64_t words[2] = { read_base(), count };

	if (now->base == words[0] && !always)
		return;
	now = find_cpu(words[0]);
	put_words(LOG_CPU, words);
}

/* What this CPU executed last may have read the clock. */
static void note_time(void)
{
	uint64_t words[2] = { now->count };

	if (!now->clock || now->last != now->clock_addr)
		return;
	words[1] = plugin_read_register(clock_regs[now->clock - 1]);
	if (target->halves)
		words[1] = (uint32_t)words[1] | plugin_read_register(clock_regs[now->clock]) << 32;
	put_words(LOG_TIME, words);
}

static struct call *find_call(uint64_t back, uint64_t stack)
{
	int i;

	for (i = 0; i < CALLS; i++)
		if (calls[i].back == back && calls[i].stack == stack)
			return &calls[i];
	return NULL;
}

static void note_call(void)
{
	struct call call = { plugin_read_register(call_regs[BACK]),
			     plugin_read_register(call_regs[STACK]) };

	if (!find_call(call.back, call.stack))
		calls[next_call++ % CALLS] = call;
}

static void note_return(uint64_t addr)
{
	struct call *call = find_call(addr, plugin_read_register(call_regs[STACK]));
	uint64_t words[2] = { count };

	if (!call)
		return;
	*call = (struct call){ };
	words[1] = plugin_read_register(call_regs[RESULT]);
	put_words(LOG_TIME, words);
}

static bool goes_back(uint64_t addr)
{
	int i;

	for (i = 0; i < CALLS; i++)
		if (calls[i].back == addr)
			return true;
	return false;
}

/* A block is entered there: does it tell the time, or has it been told? */
static void note_place(uint64_t addr)
{
	if (!set.clock)
		return;
	if (addr == set.clock || addr == set.clock + target->local)
		note_call();
	else if (goes_back(addr))
		note_return(addr);
}

static void note_marker(void)
{
	logging = !logging;
	if (logging) {
		note_cpu(true);
		return;
	}
	put(LOG_END);
	set.marker = 0;
	fflush(set.log);
	fflush(set.blocks);
}

/* An instruction that does not retire is left out again. */
void plugin_trap(int kind, uint64_t from, uint64_t to)
{
	uint64_t words[3] = { kind, from, to };

	if (!logging)
		return;
	note_cpu(false);
	if (kind == TRAP_EXCEPTION && from == now->last) {
		now->last = 0;
		count--;
	}
	note_time();
	now->clock = 0;
	now->in_user = false;
	put_words(LOG_TRAP, words);
}

static void on_kernel(unsigned int vcpu, void *data)
{
	struct code *code = data;

	if (code->addr == set.marker)
		note_marker();
	if (!logging)
		return;
	note_cpu(false);
	if (repeating == code)
		return;
	if (code->vector && !now->in_user)
		vector_entered(code->vector, code->addr);
	note_time();
	note_place(code->addr);
	put(code->number);
	repeating = code->repeats ? code : NULL;
	now->in_user = false;
	now->clock = code->clock;
	now->clock_addr = code->last;
}

/* Of user space only that it is entered is of interest, and what time it is. */
static void on_user(unsigned int vcpu, void *data)
{
	if (!logging)
		return;
	note_cpu(false);
	note_time();
	now->clock = 0;
	if (!now->in_user)
		put(LOG_USER);
	now->in_user = true;
}

static void on_insn(unsigned int vcpu, void *data)
{
	now->last = (uint64_t)(uintptr_t)data;
	now->count = ++count;
}

static bool is_kernel(uint64_t *addr)
{
	if (*addr - set.low < set.length)
		*addr += set.text - set.low;
	return *addr & UPPER;
}

/* Write a block down, and learn of it what is to be known. */
static void write_block(struct qemu_plugin_tb *tb, struct code *code)
{
	struct block block = { code->addr, qemu_plugin_tb_n_insns(tb), 0 };
	uint8_t lengths[block.insns], bytes[block.insns * LONGEST];
	struct qemu_plugin_insn *insn = NULL;
	uint32_t i;

	for (i = 0; i < block.insns; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		lengths[i] = qemu_plugin_insn_size(insn);
		qemu_plugin_insn_data(insn, bytes + block.bytes, lengths[i]);
		block.bytes += lengths[i];
	}
	fwrite(&block, sizeof(block), 1, set.blocks);
	fwrite(lengths, 1, block.insns, set.blocks);
	fwrite(bytes, 1, block.bytes, set.blocks);
	i = lengths[block.insns - 1];
	code->clock = target->reads_clock ? target->reads_clock(bytes + block.bytes - i, i) : 0;
	code->repeats = block.insns == 1 && target->repeats && target->repeats(*bytes);
	code->last = qemu_plugin_insn_vaddr(insn);
}

static void watch_insns(struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *insn;
	size_t i;

	for (i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn,
			QEMU_NO_REGS,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(insn));
	}
}

void plugin_translated(struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	struct code *code;

	if (is_kernel(&addr)) {
		code = malloc(sizeof(*code));
		code->addr = addr;
		code->number = blocks++;
		code->vector = vector_at(addr);
		write_block(tb, code);
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kernel,
						     QEMU_READS_REGS, code);
	} else {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_user,
						     QEMU_READS_REGS, NULL);
	}
	watch_insns(tb);
}

/*
 * Remember the registers that have one of these names, the first of each: QEMU
 * lists lr of POWER once more among the SPRs, where it is always 0.
 */
static void take_registers(const struct qemu_register *reg, const char *const *names, size_t count,
			   struct qemu_plugin_register **into)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (names[i] && !into[i] && !strcmp(reg->name, names[i]))
			into[i] = reg->handle;
}

void plugin_cpu(void)
{
	struct garray *all = qemu_plugin_get_registers();
	struct qemu_register *regs = (struct qemu_register *)all->data;
	unsigned int i;

	for (i = 0; i < all->len; i++) {
		vector_take_register(&regs[i]);
		take_registers(&regs[i], target->base, 2, base);
		take_registers(&regs[i], target->clock, 32, clock_regs);
		take_registers(&regs[i], target->call, 3, call_regs);
	}
}

void plugin_end(void)
{
	fclose(set.log);
	fclose(set.blocks);
}

static FILE *create(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return fopen(path, "wb");
}

static int take_argument(const char *word)
{
	const char *value = strchr(word, '=');

	if (!value)
		return -1;
	value++;
	if (!strncmp(word, "out=", 4)) {
		set.blocks = create(value, "blocks");
		set.log = create(value, "log");
	} else if (!strncmp(word, "marker=", 7)) {
		set.marker = strtoull(value, NULL, 16);
	} else if (!strncmp(word, "low=", 4)) {
		set.low = strtoull(value, NULL, 16);
	} else if (!strncmp(word, "text=", 5)) {
		set.text = strtoull(value, NULL, 16);
	} else if (!strncmp(word, "length=", 7)) {
		set.length = strtoull(value, NULL, 16);
	} else if (!strncmp(word, "clock=", 6)) {
		set.clock = strtoull(value, NULL, 16);
	} else if (!strncmp(word, "vectors=", 8)) {
		return vector_read(value);
	} else {
		return -1;
	}
	return 0;
}

static const struct target *find_target(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	return NULL;
}

int plugin_install(const struct qemu_info *info, int argc, char **argv)
{
	int i;

	target = find_target(info->target);
	for (i = 0; i < argc; i++)
		if (take_argument(argv[i]))
			return -1;
	if (!target || !set.blocks || !set.log || !set.marker)
		return -1;
	if (!target->reads_clock && !set.clock)
		return -1;
	scratch = g_byte_array_new();
	return 0;
}
