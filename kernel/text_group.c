// SPDX-License-Identifier: GPL-2.0
/*
 * Static keys and static calls that change together.
 *
 * All locks are held from the moment at which the state of a key or call is
 * looked at until it is what the text is.  In between, a key that is being
 * enabled says -1, so that a task which wants it enabled waits for the lock.
 */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/static_call.h>
#include <linux/text_group.h>
#include <linux/text_poke.h>

/* Does it have to change?  If so, it is about to. */
static bool text_change_begin(struct text_change *change)
{
	int ret;

	if (!change->key)
		return change->call->func != change->func;

	ret = static_key_group_begin(change->key, change->enable);
	if (ret < 0)
		change->error = ret;
	return ret > 0;
}

static void text_change_end(struct text_change *change, int error)
{
	change->error = error;
	change->pending = false;
	if (change->key)
		static_key_group_end(change->key, change->enable, error);
	else
		static_call_end_update(change->call, change->func, error);
}

/* Is the key of @change about to be disabled by a request before it? */
static bool is_being_disabled(struct text_group *group,
			      const struct text_change *change)
{
	struct text_change *earlier;

	list_for_each_entry(earlier, &group->changes, node) {
		if (earlier == change)
			break;
		if (earlier->pending && earlier->key == change->key)
			return true;
	}
	return false;
}

/*
 * A key that is being enabled says so itself.  One that is being disabled looks as
 * if it were, and the list is searched for it, if any is.
 */
static void begin_all(struct text_group *group)
{
	struct text_change *change;
	bool disabling = false;

	list_for_each_entry(change, &group->changes, node) {
		if (disabling && change->key && change->enable &&
		    is_being_disabled(group, change)) {
			change->error = -EEXIST;
			continue;
		}
		change->pending = text_change_begin(change);
		if (change->pending && change->key && !change->enable)
			disabling = true;
	}
}

static void end_all(struct text_group *group, int error)
{
	struct text_change *change;

	list_for_each_entry(change, &group->changes, node)
		if (change->pending)
			text_change_end(change, error);
}

/* With one CPU, and before the scheduler runs, nothing is queued. */
static bool is_queued(void)
{
	return system_state != SYSTEM_BOOTING;
}

/* Queue the calls that have to change, up to the first that cannot be. */
static struct text_change *queue_calls(struct text_group *group, int *error)
{
	struct text_change *change;

	list_for_each_entry(change, &group->changes, node) {
		if (change->key || !change->pending)
			continue;
		*error = static_call_group_queue(change->call, change->tramp,
						 change->func);
		if (*error)
			return change;
	}
	return NULL;
}

/* At boot all sites are changed that can be, one by one, and none is taken back. */
static int queue_keys(struct text_group *group)
{
	struct text_change *change;
	int ret;

	list_for_each_entry(change, &group->changes, node) {
		if (!change->key || !change->pending)
			continue;
		ret = static_key_group_queue(change->key);
		if (ret && is_queued())
			return ret;
	}
	return 0;
}

/*
 * What cannot be queued is left out, and the others are queued anew: some of its
 * sites may be in the queue.  That would not help where nothing can be queued.
 * Keys come last, so that each tells only once of a site that stays behind.
 */
static int queue_all(struct text_group *group)
{
	struct text_change *bad;
	int error;

	while ((bad = queue_calls(group, &error))) {
		if (is_queued())
			text_poke_batch_cancel();
		if (error == -ENOMEM || error == -EIO || error == -EBUSY)
			return error;
		text_change_end(bad, error);
	}
	error = queue_keys(group);
	if (error)
		text_poke_batch_cancel();
	return error;
}

static int change_text(struct text_group *group)
{
	int ret;

	guard(mutex)(&text_mutex);
	ret = queue_all(group);
	if (ret || !is_queued())
		return ret;
	ret = text_poke_batch_finish();
	if (ret)
		text_poke_failed("text group", NULL, ret);
	return ret;
}

/* The first error, and no request is left. */
static int text_group_drain(struct text_group *group)
{
	struct text_change *change, *next;
	int ret = 0;

	list_for_each_entry_safe(change, next, &group->changes, node) {
		list_del_init(&change->node);
		ret = ret ?: change->error;
	}
	return ret;
}

/**
 * text_group_commit - change all keys and calls of a group in one batch
 * @group:	the group; empty afterwards
 *
 * A key or call that is already what it shall be is left alone.  One that
 * cannot be queued is left out.  If the batch fails, or there is no memory for it,
 * all keys and calls are as they were, and so is the text.  It may be tried again.
 * A site of a key whose instruction cannot be changed alone is told of and stays
 * behind, as with static_key_enable(), which is no error.
 *
 * Context: Process context, may sleep; takes cpu_hotplug_lock, jump_label_mutex,
 * static_call_mutex and text_mutex, in this order.
 * Return: 0; or the error of the first request that has one, each of which has
 * been told: -EEXIST if a key was to change in the group already (to disable one
 * twice is not noticed), and else as of text_poke_batch_add() and
 * text_poke_batch_finish(), in <linux/text_poke.h>.  With -EIO some sites may
 * emulate the new instruction, and what both old and new lead to has to stay.
 */
int text_group_commit(struct text_group *group)
{
	if (list_empty(&group->changes))
		return 0;

	cpus_read_lock();
	jump_label_lock();
	static_call_group_lock();
	begin_all(group);
	end_all(group, change_text(group));
	static_call_group_unlock();
	jump_label_unlock();
	cpus_read_unlock();
	return text_group_drain(group);
}
EXPORT_SYMBOL_GPL(text_group_commit);
