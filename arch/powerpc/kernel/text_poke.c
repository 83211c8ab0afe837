// SPDX-License-Identifier: GPL-2.0
/*
 * Text poke on powerpc: 64-bit Book3S, little endian
 *
 * An instruction is an aligned word, which is the unit, and has no tail.  The
 * trap is one that no other user has:
 *
 *    0      6     11    16    21         31
 *   +------+-----+-----+-----+----------+---+
 *   |  31  |  TO |  RA |  RB |    4     | / |   tw 31,r1,r1
 *   |      |  31 |   1 |   1 |          |   |   7f e1 08 08
 *   +------+-----+-----+-----+----------+---+
 *
 * A jump label, and the call site of a traced function, in the three states
 * that another CPU can fetch:
 *
 *   | off | guarded | on      |   | off | guarded | on              |
 *   +-----+---------+---------+   +-----+---------+-----------------+
 *   | nop | tw      | b l_yes |   | nop | tw      | bl ftrace_caller|
 *
 * A kprobe has "trap", tw 31,r0,r0, in place of any instruction, which kprobes
 * handle.  It is the trap then, and guarding changes nothing but the order of
 * things:
 *
 *   | armed, step b | recorded, d | f           |
 *   +---------------+-------------+-------------+
 *   | trap          | trap        | trap        |   arming
 *   | trap          | trap        | instruction |   disarming
 *
 * What each store rests on.  The Power ISA, Book II, "Concurrent Modification and
 * Execution of Instructions" (section 1.8.1 of Version 2.03, 1.9.1 of 2.07 and
 * 3.0; told here in other words), knows one class of instructions that may be stored
 * over one another while a CPU executes the word, the "patch class": the I-form
 * branches, which are b, ba, bl and bla, and the preferred nop, ori 0,0,0.  The
 * word is aligned, memory coherence is required, as for all of the kernel, and each
 * value that is stored is of the class, the first as well.  A CPU executes one of
 * the values then, until it synchronises.
 *
 *   store                         rests on
 *   ----------------------------  -------------------------------------------
 *   nop, b, bl over each other,   the patch class; so these may be exchanged
 *   direct                        directly
 *   tw over nop, b, bl, step b;   no promise of that section: what kprobes have
 *   these over tw, step f         done to any instruction since 2004.  Each is
 *                                 complete, which is in storage, out of every
 *                                 instruction cache and refetched by every CPU,
 *                                 before the next is stored
 *   trap over any instruction,    the same
 *   and back: kprobes
 *   a literal                     data, no promise is needed
 *
 * Anything else is put there while its copy runs in a slot, if it does the same
 * in another place:
 *
 *   | site: instruction | tw | new |     | slot: new | tw |
 *   +-------------------+----+-----+     +-----------+----+
 *
 * That rests on what kprobes have done as well, for either store.
 *
 * A prefixed instruction is two words.  No user pokes its suffix, and its prefix
 * only goes for the trap of a kprobe and comes back: so it is never half of one
 * and half of another.
 *
 * After a store: dcbst; sync; icbi; sync; isync on the CPU that stored, and a
 * context synchronising instruction on every other, for which it is interrupted.
 * Every processor that this runs on keeps its instruction caches coherent, and
 * one icbi of any address does for all.  rfid synchronises the context as well:
 * a CPU that goes back to where the trap was fetches anew.
 *
 * Where the trap cannot be used:
 *
 *   - The vectors, the entry code and the exits: their registers are where the
 *     next interrupt would put its own, or MSR[RI] is off.
 *   - noinstr text, in which the handler is, and what leads there.
 *   - What also runs with the MMU off or on the way to another kernel: the trap's
 *     entry code turns the MMU on, and needs this CPU's variables.  See
 *     no_trap_names[].
 *
 * These are patched directly, within the patch class, which leaves the moment
 * of their change as vague as a sync is long.
 */
#include <linux/cache.h>
#include <linux/extable.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/barrier.h>
#include <asm/hw_irq.h>
#include <asm/inst.h>
#include <asm/interrupt.h>
#include <asm/paca.h>
#include <asm/ppc-opcode.h>
#include <asm/probes.h>
#include <asm/ptrace.h>
#include <asm/reg.h>
#include <asm/sections.h>
#include <asm/sstep.h>
#include <asm/synch.h>

/* Between entry code, which is before __end_soft_masked, and noinstr text. */
struct text_poke_function arch_text_poke_trap_path[] __ro_after_init = {
	{ text_poke_program_check },
	{ }
};

static u32 read_insn(const void *bytes)
{
	u32 insn;

	memcpy(&insn, bytes, sizeof(insn));
	return insn;
}

static bool is_prefix(u32 insn)
{
	return insn >> 26 == OP_PREFIX;
}

/* A prefixed instruction never crosses a 64-byte boundary. */
static bool is_suffix(const void *addr)
{
	u32 prefix;

	if (IS_ALIGNED((unsigned long)addr, 64))
		return false;
	return !copy_from_kernel_nofault(&prefix, addr - sizeof(prefix),
					 sizeof(prefix)) &&
	       is_prefix(prefix);
}

/* The trap that kprobes write and handle. */
static bool is_probe(u32 insn)
{
	return IS_ENABLED(CONFIG_KPROBES) && insn == BREAKPOINT_INSTRUCTION;
}

/* What reserves an address, and what stores if it is reserved: traps undo that. */
static bool is_reservation(u32 insn)
{
	static const struct pt_regs regs;
	struct instruction_op op = {};

	analyse_instr(&op, &regs, ppc_inst(insn));
	return GETTYPE(op.type) == LARX || GETTYPE(op.type) == STCX;
}

/* Prefixed and illegal ones, traps, system calls, branches, and addpcis. */
static bool is_special(u32 insn)
{
	unsigned int op = insn >> 26;

	return op <= OP_TRAP || (op >= 16 && op <= OP_19);
}

/* Does it read or write what a trap overwrites? */
static bool is_of_srr(u32 insn)
{
	unsigned int xo = (insn >> 1) & 0x3ff;
	unsigned int spr = ((insn >> 16) & 0x1f) | ((insn >> 6) & 0x3e0);

	return insn >> 26 == OP_31 &&
	       (xo == OP_31_XOP_MFSPR || xo == OP_31_XOP_MTSPR) &&
	       (spr == SPRN_SRR0 || spr == SPRN_SRR1);
}

/*
 * Does @insn do the same in a slot?  Not if it may fault and be fixed up: the
 * table of fixups knows its place, but not the slot.
 */
static bool can_step(const void *addr, u32 insn)
{
	return IS_ENABLED(CONFIG_HAVE_TEXT_POKE_SLOTS) && !is_special(insn) &&
	       !is_reservation(insn) && !is_of_srr(insn) &&
	       can_single_step(insn) &&
	       !search_exception_tables((unsigned long)addr);
}

/* All zeros is no instruction, but what encoders give for a branch that cannot reach. */
int arch_text_poke_prepare(struct text_poke_site *site, const void *emulate)
{
	u32 old = read_insn(site->old), new = read_insn(site->new);

	if (site->len != sizeof(u32) ||
	    !IS_ALIGNED((unsigned long)site->addr, sizeof(u32)) ||
	    is_suffix(site->addr))
		return -EINVAL;
	if (!new)
		return -ERANGE;

	site->foreign = is_probe(old) || is_probe(new);
	if (site->foreign)
		return 0;
	if (is_prefix(new))
		return -EINVAL;

	site->insn.insn = read_insn(emulate);
	site->insn.how = ppc_insn_emulation(site->insn.insn);
	if (site->insn.how != PPC_EMULATE_NONE)
		return 0;

	site->ool = can_step(site->addr, site->insn.insn);
	return site->ool ? 0 : -EOPNOTSUPP;
}

bool arch_text_poke_replaceable(const struct text_poke_site *site)
{
	u32 old = read_insn(site->old);

	return ppc_insn_emulation(old) != PPC_EMULATE_NONE ||
	       can_step(site->addr, old);
}

void arch_text_poke_slot(const struct text_poke_site *site, void *slot)
{
	memcpy(slot, &site->insn.insn, sizeof(u32));
	arch_text_poke_trap(site, slot + sizeof(u32));
}

/* BUG() and WARN() are traps of any form; but none looks like a probe's. */
bool arch_text_poke_maybe_bug(const struct text_poke_site *site)
{
	u32 old = read_insn(site->old);

	return is_trap(old) && old != BREAKPOINT_INSTRUCTION;
}

void arch_text_poke_trap(const struct text_poke_site *site, void *unit)
{
	u32 trap = site->foreign ? BREAKPOINT_INSTRUCTION : TEXT_POKE_TRAP_INSN;

	memcpy(unit, &trap, sizeof(trap));
}

static bool is_patch_class(u32 insn)
{
	return insn == PPC_RAW_NOP() ||
	       ppc_insn_emulation(insn) == PPC_EMULATE_B;
}

/* A kprobe's trap is the guard, and there is no more than one store of it. */
bool arch_text_poke_atomic(const struct text_poke_site *site)
{
	return site->foreign || (is_patch_class(read_insn(site->old)) &&
			      is_patch_class(read_insn(site->new)));
}

/*
 * Functions that run, or may run, where the trap cannot be taken.  What only
 * some configurations have, or the compiler has made part of its caller, is not
 * found, and that is no error.
 */
static const char *const no_trap_names[] __initconst = {
	/* A secondary CPU, before its MMU is set up: head_64.S calls them */
	"__restore_cpu_power7",
	"__restore_cpu_power8",
	"__restore_cpu_power9",
	"__restore_cpu_power10",
	"__restore_cpu_cpufeatures",
	"init_pmu_power8",
	"init_pmu_power9",
	"init_pmu_power10",
	"early_setup_secondary",
	"radix__early_init_mmu_secondary",
	"radix__switch_mmu_context",
	"hash__early_init_mmu_secondary",
	"setup_kup",
	"setup_kuap",
	"setup_kuep",
	"radix__tlbiel_all",
	"hash__tlbiel_all",
	"cpu_ready_for_interrupts",
	/* kexec, with the MMU off and no per-CPU variables */
	"flush_icache_range",
	"kexec_copy_flush",
	"copy_segments",
	"enter_vmx_ops",
	"mmu_cleanup_all",
	"radix__mmu_cleanup_all",
	"radix__flush_tlb_all",
	"plpar_hcall_norets",
	"pseries_big_endian_exceptions",
	"udelay",
	"__delay",
	"powernv_set_nmmu_ptcr",
	"opal_nmmu_set_ptcr",
	"native_hpte_clear",
	/* A machine check, in real mode and perhaps without a usable SLB */
	"machine_check_early",
	"machine_check_early_boot",
	"pnv_machine_check_early",
	"trace_osnoise_callback",
	"search_kernel_soft_mask_table",
	"search_kernel_restart_table",
	"static_key_count",
	"save_mce_event",
	"get_mce_event",
	"machine_check_queue_event",
	"mce_irq_work_queue",
	"search_kernel_exception_table",
	"search_extable", "cmp_ex_search", "slb_save_contents",
	"__machine_check_early_realmode_p7",
	"__machine_check_early_realmode_p8",
	"__machine_check_early_realmode_p9",
	"__machine_check_early_realmode_p10",
	"mce_handle_error",
	"mce_handle_ierror",
	"mce_handle_derror",
	"mce_find_instr_ea_and_phys",
	"mce_handle_ue_error",
	"mce_common_process_ue",
	"analyse_instr",
	"__find_linux_pte",
	"arch_irq_work_raise",
	"addr_to_pfn",
	"flush_and_reload_slb",
	"flush_erat",
	"mce_flush",
	"pseries_machine_check_realmode",
	"fwnmi_get_errinfo",
	"fwnmi_get_errlog",
	"fwnmi_release_errinfo",
	"rtas_call_unlocked",
	"do_enter_rtas",
	"mce_handle_err_realmode",
	"mce_handle_err_virtmode",
	/* A hypervisor maintenance interrupt, in real mode */
	"hmi_exception_realmode",
	"hmi_handle_debugtrig",
	"opal_hmi_exception_early",
	"opal_hmi_exception_early2",
	"opal_handle_hmi",
	"opal_handle_hmi2",
	"wait_for_subcore_guest_exit",
	"wait_for_tb_resync",
	"opal_call",
	/* powernv's CPUs on their way out of a sleep */
	"power7_idle_insn",
	"power7_offline",
	"power7_idle_type",
	"power9_idle_stop",
	"power10_idle_stop",
	"arch300_idle_type",
	"arch300_offline_stop",
	"opal_resync_timebase",
	"opal_config_cpu_idle_state",
#ifdef CONFIG_KVM_BOOK3S_HV_POSSIBLE
	/*
	 * Around a guest of KVM HV: on its way in and out, before SRR0, SRR1 and
	 * what the entry code has saved of it are read, or in real mode
	 */
	"__rcu_read_lock", "__rcu_read_unlock",
	"kvmhv_vcpu_entry_p9", "accumulate_time", "check_need_tlb_flush",
	"clear_slb_entry", "flush_guest_tlb", "load_spr_state",
	"kvmppc_msr_hard_disable_set_facilities", "load_vcpu_state",
	"radix_clear_slb", "restore_p9_host_os_sprs", "save_clear_guest_mmu",
	"save_clear_host_mmu", "save_p9_host_os_sprs",
	"slb_clear_invalidate_partition", "store_spr_state",
	"store_vcpu_state", "switch_mmu_to_guest_hpt",
	"switch_mmu_to_guest_radix", "switch_mmu_to_host", "freeze_pmu",
	"switch_pmu_to_guest", "switch_pmu_to_host",
	"kvmhv_p9_tm_emulation_early", "kvmppc_p9_realmode_hmi_handler",
	"kvmppc_realmode_hmi_handler", "kvmppc_realmode_machine_check",
	"kvmppc_realmode_mc_power7", "kvmppc_cur_subcore_size",
	"kvmppc_subcore_enter_guest", "kvmppc_subcore_exit_guest",
	"kvmppc_tb_resync_done", "kvmppc_tb_resync_required", "reload_slb",
	"do_tlbies", "fixup_tlbie_lpid", "global_invalidates", "is_mmio_hpte",
	"kvmppc_add_revmap_chain", "kvmppc_clear_ref_hpte",
	"kvmppc_do_h_enter", "kvmppc_do_h_page_init_copy",
	"kvmppc_do_h_page_init_zero", "kvmppc_do_h_remove", "kvmppc_get_hpa",
	"kvmppc_h_bulk_remove", "kvmppc_h_clear_mod", "kvmppc_h_clear_ref",
	"kvmppc_h_enter", "kvmppc_h_protect", "kvmppc_h_read",
	"kvmppc_h_remove", "kvmppc_hpte_hv_fault",
	"kvmppc_hv_find_lock_hpte", "kvmppc_invalidate_hpte",
	"kvmppc_rm_h_page_init", "kvmppc_set_dirty_from_hpte",
	"kvmppc_update_dirty_map", "mmio_cache_search", "real_vmalloc_addr",
	"remove_revmap_chain", "revmap_for_hpte", "check_too_hard",
	"find_available_hostcore", "grab_next_hostcore", "icp_eoi",
	"icp_rm_check_resend", "icp_rm_clr_vcpu_irq", "icp_rm_deliver_irq",
	"icp_rm_down_cppr", "icp_rm_set_vcpu_irq", "icp_rm_try_to_deliver",
	"icp_rm_try_update", "icp_send_hcore_msg", "ics_rm_check_resend",
	"ics_rm_eoi", "kvmppc_deliver_irq_passthru",
	"kvmppc_rm_handle_irq_desc", "this_cpu_inc_rm", "xics_opal_set_server",
	"xics_rm_h_cppr", "xics_rm_h_eoi", "xics_rm_h_ipi", "xics_rm_h_xirr",
	"xics_rm_h_xirr_x", "get_irqmap", "inject_interrupt",
	"kvmhv_commence_exit", "kvmhv_interrupt_vcore", "kvmhv_rm_send_ipi",
	"kvmppc_check_need_tlb_flush", "kvmppc_check_passthru",
	"kvmppc_guest_entry_inject_int", "kvmppc_inject_interrupt_hv",
	"kvmppc_read_intr", "kvmppc_read_one_intr", "kvmppc_rm_h_confer",
	"kvmppc_rm_h_random", "kvmppc_set_msr_hv", "timer_rearm_host_dec",
	"kvmhv_emulate_tm_rollback", "pnv_power9_force_smt4_catch",
	"pnv_power9_force_smt4_release", "opal_int_eoi",
	"opal_int_get_xirr", "opal_int_set_mfrr", "opal_pci_msi_eoi",
	"opal_set_xive", "pnv_opal_pci_msi_eoi", "queued_spin_lock_slowpath",
	"smp_muxed_ipi_set_message", "vmalloc_to_page", "vmalloc_to_pfn",
	"vmalloc_to_phys",
#endif
};

/* With room for what the compiler splits off. */
static struct text_poke_function no_trap[2 * ARRAY_SIZE(no_trap_names)] __ro_after_init;
static unsigned int nr_no_trap __ro_after_init;

static void __init add_no_trap(unsigned long start)
{
	struct text_poke_function *function = &no_trap[nr_no_trap];

	if (WARN_ON(nr_no_trap == ARRAY_SIZE(no_trap)) ||
	    !kallsyms_lookup_size_offset(start, &function->size, NULL))
		return;
	function->start = (void *)start;
	nr_no_trap++;
}

/* Functions of several files may have the name. */
static int __init add_match(void *unused, unsigned long start)
{
	add_no_trap(start);
	return 0;
}

/* What the compiler splits off has the name of its function, a dot and more. */
static int __init add_split_off(void *unused, const char *name,
				unsigned long start)
{
	size_t len = strcspn(name, ".");
	unsigned int i;

	for (i = 0; name[len] && i < ARRAY_SIZE(no_trap_names); i++)
		if (!strncmp(no_trap_names[i], name, len) &&
		    !no_trap_names[i][len])
			add_no_trap(start);
	return 0;
}

/* ftrace looks for them before initcalls do. */
void __init text_poke_find_untrappable(void)
{
	unsigned int i;

	if (nr_no_trap)
		return;
	for (i = 0; i < ARRAY_SIZE(no_trap_names); i++)
		kallsyms_on_each_match_symbol(add_match, no_trap_names[i], NULL);
	kallsyms_on_each_symbol(add_split_off, NULL);
}

static int __init find_no_trap(void)
{
	text_poke_find_untrappable();
	return 0;
}
early_initcall(find_no_trap);

static bool is_no_trap_function(const void *addr)
{
	unsigned int i;

	for (i = 0; i < nr_no_trap; i++)
		if (addr >= no_trap[i].start &&
		    addr < no_trap[i].start + no_trap[i].size)
			return true;
	return false;
}

static bool within(const void *addr, const char *start, const char *end)
{
	return addr >= (void *)start && addr < (void *)end;
}

bool arch_text_poke_trappable(const void *addr)
{
	return !within(addr, _stext, __end_soft_masked) &&
	       !within(addr, __noinstr_text_start, __noinstr_text_end) &&
	       !is_no_trap_function(addr);
}

void *arch_text_poke_map(void *addr, size_t *len,
			 struct arch_text_poke_map *map)
{
	return text_alias_map(addr, len, &map->alias);
}

void arch_text_poke_unmap(struct arch_text_poke_map *map)
{
	text_alias_unmap(&map->alias);
}

/* As flush_icache_range() has it where instruction caches are coherent. */
void arch_text_poke_flush(void *addr, size_t len)
{
	asm volatile("dcbst 0,%0; sync; icbi 0,%0; sync; isync"
		     : : "r" (addr) : "memory");
}

/*
 * The interrupt of a sync ends with rfid, which would do as well, but only after
 * the CPU that waits for it has been told.
 */
void arch_text_poke_sync_cpu(void)
{
	isync();
}

/* In real mode the upper bits of an address do not count. */
noinstr void *arch_text_poke_trap_addr(const struct pt_regs *regs)
{
	unsigned long addr = regs->nip;

	if (!(regs->msr & MSR_IR))
		addr |= PAGE_OFFSET;
	return (void *)addr;
}

noinstr bool arch_text_poke_is_trap(const void *addr)
{
	/* Pairs with smp_wmb() in text_poke_publish(). */
	return smp_load_acquire((const u32 *)addr) == TEXT_POKE_TRAP_INSN;
}

noinstr void arch_text_poke_emulate(struct pt_regs *regs,
				    const struct text_poke_site *site)
{
	if (site->ool)
		regs_set_return_ip(regs, (unsigned long)site->slot);
	else
		ppc_insn_emulate(regs, site->insn.how, site->insn.insn);
}

/*
 * SRR1 says that there was a trap, but not which.  Where there is another one
 * now than the core's, it is that of BUG(), of a kprobe or of a debugger; if
 * there is none any more, the core has the instruction executed again.
 */
static __always_inline bool is_others_trap(const struct pt_regs *regs)
{
	u32 insn = READ_ONCE(*(const u32 *)arch_text_poke_trap_addr(regs));

	return is_trap(insn) && insn != TEXT_POKE_TRAP_INSN;
}

/**
 * text_poke_program_check - take a trap in the kernel before all others
 * @regs:	the interrupted context
 *
 * With MSR[RI] on, what is loaded here may be looked for in the SLB; but should
 * that, or the page table, take an interrupt, it is not to find interrupts enabled
 * and do so itself.  Nothing becomes pending meanwhile, for MSR[EE] stays off.
 *
 * Marked as interrupt handlers are, and not noinstr: .noinstr.text is too far from
 * the entry code for a branch.
 *
 * Context: The trap's entry code, MSR[EE] and MSR[RI] off.
 * Return: true if @regs say how to go on; false if the trap is not the core's.
 */
interrupt_handler bool text_poke_program_check(struct pt_regs *regs)
{
	u8 soft_mask = local_paca->irq_soft_mask;
	u8 happened = local_paca->irq_happened;
	bool handled;

	__hard_RI_enable();
	local_paca->irq_soft_mask = IRQS_ALL_DISABLED;
	local_paca->irq_happened = happened | PACA_IRQ_HARD_DIS;
	barrier();

	handled = !is_others_trap(regs) && text_poke_handle_trap(regs);

	barrier();
	local_paca->irq_happened = happened;
	local_paca->irq_soft_mask = soft_mask;
	return handled;
}
NOKPROBE_SYMBOL(text_poke_program_check);
