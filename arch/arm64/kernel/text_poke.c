// SPDX-License-Identifier: GPL-2.0
/*
 * Text poke on arm64
 *
 * Every instruction is one naturally aligned word, so a site is one unit and
 * has no tail.  The trap is BRK with an immediate of its own:
 *
 *   31                    21 20              5 4     0
 *   +-----------------------+-----------------+-------+
 *   | 1 1 0 1 0 1 0 0 0 0 1 | TEXT_POKE_BRK_  | 00000 |
 *   |                       | IMM             |       |
 *   +-----------------------+-----------------+-------+
 *
 * A jump label, and the call site of a traced function, in the three states
 * that another CPU can fetch:
 *
 *   | off | guarded | on        |   | off | guarded | on               |
 *   +-----+---------+-----------+   +-----+---------+------------------+
 *   | NOP | BRK     | B <l_yes> |   | NOP | BRK     | BL <ftrace_call> |
 *
 * A kprobe has a BRK of its own (KPROBES_BRK_IMM), which kprobes handle.  Over one
 * of the instructions above it is the trap then, so that guarding changes nothing
 * but the order of things:
 *
 *   | armed, step b | recorded, d | f           |
 *   +---------------+-------------+-------------+
 *   | BRK           | BRK         | BRK         |   arming
 *   | BRK           | BRK         | instruction |   disarming
 *
 * KGDB's own comes and goes under a stopped machine.  No other BRK is ever put
 * over live text or taken from it: the one after a kprobe's slot and the one
 * that a kretprobe returns to stay where they are, and that of uprobes is in
 * user space.
 *
 * Rules, from the Arm Architecture Reference Manual, DDI 0487, section B2.2.5,
 * "Concurrent modification and execution of instructions":
 *
 *   - If the old and the new instruction are both among B, B.cond, BL, BRK,
 *     CBZ, CBNZ, NOP, TBZ, TBNZ (and some that are never changed here), a CPU
 *     that executes the word while it is stored executes one or the other.
 *     So these may be exchanged directly, and BRK may go over any of them.
 *   - Of two conditional branches that differ in condition and target, it may
 *     be the condition of one and the target of the other: one becomes another
 *     only by way of BRK.
 *   - About any other pair the manual promises nothing: such a word is not to
 *     be executed while it is stored.  A kprobe puts BRK over an instruction
 *     of any kind, and takes it away again; guarded or not, that is one store
 *     which is outside of the promise whenever the instruction is not on the
 *     list.  So it is refused here, and kprobes have text_poke_stopped() stop
 *     the machine, once for as many probes as are armed together.  A pseudo-NMI
 *     is not stopped by that.
 *   - For a bounded change-over the writer cleans the data cache to the point
 *     of unification, then invalidates the instruction cache, each with a DSB,
 *     and every CPU then goes through a context synchronisation event.  The
 *     cache instructions take the address that executes and reach all CPUs of
 *     the inner shareable domain; the context synchronisation has to be done
 *     by each CPU, which is what the IPI is for.
 *
 * Where BRK cannot be used:
 *
 *   - Hypervisor text: it runs at EL2 with vectors of its own, where BRK is a
 *     panic.  With VHE, code of the kernel's own text runs between switching
 *     to these vectors and back: what is __vhe_text.  By the same token it
 *     cannot be probed or traced; ftrace and kprobes ask here.
 *   - What an SDEI event interrupts may hold the exception registers live, or
 *     run with other vectors.  __sdei_handler() saves them, and sets the
 *     kernel's, before it calls anything that may trap.
 *   - The exception vectors and what they run before el1_brk64().  It is
 *     assembly or noinstr, and has no static key.
 *   - The identity map, KPTI's trampoline, and what runs in kexec and resume
 *     from hibernation: not kernel text for kernel_text_address(), so refused.
 *
 * What is kernel text of these is patched directly, which B2.2.5 allows for the
 * instructions that jump labels use, and which leaves the moment of their
 * change as vague as a sync is long.
 */
#include <linux/cache.h>
#include <linux/cacheflush.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/barrier.h>
#include <asm/debug-monitors.h>
#include <asm/exception.h>
#include <asm/insn.h>
#include <asm/insn-emulate.h>
#include <asm/patching.h>
#include <asm/ptrace.h>
#include <asm/sections.h>

/* From the vectors, which are entry code and cannot trap, to the handler. */
struct text_poke_function arch_text_poke_trap_path[] __ro_after_init = {
	{ el1h_64_sync_handler },
	{ el1_brk64 },
	{ }
};

static u32 read_insn(const void *bytes)
{
	__le32 insn;

	memcpy(&insn, bytes, sizeof(insn));
	return le32_to_cpu(insn);
}

/* The BRK that kprobes write and handle. */
static bool is_probe(u32 insn)
{
	return IS_ENABLED(CONFIG_KPROBES) && insn == BRK64_OPCODE_KPROBES;
}

int arch_text_poke_prepare(struct text_poke_site *site, const void *emulate)
{
	if (site->len != AARCH64_INSN_SIZE)
		return -EINVAL;
	if (!IS_ALIGNED((unsigned long)site->addr, AARCH64_INSN_SIZE))
		return -EINVAL;
	if (read_insn(site->new) == AARCH64_BREAK_FAULT)
		return -ERANGE;

	site->foreign = is_probe(read_insn(site->old)) ||
		     is_probe(read_insn(site->new));
	if (site->foreign)
		return 0;

	site->insn.insn = read_insn(emulate);
	site->insn.how = aarch64_insn_emulation(site->insn.insn);
	return site->insn.how != AARCH64_EMULATE_NONE ? 0 : -EOPNOTSUPP;
}

bool arch_text_poke_replaceable(const struct text_poke_site *site)
{
	return aarch64_insn_emulation(read_insn(site->old)) !=
	       AARCH64_EMULATE_NONE;
}

bool arch_text_poke_maybe_bug(const struct text_poke_site *site)
{
	return read_insn(site->old) == (AARCH64_BREAK_MON | BUG_BRK_IMM << 5);
}

void arch_text_poke_trap(const struct text_poke_site *site, void *unit)
{
	u32 insn = site->foreign ? BRK64_OPCODE_KPROBES : TEXT_POKE_BRK_INSN;
	__le32 brk = cpu_to_le32(insn);

	memcpy(unit, &brk, sizeof(brk));
}

static bool is_conditional(u32 insn)
{
	return aarch64_insn_is_bcond(insn) ||
	       aarch64_insn_is_cbz(insn) || aarch64_insn_is_cbnz(insn) ||
	       aarch64_insn_is_tbz(insn) || aarch64_insn_is_tbnz(insn);
}

/*
 * Is @insn one of those that B2.2.5 lists?  B.cond is, but not BC.cond.  If not,
 * no CPU may execute it while it is stored, or while anything is stored over it.
 */
bool arch_text_poke_listed(u32 insn)
{
	bool is_bc = aarch64_insn_is_bcond(insn) && (insn & BIT(4));

	return insn == aarch64_insn_gen_nop() || aarch64_insn_is_brk(insn) ||
	       aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn) ||
	       (is_conditional(insn) && !is_bc);
}

bool arch_text_poke_guardable(const struct text_poke_site *site)
{
	return arch_text_poke_listed(read_insn(site->old)) &&
	       arch_text_poke_listed(read_insn(site->new));
}

bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return arch_text_poke_guardable(site) &&
	       !(is_conditional(read_insn(site->old)) &&
		 is_conditional(read_insn(site->new)));
}

static bool within(const void *addr, const char *start, const char *end)
{
	return addr >= (void *)start && addr < (void *)end;
}

bool arch_text_poke_trappable(const void *addr)
{
	return !within(addr, __vhe_text_start, __vhe_text_end) &&
	       !within(addr, __entry_text_start, __entry_text_end) &&
	       !within(addr, __hyp_idmap_text_start, __hyp_idmap_text_end) &&
	       !within(addr, __hyp_text_start, __hyp_text_end);
}

void *arch_text_poke_map(void *addr, size_t *len,
			 struct arch_text_poke_map *map)
{
	*len = min(*len, PAGE_SIZE - offset_in_page(addr));
	return aarch64_text_map(addr, &map->flags);
}

void arch_text_poke_unmap(struct arch_text_poke_map *map)
{
	aarch64_text_unmap(map->flags);
}

void arch_text_poke_flush(void *addr, size_t len)
{
	caches_clean_inval_pou((unsigned long)addr, (unsigned long)addr + len);
}

/*
 * Taking the interrupt of a sync would do as well today, but not on a CPU with
 * FEAT_ExS that is told so.
 */
void arch_text_poke_sync_cpu(void)
{
	isb();
}

/*
 * DMB, and so smp_mb(), orders loads and stores alone, and ISB waits for neither:
 * a fetch after both may be older than what was stored before them.  DSB is
 * waited for.
 */
void arch_text_poke_fetch_mb(void)
{
	dsb(ish);
}

noinstr void *arch_text_poke_trap_addr(const struct pt_regs *regs)
{
	return (void *)regs->pc;
}

noinstr bool arch_text_poke_is_trap(const void *addr)
{
	/* Pairs with smp_wmb() in text_poke_publish(). */
	return smp_load_acquire((const __le32 *)addr) ==
	       cpu_to_le32(TEXT_POKE_BRK_INSN);
}

/*
 * BTYPE is cleared as by any instruction that is not an indirect branch; for
 * one that is, the target is not checked to be a landing pad.  If the CPU is
 * being single-stepped, the step is over: with SS clear, the step exception
 * comes before the next instruction and not after it.
 */
noinstr void arch_text_poke_emulate(struct pt_regs *regs,
				    const struct text_poke_site *site)
{
	aarch64_insn_emulate(regs, site->insn.how, site->insn.insn, regs->pc);
	regs->pstate &= ~(PSR_BTYPE_MASK | DBG_SPSR_SS);
}
