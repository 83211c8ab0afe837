/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_TRACEPOINT_GROUP_H
#define _LINUX_TRACEPOINT_GROUP_H

/*
 * Tracepoint group: probes that are connected and disconnected together
 *
 * tracepoint_probe_register() and tracepoint_probe_unregister() change the text
 * of one tracepoint, and interrupt every CPU for that.  A group does so once for
 * any number of tracepoints; see <linux/text_group.h> for what that promises
 * and what not.
 *
 *	struct tracepoint_request request[2];
 *	TRACEPOINT_GROUP(group);
 *
 *	tracepoint_group_register(&group, &request[0], &__tracepoint_a,
 *				  probe_a, data);
 *	tracepoint_group_register(&group, &request[1], &__tracepoint_b,
 *				  probe_b, data);
 *	ret = tracepoint_group_commit(&group);
 *
 * Requests for one tracepoint are carried out in the order in which they were
 * added.
 */

#include <linux/list.h>
#include <linux/text_group.h>
#include <linux/tracepoint.h>

/**
 * struct tracepoint_group - requests that are committed together
 * @requests:	list of struct tracepoint_request
 */
struct tracepoint_group {
	struct list_head requests;
};

/**
 * struct tracepoint_request - one request, in memory of the caller
 * @node:	in the group
 * @tp:		the tracepoint
 * @func:	the probe, its data and its priority
 * @add:	it is to be connected; otherwise disconnected
 * @may_exist:	it is no bug if it is connected already
 * @error:	after the commit: 0, or why it was not done
 *
 * What follows is of use meanwhile, in the first request of each tracepoint.
 *
 * @same:	a request for the same tracepoint precedes this one
 * @registered:	the tracepoint's own function for the first probe was called
 * @old:	the probes before the commit
 * @new:	the probes after it
 * @target:	what the static call is to call
 * @late:	@new has to wait until the text is live
 * @key:	request for the tracepoint's static key
 * @call:	request for its static call
 */
struct tracepoint_request {
	struct list_head node;
	struct tracepoint *tp;
	struct tracepoint_func func;
	bool add;
	bool may_exist;
	int error;

	bool same;
	bool registered;
	struct tracepoint_func *old;
	struct tracepoint_func *new;
	void *target;
	bool late;
	struct text_change key;
	struct text_change call;
};

#define TRACEPOINT_GROUP(name) \
	struct tracepoint_group name = { \
		.requests = LIST_HEAD_INIT(name.requests) \
	}

/**
 * tracepoint_group_register - ask for a probe to be connected
 * @group:	the group
 * @request:	the request; not used otherwise until the commit has returned
 * @tp:		the tracepoint
 * @probe:	the probe
 * @data:	what the probe gets
 *
 * With the default priority.  The caller sees to it that the tracepoint
 * stays until the commit.
 *
 * Context: Any.
 */
static inline void tracepoint_group_register(struct tracepoint_group *group,
					     struct tracepoint_request *request,
					     struct tracepoint *tp, void *probe,
					     void *data)
{
	*request = (struct tracepoint_request) {
		.tp	= tp,
		.func	= { probe, data, TRACEPOINT_DEFAULT_PRIO },
		.add	= true,
	};
	list_add_tail(&request->node, &group->requests);
}

/**
 * tracepoint_group_unregister - ask for a probe to be disconnected
 * @group:	the group
 * @request:	the request; not used otherwise until the commit has returned
 * @tp:		the tracepoint
 * @probe:	the probe
 * @data:	what it got
 *
 * Context: Any.
 */
static inline void
tracepoint_group_unregister(struct tracepoint_group *group,
			    struct tracepoint_request *request,
			    struct tracepoint *tp, void *probe, void *data)
{
	*request = (struct tracepoint_request) {
		.tp	= tp,
		.func	= { probe, data },
	};
	list_add_tail(&request->node, &group->requests);
}

int tracepoint_group_commit(struct tracepoint_group *group);

#endif /* _LINUX_TRACEPOINT_GROUP_H */
