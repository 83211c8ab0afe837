// SPDX-License-Identifier: GPL-2.0
/*
 * What changing the kernel's text costs, measured in a guest.
 *
 *	bench REPETITIONS
 *	bench calls
 *	bench cpus
 *	bench isolated
 *
 * One knob after the other is turned on and off from CPU 0 while a thread on
 * CPU 1 reads the clock all the time: the longest gap that it sees is the stall.
 * Knobs that the kernel has not are those of modules: see bench-modules/.
 * Prints "case metric value", times in ns, one line per repetition:
 *
 *	on off		how long it took to turn the knob, by a write to a file or by
 *			loading and unloading a module
 *	on_asleep off_asleep
 *			for how long of it the task did not run: it waited for RCU
 *			or for other CPUs
 *	stall		longest gap on the other CPU meanwhile
 *	ipis		function call interrupts, on and off together; on powerpc all
 *			that one CPU sends another
 *	syncs mappings pokes stops records	by how much the core's counters grew;
 *			stops only for probes over instructions that demand one
 *	memory		kB that were free before and not meanwhile
 *	profile		samples of the functions that took most, by name
 *
 * One more case turns the tracer from a task that gets POKER_QUOTA of its CPU's
 * time, while CPU 1 makes system calls:
 *
 *	longest		the longest of these calls
 *	lost		time above that of an undisturbed call that is traced, of all
 *
 * The second form measures how long a call takes that is traced, in ns for a
 * thousand of them: where the guest's clock counts instructions, that many.
 *
 *	untraced	by no tracer
 *	one		by one tracer
 *	many		by the same one, with OTHERS more that trace another function
 *	profile		samples while it is as in the last line
 *
 * On powerpc it also reads how traceable functions begin; again of a thousand:
 *
 *	mflr nops	words of that kind in the two that the tracer may change
 *
 * The third form turns the tracer and a key on as many CPUs as there are, and says the
 * same of these as the first, without what another thread would see.
 *
 * The last form runs a program on CPU 1, which has no tick (nohz_full=1), and says
 * how many function call interrupts that CPU gets while each of these is turned on
 * and off again:
 *
 *	tracer key events probes
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define TRACING		"/sys/kernel/tracing/"
#define STATS		"/sys/kernel/debug/text_poke/stats"
#define CPUS_MAX	64
#define EVENTS_MAX	8
#define PROBES		200
#define PROFILE_PAGES	256
#define PROFILE_NS	100000
#define PROFILE_TURNS	5
#define PROFILE_TOP	6
/* The offsets at which a probe may be that ftrace does not serve. */
#ifdef __powerpc64__
#define PROBE_OFFSET	20
#define PROBE_STEP	4
#else
#define PROBE_OFFSET	8
#define PROBE_STEP	1
#endif
#define PROBE_OFFSETS	32
#define MODULES		"/bench-modules/"
#define IDLE_NS		200000000L
#define CALLS		20000
#define CPUS_TURNS	3
#define CALLED		"*sys_getppid"
#define CALLED_BY_NONE	"*sys_getpgid"
#define OTHERS		100
#define CGROUPS		"/tmp/cgroups"
#define POKER		CGROUPS "/poker"
/* Microseconds that the poker may run, of how many. */
#define POKER_QUOTA	"1000 100000"
#define POKER_FUNCTIONS	1024

static const char *current;

static void say(const char *metric, long long value)
{
	printf("%s %s %lld\n", current, metric, value);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* What this task has run. */
static long long ran(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int put(const char *path, const char *text, int flags)
{
	ssize_t len = strlen(text), done;
	int fd = open(path, O_WRONLY | flags);

	if (fd < 0)
		return -1;
	done = write(fd, text, len);
	close(fd);
	return done == len ? 0 : -1;
}

/*
 * Whether a line is of interrupts that CPUs send each other to have a function
 * called.  On powerpc there is one interrupt for all that they send.
 */
static bool is_call(const char *line)
{
#ifdef __powerpc64__
	return strstr(line, " IPI") || strstr(line, "Doorbell interrupts");
#else
	return strstr(line, "Function call interrupts");
#endif
}

#define ALL_CPUS	-1

/* The numbers of a CPU in those lines, or the sum of all CPUs' numbers. */
static long long interrupts_of(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "r");
	long long sum = 0;
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, ':'), *end;

		if (!at || !is_call(line))
			continue;
		at++;
		for (int i = 0;; i++, at = end) {
			long long n = strtoll(at, &end, 10);

			if (end == at)
				break;
			if (cpu == ALL_CPUS || cpu == i)
				sum += n;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

static long long interrupts(void)
{
	return interrupts_of(ALL_CPUS);
}

/* A number from a file of "NAME value" or "NAME: value"; -1 if it has none. */
static long long number_of(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	long long value, found = -1;
	char word[64], line[256];

	while (f && found < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63[^: ]%*[: ]%lld", word, &value) == 2 &&
		    !strcmp(word, name))
			found = value;
	if (f)
		fclose(f);
	return found;
}

/* The thread on the other CPU */

static struct {
	pthread_t thread;
	long long longest;
	long long least_free;
	bool memory;
	bool stop;
} other;

static void *read_clock(void *unused)
{
	long long last, at;

	pin(1);
	last = now();
	while (!__atomic_load_n(&other.stop, __ATOMIC_RELAXED)) {
		if (other.memory) {
			at = number_of("/proc/meminfo", "MemFree");
			if (at < other.least_free)
				other.least_free = at;
			continue;
		}
		at = now();
		if (at - last > other.longest)
			other.longest = at - last;
		last = at;
	}
	return unused;
}

static void other_start(bool memory)
{
	struct sched_param first = { .sched_priority = 1 };

	other.stop = false;
	other.memory = memory;
	other.longest = 0;
	other.least_free = number_of("/proc/meminfo", "MemFree");
	pthread_create(&other.thread, NULL, read_clock, NULL);
	if (!memory)
		pthread_setschedparam(other.thread, SCHED_FIFO, &first);
	usleep(20000);
	other.longest = 0;
}

static void other_stop(void)
{
	__atomic_store_n(&other.stop, true, __ATOMIC_RELAXED);
	pthread_join(other.thread, NULL);
}

/* Events that listen to records, on each CPU, and let old ones be overwritten. */

static int listeners[EVENTS_MAX * CPUS_MAX];
static int nr_listeners;

static void listen_on(int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_DUMMY,
		.text_poke	= 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);

	if (fd < 0)
		return;
	mmap(NULL, 257 * sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	listeners[nr_listeners++] = fd;
}

static void listen_begin(int events)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	while (events--)
		for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++)
			listen_on(cpu);
}

static void listen_end(void)
{
	while (nr_listeners)
		close(listeners[--nr_listeners]);
}

/* The knobs */

struct knob {
	const char *path;
	/* What is written there; a module is loaded and unloaded if it is NULL. */
	const char *on;
	const char *off;
	/* Or this turns it. */
	int (*turn)(bool on);
};

static const struct knob tracer = { TRACING "current_tracer", "function", "nop" };
static const struct knob key = { "/proc/sys/kernel/sched_schedstats", "1", "0" };
static const struct knob probe = { TRACING "events/bench1/enable", "1", "0" };
static const struct knob probes = { TRACING "events/bench200/enable", "1", "0" };
static const struct knob names = { TRACING "options/record-cmd", "1", "0" };
static const struct knob sched_events = { TRACING "events/sched/enable", "1", "0" };
static const struct knob all_events = { TRACING "events/enable", "1", "0" };
/* Those of drivers: they have nothing to say meanwhile. */
static const struct knob messages = { "/proc/dynamic_debug/control",
				      "file drivers/* +p", "file drivers/* -p" };
static const struct knob one_key = { "/sys/module/bench_one/parameters/key", "1", "0" };
static const struct knob one_call = { "/sys/module/bench_one/parameters/call", "1", "0" };
static const struct knob module_calls = {
	.path = MODULES "bench_calls.ko"
};
static const struct knob module_keys = {
	.path = MODULES "bench_key_sites.ko"
};

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A program that does nothing, at a tracepoint where nothing happens meanwhile. */
static int turn_program(bool on)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	static int loaded = -1, attached = -1;
	union bpf_attr load = {
		.prog_type	= BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns		= (unsigned long)program,
		.insn_cnt	= sizeof(program) / sizeof(*program),
		.license	= (unsigned long)"GPL",
	};
	union bpf_attr attach = {
		.raw_tracepoint.name = (unsigned long)"sched_process_exec",
	};

	if (!on)
		return close(attached);
	if (loaded < 0)
		loaded = bpf(BPF_PROG_LOAD, &load);
	attach.raw_tracepoint.prog_fd = loaded;
	attached = bpf(BPF_RAW_TRACEPOINT_OPEN, &attach);
	return attached < 0 ? -1 : 0;
}

static const struct knob one_program = {
	.path = "a program of BPF", .turn = turn_program
};

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

/* By its file; its name is without folder and suffix. */
static int unload(const char *path)
{
	char name[64];

	snprintf(name, sizeof(name), "%s", path + strlen(MODULES));
	*strchrnul(name, '.') = 0;
	return syscall(SYS_delete_module, name, O_NONBLOCK);
}

static int move(const struct knob *k, bool on)
{
	if (k->turn)
		return k->turn(on);
	if (k->on)
		return put(k->path, on ? k->on : k->off, 0);
	return on ? load(k->path) : unload(k->path);
}

/* Without a word when it cannot be, a figure would be of nothing. */
static void set(const struct knob *k, bool on)
{
	if (move(k, on))
		fprintf(stderr, "bench: %s cannot be turned %s: %m\n", k->path,
			on ? "on" : "off");
}

static void turn_both_ways(const struct knob *k)
{
	set(k, true);
	set(k, false);
}

static bool is_there(const struct knob *k)
{
	return k->turn || !access(k->path, F_OK);
}

/* Turn it, and say how long that took and how much of it the task did not run. */
static void turn_and_say(const struct knob *k, bool on)
{
	long long slept = now() - ran(), began = now(), ended;

	set(k, on);
	ended = now();
	slept = ended - ran() - slept;
	say(on ? "on" : "off", ended - began);
	say(on ? "on_asleep" : "off_asleep", slept > 0 ? slept : 0);
}

static void say_growth(const char *metric, long long before)
{
	long long after = number_of(STATS, metric);

	if (after >= 0)
		say(metric, after - before);
}

/* Of the core, whose counters the base does not have. */
static const char * const counters[] = {
	"syncs", "mappings", "pokes", "stops", "records"
};

#define NR_COUNTERS	(sizeof(counters) / sizeof(*counters))

/* The thread on the other CPU is left out: there may be no other CPU. */
static bool alone;

static void turn(const struct knob *k)
{
	long long ipis = interrupts(), before[NR_COUNTERS];

	for (size_t i = 0; i < NR_COUNTERS; i++)
		before[i] = number_of(STATS, counters[i]);
	if (!alone)
		other_start(false);
	turn_and_say(k, true);
	usleep(10000);
	turn_and_say(k, false);
	if (!alone) {
		other_stop();
		say("stall", other.longest);
	}
	say("ipis", interrupts() - ipis);
	for (size_t i = 0; i < NR_COUNTERS; i++)
		say_growth(counters[i], before[i]);
}

static void turn_often(const char *name, const struct knob *k, int times)
{
	current = name;
	if (!is_there(k))
		return;
	/* The first time pays for what the others find in place. */
	turn_both_ways(k);
	while (times--)
		turn(k);
}

static void measure_memory(const char *name, const struct knob *k)
{
	long long before;

	current = name;
	other_start(true);
	before = other.least_free;
	turn_both_ways(k);
	other_stop();
	say("memory", before - other.least_free);
}

/* A profile of CPU 0 by its clock */

struct symbol {
	unsigned long long addr;
	char name[64];
	long hits;
};

static struct symbol *symbols;
static size_t nr_symbols;

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_hits(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->hits > y->hits ? -1 : x->hits < y->hits;
}

static void read_symbols(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[256], type;
	size_t room = 0;

	nr_symbols = 0;
	while (f && fgets(line, sizeof(line), f)) {
		struct symbol s = { 0 };

		if (sscanf(line, "%llx %c %63s", &s.addr, &type, s.name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (nr_symbols == room) {
			room = room ? 2 * room : 65536;
			symbols = realloc(symbols, room * sizeof(s));
		}
		symbols[nr_symbols++] = s;
	}
	if (f)
		fclose(f);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_addr);
}

static void hit(unsigned long long ip)
{
	size_t low = 0, high = nr_symbols;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (symbols[mid].addr <= ip)
			low = mid;
		else
			high = mid;
	}
	if (nr_symbols)
		symbols[low].hits++;
}

static void *profile_open(int *fd)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_CPU_CLOCK,
		.sample_period	= PROFILE_NS,
		.sample_type	= PERF_SAMPLE_IP,
		.exclude_user	= 1,
		.disabled	= 1,
	};

	*fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	return mmap(NULL, (PROFILE_PAGES + 1) * sysconf(_SC_PAGESIZE),
		    PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

static void profile_read(struct perf_event_mmap_page *page)
{
	size_t size = PROFILE_PAGES * sysconf(_SC_PAGESIZE);
	char *data = (char *)page + sysconf(_SC_PAGESIZE);

	/* Records are multiples of 8 bytes, so no word is torn at the end. */
	for (__u64 at = 0; at < page->data_head && at < size;) {
		struct perf_event_header *h = (void *)(data + at);

		if (h->type == PERF_RECORD_SAMPLE)
			hit(*(__u64 *)(h + 1));
		at += h->size;
	}
}

struct profile {
	void *page;
	int fd;
};

static bool profile_begin(struct profile *p)
{
	read_symbols();
	p->page = profile_open(&p->fd);
	if (p->page == MAP_FAILED)
		return false;
	ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0);
	return true;
}

static void profile_end(struct profile *p, const char *name)
{
	ioctl(p->fd, PERF_EVENT_IOC_DISABLE, 0);
	profile_read(p->page);
	munmap(p->page, (PROFILE_PAGES + 1) * sysconf(_SC_PAGESIZE));
	close(p->fd);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_hits);
	for (size_t i = 0; i < nr_symbols && i < PROFILE_TOP; i++)
		printf("%s profile:%s %ld\n", name, symbols[i].name,
		       symbols[i].hits);
}

static void profile(const char *name, const struct knob *k)
{
	struct profile p;

	if (!is_there(k) || !profile_begin(&p))
		return;
	for (int i = 0; i < PROFILE_TURNS; i++)
		turn_both_ways(k);
	profile_end(&p, name);
}

/* A poker that has to wait for its CPU */

static struct {
	pthread_t thread;
	long long usual;
	long long longest;
	long long lost;
	bool stop;
} caller;

/* A call that takes twice the usual time has met something besides the tracer. */
static void *call_and_watch(void *unused)
{
	long long last, took;

	pin(1);
	while (!__atomic_load_n(&caller.stop, __ATOMIC_RELAXED)) {
		last = now();
		syscall(SYS_getppid);
		took = now() - last;
		if (took > caller.longest)
			caller.longest = took;
		if (took > 2 * caller.usual)
			caller.lost += took - caller.usual;
	}
	return unused;
}

static void caller_start(void)
{
	struct sched_param first = { .sched_priority = 1 };

	caller.stop = false;
	pthread_create(&caller.thread, NULL, call_and_watch, NULL);
	pthread_setschedparam(caller.thread, SCHED_FIFO, &first);
	usleep(20000);
	caller.longest = 0;
	caller.lost = 0;
}

static void caller_stop(void)
{
	__atomic_store_n(&caller.stop, true, __ATOMIC_RELAXED);
	pthread_join(caller.thread, NULL);
}

static int poker_prepare(void)
{
	mkdir(CGROUPS, 0700);
	if (mount("cgroup2", CGROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		return -1;
	if (put(CGROUPS "/cgroup.subtree_control", "+cpu", 0))
		return -1;
	if (mkdir(POKER, 0700) && errno != EEXIST)
		return -1;
	return put(POKER "/cpu.max", POKER_QUOTA, 0);
}

/* Turn the tracer from a process of its own, which goes into the group first. */
static int turn_throttled(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(put(POKER "/cgroup.procs", "0", 0) ||
		      put(tracer.path, tracer.on, 0) || put(tracer.path, tracer.off, 0));
	waitpid(pid, &status, 0);
	return status;
}

/* What one traced call takes when nothing else happens. */
static long long usual_call(void)
{
	long long began;

	put(tracer.path, tracer.on, 0);
	began = now();
	for (int i = 0; i < CALLS; i++) {
		now();
		syscall(SYS_getppid);
	}
	began = now() - began;
	put(tracer.path, tracer.off, 0);
	return began / CALLS;
}

static void filter(int functions);

/* Once: it takes a hundred times as long as its work. */
static void throttled(void)
{
	filter(POKER_FUNCTIONS);
	put(TRACING "set_ftrace_filter", CALLED "\n", O_APPEND);
	caller.usual = usual_call();
	caller_start();
	if (turn_throttled())
		fprintf(stderr, "bench: the poker has failed\n");
	caller_stop();
	say("longest", caller.longest);
	say("lost", caller.lost);
	filter(0);
}

static void throttled_case(const char *name)
{
	current = name;
	if (poker_prepare())
		perror("bench: no group for the poker");
	else
		throttled();
}

/* The cases */

static void idle(int times)
{
	current = "idle";
	while (times--) {
		other_start(false);
		usleep(IDLE_NS / 1000);
		other_stop();
		say("stall", other.longest);
	}
}

/*
 * The first functions, as many as are asked for; 0: all.  By number: a name is
 * looked for among all of them, and thousands of names take minutes.
 */
static void filter(int functions)
{
	FILE *to = fopen(TRACING "set_ftrace_filter", "w");

	for (int i = 1; to && i <= functions; i++)
		fprintf(to, "%d\n", i);
	if (to)
		fclose(to);
}

static int traceable(void)
{
	FILE *f = fopen(TRACING "available_filter_functions", "r");
	char line[256];
	int nr = 0;

	while (f && fgets(line, sizeof(line), f))
		nr++;
	if (f)
		fclose(f);
	return nr;
}

static void grow(int times)
{
	static const int sizes[] = { 256, 1024, 4096, 8192 };
	char name[32];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(name, sizeof(name), "tracer-%d", sizes[i]);
		filter(sizes[i]);
		turn_often(name, &tracer, times);
		measure_memory(name, &tracer);
	}
	filter(0);
}

/* As many events on each CPU; of one there is more to be said. */
static void grow_events(int times)
{
	static const int numbers[] = { 2, 4, EVENTS_MAX };
	char name[32];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		snprintf(name, sizeof(name), "listening-%d", numbers[i]);
		listen_begin(numbers[i]);
		turn_often(name, &tracer, times);
		listen_end();
	}
}

/* Inside the function, where it is not ftrace that serves the probe. */
static bool define(const char *group, int nr, const char *function)
{
	char text[384];

	for (int i = 0; i < PROBE_OFFSETS; i += PROBE_STEP) {
		snprintf(text, sizeof(text), "p:%s/p%d %s+%d\n", group, nr,
			 function, PROBE_OFFSET + i);
		if (!put(TRACING "kprobe_events", text, O_APPEND))
			return true;
	}
	return false;
}

static void define_probes(const char *group, int wanted)
{
	FILE *f = fopen(TRACING "available_filter_functions", "r");
	int made = 0, seen = 0;
	char name[256];

	/* Spread over the text. */
	while (f && made < wanted && fscanf(f, "%255s%*[^\n]", name) == 1)
		if (seen++ % 40 == 20 && !strchr(name, '.'))
			made += define(group, made, name);
	if (f)
		fclose(f);
	if (made < wanted)
		fprintf(stderr, "bench: only %d probes in %s\n", made, group);
}

static void probe_cases(int times)
{
	define_probes("bench1", 1);
	turn_often("kprobe", &probe, 2 * times);
	define_probes("bench200", PROBES);
	turn_often("kprobes", &probes, times);
}

/* Before probes are defined, which are events as well. */
static void event_cases(int times)
{
	/* The names of tasks are recorded while an event is enabled. */
	static const struct knob forks = {
		TRACING "events/sched/sched_process_fork/enable", "1", "0"
	};

	set(&forks, true);
	set(&names, false);
	turn_often("names", &names, 4 * times);
	set(&names, true);
	set(&forks, false);
	turn_often("events-sched", &sched_events, 2 * times);
	turn_often("events", &all_events, times);
	turn_often("messages", &messages, 2 * times);
	profile("events", &all_events);
}

static void module_cases(int times)
{
	turn_often("module-calls", &module_calls, times);
	if (load(MODULES "bench_keys.ko"))
		perror("bench: no module with keys");
	turn_often("module-keys", &module_keys, times);
	if (load(MODULES "bench_one.ko"))
		perror("bench: no module with one key and one call");
	turn_often("one-key", &one_key, 10 * times);
	turn_often("one-call", &one_call, 10 * times);
	turn_often("one-program", &one_program, 10 * times);
}

static void run(int times)
{
	idle(2 * times);
	turn_often("tracer", &tracer, times);
	measure_memory("tracer", &tracer);
	turn_often("key", &key, 10 * times);
	event_cases(times);
	module_cases(times);
	probe_cases(times);
	grow(times);
	throttled_case("throttled");

	listen_begin(1);
	turn_often("tracer-guarded", &tracer, times);
	measure_memory("tracer-guarded", &tracer);
	turn_often("key-guarded", &key, 10 * times);
	turn_often("kprobe-guarded", &probe, 2 * times);
	throttled_case("throttled-guarded");
	profile("tracer-guarded", &tracer);
	profile("kprobes-guarded", &probes);
	listen_end();
	grow_events(times);

	profile("tracer", &tracer);
	profile("kprobes", &probes);
	profile("key", &key);
	profile("one-key", &one_key);
	profile("one-call", &one_call);
	profile("one-program", &one_program);
	profile("module-calls", &module_calls);
}

/* What a traced call costs */

/* A tracer of its own for one function, in an instance of its own. */
static int trace(const char *instance, const char *function)
{
	static const char * const steps[][2] = {
		{ "tracing_on", "0" },
		{ "buffer_size_kb", "4" },
		{ "set_ftrace_filter", NULL },
		{ "current_tracer", "function" },
	};
	char path[256];

	snprintf(path, sizeof(path), TRACING "instances/%s", instance);
	if (mkdir(path, 0700)) {
		perror(path);
		return -1;
	}
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		const char *text = steps[i][1] ?: function;

		snprintf(path, sizeof(path), TRACING "instances/%s/%s",
			 instance, steps[i][0]);
		if (put(path, text, 0)) {
			perror(path);
			return -1;
		}
	}
	return 0;
}

static long long call_often(void)
{
	long long began = now();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (now() - began) * 1000 / CALLS;
}

static void say_calls(const char *metric)
{
	call_often();
	say(metric, call_often());
}

static void profile_calls(const char *name)
{
	struct profile p;

	if (!profile_begin(&p))
		return;
	for (int i = 0; i < PROFILE_TURNS; i++)
		call_often();
	profile_end(&p, name);
}

#ifdef __powerpc64__

#define NOP	0x60000000u
#define MFLR_R0	0x7c0802a6u

/* Words of the kernel's text as it is now. */
static bool read_text(int kcore, unsigned long long addr, void *to, size_t len)
{
	Elf64_Phdr ph;
	Elf64_Ehdr eh;

	if (pread(kcore, &eh, sizeof(eh), 0) != sizeof(eh))
		return false;
	for (int i = 0; i < eh.e_phnum; i++) {
		if (pread(kcore, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)) !=
		    sizeof(ph))
			return false;
		if (ph.p_type == PT_LOAD && addr >= ph.p_vaddr &&
		    addr + len <= ph.p_vaddr + ph.p_memsz)
			return pread(kcore, to, len, ph.p_offset + addr - ph.p_vaddr) ==
				(ssize_t)len;
	}
	return false;
}

/* What the first functions of the list begin with while nothing traces them. */
static void measure_entries(void)
{
	FILE *f = fopen(TRACING "available_filter_functions_addrs", "r");
	int kcore = open("/proc/kcore", O_RDONLY), seen = 0;
	unsigned long long addr;
	int mflr = 0, nops = 0;
	unsigned int pair[2];

	while (f && seen < 1000 && fscanf(f, "%llx%*[^\n]", &addr) == 1) {
		if (!read_text(kcore, addr - sizeof(*pair), pair, sizeof(pair)))
			break;
		for (int i = 0; i < 2; i++) {
			mflr += pair[i] == MFLR_R0;
			nops += pair[i] == NOP;
		}
		seen++;
	}
	current = "entry";
	if (seen) {
		say("mflr", mflr * 1000LL / seen);
		say("nops", nops * 1000LL / seen);
	}
	if (f)
		fclose(f);
	close(kcore);
}

#else

static void measure_entries(void)
{
}

#endif

/*
 * How many instructions the task runs for one change both ways, after others, where each is a ns of
 * the clock.
 */
static void count_switch(const char *metric, const struct knob *k)
{
	const int turns = 20;

	turn_both_ways(k);
	for (int i = 0; i < turns; i++) {
		long long before = ran();

		turn_both_ways(k);
		say(metric, ran() - before);
	}
}

static int count_single_switches(void)
{
	define_probes("bench1", 1);
	if (load(MODULES "bench_one.ko"))
		return -1;
	current = "counted";
	count_switch("key", &one_key);
	count_switch("call", &one_call);
	count_switch("probe", &probe);
	count_switch("program", &one_program);
	return unload(MODULES "bench_one.ko");
}

static int measure_calls(void)
{
	char name[16];

	measure_entries();
	current = "call";
	say_calls("untraced");
	if (trace("this", CALLED))
		return -1;
	say_calls("one");
	for (int i = 0; i < OTHERS; i++) {
		snprintf(name, sizeof(name), "other%d", i);
		if (trace(name, CALLED_BY_NONE))
			return -1;
	}
	say_calls("many");
	profile_calls(current);
	return count_single_switches();
}

static void measure_cpus(void)
{
	alone = true;
	turn_often("cpus", &tracer, CPUS_TURNS);
	turn_often("cpus-key", &key, 4 * CPUS_TURNS);
}

/* In user mode for ever, on a CPU that has nothing else to do. */
static pid_t program_start(int cpu)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(cpu);
		for (;;)
			__asm__ volatile("" ::: "memory");
	}
	/* By then its tick is over. */
	sleep(2);
	return pid;
}

/*
 * How many interrupts reach a CPU that runs a program without a tick. Not the first time, when the
 * tracer makes its trampoline: the protection of its pages changes, which all CPUs are told.
 */
static int measure_isolated(void)
{
	const int cpu = 1, turns = 3;
	static const struct {
		const char *name;
		const struct knob *knob;
	} cases[] = {
		{ "tracer", &tracer }, { "key", &key },
		{ "events", &sched_events }, { "probes", &probes },
	};
	pid_t pid;

	if (access("/sys/devices/system/cpu/nohz_full", F_OK))
		return -1;
	define_probes("bench200", PROBES);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		turn_both_ways(cases[i].knob);
	pid = program_start(cpu);
	if (pid < 0)
		return -1;
	current = "isolated";
	for (size_t i = 0; i < turns * (sizeof(cases) / sizeof(*cases)); i++) {
		long long before = interrupts_of(cpu);

		turn_both_ways(cases[i / turns].knob);
		say(cases[i / turns].name, interrupts_of(cpu) - before);
	}
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 3;

	setlinebuf(stdout);
	pin(0);
	if (argc > 1 && !strcmp(argv[1], "calls"))
		return measure_calls() ? EXIT_FAILURE : EXIT_SUCCESS;
	put(TRACING "tracing_on", "0", 0);
	if (argc > 1 && !strcmp(argv[1], "cpus"))
		return measure_cpus(), EXIT_SUCCESS;
	if (argc > 1 && !strcmp(argv[1], "isolated"))
		return measure_isolated() ? EXIT_FAILURE : EXIT_SUCCESS;
	/* The reader of the clock is not to be throttled. */
	put("/proc/sys/kernel/sched_rt_runtime_us", "-1", 0);
	printf("sites functions %d\n", traceable());
	run(times);
	return 0;
}
