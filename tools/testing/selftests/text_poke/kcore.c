// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's text as memory holds it, read through /proc/kcore.
 *
 * A snapshot is not atomic: the caller makes sure that nothing is poked
 * meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/elf.h>

#include "text_poke.h"

#define CHUNK	(64UL << 10)

static bool symbol_line(const char *line, const char *want, __u64 *addr)
{
	unsigned long long value;
	char name[128];

	/* Symbols of modules have a fourth word; ours are the kernel's. */
	if (sscanf(line, "%llx %*c %127s", &value, name) != 2)
		return false;
	if (strcmp(name, want))
		return false;
	*addr = value;
	return true;
}

/* 0 also where kallsyms hides the addresses from the user. */
static __u64 symbol(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512];
	__u64 addr = 0;

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (symbol_line(line, name, &addr))
			break;
	fclose(f);
	return addr;
}

/* Init text is left out: it is gone by now. */
int text_range(struct image *img)
{
	__u64 end = symbol("_etext");

	img->base = symbol("_stext");
	if (!img->base || end <= img->base) {
		errno = ENOENT;
		return -1;
	}
	img->len = end - img->base;
	return 0;
}

static struct elf64_phdr *read_phdrs(int fd, int *nr)
{
	struct elf64_phdr *ph;
	struct elf64_hdr eh;
	ssize_t len;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh))
		return NULL;
	len = eh.e_phnum * sizeof(*ph);
	ph = malloc(len);
	if (ph && pread(fd, ph, len, eh.e_phoff) != len) {
		free(ph);
		return NULL;
	}
	*nr = eh.e_phnum;
	return ph;
}

/* The segment that holds @addr; kernel text may lie in any kind of them. */
static const struct elf64_phdr *segment_of(const struct elf64_phdr *ph, int nr,
					   __u64 addr)
{
	for (int i = 0; i < nr; i++) {
		if (ph[i].p_type != PT_LOAD || addr < ph[i].p_vaddr)
			continue;
		if (addr - ph[i].p_vaddr < ph[i].p_memsz)
			return &ph[i];
	}
	return NULL;
}

/* Never across the end of a segment: offsets need not go on there. */
static ssize_t read_chunk(int fd, const struct elf64_phdr *ph, int nr,
			  const struct image *img, size_t done)
{
	const struct elf64_phdr *seg = segment_of(ph, nr, img->base + done);
	size_t len = img->len - done;
	__u64 in_seg;

	if (!seg)
		return -1;
	in_seg = img->base + done - seg->p_vaddr;
	if (len > CHUNK)
		len = CHUNK;
	if (len > seg->p_memsz - in_seg)
		len = seg->p_memsz - in_seg;
	return pread(fd, img->bytes + done, len, seg->p_offset + in_seg);
}

/* kcore may give less than was asked for, at the end of a segment or a page. */
static int read_all(int fd, struct image *img)
{
	int nr = 0;
	struct elf64_phdr *ph = read_phdrs(fd, &nr);
	size_t done = 0;

	while (ph && done < img->len) {
		ssize_t got = read_chunk(fd, ph, nr, img, done);

		if (got <= 0)
			break;
		done += got;
	}
	free(ph);
	return done == img->len ? 0 : -1;
}

int text_read(struct image *img)
{
	int fd = open("/proc/kcore", O_RDONLY);
	int ret;

	if (fd < 0)
		return -1;
	if (!img->bytes)
		img->bytes = malloc(img->len);
	ret = img->bytes ? read_all(fd, img) : -1;
	close(fd);
	return ret;
}

size_t text_diff(const struct image *a, const struct image *b)
{
	size_t diff = 0;

	for (size_t i = 0; i < a->len; i++)
		diff += a->bytes[i] != b->bytes[i];
	return diff;
}
