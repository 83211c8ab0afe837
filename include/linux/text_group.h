/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TEXT_GROUP_H
#define _LINUX_TEXT_GROUP_H

/*
 * Text group: static keys and static calls that change together
 *
 * static_key_enable(), static_key_disable() and static_call_update() change
 * the text before they return, and interrupt every CPU for that.  A caller that
 * has a hundred of them to change, and does not rely on the first before it
 * asks for the last, puts them into a group, which is one batch.
 *
 *	struct text_change changes[NR];
 *	TEXT_GROUP(group);
 *
 *	for (i = 0; i < NR; i++)
 *		text_group_key(&group, &changes[i], &keys[i].key, true);
 *	ret = text_group_commit(&group);
 *
 * There are four steps:
 *
 *   add       text_group_key(), text_group_call(): remember the request.
 *             Nothing has changed yet, and nothing is looked at: another task
 *             may change the same key before the commit.
 *   commit    text_group_commit(): take the locks, look at the states, change
 *             the text as one batch
 *   complete  part of the commit: the keys are enabled, and the calls
 *             have their functions, as soon as the text is live on every CPU
 *   release   the caller's: requests, and what the old text led to
 *
 * A caller publishes what the new text needs before the commit, and what the old
 * text must not see after it.
 *
 * A group promises cost, not atomicity.  During the commit any part of it may be
 * live, in any order, on any CPU.  After the commit all of it is, or the request
 * says why it is not.  What needs an order goes into two groups.
 *
 * A group belongs to one task.  It is not a plug: nothing that is done
 * by other functions meanwhile is part of it, or delayed.
 */

#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/static_call.h>

/**
 * struct text_group - requests that are committed together
 * @changes:	list of struct text_change
 */
struct text_group {
	struct list_head changes;
};

/**
 * struct text_change - one request, in memory of the caller
 * @node:	in the group
 * @key:	the static key to be changed, or NULL
 * @enable:	what it shall be
 * @call:	the static call to be updated, if @key is NULL
 * @tramp:	its trampoline
 * @func:	what it shall call
 * @pending:	it has to change, and has not yet
 * @error:	after the commit: 0, or why it is as it was before
 */
struct text_change {
	struct list_head node;
	struct static_key *key;
	bool enable;
	struct static_call_key *call;
	void *tramp;
	void *func;
	bool pending;
	int error;
};

#define TEXT_GROUP(name) \
	struct text_group name = { .changes = LIST_HEAD_INIT(name.changes) }

/**
 * text_group_key - ask for a static key to be enabled or disabled
 * @group:	the group
 * @change:	the request; not used otherwise until the commit has returned
 * @key:	a key that is only ever enabled and disabled, not counted
 * @enable:	what it shall be
 *
 * The same key is in a group once at most.
 *
 * Context: Any.
 */
static inline void text_group_key(struct text_group *group,
				  struct text_change *change,
				  struct static_key *key, bool enable)
{
	*change = (struct text_change) {
		.key	= key,
		.enable	= enable,
	};
	list_add_tail(&change->node, &group->changes);
}

/**
 * text_group_call - ask for a static call to be updated
 * @group:	the group
 * @change:	the request; not used otherwise until the commit has returned
 * @call:	the static call's key
 * @tramp:	its trampoline
 * @func:	what it shall call
 *
 * The same static call is in a group once at most.
 *
 * Context: Any.
 */
static inline void text_group_call(struct text_group *group,
				   struct text_change *change,
				   struct static_call_key *call, void *tramp,
				   void *func)
{
	*change = (struct text_change) {
		.call	= call,
		.tramp	= tramp,
		.func	= func,
	};
	list_add_tail(&change->node, &group->changes);
}

/**
 * text_group_call_by_name - text_group_call(), types as static_call_update()
 * @group:	the group
 * @change:	the request; not used otherwise until the commit has returned
 * @name:	the static call's
 * @new_func:	what it shall call
 *
 * Context: Any.
 */
#define text_group_call_by_name(group, change, name, new_func)			\
do {										\
	typeof(&STATIC_CALL_TRAMP(name)) __func = (new_func);			\
										\
	text_group_call(group, change, &STATIC_CALL_KEY(name),			\
			STATIC_CALL_TRAMP_ADDR(name), __func);			\
} while (0)

#ifdef CONFIG_TEXT_POKE

int text_group_commit(struct text_group *group);

#else /* !CONFIG_TEXT_POKE */

/* One by one, by functions that have no error to return. */
static inline int text_group_commit(struct text_group *group)
{
	struct text_change *change, *next;

	list_for_each_entry_safe(change, next, &group->changes, node) {
		list_del_init(&change->node);
		if (!change->key)
			__static_call_update(change->call, change->tramp,
					     change->func);
		else if (change->enable)
			static_key_enable(change->key);
		else
			static_key_disable(change->key);
	}
	return 0;
}

#endif /* CONFIG_TEXT_POKE */

#endif /* _LINUX_TEXT_GROUP_H */
