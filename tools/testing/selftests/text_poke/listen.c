// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command while events listen to text-poke records on every CPU.
 */
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>

#include "text_poke.h"

int main(int argc, char **argv)
{
	struct events *ev;
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: listen COMMAND [ARGUMENT...]\n");
		return 2;
	}
	ev = events_open();
	if (!ev) {
		perror("opening text-poke events");
		return 1;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	events_stop(ev);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
