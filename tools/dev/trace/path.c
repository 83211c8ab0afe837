// SPDX-License-Identifier: GPL-2.0
#include "path.h"

#define UPPER		(1ull << 63)

uint64_t path_gaps, path_traps[2], path_until = UINT64_MAX;

static const struct isa *isa;
static const struct path *path;
static uint64_t now, bias;
static bool known_bias;	/* before the clock was read nothing can be placed */

/* A CPU that is in the kernel, and the instruction that it executed last there. */
static struct {
	bool inside;
	struct insn last;
	const uint8_t *stopped;
} state[CPUS];

uint64_t path_clock(void)
{
	return now + bias;
}

const uint8_t *path_stopped(int cpu)
{
	return state[cpu].stopped;
}

static void leave(int cpu)
{
	state[cpu].inside = false;
	path->leave(cpu, &state[cpu].last);
}

static void enter(int cpu, uint64_t to)
{
	state[cpu].inside = true;
	path->enter(cpu, to);
}

static void lose(int cpu, uint64_t to)
{
	path_gaps++;
	path->lose(cpu, state[cpu].last.next);
	enter(cpu, to);
}

/* Whether an instruction may lead there. */
static bool leads(const struct insn *insn, uint64_t to)
{
	switch (insn->kind) {
	case GOES_ON:
		/* A string instruction is where it was. */
		return to == insn->next || to == insn->addr;
	case IS_TOLD:
		return to == insn->next;
	case MAY_JUMP:
		return to == insn->next || to == insn->target;
	case JUMPS:
		return to == insn->target;
	default:
		return true;
	}
}

static bool takes(const struct insn *insn, uint64_t to)
{
	return insn->kind == LEAPS || insn->kind == RETURNS || insn->kind == JUMPS ||
	       (insn->kind == MAY_JUMP && to != insn->next);
}

/* A CPU in the kernel gets somewhere: how does its last instruction lead there? */
static void follow(int cpu, uint64_t to)
{
	struct insn *last = &state[cpu].last;

	if (!(to & UPPER))
		leave(cpu);
	else if (!leads(last, to))
		lose(cpu, to);
	else if (last->kind != GOES_ON)
		path->branch(cpu, last, takes(last, to), to);
}

static void arrive(int cpu, uint64_t to)
{
	if (state[cpu].inside)
		follow(cpu, to);
	else if (to & UPPER)
		enter(cpu, to);
	state[cpu].last = (struct insn){ GOES_ON, to, to, 0 };
}

/* The last of the instructions that were executed is the only one that may branch. */
static void pass(int cpu, const struct code *code, uint32_t insns)
{
	const uint8_t *bytes = code->bytes;
	uint64_t addr = code->addr;
	uint32_t i;

	for (i = 0; i + 1 < insns; i++) {
		addr += code->lengths[i];
		bytes += code->lengths[i];
	}
	state[cpu].last = isa->read(addr, bytes, code->lengths[i]);
	state[cpu].stopped = i + 1 < code->insns ? bytes + code->lengths[i] : NULL;
}

static void on_run(int cpu, uint32_t number, const struct code *code, uint32_t insns, uint64_t count)
{
	if (cpu < 0 || !known_bias)
		return;
	now = count;
	walk_done = path_clock() >= path_until;
	arrive(cpu, code->addr);
	if (insns > code->insns)
		insns = code->insns;
	if (!insns) {
		state[cpu].stopped = code->bytes;
		return;
	}
	path->run(cpu, code->addr, insns);
	pass(cpu, code, insns);
}

static void on_trap(int cpu, int kind, uint64_t from, uint64_t to, uint64_t count)
{
	if (cpu < 0 || !known_bias)
		return;
	now = count;
	if (state[cpu].inside)
		arrive(cpu, from);
	if (state[cpu].inside) {
		path_traps[kind]++;
		path->trap(cpu, kind, from, to);
	} else {
		enter(cpu, to);
	}
	state[cpu].last = (struct insn){ GOES_ON, to, to, 0 };
}

static void on_user(int cpu, uint64_t count)
{
	if (cpu < 0 || !known_bias)
		return;
	now = count;
	if (state[cpu].inside)
		leave(cpu);
}

static void on_clock(int cpu, uint64_t at, uint64_t value)
{
	bias = value - at;
	known_bias = true;
}

int path_walk(const char *folder, const struct isa *which, const struct path *to)
{
	static const struct events events = { on_run, on_trap, on_user, on_clock };

	isa = which;
	path = to;
	return walk(folder, &events);
}
