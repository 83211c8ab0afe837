/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_BUSTED_H
#define _TEXT_POKE_BUSTED_H

/*
 * Steps that text_poke.busted=NAME leaves out or does in the wrong way, to see
 * whether a test notices.  The name is that of the constant in lower case, with
 * dashes.
 */
#define TEXT_POKE_BUSTED(X)						\
	/* The batch and the text it is for. */				\
	X(NO_TEXT_CHECK)	/* sites need not be in kernel text */	\
	X(NO_OLD_CHECK)		/* old bytes may be any */		\
	X(NO_EMULATE_CHECK)	/* nobody can act as it: no matter */	\
	X(NO_SORT)		/* sites stay in the order they came */	\
	X(NO_OVERLAP_CHECK)	/* sites may overlap */			\
	X(DEAF)			/* no listener is heard */		\
	X(ALWAYS_DIRECT)	/* no batch needs a guard */		\
	X(NO_BARRIER)		/* a listener does not wait */		\
	X(NO_STUCK)		/* a failed rollback is forgotten */	\
	X(EARLY_ANY_TIME)	/* others may run early pokes' text */	\
	X(MUTEX_DROPPED)	/* text_mutex is free during a sync */	\
	/* a and h */							\
	X(NO_PUBLISH)		/* the handler finds no batch */	\
	X(PUBLISH_LATE)		/* ... until its traps are stored */	\
	X(RETIRE_EARLY)		/* before the last sync */		\
	X(NO_RETIRE)		/* not at all */			\
	X(RETIRE_AT_ONCE)	/* handlers are not waited for */	\
	/* Stores. */							\
	X(NO_TRAP)		/* b is left out */			\
	X(NO_TAIL)		/* the tail stays old */		\
	X(NO_UNIT)		/* the trap stays */			\
	X(UNIT_BEFORE_TAIL)	/* f comes before e */			\
	X(LITERAL_LATE)		/* after the branches that use it */	\
	X(NO_FLUSH)		/* stores stay where they are */	\
	X(FLUSH_ELSEWHERE)	/* not where they execute */		\
	X(UNMAP_LATE)		/* the alias is there while flushing */	\
	/* c, e and g */						\
	X(NO_SYNC_C)							\
	X(NO_SYNC_E)							\
	X(NO_SYNC_G)							\
	X(NO_SYNC_DIRECT)						\
	X(SYNC_SELF)		/* this CPU only */			\
	X(SYNC_NO_WAIT)		/* the others when they please */	\
	X(ONLINE_NO_SYNC)	/* who comes online may be stale */	\
	/* d */								\
	X(RECORD_EARLY)		/* before b */				\
	X(RECORD_LATE)		/* after f */				\
	X(RECORD_DROPPED)						\
	X(RECORD_TWICE)							\
	X(RECORD_SWAPPED)	/* old for new */			\
	X(RECORD_SHORT)		/* without the last byte */		\
	X(RECORD_MOVED)		/* by a unit */				\
	/* Rollback. */							\
	X(NO_UNDO)							\
	X(UNDO_UNRECORDED)	/* without the reversals */		\
	/* The trap handler. */						\
	X(LOOKUP_SHORT)		/* does not find the last site */	\
	X(LOOKUP_PASSED)	/* takes traps of others */		\
	X(EMULATE_FAR)		/* goes on a unit too far */		\
	X(EMULATE_NOTHING)	/* goes on behind the site */		\
	X(NO_REREAD)		/* a trap that is gone is nobody's */	\
	X(REREAD_FOREVER)						\
	/* Slots. */							\
	X(SLOT_UNRECORDED)						\
	X(SLOT_NO_QUIESCE)	/* freed with somebody in it */		\
	X(SLOT_NO_RETURN)	/* goes back to the site's start */

#define TEXT_POKE_BUSTED_ENUM(name) TEXT_POKE_BUSTED_##name,

enum text_poke_busted {
	TEXT_POKE_BUSTED_NOTHING,
	TEXT_POKE_BUSTED(TEXT_POKE_BUSTED_ENUM)
	TEXT_POKE_BUSTED_NR,
};

#undef TEXT_POKE_BUSTED_ENUM

#ifdef CONFIG_TEXT_POKE_BUSTED

extern int text_poke_busted_step;

/* Is this the step that is to go wrong? */
#define busted(name) \
	(READ_ONCE(text_poke_busted_step) == TEXT_POKE_BUSTED_##name)

bool text_poke_skips_sync(void);
bool text_poke_bust_record(const void **addr, const void **old,
			   size_t *old_len, const void **new, size_t *new_len);

#else /* !CONFIG_TEXT_POKE_BUSTED */

#define busted(name) false

static inline bool text_poke_skips_sync(void) { return false; }
static inline bool text_poke_bust_record(const void **addr, const void **old,
					 size_t *old_len, const void **new,
					 size_t *new_len)
{
	return true;
}

#endif /* CONFIG_TEXT_POKE_BUSTED */

#endif /* _TEXT_POKE_BUSTED_H */
