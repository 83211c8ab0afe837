// SPDX-License-Identifier: GPL-2.0
/*
 * Text-poke records tell where the kernel lies and what it holds. Who may not
 * watch the kernel may not have them, also when the event excludes the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "../kselftest.h"
#include "text_poke.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define NOBODY		1000

/* CPU 0 is always there. */
static int open_error(bool exclude_kernel)
{
	int fd = perf_open_text_poke(0, exclude_kernel);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Returns what a user without privilege gets: 0 or an errno. */
static int unprivileged_error(bool exclude_kernel)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(open_error(exclude_kernel));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		ksft_exit_fail_perror("running as another user");
	return WEXITSTATUS(status);
}

static void check_refused(bool exclude_kernel, const char *what)
{
	int error = unprivileged_error(exclude_kernel);

	ksft_test_result(error == EACCES, "%s: error %d, %d is expected\n", what,
			 error, EACCES);
}

static void read_paranoid(char *old, size_t len)
{
	int fd = open(PARANOID, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, old, len - 1);

	if (got < 0)
		ksft_exit_fail_perror(PARANOID);
	old[got] = '\0';
	close(fd);
}

int main(void)
{
	char old[16];

	ksft_print_header();
	if (geteuid())
		ksft_exit_skip("setting perf_event_paranoid needs root\n");
	ksft_set_plan(3);
	read_paranoid(old, sizeof(old));
	if (write_file(PARANOID, "2"))
		ksft_exit_fail_perror(PARANOID);
	ksft_test_result(!open_error(false), "root_may_record\n");
	check_refused(false, "user_may_not_record");
	check_refused(true, "user_may_not_record_without_kernel");
	write_file(PARANOID, old);
	ksft_finished();
}
