// SPDX-License-Identifier: GPL-2.0
/*
 * The right to torture the kernel or let it fail: root with CAP_SYS_ADMIN has
 * it, unless the kernel is locked down. Even then that root may read counters,
 * and no other user may.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../kselftest.h"
#include "text_poke.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define PARAMS		"/sys/module/"
#define ARMING_NS	"/sys/kernel/debug/text_poke/arming_ns"
#define OTHER_USER		1000

enum caller { ROOT, ROOT_WITHOUT_CAP, USER, NR_CALLER };

static const char * const caller_names[] = {
	[ROOT]			= "root",
	[ROOT_WITHOUT_CAP]	= "root_without_cap_sys_admin",
	[USER]			= "user",
};

/*
 * @value: what changes nothing
 * @by_mode: a task that may open it may write it
 */
struct knob {
	const char *name;
	const char *path;
	const char *value;
	bool by_mode;
};

/* What it is anyway, which is not the same for each kernel */
static char arming_ns[32] = "10000000";

static const struct knob knobs[] = {
	{ "torture", PARAMS "text_poke_torture/parameters/run", "0" },
	{ "torture_hold", PARAMS "text_poke_torture/parameters/hold", "0" },
	{ "fail_text_poke", "/sys/kernel/debug/fail_text_poke/probability",
	  "0", .by_mode = true },
	{ "arming_ns", ARMING_NS, arming_ns, .by_mode = true },
	{ "counters", "/sys/kernel/debug/text_poke/stats", NULL,
	  .by_mode = true },
};

#define NR_KNOBS	(sizeof(knobs) / sizeof(*knobs))

/* The word in brackets; a kernel without lockdown is not locked down. */
static bool is_locked_down(void)
{
	FILE *f = fopen(LOCKDOWN, "r");
	char line[128] = "";

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	if (f)
		fclose(f);
	return line[0] && !strstr(line, "[none]");
}

static int use(const struct knob *k)
{
	char byte;
	int fd = open(k->path, k->value ? O_WRONLY : O_RDONLY);
	ssize_t done;

	if (fd < 0)
		return errno;
	errno = 0;
	done = k->value ? write(fd, k->value, strlen(k->value)) :
			  read(fd, &byte, 1);
	return done > 0 ? 0 : errno;
}

static int drop_cap_sys_admin(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -1;
	data[0].effective &= ~(1U << CAP_SYS_ADMIN);
	data[0].permitted &= ~(1U << CAP_SYS_ADMIN);
	return syscall(SYS_capset, &header, data);
}

static int become(enum caller caller)
{
	if (caller == ROOT_WITHOUT_CAP)
		return drop_cap_sys_admin();
	return caller == USER && (setgid(OTHER_USER) || setuid(OTHER_USER)) ? -1 : 0;
}

/* Returns what such a user gets: 0 or an errno. */
static int error_of(enum caller caller, const struct knob *k)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (become(caller))
			_exit(255);
		_exit(use(k));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) == 255)
		ksft_exit_fail_perror("running as another user");
	return WEXITSTATUS(status);
}

static int expected(enum caller caller, const struct knob *k, bool locked)
{
	bool lacks_cap = caller == ROOT_WITHOUT_CAP && !k->by_mode;
	int error = lacks_cap || (k->value && locked) ? EPERM : 0;

	return caller == USER ? EACCES : error;
}

static void check_knob(const struct knob *k, bool locked)
{
	for (enum caller caller = ROOT; caller < NR_CALLER; caller++) {
		int want = expected(caller, k, locked), got;

		if (access(k->path, F_OK)) {
			ksft_test_result_skip("%s_uses_%s: no such knob\n",
					      caller_names[caller], k->name);
			continue;
		}
		got = error_of(caller, k);
		ksft_test_result(got == want,
				 "%s_uses_%s%s: error %d, %d is expected\n",
				 caller_names[caller], k->name,
				 locked ? "_locked_down" : "", got, want);
	}
}

static void read_arming_ns(void)
{
	FILE *f = fopen(ARMING_NS, "r");
	char line[sizeof(arming_ns)];

	if (!f)
		return;
	if (fgets(line, sizeof(line), f))
		snprintf(arming_ns, sizeof(arming_ns), "%s", line);
	fclose(f);
}

int main(void)
{
	bool locked = is_locked_down();

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("becoming another user needs root\n");
	mount_kernel_fs();
	read_arming_ns();
	ksft_set_plan(NR_KNOBS * NR_CALLER);
	for (size_t i = 0; i < NR_KNOBS; i++)
		check_knob(&knobs[i], locked);
	ksft_finished();
}
