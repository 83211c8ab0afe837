// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the kernel's text to a file and says when it was read, on the clock
 * that was given to perf record -k: "BASE LENGTH BEGAN ENDED", the times in ns
 * of CLOCK_MONOTONIC_RAW. Without a file it only says the range and the time.
 */
#include <stdio.h>
#include <time.h>

#include "text_poke.h"

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int save(const struct image *img, const char *path)
{
	FILE *f = fopen(path, "w");
	size_t done;

	if (!f)
		return -1;
	done = fwrite(img->bytes, 1, img->len, f);
	return fclose(f) || done != img->len ? -1 : 0;
}

int main(int argc, char **argv)
{
	unsigned long long began = now_ns(), ended;
	struct image img = { };

	if (text_range(&img) || (argc > 1 && text_read(&img))) {
		perror("text_snapshot: reading the kernel's text");
		return 1;
	}
	ended = now_ns();
	if (argc > 1 && save(&img, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	printf("%llx %zu %llu %llu\n", img.base, img.len, began, ended);
	return 0;
}
