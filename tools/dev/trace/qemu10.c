// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU 10: it does not tell of interrupts and exceptions. They are known by where
 * they lead, of which there is a list, and the CPU says itself where it was: in a
 * register, or on x86 on its stack.
 *
 * Each line of the list has the first address, the first that is none any more,
 * what lies between two, and what is there: see enum kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "plugin.h"

EXPORT int qemu_plugin_version = QEMU_API;

#define VECTORS		512

enum kind {
	INTERRUPT = TRAP_INTERRUPT, EXCEPTION = TRAP_EXCEPTION,
	BEHIND,		/* an exception, of which the CPU notes what is a byte behind it */
	TOLD,		/* the upper bit of a register says that it is an interrupt */
};

struct vector {
	uint64_t first, end, step;
	int kind;
};

static struct vector vectors[VECTORS];
static int nr_vectors;

/* What has the place where a CPU was, and the reason where vectors share one. */
static const struct target {
	const char *name, *from, *cause;
	bool stack;	/* the former is the stack instead, with the place on it */
} targets[] = {
	{ "x86_64", .from = "rsp", .stack = true },
	{ "aarch64", .from = "ELR_EL1" },
	{ "riscv64", .from = "sepc", .cause = "scause" },
	{ "ppc64", .from = "srr0" },
}, *target;

static struct qemu_plugin_register *from_reg, *cause_reg;
static struct garray *frame;

int vector_read(const char *path)
{
	FILE *file = fopen(path, "r");
	struct vector *vector = vectors;
	int ret = -1;

	if (!file)
		return -1;
	for (; nr_vectors < VECTORS; nr_vectors++, vector++) {
		ret = fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %d", &vector->first,
			     &vector->end, &vector->step, &vector->kind);
		if (ret != 4)
			break;
	}
	fclose(file);
	return ret == EOF && nr_vectors ? 0 : -1;
}

void vector_take_register(const struct qemu_register *reg)
{
	if (!from_reg && !strcmp(reg->name, target->from))
		from_reg = reg->handle;
	if (!cause_reg && target->cause && !strcmp(reg->name, target->cause))
		cause_reg = reg->handle;
}

const struct vector *vector_at(uint64_t addr)
{
	const struct vector *vector = vectors;

	for (; vector < vectors + nr_vectors; vector++)
		if (addr >= vector->first && addr < vector->end &&
		    !((addr - vector->first) % vector->step))
			return vector;
	return NULL;
}

/*
 * From the top of x86's stack on: an error code, which not all have, the
 * instruction, and its segment. No instruction is where a segment's number says.
 */
static uint64_t read_stack(uint64_t addr)
{
	uint64_t words[2] = { };

	if (qemu_plugin_read_memory_vaddr(addr, frame, sizeof(words)))
		memcpy(words, frame->data, sizeof(words));
	return words[1] <= UINT16_MAX ? words[0] : words[1];
}

void vector_entered(const struct vector *vector, uint64_t to)
{
	uint64_t from = plugin_read_register(from_reg);
	int kind = vector->kind;

	if (target->stack)
		from = read_stack(from);
	if (kind == BEHIND) {
		from--;
		kind = EXCEPTION;
	} else if (kind == TOLD) {
		kind = plugin_read_register(cause_reg) >> 63 ? INTERRUPT : EXCEPTION;
	}
	plugin_trap(kind, from, to);
}

static void on_cpu(uint64_t id, unsigned int vcpu)
{
	plugin_cpu();
}

static void on_translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	plugin_translated(tb);
}

static void on_exit_of_qemu(uint64_t id, void *data)
{
	plugin_end();
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	size_t i;

	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i].name, info->target))
			target = &targets[i];
	if (!target || plugin_install(info, argc, argv) || !nr_vectors)
		return -1;
	frame = g_byte_array_new();
	qemu_plugin_register_vcpu_init_cb(id, on_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
