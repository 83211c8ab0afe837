/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEXT_POKE_LISTENER_H
#define _TEXT_POKE_LISTENER_H

#include <linux/perf_event.h>

/*
 * An event for tests that listens: from here on batches are guarded and
 * recorded.  Ends with perf_event_release_kernel().
 */
static inline struct perf_event *text_poke_listener_open(int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.config		= PERF_COUNT_SW_DUMMY,
		.size		= sizeof(attr),
		.text_poke	= 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

#endif /* _TEXT_POKE_LISTENER_H */
