// SPDX-License-Identifier: GPL-2.0
/* How a tool reads the records of one CPU. */
#include <stddef.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "read_records.h"

#define DATA_PAGES	256		/* a power of 2 */

int reader_open(struct reader *r, int cpu)
{
	long page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.config		= PERF_COUNT_SW_DUMMY,
		.size		= sizeof(attr),
		.text_poke	= 1,
		.sample_id_all	= 1,	/* other records than samples, too, */
		.sample_type	= PERF_SAMPLE_TIME,	/* have a time */
		.use_clockid	= 1,
		.clockid	= CLOCK_MONOTONIC_RAW,
	};

	r->lost = 0;
	r->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	if (r->fd < 0)
		return -1;
	r->meta = mmap(NULL, (1 + DATA_PAGES) * page, PROT_READ | PROT_WRITE,
		       MAP_SHARED, r->fd, 0);
	return r->meta == MAP_FAILED ? -1 : 0;
}

/* A record may begin at the end of the buffer and go on at the beginning. */
static void copy(const struct reader *r, __u64 pos, void *to, __u64 len)
{
	const char *data = (char *)r->meta + r->meta->data_offset;

	for (__u64 i = 0; i < len; i++)
		((char *)to)[i] = data[(pos + i) % r->meta->data_size];
}

void reader_read(struct reader *r, reader_fn *fn)
{
	__u64 head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
	__u64 pos = r->meta->data_tail;
	static __u64 record[8192];		/* the longest: 64 KiB */
	const struct perf_event_header *h = (void *)record;

	for (; pos < head; pos += h->size) {
		copy(r, pos, record, sizeof(*h));
		copy(r, pos, record, h->size);
		if (h->type == PERF_RECORD_TEXT_POKE)
			fn((void *)(h + 1), record[h->size / 8 - 1],
			   h->size - sizeof(*h) -
			   offsetof(struct text_poke, bytes));
		else if (h->type == PERF_RECORD_LOST)
			r->lost += record[2];
	}
	__atomic_store_n(&r->meta->data_tail, pos, __ATOMIC_RELEASE);
}
