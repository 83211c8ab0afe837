// SPDX-License-Identifier: GPL-2.0
/*
 * Breaking the core on purpose: text_poke.busted=NAME, at boot or in
 * /sys/module/text_poke/parameters/busted.
 */
#define pr_fmt(fmt) "text_poke: " fmt

#include <linux/ctype.h>
#include <linux/capability.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/text_poke.h>

#include "busted.h"
#include "internal.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "text_poke."

#define NAME(name) [TEXT_POKE_BUSTED_ ## name] = #name

static const char * const names[] = {
	NAME(NOTHING),
	NAME(NO_TEXT_CHECK),
	NAME(NO_OLD_CHECK),
	NAME(NO_EMULATE_CHECK),
	NAME(NO_REPLACE_CHECK),
	NAME(NO_PATH_CHECK),
	NAME(NO_CALLER_CHECK),
	NAME(NO_SORT),
	NAME(NO_OVERLAP_CHECK),
	NAME(UNHEARD),
	NAME(ALWAYS_DIRECT),
	NAME(NO_BARRIER),
	NAME(NO_STUCK),
	NAME(EARLY_ANY_TIME),
	NAME(MUTEX_DROPPED),
	NAME(NO_PUBLISH),
	NAME(PUBLISH_LATE),
	NAME(RETIRE_EARLY),
	NAME(NO_RETIRE),
	NAME(RETIRE_AT_ONCE),
	NAME(NO_TRAP),
	NAME(NO_TAIL),
	NAME(NO_UNIT),
	NAME(UNIT_BEFORE_TAIL),
	NAME(LITERAL_LATE),
	NAME(NO_FLUSH),
	NAME(FLUSH_ELSEWHERE),
	NAME(UNMAP_LATE),
	NAME(MAP_LONG),
	NAME(PREEMPTIBLE),
	NAME(ARM_LONG),
	NAME(NO_SYNC_C),
	NAME(NO_SYNC_E),
	NAME(NO_SYNC_G),
	NAME(NO_SYNC_DIRECT),
	NAME(SYNC_SELF),
	NAME(SYNC_NO_WAIT),
	NAME(ONLINE_NO_SYNC),
	NAME(LEAVE_ALL),
	NAME(LEAVE_UNWATCHED),
	NAME(NO_CATCH_UP),
	NAME(RECORD_EARLY),
	NAME(RECORD_LATE),
	NAME(RECORD_KEPT),
	NAME(RECORD_DROPPED),
	NAME(RECORD_TWICE),
	NAME(RECORD_SWAPPED),
	NAME(RECORD_SHORT),
	NAME(RECORD_MOVED),
	NAME(RECORD_PAIR),
	NAME(NO_UNDO),
	NAME(UNDO_UNRECORDED),
	NAME(UNDO_GROUP),
	NAME(STOP_NO_UNDO),
	NAME(STOP_UNRECORDED),
	NAME(STOP_LONG),
	NAME(LOOKUP_SHORT),
	NAME(LOOKUP_PASSED),
	NAME(EMULATE_FAR),
	NAME(EMULATE_NOTHING),
	NAME(NO_REREAD),
	NAME(REREAD_FOREVER),
	NAME(SLOT_UNRECORDED),
	NAME(SLOT_NO_QUIESCE),
	NAME(SLOT_NO_RETURN),
};

static_assert(ARRAY_SIZE(names) == TEXT_POKE_BUSTED_NR);

int text_poke_busted_step;

/* Is @given, as from a command line, the constant's @name? */
static bool is_named(const char *given, const char *name)
{
	for (; *name; given++, name++)
		if (*given != (*name == '_' ? '-' : tolower(*name)))
			return false;
	return !*given || *given == '\n';
}

static int busted_set(const char *val, const struct kernel_param *kp)
{
	int i, ret;

	/* The command line may. */
	if (system_state >= SYSTEM_RUNNING && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	ret = security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL);
	if (ret)
		return ret;

	for (i = 0; i < TEXT_POKE_BUSTED_NR; i++) {
		if (!is_named(val, names[i]))
			continue;
		WRITE_ONCE(text_poke_busted_step, i);
		pr_alert("breaking on purpose: %s\n", names[i]);
		add_taint(TAINT_USER, LOCKDEP_STILL_OK);
		return 0;
	}
	return -EINVAL;
}

/*
 * When the command line was read, there may have been nothing yet to be asked:
 * what it said may not be allowed, as it turns out.
 */
static int __init busted_init(void)
{
	int ret;

	if (!text_poke_busted_step)
		return 0;
	ret = security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL);
	if (ret)
		WRITE_ONCE(text_poke_busted_step, 0);
	return ret;
}
early_initcall(busted_init);

static int busted_get(char *buf, const struct kernel_param *kp)
{
	int len = 0, i;

	for (i = 0; i < TEXT_POKE_BUSTED_NR; i++) {
		bool now = i == READ_ONCE(text_poke_busted_step);

		len += sysfs_emit_at(buf, len, now ? "[%s]\n" : "%s\n",
				     names[i]);
	}
	return len;
}

static const struct kernel_param_ops busted_ops = {
	.set	= busted_set,
	.get	= busted_get,
};

module_param_cb(busted, &busted_ops, NULL, 0600);

/* Syncs since the batch was begun: each comes after another step. */
static unsigned int syncs_of_batch;
static u64 batch_of_syncs;

/**
 * text_poke_skips_sync - is the sync that is due to be left out?
 *
 * Of a batch of one wave, the first sync is c, the second e and the third g.
 *
 * Context: text_mutex held.
 * Return: true if so.
 */
bool text_poke_skips_sync(void)
{
	if (batch_of_syncs != text_poke_stats.batches)
		syncs_of_batch = 0;
	batch_of_syncs = text_poke_stats.batches;

	switch (syncs_of_batch++) {
	case 0:
		return busted(NO_SYNC_C);
	case 1:
		return busted(NO_SYNC_E);
	case 2:
		return busted(NO_SYNC_G);
	}
	return false;
}

/* One in eight is dropped. */
static unsigned int records_asked_for;

/**
 * text_poke_bust_record - change what a record says
 * @addr:	where
 * @old:	the bytes from before
 * @old_len:	how many
 * @new:	the bytes from now on
 * @new_len:	how many
 *
 * Context: text_mutex held.
 * Return: whether there shall be a record.
 */
bool text_poke_bust_record(const void **addr, const void **old,
			   size_t *old_len, const void **new, size_t *new_len)
{
	if (busted(RECORD_DROPPED))
		return ++records_asked_for % 8;
	if (busted(RECORD_MOVED))
		*addr += TEXT_POKE_UNIT;
	if (busted(RECORD_SHORT) && *new_len)
		--*new_len;
	if (busted(RECORD_SWAPPED)) {
		swap(*old, *new);
		swap(*old_len, *new_len);
	}
	return true;
}
