/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two guarded batches, and a CPU in user mode that no sync interrupts
 *
 * Steps: a b c d e f g h
 *
 * A sync asks each CPU to catch up, then looks at its state: if RCU does not
 * watch it, and the state is user, it is left alone.  Otherwise it is
 * interrupted.  The CPU catches up right after the atomic operation that makes
 * RCU watch it.
 *
 *   poker                            CPU
 *   -------------------------------  ----------------------------------------
 *   store to the text                state += watching - user       (ordered)
 *   asked++                          if (asked != done)
 *   smp_mb()                                 refetch, done = asked as it was
 *   if (state is user, no RCU)       run sites
 *           skip                     state += watching + user       (ordered)
 *   else
 *           interrupt, wait
 *
 * The CPU enters and leaves the kernel as it likes, with an NMI at any step.
 * Before the atomic on its way in, and after it on its way out, it runs no
 * site, or else every sync interrupts it.  It executes what memory holds, or
 * anything that memory has held since it has refetched last.
 *
 * Proved, for every interleaving:
 *
 *   - A CPU that fetches the old instruction does so before its record.
 *   - A CPU that fetches the new instruction does so after its record, in a
 *     straight run of code that also began after the record.
 *   - A CPU that takes a trap finds the batch that it is of.
 *
 * A run of code begins after the atomic, where a branch tests what was asked.
 *
 * Limits: one site, of one unit; batches that succeed.  Memory accesses have the
 * order of the program: for barriers see the litmus tests.  An NMI is not
 * interrupted by another.  That the poker gets to its end is not proved: it
 * waits for each CPU that was not in user mode when it looked.
 *
 * variant WINDOW FORCED: the site is run outside of what RCU watches
 * variant FLAG_FIRST NO_NMI: a flag that is cleared before the refetch would do without NMIs
 *
 * mutant WINDOW: the site is run outside of what RCU watches, and not all are interrupted
 * mutant STATE_FIRST: the state is read before the CPU is asked
 * mutant LOW_BITS: an NMI that came from user mode is taken for user mode
 * mutant NO_CATCH_UP: the CPU does not refetch
 * mutant CATCH_UP_EARLY: it looks whether it was asked before the atomic
 * mutant NMI_TRUSTS: an NMI between the atomic and the refetch runs what is stale
 * mutant DONE_LATE: what was asked during the refetch counts as done
 * mutant FLAG: the flag is cleared after the refetch, and with it what was asked meanwhile
 * mutant FLAG_FIRST: an NMI between clearing the flag and the refetch runs what is stale
 * mutant DECIDED_ONCE: the CPUs to skip are chosen once for all syncs of a batch
 * mutant NEVER_INTERRUPTED: a CPU in the kernel is not interrupted either
 * mutant NO_SYNC_E: no sync stands between the record and the new instruction
 */

#define OLD	1
#define TRAP1	2
#define NEW	4
#define TRAP2	8
#define NEWER	16

#define TRAPS	(TRAP1 | TRAP2)
#define LATER	(NEW | NEWER)

/* What memory holds, and all that the CPU may still execute. */
byte text = OLD;
byte may = OLD;

/* What a CPU may execute by now, by the promise of the protocol. */
byte allowed = OLD;

/* The trap of the batch that is published. */
byte published;

/* The last record, and whether the CPU's run of code began before it. */
byte recorded = OLD;
byte run_began = OLD;

/* The CPU's state. */
bool watching = true;
bool user;

byte asked;
byte done;
bool ipi;

bool skips;

/* An NMI is being handled, which has interrupted what RCU watches. */
bool in_nmi;
bool nested;

byte cpu_was;
byte nmi_was;

#define STORE(bytes)							\
	d_step {							\
		text = bytes;						\
		may = may | bytes					\
	}

inline refetch()
{
	may = text;
	run_began = recorded
}

#ifdef LOW_BITS
#define IN_USER		(user)
#else
#define IN_USER		(user && !watching)
#endif

#ifdef NMI_TRUSTS
#define NMI_SKIPS	(nested)
#else
#define NMI_SKIPS	false
#endif

/* The poker */

inline ask()
{
#if defined(FLAG) || defined(FLAG_FIRST)
	asked = 1
#else
	asked++
#endif
}

inline interrupt()
{
#ifdef NEVER_INTERRUPTED
	skip
#else
	ipi = true;
	!ipi
#endif
}

inline look()
{
#if defined(FORCED)
	skips = false
#else
	skips = IN_USER
#endif
}

inline sync()
{
#if defined(STATE_FIRST)
	look();
	ask();
#elif defined(DECIDED_ONCE)
	ask();
#else
	ask();
	look();
#endif
	if
	:: skips
	:: !skips -> interrupt()
	fi
}

/* From the instruction that is there to the next one. */
inline batch(before, trap, after)
{
#ifdef DECIDED_ONCE
	look();
#endif
	published = trap;						/* a */
	allowed = before | trap;
	STORE(trap);							/* b */
	sync();								/* c */
	allowed = trap;
	recorded = after;						/* d */
#ifndef NO_SYNC_E
	sync();								/* e */
#endif
	allowed = trap | after;
	STORE(after);							/* f */
	sync();								/* g */
	allowed = after;
	published = 0;							/* h */
}

active proctype poker()
{
	batch(OLD, TRAP1, NEW);
	batch(NEW, TRAP2, NEWER)
}

/* The CPU: a step of it is none of an NMI that has interrupted it. */

#define WHEN(condition)	d_step { !in_nmi && (condition) ->
#define STEP		WHEN(true)
#define END		}

#define EXECUTE(insn)							\
	may & insn ->							\
	assert(allowed & insn);						\
	assert(!((insn) & TRAPS) || published == insn);			\
	assert(!((insn) & LATER) || run_began >= insn)

/* Execute any of what this CPU may: in an atomic, for a d_step takes the first that it finds. */
inline run_site()
{
	if
	:: EXECUTE(OLD)
	:: EXECUTE(TRAP1)
	:: EXECUTE(NEW)
	:: EXECUTE(TRAP2)
	:: EXECUTE(NEWER)
	fi
}

inline window()
{
	atomic {
		!in_nmi ->
#ifdef WINDOW
		run_site()
#else
		skip
#endif
	}
}

inline enter_state()
{
	STEP
		watching = true;
		user = false
	END
}

/* The test is a branch, which begins a run of code. */
inline test_asked(was)
{
	was = asked;
	run_began = recorded
}

inline catch_up()
{
	STEP test_asked(cpu_was) END;
	if
	:: WHEN(cpu_was == done) skip END
	:: WHEN(cpu_was != done)
#ifdef FLAG_FIRST
		asked = 0
#else
		skip
#endif
	   END;
	   STEP refetch() END;
	   STEP
#ifdef FLAG
		asked = 0
#elif defined(DONE_LATE)
		done = asked
#elif !defined(FLAG_FIRST)
		done = cpu_was
#else
		skip
#endif
	   END
	fi
}

inline enter()
{
	window();
#ifdef CATCH_UP_EARLY
	catch_up();
	enter_state()
#else
	enter_state();
#ifndef NO_CATCH_UP
	catch_up()
#endif
#endif
}

inline leave()
{
	STEP
		watching = false;
		user = true
	END;
	window()
}

inline take_interrupt()
{
	STEP
		refetch();
		ipi = false
	END
}

/* It need not ever leave user mode, unless it is interrupted. */
active proctype cpu()
{
end:	do
	:: atomic { !in_nmi && !user -> run_site() }
	:: WHEN(!user && ipi) skip END -> take_interrupt()
	:: WHEN(!user) skip END -> leave()
	:: WHEN(user) skip END -> enter()
	od
}

#if defined(FLAG) || defined(FLAG_FIRST)
#define DONE()	asked = 0
#else
#define DONE()	done = nmi_was
#endif

/* An NMI may come at any time. */
active proctype nmi()
{
end:	do
#ifndef NO_NMI
	:: d_step { in_nmi = true; nested = watching; watching = true };
	   d_step { test_asked(nmi_was) };
	   if
	   :: nmi_was != done && !NMI_SKIPS ->
		d_step { refetch() };
		DONE()
	   :: nmi_was == done || NMI_SKIPS
	   fi;
	   atomic { run_site() };
	   d_step { watching = nested; nested = false; nmi_was = 0; in_nmi = false }
#else
	:: false -> skip
#endif
	od
}
