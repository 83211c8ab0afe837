/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the text poke tests: what was recorded (events.c) and said about
 * memory outside the text (notes.c), what memory holds (kcore.c), whether they
 * agree (oracle.c), whether the oracle can be trusted (mutate.c) and what makes
 * the kernel change its text (workload.c; kprobes.c, modules.c, bpf.c), with
 * CPUs that come and go (hotplug.c) and tasks that are killed or frozen at it
 * (faults.c).
 */
#ifndef SELFTESTS_TEXT_POKE_H
#define SELFTESTS_TEXT_POKE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <sys/types.h>

#define TRACING	"/sys/kernel/tracing/"
#define TRACER	TRACING "current_tracer"

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

/*
 * Memory outside the kernel's text: perf announces code and withdraws it;
 * modules are loaded and unloaded. @seq: in which order they came.
 */
enum note_kind { ANNOUNCED, WITHDRAWN, LOADED, UNLOADED };

/*
 * @other: a module comes at @time or later, and goes at @time or earlier; this is
 * the other end of the while in which it does so.
 */
struct note {
	__u64 time;
	__u64 other;
	__u64 addr;
	size_t len;
	size_t seq;
	enum note_kind kind;
};

struct notes {
	struct note *v;
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
 * @side_bytes: bytes outside kernel text that the replay knew at the end,
 * @side_diff: and those of them that memory did not hold
 * @diff: bytes of text where the replay ended in something else than memory
 * @first_bad: the first record, in order of time, that does not fit
 */
struct verdict {
	size_t breaks;
	size_t side_breaks;
	size_t side;
	size_t side_bytes;
	size_t side_diff;
	size_t diff;
	const struct poke *first_bad;
};

/* events.c */
struct events;

/* Of a buffer, as perf record has it. */
#define EVENTS_USUAL_BYTES	(512UL << 10)

/* How events come to record: by their buffers, their group, or their task. */
enum start { START_MAP, START_GROUP, START_TASK, NR_STARTS };

int perf_open_text_poke(pid_t pid, int cpu, bool exclude_kernel);
struct events *events_prepare(enum start how);
int events_start(struct events *ev);
struct events *events_open(void);
struct events *events_open_on(int cpu);
struct events *events_open_usual(void);
struct events *events_open_unread(void);
struct events *events_open_small(void);
size_t events_settle(struct events *ev);
void events_forget(struct events *ev);
void events_barrier(struct events *ev);
const struct pokes *events_hold(struct events *ev);
void events_let_go(struct events *ev);
void events_stop(struct events *ev);
const struct pokes *events_pokes(const struct events *ev);
struct pokes events_between(const struct events *ev, size_t from, size_t until);
__u64 events_lost(const struct events *ev);
int events_cpus(const struct events *ev);
const struct notes *events_notes(const struct events *ev);

/* notes.c */
void notes_add(struct notes *n, struct note note);
void notes_append(struct notes *n, const struct notes *more);
void notes_narrow(struct notes *n);
void notes_add_slot_pages(struct notes *n);
bool note_covers(const struct note *note, __u64 addr);
size_t notes_count(const struct notes *n, enum note_kind kind);

/* kcore.c */
int text_range(struct image *img);
int text_read(struct image *img);
size_t text_diff(const struct image *a, const struct image *b);

/* oracle.c */
struct side;

bool poke_in_text(const struct poke *p, const struct image *text);
struct side *side_read(const struct pokes *p, const struct image *text);
void side_free(struct side *s);
void replay(const struct pokes *p, enum direction dir, const struct image *from,
	    const struct image *to, struct verdict *v);
bool replay_clean(const struct pokes *p, const struct image *from,
		  const struct image *to);
void replay_side(const struct pokes *p, const struct notes *notes,
		 enum direction dir, const struct image *text,
		 const struct side *end, struct verdict *v);
size_t unannounced(const struct pokes *p, const struct notes *n,
		   const struct image *text, const struct poke **first);

/* mutate.c */
enum mutation { DROP, SWAP, FLIP };

int mutants_noticed(const struct pokes *p, enum mutation kind, int nr,
		    const struct image *start, const struct image *end);
void mutate_seed(__u64 seed);

/* workload.c */
int workload_parse(const char *names);
bool workload_has(const char *name);
int workload_run(double seconds);
void workload_undo(void);
int readers_start(void);
void readers_stop(void);

/* hotplug.c */
bool hotplug_works(void);
int cpu_set_online(int cpu, bool online);
int hotplug_start(void);
int hotplug_stop(void);

/* kprobes.c, modules.c, bpf.c */
bool kprobes_work(void);
void kprobes_set(bool on);
bool modules_work(void);
void modules_set(bool on);
int modules_loads(void);
int modules_loads_again(void);
const struct notes *modules_notes(void);
bool bpf_work(void);
void bpf_set(bool on);
bool bpf_has_btf(void);
int bpf_entries(void);
__u64 bpf_runs(void);

/* faults.c */
bool killed_work(void);
void killed_set(bool on);
int killed_times(void);
bool frozen_work(void);
void frozen_set(bool on);
int frozen_times(void);

/* counters.c */
void mount_kernel_fs(void);
int write_file(const char *path, const char *text);
int keep_file(const char *path);
int trace_functions(bool on);
long counter_read(const char *name);
double now_seconds(void);

#endif
