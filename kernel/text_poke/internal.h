/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_INTERNAL_H
#define _TEXT_POKE_INTERNAL_H

#include <linux/text_poke.h>

/**
 * struct text_poke_stats - what the core has done since boot
 * @pokes:	sites changed
 * @batches:	batches written, of which
 * @direct:	 without a guard
 * @guarded:	 with one
 * @syncs:	calls of arch_text_poke_sync()
 * @mappings:	calls of arch_text_poke_map()
 * @records:	records emitted, those of a reversal included
 * @refused:	sites or batches turned down
 * @rolled_back: batches that failed midway
 *
 * Written under text_mutex; read without.
 */
struct text_poke_stats {
	u64 pokes;
	u64 batches;
	u64 direct;
	u64 guarded;
	u64 syncs;
	u64 mappings;
	u64 records;
	u64 refused;
	u64 rolled_back;
};

extern struct text_poke_stats text_poke_stats;

/*
 * The number of times in a row that a CPU may find the same trap gone before
 * text_poke_handle_trap() stops believing it.  One is normal.  A CPU that
 * keeps executing what memory no longer holds has missed a sync or its cache
 * maintenance, and is better off with a report than in a loop.
 */
#define TEXT_POKE_REREADS 256

/*
 * The number of sites in a wave.  Fewer make for fewer traps, more for fewer
 * syncs; this is one sync for some 1500 functions that ftrace turns on, each
 * of which is a call site and a literal.
 */
#define TEXT_POKE_WAVE 3072U

void text_poke_publish(const struct text_poke_site *sites, unsigned int nr);
void text_poke_retire(void);
u64 text_poke_traps(void);
u64 text_poke_rereads(void);

int text_poke_store(void *alias, const void *bytes, size_t len);

#endif /* _TEXT_POKE_INTERNAL_H */
