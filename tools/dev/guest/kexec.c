// SPDX-License-Identifier: GPL-2.0
/*
 * Loads another kernel: kexec load|crash KERNEL INITRD COMMANDLINE; goes there:
 * kexec now.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/kexec.h>
#include <linux/reboot.h>

static int load(const char *how, char **argv)
{
	unsigned long flags = strcmp(how, "crash") ? 0 : KEXEC_FILE_ON_CRASH;
	int kernel = open(argv[0], O_RDONLY), initrd = open(argv[1], O_RDONLY);

	return syscall(SYS_kexec_file_load, kernel, initrd, strlen(argv[2]) + 1,
		       argv[2], flags);
}

int main(int argc, char **argv)
{
	int ret = -1;

	if (argc == 2 && !strcmp(argv[1], "now"))
		ret = reboot(LINUX_REBOOT_CMD_KEXEC);
	else if (argc == 5)
		ret = load(argv[1], argv + 2);
	else
		fprintf(stderr, "usage: kexec load|crash KERNEL INITRD COMMANDLINE, or kexec now\n");
	if (ret)
		perror("kexec");
	return !!ret;
}
