// SPDX-License-Identifier: GPL-2.0
/*
 * FOLDER has what trace.py took from perf.data:
 *
 *	text	for each part of the kcore copy its address and length, two
 *		words, and its bytes
 *	programs	the same of programs of BPF
 *	pokes	for each record, by time: its time, address, length before and
 *		after, four words, and the bytes before and after
 *	areas	code that is counted by what it is for, by time: since when, its
 *		address, length and kind, four words
 *	time	shift, multiplier and offset from the CPUs' clock to perf's
 *
 * It gets "windows": for each record, by time, when what it changed was last
 * executed before it, and first after it, two words; 0: not since the record
 * of that site before, or not until the next. For the first it is the reading
 * of the clock before that, by which the record would have had to be applied
 * to be wrong.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "walk.h"

#define PAGE		4096
#define BUCKETS		65536
#define SHOWN		10

/* Where code is known from. */
enum origin {
	RECORDS,		/* alone: slots, trampolines */
	KCORE,
	PROGRAM,		/* of BPF, as perf has copied it */
};

/* What an area is for, in the order of trace.py's KINDS; NOTHING: it is gone. */
enum kind {
	NOTHING,
	SLOTS,
	DETOURS,
	TRAMPOLINES,
	MODULES,
	KINDS
};

struct area {
	uint64_t time, addr, length, kind;
};

struct page {
	struct page *next;
	uint64_t addr;
	uint8_t bytes[PAGE];
	bool known[PAGE];
	enum origin origin;
};

struct poke {
	uint64_t time, addr, old_len, new_len;
	const uint8_t *old, *new;
	bool on_time;		/* the clock has been read as just that */
	uint64_t before, after;	/* when the site was executed: see above */
	struct site *site;
};

/* An address that records change, the last that was applied, and when it was executed since. */
struct site {
	uint64_t addr, run;
	struct poke *last;
};

/* What a block was found to be, and how often the image had changed by then. */
struct verdict {
	uint32_t changes, insns;
	enum { UNTRIED, SAME, OTHER, UNKNOWN } how;
	enum origin origin;
	enum kind kind;
	bool sought;		/* are there sites in it? */
	uint32_t first, sites;
};

static struct page *pages[BUCKETS];
static struct poke *pokes;
static uint64_t nr_pokes, next_poke;
static const struct area *areas;
static size_t nr_areas, next_area;
static struct site *sites;
static size_t nr_sites;
static struct verdict *verdicts;
static uint32_t changes = 1;
static uint64_t shift, mult, offset, clock_now, bias;
static uint64_t pieces, wrong, unknown, origins[PROGRAM + 1], on_time, breaks, early, traps[2], unplaced;
static uint64_t kinds[KINDS];

static struct page *find_page(uint64_t addr, bool make)
{
	struct page **at = &pages[addr / PAGE % BUCKETS];

	addr &= ~(uint64_t)(PAGE - 1);
	while (*at && (*at)->addr != addr)
		at = &(*at)->next;
	if (!*at && make) {
		*at = calloc(1, sizeof(**at));
		(*at)->addr = addr;
	}
	return *at;
}

static void store(uint64_t addr, const uint8_t *bytes, uint64_t length, enum origin origin)
{
	struct page *page;
	uint64_t i;

	for (i = 0; i < length; i++) {
		page = find_page(addr + i, true);
		page->bytes[(addr + i) % PAGE] = bytes[i];
		page->known[(addr + i) % PAGE] = true;
		if (origin != RECORDS)
			page->origin = origin;
	}
}

static int compare(uint64_t addr, const uint8_t *bytes, uint64_t length)
{
	struct page *page;
	uint64_t i;

	for (i = 0; i < length; i++) {
		page = find_page(addr + i, false);
		if (!page || !page->known[(addr + i) % PAGE])
			return UNKNOWN;
		if (page->bytes[(addr + i) % PAGE] != bytes[i])
			return OTHER;
	}
	return SAME;
}

static void read_copy(const char *folder, const char *name, enum origin origin)
{
	const uint8_t *bytes;
	uint64_t head[2];
	size_t length, at = 0;

	bytes = read_file(folder, name, &length);
	while (at + sizeof(head) <= length) {
		memcpy(head, bytes + at, sizeof(head));
		at += sizeof(head);
		store(head[0], bytes + at, head[1], origin);
		at += head[1];
	}
}

static void read_pokes(const char *folder)
{
	const uint8_t *bytes;
	size_t length, at = 0, room = 0;
	struct poke *poke;

	bytes = read_file(folder, "pokes", &length);
	while (at + 32 <= length) {
		if (nr_pokes == room)
			pokes = realloc(pokes, (room = 2 * room + 1024) * sizeof(*pokes));
		poke = &pokes[nr_pokes++];
		*poke = (struct poke){ };
		memcpy(poke, bytes + at, 32);
		poke->old = bytes + at + 32;
		poke->new = poke->old + poke->old_len;
		at += 32 + poke->old_len + poke->new_len;
	}
}

static void read_areas(const char *folder)
{
	size_t length;

	areas = read_file(folder, "areas", &length);
	nr_areas = length / sizeof(*areas);
}

static int by_address(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void find_sites(void)
{
	uint64_t i;

	sites = calloc(nr_pokes + 1, sizeof(*sites));
	for (i = 0; i < nr_pokes; i++)
		sites[i].addr = pokes[i].addr;
	qsort(sites, nr_pokes, sizeof(*sites), by_address);
	for (i = 0; i < nr_pokes; i++)
		if (!nr_sites || sites[nr_sites - 1].addr != sites[i].addr)
			sites[nr_sites++] = sites[i];
	for (i = 0; i < nr_pokes; i++)
		pokes[i].site = bsearch(&(struct site){ .addr = pokes[i].addr }, sites, nr_sites,
					sizeof(*sites), by_address);
}

static void read_time(const char *folder)
{
	uint64_t words[3];
	size_t length;
	void *bytes = read_file(folder, "time", &length);

	memcpy(words, bytes, sizeof(words));
	shift = words[0];
	mult = words[1];
	offset = words[2];
}

/* As perf does it. */
static uint64_t perf_time(uint64_t value)
{
	uint64_t high = value >> shift, low = value & ((1ull << shift) - 1);

	return offset + high * mult + (low * mult >> shift);
}

static void apply(struct poke *poke)
{
	poke->before = poke->site->run;
	poke->site->run = 0;
	poke->site->last = poke;
	breaks += compare(poke->addr, poke->old, poke->old_len) == OTHER;
	store(poke->addr, poke->new, poke->new_len, RECORDS);
	changes++;
}

/* They are told of before code is written into them, and as they are given back. */
static void begin_areas(uint64_t until)
{
	while (next_area < nr_areas && areas[next_area].time <= until) {
		next_area++;
		changes++;
	}
}

/* The last that has begun there. */
static enum kind kind_of(uint64_t addr)
{
	size_t i = next_area;

	while (i--)
		if (addr - areas[i].addr < areas[i].length)
			return areas[i].kind < KINDS ? areas[i].kind : NOTHING;
	return NOTHING;
}

/* perf may have copied kcore before or after these. */
static void apply_early(uint64_t first)
{
	while (next_poke < nr_pokes && pokes[next_poke].time < first)
		apply(&pokes[next_poke++]);
	breaks = 0;
	early = next_poke;
}

/* A task that is interrupted while it asks for the time gets one that is over by then. */
static void note_on_time(uint64_t time)
{
	uint64_t i = next_poke;

	while (i-- > early && pokes[i].time >= time) {
		on_time += pokes[i].time == time && !pokes[i].on_time;
		pokes[i].on_time |= pokes[i].time == time;
	}
}

static void on_clock(int cpu, uint64_t at, uint64_t value)
{
	uint64_t time = perf_time(value);

	bias = value - at;
	if (!clock_now)
		apply_early(time);
	if (time > clock_now)
		clock_now = time;
	begin_areas(clock_now);
	while (next_poke < nr_pokes && pokes[next_poke].time <= clock_now)
		apply(&pokes[next_poke++]);
	note_on_time(time);
}

static enum origin origin_of(uint64_t addr)
{
	struct page *page = find_page(addr, false);

	return page ? page->origin : RECORDS;
}

static uint32_t length_of(const struct code *code, uint32_t insns)
{
	uint32_t i, length = 0;

	for (i = 0; i < insns; i++)
		length += code->lengths[i];
	return length;
}

static void seek_sites(struct verdict *verdict, const struct code *code)
{
	uint64_t end = code->addr + length_of(code, code->insns);
	size_t low = 0, high = nr_sites;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sites[middle].addr < code->addr)
			low = middle + 1;
		else
			high = middle;
	}
	verdict->first = low;
	while (low < nr_sites && sites[low].addr < end)
		low++;
	verdict->sites = low - verdict->first;
	verdict->sought = true;
}

static void note_run(struct site *site, uint64_t count)
{
	uint64_t time = perf_time(count + bias);

	site->run = clock_now;
	if (site->last && !site->last->after)
		site->last->after = time > clock_now ? time : clock_now;
}

static void note_sites(struct verdict *verdict, const struct code *code, uint32_t insns, uint64_t count)
{
	uint64_t end;
	uint32_t i;

	if (!verdict->sought)
		seek_sites(verdict, code);
	if (!verdict->sites)
		return;
	end = code->addr + length_of(code, insns);
	for (i = verdict->first; i < verdict->first + verdict->sites; i++)
		if (sites[i].addr < end)
			note_run(&sites[i], count);
}

static int write_windows(const char *folder)
{
	char path[4096];
	FILE *file;
	uint64_t i;

	snprintf(path, sizeof(path), "%s/windows", folder);
	file = fopen(path, "wb");
	if (!file)
		return -1;
	for (i = 0; i < nr_pokes; i++) {
		fwrite(&pokes[i].before, 8, 1, file);
		fwrite(&pokes[i].after, 8, 1, file);
	}
	return fclose(file);
}

static void show(int cpu, const struct code *code, uint32_t length)
{
	uint32_t i;

	printf("differs: cpu %d code %" PRIx64 " time %" PRIu64 " bytes ", cpu, code->addr, clock_now);
	for (i = 0; i < length; i++)
		printf("%02x", code->bytes[i]);
	printf("\n");
}

static void on_run(int cpu, uint32_t number, const struct code *code, uint32_t insns, uint64_t count)
{
	struct verdict *verdict = &verdicts[number];
	uint32_t length;

	if (!clock_now)
		return;
	/* It comes up, and executes what was there before the kernel's text. */
	if (cpu < 0) {
		unplaced++;
		return;
	}
	if (insns > code->insns)
		insns = code->insns;
	pieces++;
	note_sites(verdict, code, insns, count);
	if (verdict->changes != changes || verdict->insns != insns) {
		length = length_of(code, insns);
		verdict->changes = changes;
		verdict->insns = insns;
		verdict->how = compare(code->addr, code->bytes, length);
		verdict->origin = origin_of(code->addr);
		verdict->kind = kind_of(code->addr);
		if (verdict->how != SAME && wrong + unknown < SHOWN)
			show(cpu, code, length);
	}
	wrong += verdict->how == OTHER;
	unknown += verdict->how == UNKNOWN;
	origins[verdict->origin]++;
	kinds[verdict->kind]++;
}

static void on_trap(int cpu, int kind, uint64_t from, uint64_t to, uint64_t count)
{
	traps[kind] += from >> 63;
}

static void on_user(int cpu, uint64_t count)
{
}

int image_compare(const char *folder)
{
	static const struct events events = { on_run, on_trap, on_user, on_clock };

	read_copy(folder, "text", KCORE);
	read_copy(folder, "programs", PROGRAM);
	read_pokes(folder);
	read_areas(folder);
	find_sites();
	read_time(folder);
	walk_read_code(folder);
	verdicts = calloc(walk_codes, sizeof(*verdicts));
	if (walk(folder, &events) || write_windows(folder))
		return -1;
	printf("pieces %" PRIu64 "\nwrong %" PRIu64 "\nunknown %" PRIu64 "\noutside %" PRIu64
	       "\nprograms %" PRIu64 "\n", pieces, wrong, unknown, origins[RECORDS], origins[PROGRAM]);
	printf("slots %" PRIu64 "\ndetours %" PRIu64 "\ntrampolines %" PRIu64 "\nmodules %" PRIu64 "\n",
	       kinds[SLOTS], kinds[DETOURS], kinds[TRAMPOLINES], kinds[MODULES]);
	printf("early %" PRIu64 "\ncrossed %" PRIu64 "\non-time %" PRIu64 "\nbreaks %" PRIu64 "\n",
	       early, next_poke - early, on_time, breaks);
	printf("interrupts %" PRIu64 "\nexceptions %" PRIu64 "\ncpus %d\nunplaced %" PRIu64 "\n",
	       traps[TRAP_INTERRUPT], traps[TRAP_EXCEPTION], walk_cpus, unplaced);
	return 0;
}
