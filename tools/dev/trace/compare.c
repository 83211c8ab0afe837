// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "encode.h"

#define WINDOW		2000	/* branches, in which the two lists may meet again */
#define ALIKE		8	/* so many in a row, and they have */
#define SHOWN		10
#define LAST		16	/* a decoder does not tell the last few of each CPU */
#define BINS		100	/* of time, in which branches are counted */

/* Decoded branches of a CPU; clock is what perf says the time was, in ns. */
static struct list {
	struct branch *branches;
	size_t count, room;
} decoded[CPUS];

static uint64_t executed, found, wrong, missing, at_end, errors, shown;

/* When the first and the last branch was executed, of all CPUs, and what is in each of the bins between. */
static uint64_t first = UINT64_MAX, last;
static struct bin {
	uint64_t executed, amiss;
} bins[CPUS][BINS];

static void add(struct list *list, struct branch branch)
{
	if (list->count == list->room) {
		list->room = 2 * list->room + 4096;
		list->branches = realloc(list->branches, list->room * sizeof(branch));
	}
	list->branches[list->count++] = branch;
}

/* [001]    12.345678901:  ffffffff81000000 => ffffffff81000010 */
static void take_line(const char *line)
{
	struct branch branch;
	uint64_t seconds, nanos;
	int cpu;

	if (strstr(line, " error ")) {
		if (errors++ < SHOWN)
			printf("says: %s", line);
		return;
	}
	if (sscanf(line, " [%d] %" SCNu64 ".%" SCNu64 ": %" SCNx64 " => %" SCNx64, &cpu, &seconds, &nanos,
		   &branch.from, &branch.to) != 5 || cpu < 0 || cpu >= CPUS)
		return;
	branch.clock = seconds * 1000000000 + nanos;
	/* Where a trace begins or ends there is nothing on one side. */
	if (branch.from && branch.to)
		add(&decoded[cpu], branch);
}

static void read_decoded(void)
{
	char line[1024];

	while (fgets(line, sizeof(line), stdin))
		take_line(line);
}

static bool same(const struct branch *a, const struct branch *b)
{
	return a->from == b->from && a->to == b->to;
}

/* How many branches in a row are the same, at most as many as prove something. */
static bool alike(const struct branch *a, size_t nr_a, const struct branch *b, size_t nr_b)
{
	size_t i;

	for (i = 0; i < ALIKE && i < nr_a && i < nr_b; i++)
		if (!same(&a[i], &b[i]))
			return false;
	return i == ALIKE || (i == nr_a && i == nr_b && i);
}

/* Where the lists meet again with the fewest left out: of a, and of b. */
static void meet(const struct branch *a, size_t nr_a, const struct branch *b, size_t nr_b, size_t *skip_a, size_t *skip_b)
{
	size_t all, i;

	for (all = 1; all <= WINDOW; all++)
		for (i = 0; i <= all; i++)
			if (i <= nr_a && all - i <= nr_b && alike(a + i, nr_a - i, b + all - i, nr_b - (all - i))) {
				*skip_a = i;
				*skip_b = all - i;
				return;
			}
	*skip_a = nr_a < WINDOW ? nr_a : WINDOW;
	*skip_b = nr_b < WINDOW ? nr_b : WINDOW;
}

static void show(int cpu, const struct branch *is, const struct branch *should)
{
	if (shown++ >= SHOWN)
		return;
	printf("differs: cpu %d", cpu);
	if (should)
		printf(" executed %" PRIx64 " %" PRIx64 " clock %" PRIu64, should->from, should->to, should->clock);
	if (is)
		printf(" decoded %" PRIx64 " %" PRIx64 " time %" PRIu64, is->from, is->to, is->clock);
	printf("\n");
}

static struct bin *bin_of(int cpu, const struct branch *truth)
{
	return &bins[cpu][(truth->clock - first) * BINS / (last - first + 1)];
}

static void find_span(const struct branch *truth, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		first = truth[i].clock < first ? truth[i].clock : first;
		last = truth[i].clock > last ? truth[i].clock : last;
	}
}

static void print_bins(void)
{
	int cpu, i;

	for (cpu = 0; cpu < CPUS; cpu++)
		for (i = 0; i < BINS; i++)
			if (bins[cpu][i].executed || bins[cpu][i].amiss)
				printf("bin: %d %d %" PRIu64 " %" PRIu64 "\n", cpu, i, bins[cpu][i].executed, bins[cpu][i].amiss);
}

static void compare_cpu(int cpu, const struct branch *truth, size_t nr, const struct list *list)
{
	size_t i = 0, k = 0, skip_i, skip_k;

	executed += nr;
	found += list->count;
	for (i = 0; i < nr; i++)
		bin_of(cpu, &truth[i])->executed++;
	i = 0;
	while (i < nr && k < list->count) {
		if (same(&truth[i], &list->branches[k])) {
			i++;
			k++;
			continue;
		}
		meet(truth + i, nr - i, list->branches + k, list->count - k, &skip_i, &skip_k);
		show(cpu, skip_k ? &list->branches[k] : NULL, skip_i ? &truth[i] : NULL);
		bin_of(cpu, &truth[i])->amiss += skip_i > skip_k ? skip_i : skip_k;
		i += skip_i;
		k += skip_k;
		missing += skip_i;
		wrong += skip_k;
	}
	wrong += list->count - k;
	if (nr)
		bin_of(cpu, &truth[nr - 1])->amiss += list->count - k;
	if (nr - i <= LAST) {
		at_end += nr - i;
	} else {
		missing += nr - i;
		show(cpu, NULL, &truth[i]);
		for (; i < nr; i++)
			bin_of(cpu, &truth[i])->amiss++;
	}
}

const struct branch *truth_of(const char *folder, int cpu, size_t *nr)
{
	const struct branch *truth;
	char name[32], path[4096];
	size_t length;

	*nr = 0;
	snprintf(name, sizeof(name), "truth.%d", cpu);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (access(path, R_OK))
		return NULL;
	truth = read_file(folder, name, &length);
	*nr = length / sizeof(*truth);
	return truth;
}

int compare_branches(const char *folder)
{
	struct { const struct branch *truth; size_t nr; } cpus[CPUS] = { };
	int cpu;

	read_decoded();
	for (cpu = 0; cpu < CPUS; cpu++) {
		cpus[cpu].truth = truth_of(folder, cpu, &cpus[cpu].nr);
		find_span(cpus[cpu].truth, cpus[cpu].nr);
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		compare_cpu(cpu, cpus[cpu].truth, cpus[cpu].nr, &decoded[cpu]);
	print_bins();
	printf("executed %" PRIu64 "\ndecoded %" PRIu64 "\nwrong %" PRIu64 "\nmissing %" PRIu64 "\nend %" PRIu64 "\nerrors %" PRIu64 "\n",
	       executed, found, wrong, missing, at_end, errors);
	if (last)
		printf("first %" PRIu64 "\nlast %" PRIu64 "\n", first, last);
	return 0;
}
