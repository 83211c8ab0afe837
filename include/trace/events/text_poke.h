/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM text_poke

#if !defined(_TRACE_TEXT_POKE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TEXT_POKE_H

#include <linux/tracepoint.h>

/**
 * text_poke_batch_begin - a batch is about to be written
 * @sites:	how many instructions and literals
 * @guarded:	with traps; otherwise directly
 * @listening:	an event gets records
 */
TRACE_EVENT(text_poke_batch_begin,

	TP_PROTO(unsigned int sites, bool guarded, bool listening),

	TP_ARGS(sites, guarded, listening),

	TP_STRUCT__entry(
		__field(unsigned int, sites)
		__field(bool, guarded)
		__field(bool, listening)
	),

	TP_fast_assign(
		__entry->sites = sites;
		__entry->guarded = guarded;
		__entry->listening = listening;
	),

	TP_printk("sites=%u guarded=%d listening=%d", __entry->sites,
		  __entry->guarded, __entry->listening)
);

/**
 * text_poke_batch_end - a batch has been written, or rolled back
 * @sites:	how many instructions and literals
 * @pages:	on how many pages they are
 * @mappings:	how often text was mapped for writing
 * @syncs:	how often all CPUs were synchronised
 * @ns:		nanoseconds since text_poke_batch_begin
 * @ret:	0 or an error: rolled back
 */
TRACE_EVENT(text_poke_batch_end,

	TP_PROTO(unsigned int sites, unsigned int pages, u64 mappings,
		 u64 syncs, u64 ns, int ret),

	TP_ARGS(sites, pages, mappings, syncs, ns, ret),

	TP_STRUCT__entry(
		__field(unsigned int, sites)
		__field(unsigned int, pages)
		__field(u64, mappings)
		__field(u64, syncs)
		__field(u64, ns)
		__field(int, ret)
	),

	TP_fast_assign(
		__entry->sites = sites;
		__entry->pages = pages;
		__entry->mappings = mappings;
		__entry->syncs = syncs;
		__entry->ns = ns;
		__entry->ret = ret;
	),

	TP_printk("sites=%u pages=%u mappings=%llu syncs=%llu ns=%llu ret=%d",
		  __entry->sites, __entry->pages, __entry->mappings,
		  __entry->syncs, __entry->ns, __entry->ret)
);

#endif /* _TRACE_TEXT_POKE_H */

#include <trace/define_trace.h>
