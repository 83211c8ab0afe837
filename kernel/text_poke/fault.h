/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_FAULT_H
#define _TEXT_POKE_FAULT_H

#include <linux/types.h>

struct task_struct;

/**
 * enum text_poke_fault - where fail_text_poke makes something fail
 * @TEXT_POKE_FAULT_MAP:	text cannot be mapped for writing
 * @TEXT_POKE_FAULT_STORE:	a store faults
 * @TEXT_POKE_FAULT_VERIFY:	the old bytes are not those that were expected
 * @TEXT_POKE_FAULT_QUEUE:	there is no memory for a longer queue
 * @TEXT_POKE_FAULT_SLOT:	there is no memory for slots
 * @TEXT_POKE_FAULT_SYNC:	a sync takes long
 * @TEXT_POKE_FAULT_REST:	the poker is away for long while nothing traps
 * @TEXT_POKE_FAULT_NR:		how many there are
 */
enum text_poke_fault {
	TEXT_POKE_FAULT_MAP,
	TEXT_POKE_FAULT_STORE,
	TEXT_POKE_FAULT_VERIFY,
	TEXT_POKE_FAULT_QUEUE,
	TEXT_POKE_FAULT_SLOT,
	TEXT_POKE_FAULT_SYNC,
	TEXT_POKE_FAULT_REST,
	TEXT_POKE_FAULT_NR,
};

#ifdef CONFIG_FAIL_TEXT_POKE
bool text_poke_should_fail(enum text_poke_fault point);
void text_poke_plan_stores(unsigned int nr);
bool text_poke_store_fails(void);
void text_poke_delay(void);
void text_poke_fail_at(enum text_poke_fault point, unsigned int after);
void text_poke_fail_from(enum text_poke_fault point, unsigned int after);
void text_poke_fail_always(enum text_poke_fault point);
void text_poke_fail_for(const struct task_struct *task);
void text_poke_fail_no_more(void);
#else
static inline bool text_poke_should_fail(enum text_poke_fault point)
{
	return false;
}

static inline void text_poke_plan_stores(unsigned int nr) { }

static inline bool text_poke_store_fails(void)
{
	return false;
}

static inline void text_poke_delay(void) { }
static inline void text_poke_fail_at(enum text_poke_fault point,
				     unsigned int after) { }
static inline void text_poke_fail_for(const struct task_struct *task) { }
static inline void text_poke_fail_no_more(void) { }
#endif

#endif /* _TEXT_POKE_FAULT_H */
