/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_DEBUG_H
#define _TEXT_POKE_DEBUG_H

/*
 * The runtime checker, which the core tells of every step it takes.
 *
 * Each hook is called right after what it is named for, with text_mutex held
 * unless it says otherwise.  Without CONFIG_TEXT_POKE_DEBUG they are nothing.
 */

#include <linux/text_poke.h>

struct text_poke_queue;

/**
 * enum text_poke_stage - how far a site of the batch has got
 * @STAGE_IDLE:		its old bytes are there
 * @STAGE_ARMED:	the trap is stored (b)
 * @STAGE_SYNCED:	every CPU has refetched since (c)
 * @STAGE_RECORDED:	its record is out (d)
 * @STAGE_LEFT:		every CPU has refetched since (e)
 * @STAGE_WRITTEN:	its unit is stored (f)
 * @STAGE_DONE:		every CPU has refetched since (g)
 */
enum text_poke_stage {
	STAGE_IDLE,
	STAGE_ARMED,
	STAGE_SYNCED,
	STAGE_RECORDED,
	STAGE_LEFT,
	STAGE_WRITTEN,
	STAGE_DONE,
};

/**
 * enum text_poke_stored - what a store puts there
 * @STORED_WHOLE:	the whole instruction or literal
 * @STORED_TRAP:	a trap over the unit
 * @STORED_TAIL:	what follows the unit
 * @STORED_UNIT:	the unit over the trap
 */
enum text_poke_stored {
	STORED_WHOLE,
	STORED_TRAP,
	STORED_TAIL,
	STORED_UNIT,
};

/**
 * enum text_poke_moment - when a watcher is called
 * @BATCH_BEGINS:	before the first store
 * @BATCH_SYNCED:	every CPU has refetched
 * @BATCH_ENDS:		after the last sync
 * @BATCH_UNDOING:	before the first store of a rollback, and after each sync
 * @BATCH_UNDONE:	after the last sync of one
 */
enum text_poke_moment {
	BATCH_BEGINS,
	BATCH_SYNCED,
	BATCH_ENDS,
	BATCH_UNDOING,
	BATCH_UNDONE,
};

/**
 * typedef text_poke_watch_t - what wants to know how far batches are
 * @batch:	its sites, of which the checker keeps the stages
 * @guarded:	the batch has a guard
 * @moment:	what has just happened
 */
typedef void text_poke_watch_t(const struct text_poke_queue *batch,
			       bool guarded, enum text_poke_moment moment);

#ifdef CONFIG_TEXT_POKE_DEBUG

/* At most one; NULL: there is none.  Protected by text_mutex. */
extern text_poke_watch_t *text_poke_watcher;

void text_poke_check_begin(const struct text_poke_queue *batch, bool guarded,
			   bool listening);
void text_poke_check_group(bool begins);
void text_poke_check_published(bool published);
void text_poke_check_let_go(const atomic_t *refs);
void text_poke_check_mapped(bool mapped);
void text_poke_check_store(struct text_poke_site *site,
			   enum text_poke_stored what);
void text_poke_check_flush(const void *addr, size_t len);
void text_poke_check_sync_begin(void);
void text_poke_check_sync_end(void);
void text_poke_check_record(struct text_poke_site *site);
void text_poke_check_undo(void);
void text_poke_check_end(void);

/* On every CPU that has refetched: from an interrupt, or in bring-up. */
void text_poke_check_refetched(void);
/* By the poker, which leaves a CPU alone. */
void text_poke_check_left_alone(int cpu);
/* By the poker, which had these CPUs refetch without an interrupt. */
void text_poke_check_fenced(const struct cpumask *cpus);
/* On a CPU that comes online, once it counts as such. */
void text_poke_check_online(void);

#else /* !CONFIG_TEXT_POKE_DEBUG */

static inline void text_poke_check_begin(const struct text_poke_queue *batch,
					 bool guarded, bool listening) { }
static inline void text_poke_check_group(bool begins) { }
static inline void text_poke_check_published(bool published) { }
static inline void text_poke_check_let_go(const atomic_t *refs) { }
static inline void text_poke_check_mapped(bool mapped) { }
static inline void text_poke_check_store(struct text_poke_site *site,
					 enum text_poke_stored what) { }
static inline void text_poke_check_flush(const void *addr, size_t len) { }
static inline void text_poke_check_sync_begin(void) { }
static inline void text_poke_check_sync_end(void) { }
static inline void text_poke_check_record(struct text_poke_site *site) { }
static inline void text_poke_check_undo(void) { }
static inline void text_poke_check_end(void) { }
static inline void text_poke_check_refetched(void) { }
static inline void text_poke_check_left_alone(int cpu) { }
static inline void text_poke_check_fenced(const struct cpumask *cpus) { }
static inline void text_poke_check_online(void) { }

#endif /* CONFIG_TEXT_POKE_DEBUG */

#endif /* _TEXT_POKE_DEBUG_H */
