// SPDX-License-Identifier: GPL-2.0
/*
 * What `make trace` does with the log of the plugin.
 *
 *	trace encode ARCH FOLDER	the log as hardware trace, aux.CPU, where
 *					fragments of it end, cuts.CPU, and the
 *					branches that are in it, truth.CPU
 *	trace piece ARCH CLOCK PIECE FOLDER
 *					the same up to that value of the CPUs'
 *					clock, into another folder
 *	trace text FOLDER		the code that was executed against the
 *					kcore copy and the records
 *	trace compare FOLDER		the branches that perf script prints
 *					against those that were executed
 *	trace profile FOLDER		the branches that a profile counts
 *					against those that were executed
 *
 * Each prints figures, a name and a number a line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "encode.h"
#include "image.h"

static const char *where, *into;
static FILE *truth[CPUS], *cuts[CPUS];
static uint64_t branches;

FILE *encode_file(const char *name, int cpu)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.%d", into, name, cpu);
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

void encode_cut(int cpu, uint64_t at)
{
	const uint64_t cut[] = { at, path_clock() };

	if (!cuts[cpu])
		cuts[cpu] = encode_file("cuts", cpu);
	fwrite(cut, sizeof(cut), 1, cuts[cpu]);
}

void encode_truth_at(int cpu, const struct branch *branch)
{
	if (!truth[cpu])
		truth[cpu] = encode_file("truth", cpu);
	fwrite(branch, sizeof(*branch), 1, truth[cpu]);
	branches++;
}

void encode_truth(int cpu, uint64_t from, uint64_t to)
{
	struct branch branch = { from, to, path_clock() };

	encode_truth_at(cpu, &branch);
}

static const struct { const struct isa *isa; const struct path *encoder; } kinds[] = {
	{ &x86, &pt_encoder },
	{ &arm64, &etm_encoder },
};

static int encode(const char *arch)
{
	size_t i = 0;

	while (i < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[i].isa->name, arch))
		i++;
	if (i == sizeof(kinds) / sizeof(kinds[0]) || path_walk(where, kinds[i].isa, kinds[i].encoder))
		return -1;
	pt_finish();
	printf("branches %" PRIu64 "\ninterrupts %" PRIu64 "\nexceptions %" PRIu64 "\ngaps %" PRIu64 "\ncpus %d\n",
	       branches, path_traps[TRAP_INTERRUPT], path_traps[TRAP_EXCEPTION], path_gaps, walk_cpus);
	if (kinds[i].encoder == &etm_encoder)
		etm_print_written();
	return fflush(NULL);
}

static int encode_piece(const char *arch, const char *until, const char *folder)
{
	path_until = strtoull(until, NULL, 10);
	into = folder;
	return encode(arch);
}

int main(int argc, char **argv)
{
	int error = -1;

	where = into = argc > 2 ? argv[argc - 1] : NULL;
	if (argc == 4 && !strcmp(argv[1], "encode"))
		error = encode(argv[2]);
	else if (argc == 6 && !strcmp(argv[1], "piece"))
		error = encode_piece(argv[2], argv[3], argv[4]);
	else if (argc == 3 && !strcmp(argv[1], "text"))
		error = image_compare(where);
	else if (argc == 3 && !strcmp(argv[1], "compare"))
		error = compare_branches(where);
	else if (argc == 3 && !strcmp(argv[1], "profile"))
		error = compare_profile(where);
	if (error)
		fprintf(stderr, "trace: the log makes no sense, or the arguments do not\n");
	return error ? 1 : 0;
}
