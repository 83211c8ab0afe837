// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "encode.h"

#define PLACES		(1 << 20)	/* a power of two, far above the number of branches in a kernel's text */
#define SHOWN		10

/* A branch of the kernel's, from where to where: how often it was executed, and how often a profile has it. */
static struct pair {
	uint64_t from, to, executed, counted;
} pairs[PLACES];

static struct pair *pair_of(uint64_t from, uint64_t to)
{
	uint64_t at = (from * 31 + to) * 0x9e3779b97f4a7c15 >> 44;
	struct pair *pair;

	for (;; at++) {
		pair = &pairs[at % PLACES];
		if (pair->from == from && pair->to == to)
			return pair;
		if (!pair->from && !pair->to) {
			pair->from = from;
			pair->to = to;
			return pair;
		}
	}
}

static void read_executed(const char *folder)
{
	const struct branch *truth;
	size_t nr, i;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		truth = truth_of(folder, cpu, &nr);
		for (i = 0; i < nr; i++)
			pair_of(truth[i].from, truth[i].to)->executed++;
	}
}

/* 0xffffffff81000000/0xffffffff81000010/P/-/-/0 and so on: the last branches before a sample. */
static void take_stack(const char *line)
{
	uint64_t from, to;
	int length;

	for (; sscanf(line, " 0x%" SCNx64 "/0x%" SCNx64 "/%*s%n", &from, &to, &length) == 2; line += length)
		if (from && to)
			pair_of(from, to)->counted++;
}

static void read_counted(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0)
		take_stack(line);
	free(line);
}

/* What is counted and was never executed, and the branches that were executed and are not counted. */
static void judge(void)
{
	uint64_t executed = 0, counted = 0, wrong = 0, branches = 0, seen = 0, shown = 0;
	size_t i;

	for (i = 0; i < PLACES; i++) {
		executed += pairs[i].executed;
		counted += pairs[i].counted;
		branches += !!pairs[i].executed;
		seen += pairs[i].executed && pairs[i].counted;
		if (!pairs[i].counted || pairs[i].executed)
			continue;
		wrong += pairs[i].counted;
		if (shown++ < SHOWN)
			printf("differs: counted %" PRIu64 " decoded %" PRIx64 " %" PRIx64 "\n",
			       pairs[i].counted, pairs[i].from, pairs[i].to);
	}
	printf("executed %" PRIu64 "\ncounted %" PRIu64 "\nwrong %" PRIu64 "\nbranches %" PRIu64 "\nseen %" PRIu64 "\n",
	       executed, counted, wrong, branches, seen);
}

int compare_profile(const char *folder)
{
	read_executed(folder);
	read_counted();
	judge();
	return 0;
}
