// SPDX-License-Identifier: GPL-2.0
/*
 * ETMv4, with contexts of 4 bytes, timestamps, and without a stack of returns.
 *
 * An atom stands for each branch, taken (E) or not (N), and for each ISB; the
 * address that an indirect one leads to follows its atom. An exception has the
 * address at which it came, then address and context of its vector. Only the
 * kernel is traced: of user space there is nothing between the atom of an ERET
 * and the next Trace On. Timestamps are as dense as the driver asks for.
 *
 * A decoder tells a branch by the code before and the code behind it that was
 * executed: what leads to a place where at once an exception comes is one
 * branch, to the vector. And it learns only from the next atom or exception
 * that the code behind it was executed: where a CPU goes off before that, as
 * at the end of the trace, it cannot know.
 *
 * Between two fragments the unit is off, as while a driver empties its buffer:
 * each begins as a trace does, and the branch to its beginning is not told.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"

#define SYNC_EVERY	4096	/* bytes, as TRCSYNCPR's default */
#define CLOCK_EVERY	200	/* instructions */
#define CONTEXT		0xb1	/* EL1, not secure, 64 bits, with a context ID */

/* Packets' headers. */
enum {
	TRACE_INFO = 0x01, TIMESTAMP = 0x02, TRACE_ON = 0x04, EXCEPTION = 0x06,
	ADDRESS_CONTEXT = 0x85, ADDRESS = 0x9d, ATOM_N = 0xf6, ATOM_E = 0xf7,
};

/* Kinds of exceptions. */
enum { DEBUG = 6, DATA_FAULT = 12, FETCH_FAULT = 11, IRQ = 14 };

static struct unit {
	FILE *file;
	uint64_t from;		/* of a branch that has not led to anything executed yet; 0: none */
	struct branch untold;	/* one that has, of which no packet tells yet; from is 0: none */
	uint64_t last;		/* the instruction that was executed last */
	bool executed;		/* something since the last atom or address */
	uint32_t since_sync, since_clock, in_fragment;
} units[CPUS];

/* What has been written of all units, for a comparison with how others read it. */
static struct {
	uint64_t syncs, traces_on, atoms_taken, atoms_not;
	uint64_t addresses, contexts, addresses_sum;
	uint64_t timestamps, timestamps_sum;
	uint64_t exceptions[IRQ + 1];
} written;

static void put(struct unit *unit, const uint8_t *bytes, size_t size)
{
	fwrite(bytes, 1, size, unit->file);
	unit->since_sync += size;
	unit->in_fragment += size;
}

static void put_trace_on(struct unit *unit)
{
	static const uint8_t on[] = { TRACE_ON };

	put(unit, on, sizeof(on));
	written.traces_on++;
}

static void put_atom(struct unit *unit, bool taken)
{
	uint8_t atom = taken ? ATOM_E : ATOM_N;

	put(unit, &atom, sizeof(atom));
	if (taken)
		written.atoms_taken++;
	else
		written.atoms_not++;
}

/* Bits 2 to 8, 9 to 15, then whole bytes. */
static void put_address(struct unit *unit, uint8_t header, uint64_t addr)
{
	uint8_t bytes[9] = { header, addr >> 2 & 0x7f, addr >> 9 & 0x7f };
	int i;

	for (i = 2; i < 8; i++)
		bytes[i + 1] = addr >> (8 * i);
	put(unit, bytes, sizeof(bytes));
	unit->executed = false;
	written.addresses++;
	written.addresses_sum += addr;
}

static void put_place(struct unit *unit, uint64_t addr)
{
	static const uint8_t context[] = { CONTEXT, 1, 0, 0, 0 };

	put_address(unit, ADDRESS_CONTEXT, addr);
	put(unit, context, sizeof(context));
	written.contexts++;
}

/* Seven bits a byte, the ninth has eight. */
static void put_clock(struct unit *unit)
{
	uint64_t value = path_clock();
	uint8_t bytes[10] = { TIMESTAMP };
	int i;

	written.timestamps++;
	written.timestamps_sum += value;

	for (i = 1; i < 9; i++) {
		bytes[i] = value & 0x7f;
		value >>= 7;
		if (value)
			bytes[i] |= 0x80;
		else
			break;
	}
	if (i == 9)
		bytes[i] = value;
	put(unit, bytes, i + 1);
	unit->since_clock = 0;
}

static void put_sync(struct unit *unit)
{
	static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, TRACE_INFO, 0x01, 0x00 };

	put(unit, sync, sizeof(sync));
	unit->since_sync = 0;
	written.syncs++;
}

/* The unit goes on: how the CPU got there is not told, nor what it had executed before. */
static void put_begin(struct unit *unit, uint64_t addr)
{
	put_trace_on(unit);
	put_place(unit, addr);
	put_clock(unit);
	unit->from = 0;
	unit->last = 0;
}

/* The CPU is at a place that packets have told: what a decoder may start with. */
static void known_place(int cpu, uint64_t addr)
{
	struct unit *unit = &units[cpu];

	if (unit->in_fragment >= FRAGMENT) {
		encode_cut(cpu, ftell(unit->file));
		unit->in_fragment = 0;
		put_sync(unit);
		put_begin(unit, addr);
	} else if (unit->since_sync >= SYNC_EVERY) {
		put_sync(unit);
		put_place(unit, addr);
		put_clock(unit);
	}
}

/* A packet tells of what was executed last. */
static void tell(int cpu)
{
	const struct branch *branch = &units[cpu].untold;

	if (branch->from)
		encode_truth_at(cpu, branch);
	units[cpu].untold = (struct branch){ };
}

static void on_enter(int cpu, uint64_t to)
{
	struct unit *unit = &units[cpu];

	if (!unit->file) {
		unit->file = encode_file("aux", cpu);
		put_sync(unit);
	}
	put_begin(unit, to);
	unit->untold = (struct branch){ };
}

static void on_leave(int cpu, const struct insn *last)
{
	if (last->kind == RETURNS) {
		put_atom(&units[cpu], true);
		tell(cpu);
	}
	units[cpu].executed = false;
}

static void on_lose(int cpu, uint64_t at)
{
	units[cpu].executed = false;
}

static void on_branch(int cpu, const struct insn *insn, bool taken, uint64_t to)
{
	struct unit *unit = &units[cpu];

	put_atom(unit, taken || insn->kind == IS_TOLD);
	tell(cpu);
	unit->executed = false;
	if (taken)
		unit->from = insn->addr;
	if (insn->kind == LEAPS)
		put_address(unit, ADDRESS, to);
	else if (insn->kind == RETURNS)
		put_place(unit, to);
	if (insn->kind == LEAPS || insn->kind == RETURNS)
		known_place(cpu, to);
}

static int type_of(int cpu, int kind)
{
	const uint8_t *code = path_stopped(cpu);
	uint32_t word;

	if (kind == TRAP_INTERRUPT)
		return IRQ;
	if (!code)
		return FETCH_FAULT;
	memcpy(&word, code, sizeof(word));
	return (word & 0xffe0001f) == 0xd4200000 ? DEBUG : DATA_FAULT;
}

static void on_trap(int cpu, int kind, uint64_t from, uint64_t to)
{
	struct unit *unit = &units[cpu];
	uint8_t head[2] = { EXCEPTION };
	int type = type_of(cpu, kind);

	/* Bits 0 and 6: 1, if the address is behind what was executed; 2, if it is where a branch led. */
	head[1] = type << 1 | (unit->executed ? 1 : 1 << 6);
	put(unit, head, sizeof(head));
	written.exceptions[type]++;
	tell(cpu);
	put_address(unit, ADDRESS, from);
	put_place(unit, to);
	put_clock(unit);
	if (!unit->from)
		unit->from = unit->last;
	known_place(cpu, to);
}

static void on_run(int cpu, uint64_t addr, uint32_t insns)
{
	struct unit *unit = &units[cpu];

	if (unit->from)
		unit->untold = (struct branch){ unit->from, addr, path_clock() };
	unit->from = 0;
	unit->last = addr + 4 * (insns - 1);
	unit->executed = true;
	unit->since_clock += insns;
	if (unit->since_clock >= CLOCK_EVERY)
		put_clock(unit);
}

void etm_print_written(void)
{
	const struct { const char *name; uint64_t value; } figures[] = {
		{ "syncs", written.syncs },
		{ "traces-on", written.traces_on },
		{ "atoms-taken", written.atoms_taken },
		{ "atoms-not", written.atoms_not },
		{ "addresses", written.addresses },
		{ "contexts", written.contexts },
		{ "addresses-sum", written.addresses_sum },
		{ "timestamps", written.timestamps },
		{ "timestamps-sum", written.timestamps_sum },
		{ "debug-exceptions", written.exceptions[DEBUG] },
		{ "data-faults", written.exceptions[DATA_FAULT] },
		{ "fetch-faults", written.exceptions[FETCH_FAULT] },
		{ "irqs", written.exceptions[IRQ] },
	};
	size_t i;

	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		printf("written-%s %" PRIu64 "\n", figures[i].name, figures[i].value);
}

const struct path etm_encoder = {
	on_enter, on_leave, on_lose, on_branch, on_trap, on_run
};
