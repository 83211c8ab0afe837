// SPDX-License-Identifier: GPL-2.0-only
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
 * Rules, from the Arm Architecture Reference Manual, DDI 0487, section B2.2.5,
 * "Concurrent modification and execution of instructions":
 *
 *   - If the old and the new instruction are both among B, BL, BRK, NOP (and
 *     some that are never changed here), a CPU that executes the word while
 *     it is stored executes one or the other.  So NOP, B and BL may be
 *     exchanged directly, and BRK may go over any of them.
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
 *     to these vectors and back; __jump_table_notrap lists its sites.
 *     By the same token its code, and what it calls in between, is not traced.
 *   - What an SDEI event interrupts may hold the exception registers live, or
 *     run with other vectors.  The firmware's event handler in the kernel takes
 *     no care of synchronous exceptions, so it must not meet a trap; on
 *     machines with SDEI it may, while somebody records.
 *   - The exception vectors and what they run before el1_brk64().  There is no
 *     site in it: it is assembly or noinstr, and has no static key.  The KUnit
 *     test walks all jump labels to see that this is so.
 *   - The identity map, KPTI's trampoline, and what runs in kexec and resume
 *     from hibernation: not kernel text for kernel_text_address(), so refused.
 *
 * The exclusions are patched directly, which B2.2.5 allows for the
 * instructions that jump labels use, and which leaves the moment of their
 * change as vague as a sync is long.
 */
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/barrier.h>
#include <asm/cacheflush.h>
#include <asm/debug-monitors.h>
#include <asm/insn.h>
#include <asm/insn-emulate.h>
#include <asm/patching.h>
#include <asm/ptrace.h>
#include <asm/sections.h>

static u32 read_insn(const void *bytes)
{
	__le32 insn;

	memcpy(&insn, bytes, sizeof(insn));
	return le32_to_cpu(insn);
}

static bool can_emulate(u32 insn)
{
	return insn == aarch64_insn_gen_nop() || aarch64_insn_is_b(insn) ||
	       aarch64_insn_is_bl(insn);
}

int arch_text_poke_prepare(struct text_poke_site *site, const void *emulate)
{
	if (site->len != AARCH64_INSN_SIZE)
		return -EINVAL;
	if (!IS_ALIGNED((unsigned long)site->addr, AARCH64_INSN_SIZE))
		return -EINVAL;
	if (read_insn(site->new) == AARCH64_BREAK_FAULT)
		return -ERANGE;

	site->insn.insn = read_insn(emulate);
	return can_emulate(site->insn.insn) ? 0 : -EOPNOTSUPP;
}

void arch_text_poke_trap(const struct text_poke_site *site, void *unit)
{
	__le32 brk = cpu_to_le32(TEXT_POKE_BRK_INSN);

	memcpy(unit, &brk, sizeof(brk));
}

/* NOP, B and BL are both what can be emulated and what B2.2.5 lists. */
bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return can_emulate(read_insn(site->old)) &&
	       can_emulate(read_insn(site->new));
}

static bool within(const void *addr, const char *start, const char *end)
{
	return addr >= (void *)start && addr < (void *)end;
}

/* Is there a jump label of VHE's world switch at @addr? */
static bool is_notrap_site(const void *addr)
{
	const s32 *entry;

	for (entry = __start___jump_table_notrap;
	     entry < __stop___jump_table_notrap; entry++)
		if ((const void *)entry + *entry == addr)
			return true;
	return false;
}

bool arch_text_poke_trappable(const void *addr)
{
	return !is_notrap_site(addr) &&
	       !within(addr, __entry_text_start, __entry_text_end) &&
	       !within(addr, __hyp_idmap_text_start, __hyp_idmap_text_end) &&
	       !within(addr, __hyp_text_start, __hyp_text_end);
}

void *arch_text_poke_map(void *addr, struct arch_text_poke_map *map)
{
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

static void refetch(void *unused)
{
	isb();
}

/*
 * The ISB is what counts.  Taking the interrupt would do as well today, but
 * not on a CPU with FEAT_ExS that is told so.
 */
void arch_text_poke_sync(void)
{
	on_each_cpu(refetch, NULL, 1);
}

noinstr void *arch_text_poke_trap_addr(const struct pt_regs *regs)
{
	return (void *)regs->pc;
}

noinstr bool arch_text_poke_is_trap(const void *addr)
{
	/* Pairs with the decrement in text_poke_retire(). */
	return smp_load_acquire((const __le32 *)addr) ==
	       cpu_to_le32(TEXT_POKE_BRK_INSN);
}

/*
 * BTYPE is cleared as by any instruction that is not an indirect branch.  If
 * the CPU is being single-stepped, the step is over: with SS clear, the step
 * exception comes before the next instruction and not after it.
 */
noinstr void arch_text_poke_emulate(struct pt_regs *regs,
				    const struct text_poke_site *site)
{
	u32 insn = site->insn.insn;

	if (aarch64_insn_is_b(insn) || aarch64_insn_is_bl(insn))
		aarch64_insn_emulate_b_bl(regs, insn, regs->pc);
	else
		regs->pc += AARCH64_INSN_SIZE;

	regs->pstate &= ~(PSR_BTYPE_MASK | DBG_SPSR_SS);
}
