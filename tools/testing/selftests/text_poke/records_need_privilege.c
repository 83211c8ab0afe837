// SPDX-License-Identifier: GPL-2.0
/*
 * Text-poke records tell where the kernel lies and what it holds. A user that
 * may not watch the kernel may not have them, also when the event excludes the
 * kernel.
 *
 *	perf_event_paranoid	a user may record
 *	-------------------	---------------------------
 *	-1, 0			a CPU, or a task
 *	1			a task
 *	2			nothing
 *
 * Root and users with CAP_PERFMON may record both, always. Lockdown changes
 * none of this: it has to be asked for where the kernel is locked down, which
 * is for good.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../kselftest.h"
#include "text_poke.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define OTHER_USER		1000

#ifndef CAP_PERFMON
#define CAP_PERFMON	38
#endif

struct caller {
	const char *name;
	bool is_user;
	bool has_cap;
};

static const struct caller caller[] = {
	{ "root" },
	{ "user_with_cap_perfmon", .is_user = true, .has_cap = true },
	{ "user", .is_user = true },
};

/* @pid and @cpu are those of perf_event_open(); CPU 0 is always there. */
struct what {
	const char *name;
	pid_t pid;
	int cpu;
};

static const struct what what[] = {
	{ "a_cpu", -1, 0 },
	{ "a_task", 0, -1 },
};

static int open_error(const struct what *w, bool exclude_kernel)
{
	int fd = perf_open_text_poke(w->pid, w->cpu, exclude_kernel);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* All that is left of root's capabilities. */
static int keep_cap_perfmon(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { };

	data[CAP_PERFMON / 32].permitted = 1U << (CAP_PERFMON % 32);
	data[CAP_PERFMON / 32].effective = 1U << (CAP_PERFMON % 32);
	return syscall(SYS_capset, &header, data);
}

static int become(const struct caller *w)
{
	if (!w->is_user)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, w->has_cap, 0, 0, 0))
		return -1;
	if (setgid(OTHER_USER) || setuid(OTHER_USER))
		return -1;
	return w->has_cap ? keep_cap_perfmon() : 0;
}

/* Returns what such a user gets: 0 or an errno. */
static int error_of(const struct caller *caller, const struct what *w,
		    bool exclude_kernel)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (become(caller))
			_exit(255);
		_exit(open_error(w, exclude_kernel));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 255)
		ksft_exit_fail_perror("running as another user");
	return WEXITSTATUS(status);
}

static int expected(int paranoid, const struct caller *caller,
		    const struct what *w)
{
	if (!caller->is_user || caller->has_cap || paranoid <= 0)
		return 0;
	return paranoid == 1 && w->pid == 0 ? 0 : EACCES;
}

static void check_row(int paranoid, const struct caller *caller,
		      const struct what *w)
{
	int want = expected(paranoid, caller, w);

	for (int exclude_kernel = 0; exclude_kernel < 2; exclude_kernel++) {
		int got = error_of(caller, w, exclude_kernel);

		ksft_test_result(got == want,
				 "%s_on_%s%s_at_%d: error %d, %d is expected\n",
				 caller->name, w->name,
				 exclude_kernel ? "_without_kernel" : "",
				 paranoid, got, want);
	}
}

static void check_table(int paranoid)
{
	char value[16];

	snprintf(value, sizeof(value), "%d", paranoid);
	if (write_file(PARANOID, value))
		ksft_exit_fail_perror(PARANOID);
	for (size_t i = 0; i < ARRAY_SIZE(caller); i++)
		for (size_t j = 0; j < ARRAY_SIZE(what); j++)
			check_row(paranoid, &caller[i], &what[j]);
}

int main(void)
{
	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("setting perf_event_paranoid needs root\n");
	ksft_set_plan(4 * ARRAY_SIZE(caller) * ARRAY_SIZE(what) * 2);
	if (keep_file(PARANOID))
		ksft_exit_fail_perror(PARANOID);
	for (int paranoid = -1; paranoid < 3; paranoid++)
		check_table(paranoid);
	ksft_finished();
}
