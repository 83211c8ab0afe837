/* SPDX-License-Identifier: GPL-2.0 */
#ifndef READ_RECORDS_H
#define READ_RECORDS_H

#include <linux/types.h>

/* What the kernel writes; a sample_id with the time follows the bytes. */
struct text_poke {
	__u64 addr;
	__u16 old_len;
	__u16 new_len;
	__u8 bytes[];
};

/* One CPU's events, and for a buffer what has been read of it. */
struct reader {
	int fd;
	struct perf_event_mmap_page *meta;
	__u64 lost;
};

/* @room: how many bytes there are after @poke, for its own and the time. */
typedef void reader_fn(const struct text_poke *poke, __u64 time, __u64 room);

int reader_open(struct reader *r, int cpu);
void reader_read(struct reader *r, reader_fn *fn);

#endif
