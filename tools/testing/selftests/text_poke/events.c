// SPDX-License-Identifier: GPL-2.0
/*
 * Text-poke records of every CPU, kept in memory.
 *
 * A record goes to the buffer of the CPU that pokes, or of another one if that
 * has none.  There is one event and one buffer per CPU that was online when they
 * were opened, and order comes from the time. The time is
 * CLOCK_MONOTONIC_RAW: perf's own clock may differ between CPUs by more than
 * the time in which text_mutex changes hands.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "text_poke.h"

#define RING_BYTES	(8UL << 20)
#define RECORD_MAX	65536
#define DRAIN_PERIOD_NS	1000000L

struct ring {
	int fd;
	int leader;
	size_t bytes;
	struct perf_event_mmap_page *meta;
	__u8 *data;
};

struct events {
	struct ring *rings;
	int nr_rings;
	size_t ring_bytes;
	enum start how;
	int only_cpu;
	struct pokes pokes;
	struct notes notes;
	__u64 lost;
	__u64 record[RECORD_MAX / sizeof(__u64)];
	pthread_mutex_t lock;
	pthread_t drainer;
	bool drains;
	bool stop;
};

/* A sample_id follows the bytes: old ones, new ones, padding to 8. */
struct poke_record {
	struct perf_event_header header;
	__u64 addr;
	__u16 old_len;
	__u16 new_len;
	__u8 bytes[];
};

/* What is announced has a name after this, which does not matter here. */
struct ksymbol_record {
	struct perf_event_header header;
	__u64 addr;
	__u32 len;
	__u16 type;
	__u16 flags;
};

struct lost_record {
	struct perf_event_header header;
	__u64 id;
	__u64 lost;
};

/* What sample_type asks for, in the order in which the ABI puts it. */
struct sample_id {
	__u32 pid, tid;
	__u64 time;
	__u32 cpu, reserved;
};

static int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu,
		     int leader)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->size = sizeof(*attr);
	attr->config = PERF_COUNT_SW_DUMMY;
	return syscall(SYS_perf_event_open, attr, pid, cpu, leader,
		       PERF_FLAG_FD_CLOEXEC);
}

static const struct perf_event_attr text_poke_attr = {
	.sample_type	= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	.read_format	= PERF_FORMAT_LOST,
	.sample_id_all	= 1,
	.text_poke	= 1,
	.ksymbol	= 1,
	.use_clockid	= 1,
	.clockid	= CLOCK_MONOTONIC_RAW,
};

int perf_open_text_poke(pid_t pid, int cpu, bool exclude_kernel)
{
	struct perf_event_attr attr = text_poke_attr;

	attr.exclude_kernel = exclude_kernel;
	return perf_open(&attr, pid, cpu, -1);
}

/* For an event that is to be enabled by something else than its own file. */
static int perf_open_disabled(int cpu, int leader)
{
	struct perf_event_attr attr = text_poke_attr;

	attr.disabled = 1;
	return perf_open(&attr, -1, cpu, leader);
}

/* It wants no records itself; a group has one clock. */
static int perf_open_leader(int cpu)
{
	struct perf_event_attr attr = {
		.disabled	= 1,
		.use_clockid	= text_poke_attr.use_clockid,
		.clockid	= text_poke_attr.clockid,
	};

	return perf_open(&attr, -1, cpu, -1);
}

/* A list with holes would be taken for a kernel that lost records. */
static void *must_alloc(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory for records\n");
		abort();
	}
	return p;
}

static struct poke *pokes_new(struct pokes *p)
{
	if (p->nr == p->room) {
		p->room = p->room ? 2 * p->room : 1 << 14;
		p->v = must_alloc(realloc(p->v, p->room * sizeof(*p->v)));
	}
	return &p->v[p->nr++];
}

/* It is at the end of every record, whatever its type. */
static struct sample_id sample_id_of(const struct events *ev,
				     const struct perf_event_header *h)
{
	struct sample_id id;

	memcpy(&id, (const __u8 *)ev->record + h->size - sizeof(id),
	       sizeof(id));
	return id;
}

static void keep_poke(struct events *ev, const struct perf_event_header *h)
{
	const struct poke_record *rec = (const void *)ev->record;
	size_t len = rec->old_len + rec->new_len;
	struct poke *p = pokes_new(&ev->pokes);

	*p = (struct poke) {
		.time		= sample_id_of(ev, h).time,
		.addr		= rec->addr,
		.seq		= ev->pokes.nr,
		.old		= must_alloc(malloc(len + 1)),
		.old_len	= rec->old_len,
		.new_len	= rec->new_len,
	};
	p->new = p->old + p->old_len;
	memcpy(p->old, rec->bytes, len);
}

static void keep_ksymbol(struct events *ev, const struct perf_event_header *h)
{
	const struct ksymbol_record *rec = (const void *)ev->record;
	bool gone = rec->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;

	notes_add(&ev->notes, (struct note) {
		.kind	= gone ? WITHDRAWN : ANNOUNCED,
		.time	= sample_id_of(ev, h).time,
		.addr	= rec->addr,
		.len	= rec->len,
	});
}

static void keep_record(struct events *ev, const struct perf_event_header *h)
{
	const struct lost_record *lost = (const void *)ev->record;

	if (h->type == PERF_RECORD_TEXT_POKE)
		keep_poke(ev, h);
	else if (h->type == PERF_RECORD_KSYMBOL)
		keep_ksymbol(ev, h);
	else if (h->type == PERF_RECORD_LOST)
		ev->lost += lost->lost;
}

/* A record may start at the end of the buffer and go on at its beginning. */
static void ring_copy(const struct ring *r, __u64 pos, void *to, size_t len)
{
	size_t off = pos % r->bytes;
	size_t first = r->bytes - off;

	if (first > len)
		first = len;
	memcpy(to, r->data + off, first);
	memcpy((__u8 *)to + first, r->data, len - first);
}

static void ring_drain(struct events *ev, struct ring *r)
{
	/* The kernel's stores to the records come before its store to head. */
	__u64 head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);
	__u64 tail = r->meta->data_tail;
	struct perf_event_header h;

	while (tail < head) {
		ring_copy(r, tail, &h, sizeof(h));
		ring_copy(r, tail, ev->record, h.size);
		keep_record(ev, &h);
		tail += h.size;
	}
	/* Our reads come before the kernel may write there again. */
	__atomic_store_n(&r->meta->data_tail, tail, __ATOMIC_RELEASE);
}

/* The drainer's turn and the tests' own meet here. */
static void events_drain(struct events *ev)
{
	pthread_mutex_lock(&ev->lock);
	for (int i = 0; i < ev->nr_rings; i++)
		ring_drain(ev, &ev->rings[i]);
	pthread_mutex_unlock(&ev->lock);
}

/* Bursts of tens of thousands of records fill a buffer within some 100 ms. */
static void *drainer(void *arg)
{
	struct timespec period = { .tv_nsec = DRAIN_PERIOD_NS };
	struct events *ev = arg;

	while (!__atomic_load_n(&ev->stop, __ATOMIC_RELAXED)) {
		events_drain(ev);
		nanosleep(&period, NULL);
	}
	return NULL;
}

static int ring_map(struct ring *r)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page + r->bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, r->fd, 0);

	if (map == MAP_FAILED)
		return -1;
	r->meta = map;
	r->data = (__u8 *)map + page;
	return 0;
}

static void ring_close(struct ring *r)
{
	munmap(r->meta, sysconf(_SC_PAGESIZE) + r->bytes);
	close(r->fd);
	if (r->leader >= 0)
		close(r->leader);
}

static int ring_open(struct ring *r, int cpu, enum start how)
{
	r->leader = -1;
	if (how == START_MAP)
		return perf_open_text_poke(-1, cpu, false);
	if (how == START_GROUP) {
		r->leader = perf_open_leader(cpu);
		if (r->leader < 0)
			return -1;
	}
	return perf_open_disabled(cpu, r->leader);
}

/* CPUs that are not online answer ENODEV; the others get what they record. */
static int rings_open(struct events *ev)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	ev->rings = must_alloc(calloc(cpus, sizeof(*ev->rings)));
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct ring *r = &ev->rings[ev->nr_rings];

		if (ev->only_cpu >= 0 && cpu != ev->only_cpu)
			continue;
		r->bytes = ev->ring_bytes;
		r->fd = ring_open(r, cpu, ev->how);
		if (r->fd < 0 && errno == ENODEV)
			continue;
		if (r->fd < 0)
			return -1;
		ev->nr_rings++;
	}
	return 0;
}

static int rings_map(struct events *ev)
{
	for (int i = 0; i < ev->nr_rings; i++)
		if (ring_map(&ev->rings[i]))
			return -1;
	return 0;
}

static struct events *events_new(size_t ring_bytes, enum start how, int cpu)
{
	struct events *ev = must_alloc(calloc(1, sizeof(*ev)));

	ev->ring_bytes = ring_bytes;
	ev->how = how;
	ev->only_cpu = cpu;
	pthread_mutex_init(&ev->lock, NULL);
	return rings_open(ev) ? NULL : ev;
}

/* Without buffers, or disabled: nothing is recorded before events_start(). */
struct events *events_prepare(enum start how)
{
	struct events *ev = events_new(RING_BYTES, how, -1);

	if (!ev || how == START_MAP)
		return ev;
	return rings_map(ev) ? NULL : ev;
}

static int groups_enable(struct events *ev)
{
	for (int i = 0; i < ev->nr_rings; i++)
		if (ioctl(ev->rings[i].leader, PERF_EVENT_IOC_ENABLE,
			  PERF_IOC_FLAG_GROUP))
			return -1;
	return 0;
}

/* By the thread that has prepared them. */
static int events_begin(struct events *ev)
{
	switch (ev->how) {
	case START_GROUP:
		return groups_enable(ev);
	case START_TASK:
		return prctl(PR_TASK_PERF_EVENTS_ENABLE);
	default:
		return rings_map(ev);
	}
}

int events_start(struct events *ev)
{
	if (events_begin(ev) ||
	    pthread_create(&ev->drainer, NULL, drainer, ev))
		return -1;
	ev->drains = true;
	return 0;
}

struct events *events_open(void)
{
	struct events *ev = events_prepare(START_MAP);

	return ev && !events_start(ev) ? ev : NULL;
}

/* One event and one buffer, for all CPUs. */
struct events *events_open_on(int cpu)
{
	struct events *ev = events_new(RING_BYTES, START_MAP, cpu);

	return ev && !events_start(ev) ? ev : NULL;
}

struct events *events_open_usual(void)
{
	struct events *ev = events_new(EVENTS_USUAL_BYTES, START_MAP, -1);

	return ev && !events_start(ev) ? ev : NULL;
}

static struct events *open_unread(size_t ring_bytes)
{
	struct events *ev = events_new(ring_bytes, START_MAP, -1);

	return ev && !rings_map(ev) ? ev : NULL;
}

/* Buffers that are not read before events_settle(). */
struct events *events_open_unread(void)
{
	return open_unread(EVENTS_USUAL_BYTES);
}

/* Likewise, of one page. */
struct events *events_open_small(void)
{
	return open_unread(sysconf(_SC_PAGESIZE));
}

/* Returns how many records there are, buffers included. */
size_t events_settle(struct events *ev)
{
	events_drain(ev);
	return ev->pokes.nr;
}

/* Begin anew, without the records so far. */
void events_forget(struct events *ev)
{
	events_drain(ev);
	pthread_mutex_lock(&ev->lock);
	ev->pokes.nr = 0;
	pthread_mutex_unlock(&ev->lock);
}

/*
 * Wait until the batch that is being written, if any, has ended; its records
 * are in the buffers by then.  The kernel does so for a task that lets the
 * records of an event through again, also if they were not held back.
 */
void events_barrier(struct events *ev)
{
	ioctl(ev->rings[0].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
}

/* The records so far, to which none are added until they are let go. */
const struct pokes *events_hold(struct events *ev)
{
	pthread_mutex_lock(&ev->lock);
	return &ev->pokes;
}

void events_let_go(struct events *ev)
{
	pthread_mutex_unlock(&ev->lock);
}

/* What PERF_FORMAT_LOST gives: the count, which is of no use, and the losses. */
static __u64 ring_lost(const struct ring *r)
{
	__u64 count_and_lost[2] = { 0 };

	if (read(r->fd, count_and_lost, sizeof(count_and_lost)) < 0)
		return 1;
	return count_and_lost[1];
}

/* Arrival breaks ties: records of one buffer come in their order. */
static int by_time(const void *a, const void *b)
{
	const struct poke *p = a, *q = b;

	if (p->time != q->time)
		return p->time < q->time ? -1 : 1;
	return p->seq < q->seq ? -1 : 1;
}

/*
 * A buffer that is full when the last record comes never says LOST; the event
 * itself counts what it could not deliver, so ask both.
 */
void events_stop(struct events *ev)
{
	__u64 counted = 0;

	__atomic_store_n(&ev->stop, true, __ATOMIC_RELAXED);
	if (ev->drains)
		pthread_join(ev->drainer, NULL);
	events_drain(ev);
	for (int i = 0; i < ev->nr_rings; i++) {
		counted += ring_lost(&ev->rings[i]);
		ring_close(&ev->rings[i]);
	}
	if (ev->lost < counted)
		ev->lost = counted;
	qsort(ev->pokes.v, ev->pokes.nr, sizeof(*ev->pokes.v), by_time);
}

const struct pokes *events_pokes(const struct events *ev)
{
	return &ev->pokes;
}

/* Those in between, by what events_settle() has said before and after. */
struct pokes events_between(const struct events *ev, size_t from, size_t until)
{
	return (struct pokes) { .v = ev->pokes.v + from, .nr = until - from };
}

__u64 events_lost(const struct events *ev)
{
	return ev->lost;
}

int events_cpus(const struct events *ev)
{
	return ev->nr_rings;
}

const struct notes *events_notes(const struct events *ev)
{
	return &ev->notes;
}
