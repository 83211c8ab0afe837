/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The probes of a tracepoint, whose text changes in one batch with that of others
 *
 * Steps: none
 *
 * A CPU at a tracepoint loads the array of probes, takes the data of the first
 * one, and calls what its static call says: a probe, which gets that data, or the
 * iterator, which does not use it and loads the array again.
 *
 *   poker                               reader
 *   publishes the array, if early       enters
 *   waits, if a probe is to be called   loads the array: which data?
 *   changes the text                    calls what the text says, or said
 *   publishes the array, if late        leaves
 *
 * Proved, for every interleaving of two readers with a poker that goes from any
 * array of two probes to any other, in batches that are written, rolled back, or
 * given up in the middle:
 *
 *   - A probe that is called directly gets its own data.
 *   - A probe whose caller has removed it, and then waited, is not called.
 *
 * While a batch is written either text may be met, at each site anew, so that the
 * order in it does not matter, nor does whether all of it is one batch.
 *
 * Limits: the key is left out, for a reader that has tested it may be preempted
 * before it enters.  Memory is in order: the text is live when the batch has
 * ended, see batch.pml, and arrays are read through a dependency.
 *
 * mutant FUNCS_FIRST: the first probe gets the data of the second
 * mutant NO_WAIT_2_1: a reader has the data of a probe that was the first
 * mutant NO_SYNC_1_0_1: a reader has the data of the probe before none
 * mutant TWO_FIRST NO_SYNC_1_0_1: likewise, if there were two before
 * mutant SYNC_FOR_ONE: two come after none, and the first of them stays
 * mutant ONE_TO_ONE: a reader has the data of one and calls the other
 * mutant NO_SNAPSHOT: nothing knows of the reader with data of before
 * mutant SNAPSHOT_FIRST: the reader loads the array before it changes
 * mutant ASSUME_ITERATOR: the text still calls a probe that was removed
 * mutant UNDO_KEEPS: a removed probe is in the array that is put back
 * mutant ADD_WHEN_LOST: the text calls neither what it should nor the iterator
 */

#define NR_READERS	2
#define NR_COMMITS	4

/* Arrays, by what is in them, in that order; probes are arrays of one. */
#define NONE		0
#define A		1
#define B		2
#define AB		3
#define BA		4

/* What the static call calls; otherwise a probe. */
#define ITERATOR	0

#define FIRST(array)	(array == BA -> B : (array == AB -> A : array))
#define HAS(array, probe) (array == probe || array >= AB)
#define ONE(array)	(array == A || array == B)

byte funcs = NONE;
/* The text that a reader may meet: both are the same unless it changes. */
byte call_old = ITERATOR;
byte call_new = ITERATOR;
bool lost;
bool gone[3];
bool finished;

bool reading[NR_READERS];
/* Readers that were there when something was published. */
byte since_none;
byte since_other;
byte waited;

inline leave()
{
	d_step {
		reading[id] = false;
		since_none = since_none & ~(1 << id);
		since_other = since_other & ~(1 << id);
		waited = waited & ~(1 << id)
	}
}

proctype reader(byte id)
{
	byte array, called;

	do
	:: finished -> break
	:: else ->
		reading[id] = true;
		array = funcs;
		if
		:: array == NONE
		:: else ->
			if
			:: called = call_old
			:: called = call_new
			fi;
			if
			:: called == ITERATOR ->
				array = funcs;
				assert(!(HAS(array, A) && gone[A]));
				assert(!(HAS(array, B) && gone[B]))
			:: else ->
				assert(called == FIRST(array));
				assert(!gone[called])
			fi
		fi;
		array = 0;
		called = 0;
		leave()
	od
}

/* One bit for each reader. */
#define READERS		(reading[0] | reading[1] << 1)

inline take_snapshots(before, after)
{
#ifndef NO_SNAPSHOT
	if
	:: before != after && after == NONE -> since_none = READERS
	:: before != NONE && after != NONE && FIRST(before) != FIRST(after) ->
		since_other = READERS
	:: else
	fi
#else
	skip
#endif
}

inline publish(array)
{
	was = funcs;
#ifdef SNAPSHOT_FIRST
	take_snapshots(was, array);
#endif
	funcs = array;
#ifndef SNAPSHOT_FIRST
	take_snapshots(was, array);
#endif
	was = 0
}

/* Either text, and then the new one, the old one, or either for good. */
inline change_text()
{
	call_failed = false;
	if
	:: target == call_old || lost -> call_failed = (target != call_old)
	:: else ->
		call_new = target;
		if
		:: call_old = target
		:: call_new = call_old; call_failed = true
		:: lost = true; call_failed = true
		fi
	fi;
	key_failed = false;
	if
	:: (old == NONE) != (new == NONE) -> key_failed = true
	:: true
	fi
}

inline choose()
{
	if
	:: new = NONE
	:: new = A
	:: new = B
	:: new = AB
	:: new = BA
	fi;
#ifndef ADD_WHEN_LOST
	/* Nothing is added any more. */
	if
	:: lost && ((HAS(new, A) && !HAS(old, A)) ||
		    (HAS(new, B) && !HAS(old, B)) || new >= AB) -> new = old
	:: else
	fi;
#endif
#ifdef TWO_FIRST
	if
	:: i == 0 -> new = AB
	:: i == 1 -> new = NONE
	:: i == 2 && new > B -> new = B
	:: else
	fi;
#endif
	skip;
	/* What is added is there. */
	d_step {
		gone[A] = gone[A] && !HAS(new, A);
		gone[B] = gone[B] && !HAS(new, B)
	}
}

inline plan()
{
	target = (ONE(new) -> new : ITERATOR);
	if
	:: ONE(new) && old == new -> target = call_old
	:: ONE(new) && old != new && call_old != ITERATOR ->
#ifdef ONE_TO_ONE
		target = new
#elif defined(ASSUME_ITERATOR)
		target = (old == NONE -> new : ITERATOR)
#else
		target = ITERATOR
#endif
	:: else
	fi;
	late = new != NONE && target != call_old && call_old != ITERATOR;
#ifdef FUNCS_FIRST
	late = false;
#endif
#ifdef ASSUME_ITERATOR
	late = late && old != NONE;
#endif
	removed = (HAS(old, A) && !HAS(new, A)) || (HAS(old, B) && !HAS(new, B))
}

inline publish_early()
{
#ifndef NO_SYNC_1_0_1
	if
#ifdef SYNC_FOR_ONE
	:: old == NONE && ONE(new) -> !since_none
#else
	:: old == NONE && new != NONE -> !since_none
#endif
	:: else
	fi;
#endif
	if
	:: new != old && !late -> publish(new)
	:: else
	fi;
#ifndef NO_WAIT_2_1
	if
	:: old != NONE && target != ITERATOR && target != call_old ->
		!since_other
	:: else
	fi;
#endif
	skip
}

/* If there is nothing to be removed, all is as it was. */
inline settle()
{
	if
	:: new != NONE && (key_failed || (late && call_failed)) ->
#ifdef UNDO_KEEPS
		new = old
#else
		new = (removed -> NONE : old)
#endif
	:: else
	fi;
	if
	:: funcs != new -> publish(new)
	:: else
	fi
}

/* The caller of what was removed waits, and frees its data. */
inline release()
{
	if
	:: removed ->
		waited = READERS;
		!waited;
		d_step {
			gone[A] = HAS(old, A) && !HAS(wanted, A);
			gone[B] = HAS(old, B) && !HAS(wanted, B)
		}
	:: true
	fi
}

active proctype poker()
{
	byte i = 0, old = NONE, new, wanted, was, target;
	bool late, call_failed, key_failed, removed;

	run reader(0);
	run reader(1);
	do
	:: i < NR_COMMITS ->
		choose();
		wanted = new;
		plan();
		publish_early();
		change_text();
		settle();
		release();
		old = funcs;
		i++
	:: else -> break
	od;
	finished = true
}
