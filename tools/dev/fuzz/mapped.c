// SPDX-License-Identifier: GPL-2.0
/*
 * What perf maps of a file is memory of its own here, as long as the file has
 * bytes for it, so that the address sanitizer sees what is read behind it: it
 * knows nothing of maps, and behind one there mostly is another.
 *
 * It is linked in with --wrap=mmap and --wrap=munmap. It is itself built without
 * the sanitizer.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST	256
#define PAGE	4096

static void *ours[MOST];

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at);
int __wrap_munmap(void *addr, size_t len);
int __real_munmap(void *addr, size_t len);

static int slot_of(void *what)
{
	for (int i = 0; i < MOST; i++) {
		if (ours[i] == what)
			return i;
	}
	return -1;
}

/* How many bytes a file has from a place on, and no more than are asked for; 0 if it is none. */
static size_t bytes_of(int fd, off_t at, size_t len)
{
	struct stat file;

	if (fd < 0 || fstat(fd, &file) || !S_ISREG(file.st_mode) || at < 0 || at >= file.st_size)
		return 0;
	return (size_t)(file.st_size - at) < len ? (size_t)(file.st_size - at) : len;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
	const size_t size = bytes_of(fd, at, len);
	const int slot = slot_of(NULL);
	void *copy;

	if (addr || prot & PROT_EXEC || !size || slot < 0 || posix_memalign(&copy, PAGE, size))
		return __real_mmap(addr, len, prot, flags, fd, at);
	if (pread(fd, copy, size, at) != (ssize_t)size) {
		free(copy);
		return __real_mmap(addr, len, prot, flags, fd, at);
	}
	ours[slot] = copy;
	return copy;
}

int __wrap_munmap(void *addr, size_t len)
{
	const int slot = addr ? slot_of(addr) : -1;

	if (slot < 0)
		return __real_munmap(addr, len);
	ours[slot] = NULL;
	free(addr);
	return 0;
}
