/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A guarded batch in two waves, with every CPU's stale view of the text
 *
 * Steps: a b c d e f g h
 *
 * Proved, for every interleaving:
 *
 *   - A CPU that fetches the old instruction does so before its record.
 *   - A CPU that fetches the new instruction does so after its record, in a
 *     straight run of code that also began after the record.
 *   - No CPU executes the first bytes of one instruction with the last bytes
 *     of the other.
 *   - Every trap finds its batch, and none comes after it is retired.
 *   - While a site traps in memory the poker does not give its CPU away.
 *   - The poker gets to its end, and every CPU ends up with the new text.
 *
 * An instruction is two units, which are stored and fetched one by one: what a
 * trap goes over, and the tail.  A CPU executes what memory holds, or anything
 * that memory has held since that CPU's last sync, in any order: what it has
 * fetched ahead, or kept in a cache.
 *
 *             memory        what CPU 1 may execute
 *             unit  tail    unit          tail
 *   old       OLD   OLD     OLD           OLD
 *   b         TRAP  OLD     OLD or TRAP   OLD
 *   c         TRAP  OLD     TRAP          OLD
 *   e         TRAP  NEW     TRAP          OLD or NEW
 *             TRAP  NEW     TRAP          NEW
 *   f         NEW   NEW     TRAP or NEW   NEW
 *   g         NEW   NEW     NEW           NEW
 *
 * CPU 0 is the poker, and takes NMIs that run a site.  CPU 1 may go offline at
 * any time.  CPU 2 comes online at any time.  Site 0 is in the first wave,
 * site 1 in the second.
 *
 * A trap that is taken before the record emulates the new instruction.  That
 * confuses no decoder: the trace shows the trap, and where it returned to.
 *
 * Limits: one batch, which succeeds.  The order of memory accesses is that of
 * the program, for barriers see the litmus tests.  A CPU runs no site between
 * its reset and the sync of its bring-up, and none after it is marked offline;
 * nor is it traced then.
 *
 * variant ONE_UNIT: an instruction is one unit and has no tail, as on arm64
 * variant GROUPS: each wave is a group of its own
 * variant GROUPS ONE_UNIT: likewise
 *
 * mutant NO_TRAP: OLD runs after the record
 * mutant NO_SYNC_C: OLD runs after the record
 * mutant NO_SYNC_E: torn
 * mutant ONE_UNIT NO_SYNC_E: NEW runs in a run begun before the record
 * mutant NO_SYNC_2E: torn
 * mutant ONE_UNIT NO_SYNC_2E: NEW runs in a run begun before the record
 * mutant NO_SYNC_G: a trap has no batch
 * mutant PUBLISH_LATE: a trap has no batch
 * mutant RECORD_EARLY: OLD runs after the record
 * mutant RECORD_LATE: NEW runs before the record
 * mutant TAIL_EARLY: torn
 * mutant TAIL_LATE: torn
 * mutant WAVES_TOGETHER: the second wave is recorded in the round that arms it
 * mutant GROUPS YIELD_EARLY: the poker is preempted while a site traps
 * mutant GROUPS NO_SYNC_G: the first group may still trap when the poker is preempted
 * mutant RETIRE_EARLY: a trap has no batch
 * mutant NO_PUT: the poker waits for ever
 * mutant NO_ACK: a CPU that has the interrupts off is not waited for
 * mutant NO_REFETCH: the interrupt is taken but does not synchronise
 * mutant NOT_SELF: the poker itself does not synchronise
 * mutant BRINGUP_NO_SYNC: a CPU comes online with what it fetched before
 * mutant BRINGUP_SYNC_FIRST: a CPU synchronises before it is marked online
 * mutant OFFLINE_DROPS_IPI: the poker waits for a CPU that is dead
 * redundant NO_REFS_WAIT: the interrupt of g waits for handlers, which run with interrupts off
 */

#define NR_CPUS		3
#define NR_SITES	2

#define OLD		1
#define TRAP		2
#define NEW		4

#define AT(cpu, site)	((cpu) * NR_SITES + (site))

/* The text: what memory holds, and all that each CPU may still execute. */
byte unit[NR_SITES] = OLD;
byte tail[NR_SITES] = OLD;
byte may_unit[NR_CPUS * NR_SITES] = OLD;
byte may_tail[NR_CPUS * NR_SITES] = OLD;

/* The batch and its references. */
bool published;
byte refs[NR_CPUS];

/* The records, and whether a CPU's straight run of code began before them. */
bool recorded[NR_SITES];
bool began_before[NR_CPUS * NR_SITES] = true;

/* Interrupts that ask for a sync. */
bool online[NR_CPUS];
bool ipi[NR_CPUS];

bool in_nmi;
bool finished;

/* A new run of code that a decoder gets a time stamp for. */
inline begin_run(cpu)
{
	began_before[AT(cpu, 0)] = !recorded[0];
	began_before[AT(cpu, 1)] = !recorded[1];
}

inline refetch(cpu)
{
	may_unit[AT(cpu, 0)] = unit[0];
	may_unit[AT(cpu, 1)] = unit[1];
	may_tail[AT(cpu, 0)] = tail[0];
	may_tail[AT(cpu, 1)] = tail[1]
}

#define STORE(memory, may, site, bytes)					\
	d_step {							\
		memory[site] = bytes;					\
		may[AT(0, site)] = may[AT(0, site)] | bytes;		\
		may[AT(1, site)] = may[AT(1, site)] | bytes;		\
		may[AT(2, site)] = may[AT(2, site)] | bytes		\
	}

/* The trap handler, with interrupts off. */
inline handle(cpu)
{
	/* A reference, or the trap is of no batch. */
	d_step {
		assert(refs[cpu] != 0);
		refs[cpu] = 2
	}
	assert(published);
#ifndef NO_PUT
	refs[cpu]--;
#endif
	d_step { begin_run(cpu) }
}

#ifdef ONE_UNIT
#define TORN(cpu, site, other)	false
#else
#define TORN(cpu, site, other)	(may_tail[AT(cpu, site)] & (other))
#endif

/* Execute any of what this CPU may. */
inline execute(cpu, site)
{
	if
	:: may_unit[AT(cpu, site)] & TRAP ->
		handle(cpu)
	:: d_step {
		may_unit[AT(cpu, site)] & OLD ->
		assert(!recorded[site]);
		assert(!TORN(cpu, site, NEW))
	   }
	:: d_step {
		may_unit[AT(cpu, site)] & NEW ->
		assert(recorded[site]);
		assert(!began_before[AT(cpu, site)]);
		assert(!TORN(cpu, site, OLD))
	   }
	fi
}

inline take_ipi(cpu)
{
	d_step {
		ipi[cpu] ->
#ifndef NO_REFETCH
		refetch(cpu);
#endif
		begin_run(cpu);
		ipi[cpu] = false
	}
}

/* Between any two steps of the poker there may be an NMI on its CPU. */
inline nmi()
{
	if
	:: in_nmi = true; !in_nmi
	:: true
	fi
}

inline sync()
{
	d_step {
		ipi[1] = online[1];
		ipi[2] = online[2];
#ifndef NOT_SELF
		refetch(0)
#endif
	}
	nmi();
#ifndef NO_ACK
	!ipi[1] && !ipi[2];
#endif
	nmi()
}

inline arm(site)
{
#ifndef NO_TRAP
	STORE(unit, may_unit, site, TRAP);
#endif
	nmi()
}

inline record(site)
{
	recorded[site] = true;
	nmi()
}

inline write_tail(site)
{
	STORE(tail, may_tail, site, NEW);
	nmi()
}

inline write_unit(site)
{
	STORE(unit, may_unit, site, NEW);
	nmi()
}

inline publish()
{
	published = true;
	d_step { refs[0] = 1; refs[1] = 1; refs[2] = 1 }
	nmi()
}

inline retire()
{
	d_step { refs[0]--; refs[1]--; refs[2]-- }
	nmi();
#ifndef NO_REFS_WAIT
	refs[0] == 0 && refs[1] == 0 && refs[2] == 0;
#endif
	published = false;
	nmi()
}

/*
 * Between two groups: another task that runs on the poker's CPU may do so for
 * as long as it likes, and no CPU is to trap meanwhile.
 */
inline yield()
{
	assert(unit[0] != TRAP && unit[1] != TRAP);
	assert(!(may_unit[AT(0, 0)] & TRAP));
	assert(!online[1] || !(may_unit[AT(1, 0)] & TRAP));
	nmi()
}

/* A sync that is left out under the name of its letter. */
#ifdef NO_SYNC_C
#define SYNC_C()
#else
#define SYNC_C()	sync()
#endif
#ifdef NO_SYNC_E
#define SYNC_E()
#else
#define SYNC_E()	sync()
#endif
#ifdef NO_SYNC_2E
#define SYNC_2E()
#else
#define SYNC_2E()	sync()
#endif
#ifdef NO_SYNC_G
#define SYNC_G()
#else
#define SYNC_G()	sync()
#endif

/* The letters are those of the first wave. */
proctype poker()
{
#ifdef PUBLISH_LATE
	arm(0);
	publish();
#else
	publish();						/* a */
#ifdef RECORD_EARLY
	record(0);
#endif
	arm(0);							/* b */
#endif
#ifdef TAIL_EARLY
	write_tail(0);
#endif
#ifdef WAVES_TOGETHER
	arm(1);
	record(1);
#endif
	SYNC_C();						/* c */

#if !defined(RECORD_EARLY) && !defined(RECORD_LATE)
	record(0);						/* d */
#endif
#if !defined(TAIL_EARLY) && !defined(TAIL_LATE)
	write_tail(0);						/* e */
#endif
#if !defined(WAVES_TOGETHER) && !defined(GROUPS)
	arm(1);
#endif
	SYNC_E();

#ifdef TAIL_LATE
	write_tail(0);
#endif
#ifdef YIELD_EARLY
	yield();
#endif
	write_unit(0);						/* f */
#ifdef RECORD_LATE
	record(0);
#endif
#ifdef GROUPS
	SYNC_G();
	yield();
	arm(1);
	sync();
	record(1);
	write_tail(1);
	sync();
#else
#ifndef WAVES_TOGETHER
	record(1);
#endif
	write_tail(1);
	SYNC_2E();						/* g */
#endif

	write_unit(1);
#ifdef RETIRE_EARLY
	retire();
	sync();
#else
	SYNC_G();
	retire();						/* h */
#endif
	finished = true;
	nmi()
}

/* An NMI on the poker's CPU, which is a run of code of its own. */
proctype poker_nmi()
{
end:	do
	:: d_step { in_nmi -> begin_run(0) }
		if
		:: execute(0, 0)
		:: execute(0, 1)
		fi;
		in_nmi = false
	od
}

/*
 * Whatever a CPU does besides poking: run sites, until it has had enough.  It
 * takes an interrupt when it likes, for it may have them off.
 */
proctype cpu1()
{
	bool busy = true;

	do
	:: busy -> execute(1, 0)
	:: busy -> execute(1, 1)
	:: busy -> busy = false
	:: take_ipi(1)
	:: finished && !ipi[1] -> break
	:: !finished -> online[1] = false; break
	od;
#ifndef OFFLINE_DROPS_IPI
	if
	:: take_ipi(1)
	:: !ipi[1]
	fi
#endif
}

proctype cpu2()
{
	bool busy = true;

#ifdef BRINGUP_SYNC_FIRST
	d_step { refetch(2); begin_run(2) }
	online[2] = true;
#else
	online[2] = true;
#ifndef BRINGUP_NO_SYNC
	d_step { refetch(2); begin_run(2) }
#else
	d_step { begin_run(2) }
#endif
#endif
	do
	:: busy -> execute(2, 0)
	:: busy -> execute(2, 1)
	:: busy -> busy = false
	:: take_ipi(2)
	:: finished && !ipi[2] -> break
	od
}

init {
	atomic {
		online[0] = true;
		online[1] = true;
		run poker();
		run poker_nmi();
		run cpu1();
		run cpu2()
	}
}
