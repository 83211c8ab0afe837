/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two instructions at the entry of a function, changed in two batches
 *
 * Steps: none
 *
 *              off    on
 *   word 0     nop    mflr r0
 *   word 1     nop    bl ftrace_caller
 *
 * BL overwrites the link register, which MFLR has saved before.  So no task may
 * run the BL without having run the MFLR.  A task can be preempted between the
 * two, and go on later on another CPU; a CPU may execute what memory has held
 * since its last sync.
 *
 * In the order of arch/powerpc/kernel/trace/ftrace_mflr.c:
 *
 *   on:   word 0 = mflr; sync; wait until every task that is between the two
 *         has left; word 1 = bl; sync
 *   off:  word 1 = nop; sync; word 0 = nop; sync
 *
 * The wait is text_poke_wait_for_tasks().  None is needed on the way off: a task
 * between the two has run either MFLR or NOP, before a NOP.  A CPU that goes
 * offline is neither asked to synchronise nor waited for any more, but runs its
 * idle task until it is dead: cpus_read_lock() keeps that apart from on and off.
 *
 * Proved, for every interleaving of on, off and on again, with two tasks that
 * enter the function, on any of two CPUs:
 *
 *   - A task that runs the BL has run the MFLR in this pass through the
 *     function.
 *   - After "on" has ended word 1 is run as the BL, after "off" as the NOP.
 *   - Both end.
 *
 * Limits: a guard is one sync shorter than the code's.  The return from an
 * interrupt synchronises a powerpc CPU; that is not relied on.
 *
 * variant GUARDED: a trap goes over each word in between, emulates what is new
 * variant PROBED: a kprobe comes on word 0, emulates MFLR, leaves that behind
 * variant GUARDED PROBED: both
 * variant UNPLUGGED: one of the CPUs goes offline
 *
 * mutant NO_SYNC_MFLR: a CPU runs a NOP that is gone, then the BL
 * mutant NO_QUIESCE: a task was preempted after the NOP, and goes on at the BL
 * mutant QUIESCE_FIRST: a task runs the NOP after the wait, and then the BL
 * mutant GUARDED NO_QUIESCE: a task has run the NOP before there was a trap
 * mutant PROBED NO_QUIESCE: a task has run the NOP before there was a probe
 * mutant PROBED PROBE_OF_NOP: the probe emulates what it was put over
 * mutant NO_SYNC_BL: a call is not traced
 * mutant ONE_BATCH: a task is between the two words when both change
 * mutant GUARDED ONE_BATCH: the same
 * mutant OFF_IN_ORDER: MFLR goes first
 * mutant GUARDED OFF_IN_ORDER: the same
 * mutant OFF_NO_SYNC: a CPU runs the NOP in word 0, then a BL that is gone
 * mutant UNPLUGGED NO_CPUS_LOCK: that CPU runs the NOP, and then the BL
 * redundant OFF_NO_LAST_SYNC: a MFLR that is gone does no harm
 */

#define NR_CPUS		2
#define NR_TASKS	2

#define OLD		1
#define NEW		2
#define TRAP		4

/* Both words: what memory holds, and all that each CPU may still execute. */
byte word0 = OLD;
byte word1 = OLD;
byte may0[NR_CPUS] = OLD;
byte may1[NR_CPUS] = OLD;

/* What the trap in each emulates. */
byte emulates0;
byte emulates1;

/* Tasks between the two words, and those of them that the poker waits for. */
bool between[NR_TASKS];
bool waited_for[NR_TASKS];

/* CPUs that the poker has asked to synchronise. */
bool ipi[NR_CPUS];

/* CPU 1 is no longer asked, then it runs nothing more; the poker holds that off. */
bool leaving;
bool dead;
bool plugging;
bool changing;

/* "On" has ended, or "off" has. */
bool is_on;
bool is_off = true;

#define STORE(word, may, bytes)						\
	d_step {							\
		word = bytes;						\
		may[0] = may[0] | bytes;				\
		may[1] = may[1] | bytes					\
	}

inline sync()
{
	d_step { ipi[0] = true; ipi[1] = !leaving }
	!ipi[0] && !ipi[1]
}

/* What synchronize_rcu_tasks() gives. */
inline quiesce()
{
	d_step {
		waited_for[0] = between[0];
		waited_for[1] = between[1] && !leaving
	}
	!waited_for[0] && !waited_for[1]
}

inline lock_cpus()
{
#if defined(UNPLUGGED) && !defined(NO_CPUS_LOCK)
	atomic { !plugging -> changing = true }
#else
	skip
#endif
}

/* One batch of word 0.  What follows it is the sync in its end. */
inline change0(bytes)
{
#ifdef GUARDED
	emulates0 = bytes;
	STORE(word0, may0, TRAP);
	sync();
#endif
	STORE(word0, may0, bytes)
}

inline change1(bytes)
{
#ifdef GUARDED
	emulates1 = bytes;
	STORE(word1, may1, TRAP);
	sync();
#endif
	STORE(word1, may1, bytes)
}

/* Put the MFLR there; a probe that is there is left alone. */
inline put_mflr()
{
#ifdef PROBED
#ifdef PROBE_OF_NOP
	emulates0 = OLD;
#else
	emulates0 = NEW;
#endif
	STORE(word0, may0, TRAP)
#else
	change0(NEW)
#endif
}

/* The probe goes, and leaves the MFLR. */
inline unprobe()
{
#ifdef PROBED
	STORE(word0, may0, NEW);
	sync()
#else
	skip
#endif
}

inline turn_on()
{
	lock_cpus();
	is_off = false;
#ifdef QUIESCE_FIRST
	quiesce();
#endif
	put_mflr();
#ifdef ONE_BATCH
	change1(NEW);
	sync();
#else
#ifndef NO_SYNC_MFLR
	sync();
#endif
#if !defined(NO_QUIESCE) && !defined(QUIESCE_FIRST)
	quiesce();
#endif
	change1(NEW);
#ifndef NO_SYNC_BL
	sync();
#endif
#endif
	is_on = true;
	changing = false
}

inline turn_off()
{
	unprobe();
	lock_cpus();
	is_on = false;
#ifdef OFF_IN_ORDER
	change0(OLD);
	sync();
	change1(OLD);
#else
	change1(OLD);
#ifndef OFF_NO_SYNC
	sync();
#endif
	change0(OLD);
#endif
#ifndef OFF_NO_LAST_SYNC
	sync();
#endif
	is_off = true;
	changing = false
}

active proctype poker()
{
	turn_on();
	turn_off();
	turn_on()
}

/* A CPU takes an interrupt when it likes. */
active [NR_CPUS] proctype cpu()
{
	byte self = _pid - 1;

end:	do
	:: d_step {
		ipi[self] ->
		may0[self] = word0;
		may1[self] = word1;
		ipi[self] = false
	   }
	od
}

/* Run word 0 on this CPU or that, which may be the one or the other. */
inline run_word0(on)
{
	if
	:: may0[on] & OLD -> saved = false
	:: may0[on] & NEW -> saved = true
	:: may0[on] & TRAP -> saved = (emulates0 == NEW)
	fi
}

inline run_word1(on)
{
	if
	:: d_step { may1[on] & OLD -> assert(!is_on) }
	:: d_step { may1[on] & NEW -> assert(saved); assert(!is_off) }
	:: d_step { (may1[on] & TRAP) && emulates1 == OLD -> assert(!is_on) }
	:: d_step { (may1[on] & TRAP) && emulates1 == NEW -> assert(saved); assert(!is_off) }
	fi
}

/* Task 1 is the idle task of a CPU 1 that is leaving, and no other runs there. */
#define CAN_BE_ON_CPU0	(!leaving || self == 0)
#define CAN_BE_ON_CPU1	(!leaving || self == 1)

/* A task enters the function as often as it likes, now on this CPU, now on that. */
active [NR_TASKS] proctype task()
{
	byte self = _pid - 1 - NR_CPUS;
	bool saved;

	do
	:: atomic {
		!dead || self == 0;
		if
		:: CAN_BE_ON_CPU0 -> run_word0(0)
		:: CAN_BE_ON_CPU1 -> run_word0(1)
		fi;
		between[self] = true
	   }
	   atomic {
		if
		:: CAN_BE_ON_CPU0 -> run_word1(0)
		:: CAN_BE_ON_CPU1 -> run_word1(1)
		fi;
		between[self] = false;
		waited_for[self] = false;
		saved = false
	   }
	:: break
	od
}

#ifdef UNPLUGGED
/* It dies in another function. */
active proctype unplug()
{
	atomic { !changing -> plugging = true }
	atomic { !ipi[1] -> leaving = true }
	atomic { !between[1] -> dead = true }
	plugging = false
}
#endif
