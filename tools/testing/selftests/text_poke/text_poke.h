/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the text poke tests: what was recorded (events.c), what memory
 * holds (kcore.c), whether the two agree (oracle.c), whether the oracle can be
 * trusted (mutate.c) and what makes the kernel change its text (workload.c).
 */
#ifndef SELFTESTS_TEXT_POKE_H
#define SELFTESTS_TEXT_POKE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* One PERF_RECORD_TEXT_POKE. @old and @new share one allocation. */
struct poke {
	__u64 time;
	__u64 addr;
	__u64 seq;
	__u8 *old;
	__u8 *new;
	__u16 old_len;
	__u16 new_len;
};

struct pokes {
	struct poke *v;
	size_t nr;
	size_t room;
};

/* Bytes of kernel memory from @base on. */
struct image {
	__u64 base;
	size_t len;
	__u8 *bytes;
};

enum direction { FORWARDS, BACKWARDS };

/*
 * @breaks: records in kernel text whose bytes are not the replayed ones
 * @side_breaks: the same outside kernel text: trampolines, slots, modules
 * @side: records outside kernel text
 * @diff: bytes of text where the replay ended in something else than memory
 * @first_bad: the first record, in order of time, that does not fit
 */
struct verdict {
	size_t breaks;
	size_t side_breaks;
	size_t side;
	size_t diff;
	const struct poke *first_bad;
};

/* events.c */
struct events;

int perf_open_text_poke(int cpu, bool exclude_kernel);
struct events *events_open(void);
size_t events_settle(struct events *ev);
void events_stop(struct events *ev);
const struct pokes *events_pokes(const struct events *ev);
__u64 events_lost(const struct events *ev);
int events_cpus(const struct events *ev);

/* kcore.c */
int text_range(struct image *img);
int text_read(struct image *img);
size_t text_diff(const struct image *a, const struct image *b);

/* oracle.c */
bool poke_in_text(const struct poke *p, const struct image *text);
void replay(const struct pokes *p, enum direction dir, const struct image *from,
	    const struct image *to, struct verdict *v);
bool verdict_clean(const struct verdict *v);

/* mutate.c */
enum mutation { DROP, SWAP, FLIP };

int mutants_noticed(const struct pokes *p, enum mutation kind, int nr,
		    const struct image *start, const struct image *end);
void mutate_seed(__u64 seed);

/* workload.c */
int workload_parse(const char *names);
int workload_run(double seconds);
void workload_undo(void);
int readers_start(void);
void readers_stop(void);

/* counters.c */
void mount_kernel_fs(void);
int write_file(const char *path, const char *text);
long counter_read(const char *name);
double now_seconds(void);

#endif
