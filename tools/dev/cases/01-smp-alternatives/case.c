// SPDX-License-Identifier: GPL-2.0
/*
 * x86, booted with maxcpus=1: the kernel runs without LOCK prefixes until its second CPU comes,
 * and puts them back into its text then. Do records explain that change of the text?
 */
#include "../tp.h"

#define NAME "01-smp-alternatives"

int main(void)
{
	long bad;

	begin();
	if (strcmp(get("/sys/devices/system/cpu/online"), "0\n"))
		return skip(NAME, "not booted with maxcpus=1");
	listen_all();
	if (online(1, 1))
		return skip(NAME, "there is no second CPU");
	printf("%ld bytes of text changed when CPU1 came\n", text_differs());
	/* What changes text later still finds what it expects. */
	flip_key(21);
	bad = verify();
	return done(NAME, bad + complaints());
}
