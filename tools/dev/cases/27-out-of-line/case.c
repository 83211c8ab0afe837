// SPDX-License-Identifier: GPL-2.0
/*
 * A decoder that meets code outside of the kernel's text, as probes' slots and trampolines, wants
 * to have been told of the place (KSYMBOL) before it is told of what is there (TEXT_POKE), each
 * change to begin with what was there, and of the end.
 */
#include "../tp.h"

#define NAME "27-out-of-line"
#define INSTANCE T "instances/x/"
#define BYTES (1 << 18)

/*
 * A page of slots that is there when listening begins, as on powerpc, which has a probe of its own:
 * it has a name among the symbols, which are copied with the text.
 */
static uint64_t slots_then;

static int announced(size_t before, uint64_t at)
{
	for (size_t i = before; i-- > 0;)
		if (evs[i].type == KSYMBOL && at >= evs[i].addr && at < evs[i].addr + evs[i].len)
			return !(evs[i].flags & KSYMBOL_GONE);
	return slots_then && at >= slots_then && at < slots_then + PAGE;
}

/* What is known of the byte at an address: the byte + 1, or 0 */
static int *known(uint64_t at)
{
	static struct {
		uint64_t at;
		int byte;
	} mem[BYTES];
	size_t i = at * 0x9e3779b97f4a7c15 >> 46;

	while (mem[i].at && mem[i].at != at)
		i = (i + 1) % BYTES;
	mem[i].at = at;
	return &mem[i].byte;
}

/* Does a poke begin with what is known to be there? */
static int follows(const struct ev *e)
{
	int good = 1;

	for (int i = 0; i < e->old; i++) {
		int *byte = known(e->addr + i);

		good &= !*byte || *byte == e->bytes[i] + 1;
		*byte = 0;
	}
	for (int i = 0; i < e->new; i++)
		*known(e->addr + i) = e->bytes[e->old + i] + 1;
	return good;
}

static void tracers(const char *tracer)
{
	put(T "current_tracer", "%s", tracer);
	put(INSTANCE "current_tracer", "%s", tracer);
}

/* Probes that need slots, and tracers that need trampolines, come and go; returns how many probes. */
static long come_and_go(int round)
{
	long nr = 0;

	for (int off = 0; off < 80; off++)
		nr += !put(T "kprobe_events", "p:k%d_%d do_sys_openat2+%d\n", round, off, off);
	put(T "events/kprobes/enable", "1");
	put(T "set_ftrace_filter", "vfs_read");
	put(INSTANCE "set_ftrace_filter", "vfs_*");
	tracers("function");
	sleep(1);
	tracers("nop");
	no_probes();
	sleep(1);
	return nr;
}

static long judge(void)
{
	long outside = 0, unannounced = 0, torn = 0;

	for (size_t i = 0; i < nr_evs; i++) {
		struct ev *e = &evs[i];

		if (e->type != TEXT_POKE || (e->addr >= text_start && e->addr < text_end))
			continue;
		outside++;
		torn += !follows(e);
		if (!announced(i, e->addr) && unannounced++ < 4)
			printf("not announced: %llx\n", (unsigned long long)e->addr);
	}
	printf("%ld records outside, %ld not announced, %ld do not follow\n", outside, unannounced,
	       torn);
	return unannounced + torn + !outside;
}

int main(void)
{
	long nr = 0, bad;

	begin();
	slots_then = ksym("kprobe_insn_page");
	listen_all();
	mkdir(INSTANCE, 0755);
	for (int round = 0; round < 3; round++)
		nr += come_and_go(round);
	printf("%ld probes\n", nr);
	bad = !!rmdir(INSTANCE) + verify();
	return done(NAME, bad + judge() + complaints());
}
