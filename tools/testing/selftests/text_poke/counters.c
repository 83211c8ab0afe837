// SPDX-License-Identifier: GPL-2.0
/*
 * The files that the tests need, and the counters of the text poke core.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mount.h>

#include "text_poke.h"

#define STATS	"/sys/kernel/debug/text_poke/stats"

/* A bare initramfs mounts neither; where they are mounted this is refused. */
void mount_kernel_fs(void)
{
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
}

int write_file(const char *path, const char *text)
{
	ssize_t len = strlen(text);
	int fd = open(path, O_WRONLY);
	ssize_t done;
	int saved;

	if (fd < 0)
		return -1;
	done = write(fd, text, len);
	saved = errno;
	close(fd);
	errno = saved;
	return done == len ? 0 : -1;
}

static struct {
	const char *path;
	char text[64];
} kept;

static void put_back(void)
{
	write_file(kept.path, kept.text);
}

/* At exit(), one file is to contain again what it does now. */
int keep_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, kept.text, sizeof(kept.text) - 1);
	close(fd);
	kept.path = path;
	return got <= 0 || atexit(put_back) ? -1 : 0;
}

int trace_functions(bool on)
{
	return write_file(TRACER, on ? "function" : "nop");
}

/* Returns -1 on a kernel that does not count. */
long counter_read(const char *name)
{
	FILE *f = fopen(STATS, "r");
	char word[64];
	long value;
	long found = -1;

	if (!f)
		return -1;
	while (found < 0 && fscanf(f, "%63s %ld", word, &value) == 2)
		if (!strcmp(word, name))
			found = value;
	fclose(f);
	return found;
}

double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}
