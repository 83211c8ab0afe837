/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the cases share: files, symbols, an event that listens to text pokes, a replay of its records over
 * the kernel's text, load, and a look at what the kernel has said.
 *
 * A case ends with done() or skip(): its exit status is 0 (pass), 1 (fail) or 4 (skip), and its
 * last line says so in words. It is root, and finds /proc, sysfs, tracefs and debugfs mounted.
 */
#ifndef TP_H
#define TP_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define T "/sys/kernel/tracing/"
#define D "/sys/kernel/debug/"
#define SCHEDSTATS "/proc/sys/kernel/sched_schedstats"
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))
#define CPUS 64
/* Bytes of each CPU's ring buffer: a power of two pages, however large a page is */
#define RING (8ul << 20)
#define PAGE ((unsigned long)sysconf(_SC_PAGESIZE))
#define TEXT_POKE 20
#define KSYMBOL 17
#define KSYMBOL_GONE 1

/* Ends the threads of load(). */
static volatile int over;

/* Files */

/* Append to a file; 0 or -errno. */
static inline __attribute__((format(printf, 2, 3))) int put(const char *path, const char *fmt, ...)
{
	char text[4096];
	va_list args;
	int fd, len, ret = 0;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Empty a file of tracefs: probes, filters. */
static inline void clear(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd >= 0)
		close(fd);
}

/* All of a file, or "". */
static inline char *get(const char *path)
{
	size_t len = 0, size = 1 << 16;
	char *text = malloc(size);
	int fd = open(path, O_RDONLY);
	ssize_t got;

	while (fd >= 0 && (got = read(fd, text + len, size - len - 1)) > 0) {
		len += got;
		if (len + 4096 > size)
			text = realloc(text, size *= 2);
	}
	text[len] = 0;
	if (fd >= 0)
		close(fd);
	return text;
}

/* The number behind a word in a file of "word number" lines; -1 if it is not there. */
static inline long value(const char *path, const char *word)
{
	char *text = get(path), *line, *save = NULL, name[128];
	long number, ret = -1;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, " %127s %ld", name, &number) == 2 && !strcmp(name, word))
			ret = number;
	free(text);
	return ret;
}

#define hits(event) value(T "kprobe_profile", event)

/* The address of a symbol; 0 if there is none. */
static inline uint64_t ksym(const char *name)
{
	static char *all;
	char pattern[160], *p;

	if (!all)
		all = get("/proc/kallsyms");
	snprintf(pattern, sizeof(pattern), " %s", name);
	/* Behind the name the line ends, or a tab comes and whose it is */
	for (p = strstr(all, pattern); p && !strchr("\n\t", p[strlen(pattern)]);)
		p = strstr(p + 1, pattern);
	while (p && p > all && p[-1] != '\n')
		p--;
	return p ? strtoull(p, NULL, 16) : 0;
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline int online(int cpu, int on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return put(path, "%d", on);
}

/* A number of calls of vfs_read(); returns how many of them failed. */
static inline long reads(int number)
{
	int fd = open("/proc/version", O_RDONLY);
	long failed = 0;
	char byte[8];

	while (number--)
		failed += pread(fd, byte, sizeof(byte), 0) != sizeof(byte);
	close(fd);
	return failed;
}

/* Remove all probes. */
static inline void no_probes(void)
{
	put(T "events/kprobes/enable", "0");
	clear(T "kprobe_events");
}

/* Flip a key some times; it is on in the end if that number is odd. */
static inline void flip_key(int times)
{
	for (int i = 0; i < times; i++)
		put(SCHEDSTATS, "%d", !(i & 1));
}

/* The event that listens */

/* A record of a text poke or of a symbol; len and flags are the symbol's, old, new and bytes the poke's. */
struct ev {
	uint64_t time, addr, seq;
	uint32_t type, len;
	uint16_t old, new, flags;
	uint8_t *bytes;
};

static struct ev *evs;
static size_t nr_evs, size_evs;
static uint64_t lost;
static struct {
	int fd;
	uint8_t *map;
} ring[CPUS];
static pthread_mutex_t evs_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t text_start, text_end;
static uint8_t *text_then;

static inline void keep(struct ev e)
{
	if (nr_evs == size_evs) {
		size_evs = size_evs * 2 + 4096;
		evs = realloc(evs, size_evs * sizeof(*evs));
	}
	e.seq = nr_evs;
	evs[nr_evs++] = e;
}

static inline void take_poke(struct ev e, const uint8_t *body)
{
	memcpy(&e.old, body + 8, 2);
	memcpy(&e.new, body + 10, 2);
	e.bytes = malloc(e.old + e.new + 1);
	memcpy(e.bytes, body + 12, e.old + e.new);
	keep(e);
}

static inline void take_symbol(struct ev e, const uint8_t *body)
{
	memcpy(&e.len, body + 8, 4);
	memcpy(&e.flags, body + 14, 2);
	keep(e);
}

static inline void take(const uint8_t *record, const struct perf_event_header *header)
{
	const uint8_t *body = record + sizeof(*header);
	struct ev e = { .type = header->type };
	uint64_t number;

	memcpy(&e.addr, body, 8);
	memcpy(&e.time, record + header->size - 8, 8);
	if (header->type == PERF_RECORD_LOST) {
		memcpy(&number, body + 8, 8);
		lost += number;
	} else if (header->type == TEXT_POKE) {
		take_poke(e, body);
	} else if (header->type == KSYMBOL) {
		take_symbol(e, body);
	}
}

static inline void copy_out(const uint8_t *map, uint64_t at, void *to, size_t len)
{
	const struct perf_event_mmap_page *page = (const void *)map;

	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = map[page->data_offset + (at + i) % page->data_size];
}

static inline void drain_one(uint8_t *map)
{
	struct perf_event_mmap_page *page = (void *)map;
	static uint8_t record[1 << 16];
	struct perf_event_header header;
	uint64_t head, tail;

	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (tail = page->data_tail; tail < head; tail += header.size) {
		copy_out(map, tail, &header, sizeof(header));
		copy_out(map, tail, record, header.size);
		take(record, &header);
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

static inline void drain(void)
{
	pthread_mutex_lock(&evs_lock);
	for (int cpu = 0; cpu < CPUS; cpu++)
		if (ring[cpu].map)
			drain_one(ring[cpu].map);
	pthread_mutex_unlock(&evs_lock);
}

static inline void *drainer(void *unused)
{
	for (;; usleep(1000))
		drain();
	return unused;
}

static inline struct perf_event_attr poke_attr(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
	};

	attr.text_poke = 1;
	attr.ksymbol = 1;
	attr.sample_id_all = 1;
	attr.exclude_kernel = 1;
	return attr;
}

static inline long perf_open(struct perf_event_attr *attr, int pid, int cpu, int group)
{
	return syscall(__NR_perf_event_open, attr, pid, cpu, group, 0);
}

static inline int open_ring(int cpu)
{
	struct perf_event_attr attr = poke_attr();
	void *map;

	ring[cpu].fd = perf_open(&attr, -1, cpu, -1);
	if (ring[cpu].fd < 0)
		return -errno;
	map = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, ring[cpu].fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	ring[cpu].map = map;
	return 0;
}

/* Where the kernel's text is in /proc/kcore; -1 if it is not there. */
static inline off_t text_offset(int kcore)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (pread(kcore, &eh, sizeof(eh), 0) != sizeof(eh))
		return -1;
	for (int i = 0; i < eh.e_phnum; i++) {
		if (pread(kcore, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) != sizeof(ph))
			return -1;
		if (ph.p_type == PT_LOAD && ph.p_vaddr <= text_start &&
		    text_end <= ph.p_vaddr + ph.p_memsz)
			return ph.p_offset + text_start - ph.p_vaddr;
	}
	return -1;
}

/* A copy of the kernel's text; NULL if it cannot be read. */
static inline uint8_t *snapshot(void)
{
	size_t size = text_end - text_start, len = 0;
	int fd = open("/proc/kcore", O_RDONLY);
	off_t at = fd < 0 ? -1 : text_offset(fd);
	uint8_t *text = calloc(1, size);
	ssize_t got;

	while (at >= 0 && len < size && (got = pread(fd, text + len, size - len, at + len)) > 0)
		len += got;
	if (fd >= 0)
		close(fd);
	if (len == size && size)
		return text;
	free(text);
	return NULL;
}

/* Listen on every CPU that is online, and copy the text. */
static inline void listen_all(void)
{
	pthread_t thread;
	int nr = 0;

	text_start = ksym("_stext");
	text_end = ksym("_etext");
	for (int cpu = 0; cpu < CPUS; cpu++)
		nr += !open_ring(cpu);
	pthread_create(&thread, NULL, drainer, NULL);
	text_then = snapshot();
	printf("listening on %d CPUs, text %s\n", nr, text_then ? "copied" : "NOT READABLE");
}

/* The replay */

static inline int by_time(const void *a, const void *b)
{
	const struct ev *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static inline int is_poke_in_text(const struct ev *e)
{
	return e->type == TEXT_POKE && e->addr >= text_start && e->addr + e->old <= text_end &&
	       e->addr + e->new <= text_end;
}

/* The text once nothing has been recorded for a while. */
static inline uint8_t *text_at_rest(void)
{
	uint8_t *text = NULL;
	size_t before;

	do {
		free(text);
		before = nr_evs;
		usleep(700000);
		drain();
		text = snapshot();
		drain();
	} while (before != nr_evs);
	return text;
}

/* Apply all records; returns how many do not begin with what is there. */
static inline long replay_over(uint8_t *text, long *pokes, long *in)
{
	long breaks = 0;

	for (size_t i = 0; i < nr_evs; i++) {
		struct ev *e = &evs[i];
		uint8_t *at = text + (e->addr - text_start);

		*pokes += e->type == TEXT_POKE;
		if (!is_poke_in_text(e))
			continue;
		++*in;
		if (memcmp(at, e->bytes, e->old) && breaks++ < 4)
			printf("break at %llx\n", (unsigned long long)e->addr);
		memcpy(at, e->bytes + e->old, e->new);
	}
	return breaks;
}

/* How many bytes differ; the first of them are shown. */
static inline long compared(const uint8_t *replay, const uint8_t *text, const char *what)
{
	long diff = 0;

	for (size_t i = 0; i < text_end - text_start; i++)
		if (replay[i] != text[i] && diff++ < 4 && what)
			printf("differs at %llx: %s %02x text %02x\n",
			       (unsigned long long)(text_start + i), what, replay[i], text[i]);
	return diff;
}

/* Do the records explain every change of the text? Returns how much they do not; sorts them. */
static inline long verify(void)
{
	long breaks, diff, changed, in = 0, pokes = 0;
	uint8_t *text_now = text_at_rest(), *replay;

	if (!text_then || !text_now)
		return 1;
	changed = compared(text_then, text_now, NULL);
	qsort(evs, nr_evs, sizeof(*evs), by_time);
	replay = memcpy(malloc(text_end - text_start), text_then, text_end - text_start);
	breaks = replay_over(replay, &pokes, &in);
	diff = compared(replay, text_now, "replay");
	printf("REPLAY pokes %ld in text %ld lost %llu breaks %ld diff %ld changed %ld\n", pokes,
	       in, (unsigned long long)lost, breaks, diff, changed);
	free(replay);
	free(text_now);
	return breaks + diff;
}

/* powerpc has its detours in the text, and leaves in them what was there when they are freed. */
#define DETOURS_SIZE 65536

static inline void forget_detours(uint8_t *text)
{
	uint64_t detours = ksym("optinsn_slot");

	if (detours)
		memcpy(text + (detours - text_start), text_then + (detours - text_start),
		       DETOURS_SIZE);
}

/* In how many bytes the text is not what it was when listening began; 1 if it cannot be read. */
static inline long text_differs(void)
{
	uint8_t *text_now = snapshot();
	long diff = 1;

	if (text_then && text_now) {
		forget_detours(text_now);
		diff = compared(text_then, text_now, NULL);
	}
	free(text_now);
	return diff;
}

/* Load: a thread for each CPU, in and out of the kernel */

static inline void load_once(int *pipe)
{
	char bytes[256];
	void *map;
	int fd = open("/proc/self/stat", O_RDONLY);

	if (read(fd, bytes, sizeof(bytes)) < 0 || write(pipe[1], bytes, 64) < 0 ||
	    read(pipe[0], bytes, 64) < 0)
		bytes[0] = 0;
	close(fd);
	sched_yield();
	usleep(1);
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	munmap(map, 2 * PAGE);
}

static inline void *loader(void *cpu)
{
	int fds[2];

	pin((long)cpu);
	if (pipe(fds))
		return NULL;
	while (!over)
		load_once(fds);
	return NULL;
}

static inline void load(void)
{
	pthread_t thread;

	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		pthread_create(&thread, NULL, loader, (void *)cpu);
}

/* The kernel's words */

static int kmsg = -1;

static inline void begin(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kmsg, 0, SEEK_END);
}

static inline int is_complaint(const char *line)
{
	static const char *const bad[] = {
		"WARNING:", "BUG:", "Oops", "Internal error", "detected stall", "self-detected",
		"blocked for more", "soft lockup", "Unexpected kernel", "ftrace bug", "text_poke:",
		"possible circular", "Unrecoverable",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strstr(line, bad[i]))
			return 1;
	return 0;
}

/* How many lines the kernel has said since begin() that it should not have; the first are shown. */
static inline int complaints(void)
{
	char line[8192], *words;
	ssize_t len;
	int nr = 0;

	while ((len = read(kmsg, line, sizeof(line) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		line[len > 0 ? len : 0] = 0;
		words = strchr(line, ';');
		if (is_complaint(line) && nr++ < 8)
			printf("KERNEL SAID %s", words ? words + 1 : line);
	}
	return nr;
}

/* The verdicts */

static inline int done(const char *name, long problems)
{
	over = 1;
	printf("CASE %s %s (%ld)\n", name, problems ? "FAIL" : "PASS", problems);
	return problems ? 1 : 0;
}

static inline int skip(const char *name, const char *why)
{
	printf("CASE %s SKIP: %s\n", name, why);
	return 4;
}
#endif
