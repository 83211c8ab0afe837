// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware trace of a kernel whose text changes: perf.data files are made here,
 * with packets as a CPU emits them that executes a loop, and with the records of
 * the changes; perf itself decodes them. The loop has a site, a nop that becomes
 * a jump to a detour and back again:
 *
 *	loop:	site: nop	or	site: jump detour
 *		jump loop
 *	detour:	jump loop
 *	vector:	return from exception
 *
 * As the kernel does, the CPU takes an interrupt between the record and what it
 * executes of the new instruction.
 */

#include <byteswap.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <internal/lib.h>
#include "auxtrace.h"
#include "bpf-event.h"
#include "bpf-utils.h"
#include "cs-etm.h"
#include "debug.h"
#include "dso.h"
#include "env.h"
#include "event.h"
#include "header.h"
#include "intel-pt.h"
#include "machine.h"
#include "map.h"
#include "maps.h"
#include "memswap.h"
#include "sample.h"
#include "session.h"
#include "symbol.h"
#include "tests.h"
#include "util.h"

#define TEXT_START	0xffffffff81000000ULL
#define TEXT_SIZE	0x2000
#define SITE		(TEXT_START + 0x100)
#define DETOUR		(TEXT_START + 0x120)
#define VECTOR		(TEXT_START + 0x140)
/* Memory that is allocated for code, as for kprobes; below the kernel, as on arm64 */
#define SLOT		(TEXT_START - 0x1000000)
/* A loop of one instruction, in a program */
#define USER_LOOP	0x400000ULL
/* More than any here can have, or perf looks for the program in the namespace of that one */
#define TASK		0x500000
/* kcore has it, and what is around it, such as a function of a module */
#define AREA_START	(SLOT - 0x1000)
#define AREA_SIZE	0x3000
#define MODULE		(SLOT + 0x1800)

#define AUX_PMU_TYPE	100
#define AUX_ID		1
#define DUMMY_ID	2
#define MAX_BRANCHES	256

/* The files are as a little-endian machine writes them, and so are the packets; kernels are ELF */
#if defined(HAVE_AUXTRACE_SUPPORT) && defined(HAVE_LIBELF_SUPPORT) && \
	__BYTE_ORDER == __LITTLE_ENDIAN
static const bool have_decoders = true;
#else
static const bool have_decoders;
#endif

#if defined(HAVE_CSTRACE_SUPPORT) && defined(HAVE_AUXTRACE_SUPPORT) && \
	defined(HAVE_LIBELF_SUPPORT) && __BYTE_ORDER == __LITTLE_ENDIAN
static const bool have_coresight = true;
#else
static const bool have_coresight;
#endif

struct text_poke_test;

/* What the two kinds of trace differ in */
struct isa {
	const char	*name;
	char		uname[16];
	u16		machine;
	u64		aux_config;
	u64		aux_flags;
	/* The instructions */
	u8		nop[8], eret[8];
	u8		site_len, eret_len;
	int		(*jump)(u8 *text, u64 from, u64 to);
	int		(*back)(u8 *text, u64 from);
	/* So many branches at the end of a trace are not told */
	u8		untold;
	/* The records before the trace, and its packets */
	void		(*put_info)(struct text_poke_test *t);
	void		(*put_start)(struct text_poke_test *t, u64 time);
	void		(*put_loop)(struct text_poke_test *t, u64 time);
	void		(*put_interrupt)(struct text_poke_test *t, u64 time);
};

struct branch {
	u64 from, to;
};

struct buf {
	u8	*data;
	size_t	len, size;
};

/* A perf.data file in the making, and what perf made of it */
struct text_poke_test {
	const struct isa *isa;
	char		dir[64];
	char		perf[PATH_MAX];
	struct buf	events;
	struct buf	trace;
	u64		aux_at;
	u64		ref;
	bool		jumps;
	u64		detour;
	bool		boot_jumps; /* vmlinux has the jump, the kernel the nop */
	bool		foreign_time;
	bool		sparse;
	bool		no_index;
	bool		in_dir; /* A directory that has more files */
	u64		astray; /* So far from the trace the index leads */
	struct branch	expected[MAX_BRANCHES];
	unsigned int	nr_expected;
	struct branch	found[MAX_BRANCHES];
	unsigned int	nr_found;
	char		said[8192];
};

static void put(struct buf *buf, const void *data, size_t len)
{
	if (buf->len + len > buf->size) {
		buf->size = 2 * (buf->size + len) + 4096;
		buf->data = realloc(buf->data, buf->size);
		if (!buf->data)
			abort();
	}
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

static void put_byte(struct buf *buf, u8 byte)
{
	put(buf, &byte, 1);
}

static void put_u32(struct buf *buf, u32 val)
{
	put(buf, &val, sizeof(val));
}

static void put_u64(struct buf *buf, u64 val)
{
	put(buf, &val, sizeof(val));
}

static void put_header(struct buf *buf, u32 type, u16 misc, u16 size)
{
	struct perf_event_header header = {
		.type = type, .misc = misc, .size = size,
	};

	put(buf, &header, sizeof(header));
}

/* What sample_id_all appends to a record, for the sample type of write_attrs() */
static void put_sample_id_of(struct buf *buf, u64 time, u32 cpu, u64 id)
{
	put_u64(buf, 0);
	put_u64(buf, time);
	put_u64(buf, cpu);
	put_u64(buf, id);
}

static void put_sample_id(struct buf *buf, u64 time)
{
	put_sample_id_of(buf, time, 0, DUMMY_ID);
}

#define SAMPLE_ID_SIZE 32

static void put_poke(struct text_poke_test *t, u64 time, u64 addr,
		     const void *old, u16 old_len, const void *new, u16 new_len)
{
	u16 bytes = 2 + 2 + old_len + new_len;
	u16 padding = roundup(bytes, 8) - bytes;
	const u64 zero = 0;

	put_header(&t->events, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL,
		   8 + 8 + bytes + padding + SAMPLE_ID_SIZE);
	put_u64(&t->events, addr);
	put(&t->events, &old_len, sizeof(old_len));
	put(&t->events, &new_len, sizeof(new_len));
	put(&t->events, old, old_len);
	put(&t->events, new, new_len);
	put(&t->events, &zero, padding);
	put_sample_id(&t->events, time);
}

/* A type that there is not: BPF's code that is no program */
#define IMAGE	0x100

static void put_ksymbol(struct text_poke_test *t, u64 time, u64 addr, u32 len, u16 type, u16 flags)
{
	const char name[24] = "slot", prog[24] = "bpf_prog_1_slot", image[24] = "bpf_dispatcher_slot";
	const bool is_image = type == IMAGE;

	if (is_image)
		type = PERF_RECORD_KSYMBOL_TYPE_BPF;
	put_header(&t->events, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL,
		   8 + 16 + sizeof(name) + SAMPLE_ID_SIZE);
	put_u64(&t->events, addr);
	put_u32(&t->events, len);
	put(&t->events, &type, sizeof(type));
	put(&t->events, &flags, sizeof(flags));
	put(&t->events, is_image ? image : type == PERF_RECORD_KSYMBOL_TYPE_BPF ? prog : name,
	    sizeof(name));
	put_sample_id(&t->events, time);
}

static void put_slot(struct text_poke_test *t, u64 time, u32 len, u16 flags)
{
	put_ksymbol(t, time, SLOT, len, PERF_RECORD_KSYMBOL_TYPE_OOL, flags);
}

static void put_lost(struct text_poke_test *t, u64 time, u32 cpu, u64 lost)
{
	put_header(&t->events, PERF_RECORD_LOST, 0, 8 + 16 + SAMPLE_ID_SIZE);
	put_u64(&t->events, DUMMY_ID);
	put_u64(&t->events, lost);
	put_sample_id_of(&t->events, time, cpu, DUMMY_ID);
}

/* As perf record writes it at the end: of how many an event has lost in all */
static void put_lost_in_all(struct text_poke_test *t, u64 id, u64 lost)
{
	put_header(&t->events, PERF_RECORD_LOST_SAMPLES, 0, 8 + 8 + SAMPLE_ID_SIZE);
	put_u64(&t->events, lost);
	put_sample_id_of(&t->events, 0, 0, id);
}

/* A record that is not so long as it says */
static void put_broken_poke(struct text_poke_test *t, u64 time, u16 old_len, u16 new_len)
{
	put_header(&t->events, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL,
		   8 + 8 + 8 + SAMPLE_ID_SIZE);
	put_u64(&t->events, SITE);
	put(&t->events, &old_len, sizeof(old_len));
	put(&t->events, &new_len, sizeof(new_len));
	put_u32(&t->events, 0);
	put_sample_id(&t->events, time);
}

/* The records with which a file begins */
static void put_kernel_mmap(struct text_poke_test *t)
{
	char name[40] = "[kernel.kallsyms]_text";

	put_header(&t->events, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
		   8 + 8 + 24 + sizeof(name) + SAMPLE_ID_SIZE);
	put_u32(&t->events, -1);
	put_u32(&t->events, 0);
	put_u64(&t->events, TEXT_START);
	put_u64(&t->events, TEXT_SIZE);
	put_u64(&t->events, TEXT_START);
	put(&t->events, name, sizeof(name));
	put_sample_id(&t->events, 0);
}

static void put_pt_info(struct text_poke_test *t)
{
	u64 priv[INTEL_PT_AUXTRACE_PRIV_MAX] = {
		[INTEL_PT_PMU_TYPE]		= AUX_PMU_TYPE,
		[INTEL_PT_TIME_MULT]		= 1,
		[INTEL_PT_CAP_USER_TIME_ZERO]	= 1,
		[INTEL_PT_TSC_BIT]		= 0x400,
		[INTEL_PT_NORETCOMP_BIT]	= 1 << 11,
		[INTEL_PT_PER_CPU_MMAPS]	= 1,
	};

	put_header(&t->events, PERF_RECORD_AUXTRACE_INFO, 0, 16 + sizeof(priv));
	put_u32(&t->events, PERF_AUXTRACE_INTEL_PT);
	put_u32(&t->events, 0);
	put(&t->events, priv, sizeof(priv));
}

static void put_pt_ip(struct buf *buf, u8 packet, u64 ip)
{
	put_byte(buf, packet | 6 << 5);
	put_u64(buf, ip);
}

#define PT_TIP 0x0d
#define PT_FUP 0x1d

static void put_pt_time(struct buf *buf, u64 time)
{
	put_byte(buf, 0x19);
	put(buf, &time, 7);
}

static void put_pt_start(struct text_poke_test *t, u64 time)
{
	struct buf *buf = &t->trace;
	const u8 psb[] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	const u8 mode_exec[] = { 0x99, 1 };
	const u8 psbend[] = { 2, 0x23 };

	put(buf, psb, sizeof(psb));
	put_pt_time(buf, time);
	put(buf, mode_exec, sizeof(mode_exec));
	put_pt_ip(buf, PT_FUP, SITE);
	put(buf, psbend, sizeof(psbend));
}

static void expect(struct text_poke_test *t, u64 from, u64 to)
{
	t->expected[t->nr_expected++] = (struct branch){ from, to };
}

static void put_pt_loop(struct text_poke_test *t, u64 time)
{
	put_pt_time(&t->trace, time);
	put_pt_ip(&t->trace, PT_TIP, SITE);
}

static void put_pt_interrupt(struct text_poke_test *t, u64 time)
{
	expect(t, SITE, VECTOR);
	put_pt_time(&t->trace, time);
	put_pt_ip(&t->trace, PT_FUP, SITE);
	put_pt_ip(&t->trace, PT_TIP, VECTOR);
	put_pt_ip(&t->trace, PT_TIP, SITE);
}

static int x86_jump(u8 *text, u64 from, u64 to)
{
	const s32 offset = to - (from + 5);

	text[0] = 0xe9;
	memcpy(text + 1, &offset, sizeof(offset));
	return 5;
}

/* To a register, so that each round has a packet */
static int x86_back(u8 *text, u64 from __maybe_unused)
{
	text[0] = 0xff;
	text[1] = 0xe0;
	return 2;
}

static const struct isa x86 = {
	.name		= "Intel PT",
	.uname		= "x86_64",
	.machine	= EM_X86_64,
	.aux_config	= 0x400 | 0x2000 | 1,
	.nop		= { 0x0f, 0x1f, 0x44, 0x00, 0x00 },
	.eret		= { 0x48, 0xcf },
	.site_len	= 5,
	.eret_len	= 2,
	.jump		= x86_jump,
	.back		= x86_back,
	.put_info	= put_pt_info,
	.put_start	= put_pt_start,
	.put_loop	= put_pt_loop,
	.put_interrupt	= put_pt_interrupt,
};

#define ETM_CONTEXT	0x1234

static void put_cs_info(struct text_poke_test *t)
{
	const struct perf_record_time_conv conv = {
		.header = { .type = PERF_RECORD_TIME_CONV, .size = sizeof(conv) },
		.time_mult = 1, .time_mask = -1, .cap_user_time_zero = 1,
	};
	u64 cpu[CS_ETMV4_PRIV_MAX] = {
		[CS_ETM_MAGIC]			= 0x4040404040404040ULL,
		[CS_ETM_NR_TRC_PARAMS]		= CS_ETMV4_PRIV_MAX - CS_ETMV4_TRCCONFIGR,
		[CS_ETMV4_TRCCONFIGR]		= 1 << 11 | 1 << 6,
		[CS_ETMV4_TRCTRACEIDR]		= 0x10,
		[CS_ETMV4_TRCIDR0]		= 8 << 24 | 1 << 29,
		[CS_ETMV4_TRCIDR1]		= 4 << 8 | 4 << 4,
		[CS_ETMV4_TRCIDR2]		= 0x488,
		[CS_ETMV4_TRCAUTHSTATUS]	= 0xcc,
		[CS_ETMV4_TS_SOURCE]		= !t->foreign_time,
	};

	put(&t->events, &conv, sizeof(conv));
	put_header(&t->events, PERF_RECORD_AUXTRACE_INFO, 0, 16 + 24 + sizeof(cpu));
	put_u32(&t->events, PERF_AUXTRACE_CS_ETM);
	put_u32(&t->events, 0);
	put_u64(&t->events, 1);
	put_u64(&t->events, (u64)AUX_PMU_TYPE << 32 | 1);
	put_u64(&t->events, 0);
	put(&t->events, cpu, sizeof(cpu));
}

static void put_etm_ip(struct buf *buf, u8 packet, u64 ip)
{
	put_byte(buf, packet);
	put_byte(buf, ip >> 2 & 0x7f);
	put_byte(buf, ip >> 9 & 0x7f);
	put(buf, (u8 *)&ip + 2, 6);
}

/* The address, and the exception level and the thread as the context */
static void put_etm_thread(struct buf *buf, u64 ip, u8 el, u32 tid)
{
	put_etm_ip(buf, 0x85, ip);
	put_byte(buf, 0xb0 | el);
	put_u32(buf, tid);
}

static void put_etm_context(struct buf *buf, u64 ip)
{
	put_etm_thread(buf, ip, 1, ETM_CONTEXT);
}

static void put_etm_time(struct buf *buf, u64 time)
{
	put_byte(buf, 2);
	for (; time > 0x7f; time >>= 7)
		put_byte(buf, time | 0x80);
	put_byte(buf, time);
}

#define ETM_ATOM_E 0xf7
#define ETM_ADDR 0x9d

/* Trace is switched on, and no timestamp tells when */
static void put_etm_on(struct text_poke_test *t)
{
	const u8 sync[] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80,	/* A-Sync */
		1, 1, 0,				/* Trace Info */
		4,					/* Trace On */
	};

	put(&t->trace, sync, sizeof(sync));
	put_etm_context(&t->trace, SITE);
}

static void put_etm_start(struct text_poke_test *t, u64 time)
{
	put_etm_on(t);
	put_etm_time(&t->trace, time);
}

static void put_etm_loop(struct text_poke_test *t, u64 time)
{
	if (!t->sparse)
		put_etm_time(&t->trace, time);
	if (t->jumps)
		put_byte(&t->trace, ETM_ATOM_E);
	put_byte(&t->trace, ETM_ATOM_E);
}

/* perf takes the branch that led to the site for one to the vector */
static void put_etm_interrupt(struct text_poke_test *t, u64 time)
{
	const u8 irq[] = { 6, 14 << 1 | 1 << 6 };

	t->expected[t->nr_expected - 1].to = VECTOR;
	put_etm_time(&t->trace, time);
	put(&t->trace, irq, sizeof(irq));
	put_etm_ip(&t->trace, ETM_ADDR, SITE);
	put_etm_context(&t->trace, VECTOR);
	put_byte(&t->trace, ETM_ATOM_E);
	put_etm_context(&t->trace, SITE);
	put_etm_time(&t->trace, time + 10);
}

static int arm64_jump(u8 *text, u64 from, u64 to)
{
	const u32 insn = 0x14000000 | ((to - from) >> 2 & 0x3ffffff);

	memcpy(text, &insn, sizeof(insn));
	return sizeof(insn);
}

static int arm64_back(u8 *text, u64 from)
{
	return arm64_jump(text, from, SITE);
}

static const struct isa arm64 = {
	.name		= "CoreSight",
	.uname		= "aarch64",
	.machine	= EM_AARCH64,
	.aux_config	= 1 << 28 | 1 << 14,
	.aux_flags	= PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW,
	.nop		= { 0x1f, 0x20, 0x03, 0xd5 },
	.eret		= { 0xe0, 0x03, 0x9f, 0xd6 },
	.site_len	= 4,
	.eret_len	= 4,
	.jump		= arm64_jump,
	.back		= arm64_back,
	.untold		= 3,
	.put_info	= put_cs_info,
	.put_start	= put_etm_start,
	.put_loop	= put_etm_loop,
	.put_interrupt	= put_etm_interrupt,
};

/* The CPU goes once through the loop */
static void trace_loop(struct text_poke_test *t, u64 time)
{
	if (t->jumps)
		expect(t, SITE, t->detour);
	expect(t, t->jumps ? t->detour : SITE + t->isa->site_len, SITE);
	t->isa->put_loop(t, time);
}

/* It takes an interrupt before it executes the site, and comes back */
static void trace_interrupt(struct text_poke_test *t, u64 time)
{
	t->isa->put_interrupt(t, time);
	expect(t, VECTOR, SITE);
}

static void trace_loops(struct text_poke_test *t, u64 from, u64 to)
{
	for (; from < to; from += 100)
		trace_loop(t, from);
}

/* The kernel changes the site: from then on the CPU executes the other text */
static void poke(struct text_poke_test *t, u64 time)
{
	const u8 *nop = t->isa->nop;
	u8 jump[8];
	const u8 len = t->isa->jump(jump, SITE, t->detour);

	put_poke(t, time, SITE, t->jumps ? jump : nop, len, t->jumps ? nop : jump, len);
	t->jumps = !t->jumps;
	trace_interrupt(t, time + 50);
}

static void put_trace(struct text_poke_test *t)
{
	const u64 size = t->trace.len;

	put_header(&t->events, PERF_RECORD_AUX, 0, 8 + 24 + SAMPLE_ID_SIZE);
	put_u64(&t->events, 0);
	put_u64(&t->events, size);
	put_u64(&t->events, t->isa->aux_flags);
	put_sample_id(&t->events, 1000000);

	t->aux_at = t->events.len;
	put_header(&t->events, PERF_RECORD_AUXTRACE, 0, sizeof(struct perf_record_auxtrace));
	put_u64(&t->events, size);
	put_u64(&t->events, 0);
	put_u64(&t->events, t->ref);
	put_u32(&t->events, 0);
	put_u32(&t->events, -1);
	put_u32(&t->events, 0);
	put_u32(&t->events, 0);
	put(&t->events, t->trace.data, size);
}

static const char *in_dir(struct text_poke_test *t, const char *name)
{
	static char path[4][128];
	static int i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", t->dir, name);
	return path[i];
}

static int write_file(struct text_poke_test *t, const char *name, const struct buf *buf)
{
	int fd = open(in_dir(t, name), O_CREAT | O_WRONLY | O_TRUNC, 0600);
	bool ok;

	if (fd < 0)
		return -errno;
	ok = writen(fd, buf->data, buf->len) == (ssize_t)buf->len;
	close(fd);
	return ok ? 0 : -EIO;
}

static void make_text(struct text_poke_test *t, u8 *text)
{
	const struct isa *isa = t->isa;

	memcpy(text + (SITE - TEXT_START), isa->nop, isa->site_len);
	if (t->boot_jumps)
		isa->jump(text + (SITE - TEXT_START), SITE, DETOUR);
	isa->back(text + (SITE - TEXT_START) + isa->site_len, SITE + isa->site_len);
	isa->back(text + (DETOUR - TEXT_START), DETOUR);
	memcpy(text + (VECTOR - TEXT_START), isa->eret, isa->eret_len);
}

/* A vmlinux with nothing but the loop */
static int write_vmlinux(struct text_poke_test *t)
{
	static const char strings[] = "\0.text\0.symtab\0.strtab\0_text\0loop";
	enum {
		TEXT = 0x1000,
		SYMS = TEXT + TEXT_SIZE,
		STRS = SYMS + 0x100,
		SECTIONS = STRS + 0x100,
	};
	static u8 image[SECTIONS + 4 * sizeof(Elf64_Shdr)];
	struct buf buf = { .data = image, .len = sizeof(image) };
	Elf64_Ehdr *ehdr = (void *)image;
	Elf64_Phdr *phdr = (void *)(ehdr + 1);
	Elf64_Sym *syms = (void *)(image + SYMS);
	Elf64_Shdr *shdr = (void *)(image + SECTIONS);

	*ehdr = (Elf64_Ehdr) {
		.e_ident = {
			ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
		},
		.e_type = ET_EXEC, .e_machine = t->isa->machine, .e_version = EV_CURRENT,
		.e_entry = TEXT_START, .e_ehsize = sizeof(*ehdr),
		.e_phoff = sizeof(*ehdr), .e_phentsize = sizeof(*phdr), .e_phnum = 1,
		.e_shoff = SECTIONS, .e_shentsize = sizeof(*shdr), .e_shnum = 4, .e_shstrndx = 3,
	};
	*phdr = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = TEXT_START,
		.p_filesz = TEXT_SIZE, .p_memsz = TEXT_SIZE, .p_align = 0x1000,
	};
	make_text(t, image + TEXT);
	syms[1] = (Elf64_Sym) {
		.st_name = 23, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
		.st_shndx = 1, .st_value = TEXT_START,
	};
	syms[2] = (Elf64_Sym) {
		.st_name = 29, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1, .st_value = SITE, .st_size = 0x100,
	};
	memcpy(image + STRS, strings, sizeof(strings));
	shdr[1] = (Elf64_Shdr) {
		.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TEXT_START, .sh_offset = TEXT, .sh_size = TEXT_SIZE, .sh_addralign = 16,
	};
	shdr[2] = (Elf64_Shdr) {
		.sh_name = 7, .sh_type = SHT_SYMTAB,
		.sh_offset = SYMS, .sh_size = 3 * sizeof(*syms),
		.sh_link = 3, .sh_info = 1, .sh_addralign = 8, .sh_entsize = sizeof(*syms),
	};
	shdr[3] = (Elf64_Shdr) {
		.sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = STRS, .sh_size = sizeof(strings),
		.sh_addralign = 1,
	};
	return write_file(t, "vmlinux", &buf);
}

/* What kcore has where there is no code of the loop; it differs from place to place */
static u8 kcore_byte(u64 addr)
{
	return addr ^ addr >> 8 ^ addr >> 16 ^ addr >> 24;
}

/* A kcore of the loop, and of the memory that is allocated for code */
static int write_kcore_file(struct text_poke_test *t, const char *name)
{
	enum { TEXT = 0x1000, AREA = TEXT + TEXT_SIZE };
	static u8 image[AREA + AREA_SIZE];
	struct buf buf = { .data = image, .len = sizeof(image) };
	Elf64_Ehdr *ehdr = (void *)image;
	Elf64_Phdr *phdr = (void *)(ehdr + 1);
	unsigned int i;

	for (i = 0; i < TEXT_SIZE; i++)
		image[TEXT + i] = kcore_byte(TEXT_START + i);
	for (i = 0; i < AREA_SIZE; i++)
		image[AREA + i] = kcore_byte(AREA_START + i);
	*ehdr = (Elf64_Ehdr) {
		.e_ident = {
			ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
			ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
		},
		.e_type = ET_CORE, .e_machine = t->isa->machine, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(*ehdr),
		.e_phoff = sizeof(*ehdr), .e_phentsize = sizeof(*phdr), .e_phnum = 2,
	};
	phdr[0] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X,
		.p_offset = TEXT, .p_vaddr = TEXT_START,
		.p_filesz = TEXT_SIZE, .p_memsz = TEXT_SIZE, .p_align = 0x1000,
	};
	phdr[1] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X,
		.p_offset = AREA, .p_vaddr = AREA_START,
		.p_filesz = AREA_SIZE, .p_memsz = AREA_SIZE, .p_align = 0x1000,
	};
	make_text(t, image + TEXT);
	t->isa->back(image + AREA + (MODULE - AREA_START), MODULE);
	return write_file(t, name, &buf);
}

/* A copy of the kernel in d/kcore_dir, of which the name may differ, beside d/data */
static int write_kcore(struct text_poke_test *t, const char *kcore_dir)
{
	char symbols[128], name[64];
	struct buf buf = { .data = (u8 *)symbols };
	int err;

	if ((mkdir(in_dir(t, "d"), 0700) && errno != EEXIST) || mkdir(in_dir(t, kcore_dir), 0700))
		return -errno;
	snprintf(name, sizeof(name), "%s/kcore", kcore_dir);
	err = write_kcore_file(t, name);
	snprintf(name, sizeof(name), "%s/kallsyms", kcore_dir);
	buf.len = sprintf(symbols, "%llx T _text\n%llx T _stext\n%llx T loop\n",
			  TEXT_START, TEXT_START, SITE);
	err = err ?: write_file(t, name, &buf);
	snprintf(name, sizeof(name), "%s/modules", kcore_dir);
	buf.len = 0;
	return err ?: write_file(t, name, &buf);
}

static void put_attr(struct buf *buf, struct perf_event_attr *attr, u64 ids_at)
{
	struct perf_file_section ids = { .offset = ids_at, .size = sizeof(u64) };

	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	attr->sample_id_all = 1;
	attr->exclude_guest = 1;
	put(buf, attr, sizeof(*attr));
	put(buf, &ids, sizeof(ids));
}

/* Where the events begin in the file, after its header and two events' ids and attributes */
#define DATA_AT (sizeof(struct perf_file_header) + 2 * sizeof(u64) +	\
		 2 * (sizeof(struct perf_event_attr) + sizeof(struct perf_file_section)))

/*
 * The file: header, ids, attributes, events, the machine's name, without which
 * perf takes it for this one, and the index of the traces
 */
static int write_data(struct text_poke_test *t, const char *name)
{
	struct perf_event_attr aux = {
		.type = AUX_PMU_TYPE,
		.config = t->isa->aux_config,
		.exclude_user = 1,
	};
	struct perf_event_attr dummy = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.text_poke = 1, .ksymbol = 1, .mmap = 1,
	};
	const u64 ids_at = sizeof(struct perf_file_header), attrs_at = ids_at + 2 * sizeof(u64);
	const u64 attr_size = sizeof(struct perf_event_attr) + sizeof(struct perf_file_section);
	const u64 data_at = DATA_AT, end = data_at + t->events.len;
	const u64 arch_size = sizeof(u32) + sizeof(t->isa->uname);
	struct perf_file_section features[2] = {
		{ .offset = end + sizeof(features), .size = arch_size },
		{ .offset = end + sizeof(features) + arch_size, .size = 3 * sizeof(u64) },
	};
	struct perf_file_header header = {
		.magic = 0x32454c4946524550ULL, .size = sizeof(header), .attr_size = attr_size,
		.attrs = { .offset = attrs_at, .size = 2 * attr_size },
		.data = { .offset = data_at, .size = t->events.len },
	};
	struct buf buf = {};
	int err;

	__set_bit(HEADER_ARCH, header.adds_features);
	/* The number of traces that are indexed is taken for the version of the directory */
	__set_bit(t->in_dir ? HEADER_DIR_FORMAT : HEADER_AUXTRACE, header.adds_features);
	put(&buf, &header, sizeof(header));
	put_u64(&buf, AUX_ID);
	put_u64(&buf, DUMMY_ID);
	put_attr(&buf, &aux, ids_at);
	put_attr(&buf, &dummy, ids_at + sizeof(u64));
	put(&buf, t->events.data, t->events.len);
	put(&buf, features, sizeof(features));
	put_u32(&buf, sizeof(t->isa->uname));
	put(&buf, t->isa->uname, sizeof(t->isa->uname));
	put_u64(&buf, !t->no_index);
	put_u64(&buf, data_at + t->aux_at + t->astray);
	put_u64(&buf, sizeof(struct perf_record_auxtrace));
	err = write_file(t, name, &buf);
	zfree(&buf.data);
	return err;
}

static __printf(3, 4) int run_perf(struct text_poke_test *t, const char *out, const char *fmt, ...)
{
	char args[1024], *cmd;
	va_list ap;
	int ret;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	if (asprintf(&cmd, "timeout 20 %s %s >%s 2>%s", t->perf, args,
		     in_dir(t, out), in_dir(t, "said")) < 0)
		return -ENOMEM;
	pr_debug("%s\n", cmd);
	ret = system(cmd);
	free(cmd);
	return ret;
}

/* What perf has complained about */
static void read_said(struct text_poke_test *t)
{
	int fd = open(in_dir(t, "said"), O_RDONLY);
	ssize_t len = 0;

	if (fd >= 0) {
		len = read(fd, t->said, sizeof(t->said) - 1);
		close(fd);
	}
	t->said[len > 0 ? len : 0] = 0;
	pr_debug("%s", t->said);
}

/* Finds from => to in a line, after the name of the event if that is printed */
static bool parse_branch(const char *line, struct branch *branch)
{
	const char *from = strstr(line, "branches:");

	from = from ? from + strcspn(from, " ") : line;
	return sscanf(from, " %" SCNx64, &branch->from) == 1 && (line = strstr(from, "=> ")) &&
	       sscanf(line, "=> %" SCNx64, &branch->to) == 1;
}

/* Lists the branches; where a side is zero a trace begins or ends */
static int read_branches(struct text_poke_test *t, const char *name)
{
	FILE *file = fopen(in_dir(t, name), "r");
	struct branch branch;
	char line[512];

	if (!file)
		return -errno;
	t->nr_found = 0;
	while (fgets(line, sizeof(line), file) && t->nr_found < MAX_BRANCHES) {
		if (parse_branch(line, &branch) && branch.from && branch.to)
			t->found[t->nr_found++] = branch;
	}
	fclose(file);
	return 0;
}

/* How many lines have that in them */
static int lines(struct text_poke_test *t, const char *name, const char *what)
{
	FILE *file = fopen(in_dir(t, name), "r");
	char line[512];
	int n = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		n += !!strstr(line, what);
	fclose(file);
	return n;
}

static int decode_with(struct text_poke_test *t, const char *name, const char *kernel)
{
	int err = run_perf(t, "branches", "script -i %s %s --itrace=b -F ip,addr",
			   in_dir(t, name), kernel);

	read_said(t);
	return err ?: read_branches(t, "branches");
}

static int decode(struct text_poke_test *t, const char *name)
{
	char kernel[128];

	snprintf(kernel, sizeof(kernel), "-k %s", in_dir(t, "vmlinux"));
	return decode_with(t, name, kernel);
}

static int compare(struct text_poke_test *t)
{
	unsigned int i;

	for (i = 0; i < max(t->nr_found, t->nr_expected); i++) {
		const struct branch *e = &t->expected[i], *f = &t->found[i];

		if (i >= t->nr_found && i >= t->nr_expected - t->isa->untold)
			break;
		if (i < min(t->nr_found, t->nr_expected) && e->from == f->from && e->to == f->to)
			continue;
		pr_debug("%s: branch %u of %u: %" PRIx64 " => %" PRIx64 ", decoded %u: %" PRIx64 " => %" PRIx64 "\n",
			 t->isa->name, i, t->nr_expected,
			 i < t->nr_expected ? e->from : 0,
			 i < t->nr_expected ? e->to : 0, t->nr_found,
			 i < t->nr_found ? f->from : 0, i < t->nr_found ? f->to : 0);
		return TEST_FAIL;
	}
	return TEST_OK;
}

static int begin(struct text_poke_test *t, const struct isa *isa)
{
	*t = (struct text_poke_test){ .isa = isa, .detour = DETOUR };
	if (!have_decoders)
		return -EOPNOTSUPP;
	strcpy(t->dir, "/tmp/perf-text-poke-XXXXXX");
	perf_exe(t->perf, sizeof(t->perf));
	if (!mkdtemp(t->dir))
		return -errno;
	isa->put_info(t);
	put_kernel_mmap(t);
	isa->put_start(t, 500);
	return write_vmlinux(t);
}

static int end(struct text_poke_test *t, int ret)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", t->dir);
	if (verbose <= 1 && system(cmd))
		pr_debug("%s failed\n", cmd);
	zfree(&t->events.data);
	zfree(&t->trace.data);
	return have_decoders ? ret : TEST_SKIP;
}

/* How often perf says that */
static int said(struct text_poke_test *t, const char *what)
{
	const char *p = t->said;
	int n = 0;

	while ((p = strstr(p, what))) {
		p += strlen(what);
		n++;
	}
	return n;
}

/* The loop, across a poke and back */
static int make_file(struct text_poke_test *t, const struct isa *isa, u64 ref)
{
	int err = begin(t, isa);

	if (err)
		return err;
	t->ref = ref;
	trace_loops(t, 1000, 2000);
	poke(t, 2000);
	trace_loops(t, 3000, 4000);
	poke(t, 4000);
	trace_loops(t, 5000, 6000);
	put_trace(t);
	return write_data(t, "perf.data");
}

static int test__pt(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (make_file(&t, &x86, 1) || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

/* Without a reference no packet has a time; there is nothing to decode, and nothing to crash on */
static int test__pt_no_reference(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (make_file(&t, &x86, 0) || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, TEST_OK);
}

static int inject(struct text_poke_test *t)
{
	int err = run_perf(t, "out", "inject -i %s -o %s -k %s --itrace=b", in_dir(t, "perf.data"),
			   in_dir(t, "injected.data"), in_dir(t, "vmlinux"));

	read_said(t);
	if (err)
		return err;
	err = run_perf(t, "branches", "script -i %s -k %s", in_dir(t, "injected.data"),
		       in_dir(t, "vmlinux"));
	return err ?: read_branches(t, "branches");
}

static int test__pt_inject(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (make_file(&t, &x86, 1) || inject(&t))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

/* The detour is in memory that comes and goes, and is only known from the records */
static int make_slot_file(struct text_poke_test *t, const struct isa *isa)
{
	int err = begin(t, isa);
	u8 zero[8] = {}, back[8], len;

	if (err)
		return err;
	t->ref = 1;
	t->detour = SLOT;
	trace_loops(t, 1000, 1500);
	put_slot(t, 1600, 0x1000, 0);
	len = isa->back(back, SLOT);
	put_poke(t, 1700, SLOT, zero, len, back, len);
	poke(t, 2000);
	trace_loops(t, 3000, 3500);
	poke(t, 4000);
	put_slot(t, 4500, 0x1000, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	trace_loops(t, 5000, 5500);
	put_trace(t);
	return write_data(t, "perf.data");
}

static int test__pt_slot(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (make_slot_file(&t, &x86) || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__cs_slot(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (!have_coresight)
		return TEST_SKIP;
	if (make_slot_file(&t, &arm64) || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

/* What is around a slot is still there when the slot is gone, and executed */
static int slot_in_kcore(const struct isa *isa)
{
	struct text_poke_test t;
	u8 old[8] = {}, back[8], len;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	t.detour = SLOT;
	trace_loops(&t, 1000, 1500);
	put_slot(&t, 1600, 0x1000, 0);
	len = isa->back(back, SLOT);
	put_poke(&t, 1700, SLOT, old, len, back, len);
	poke(&t, 2000);
	trace_loops(&t, 3000, 3500);
	poke(&t, 4000);
	put_slot(&t, 4500, 0x1000, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	trace_loops(&t, 5000, 5500);
	t.detour = MODULE;
	poke(&t, 6000);
	trace_loops(&t, 7000, 7500);
	put_trace(&t);
	if (write_kcore(&t, "d/kcore_dir") || write_data(&t, "d/data") || decode_with(&t, "d", ""))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__pt_slot_in_kcore(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	return slot_in_kcore(&x86);
}

static int test__cs_slot_in_kcore(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	return have_coresight ? slot_in_kcore(&arm64) : TEST_SKIP;
}

/* One change that is not taken back: after it there is other text than before */
static int once(const struct isa *isa)
{
	struct text_poke_test t;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	trace_loops(&t, 1000, 2000);
	poke(&t, 2000);
	trace_loops(&t, 3000, 4000);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data") || compare(&t) != TEST_OK ||
	    inject(&t))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__pt_once(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return once(&x86);
}

static int test__cs_once(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? once(&arm64) : TEST_SKIP;
}

/* If times cannot be compared the text is not known, and perf says so, once */
static int test__cs_foreign_time(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (!have_coresight)
		return TEST_SKIP;
	if (begin(&t, &arm64))
		return end(&t, TEST_FAIL);
	t.events.len = 0;
	t.foreign_time = true;
	arm64.put_info(&t);
	put_kernel_mmap(&t);
	trace_loops(&t, 1000, 1500);
	poke(&t, 2000);
	poke(&t, 3000);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, said(&t, "Kernel text has changed") == 1 ? TEST_OK : TEST_FAIL);
}

/* There was a jump before, but in a guest's kernel */
static void put_guest_poke(struct text_poke_test *t, u64 time)
{
	const size_t at = t->events.len;
	struct perf_event_header *header;
	u8 jump[8];

	t->isa->jump(jump, SITE, DETOUR);
	put_poke(t, time, SITE, jump, t->isa->site_len, t->isa->nop, t->isa->site_len);
	header = (struct perf_event_header *)(t->events.data + at);
	header->misc = PERF_RECORD_MISC_GUEST_KERNEL;
}

/* The text of vmlinux is not what the kernel begins with, but the records know that */
static int boot(const struct isa *isa)
{
	struct text_poke_test t;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	t.boot_jumps = true;
	if (write_vmlinux(&t))
		return end(&t, TEST_FAIL);
	put_guest_poke(&t, 900);
	trace_loops(&t, 1000, 2000);
	poke(&t, 2000);
	trace_loops(&t, 3000, 3500);
	poke(&t, 4000);
	trace_loops(&t, 5000, 6000);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data") ||
	    said(&t, "no copy of the kernel") != 1 || compare(&t) != TEST_OK)
		return end(&t, TEST_FAIL);
	if (inject(&t) || said(&t, "no copy of the kernel") != 1)
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

/*
 * A kcore that is of after the recording has the jump, which was not there when
 * that began. It may be named though there is another copy
 */
static int later_kcore(const struct isa *isa)
{
	char kernel[128];
	struct text_poke_test t;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	trace_loops(&t, 1000, 2000);
	poke(&t, 2000);
	trace_loops(&t, 3000, 4000);
	put_trace(&t);
	if (write_kcore(&t, "d/kcore_dir"))
		return end(&t, TEST_FAIL);
	t.boot_jumps = true;
	if (write_kcore(&t, "d/later") || write_data(&t, "perf.data") || write_data(&t, "d/data"))
		return end(&t, TEST_FAIL);

	snprintf(kernel, sizeof(kernel), "--kallsyms %s", in_dir(&t, "d/later/kallsyms"));
	if (decode_with(&t, "perf.data", kernel) || compare(&t) != TEST_OK ||
	    said(&t, "no copy of the kernel") != 1 || said(&t, "is of another time") != 1)
		return end(&t, TEST_FAIL);
	if (decode_with(&t, "d", kernel) || compare(&t) != TEST_OK ||
	    said(&t, "so the copy of it in kcore_dir is not used") != 1 ||
	    said(&t, "is of another time") != 1)
		return end(&t, TEST_FAIL);

	/* That copy is as the kernel was, however it is named */
	snprintf(kernel, sizeof(kernel), "--kallsyms %s/./d/kcore_dir/kallsyms", t.dir);
	if (decode_with(&t, "d", kernel) || compare(&t) != TEST_OK || said(&t, "is decoded with") ||
	    decode_with(&t, "d", "") || said(&t, "is decoded with"))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__pt_later_kcore(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return later_kcore(&x86);
}

static int test__cs_later_kcore(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? later_kcore(&arm64) : TEST_SKIP;
}

/*
 * The jump comes and a record that says so is lost: that there was a jump when it
 * goes says nothing of the time before the loss
 */
static int loss(const struct isa *isa)
{
	struct text_poke_test t;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	put_guest_poke(&t, 900);
	trace_loops(&t, 1000, 1500);
	t.jumps = true;
	put_lost(&t, 2500, 0, 1);
	poke(&t, 4000);
	trace_loops(&t, 5000, 5500);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data") ||
	    said(&t, "Lost 1 records between 0.000000900 and 0.000002500") != 1)
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__pt_loss(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return loss(&x86);
}

static int test__cs_loss(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? loss(&arm64) : TEST_SKIP;
}

/* Code comes to where other code was, and is changed: that was not there before */
static int reused(const struct isa *isa, bool announced)
{
	char kernel[128];
	struct text_poke_test t;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	t.detour = MODULE;
	trace_loops(&t, 600, 900);
	poke(&t, 1000);
	trace_loops(&t, 2000, 2500);
	poke(&t, 3000);
	if (announced)
		put_ksymbol(&t, 3500, MODULE, 0x100, PERF_RECORD_KSYMBOL_TYPE_BPF, 0);
	else
		put_poke(&t, 3500, MODULE, NULL, 0, isa->nop, isa->site_len);
	put_poke(&t, 4000, MODULE, isa->nop, isa->site_len, isa->eret, isa->eret_len);
	trace_loops(&t, 5000, 5500);
	put_trace(&t);
	if (write_kcore(&t, "d/later") || write_data(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	snprintf(kernel, sizeof(kernel), "--kallsyms %s", in_dir(&t, "d/later/kallsyms"));
	if (decode_with(&t, "perf.data", kernel))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__pt_reused(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int ret = reused(&x86, false);

	return ret == TEST_OK ? reused(&x86, true) : ret;
}

static int test__cs_reused(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int ret = have_coresight ? reused(&arm64, false) : TEST_SKIP;

	return ret == TEST_OK ? reused(&arm64, true) : ret;
}

/* A file with a loop in which no text changes, and the folder of a copy of the kernel */
static int make_still_file(struct text_poke_test *t, const struct isa *isa)
{
	int err = begin(t, isa);

	if (err)
		return err;
	t->ref = 1;
	trace_loops(t, 1000, 2000);
	trace_interrupt(t, 2050);
	trace_loops(t, 3000, 4000);
	/* Something that has a time */
	put_slot(t, 4000, 0x1000, 0);
	put_trace(t);
	if (mkdir(in_dir(t, "d"), 0700) || mkdir(in_dir(t, "d/kcore_dir"), 0700))
		return -errno;
	return write_data(t, "perf.data") ?: write_data(t, "d/data");
}

/* Its kernel is elsewhere, as after another boot */
static int write_other_kernel(struct text_poke_test *t)
{
	char symbols[64];
	struct buf buf = { .data = (u8 *)symbols };
	int err;

	buf.len = sprintf(symbols, "%llx T _text\n%llx T loop\n",
			  TEXT_START + 0x200000, SITE + 0x200000);
	err = write_file(t, "d/kcore_dir/kallsyms", &buf);
	buf.len = 0;
	return err ?: write_file(t, "d/kcore_dir/modules", &buf) ?:
		      write_file(t, "d/kcore_dir/kcore", &buf);
}

/* perf says what the kernel is decoded with, even if no record tells of a change */
static int still(const struct isa *isa)
{
	struct text_poke_test t;
	char no_kernel[128];

	if (make_still_file(&t, isa) || decode(&t, "perf.data") ||
	    said(&t, "no copy of the kernel") != 1 || said(&t, "is decoded with") != 1 ||
	    compare(&t) != TEST_OK)
		return end(&t, TEST_FAIL);
	if (inject(&t) || said(&t, "no copy of the kernel") != 1)
		return end(&t, TEST_FAIL);
	/* Without times as well, which say nothing of the others */
	if (run_perf(&t, "branches", "script -i %s -k %s --itrace=bZ -F ip,addr",
		     in_dir(&t, "perf.data"), in_dir(&t, "vmlinux")) ||
	    read_branches(&t, "branches") || compare(&t) != TEST_OK)
		return end(&t, TEST_FAIL);

	snprintf(no_kernel, sizeof(no_kernel), "-k %s", in_dir(&t, "perf.data"));
	if (decode_with(&t, "perf.data", no_kernel) ||
	    said(&t, "No other image of it is known") != 1 || said(&t, "is decoded with"))
		return end(&t, TEST_FAIL);

	if (write_other_kernel(&t) || decode(&t, "d") ||
	    said(&t, "so the copy of it in kcore_dir is not used") != 1 ||
	    said(&t, "no copy of the kernel") || compare(&t) != TEST_OK)
		return end(&t, TEST_FAIL);
	if (decode_with(&t, "d", "") || said(&t, "is of another boot") != 1 ||
	    said(&t, "No other image of it is known") != 1 || said(&t, "no copy of the kernel"))
		return end(&t, TEST_FAIL);
	return end(&t, TEST_OK);
}

static int test__pt_still(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return still(&x86);
}

static int test__cs_still(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? still(&arm64) : TEST_SKIP;
}

static int test__pt_boot(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return boot(&x86);
}

static int test__cs_boot(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? boot(&arm64) : TEST_SKIP;
}

/* Of the CPU that has lost records the last one before tells since when, if the CPU is known */
static int lost(u32 cpu, u64 in_all, u64 of_others, const char *when, int at_end)
{
	struct text_poke_test t;

	if (begin(&t, &x86))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	trace_loops(&t, 1000, 2000);
	poke(&t, 2000);
	put_lost(&t, 3000, cpu, 7);
	trace_loops(&t, 3000, 4000);
	poke(&t, 4000);
	put_lost(&t, 5000, cpu, 4);
	trace_loops(&t, 5000, 6000);
	put_lost_in_all(&t, DUMMY_ID, in_all);
	put_lost_in_all(&t, AUX_ID, of_others);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data") ||
	    said(&t, when) != 1 || said(&t, "Lost 2 more records at the end") != at_end)
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__lost(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const char *since = "Lost 11 records between 0.000002000 and 0.000005000";
	const char *any_time = "Lost 11 records between 0.000000000 and 0.000005000";
	int ret = lost(0, 11, 0, since, 0);

	ret = ret == TEST_OK ? lost(0, 13, 0, since, 1) : ret;
	ret = ret == TEST_OK ? lost(0, 2, 11, since, 1) : ret;
	ret = ret == TEST_OK ? lost(0, 0, 13, since, 0) : ret;
	return ret == TEST_OK ? lost(-1, 11, 0, any_time, 0) : ret;
}

/* What is wrong with a record does no harm to the others, and is told */
static int test__broken(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const u8 zero[64] = {};
	struct text_poke_test t;

	if (begin(&t, &x86))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	trace_loops(&t, 1000, 2000);
	put_broken_poke(&t, 1900, 0, 65535);
	put_broken_poke(&t, 1901, 65535, 65535);
	put_broken_poke(&t, 1902, 30, 30);
	put_header(&t.events, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL, 8);
	put_poke(&t, 1903, SLOT, zero, 5, zero, 0);
	put_poke(&t, 1904, 0x1000, zero, 5, zero, 5);
	put_poke(&t, 1905, -4ULL, zero, 5, zero, 64);
	put_poke(&t, 1906, TEXT_START + TEXT_SIZE - 4, zero, 8, zero, 8);
	poke(&t, 2000);
	trace_loops(&t, 3000, 4000);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	if (said(&t, "4 records of changed kernel text are broken") != 1 ||
	    said(&t, "3 changes of kernel text are where perf knows of no code") != 1)
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

/*
 * In the other byte order a record is turned round before it is looked at, but not
 * what is after it
 */
static int test__swapped(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
		.size = bswap_32(sizeof(attr)), .sample_type = PERF_SAMPLE_IP, .text_poke = 1,
	};
	struct perf_file_section ids = {};
	const u64 attr_size = sizeof(attr) + sizeof(ids);
	struct perf_file_header header = {
		.magic = 0x32454c4946524550ULL, .size = sizeof(header), .attr_size = attr_size,
		.attrs = { .offset = sizeof(header), .size = attr_size },
		.data = { .offset = sizeof(header) + attr_size, .size = 8 + 24 },
	};
	struct text_poke_test t;
	struct buf buf = {};
	int err;

	if (begin(&t, &x86))
		return end(&t, TEST_FAIL);
	mem_bswap_64(&header, offsetof(struct perf_file_header, adds_features));
	perf_event__attr_swap(&attr);
	attr.size = bswap_32(sizeof(attr));
	put(&buf, &header, sizeof(header));
	put(&buf, &attr, sizeof(attr));
	put(&buf, &ids, sizeof(ids));
	put_header(&buf, bswap_32(PERF_RECORD_TEXT_POKE), bswap_16(PERF_RECORD_MISC_KERNEL),
		   bswap_16(8));
	put_header(&buf, bswap_32(PERF_RECORD_LOST), 0, bswap_16(24));
	put_u64(&buf, 0);
	put_u64(&buf, bswap_64(7));
	err = write_file(&t, "perf.data", &buf);
	zfree(&buf.data);
	if (err || run_perf(&t, "out", "script -i %s", in_dir(&t, "perf.data")))
		return end(&t, TEST_FAIL);
	read_said(&t);
	return end(&t, said(&t, "1 records of changed kernel text are broken") == 1 ?
		       TEST_OK : TEST_FAIL);
}

/*
 * perf ends by itself, by whatever error: not by a signal, which the shell adds
 * to 128, nor by timeout
 */
static bool ended(int ret)
{
	if (!WIFEXITED(ret))
		return false;
	ret = WEXITSTATUS(ret);
	/* From 124 on it is timeout that has failed, or could not run perf */
	return ret < 124 || ret > 128 + 31;
}

static bool ends(struct text_poke_test *t)
{
	int ret;

	if (write_data(t, "perf.data"))
		return false;
	ret = run_perf(t, "branches", "script -i %s -k %s --itrace=b -F ip,addr",
		       in_dir(t, "perf.data"), in_dir(t, "vmlinux"));
	read_said(t);
	return ended(ret);
}

/* What the record of trace says is something else; sets it back */
static bool ends_with(struct text_poke_test *t, size_t at, const void *what, size_t len)
{
	u8 *where = t->events.data + t->aux_at + at;
	u8 was[8];
	bool ret;

	memcpy(was, where, len);
	memcpy(where, what, len);
	ret = ends(t);
	memcpy(where, was, len);
	return ret;
}

/* More trace than the file has, and that of a CPU which there is not */
static bool ends_untrue(struct text_poke_test *t)
{
	const u64 sizes[] = { t->trace.len + 4096, 1ULL << 40 };
	const u32 idx = 100000;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!ends_with(t, offsetof(struct perf_record_auxtrace, size), &sizes[i], 8))
			return false;
		/* Of CoreSight as much is taken as the AUX record tells of */
		if (t->isa == &x86 && said(t, "Trace is not all in the file") != 1)
			return false;
	}
	return ends_with(t, offsetof(struct perf_record_auxtrace, idx), &idx, 4);
}

/* Records without a length, and trace that is nowhere */
static bool ends_misled(struct text_poke_test *t)
{
	const u64 astray[] = { t->trace.len + 48, 1 << 20, 1ULL << 40, -8192ULL, -(1ULL << 40) };
	const u64 before = -sizeof(struct perf_record_auxtrace);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(astray); i++) {
		t->astray = astray[i];
		if (!ends(t))
			return false;
	}
	t->astray = 0;
	/* The next record would be the same one */
	memcpy(t->events.data + t->aux_at + sizeof(struct perf_event_header), &before,
	       sizeof(before));
	if (!ends(t))
		return false;
	memset(t->events.data + t->aux_at - 64, 0, 8);
	return ends(t);
}

/* Files that end anywhere, or lead anywhere */
static int truncated(const struct isa *isa)
{
	struct text_poke_test t;
	size_t len, at;

	/* What is broken then is whole at first */
	if (make_file(&t, isa, 1) || decode(&t, "perf.data") || compare(&t) != TEST_OK)
		return end(&t, TEST_FAIL);
	len = t.events.len;
	for (at = len - 8; at > len / 2; at -= len / 16 & ~7) {
		t.events.len = at;
		if (!ends(&t))
			return end(&t, TEST_FAIL);
	}
	t.events.len = len;
	/* Less than the header of a record */
	put_u32(&t.events, 0);
	if (!ends(&t))
		return end(&t, TEST_FAIL);
	t.events.len = len;
	return end(&t, ends_untrue(&t) && ends_misled(&t) ? TEST_OK : TEST_FAIL);
}

/* A file that lacks its end does not tell of which machine it is: then it is of this one */
static bool is_native(const struct isa *isa)
{
	struct utsname name;

	return !uname(&name) && !strcmp(name.machine, isa->uname);
}

/* What is decoded of the first part of a trace is right */
static bool right_so_far(struct text_poke_test *t)
{
	unsigned int i;

	if (t->nr_found > t->nr_expected)
		return false;
	for (i = 0; i < t->nr_found; i++) {
		if (t->found[i].from != t->expected[i].from || t->found[i].to != t->expected[i].to)
			return false;
	}
	return true;
}

static bool tells_cut(struct text_poke_test *t, u64 size)
{
	char what[64];

	snprintf(what, sizeof(what), "perf.data file has %" PRIu64 " of %zu bytes of data",
		 size - DATA_AT, t->events.len);
	return said(t, what) == 1;
}

/* The file is cut off there: perf says so, once, and goes on with what there is */
static bool goes_on(struct text_poke_test *t, u64 size)
{
	pr_debug("%s: cut off at %" PRIu64 "\n", t->isa->name, size);
	if (write_data(t, "perf.data") || truncate(in_dir(t, "perf.data"), size))
		return false;
	if (decode(t, "perf.data") || !tells_cut(t, size))
		return false;
	if (is_native(t->isa) && !right_so_far(t))
		return false;
	if (inject(t) || !tells_cut(t, size))
		return false;
	return !run_perf(t, "out", "inject -i %s -o %s", in_dir(t, "perf.data"),
			 in_dir(t, "injected.data"));
}

/* More than a page of records, which change nothing, and of trace after the loop */
static int make_large_file(struct text_poke_test *t, const struct isa *isa)
{
	const u8 padding[3 * 4096] = {};
	int err = begin(t, isa), i;

	if (err)
		return err;
	t->ref = 1;
	for (i = 0; i < 150; i++)
		put_poke(t, 600 + i, SITE, isa->nop, isa->site_len, isa->nop, isa->site_len);
	trace_loops(t, 1000, 2000);
	poke(t, 2000);
	trace_loops(t, 3000, 4000);
	put(&t->trace, padding, sizeof(padding));
	put_trace(t);
	return 0;
}

/* Files that lack their end, in a record, between two, and in trace */
static int cut(const struct isa *isa)
{
	struct text_poke_test t;
	u64 aux_at, cuts[6], at;
	unsigned int i;

	if (make_large_file(&t, isa))
		return end(&t, TEST_FAIL);
	aux_at = DATA_AT + t.aux_at;
	cuts[0] = aux_at / 2 | 4;
	cuts[1] = aux_at;
	cuts[2] = aux_at + 20;
	cuts[3] = aux_at + sizeof(struct perf_record_auxtrace);
	cuts[4] = cuts[3] + 300;
	cuts[5] = DATA_AT + t.events.len - 1;
	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		if (!goes_on(&t, cuts[i]))
			return end(&t, TEST_FAIL);
	}
	for (at = 4096; at < DATA_AT + t.events.len; at += 4096) {
		if (!goes_on(&t, at))
			return end(&t, TEST_FAIL);
	}
	/* After the last of the cuts at pages: all trace but padding is there */
	if (isa == &x86 && is_native(isa) && compare(&t) != TEST_OK)
		return end(&t, TEST_FAIL);
	/* Trace that comes through a pipe */
	if (!ended(run_perf(&t, "out", "inject -i %s | head -c %zu | timeout 20 %s inject -i - -o %s",
			    in_dir(&t, "perf.data"), DATA_AT + t.events.len - 4096, t.perf,
			    in_dir(&t, "injected.data"))))
		return end(&t, TEST_FAIL);
	return end(&t, TEST_OK);
}

static int test__pt_cut(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return cut(&x86);
}

/* perf inject cannot do without the features of a file that has all of its data, and says so */
static int test__inject_featureless(struct test_suite *test __maybe_unused,
				    int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (make_file(&t, &x86, 1) ||
	    truncate(in_dir(&t, "perf.data"), DATA_AT + t.events.len + 8) || !inject(&t))
		return end(&t, TEST_FAIL);
	if (said(&t, "Failed to read which features") != 1)
		return end(&t, TEST_FAIL);
	/* Nor can it without the end of the last record */
	put_u32(&t.events, 0);
	if (write_data(&t, "perf.data") || !inject(&t))
		return end(&t, TEST_FAIL);
	return end(&t, said(&t, "Failed to process events") == 1 &&
		       said(&t, "the record goes on after the end") == 1 ? TEST_OK : TEST_FAIL);
}

/* Whether that line is said so often in a file */
static bool printed(struct text_poke_test *t, const char *name, const char *what, int times)
{
	return lines(t, name, what) == times;
}

/* One of the files in a directory, of a CPU each, ends in a record: the others are read */
static int test__dir_cut(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;
	struct buf pokes;
	size_t len;
	int i;

	if (begin(&t, &x86) || mkdir(in_dir(&t, "d"), 0700))
		return end(&t, TEST_FAIL);
	len = t.events.len;
	for (i = 0; i < 4; i++)
		put_poke(&t, 600 + i, SITE, x86.nop, 5, x86.nop, 5);
	pokes = (struct buf){ .data = t.events.data + len, .len = t.events.len - len };
	if (write_file(&t, "d/data.1", &pokes))
		return end(&t, TEST_FAIL);
	pokes.len -= 4;
	if (write_file(&t, "d/data.0", &pokes))
		return end(&t, TEST_FAIL);
	t.in_dir = true;
	if (write_data(&t, "d/data") ||
	    run_perf(&t, "out", "script -i %s --show-text-poke-events", in_dir(&t, "d")))
		return end(&t, TEST_FAIL);
	read_said(&t);
	return end(&t, said(&t, "data.0 file ends in a record") == 1 &&
		       printed(&t, "out", "TEXT_POKE", 4 + 4 + 3) ? TEST_OK : TEST_FAIL);
}

static int test__cs_cut(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? cut(&arm64) : TEST_SKIP;
}

/* A branch to where a slot may be, of any size, and none has been told of */
static int unwritten(const struct isa *isa)
{
	struct text_poke_test t;

	if (begin(&t, isa))
		return end(&t, TEST_FAIL);
	t.ref = 1;
	t.detour = SLOT + 0x10000;
	trace_loops(&t, 1000, 1500);
	put_slot(&t, 1600, 0x7fffffff, 0);
	poke(&t, 2000);
	trace_loops(&t, 3000, 3500);
	put_trace(&t);
	return end(&t, ends(&t) ? TEST_OK : TEST_FAIL);
}

static int test__pt_unwritten(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return unwritten(&x86);
}

static int test__cs_unwritten(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? unwritten(&arm64) : TEST_SKIP;
}

/* perf says that it has not seen all changes before it began to decode */
static int test__unread(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const u32 types[] = { 0, PERF_RECORD_COMPRESSED };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		const u16 size = types[i] ? sizeof(struct perf_event_header) : 0;
		struct text_poke_test t;

		if (begin(&t, &x86))
			return end(&t, TEST_FAIL);
		t.ref = 1;
		poke(&t, 2000);
		/* Two rounds: what is before the first is decoded before the file is read on */
		put_header(&t.events, PERF_RECORD_FINISHED_ROUND, 0, 8);
		put_header(&t.events, PERF_RECORD_FINISHED_ROUND, 0, 8);
		put_header(&t.events, types[i], 0, size);
		put_trace(&t);
		if (!ends(&t) || said(&t, "Not all changes of kernel text could be read") != 1 ||
		    said(&t, "are compressed") != !!types[i] ||
		    said(&t, "no copy of the kernel") != 1)
			return end(&t, TEST_FAIL);
		end(&t, TEST_OK);
	}
	return TEST_OK;
}

static int test__pt_truncated(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return truncated(&x86);
}

static int test__cs_truncated(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	return have_coresight ? truncated(&arm64) : TEST_SKIP;
}

/* No timestamps but with interrupts: what the decode cannot know is told */
static int sparse(bool slot, bool poked, const char *what, int times)
{
	struct text_poke_test t;

	if (begin(&t, &arm64))
		return end(&t, TEST_FAIL);
	t.sparse = true;
	trace_loops(&t, 1000, 2000);
	if (slot)
		put_slot(&t, 40000, 0x1000, 0);
	if (poked)
		poke(&t, 50000);
	else
		trace_interrupt(&t, 50050);
	trace_loops(&t, 51000, 52000);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, said(&t, what) == times ? TEST_OK : TEST_FAIL);
}

/*
 * Kernel text changes while the CPU executes a program, of which there is no trace.
 * When it comes back it executes the new text, and only then is there a timestamp; or
 * one before, if on_time. Without earlier, all of that is the beginning of the trace.
 */
static int late(bool earlier, bool on_time, bool context, const char *what, int times)
{
	u8 jump[8];
	struct text_poke_test t;

	if (begin(&t, &arm64))
		return end(&t, TEST_FAIL);
	if (earlier)
		trace_loops(&t, 1000, 2000);
	else
		t.trace.len = 0;
	arm64_jump(jump, SITE, DETOUR);
	put_poke(&t, 3000, SITE, arm64.nop, 4, jump, 4);
	t.jumps = true;
	put_etm_on(&t);
	if (on_time)
		put_etm_time(&t.trace, 50000);
	t.sparse = true;
	trace_loops(&t, 50000, 51000);
	if (context)
		put_etm_context(&t.trace, SITE);
	put_etm_time(&t.trace, 52000);
	trace_loops(&t, 52000, 53000);
	put_etm_time(&t.trace, 53000);
	put_trace(&t);
	if (write_data(&t, "perf.data") || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, said(&t, what) == times ? TEST_OK : TEST_FAIL);
}

static int test__cs_late(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const char *gap = "changed in 1 gaps, of up to 50100 ns";
	const char *first = "The first begins at 0.000001900,";
	const char *last = "the last ends at 0.000052000";

	if (!have_coresight)
		return TEST_SKIP;
	if (late(true, false, false, gap, 1) || late(true, false, false, first, 1) ||
	    late(true, false, false, last, 1))
		return TEST_FAIL;
	/* Another context makes the decoder begin anew as well */
	if (late(true, false, true, gap, 1))
		return TEST_FAIL;
	/* From the change on it is not known what was before the first timestamp */
	if (late(false, false, false, "changed in 1 gaps, of up to 49000 ns", 1) ||
	    late(false, false, false, "The first begins at 0.000003000", 1))
		return TEST_FAIL;
	/* Trace was off until the timestamp */
	return late(true, true, false, "gaps", 0) || late(false, true, false, "gaps", 0) ?
	       TEST_FAIL : TEST_OK;
}

static int test__cs_sparse(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const char *one = "changed in 1 gaps, of up to 49550 ns";

	if (!have_coresight)
		return TEST_SKIP;
	/* Memory for code that comes or goes changes no text */
	if (sparse(true, false, "gaps", 0) != TEST_OK)
		return TEST_FAIL;
	if (sparse(true, true, one, 1) != TEST_OK)
		return TEST_FAIL;
	return sparse(false, true, one, 1);
}

/* The program that the thread executes, and the records of both */
static int put_task(struct text_poke_test *t, u64 time)
{
	u8 loop[4096];
	const struct buf buf = { .data = loop, .len = sizeof(loop) };
	char comm[16] = "task", prog[64] = {};

	arm64_jump(loop, USER_LOOP, USER_LOOP);
	snprintf(prog, sizeof(prog), "%s", in_dir(t, "prog"));
	put_header(&t->events, PERF_RECORD_FORK, 0, 8 + 24 + SAMPLE_ID_SIZE);
	put_u64(&t->events, 1ULL << 32 | TASK);
	put_u64(&t->events, 1ULL << 32 | TASK);
	put_u64(&t->events, time);
	put_sample_id(&t->events, time);
	put_header(&t->events, PERF_RECORD_COMM, 0, 8 + 8 + sizeof(comm) + SAMPLE_ID_SIZE);
	put_u64(&t->events, (u64)TASK << 32 | TASK);
	put(&t->events, comm, sizeof(comm));
	put_sample_id(&t->events, time);
	put_header(&t->events, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER,
		   8 + 8 + 24 + sizeof(prog) + SAMPLE_ID_SIZE);
	put_u64(&t->events, (u64)TASK << 32 | TASK);
	put_u64(&t->events, USER_LOOP);
	put_u64(&t->events, sizeof(loop));
	put_u64(&t->events, 0);
	put(&t->events, prog, sizeof(prog));
	put_sample_id(&t->events, time);
	return write_file(t, "prog", &buf);
}

/*
 * The trace tells of a thread, and there is no timestamp until after the kernel's text
 * has changed and the thread's records. That many branches before the timestamp.
 */
static int put_unknown(struct text_poke_test *t, u64 ip, u8 el, int branches)
{
	u8 jump[8];
	int i;

	trace_loops(t, 1000, 1500);
	put_etm_thread(&t->trace, ip, el, TASK);
	for (i = 0; i < branches; i++)
		put_byte(&t->trace, ETM_ATOM_E);
	put_etm_time(&t->trace, 50000);
	/* What follows a timestamp OpenCSD reads before it tells of the timestamp */
	put_byte(&t->trace, ETM_ATOM_E);
	put_etm_ip(&t->trace, ETM_ADDR, ip);
	for (i = 0; i < 8; i++)
		put_byte(&t->trace, ETM_ATOM_E);
	put_etm_time(&t->trace, 51000);
	arm64_jump(jump, SITE, DETOUR);
	put_poke(t, 2000, SITE, arm64.nop, 4, jump, 4);
	return put_task(t, 3000);
}

/* How many branches are decoded as the thread's; -1 if perf does not say what it cannot decode */
static int decoded_of_task(u64 ip, u8 el, int branches, int lost)
{
	const char *what = "1 times a thread is traced before its record, without a timestamp";
	struct text_poke_test t;
	int n = -1;

	if (!begin(&t, &arm64) && !put_unknown(&t, ip, el, branches)) {
		put_trace(&t);
		if (!write_data(&t, "perf.data") &&
		    !run_perf(&t, "branches", "script -i %s -k %s --itrace=b -F comm,ip,addr",
			      in_dir(&t, "perf.data"), in_dir(&t, "vmlinux"))) {
			read_said(&t);
			n = said(&t, what) == lost ? lines(&t, "branches", "task") : -1;
			pr_debug("%d branches of the thread\n", n);
		}
	}
	end(&t, TEST_OK);
	return n;
}

static int test__cs_unknown(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	if (!have_coresight)
		return TEST_SKIP;
	/* The first one may still be told as of what ran before */
	if (decoded_of_task(USER_LOOP, 0, 4, 1) < 7)
		return TEST_FAIL;
	/* More than perf puts off until it knows when it was */
	return decoded_of_task(SITE, 1, 1100, 0) >= 8 ? TEST_OK : TEST_FAIL;
}

/*
 * Trace that is found too late has no decoder, and perf says that. It does not say with
 * which text it is decoded, nor that there are no timestamps, which it has not seen
 */
static int test__cs_no_index(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (!have_coresight)
		return TEST_SKIP;
	if (begin(&t, &arm64))
		return end(&t, TEST_FAIL);
	t.no_index = true;
	trace_loops(&t, 1000, 1500);
	poke(&t, 2000);
	poke(&t, 3000);
	put_trace(&t);
	if (!ends(&t))
		return end(&t, TEST_FAIL);
	return end(&t, said(&t, "no trace ID tells is not decoded") == 1 &&
		       !said(&t, "Kernel text has changed") ? TEST_OK : TEST_FAIL);
}

static int test__cs(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (!have_coresight)
		return TEST_SKIP;
	if (make_file(&t, &arm64, 0) || decode(&t, "perf.data"))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

static int test__cs_inject(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;

	if (!have_coresight)
		return TEST_SKIP;
	if (make_file(&t, &arm64, 0) || inject(&t))
		return end(&t, TEST_FAIL);
	return end(&t, compare(&t));
}

#define IMAGE_SIZE	(2 * TEXT_SIZE)
#define NR_POKES	5000

/* The image that decoders read: the kernel, and a module right after it */
struct image {
	struct machine	machine;
	struct map	*maps[2];
	u8		was[IMAGE_SIZE], now[IMAGE_SIZE];
	struct buf	pokes;
	size_t		at[NR_POKES];
};

static int image__add(struct image *image, int i, const char *file)
{
	struct dso *dso = machine__findnew_dso(&image->machine, file);
	struct map *map;

	if (!dso)
		return -ENOMEM;
	/* Its symbols are not of interest */
	dso__set_loaded(dso);
	map = map__new2(TEXT_START + i * TEXT_SIZE, dso);
	dso__put(dso);
	if (!map)
		return -ENOMEM;
	map__set_end(map, TEXT_START + (i + 1) * TEXT_SIZE);
	image->maps[i] = map;
	return maps__insert(machine__kernel_maps(&image->machine), map);
}

static struct image *image__new(struct text_poke_test *t)
{
	struct image *image = zalloc(sizeof(*image));
	struct buf half = { .len = TEXT_SIZE };
	unsigned int i;

	if (!image)
		return NULL;
	for (i = 0; i < IMAGE_SIZE; i++)
		image->was[i] = random();
	memcpy(image->now, image->was, IMAGE_SIZE);
	machine__init(&image->machine, "", HOST_KERNEL_ID);
	half.data = image->was;
	if (write_file(t, "kernel", &half) || image__add(image, 0, in_dir(t, "kernel")))
		return image;
	half.data += TEXT_SIZE;
	if (!write_file(t, "module", &half) && image__add(image, 1, in_dir(t, "module")))
		pr_debug("No map of the module\n");
	return image;
}

static void image__delete(struct image *image)
{
	if (!image)
		return;
	map__put(image->maps[0]);
	map__put(image->maps[1]);
	machine__exit(&image->machine);
	zfree(&image->pokes.data);
	free(image);
}

/* What decoders read is that */
static bool image__is(struct image *image, const u8 *bytes)
{
	u8 found[TEXT_SIZE];
	int i;

	for (i = 0; i < 2; i++) {
		struct map *map = image->maps[i];

		if (!map || dso__data_read_addr(map__dso(map), map, &image->machine, map__start(map),
						found, TEXT_SIZE) != TEXT_SIZE)
			return false;
		if (memcmp(found, bytes + i * TEXT_SIZE, TEXT_SIZE))
			return false;
	}
	return true;
}

/* A record of any place and length, which may begin in one map and end in the next */
static void image__poke(struct image *image, int i)
{
	struct text_poke_test t = { .events = image->pokes };
	const unsigned int at = random() % (IMAGE_SIZE - 64);
	const u16 len = 1 + random() % 64;
	u8 new[64];
	int n;

	for (n = 0; n < len; n++)
		new[n] = random();
	image->at[i] = t.events.len;
	put_poke(&t, i, TEXT_START + at, image->now + at, len, new, len);
	memcpy(image->now + at, new, len);
	image->pokes = t.events;
	machine__process_text_poke(&image->machine, (union perf_event *)(t.events.data + image->at[i]),
				   NULL);
}

static int image__unpoke(struct image *image, int i)
{
	const union perf_event *event = (union perf_event *)(image->pokes.data + image->at[i]);

	return machine__write_text(&image->machine, event->text_poke.addr, event->text_poke.bytes,
				   event->text_poke.old_len);
}

static bool image__replay(struct image *image)
{
	int i;

	if (!image__is(image, image->was))
		return false;
	for (i = 0; i < NR_POKES; i++)
		image__poke(image, i);
	if (image->machine.nr_text_pokes_unknown || !image__is(image, image->now))
		return false;
	while (i--) {
		if (image__unpoke(image, i))
			return false;
	}
	return image__is(image, image->was);
}

/* Records lead from the text that was there to the text that is there, and back */
static int test__image(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;
	struct image *image;
	bool same;

	if (begin(&t, &x86))
		return end(&t, TEST_FAIL);
	image = image__new(&t);
	same = image && image__replay(image);
	image__delete(image);
	return end(&t, same ? TEST_OK : TEST_FAIL);
}

/* The kernel is that of a copy of kcore, which is loaded when it is used */
static int kcore__init(struct text_poke_test *t, struct machine *machine)
{
	struct perf_sample sample = { .cpumode = PERF_RECORD_MISC_KERNEL };
	int err;

	machine__init(machine, "", HOST_KERNEL_ID);
	err = begin(t, &x86) ?: write_kcore(t, "d/kcore_dir");
	if (err)
		return err;
	symbol_conf.kallsyms_name = strdup(in_dir(t, "d/kcore_dir/kallsyms"));
	t->events.len = 0;
	put_kernel_mmap(t);
	return machine__process_mmap_event(machine, (union perf_event *)t->events.data, &sample);
}

static int kcore__exit(struct text_poke_test *t, struct machine *machine, bool ok)
{
	machine__exit(machine);
	zfree((char **)&symbol_conf.kallsyms_name);
	return end(t, ok ? TEST_OK : TEST_FAIL);
}

static int kcore__load(struct machine *machine)
{
	return map__load(machine__kernel_map(machine));
}

static int kcore__ksymbol(struct text_poke_test *t, struct machine *machine,
			  u64 addr, u32 len, u16 type, u16 flags)
{
	t->events.len = 0;
	put_ksymbol(t, 0, addr, len, type, flags);
	return machine__process_ksymbol(machine, (union perf_event *)t->events.data, NULL);
}

/* Decoders read at the address what is in the file of kcore */
static bool kcore__has(struct machine *machine, u64 addr)
{
	struct map *map = maps__find(machine__kernel_maps(machine), addr);
	u8 byte = ~kcore_byte(addr);

	if (map && dso__is_kcore(map__dso(map)))
		dso__data_read_addr(map__dso(map), map, machine, addr, &byte, 1);
	map__put(map);
	return byte == kcore_byte(addr);
}

/* Its map is found by address and by name, and knows where it is */
static bool kcore__knows(struct machine *machine, struct map *map)
{
	struct maps *kmaps = machine__kernel_maps(machine);
	struct map *named = maps__find_by_name(kmaps, dso__short_name(map__dso(map)));
	const bool ok = RC_CHK_EQUAL(named, map) && maps__equal(map__kmaps(map), kmaps);

	map__put(named);
	return ok;
}

/* Maps come in the order of addresses, and none begins before the end of the last */
static int begins_before(struct map *map, void *data)
{
	u64 *end = data;
	const int ret = map__start(map) < *end;

	*end = map__end(map);
	return ret;
}

/* There is nothing but what has been registered from one address to the other */
static bool kcore__has_slot(struct machine *machine, u64 from, u64 to)
{
	struct map *map = maps__find(machine__kernel_maps(machine), from);
	u64 end = 0;
	const bool ok = map && !dso__is_kcore(map__dso(map)) &&
			map__start(map) == from && map__end(map) == to &&
			map__find_symbol(map, map__map_ip(map, from)) &&
			kcore__knows(machine, map) &&
			!maps__for_each_map(machine__kernel_maps(machine), begins_before, &end);

	map__put(map);
	return ok && kcore__has(machine, from - 1) && kcore__has(machine, to);
}

static bool kcore__has_kernel(struct machine *machine)
{
	struct map *map = maps__find(machine__kernel_maps(machine), SITE);
	const bool ok = map && RC_CHK_EQUAL(map, machine__kernel_map(machine));

	map__put(map);
	return ok;
}

#define OOL	PERF_RECORD_KSYMBOL_TYPE_OOL
#define BPF	PERF_RECORD_KSYMBOL_TYPE_BPF
#define GONE	PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER

/* Memory for code comes and goes; kcore has it too */
static bool kcore__slot(struct text_poke_test *t, struct machine *machine, u64 addr)
{
	if (kcore__ksymbol(t, machine, addr, 0x400, OOL, 0) || kcore__load(machine) ||
	    !kcore__has_slot(machine, addr, addr + 0x400) || !kcore__has_kernel(machine))
		return false;

	/* It is not its memory that goes */
	if (kcore__ksymbol(t, machine, addr - 0x100, 0x400, OOL, GONE) ||
	    !kcore__has_slot(machine, addr, addr + 0x400))
		return false;

	if (kcore__ksymbol(t, machine, addr, 0x400, OOL, GONE) ||
	    kcore__has_slot(machine, addr, addr + 0x400) ||
	    !kcore__has(machine, addr - 1) || !kcore__has(machine, addr + 0x400))
		return false;

	/* What comes to the same address may be longer than what was there */
	return !kcore__ksymbol(t, machine, addr, 0x600, OOL, 0) &&
	       kcore__has_slot(machine, addr, addr + 0x600) &&
	       !kcore__ksymbol(t, machine, addr, 0x600, OOL, GONE) &&
	       kcore__has(machine, addr - 1) && kcore__has(machine, addr + 0x600) &&
	       kcore__has_kernel(machine);
}

/* The last is as on powerpc, where optimized probes have memory in the kernel's text */
static bool kcore__slots(struct text_poke_test *t, struct machine *machine)
{
	return kcore__slot(t, machine, SLOT) && kcore__slot(t, machine, SLOT + 0x1000) &&
	       kcore__slot(t, machine, TEXT_START + 0x1000);
}

static int kcore_slots(bool load_first)
{
	struct text_poke_test t;
	struct machine machine;
	bool ok = !kcore__init(&t, &machine);

	ok = ok && (!load_first || !kcore__load(&machine)) && kcore__slots(&t, &machine);
	return kcore__exit(&t, &machine, ok);
}

static int test__kcore(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const int ret = kcore_slots(true);

	return ret == TEST_OK ? kcore_slots(false) : ret;
}

/* A record does not take away the kernel, however broken it is */
static int test__kcore_broken(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;
	struct machine machine;
	bool ok = !kcore__init(&t, &machine) && !kcore__load(&machine);

	ok = ok && !kcore__ksymbol(&t, &machine, SLOT, 0x7fffffff, OOL, 0) &&
	     !kcore__ksymbol(&t, &machine, TEXT_START, 0x1000, BPF, 0) &&
	     !kcore__ksymbol(&t, &machine, SLOT, 0, BPF, 0) &&
	     !kcore__ksymbol(&t, &machine, TEXT_START, 0x1000, BPF, GONE) &&
	     kcore__has_kernel(&machine) && kcore__has(&machine, SLOT);
	return kcore__exit(&t, &machine, ok);
}

#ifdef HAVE_LIBBPF_SUPPORT
/* A program of two functions, of which no record has registered the second */
static struct perf_bpil *bpf_prog_info(u64 *addrs)
{
	struct perf_bpil *info = zalloc(sizeof(*info));

	if (!info)
		return NULL;
	info->info.id = 1;
	info->info.nr_jited_ksyms = 2;
	info->info.jited_ksyms = (u64)(uintptr_t)addrs;
	return info;
}

static bool kcore__bpf_load(struct machine *machine)
{
	union perf_event event = {
		.bpf = {
			.header = { .type = PERF_RECORD_BPF_EVENT, .size = sizeof(event.bpf) },
			.type = PERF_BPF_EVENT_PROG_LOAD,
			.id = 1,
		},
	};
	struct map *map;
	bool ok;

	if (machine__process_bpf(machine, &event, NULL))
		return false;
	map = maps__find(machine__kernel_maps(machine), SLOT);
	ok = map && dso__binary_type(map__dso(map)) == DSO_BINARY_TYPE__BPF_PROG_INFO;
	map__put(map);
	return ok;
}

/* Of a BPF program that is loaded the kernel does not become one */
/* A dispatcher is read from kcore, and changed there */
static bool kcore__image(struct text_poke_test *t, struct machine *machine, u64 addr)
{
	const u8 byte = kcore_byte(addr), changed = ~byte;

	return !kcore__ksymbol(t, machine, addr, 0x100, IMAGE, 0) && kcore__has(machine, addr) &&
	       !machine__write_text(machine, addr, &changed, 1) && !kcore__has(machine, addr) &&
	       !machine__write_text(machine, addr, &byte, 1) && kcore__has(machine, addr) &&
	       !kcore__ksymbol(t, machine, addr, 0x100, IMAGE, GONE) && kcore__has(machine, addr);
}

static int test__kcore_bpf(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	u64 addrs[2] = { SLOT, TEXT_START + 0x1000 };
	struct bpf_prog_info_node *node = zalloc(sizeof(*node));
	struct perf_env env = {};
	struct text_poke_test t;
	struct machine machine;
	bool ok = !kcore__init(&t, &machine) && !kcore__load(&machine) && node;
	int ret;

	perf_env__init(&env);
	machine.env = &env;
	if (ok) {
		node->info_linear = bpf_prog_info(addrs);
		ok = node->info_linear && perf_env__insert_bpf_prog_info(&env, node);
	}
	ok = ok && !kcore__ksymbol(&t, &machine, SLOT, 0x400, BPF, 0) &&
	     kcore__bpf_load(&machine) &&
	     kcore__has(&machine, addrs[1]) && kcore__has_slot(&machine, SLOT, SLOT + 0x400) &&
	     kcore__image(&t, &machine, SLOT + 0x800);
	ret = kcore__exit(&t, &machine, ok);
	perf_env__exit(&env);
	return ret;
}
#endif

/* How far away from modules a program of BPF is here; on arm64 it may be terabytes */
#define FAR_AWAY	(48 << 20)

/* A kcore that has one, and symbols of it */
static int write_far_kcore(struct text_poke_test *t)
{
	const off_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	static u8 image[AREA_SIZE];
	struct buf buf = { .data = image };
	Elf64_Phdr area;
	int err, fd;

	err = write_kcore(t, "d/kcore_dir");
	buf.len = sprintf((char *)image, "m 4096 0 - Live 0x%llx\n", MODULE);
	err = err ?: write_file(t, "d/kcore_dir/modules", &buf);
	buf.len = sprintf((char *)image, "%llx T _stext\n%llx T loop\n%llx T _etext\n"
			  "%llx t f\t[m]\n%llx t p\t[bpf]\n", TEXT_START, SITE,
			  TEXT_START + TEXT_SIZE, MODULE, MODULE - FAR_AWAY);
	err = err ?: write_file(t, "d/kcore_dir/kallsyms", &buf);
	if (err)
		return err;

	fd = open(in_dir(t, "d/kcore_dir/kcore"), O_RDWR);
	if (fd < 0)
		return -errno;
	err = -EIO;
	if (pread(fd, &area, sizeof(area), at) != sizeof(area) ||
	    pread(fd, image, sizeof(image), area.p_offset) != sizeof(image))
		goto out;
	area.p_vaddr -= FAR_AWAY;
	area.p_filesz = FAR_AWAY + sizeof(image);
	area.p_memsz = area.p_filesz;
	if (pwrite(fd, &area, sizeof(area), at) != sizeof(area) ||
	    pwrite(fd, image, sizeof(image), area.p_offset + FAR_AWAY) != sizeof(image) ||
	    pwrite(fd, "far", 4, area.p_offset + MODULE - AREA_START) != 4)
		goto out;
	err = 0;
out:
	close(fd);
	return err;
}

/* What is to be at an address of a kcore */
struct expected_code {
	int fd;
	u64 addr;
	const void *bytes;
	size_t len;
	bool found;
};

static int find_code(u64 start, u64 len, u64 pgoff, void *data)
{
	struct expected_code *code = data;
	u8 found[16];

	if (code->len > sizeof(found))
		return -EINVAL;
	if (code->addr < start || code->addr + code->len > start + len)
		return 0;
	code->found = pread(code->fd, found, code->len, pgoff + code->addr - start) ==
		      (ssize_t)code->len && !memcmp(found, code->bytes, code->len);
	return 0;
}

static bool has_code(int fd, u64 addr, const void *bytes, size_t len)
{
	struct expected_code code = { .fd = fd, .addr = addr, .bytes = bytes, .len = len };

	return !file__read_maps(fd, true, find_code, &code, NULL) && code.found;
}

/* A copy of kcore has code wherever it is, and nothing of what lies between */
static int test__kcore_far(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct text_poke_test t;
	struct stat st;
	bool ok = false;
	u8 back[8], len;
	int fd;

	if (begin(&t, &x86) || write_far_kcore(&t) || mkdir(in_dir(&t, "copy"), 0700) ||
	    kcore_copy(in_dir(&t, "d/kcore_dir"), in_dir(&t, "copy")))
		return end(&t, TEST_FAIL);
	len = t.isa->back(back, MODULE);
	fd = open(in_dir(&t, "copy/kcore"), O_RDONLY);
	if (fd >= 0 && !fstat(fd, &st)) {
		pr_debug("the copy has %" PRIu64 " bytes\n", (u64)st.st_size);
		ok = st.st_size < 1 << 20 && has_code(fd, MODULE, back, len) &&
		     has_code(fd, MODULE - FAR_AWAY, "far", 4);
		close(fd);
	}
	return end(&t, ok ? TEST_OK : TEST_FAIL);
}

static struct test_case text_poke_tests[] = {
	TEST_CASE("Image of the kernel, text pokes forwards and backwards", image),
	TEST_CASE("Text pokes and kcore, code that records register", kcore),
	TEST_CASE("Text pokes and kcore, broken records of code", kcore_broken),
	TEST_CASE("Text pokes and a copy of kcore, code that is far away", kcore_far),
#ifdef HAVE_LIBBPF_SUPPORT
	TEST_CASE("Text pokes and kcore, BPF programs", kcore_bpf),
#endif
	TEST_CASE("Intel PT across text pokes", pt),
	TEST_CASE("Intel PT across one text poke", pt_once),
	TEST_CASE("Intel PT, text pokes of a slot", pt_slot),
	TEST_CASE("Intel PT, text pokes of a slot that kcore has", pt_slot_in_kcore),
	TEST_CASE("perf inject, Intel PT across text pokes", pt_inject),
	TEST_CASE("Intel PT and text pokes without kcore", pt_boot),
	TEST_CASE("Intel PT and text pokes with a kcore of later", pt_later_kcore),
	TEST_CASE("Intel PT and text pokes, some of which are lost", pt_loss),
	TEST_CASE("Intel PT and text pokes where other code was", pt_reused),
	TEST_CASE("Intel PT without kcore or text pokes", pt_still),
	TEST_CASE("Lost records and text pokes", lost),
	TEST_CASE("Broken records of text pokes", broken),
	TEST_CASE("Broken records of text pokes, other byte order", swapped),
	TEST_CASE("Text pokes that cannot be read ahead", unread),
	TEST_CASE("Intel PT and text pokes, broken files", pt_truncated),
	TEST_CASE("Intel PT and text pokes, files that are cut off", pt_cut),
	TEST_CASE("Text pokes in a directory, a file that is cut off", dir_cut),
	TEST_CASE("perf inject and text pokes, half a file", inject_featureless),
	TEST_CASE("Intel PT and text pokes, code that is not told of", pt_unwritten),
	TEST_CASE("Intel PT and text pokes without a reference", pt_no_reference),
	TEST_CASE_REASON("CoreSight across text pokes", cs, "no CoreSight"),
	TEST_CASE_REASON("CoreSight across one text poke", cs_once, "no CoreSight"),
	TEST_CASE_REASON("CoreSight, text pokes of a slot", cs_slot, "no CoreSight"),
	TEST_CASE_REASON("CoreSight, text pokes of a slot that kcore has", cs_slot_in_kcore, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, by different clocks", cs_foreign_time, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, few timestamps", cs_sparse, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, first timestamp too late", cs_late, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, a thread of later records", cs_unknown, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, no index of the trace", cs_no_index, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes without kcore", cs_boot, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes with a kcore of later", cs_later_kcore, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, some of which are lost", cs_loss, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes where other code was", cs_reused, "no CoreSight"),
	TEST_CASE_REASON("CoreSight without kcore or text pokes", cs_still, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, broken files", cs_truncated, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, files that are cut off", cs_cut, "no CoreSight"),
	TEST_CASE_REASON("CoreSight and text pokes, code that is not told of", cs_unwritten, "no CoreSight"),
	TEST_CASE_REASON("perf inject, CoreSight across text pokes", cs_inject, "no CoreSight"),
	{ .name = NULL, }
};

struct test_suite suite__text_poke = {
	.desc = "Text pokes and hardware trace",
	.test_cases = text_poke_tests,
};
