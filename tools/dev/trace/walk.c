// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "walk.h"

const struct code *walk_code;
uint32_t walk_codes;
int walk_cpus;
bool walk_done;

static uint64_t bases[CPUS];

void *read_file(const char *folder, const char *name, size_t *length)
{
	char path[4096];
	struct stat st;
	void *bytes;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(1);
	}
	*length = st.st_size;
	bytes = *length ? mmap(NULL, *length, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
	close(fd);
	if (bytes == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	return bytes;
}

void walk_read_code(const char *folder)
{
	size_t length, at = 0, room = 0;
	const uint8_t *bytes = read_file(folder, "blocks", &length);
	struct code *codes = NULL;
	struct block block;

	if (walk_code)
		return;
	while (at + sizeof(block) <= length) {
		memcpy(&block, bytes + at, sizeof(block));
		at += sizeof(block);
		if (walk_codes == room)
			codes = realloc(codes, (room = 2 * room + 1024) * sizeof(*codes));
		codes[walk_codes++] = (struct code){ block.addr, block.insns,
			bytes + at, bytes + at + block.insns };
		at += block.insns + block.bytes;
	}
	walk_code = codes;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void note_base(uint64_t base)
{
	int i;

	for (i = 0; i < walk_cpus; i++)
		if (bases[i] == base)
			return;
	if (base && walk_cpus < CPUS)
		bases[walk_cpus++] = base;
}

/* CPUs are numbered as their data lies in memory. */
static int cpu_of(uint64_t base)
{
	int i;

	for (i = 0; i < walk_cpus; i++)
		if (bases[i] == base)
			return i;
	return -1;
}

/* An entry and its words; false at the end of the log. */
struct place {
	const uint8_t *at, *end;
	struct entry entry;
	uint64_t words[3];
};

static bool step(struct place *place)
{
	size_t size;

	if (place->end - place->at < (ptrdiff_t)sizeof(place->entry))
		return false;
	memcpy(&place->entry, place->at, sizeof(place->entry));
	place->at += sizeof(place->entry);
	size = place->entry.what >= LOG_KINDS ? 8 * log_words(place->entry.what) : 0;
	if (place->end - place->at < (ptrdiff_t)size)
		return false;
	memcpy(place->words, place->at, size);
	place->at += size;
	return true;
}

static void find_cpus(struct place place)
{
	while (step(&place))
		if (place.entry.what == LOG_CPU)
			note_base(place.words[0]);
	qsort(bases, walk_cpus, sizeof(*bases), by_value);
}

static void tell(const struct events *events, const struct place *place, int cpu, uint64_t count)
{
	const uint64_t *words = place->words;

	if (place->entry.what == LOG_TIME)
		events->clock(cpu, words[0], words[1]);
	else if (place->entry.what == LOG_TRAP)
		events->trap(cpu, words[0], words[1], words[2], count);
	else if (place->entry.what == LOG_USER)
		events->user(cpu, count);
}

int walk(const char *folder, const struct events *events)
{
	struct place place = { };
	uint64_t count = 0, begun = 0;
	int64_t block = -1;
	size_t length;
	int cpu = -1;

	walk_read_code(folder);
	place.at = read_file(folder, "log", &length);
	place.end = place.at + length;
	find_cpus(place);
	while (!walk_done && step(&place)) {
		count += (int32_t)(place.entry.count - (uint32_t)count);
		if (block >= 0)
			events->run(cpu, block, &walk_code[block], count - begun, begun);
		block = -1;
		if (place.entry.what == LOG_CPU) {
			cpu = cpu_of(place.words[0]);
			count = place.words[1];
		} else if (place.entry.what >= LOG_KINDS) {
			tell(events, &place, cpu, count);
		} else {
			block = place.entry.what;
			begun = count;
			if (block >= walk_codes)
				return -1;
		}
	}
	return walk_cpus ? 0 : -1;
}
