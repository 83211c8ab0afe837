// SPDX-License-Identifier: GPL-2.0
/*
 * sample FILE: until there is FILE, every CPU's clock samples what the CPU does,
 * in the kernel and outside, and how it got there.  A CPU that goes takes its
 * event along, so that all are opened anew again and again.  Every second ring
 * is too small for what there is between two looks, and loses some.
 *
 * Prints "samples NUMBER": those read that have a call chain.
 */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define PERIOD_NS	5000000
#define TURN_US		1000000
#define CPUS_MAX	64
#define PAGES		8

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	unsigned char *data;
	size_t size;
};

/* How a sample begins; its call chain follows. */
struct sample {
	struct perf_event_header header;
	__u64 ip;
	__u64 nr;
};

static bool ring_open(struct ring *ring, int cpu, size_t page)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_CPU_CLOCK,
		.sample_period	= PERIOD_NS,
		.sample_type	= PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
	};
	void *map;

	ring->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			   PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return false;
	ring->size = cpu % 2 ? page : PAGES * page;
	map = mmap(NULL, page + ring->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		   ring->fd, 0);
	if (map == MAP_FAILED) {
		close(ring->fd);
		return false;
	}
	ring->page = map;
	ring->data = map + page;
	return true;
}

static void ring_close(struct ring *ring, size_t page)
{
	munmap(ring->page, page + ring->size);
	close(ring->fd);
}

/* What is at a place of the stream; it may go round the ring's end. */
static void ring_copy(const struct ring *ring, __u64 at, void *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((unsigned char *)to)[i] = ring->data[(at + i) % ring->size];
}

static unsigned long ring_read(struct ring *ring)
{
	__u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	__u64 at = ring->page->data_tail;
	unsigned long samples = 0;
	struct sample sample;

	for (; at < head; at += sample.header.size) {
		ring_copy(ring, at, &sample, sizeof(sample));
		samples += sample.header.type == PERF_RECORD_SAMPLE && sample.nr;
	}
	__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
	return samples;
}

static unsigned long turn(int cpus, size_t page)
{
	static struct ring rings[CPUS_MAX];
	unsigned long samples = 0;
	int nr = 0;

	for (int cpu = 0; cpu < cpus; cpu++)
		nr += ring_open(&rings[nr], cpu, page);
	usleep(TURN_US);
	while (nr--) {
		samples += ring_read(&rings[nr]);
		ring_close(&rings[nr], page);
	}
	return samples;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned long samples = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: sample FILE\n");
		return 2;
	}
	while (access(argv[1], F_OK))
		samples += turn(cpus < CPUS_MAX ? cpus : CPUS_MAX, page);
	printf("samples %lu\n", samples);
	return 0;
}
