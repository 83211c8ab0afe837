// SPDX-License-Identifier: GPL-2.0
/*
 * Text poke on x86
 *
 * An instruction has any length and any address, and may cross a cache line
 * or a page, so no store exchanges one for another at once.  The trap is INT3,
 * which is one byte: it goes over the first byte, the unit of a site, and the
 * rest, the tail, is written behind its back.
 *
 * The call site of a traced function, byte by byte, as other CPUs can see it:
 *
 *             unit  tail
 *           +----+-------------+
 *   off     | 0f | 1f 44 00 00 |   NOP5
 *           +----+-------------+
 *   b       | cc | 1f 44 00 00 |   INT3: emulates the CALL
 *           +----+-------------+
 *   e       | cc | d0 d1 d2 d3 |   INT3, and a tail that is not run yet
 *           +----+-------------+
 *   f, on   | e8 | d0 d1 d2 d3 |   CALL rel32
 *           +----+-------------+
 *
 * and back:
 *
 *           | e8 | d0 d1 d2 d3 |
 *   b       | cc | d0 d1 d2 d3 |   INT3: emulates the NOP
 *   e       | cc | 1f 44 00 00 |
 *   f, off  | 0f | 1f 44 00 00 |
 *
 * Rules, from the Intel Software Developer's Manual, Volume 3, "Handling Self-
 * and Cross-Modifying Code":
 *
 *   - A CPU that runs modified code goes through a serializing instruction after
 *     the store and before the modified code.  That is what the IPI does.
 *   - Without it "unsynchronized cross-modifying code" gives unexpected
 *     results, for which many processors have an erratum besides.  The one
 *     exchange that Intel and AMD both say to be safe while the code runs is
 *     that of the first byte for INT3, and of INT3 for the first byte: a CPU
 *     that fetches meanwhile gets the one or the other.  The sync still makes
 *     the change-over bounded.
 *   - AMD's manual (Volume 2, "Cross-Modifying Code") also permits any store
 *     that stays within an aligned quadword.  Intel's does not, and the kernel
 *     is the same for both, so it is not made use of.
 *   - Instruction and data caches are coherent; there is nothing to clean.
 *     Instructions are fetched by linear address and stored through another
 *     one, which only the serializing instruction takes care of.
 *
 * Intel has said that the sync between tail and unit is very likely not
 * needed.  It is made all the same: there is not only Intel, and a decoder
 * needs one between the record and the final store.
 *
 * So every batch is guarded, whether an event listens or not, except for one
 * of kprobes' breakpoints: there the store of the one byte is all there is.
 *
 * INT3 can be taken wherever the kernel's text runs but in entry code, where GS
 * and the stack may still be the user's, or be again.  There is no text that runs
 * with another IDT: kexec, resume from hibernation and the trampolines to and
 * from real mode run from copies which are not text to be poked.
 *
 * INT3 also belongs to kprobes and KGDB.  Where it is what replaces or is
 * replaced, the trap is theirs and is passed on to them.  A kprobe that is
 * being optimized has its INT3 replaced by a JMP of five bytes: from then on
 * the trap emulates the JMP.
 */
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/barrier.h>
#include <asm/fred.h>
#include <asm/idtentry.h>
#include <asm/insn.h>
#include <asm/nops.h>
#include <asm/ptrace.h>
#include <asm/sections.h>
#include <asm/sync_core.h>
#include <asm/text-patching.h>

/* asm_exc_int3() is entry code. */
struct text_poke_function arch_text_poke_trap_path[] __ro_after_init = {
	{ exc_int3 },
#ifdef CONFIG_X86_FRED
	{ asm_fred_entrypoint_kernel },
	{ fred_entry_from_kernel },
	{ fred_swexc },
#endif
#ifdef CONFIG_XEN_PV
	{ xen_asm_exc_int3 },
#endif
	{ }
};

static bool is_nop(const u8 *bytes, size_t len)
{
	return !memcmp(bytes, x86_nops[len], len);
}

static bool is_jcc8(const struct insn *insn)
{
	return (insn->opcode.bytes[0] & 0xf0) == 0x70;
}

static bool is_jcc32(const struct insn *insn)
{
	return insn->opcode.bytes[0] == 0x0f &&
	       (insn->opcode.bytes[1] & 0xf0) == 0x80;
}

/* The opcode that emulation goes by; 0 for what it cannot emulate. */
static u8 emulated_opcode(const struct insn *insn, const u8 *bytes)
{
	if (is_nop(bytes, insn->length))
		return JMP32_INSN_OPCODE;
	if (insn->prefixes.nbytes || insn->rex_prefix.nbytes)
		return 0;
	if (is_jcc32(insn))
		return insn->opcode.bytes[1] - 0x10;
	if (is_jcc8(insn))
		return insn->opcode.bytes[0];

	switch (insn->opcode.bytes[0]) {
	case JMP8_INSN_OPCODE:
	case JMP32_INSN_OPCODE:
		return JMP32_INSN_OPCODE;
	case CALL_INSN_OPCODE:
	case RET_INSN_OPCODE:
		return insn->opcode.bytes[0];
	}
	return 0;
}

/* An instruction that never gets to the next one may be padded with INT3. */
static bool is_padded(const struct insn *insn, const u8 *bytes, size_t len)
{
	switch (insn->opcode.bytes[0]) {
	case JMP8_INSN_OPCODE:
	case JMP32_INSN_OPCODE:
	case RET_INSN_OPCODE:
		return !memchr_inv(bytes + insn->length, INT3_INSN_OPCODE,
				   len - insn->length);
	}
	return insn->length == len;
}

static int decode(struct text_poke_site *site, const u8 *bytes)
{
	struct insn insn;

	if (insn_decode(&insn, bytes, site->len, INSN_MODE_KERN))
		return -EINVAL;
	if (!is_padded(&insn, bytes, site->len))
		return -EINVAL;

	site->insn.opcode = emulated_opcode(&insn, bytes);
	site->insn.dest = (unsigned long)site->addr + insn.length;
	if (!is_nop(bytes, insn.length))
		site->insn.dest += insn.immediate.value;
	return site->insn.opcode ? 0 : -EOPNOTSUPP;
}

/*
 * A kprobe that is armed, or falls back from a JMP, or is disarmed.  Not one
 * whose INT3 gives way to a longer instruction: that one is emulated.
 */
static bool is_others_trap(const struct text_poke_site *site)
{
	return site->new[0] == INT3_INSN_OPCODE ||
	       (site->old[0] == INT3_INSN_OPCODE && site->len == INT3_INSN_SIZE);
}

int arch_text_poke_prepare(struct text_poke_site *site, const void *emulate)
{
	site->foreign = is_others_trap(site);
	return site->foreign ? 0 : decode(site, emulate);
}

/*
 * A static call that returns 0: see xor5rax there.  And the trampoline of one to
 * nothing, in a kernel without return thunks: ARCH_DEFINE_STATIC_CALL_NULL_TRAMP.
 */
static bool is_static_call(const u8 *bytes, size_t len)
{
	static const u8 return0[] = { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 };
	static const u8 nothing[] = { 0xc3, 0xcc, 0x90, 0x90, 0x90 };

	return len == CALL_INSN_SIZE && (!memcmp(bytes, return0, len) ||
					 !memcmp(bytes, nothing, len));
}

/* INT3 is that of a probe, which gives way to a JMP. */
bool arch_text_poke_replaceable(const struct text_poke_site *site)
{
	struct text_poke_site old = *site;

	return is_nop(site->old, site->len) ||
	       site->old[0] == INT3_INSN_OPCODE ||
	       is_static_call(site->old, site->len) || !decode(&old, old.old);
}

/* UD2, of which a probe's breakpoint replaces the first byte. */
bool arch_text_poke_maybe_bug(const struct text_poke_site *site)
{
	static const u8 ud2[] = { 0x0f, 0x0b };

	return !text_poke_verify(site->addr, ud2, sizeof(ud2));
}

void arch_text_poke_trap(const struct text_poke_site *site, void *unit)
{
	*(u8 *)unit = INT3_INSN_OPCODE;
}

/* One byte, and INT3 is the old or the new one. */
bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return site->foreign && site->len == INT3_INSN_SIZE;
}

/**
 * struct text_access - what the page tables let the kernel do
 * @exec:	execute
 * @write:	write
 */
struct text_access {
	bool exec;
	bool write;
};

static struct text_access access_to(const void *addr)
{
	unsigned long va = (unsigned long)addr;
	unsigned int level;
	bool nx, rw;
	pte_t *pte;

	pte = lookup_address_in_pgd_attr(pgd_offset_k(va), va, &level, &nx, &rw);
	if (!pte || !pte_present(*pte))
		return (struct text_access) {};
	return (struct text_access) {
		.exec	= pte_exec(*pte) && !nx,
		.write	= pte_write(*pte) && rw,
	};
}

/*
 * A BPF program runs for a while after it has left kallsyms, and its direct
 * tail calls are changed before it gets there and after.  The same goes for
 * the trampoline of an ftrace_ops that is not registered any more.  Both are
 * where modules are.  32-bit kernels have neither; there modules are where all
 * of vmalloc is, and without PAE nothing tells what can be executed.
 */
bool arch_text_poke_is_text(const void *addr)
{
	if (kernel_text_address((unsigned long)addr))
		return true;
	return IS_ENABLED(CONFIG_X86_64) && is_vmalloc_or_module_addr(addr) &&
	       access_to(addr).exec;
}

bool arch_text_poke_trappable(const void *addr)
{
	return addr < (void *)__entry_text_start ||
	       addr >= (void *)__entry_text_end;
}

/*
 * Until SYSTEM_SCHEDULING there is one CPU, and the kernel's own text is not
 * yet protected from writing.  The trampolines of ftrace are.  A module's text can
 * be written until it is complete, and is written in place: what does so does not
 * hold text_mutex, without which there is no alias.
 */
static bool is_writable(void *addr)
{
	if (core_kernel_text((unsigned long)addr))
		return system_state == SYSTEM_BOOTING;
	return access_to(addr).write;
}

void *arch_text_poke_map(void *addr, size_t *len,
			 struct arch_text_poke_map *map)
{
	map->in_place = is_writable(addr);
	if (!map->in_place)
		return text_alias_map(addr, len, &map->alias);

	local_irq_save(map->alias.flags);
	return addr;
}

void arch_text_poke_unmap(struct arch_text_poke_map *map)
{
	if (!map->in_place) {
		text_alias_unmap(&map->alias);
		return;
	}

	/*
	 * A CLFLUSH could speed up the CPU's recovery, but hangs some VIA CPUs.
	 */
	sync_core();
	local_irq_restore(map->alias.flags);
}

void arch_text_poke_flush(void *addr, size_t len)
{
}

void arch_text_poke_sync_cpu(void)
{
	sync_core();
}

/* Entry code has taken regs->ip back to the INT3. */
noinstr void *arch_text_poke_trap_addr(const struct pt_regs *regs)
{
	return (void *)regs->ip;
}

noinstr bool arch_text_poke_is_trap(const void *addr)
{
	/* Pairs with smp_wmb() in text_poke_publish(). */
	return smp_load_acquire((const u8 *)addr) == INT3_INSN_OPCODE;
}

noinstr void arch_text_poke_emulate(struct pt_regs *regs,
				    const struct text_poke_site *site)
{
	unsigned long next = (unsigned long)site->addr + site->len;
	unsigned long dest = site->insn.dest;

	switch (site->insn.opcode) {
	case RET_INSN_OPCODE:
		int3_emulate_ret(regs);
		break;
	case CALL_INSN_OPCODE:
		int3_emulate_push(regs, next);
		int3_emulate_jmp(regs, dest);
		break;
	case JMP32_INSN_OPCODE:
		int3_emulate_jmp(regs, dest);
		break;
	default:
		int3_emulate_jcc(regs, site->insn.opcode & 0xf, next,
				 dest - next);
		break;
	}
}
