// SPDX-License-Identifier: GPL-2.0
/*
 * Text poke on RISC-V
 *
 * An instruction is a word of 4 bytes or, with the C extension, also of 2; and
 * then any of them may begin on a 2-byte boundary.  The trap is one that fits:
 *
 *                 unit     trap
 *                 -------  ---------------------
 *   without C     4 bytes  EBREAK    73 00 10 00
 *   with C        2 bytes  C.EBREAK  02 90
 *
 * With C that is C.EBREAK for every instruction, also for one that EBREAK would
 * cover: so there is one unit, one trap to look for and one order of stores.
 *
 * With C a longer instruction has a tail.  A jump label, and the word that is
 * changed at the entry of a traced function, as other CPUs can fetch it:
 *
 *             unit    tail
 *           +-------+-------+
 *   off     | 13 00 | 00 00 |   NOP
 *           +-------+-------+
 *   b       | 02 90 | 00 00 |   C.EBREAK: emulates the JAL or JALR
 *           +-------+-------+
 *   e       | 02 90 | t0 t1 |   C.EBREAK, and a tail that is not run yet
 *           +-------+-------+
 *   f, on   | u0 u1 | t0 t1 |   JAL or JALR
 *           +-------+-------+
 *
 * The trap may stand at any boundary, so this is also the way to change an
 * instruction of 4 bytes that does not begin on a 4-byte boundary.
 *
 * A kprobe has the same breakpoint in the same place, which kprobes handle.  It
 * is the trap then, and guarding changes nothing but the order of things.  No
 * more than the unit of a probed instruction is ever changed:
 *
 *   | armed, step b | recorded, d | f     |
 *   +---------------+-------------+-------+
 *   | 02 90         | 02 90       | 02 90 |   arming
 *   | 02 90         | 02 90       | unit  |   disarming
 *
 * EBREAK and C.EBREAK also are what BUG() and WARN() consist of, what is after
 * a kprobe's slot, and what KGDB plants; none of them is ever put over live
 * text or taken from it while this goes on.
 *
 * Anything else is put there while its copy runs in a slot, if it does the same
 * in another place; kprobes decide that, and execute theirs in the same way:
 *
 *   | site: instruction | guarded | new |     | slot: new | C.EBREAK ... |
 *   +-------------------+---------+-----+     +-----------+--------------+
 *
 * Rules:
 *
 *   - The RISC-V Instruction Set Manual, Volume I, chapter "Zifencei": "A
 *     FENCE.I instruction ensures that a subsequent instruction fetch on a
 *     RISC-V hart will see any previous data stores already visible to the same
 *     RISC-V hart. [...] To make a store to instruction memory visible to all
 *     RISC-V harts, the writing hart also has to execute a data FENCE before
 *     requesting that all remote RISC-V harts execute a FENCE.I."  An interrupt
 *     has them do so, or firmware.
 *   - The base ISA does not say what a fetch gets while the word is stored.  The
 *     RISC-V profiles do, of which all from RVA20 on demand Ziccif: "Main memory
 *     regions with both the cacheability and coherence PMAs must support
 *     instruction fetch, and any instruction fetches of naturally aligned
 *     power-of-2 sizes up to min(ILEN,XLEN) (i.e., 32 bits for RVA20) are
 *     atomic."  Kernels have relied on it for jump labels and ftrace from the
 *     beginning; patch.c warns at boot where it is not announced.  So a store
 *     is never of more than an aligned unit or an aligned word, and such an
 *     instruction may be exchanged for any other one directly.
 *   - A fetch that is not aligned may be made of several, of which one can be
 *     old and another new.  Hence the trap, whose unit is aligned, and the
 *     tail, which is stored while no CPU gets beyond the unit.  And hence no
 *     CPU may come or go meanwhile: syncs pass by one that runs kernel text
 *     after it was marked offline, or before it is marked online.
 *   - There is no cache maintenance by address.
 *
 * With an interrupt a sync waits until every hart has left its trap handler;
 * firmware has a hart execute FENCE.I wherever it is.  So a trap may be handled
 * after the sync that was to be the last of it, and text_poke_handle_trap()
 * reads the text again.
 *
 * Where the trap cannot be used: in what runs between the exception vector and
 * do_trap_break(), and on the way back, where the handler would be entered
 * again and again.  That is assembly, and the accounting of nested vector
 * contexts, which is notrace and has no static key.  Otherwise all of the
 * kernel's text runs with its own vector: what switches to a guest is assembly,
 * and why the guest has exited is saved before anything else can trap; what
 * kexec and hibernation run are copies that are not kernel text.  The exceptions
 * are kvm_riscv_vcpu_unpriv_read(), which has another vector for the few
 * instructions that it makes for a guest, and suspend_restore_csrs(), which
 * cannot be traced or probed.  And after a stack has overflowed, handle_exception()
 * may take any exception on the CPU's overflow stack for another overflow: that
 * depends on the address of this stack.  If the panic meets a trap there, its
 * message is lost.
 */
#include <linux/cache.h>
#include <linux/cpu.h>
#include <linux/extable.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/text_poke.h>
#include <linux/unaligned.h>

#include <asm/asm-prototypes.h>
#include <asm/barrier.h>
#include <asm/cacheflush.h>
#include <asm/patch.h>
#include <asm/probes.h>
#include <asm/ptrace.h>
#include <asm/sbi.h>

#include "probes/decode-insn.h"

struct text_poke_function arch_text_poke_trap_path[] __ro_after_init = {
	{ handle_exception },
	{ do_trap_break },
	{ ret_from_exception },
#ifdef CONFIG_RISCV_ISA_V_PREEMPTIVE
	{ riscv_v_context_nesting_start },
	{ riscv_v_context_nesting_end },
#endif
	{ }
};

static u32 read_insn(const void *bytes, size_t len)
{
	return len == sizeof(u16) ? get_unaligned_le16(bytes) :
				    get_unaligned_le32(bytes);
}

static bool is_trap(const void *unit)
{
	return read_insn(unit, TEXT_POKE_UNIT) == TEXT_POKE_TRAP_INSN;
}

/*
 * A kprobe that is armed or disarmed, which is no longer than a unit.  Over a
 * breakpoint that is all of it, a longer instruction is emulated.
 */
static bool is_others_trap(const struct text_poke_site *site)
{
	return is_trap(site->new) ||
	       (is_trap(site->old) && site->len == TEXT_POKE_UNIT);
}

/*
 * Does @insn do the same in a slot?  Not if it may fault and be fixed up: the
 * table of fixups knows its place, but not the slot.
 */
static bool can_step(const void *addr, u32 insn)
{
#ifdef CONFIG_HAVE_TEXT_POKE_SLOTS
	struct arch_probe_insn unused;

	return riscv_probe_decode_insn(&insn, &unused) == INSN_GOOD &&
	       !search_exception_tables((unsigned long)addr);
#else
	return false;
#endif
}

static bool has_length(const void *insn, size_t len)
{
	return riscv_insn_len(read_insn(insn, len)) == len;
}

static int decode(struct text_poke_site *site, const void *emulate)
{
	if (!has_length(site->new, site->len) || !has_length(emulate, site->len))
		return -EINVAL;

	site->insn.insn = read_insn(emulate, site->len);
	site->insn.how = riscv_insn_emulation(site->insn.insn);
	if (site->insn.how != RISCV_EMULATE_NONE)
		return 0;

	site->ool = can_step(site->addr, site->insn.insn);
	return site->ool ? 0 : -EOPNOTSUPP;
}

/* All zeros are no instruction, but what encoders give for a branch that cannot reach. */
int arch_text_poke_prepare(struct text_poke_site *site, const void *emulate)
{
	if (site->len != TEXT_POKE_UNIT && site->len != sizeof(u32))
		return -EINVAL;
	if (!IS_ALIGNED((unsigned long)site->addr, TEXT_POKE_UNIT))
		return -EINVAL;
	if (!read_insn(site->new, site->len))
		return -ERANGE;

	site->foreign = is_others_trap(site);
	return site->foreign ? 0 : decode(site, emulate);
}

#ifdef CONFIG_KPROBES
static bool has_probe(const void *addr)
{
	guard(preempt)();
	return get_kprobe((void *)addr);
}
#else
static bool has_probe(const void *addr)
{
	return false;
}
#endif

/* A probe's breakpoint looks the same, but none is where BUG() is. */
bool arch_text_poke_maybe_bug(const struct text_poke_site *site)
{
	return is_trap(site->old) && !has_probe(site->addr);
}

bool arch_text_poke_replaceable(const struct text_poke_site *site)
{
	u32 insn = read_insn(site->old, site->len);

	return insn && has_length(site->old, site->len) &&
	       (riscv_insn_emulation(insn) != RISCV_EMULATE_NONE ||
		can_step(site->addr, insn));
}

void arch_text_poke_slot(const struct text_poke_site *site, void *slot)
{
	size_t i;

	memcpy(slot, &site->insn.insn, site->len);
	for (i = site->len; i < TEXT_POKE_SLOT; i += TEXT_POKE_UNIT)
		arch_text_poke_trap(site, slot + i);
}

/*
 * A CPU may go from a trap to a slot before the sync that follows the traps,
 * and a task may go on there on another CPU.
 */
void arch_text_poke_slots_written(void)
{
	flush_icache_all();
}

/* One aligned word; or the aligned unit of a kprobe. */
bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return IS_ALIGNED((unsigned long)site->addr, site->len);
}

/*
 * A user that changes an instruction with a tail that may be fetched apart lets
 * no CPU come or go, from before the trap is written: a CPU that is no longer, or
 * not yet, online is not told to refetch, and its cache may hold the tail from
 * before, but not the unit.
 */
void arch_text_poke_trap(const struct text_poke_site *site, void *unit)
{
	__le32 trap = cpu_to_le32(TEXT_POKE_TRAP_INSN);

	if (!arch_text_poke_atomic(site))
		lockdep_assert_cpus_held();
	memcpy(unit, &trap, TEXT_POKE_UNIT);
}

void *arch_text_poke_map(void *addr, size_t *len,
			 struct arch_text_poke_map *map)
{
	void *alias = riscv_text_map(addr, len, &map->flags);

	map->addr = addr;
	map->len = *len;
	return alias;
}

void arch_text_poke_unmap(struct arch_text_poke_map *map)
{
	riscv_text_unmap(map->addr, map->len, map->flags);
}

/* This CPU refetches, too: in early boot no other is going to tell it. */
void arch_text_poke_flush(void *addr, size_t len)
{
	/*
	 * Orders the stores before looking which CPUs are online, in
	 * arch_text_poke_sync().  Pairs with smp_mb() in
	 * text_poke_cpu_online(): a CPU that comes online and is missed there
	 * fetches what was stored.
	 */
	smp_mb();
	local_flush_icache_all();
}

/* This CPU forgets the alias, too: a sync follows each pass, and ends its use. */
void arch_text_poke_sync_cpu(void)
{
	riscv_text_forget();
	local_flush_icache_all();
}

static void fence_cpus(const struct cpumask *cpus)
{
	arch_text_poke_sync_cpu();
	riscv_text_forget_on(cpus);
	sbi_remote_fence_i(cpus);
}

/*
 * The CPU that asks for an interrupt stores to a device, and FENCE.I on the
 * other one is to see what was stored to memory before.
 */
void arch_text_poke_sync(void)
{
	RISCV_FENCE(w, o);
	if (riscv_use_sbi_for_rfence())
		text_poke_sync_by_fence(fence_cpus);
	else
		text_poke_sync_by_ipi();
}

noinstr void *arch_text_poke_trap_addr(const struct pt_regs *regs)
{
	return (void *)regs->epc;
}

/*
 * EBREAK, too: where it stands nothing was changed, and nothing is gone.  Its
 * second half is never changed without the first.
 */
static __always_inline bool is_ebreak(const void *addr)
{
	/* Pairs with smp_wmb() in text_poke_publish(). */
	u16 low = smp_load_acquire((const u16 *)addr);

	if (IS_ENABLED(CONFIG_RISCV_ISA_C) && low == __BUG_INSN_16)
		return true;
	return low == (__BUG_INSN_32 & 0xffff) &&
	       READ_ONCE(((const u16 *)addr)[1]) == __BUG_INSN_32 >> 16;
}

/*
 * A CPU that is told that the trap is gone executes the instruction again.  SRET
 * does not make a CPU fetch it again, and one that syncs pass by, because it
 * comes online or goes offline, would run into the same trap for ever.
 */
noinstr bool arch_text_poke_is_trap(const void *addr)
{
	bool trap = is_ebreak(addr);

	if (!trap)
		local_flush_icache_all();
	return trap;
}

noinstr void arch_text_poke_emulate(struct pt_regs *regs,
				    const struct text_poke_site *site)
{
	if (site->ool)
		regs->epc = (unsigned long)site->slot;
	else
		riscv_insn_emulate(regs, site->insn.how, site->insn.insn,
				   regs->epc);
}
