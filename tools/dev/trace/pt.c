// SPDX-License-Identifier: GPL-2.0
/*
 * Intel PT, through libipt's encoder.
 *
 * As the hardware does it with only the kernel traced: returns are not
 * compressed, TIP.PGE and TIP.PGD are where the kernel is entered and left,
 * an interrupt or exception is FUP and TIP. TSC packets come after each of
 * these and whenever some instructions have passed, for decoders place a
 * change of text by them.
 *
 * Between two fragments the unit is off, as while the driver hands one over: the
 * branch to where it goes on is told all the same.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"

#define SYNC_EVERY	4096	/* bytes, as PSBFreq's default */
#define CLOCK_EVERY	200	/* instructions */
#define TNT_BITS	6

static struct unit {
	FILE *file;
	uint64_t bits;		/* of conditional branches that no packet has told yet */
	int nr_bits;
	uint32_t since_sync, since_clock, in_fragment;
} units[CPUS];

static uint8_t scratch[64];
static struct pt_encoder *encoder;

static void open_encoder(void)
{
	struct pt_config config;

	pt_config_init(&config);
	config.begin = scratch;
	config.end = scratch + sizeof(scratch);
	encoder = pt_alloc_encoder(&config);
	if (!encoder) {
		fprintf(stderr, "trace: libipt gives no encoder\n");
		exit(1);
	}
}

static void put(struct unit *unit, const struct pt_packet *packet)
{
	int size;

	pt_enc_sync_set(encoder, 0);
	size = pt_enc_next(encoder, packet);
	if (size <= 0) {
		fprintf(stderr, "trace: libipt cannot encode a packet of type %d: %s\n",
			packet->type, pt_errstr(pt_errcode(size)));
		exit(1);
	}
	fwrite(scratch, 1, size, unit->file);
	unit->since_sync += size;
	unit->in_fragment += size;
}

static void put_type(struct unit *unit, enum pt_packet_type type)
{
	struct pt_packet packet = { .type = type };

	put(unit, &packet);
}

static void put_ip(struct unit *unit, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet packet = { .type = type };

	packet.payload.ip.ipc = pt_ipc_sext_48;
	packet.payload.ip.ip = ip & 0xffffffffffff;
	put(unit, &packet);
}

static void put_tsc(struct unit *unit)
{
	struct pt_packet packet = { .type = ppt_tsc };

	packet.payload.tsc.tsc = path_clock() & 0xffffffffffffff;
	put(unit, &packet);
	unit->since_clock = 0;
}

static void put_mode(struct unit *unit)
{
	struct pt_packet packet = { .type = ppt_mode };

	packet.payload.mode.leaf = pt_mol_exec;
	packet.payload.mode.bits.exec.csl = 1;
	put(unit, &packet);
}

static void put_bits(struct unit *unit)
{
	struct pt_packet packet = { .type = ppt_tnt_8 };

	if (!unit->nr_bits)
		return;
	packet.payload.tnt.bit_size = unit->nr_bits;
	packet.payload.tnt.payload = unit->bits;
	put(unit, &packet);
	unit->bits = 0;
	unit->nr_bits = 0;
}

/* What a decoder starts with: here is where the CPU is, or nowhere while it is outside. */
static void put_sync(struct unit *unit, uint64_t ip)
{
	put_type(unit, ppt_psb);
	put_tsc(unit);
	put_mode(unit);
	if (ip)
		put_ip(unit, ppt_fup, ip);
	put_type(unit, ppt_psbend);
	unit->since_sync = 0;
}

/* No more packets from here on. Where the CPU goes is not told. */
static void put_end(struct unit *unit)
{
	struct pt_packet packet = { .type = ppt_tip_pgd };

	packet.payload.ip.ipc = pt_ipc_suppressed;
	put(unit, &packet);
}

/* The unit goes off, though the CPU does not leave the kernel. */
static void put_off(struct unit *unit, uint64_t ip)
{
	put_ip(unit, ppt_fup, ip);
	put_end(unit);
}

/* The CPU is at a place that packets have told. */
static void known_place(int cpu, uint64_t ip)
{
	struct unit *unit = &units[cpu];

	if (unit->in_fragment >= FRAGMENT) {
		put_off(unit, ip);
		encode_cut(cpu, ftell(unit->file));
		unit->in_fragment = 0;
		put_sync(unit, 0);
		put_ip(unit, ppt_tip_pge, ip);
	} else if (unit->since_sync >= SYNC_EVERY) {
		put_sync(unit, ip);
	}
}

static void on_enter(int cpu, uint64_t to)
{
	struct unit *unit = &units[cpu];

	if (!encoder)
		open_encoder();
	if (!unit->file) {
		unit->file = encode_file("aux", cpu);
		put_sync(unit, 0);
	}
	put_tsc(unit);
	put_ip(unit, ppt_tip_pge, to);
	known_place(cpu, to);
}

static void on_leave(int cpu, const struct insn *last)
{
	put_bits(&units[cpu]);
	put_end(&units[cpu]);
}

static void on_lose(int cpu, uint64_t at)
{
	put_bits(&units[cpu]);
	put_off(&units[cpu], at);
}

static void on_branch(int cpu, const struct insn *insn, bool taken, uint64_t to)
{
	struct unit *unit = &units[cpu];

	if (taken)
		encode_truth(cpu, insn->addr, to);
	if (insn->kind == MAY_JUMP) {
		unit->bits = unit->bits << 1 | taken;
		if (++unit->nr_bits == TNT_BITS)
			put_bits(unit);
	} else if (insn->kind == LEAPS) {
		put_bits(unit);
		put_ip(unit, ppt_tip, to);
		known_place(cpu, to);
	}
}

static void on_trap(int cpu, int kind, uint64_t from, uint64_t to)
{
	struct unit *unit = &units[cpu];

	encode_truth(cpu, from, to);
	put_bits(unit);
	put_ip(unit, ppt_fup, from);
	put_ip(unit, ppt_tip, to);
	put_tsc(unit);
	known_place(cpu, to);
}

static void on_run(int cpu, uint64_t addr, uint32_t insns)
{
	struct unit *unit = &units[cpu];

	unit->since_clock += insns;
	if (unit->since_clock < CLOCK_EVERY)
		return;
	put_bits(unit);
	put_tsc(unit);
}

/* The last bits have to be told, or the last branches are not found. */
void pt_finish(void)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		if (units[cpu].file)
			put_bits(&units[cpu]);
}

const struct path pt_encoder = {
	on_enter, on_leave, on_lose, on_branch, on_trap, on_run
};
