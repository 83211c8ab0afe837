// SPDX-License-Identifier: GPL-2.0
/*
 * insmod for tests: asks the kernel once, and says in kmod's words what it said.
 * busybox asks a second time when the kernel refuses, and a refused module that
 * was heard of twice is not what the tests expect.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *reason(int error)
{
	switch (error) {
	case ENOEXEC:
		return "Invalid module format";
	case ENOENT:
		return "Unknown symbol in module";
	case ESRCH:
		return "Module has wrong symbol version";
	case EINVAL:
		return "Invalid parameters";
	}
	return strerror(error);
}

int main(int argc, char **argv)
{
	char options[1024] = "";
	int fd;

	if (argc < 2) {
		fprintf(stderr, "usage: insmod FILE [NAME=VALUE]...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		strncat(options, argv[i], sizeof(options) - strlen(options) - 1);
		strncat(options, " ", sizeof(options) - strlen(options) - 1);
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !syscall(SYS_finit_module, fd, options, 0))
		return 0;
	fprintf(stderr, "insmod: ERROR: could not insert module %s: %s\n",
		argv[1], reason(errno));
	return 1;
}
