// SPDX-License-Identifier: GPL-2.0
/*
 * Two instructions at the entry of a traceable function, in two batches
 *
 *              compiled       off, mflr stays   off, mflr goes   on
 *   ip - 4     mflr r0        mflr r0           nop              mflr r0
 *   ip         bl _mcount     nop               nop              bl ftrace_caller
 *
 * bl overwrites the link register, which mflr has saved in r0 before, and
 * ftrace_caller() returns through r0: so no task may execute the bl without
 * having executed the mflr.  A function that needs LR in r0 for itself has an
 * mflr of its own after the bl; an older form of the entry, with a store
 * between the two, relies on this one, and keeps it.
 *
 * If the mflr goes, an untraced call executes two nops, and no move from a
 * special register.  A CPU, or a task that was preempted, may be between the
 * two, so they change in two batches, each of which has every CPU synchronise in
 * the end:
 *
 *   on:   mflr into all sites; wait until every task that was between the two has
 *         left; bl into all of them
 *   off:  nop over every bl; nop over every mflr
 *
 * On the way off no task needs to be waited for: one between the two has
 * executed an mflr or a nop, before a nop.  The batch of the bl has ended before
 * the mflr goes, so that no CPU executes a bl that is gone after a nop that is
 * new.  tools/verification/text_poke/spin/powerpc.pml is a model of it.  What a
 * tracer calls changes in the bl alone.
 *
 * mflr is not of the patch class, so it is always exchanged behind a guard: nop,
 * tw and mflr are each complete on every CPU before the next is stored.  That
 * this is enough is what kprobes have relied on since 2004; the Power ISA does
 * not promise it.  So mflr stays, unless "ftrace_mflr=remove" is on the command
 * line, and the CPU has CPU_FTR_ARCH_300: POWER9 and later.
 *
 * A kprobe may be on ip - 4.  It emulates mflr, whatever is there: that does no
 * harm before a nop.  So enabling leaves it alone, and when it is disarmed there
 * is an mflr, which the next change of call sites removes, if no bl follows.
 */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/memory.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include <asm/cputable.h>
#include <asm/cpu_has_feature.h>
#include <asm/ftrace-mflr.h>
#include <asm/ppc-opcode.h>
#include <asm/text-change.h>

#define MFLR	PPC_RAW_MFLR(_R0)
#define NOP	PPC_RAW_NOP()

static bool remove_wanted __initdata;
static bool mflr_goes __ro_after_init;

static int __init parse_ftrace_mflr(char *arg)
{
	if (!arg)
		return -EINVAL;
	remove_wanted = !strcmp(arg, "remove");
	return remove_wanted || !strcmp(arg, "keep") ? 0 : -EINVAL;
}
early_param("ftrace_mflr", parse_ftrace_mflr);

/* Before the first call site is initialised. */
void __init ftrace_mflr_find(void)
{
	text_poke_find_untrappable();
	mflr_goes = remove_wanted && cpu_has_feature(CPU_FTR_ARCH_300);
	if (remove_wanted && !mflr_goes)
		pr_warn("ftrace: mflr stays: this CPU is older than POWER9\n");
}

static u32 *mflr_of(unsigned long ip)
{
	return (u32 *)ip - 1;
}

/**
 * ftrace_mflr_goes - is there no mflr before a call site that is off?
 * @ip:		the call site
 *
 * Where no trap can be taken it stays.
 *
 * Return: true if there is a nop before it then, false if the mflr stays.
 */
bool ftrace_mflr_goes(unsigned long ip)
{
	return mflr_goes && arch_text_poke_trappable(mflr_of(ip));
}

/**
 * ftrace_precedes_call - is this the word in which an mflr comes and goes?
 * @addr:	address of an instruction
 *
 * Return: true if it is, and false if its mflr stays, or it is no such word.
 */
bool ftrace_precedes_call(const void *addr)
{
	unsigned long ip = (unsigned long)addr + MCOUNT_INSN_SIZE;

	/* Where compilers store LR between mflr and call, this is the store. */
	return ftrace_mflr_goes(ip) && ftrace_location(ip) == ip &&
	       verify_text(addr, PPC_RAW_STD(_R0, _R1, 16));
}

/* At boot, or while a module is being put together: no CPU runs it. */
int ftrace_mflr_init(unsigned long ip)
{
	if (!ftrace_mflr_goes(ip) || verify_text(mflr_of(ip), MFLR))
		return 0;
	return change_text_early(mflr_of(ip), MFLR, NOP);
}

/* Otherwise an mflr is there, or a probe that emulates one. */
int ftrace_mflr_queue(unsigned long ip)
{
	u32 *addr = mflr_of(ip);

	if (!mflr_goes || change_text_is_futile(addr) || verify_text(addr, NOP))
		return 0;
	return change_text_add(addr, NOP, MFLR);
}

/*
 * A CPU that goes offline executes more, after RCU has let go of it and no sync
 * reaches it, and would not be waited for between the two batches.  So no CPU
 * comes or goes from before the first until after the last.
 */
void ftrace_mflr_lock_cpus(void)
{
	if (mflr_goes)
		cpus_read_lock();
}

void ftrace_mflr_unlock_cpus(void)
{
	if (mflr_goes)
		cpus_read_unlock();
}

/*
 * Others may change text meanwhile; ftrace_lock keeps the call sites as they are.
 * Before the scheduler runs there is one task.
 */
static void wait_for_tasks(void)
{
	if (system_state == SYSTEM_BOOTING)
		return;
	mutex_unlock(&text_mutex);
	text_poke_wait_for_tasks();
	mutex_lock(&text_mutex);
}

/* Does @rec get a bl where there is none? */
static bool will_call(struct dyn_ftrace *rec, int enable)
{
	return !(rec->flags & FTRACE_FL_DISABLED) &&
	       ftrace_test_record(rec, enable) == FTRACE_UPDATE_MAKE_CALL;
}

/**
 * ftrace_mflr_put - have an mflr executed at every site that is about to call
 * @enable:	what ftrace_replace_code() has got
 *
 * A word that already holds mflr may not have done so for long: a probe that was
 * there is gone.  So tasks are waited for if there is any such site.
 *
 * Context: Process context, may sleep; text_mutex held, which is let go of.
 * Return: 0 or an error, with nothing changed.
 */
int ftrace_mflr_put(int enable)
{
	struct ftrace_rec_iter *iter;
	bool wait = false;
	int ret;

	if (!mflr_goes)
		return 0;
	for_ftrace_rec_iter(iter) {
		struct dyn_ftrace *rec = ftrace_rec_iter_record(iter);

		if (!will_call(rec, enable))
			continue;
		wait = true;
		ret = ftrace_mflr_queue(rec->ip);
		if (ret) {
			change_text_cancel();
			return ret;
		}
		cond_resched();
	}
	ret = change_text_finish();
	if (!ret && wait)
		wait_for_tasks();
	return ret;
}

static int queue_removal(struct dyn_ftrace *rec)
{
	u32 *addr = mflr_of(rec->ip);

	if (rec->flags & FTRACE_FL_ENABLED || change_text_is_futile(addr) ||
	    !ftrace_mflr_goes(rec->ip) || verify_text(addr, MFLR))
		return 0;
	return change_text_add(addr, MFLR, NOP);
}

/**
 * ftrace_mflr_remove - put a nop over every mflr that is not followed by a bl
 *
 * Those that were left when this failed, or by a probe, go as well.  If it fails
 * they stay, and do no harm.
 *
 * Context: Process context, may sleep; text_mutex held, all changes written.
 */
void ftrace_mflr_remove(void)
{
	struct ftrace_rec_iter *iter;
	int ret = 0;

	if (!mflr_goes)
		return;
	for_ftrace_rec_iter(iter) {
		ret = queue_removal(ftrace_rec_iter_record(iter));
		if (ret)
			break;
		cond_resched();
	}
	if (ret)
		change_text_cancel();
	else
		ret = change_text_finish();
	if (ret)
		change_text_failed("mflr of call sites", NULL, ret);
}
