/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_BUSTED_H
#define _TEXT_POKE_BUSTED_H

/*
 * Steps that text_poke.busted=NAME leaves out or does in the wrong way.
 *
 * To see whether a test notices.  The name is that of the constant in lower
 * case, with dashes.
 */
enum text_poke_busted {
	TEXT_POKE_BUSTED_NOTHING,

	/* The batch and the text it is for. */
	TEXT_POKE_BUSTED_NO_TEXT_CHECK,	/* sites need not be in kernel text */
	TEXT_POKE_BUSTED_NO_OLD_CHECK,	/* old bytes may be any */
	TEXT_POKE_BUSTED_NO_EMULATE_CHECK,	/* nothing can emulate it: no matter */
	TEXT_POKE_BUSTED_NO_REPLACE_CHECK,	/* what others rely on may go */
	TEXT_POKE_BUSTED_NO_PATH_CHECK,	/* the handler may trap */
	TEXT_POKE_BUSTED_NO_CALLER_CHECK,	/* any caller, from anywhere */
	TEXT_POKE_BUSTED_NO_SORT,	/* sites stay in the order they came */
	TEXT_POKE_BUSTED_NO_OVERLAP_CHECK,	/* sites may overlap */
	TEXT_POKE_BUSTED_UNHEARD,	/* no event is heard */
	TEXT_POKE_BUSTED_ALWAYS_DIRECT,	/* no batch needs a guard */
	TEXT_POKE_BUSTED_NO_BARRIER,	/* an event does not wait */
	TEXT_POKE_BUSTED_NO_STUCK,	/* a failed rollback is forgotten */
	TEXT_POKE_BUSTED_EARLY_ANY_TIME,	/* others may run early pokes' text */
	TEXT_POKE_BUSTED_MUTEX_DROPPED,	/* text_mutex is free during a sync */

	/* a and h */
	TEXT_POKE_BUSTED_NO_PUBLISH,	/* the handler finds no batch */
	TEXT_POKE_BUSTED_PUBLISH_LATE,	/* ... until its traps are stored */
	TEXT_POKE_BUSTED_RETIRE_EARLY,	/* before the last sync */
	TEXT_POKE_BUSTED_NO_RETIRE,	/* not at all */
	TEXT_POKE_BUSTED_RETIRE_AT_ONCE,	/* handlers are not waited for */

	/* Stores. */
	TEXT_POKE_BUSTED_NO_TRAP,	/* b is left out */
	TEXT_POKE_BUSTED_NO_TAIL,	/* the tail stays old */
	TEXT_POKE_BUSTED_NO_UNIT,	/* the trap stays */
	TEXT_POKE_BUSTED_UNIT_BEFORE_TAIL,	/* f comes before e */
	TEXT_POKE_BUSTED_LITERAL_LATE,	/* after the branches that use it */
	TEXT_POKE_BUSTED_NO_FLUSH,	/* stores stay where they are */
	TEXT_POKE_BUSTED_FLUSH_ELSEWHERE,	/* not where they execute */
	TEXT_POKE_BUSTED_UNMAP_LATE,	/* the alias is there while flushing */
	TEXT_POKE_BUSTED_MAP_LONG,	/* any number of stores goes through it */

	/* Groups. */
	TEXT_POKE_BUSTED_PREEMPTIBLE,	/* the poker may lose its CPU */
	TEXT_POKE_BUSTED_ARM_LONG,	/* it does not matter how long it takes */

	/* c, e and g */
	TEXT_POKE_BUSTED_NO_SYNC_C,
	TEXT_POKE_BUSTED_NO_SYNC_E,
	TEXT_POKE_BUSTED_NO_SYNC_G,
	TEXT_POKE_BUSTED_NO_SYNC_DIRECT,
	TEXT_POKE_BUSTED_SYNC_SELF,	/* this CPU only */
	TEXT_POKE_BUSTED_SYNC_NO_WAIT,	/* the others when they please */
	TEXT_POKE_BUSTED_ONLINE_NO_SYNC,	/* a CPU that comes online may be stale */
	TEXT_POKE_BUSTED_LEAVE_ALL,	/* no CPU is interrupted, whatever it runs */
	TEXT_POKE_BUSTED_LEAVE_UNWATCHED,	/* nor for what it may run at once */
	TEXT_POKE_BUSTED_NO_CATCH_UP,	/* a CPU that was asked does not refetch */

	/* d */
	TEXT_POKE_BUSTED_RECORD_EARLY,	/* before b */
	TEXT_POKE_BUSTED_RECORD_LATE,	/* after f */
	TEXT_POKE_BUSTED_RECORD_KEPT,	/* perf is told when all is over */
	TEXT_POKE_BUSTED_RECORD_DROPPED,
	TEXT_POKE_BUSTED_RECORD_TWICE,
	TEXT_POKE_BUSTED_RECORD_SWAPPED,	/* old for new */
	TEXT_POKE_BUSTED_RECORD_SHORT,	/* without the last byte */
	TEXT_POKE_BUSTED_RECORD_MOVED,	/* by a unit */
	TEXT_POKE_BUSTED_RECORD_PAIR,	/* its old literal is what is there */

	/* Rollback. */
	TEXT_POKE_BUSTED_NO_UNDO,
	TEXT_POKE_BUSTED_UNDO_UNRECORDED,	/* without the reversals */
	TEXT_POKE_BUSTED_UNDO_GROUP,	/* only the group that fails */

	/* With the machine stopped. */
	TEXT_POKE_BUSTED_STOP_NO_UNDO,	/* what was stored before one fails stays */
	TEXT_POKE_BUSTED_STOP_UNRECORDED,
	TEXT_POKE_BUSTED_STOP_LONG,	/* any number of changes shares a stop */

	/* The trap handler. */
	TEXT_POKE_BUSTED_LOOKUP_SHORT,	/* does not find the last site */
	TEXT_POKE_BUSTED_LOOKUP_PASSED,	/* takes traps of others */
	TEXT_POKE_BUSTED_EMULATE_FAR,	/* goes on a unit too far */
	TEXT_POKE_BUSTED_EMULATE_NOTHING,	/* goes on behind the site */
	TEXT_POKE_BUSTED_NO_REREAD,	/* a trap that is gone is not the core's */
	TEXT_POKE_BUSTED_REREAD_FOREVER,

	/* Slots. */
	TEXT_POKE_BUSTED_SLOT_UNRECORDED,
	TEXT_POKE_BUSTED_SLOT_NO_QUIESCE,	/* freed with a task in it */
	TEXT_POKE_BUSTED_SLOT_NO_RETURN,	/* goes back to the site's start */
	TEXT_POKE_BUSTED_NR,
};

#ifdef CONFIG_TEXT_POKE_BUSTED

extern int text_poke_busted_step;
#define skip_unless_busted(test) do { } while (0)

/* Is this the step that is to go wrong? */
#define busted(name) \
	(READ_ONCE(text_poke_busted_step) == TEXT_POKE_BUSTED_##name)

bool text_poke_skips_sync(void);
bool text_poke_bust_record(const void **addr, const void **old,
			   size_t *old_len, const void **new, size_t *new_len);

#else /* !CONFIG_TEXT_POKE_BUSTED */

/* For tests that are skipped. */
static int text_poke_busted_step __maybe_unused;
#define skip_unless_busted(test) kunit_skip(test, "nothing can be broken here")

#define busted(name) (0 && TEXT_POKE_BUSTED_##name)

static inline bool text_poke_skips_sync(void) { return false; }
static inline bool text_poke_bust_record(const void **addr, const void **old,
					 size_t *old_len, const void **new,
					 size_t *new_len)
{
	return true;
}

#endif /* CONFIG_TEXT_POKE_BUSTED */

#endif /* _TEXT_POKE_BUSTED_H */
