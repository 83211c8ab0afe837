/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Retiring a batch when a sync does not wait for trap handlers
 *
 * Steps: a b c e f g h
 * Left out: d
 *
 * A sync by interrupt waits for every handler, because a handler runs with
 * interrupts off.  There are others: with RISC-V's remote FENCE.I the firmware
 * answers, on behalf of a CPU that is inside a handler.  So a trap that was
 * fetched before the last sync may get to the batch after it is retired, or
 * when the next batch has taken its place:
 *
 *   poker                       CPU 1
 *                               fetches the trap, enters the handler
 *   f: new unit
 *   g: sync, answered by the firmware
 *   h: retire
 *                               refs == 0: looks at the text again.
 *                               The trap is gone: goes back and refetches
 *
 * Proved, for every interleaving of two batches that change one site there and
 * back, and of three:
 *
 *   - No handler gives up on a trap that was a batch's.
 *   - No CPU finds a trap gone more than twice in a row: twice if the batch
 *     changes while it looks.
 *   - No handler reads a batch while the next one is put in its place.
 *   - The poker does not wait for ever.
 *
 * CPU 0 pokes, the others run the site.  As in batch.pml a CPU executes what
 * memory holds, or has held since its last sync.
 *
 * Limits: one site, of one unit.  A trap may find the next batch and emulate
 * its new instruction before its step b; see trap.c.
 *
 * variant IPI: the sync is an interrupt, which waits for handlers
 * variant OVERTAKEN: a handler may meet the traps of three batches
 *
 * mutant NO_REREAD: a trap is handled after its batch is retired
 * mutant ONE_ROUND: it is the next batch's trap by now
 * mutant OVERTAKEN TWO_ROUNDS: it is that of the batch after the next
 * mutant COUNT_EARLY: the batch is counted, but gives no reference yet
 * mutant NO_REFS: a handler reads a batch that is being replaced
 * mutant NO_REFS_WAIT: a handler reads a batch that is being replaced
 * mutant PUBLISH_LATE: a trap is handled before its batch is published
 * mutant NO_SYNC_G: a CPU goes on executing a trap that is gone
 * mutant IPI NO_SYNC_G: a CPU goes on executing a trap that is gone
 * mutant IPI PUBLISH_LATE: a trap is handled before its batch is published
 * redundant IPI NO_REREAD: no trap is left when its batch is retired
 * redundant IPI NO_REFS: the sync waits for handlers that read the batch
 * redundant IPI NO_REFS_WAIT: the sync waits for handlers that read the batch
 * redundant IPI ONE_ROUND: no batch ends while a handler runs
 */

#define NR_CPUS		3

#ifdef OVERTAKEN
#define NR_BATCHES	3
#else
#define NR_BATCHES	2
#endif

#define A		1
#define TRAP		2
#define B		4

/* The text: what memory holds, and all that each CPU may still execute. */
byte unit = A;
byte may_unit[NR_CPUS] = A;

/* The batch, its references, and whether its memory is being written. */
byte batches_published;
bool replacing;
byte refs[NR_CPUS];

bool ipi[NR_CPUS];
bool finished;

#define STORE(bytes)							\
	d_step {							\
		unit = bytes;						\
		may_unit[1] = may_unit[1] | bytes;			\
		may_unit[2] = may_unit[2] | bytes			\
	}

inline sync()
{
#ifdef IPI
	d_step { ipi[1] = true; ipi[2] = true }
	!ipi[1] && !ipi[2]
#else
	may_unit[1] = unit;
	may_unit[2] = unit
#endif
}

#ifdef NO_SYNC_G
#define SYNC_G()
#else
#define SYNC_G()	sync()
#endif

inline publish()
{
	replacing = false;
#ifdef COUNT_EARLY
	batches_published++;
#endif
	d_step { refs[1] = 1; refs[2] = 1 }
#ifndef COUNT_EARLY
	batches_published++
#endif
}

inline retire()
{
	d_step { refs[1]--; refs[2]-- }
#if !defined(NO_REFS_WAIT) && !defined(NO_REFS)
	refs[1] == 0 && refs[2] == 0;
#endif
	replacing = true
}

/* Change the site from what it was to something else. */
proctype poker()
{
	byte new = B;

	replacing = true;
	do
	:: batches_published < NR_BATCHES ->
#ifndef PUBLISH_LATE
		publish();					/* a */
#endif
		STORE(TRAP);					/* b */
		sync();						/* c */
		sync();						/* e */
#ifdef PUBLISH_LATE
		publish();
#endif
		STORE(new);					/* f */
		SYNC_G();					/* g */
		retire();					/* h */
		new = A + B - new
	:: else -> break
	od;
	finished = true
}

/* Look into the batch, if there is one, and find the site. */
inline handle_site()
{
	if
	:: d_step { refs[cpu] == 0 -> found = false }
	:: d_step {
		refs[cpu] != 0 ->
#ifndef NO_REFS
		refs[cpu]++;
#endif
		found = true
	   }
		assert(!replacing);
		gone_run = 0;
		d_step {
			assert(!replacing);
#ifndef NO_REFS
			refs[cpu]--
#endif
		}
	fi
}

/* A trap that is gone.  TEXT_POKE_REREADS is larger. */
inline count_gone()
{
	d_step {
		if
		:: gone_batch != batches_published ->
			gone_batch = batches_published;
			gone_run = 0
		:: else
		fi;
		assert(gone_run < 2);
		gone_run++
	}
}

/* What text_poke_handle_trap() does. */
inline handle_trap()
{
	do
	:: batch = batches_published;
		handle_site();
		if
		:: found -> break
		:: !found ->
#ifdef NO_REREAD
			assert(false);
#endif
			if
			:: unit != TRAP -> count_gone(); break
			:: unit == TRAP ->
				assert(batch != batches_published);
				rounds++;
#ifdef ONE_ROUND
				assert(rounds < 1);
#endif
#ifdef TWO_ROUNDS
				assert(rounds < 2);
#endif
			fi
		fi
	od;
	batch = 0;
	rounds = 0
}

/* A CPU that runs the site, until it has had enough. */
proctype runner(byte cpu)
{
	bool busy = true;
	bool found;
	byte gone_run;
	byte gone_batch;
	byte batch;
	byte rounds;

	do
	:: busy && (may_unit[cpu] & TRAP) -> handle_trap()
	:: busy -> busy = false
	:: d_step { ipi[cpu] -> may_unit[cpu] = unit; ipi[cpu] = false }
	:: finished && !ipi[cpu] -> break
	od
}

init {
	atomic {
		run poker();
		run runner(1);
		run runner(2)
	}
}
