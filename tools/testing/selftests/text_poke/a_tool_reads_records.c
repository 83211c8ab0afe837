// SPDX-License-Identifier: GPL-2.0
/*
 * A tool of sixty lines, as the documentation has it, reads records that are
 * true: of a static key that is turned on and off again. Needs no counters, and
 * so no more than a kernel that emits records.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../kselftest.h"
#include "read_records.h"
#include "text_poke.h"

#define KEPT_MAX	4096
#define BYTES_MAX	64

struct kept {
	__u64 addr, time;
	__u16 len;
	__u8 old[BYTES_MAX], new[BYTES_MAX];
};

static struct kept kept[KEPT_MAX];
static int nr_kept, malformed, unchanged, elsewhere;

static const char * const keys[] = {
	"/proc/sys/kernel/sched_schedstats",
	"/proc/sys/kernel/bpf_stats_enabled",
};

/* What was made of nothing, as a slot is, has no old bytes: not of a key. */
static void keep(const struct text_poke *p, __u64 time)
{
	struct kept *k = &kept[nr_kept];

	if (p->old_len != p->new_len || p->new_len > BYTES_MAX ||
	    nr_kept == KEPT_MAX)
		return;
	*k = (struct kept) { .addr = p->addr, .time = time, .len = p->new_len };
	memcpy(k->old, p->bytes, p->old_len);
	memcpy(k->new, p->bytes + p->old_len, p->new_len);
	nr_kept++;
}

static void on_record(const struct text_poke *p, __u64 time, __u64 room)
{
	__u64 bytes = p->old_len + p->new_len;

	/* The bytes, padding to 8, the time. */
	if (!p->new_len || bytes + sizeof(time) > room ||
	    room - bytes - sizeof(time) >= sizeof(time)) {
		malformed++;
		return;
	}
	if ((__s64)p->addr >= 0)
		elsewhere++;
	if (p->old_len == p->new_len &&
	    !memcmp(p->bytes, p->bytes + p->old_len, p->new_len))
		unchanged++;
	keep(p, time);
}

static bool by_key(const char *key)
{
	return !write_file(key, "1") && !write_file(key, "0");
}

static const char *some_key(void)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!write_file(keys[i], "0"))
			return keys[i];
	ksft_exit_skip("no static key that a file turns\n");
}

/* A CPU that is offline answers ENODEV; a kernel without such records EINVAL. */
static int open_all(struct reader *readers, int cpus)
{
	int nr = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (!reader_open(&readers[nr], cpu))
			nr++;
		else if (errno != ENODEV)
			ksft_exit_skip("opening an event with text_poke: %s\n",
				       strerror(errno));
	}
	return nr;
}

static int by_time(const void *a, const void *b)
{
	const struct kept *p = a, *q = b;

	return p->time < q->time ? -1 : p->time > q->time;
}

/* A site that changes twice begins where it has ended. */
static int broken_chains(int *chains)
{
	int broken = 0;

	qsort(kept, nr_kept, sizeof(*kept), by_time);
	for (int i = 0; i < nr_kept; i++) {
		int j = i + 1;

		while (j < nr_kept && kept[j].addr != kept[i].addr)
			j++;
		if (j == nr_kept || kept[j].len != kept[i].len)
			continue;
		(*chains)++;
		broken += !!memcmp(kept[j].old, kept[i].new, kept[i].len);
	}
	return broken;
}

static void judge(__u64 lost)
{
	int chains = 0, broken = broken_chains(&chains);

	ksft_test_result(nr_kept && !lost, "records_come: %d, %llu lost\n",
			 nr_kept, lost);
	ksft_test_result(!malformed, "lengths_fit: %d do not\n", malformed);
	ksft_test_result(!unchanged, "old_is_not_new: %d are\n", unchanged);
	ksft_test_result(!elsewhere, "addresses_are_the_kernels: %d are not\n",
			 elsewhere);
	ksft_test_result(chains && !broken,
			 "each_begins_where_the_last_ended: %d of %d do not\n",
			 broken, chains);
}

int main(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF), nr;
	struct reader *readers;
	const char *key;
	__u64 lost = 0;

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("text-poke records need root\n");
	mount_kernel_fs();
	key = some_key();
	readers = calloc(cpus, sizeof(*readers));
	if (!readers)
		ksft_exit_fail_perror("memory for readers");
	nr = open_all(readers, cpus);
	ksft_set_plan(5);
	if (!by_key(key) || !by_key(key))
		ksft_exit_fail_msg("turning %s\n", key);
	for (int i = 0; i < nr; i++) {
		reader_read(&readers[i], on_record);
		lost += readers[i].lost;
	}
	judge(lost);
	ksft_finished();
}
