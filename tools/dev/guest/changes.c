// SPDX-License-Identifier: GPL-2.0
/*
 * The init of a guest for which there is no busybox: has the kernel change its text in each way
 * that there is everywhere, looks whether it executes what it is then, gives the verdict, and
 * powers off. Built with the kernel's own nolibc.h.
 */
#define TRACING "/sys/kernel/tracing/"
#define EVENT TRACING "events/kprobes/opens/"

static int failed;

static void result(const char *what, int good)
{
	printf("%s: %s\n", what, good ? "ok" : "FAILED");
	failed |= !good;
}

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC), length = strlen(text), done;

	if (fd < 0)
		return 0;
	done = write(fd, text, length);
	close(fd);
	return done == length;
}

static int has(const char *text, const char *word)
{
	for (; *text; text++) {
		if (!strncmp(text, word, strlen(word)))
			return 1;
	}
	return 0;
}

/* Is a word in what a file says? Also work for a probe to see. */
static int says(const char *path, const char *word)
{
	static char text[65536];
	int fd = open(path, O_RDONLY), length = 0, more;

	if (fd < 0)
		return 0;
	while ((more = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
		length += more;
	close(fd);
	text[length] = 0;
	return has(text, word);
}

static int traced(const char *word)
{
	return says(TRACING "trace", word);
}

static int clear(void)
{
	return put(TRACING "trace", "\n");
}

/* Every call site, and back. */
static void function_tracer(void)
{
	result("the function tracer is switched on", put(TRACING "current_tracer", "function"));
	says("/proc/version", "Linux");
	result("the function tracer is switched off", put(TRACING "current_tracer", "nop"));
	put(TRACING "tracing_on", "1");
}

/* One call site, whose function is then seen, and not seen any more. */
static void one_function(void)
{
	int good = clear() && put(TRACING "set_ftrace_filter", "version_proc_show") &&
		put(TRACING "current_tracer", "function") && says("/proc/version", "Linux");

	result("a function is traced", good && traced("version_proc_show <-"));
	good = put(TRACING "set_ftrace_filter", "uptime_proc_show") && clear() &&
		says("/proc/version", "Linux");
	result("and not any more", good && !traced("version_proc_show <-"));
	result("no tracer", put(TRACING "current_tracer", "nop") && clear());
}

/* With ELFv1, Linux 6.12 takes the descriptor for the function, and that is not traced. */
static int probe_opens(void)
{
	return put(TRACING "kprobe_events", "p:opens .do_sys_openat2\n") ||
		put(TRACING "kprobe_events", "p:opens do_sys_openat2\n");
}

static void probe(void)
{
	int good = probe_opens() &&
		put(EVENT "enable", "1") && says("/proc/version", "Linux");

	result("a probe is hit", good && traced("opens: "));
	good = put(EVENT "enable", "0") && clear() && says("/proc/version", "Linux");
	result("and not any more", good && !traced("opens: "));
	result("no probe", put(TRACING "kprobe_events", "\n"));
}

static void keys(void)
{
	const char *file = "/proc/sys/kernel/sched_schedstats";
	int i, good = 1;

	for (i = 0; i < 10; i++)
		good = good && put(file, "1") && says(file, "1") && put(file, "0") &&
			says(file, "0");
	result("static keys are switched", good);
}

/* The port's device, by its name: its number follows from the order of the command line. */
static int verdict(void)
{
	static char name[] = "/sys/class/virtio-ports/vport0p?/name", device[] = "/dev/vport0p?";
	char *number = strchr(name, '?'), *same = strchr(device, '?');
	int tries;

	for (tries = 0; tries < 50; tries++, msleep(200)) {
		for (*number = *same = '0'; *number < '9'; *number = ++*same) {
			if (says(name, "org.textpoke.verdict"))
				return put(device, failed ? "1" : "0");
		}
	}
	return 0;
}

int main(void)
{
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);

	function_tracer();
	one_function();
	probe();
	keys();

	if (!verdict())
		printf("there is no port for the verdict\n");
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
	return 1;
}
