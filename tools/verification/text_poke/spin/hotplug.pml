/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guarded batch, and a CPU that runs the site while no sync asks it
 *
 * Steps: b c e f g
 * Left out: a d h
 *
 * A CPU that goes offline runs kernel text after it was marked so, and one that
 * comes online before.  Syncs pass both by, and what they have fetched, or kept
 * in a cache over a time offline, stays.  On RISC-V that is all there is to make
 * them refetch, so that they may hold a tail from before c for ever:
 *
 *             memory        what a CPU that goes offline may execute
 *             unit  tail    unit                  tail
 *   old       OLD   OLD     OLD                   OLD
 *   b c       TRAP  OLD     OLD or TRAP           OLD
 *   e         TRAP  NEW     OLD or TRAP           OLD or NEW
 *   f g       NEW   NEW     OLD or TRAP or NEW    OLD or NEW: torn
 *
 * So no CPU comes or goes while an instruction is changed that is fetched in two
 * parts: the poker holds cpu_hotplug_lock.  And whatever happened while it was
 * gone, a CPU that comes refetches first of all.
 *
 * An instruction that is an aligned word needs no lock, if the fetch of such a
 * word is atomic: a CPU may execute any that memory has held, and all of them
 * are whole.
 *
 * Proved, for every interleaving:
 *
 *   - No CPU executes the unit of one instruction with the tail of the other.
 *   - With the lock, a CPU that runs the site after the batch runs the new
 *     instruction.
 *   - A trap without a batch is gone when the handler looks.
 *   - The poker gets to its end.
 *
 * Limits: one batch, which succeeds, and whose records are not read; for these,
 * and for CPUs that stay, see batch.pml.  Memory accesses have the order of the
 * program.
 *
 * variant ALIGNED: an aligned word, of which each fetch is atomic; no lock
 *
 * mutant NO_LOCK: a CPU that goes offline has the new unit and the old tail
 * mutant NO_FENCE_FIRST: a CPU that comes has kept a tail from before it went
 * mutant ALIGNED NO_ZICCIF: the fetch of an aligned word is made of two
 */

/* The word, unit and tail, in the order in which memory holds them. */
#define OLD_OLD		1
#define TRAP_OLD	2
#define TRAP_NEW	4
#define NEW_NEW		8

#define TRAPS		(TRAP_OLD | TRAP_NEW)
#define OLD_TAIL	(OLD_OLD | TRAP_OLD)
#define NEW_TAIL	(TRAP_NEW | NEW_NEW)

/* What memory holds, and all that the CPU may still execute parts of. */
byte word = OLD_OLD;
byte may = OLD_OLD;

bool published;
bool finished;

bool online = true;
bool ipi;

/* cpu_hotplug_lock: held by the poker; by what takes the CPU up or down. */
bool reader;
bool writer;

#define STORE(bytes)							\
	d_step {							\
		word = bytes;						\
		may = may | bytes					\
	}

inline sync()
{
	d_step { ipi = online }
	!ipi
}

active proctype poker()
{
#if !defined(ALIGNED) && !defined(NO_LOCK)
	atomic { !writer -> reader = true }
#endif
	published = true;
	STORE(TRAP_OLD);						/* b */
	sync();								/* c */
	STORE(TRAP_NEW);						/* e */
	sync();
	STORE(NEW_NEW);							/* f */
	sync();								/* g */
	published = false;
	reader = false;
	finished = true
}

inline fetch(part)
{
	if
	:: may & OLD_OLD -> part = OLD_OLD
	:: may & TRAP_OLD -> part = TRAP_OLD
	:: may & TRAP_NEW -> part = TRAP_NEW
	:: may & NEW_NEW -> part = NEW_NEW
	fi
}

/* Both parts are fetched at once, or one at one time and one at another. */
inline run_site()
{
	atomic {
		fetch(unit);
#if defined(ALIGNED) && !defined(NO_ZICCIF)
		tail = unit;
#else
		fetch(tail);
#endif
		assert(!(unit == OLD_OLD && (tail & NEW_TAIL)));
		assert(!(unit == NEW_NEW && (tail & OLD_TAIL)));
#if !defined(ALIGNED) && !defined(NO_LOCK)
		assert(!finished || unit == NEW_NEW);
#endif
		if
		:: (unit & TRAPS) && !published ->
			assert(!(word & TRAPS));
			may = word
		:: else
		fi;
		unit = 0;
		tail = 0
	}
}

inline take_interrupt()
{
	d_step {
		if
		:: ipi -> may = word; ipi = false
		:: else
		fi
	}
}

inline go_offline()
{
	take_interrupt();
	online = false;
	/* The poker may have looked which CPUs are online just before. */
	take_interrupt();
	do
	:: run_site()
	:: break
	od;
	writer = false
}

inline come_online()
{
#ifndef NO_FENCE_FIRST
	may = word;
#endif
	do
	:: run_site()
	:: break
	od;
	online = true;
	may = word;
	writer = false
}

/* It need not ever take the CPU down, nor up. */
active proctype cpu()
{
	byte unit, tail;

end:	do
	:: online -> run_site()
	:: ipi -> take_interrupt()
	:: atomic { online && !reader -> writer = true }
	   go_offline()
	:: atomic { !online && !reader -> writer = true }
	   come_online()
	od
}
