// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of perf that the fuzzer has to find, each if the environment names it:
 * so that what finds nothing else is seen to look.
 *
 * What is here stands before perf's own function, by --wrap. That is weak here, for
 * perf's build links small programs with the same words to find out which libraries
 * there are, and the base has none.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

union perf_event;

bool __wrap_perf_event__text_poke_valid(const union perf_event *event);
bool __attribute__((weak)) __real_perf_event__text_poke_valid(const union perf_event *event);

bool __wrap_perf_event__text_poke_valid(const union perf_event *event)
{
	static const char *fault;

	if (!fault) {
		fault = getenv("TEXT_POKE_FAULT");
		if (!fault)
			fault = "";
	}
	/* What a record says of its lengths is trusted */
	if (!strcmp(fault, "lengths"))
		return true;
	if (__real_perf_event__text_poke_valid(event))
		return true;
	/* A record that is left out is looked at for ever */
	while (!strcmp(fault, "loop"))
		;
	return false;
}
