// SPDX-License-Identifier: GPL-2.0
/*
 * A probe on every instruction of some functions, all at once: what each instruction does must
 * not change. The functions work on data that is known.
 */
#include "../tp.h"

#define NAME "07-every-instruction"
#define MOST 600

static const char *const functions[] = {
	"vfs_read", "do_sys_openat2", "pipe_write", "pipe_read", "rw_verify_area",
};

static long size_of(const char *name)
{
	uint64_t at = ksym(name), next = at + MOST, addr;
	char *text = get("/proc/kallsyms"), *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		addr = strtoull(line, NULL, 16);
		if (addr > at && addr < next)
			next = addr;
	}
	free(text);
	return at ? next - at : 0;
}

static long through_pipe(int *fds, int seed)
{
	static unsigned char out[3000], in[3000];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = i * 7 + seed;
	return write(fds[1], out, sizeof(out)) != sizeof(out) ||
	       read(fds[0], in, sizeof(in)) != sizeof(in) || memcmp(in, out, sizeof(in));
}

static long open_and_read(void)
{
	int fd = open("/proc/version", O_RDONLY);
	char in[6];
	long wrong = fd < 0 || read(fd, in, 6) != 6 || memcmp(in, "Linux ", 6);

	wrong += open("/no/such/file", O_RDONLY) != -1 || errno != ENOENT;
	wrong += read(-1, in, 1) != -1 || errno != EBADF;
	close(fd);
	return wrong;
}

/* Returns how many results were wrong. */
static long work(void)
{
	long wrong = 0;
	int fds[2];

	if (pipe(fds))
		return 1;
	for (int n = 0; n < 30; n++)
		wrong += through_pipe(fds, n) + open_and_read();
	close(fds[0]);
	close(fds[1]);
	return wrong;
}

/* Each refusal of a place that is none is a line on the console. */
#ifdef __powerpc__
#define STEP 4
#else
#define STEP 1
#endif

static int probe_all(void)
{
	int nr = 0;

	for (size_t f = 0; f < ARRAY_SIZE(functions); f++)
		for (long off = 0, end = size_of(functions[f]); off < end; off += STEP)
			nr += !put(T "kprobe_events", "p:k%d %s+%ld\n", nr, functions[f], off);
	return nr;
}

static int count_hit(int nr)
{
	char name[16];
	int hit = 0;

	for (int i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		hit += hits(name) > 0;
	}
	return hit;
}

int main(void)
{
	int nr, hit;
	long bad;

	begin();
	listen_all();
	put(T "tracing_on", "0");
	nr = probe_all();
	bad = !!put(T "events/kprobes/enable", "1") + work();
	hit = count_hit(nr);
	printf("%d probes, %d of them hit, %ld wrong results\n", nr, hit, bad);
	/* On x86 some become jumps now. */
	sleep(1);
	bad += work() + !!put(T "events/kprobes/enable", "0") + work();
	no_probes();
	sleep(2);
	bad += text_differs() + verify() + (hit < 20);
	return done(NAME, bad + complaints());
}
