// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads a module that has static keys, of its own and of another
 * module, and functions to trace, and notes where it was: its memory is used
 * again, for something else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text_poke.h"

#define MODULES_MAX	16
#define LOAD		"modprobe -q test_static_keys 2>/dev/null"
#define UNLOAD		"modprobe -q -r test_static_keys 2>/dev/null"

struct module {
	char name[64];
	__u64 addr;
	size_t len;
};

struct modules {
	struct module v[MODULES_MAX];
	int nr;
};

static struct notes notes;
static int loads, loads_again;

static __u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void read_modules(struct modules *m)
{
	FILE *f = fopen("/proc/modules", "r");
	unsigned long long addr;
	char line[512];

	m->nr = 0;
	while (f && m->nr < MODULES_MAX && fgets(line, sizeof(line), f)) {
		struct module *mod = &m->v[m->nr];

		if (sscanf(line, "%63s %zu %*s %*s %*s %llx", mod->name,
			   &mod->len, &addr) != 3)
			continue;
		mod->addr = addr;
		m->nr++;
	}
	if (f)
		fclose(f);
}

static bool has_module(const struct modules *m, const char *name)
{
	for (int i = 0; i < m->nr; i++)
		if (!strcmp(m->v[i].name, name))
			return true;
	return false;
}

/* From @time to @other, or the other way round: see struct note. */
static void note(enum note_kind kind, __u64 time, __u64 other, __u64 addr,
		 size_t len)
{
	notes_add(&notes, (struct note) {
		.kind = kind, .time = time, .other = other,
		.addr = addr, .len = len,
	});
}

/* Its text for initialisation is freed soon after; it has a page, or few. */
static void note_init_text(const char *name, __u64 began, __u64 ended)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned long long addr;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s/sections/.init.text", name);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fscanf(f, "%llx", &addr) == 1 && addr) {
		addr &= ~(page - 1);
		note(LOADED, began, ended, addr, page);
		note(UNLOADED, ended, began, addr, page);
	}
	fclose(f);
}

static bool used_before(__u64 addr)
{
	for (size_t i = 0; i < notes.nr; i++)
		if (notes.v[i].kind == LOADED && notes.v[i].addr == addr)
			return true;
	return false;
}

/* The first records of a module come while it is being loaded. */
static bool load(void)
{
	static struct modules before, after;
	__u64 began = now_ns(), ended;

	read_modules(&before);
	if (system(LOAD))
		return false;
	ended = now_ns();
	read_modules(&after);
	for (int i = 0; i < after.nr; i++) {
		const struct module *m = &after.v[i];

		if (has_module(&before, m->name))
			continue;
		loads++;
		loads_again += used_before(m->addr);
		note_init_text(m->name, began, ended);
		note(LOADED, began, ended, m->addr, m->len);
	}
	return after.nr > before.nr;
}

static void unload(void)
{
	static struct modules before, after;
	__u64 began = now_ns();

	read_modules(&before);
	if (system(UNLOAD))
		return;
	read_modules(&after);
	for (int i = 0; i < before.nr; i++)
		if (!has_module(&after, before.v[i].name))
			note(UNLOADED, now_ns(), began, before.v[i].addr,
			     before.v[i].len);
}

void modules_set(bool on)
{
	if (on)
		load();
	else
		unload();
}

/* Only if it is not in use: then neither unloading nor the notes would do. */
bool modules_work(void)
{
	struct modules m;
	bool loaded;

	read_modules(&m);
	if (has_module(&m, "test_static_keys"))
		return false;
	loaded = load();
	unload();
	notes.nr = 0;
	loads = 0;
	loads_again = 0;
	return loaded;
}

int modules_loads(void)
{
	return loads;
}

/* To where one had been: what is written there then is not what was before. */
int modules_loads_again(void)
{
	return loads_again;
}

const struct notes *modules_notes(void)
{
	return &notes;
}
