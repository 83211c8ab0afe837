/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_BATCH_H
#define _TEXT_POKE_BATCH_H

/*
 * The batch, as core.c, batch.c, guard.c and write.c share it.
 *
 * There is one.  core.c fills and empties it, batch.c chooses how it is written,
 * guard.c says what is stored when, and write.c stores it; each calls those
 * after it only.  text_mutex protects all that is in here.
 */

#include <linux/text_poke.h>

#include "internal.h"

/* The sites that are queued. */
extern struct text_poke_queue text_poke_batch;

/* A rollback failed; if the sites are published they stay so. */
extern bool text_poke_stuck;

static inline struct text_poke_site *site_at(unsigned int i)
{
	return text_poke_site_at(&text_poke_batch, i);
}

int text_poke_write_batch(void);
void text_poke_undo_again(void);

/*
 * Passes: which bytes of which sites are stored in one go over the batch.
 */
enum text_poke_pass {
	/* The new bytes, whole. */
	PASS_DIRECT,
	PASS_UNDO_DIRECT,
	/* Literals whole; traps into the units (step b). */
	PASS_ARM,
	/* What follows the units (step e). */
	PASS_TAIL,
	PASS_UNDO_TAIL,
	/* New units over the traps; sites without a trap whole (step f). */
	PASS_FINAL,
	/* Traps over the new units. */
	PASS_REARM,
	/* Old units over the traps; literals and sites without a trap whole. */
	PASS_UNDO_ARM,
};

int text_poke_run_pass(enum text_poke_pass pass, u64 deadline, unsigned int *i,
		       unsigned int end);
bool text_poke_undo_pass(enum text_poke_pass pass, unsigned int i,
			 unsigned int end);
int text_poke_write_guarded(bool listening);
void text_poke_rest(void);

#endif /* _TEXT_POKE_BATCH_H */
