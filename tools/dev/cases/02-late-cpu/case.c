// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU is offline when listening begins, as perf does on each CPU that is online then. It comes
 * back, and a task on it flips a key. The event gets the records, or is told that some are lost.
 */
#include "../tp.h"

#define NAME "02-late-cpu"

int main(void)
{
	long bad;

	begin();
	if (online(1, 0))
		return skip(NAME, "CPU1 cannot go offline");
	listen_all();
	online(1, 1);
	pin(1);
	flip_key(11);
	bad = verify();
	if (bad && lost)
		printf("incomplete, but perf has said so\n");
	return done(NAME, (lost ? 0 : bad) + complaints());
}
