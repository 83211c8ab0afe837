/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Beginning to listen while batches are written
 *
 * Steps: b d f
 * Left out: a c e g h
 *
 * A batch is guarded and recorded if an event is counted when it begins.  What it
 * records is lost for an event that has no buffer yet, or is not enabled.  The
 * owner of an event copies the text, and takes that copy to the end by the
 * records.
 *
 *   poker                               event and its owner
 *   batch_count becomes odd             is counted
 *   is an event counted?                waits, if a batch is being written
 *   traps, records, units; or units     gets a buffer
 *   batch_count becomes even            waits, likewise
 *                                       copies the text, site by site
 *
 * Proved, for every interleaving of an event with batches that change two
 * sites there and back:
 *
 *   - The copy with all records of which the owner knows is the text.
 *   - The owner waits for one batch, and not for what comes behind it, nor
 *     for the holder of the mutex between batches: it goes on although the
 *     poker is waiting for it there.
 *
 * Limits: memory is in order; see settle.litmus for that.
 *
 * mutant NO_WAIT_BUFFER: a record is lost, and its trap copied
 * mutant NO_WAIT_BUFFER NO_WAIT_COUNT: an unrecorded batch is copied half done
 * mutant BEGINS_LATE: the batch has seen no event, and is not seen itself
 * mutant ENDS_EARLY: the last unit is stored behind the event's back
 * mutant LOOKS_FIRST: the owner looks for batches before the event listens
 * mutant WAITS_FOR_MUTEX: poker and owner wait for each other
 *
 * redundant NO_WAIT_COUNT: nothing is copied before there is a buffer; the
 *	wait is for those whose event is opened with another's buffer
 */

#define NR_BATCHES	3

#define OLD		0
#define NEW		1
#define TRAP		2

byte text[2] = OLD;
byte copy[2];
/* What the records that the owner has got say last of each site. */
byte told[2];
bool tells[2];

byte batch_count;
bool mutex;
bool counted;
bool hears;
bool listening;
bool finished;

inline record(site, bytes)
{
	d_step {
		if
		:: hears -> told[site] = bytes; tells[site] = true
		:: else
		fi
	}
}

inline begins()
{
	batch_count++
}

inline write_batch(bytes)
{
#ifndef BEGINS_LATE
	begins();
#endif
	guarded = counted;
#ifdef BEGINS_LATE
	begins();
#endif
	if
	:: guarded ->
		text[0] = TRAP;					/* b */
		text[1] = TRAP;
		record(0, bytes);				/* d */
		record(1, bytes)
	:: else
	fi;
	text[0] = bytes;					/* f */
#ifdef ENDS_EARLY
	batch_count++;
#endif
	text[1] = bytes;
#ifndef ENDS_EARLY
	batch_count++;
#endif
	skip
}

/* Before the last batch, if there is one, it waits with the mutex held. */
active proctype poker()
{
	byte i = 0;
	bool guarded;

	atomic { !mutex -> mutex = true }
	do
	:: i < NR_BATCHES ->
		if
		:: i == NR_BATCHES - 1 -> listening
		:: i == NR_BATCHES - 1 -> listening; break
		:: else
		fi;
		write_batch(1 - (i & 1));
		i++
	:: else -> break
	od;
	mutex = false;
	finished = true
}

inline settle()
{
#ifdef WAITS_FOR_MUTEX
	!mutex;
#else
	count = batch_count;
	if
	:: count & 1 -> batch_count != count
	:: else
	fi
#endif
}

active proctype listener()
{
	byte count;

	counted = true;
#ifndef NO_WAIT_COUNT
	settle();
#endif
#ifdef LOOKS_FIRST
	settle();
#endif
	hears = true;
#if !defined(NO_WAIT_BUFFER) && !defined(LOOKS_FIRST)
	settle();
#endif
	copy[0] = text[0];
	copy[1] = text[1];
	listening = true;
	finished;
	assert((tells[0] -> told[0] : copy[0]) == text[0]);
	assert((tells[1] -> told[1] : copy[1]) == text[1])
}
