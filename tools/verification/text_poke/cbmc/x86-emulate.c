// SPDX-License-Identifier: GPL-2.0
/*
 * x86: what the trap handler does is what the instruction does
 *
 * source arch/x86/kernel/text_poke.c
 * source arch/x86/include/asm/text-patching.h
 *
 * Proved, for every site of up to TEXT_POKE_MAX bytes, at every address, with
 * any registers and flags:
 *
 *   - arch_text_poke_prepare() accepts CALL, Jcc, JMP, NOP and RET that fill
 *     the site, or are followed by INT3 where no CPU gets, and nothing else.
 *   - arch_text_poke_emulate() leaves registers and stack as the instruction
 *     does.
 *   - An INT3 that is not the core's is passed on, and nothing else is.
 *   - CALL and JMP as text_gen_insn() encodes them go where they were asked to.
 *
 * The instruction decoder of the kernel is not proved but described: for what
 * it is given, insn_decode() below says what the manual says, and anything at
 * all about other instructions.
 *
 * Stubs: the registers; the decoder; what maps text; kernel.h.
 *
 * proof decoded
 * proof emulate
 * proof pass
 * proof encode
 *
 * mutant call-returns-to in emulate: "int3_emulate_push(regs, next);"
 *	-> "int3_emulate_push(regs, regs->ip);"
 * mutant call-no-push in emulate: "int3_emulate_push(regs, next);" -> ""
 * mutant push-size in emulate: "regs->sp -= sizeof(unsigned long);"
 *	-> "regs->sp -= 2 * sizeof(unsigned long);"
 * mutant pop-size in emulate: "regs->sp += sizeof(unsigned long);"
 *	-> "regs->sp += 4;"
 * mutant jcc-base in emulate: "opcode & 0xf, next," -> "opcode & 0xf, regs->ip,"
 * mutant jcc-condition in decoded: "insn->opcode.bytes[1] - 0x10"
 *	-> "insn->opcode.bytes[1] - 0x0f"
 * mutant jcc-invert in emulate: "bool invert = cc & 1;" -> "bool invert = cc & 2;"
 * mutant jcc-parity in emulate: "[5] = X86_EFLAGS_PF" -> "[5] = X86_EFLAGS_SF"
 * mutant jcc-below-or-equal in emulate: "X86_EFLAGS_CF | X86_EFLAGS_ZF"
 *	-> "X86_EFLAGS_CF"
 * mutant jcc-less-or-equal in emulate: "if (cc >= 0xe)" -> "if (cc > 0xe)"
 * mutant jcc-signed in emulate: "if (cc < 0xc)" -> "if (cc < 0xa)"
 * mutant length in decoded: "(unsigned long)site->addr + insn.length;"
 *	-> "(unsigned long)site->addr + site->len;"
 * mutant nop-jumps in decoded: "if (!is_nop(bytes, insn.length))" -> "if (1)"
 * mutant prefixes in decoded: "insn->prefixes.nbytes || insn->rex_prefix.nbytes"
 *	-> "insn->rex_prefix.nbytes"
 * mutant padding in decoded: "return insn->length == len;" -> "return true;"
 * mutant padding-bytes in decoded: "return !memchr_inv(" -> "return memchr_inv("
 * mutant others-jump in pass: "site->len == INT3_INSN_SIZE);"
 *	-> "site->len >= INT3_INSN_SIZE);"
 * mutant others-new in pass: "return site->new[0] == INT3_INSN_OPCODE ||"
 *	-> "return site->new[0] == RET_INSN_OPCODE ||"
 * mutant encode-from in encode: "(long)(addr + size)" -> "(long)addr"
 */
#include "kernel.h"
#include "x86.h"

#define CONFIG_64BIT		1
#define CONFIG_X86_64		1
#define CONFIG_TEXT_POKE	1
#define CONFIG_HAVE_TEXT_POKE_SLOTS 0

#define ASM_X86_FRED_H
#define _ASM_X86_ASM_H
#define _ASM_X86_BARRIER_H
#define _ASM_X86_IDTENTRY_H
#define _ASM_X86_INSN_H
#define _ASM_X86_SECTIONS_H
#define _ASM_X86_SYNC_CORE_H
#define _ASM_X86_TEXT_ALIAS_H
#define __LINUX_CACHE_H
#define _LINUX_MM_H

#define PAGE_SIZE		4096UL
#define TEXT_ALIAS_PAGES	8
#define X86_FEATURE_NX		0
#define OPTIMIZER_HIDE_VAR(x)	do { } while (0)
#define __ro_after_init

/* Text, and how it is mapped: not looked at. */
struct text_alias {
	unsigned long flags;
};

typedef struct { int unused; } pte_t;
typedef struct { int unused; } pgd_t;

enum { SYSTEM_BOOTING };
static int system_state;

extern char __entry_text_start[], __entry_text_end[];

void exc_int3(struct pt_regs *regs);
int kernel_text_address(unsigned long addr);
bool core_kernel_text(unsigned long addr);
bool boot_cpu_has(int feature);
bool is_vmalloc_or_module_addr(const void *addr);
pgd_t *pgd_offset_k(unsigned long addr);
pte_t *lookup_address_in_pgd_attr(pgd_t *pgd, unsigned long addr,
				  unsigned int *level, bool *nx, bool *rw);
bool pte_present(pte_t pte);
bool pte_exec(pte_t pte);
void *text_alias_map(void *addr, size_t *len, struct text_alias *alias);
void text_alias_unmap(struct text_alias *alias);
void sync_core(void);
#define local_irq_save(flags)		((flags) = 0)
#define local_irq_restore(flags)	((void)(flags))
#define smp_load_acquire(p)		(*(p))

/* As far as the backend looks into it. */
struct insn_field {
	int value;
	u8 bytes[4];
	u8 nbytes;
};

struct insn {
	struct insn_field prefixes;
	struct insn_field rex_prefix;
	struct insn_field opcode;
	struct insn_field immediate;
	u8 length;
};

enum insn_mode { INSN_MODE_KERN };

static void describe(struct insn *insn, enum kind kind, const u8 *bytes)
{
	insn->length = length_of(kind, bytes);
	insn->prefixes.nbytes = bytes[0] == 0x66;
	insn->rex_prefix.nbytes = 0;
	insn->opcode.bytes[0] = bytes[insn->prefixes.nbytes];
	insn->opcode.bytes[1] = bytes[insn->prefixes.nbytes + 1];
	if (kind != NOP && kind != RET)
		insn->immediate.value = displacement(kind, bytes);
}

static int insn_decode(struct insn *insn, const void *kaddr, int len,
		       enum insn_mode mode)
{
	const u8 *bytes = kaddr;
	enum kind kind = kind_of(bytes);
	struct insn any;

	/* A prefix before one of those that @kind knows is not a @kind. */
	*insn = any;
	if (kind != OTHER) {
		describe(insn, kind, bytes);
	} else if (!insn->prefixes.nbytes && !insn->rex_prefix.nbytes) {
		insn->opcode.bytes[0] = bytes[0];
		insn->opcode.bytes[1] = bytes[1];
	}
	assume(insn->length > 0);
	return insn->length <= len ? 0 : -EINVAL;
}

#include <asm/nops.h>

static const u8 nops[] = {
	BYTES_NOP1, BYTES_NOP2, BYTES_NOP3, BYTES_NOP4,
	BYTES_NOP5, BYTES_NOP6, BYTES_NOP7, BYTES_NOP8,
};

const unsigned char * const x86_nops[] = {
	NULL, nops, nops + 1, nops + 3, nops + 6, nops + 10, nops + 15,
	nops + 21, nops + 28,
};

#include "arch/x86/kernel/text_poke.c"

static struct text_poke_site any_site(void)
{
	struct text_poke_site site;

	assume(site.len > 0 && site.len <= TEXT_POKE_MAX);
	return site;
}

/* Does the instruction fill the site, or does INT3 where no CPU gets? */
static bool fills(const struct text_poke_site *site)
{
	enum kind kind = kind_of(site->new);
	int i, len = length_of(kind, site->new);

	if (len == site->len)
		return true;
	if (len > site->len)
		return false;
	for (i = 0; i < TEXT_POKE_MAX; i++)
		if (i >= len && i < site->len && site->new[i] != 0xcc)
			return false;
	return kind == JMP8 || kind == JMP32 || kind == RET;
}

/* What the trap handler goes by, from the manual. */
static u8 opcode_of(enum kind kind, const u8 *bytes)
{
	switch (kind) {
	case CALL:
		return 0xe8;
	case RET:
		return 0xc3;
	case JCC8:
	case JCC32:
		return 0x70 | condition_of(kind, bytes);
	default:
		return 0xe9;
	}
}

void decoded(void)
{
	struct text_poke_site site = any_site();
	enum kind kind = kind_of(site.new);
	int ret = arch_text_poke_prepare(&site, site.new);

	assume(!site.foreign);
	prove((ret == 0) == (kind != OTHER && fills(&site)),
	      "accepted is what can be emulated");
	assume(!ret);
	prove(site.insn.opcode == opcode_of(kind, site.new),
	      "it is decoded as what it is");
	prove(kind == RET ||
	      site.insn.dest == target_of(kind, site.new, (unsigned long)site.addr),
	      "its target is where it goes");
}

/*
 * A site that decoded() has found to be as the manual says.  A NOP is a jump to
 * after itself.
 */
void emulate(void)
{
	struct text_poke_site site = any_site();
	unsigned long memory[4], stack[4], *top = &stack[2];
	unsigned long next = (unsigned long)site.addr + site.len;
	struct pt_regs regs, cpu;
	enum kind kind;
	int i;

	assume(kind == CALL || kind == RET || kind == JMP32 || kind == JCC8);
	site.insn.opcode = opcode_of(kind, site.new);
	regs.ip = (unsigned long)site.addr;
	regs.sp = (unsigned long)&memory[2];
	for (i = 0; i < 4; i++)
		stack[i] = memory[i];
	cpu = regs;

	execute(&cpu, kind, condition_of(kind, site.new), next, site.insn.dest, &top);
	arch_text_poke_emulate(&regs, &site);
	prove(regs.ip == cpu.ip, "it goes on where the instruction does");
	prove(regs.sp == cpu.sp, "the stack pointer is as after the instruction");
	prove(regs.flags == cpu.flags && regs.others == cpu.others,
	      "nothing else has changed");
	for (i = 0; i < 4; i++)
		prove(memory[i] == stack[i], "the stack is as after the instruction");
}

void pass(void)
{
	struct text_poke_site site = any_site();
	bool others;

	/* Whose INT3 it is after b: kprobes', unless a longer one replaces it. */
	others = site.new[0] == 0xcc || (site.old[0] == 0xcc && site.len == 1);
	arch_text_poke_prepare(&site, site.new);
	prove(site.foreign == others, "a trap of others is passed on");
}

void encode(void)
{
	unsigned long addr, dest;
	enum kind kind;
	bool call;
	long disp;
	u8 *bytes;

	disp = dest - addr - 5;
	assume(disp == (s32)disp);
	kind = call ? CALL : JMP32;
	bytes = text_gen_insn(call ? CALL_INSN_OPCODE : JMP32_INSN_OPCODE,
			      (void *)addr, (void *)dest);
	prove(kind_of(bytes) == kind, "it is what was asked for");
	prove(target_of(kind, bytes, addr) == dest, "it goes to its target");
}
