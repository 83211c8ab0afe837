// SPDX-License-Identifier: GPL-2.0
/*
 * The records of text pokes, replayed over the text at the start, give the text
 * at the end, and backwards the start again; see oracle.c for what that proves.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../kselftest.h"
#include "text_poke.h"

#define OPTIONS \
	"--seconds --records-min --traps-min --seed --workload --hotplug " \
	"--hold --dump"
#define MUTANTS		40
#define QUIET_TRIES	50
#define QUIET_NS	20000000L

/* The minima are far below what any machine does in the default time. */
static struct {
	double seconds;
	size_t records_min;
	long traps_min;
	__u64 seed;
	const char *workload;
	int hotplug;
	const char *hold;
	const char *dump;
} opt = {
	.seconds	= 5,
	.records_min	= 1000,
	.traps_min	= 100,
	.seed		= 20,
	.workload	= "keys,kprobes,bpf,modules,ftrace",
};

/*
 * @side_end: what memory outside the text held at the end
 * @notes: what was told about that memory
 * @skip: records older than the snapshot at the start
 * @until: and those older than the one at the end
 * @cycles: how often a CPU was away and came back
 */
struct session {
	struct events *events;
	struct image start, end;
	struct side *side_end;
	struct notes notes;
	size_t skip;
	size_t until;
	long traps;
	int rounds;
	int cycles;
};

/* Others may change text all the time; this file tells them to leave off. */
static void hold(bool on)
{
	if (opt.hold && write_file(opt.hold, on ? "1\n" : "0\n"))
		ksft_exit_fail_perror(opt.hold);
}

/*
 * The kernel changes its text on its own account too: a key that perf itself
 * uses goes off a second after the last event is closed. A snapshot counts
 * only if no record came from shortly before it until shortly after. Time
 * alone does not tell: a batch may take long over a sync, with its traps in
 * the text and its records to come, or the latter in the buffers and the
 * former still there.
 */
static void wait_quiet(void)
{
	struct timespec ts = { .tv_nsec = QUIET_NS };

	nanosleep(&ts, NULL);
}

/* What is outside the text, where the records so far have been. */
static void read_side(struct events *ev, const struct image *text,
		      struct side **side)
{
	side_free(*side);
	*side = side_read(events_hold(ev), text);
	events_let_go(ev);
}

/*
 * Returns how many records are older than the snapshot. @side, if given, is
 * taken at the same time.
 */
static size_t snapshot(struct events *ev, struct image *img, struct side **side)
{
	for (int i = 0; i < QUIET_TRIES; i++) {
		size_t before = events_settle(ev);

		wait_quiet();
		events_barrier(ev);
		if (text_read(img))
			ksft_exit_fail_perror("reading /proc/kcore");
		if (side)
			read_side(ev, img, side);
		wait_quiet();
		events_barrier(ev);
		if (events_settle(ev) == before)
			return before;
	}
	ksft_exit_fail_msg("text never stays unchanged for %ld ms\n",
			   2 * QUIET_NS / 1000000);
}

/* Traps are counted for the time of the changes alone. */
static void record(struct session *s)
{
	long traps = counter_read("traps");

	if (readers_start())
		ksft_exit_fail_perror("starting readers");
	if (opt.hotplug && hotplug_start())
		ksft_exit_fail_perror("starting CPU hotplug");
	s->rounds = workload_run(opt.seconds);
	s->cycles = hotplug_stop();
	readers_stop();
	s->traps = counter_read("traps");
	if (s->traps >= 0)
		s->traps -= traps;
}

/*
 * Records older than the first snapshot are in it already, and the last one
 * knows nothing of those that came later: a task told to leave off may have
 * one more change to make. The former come first and the latter last, because
 * nothing was poked while a snapshot was taken.
 */
static struct pokes session_pokes(const struct session *s)
{
	return events_between(s->events, s->skip, s->until);
}

/* Before the workload is undone: what that changes comes after the end. */
static void keep_notes(struct session *s)
{
	notes_append(&s->notes, events_notes(s->events));
	notes_append(&s->notes, modules_notes());
	notes_narrow(&s->notes);
}

/*
 * The readers have ended when the text is read at the end: their last system
 * calls free memory and wake threads, and may so turn a key.
 */
static void run(struct session *s)
{
	hold(true);
	s->events = events_open();
	if (!s->events)
		ksft_exit_fail_perror("opening text-poke events");
	if (text_range(&s->start))
		ksft_exit_fail_perror("finding _stext and _etext");
	s->end = s->start;
	notes_add_slot_pages(&s->notes);
	s->skip = snapshot(s->events, &s->start, NULL);
	hold(false);
	record(s);
	hold(true);
	s->until = snapshot(s->events, &s->end, &s->side_end);
	events_stop(s->events);
	hold(false);
	keep_notes(s);
	workload_undo();
}

static void print_bytes(FILE *f, const __u8 *bytes, int len)
{
	fputc(' ', f);
	for (int i = 0; i < len; i++)
		fprintf(f, "%02x", bytes[i]);
	if (!len)
		fputc('-', f);
}

/* Also the format of --dump: time, address, old bytes, new bytes. */
static void print_poke(FILE *f, const struct poke *p)
{
	fprintf(f, "%llu %llx", p->time, p->addr);
	print_bytes(f, p->old, p->old_len);
	print_bytes(f, p->new, p->new_len);
	fputc('\n', f);
}

static void dump(const struct pokes *p)
{
	FILE *f = opt.dump ? fopen(opt.dump, "w") : NULL;

	for (size_t i = 0; f && i < p->nr; i++)
		print_poke(f, &p->v[i]);
	if (f)
		fclose(f);
	else if (opt.dump)
		ksft_perror(opt.dump);
}

static void report_bad(const struct verdict *v, const struct session *s)
{
	if (!v->first_bad)
		return;
	ksft_print_msg("first record that does not fit: ");
	print_poke(stdout, v->first_bad);
	ksft_print_msg("text is %llx-%llx\n", s->start.base,
		       s->start.base + s->start.len);
}

/* Three results, since each names another fault: see oracle.c. */
static void check_text(const struct session *s, const struct pokes *p)
{
	struct verdict fwd, back;

	replay(p, FORWARDS, &s->start, &s->end, &fwd);
	replay(p, BACKWARDS, &s->end, &s->start, &back);
	ksft_test_result(!fwd.breaks && !back.breaks,
			 "old_bytes_are_the_state_before: %zu breaks\n",
			 fwd.breaks + back.breaks);
	report_bad(fwd.first_bad ? &fwd : &back, s);
	ksft_test_result(!fwd.diff, "forwards_gives_the_end: %zu bytes differ\n",
			 fwd.diff);
	ksft_test_result(!back.diff,
			 "backwards_gives_the_start: %zu bytes differ\n",
			 back.diff);
}

/* Code that came into being: records that have new bytes and no old ones. */
static size_t births(const struct pokes *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->nr; i++)
		nr += !p->v[i].old_len && p->v[i].new_len;
	return nr;
}

/* A probe's slot shows nowhere else, nor does it show that one is forgotten. */
static void check_slots(const struct pokes *p)
{
	if (!workload_has("kprobes"))
		ksft_test_result_skip("slots_are_recorded: no kprobes\n");
	else
		ksft_test_result(births(p), "slots_are_recorded: %zu times\n",
				 births(p));
}

/* A program at a function's entry: a direct call instead of the tracer's. */
static void check_entries(void)
{
	if (!workload_has("bpf") || !bpf_has_btf())
		ksft_test_result_skip("bpf_calls_are_direct: no BTF, or no bpf\n");
	else
		ksft_test_result(bpf_entries() && bpf_runs(),
				 "bpf_calls_are_direct: %d times, %llu runs\n",
				 bpf_entries(), bpf_runs());
}

/* What was told about the place, before the record and after it. */
static void report_unannounced(const struct session *s, const struct poke *p)
{
	static const char * const words[] = {
		[ANNOUNCED]	= "announced",
		[WITHDRAWN]	= "withdrawn",
		[LOADED]	= "loaded",
		[UNLOADED]	= "unloaded",
	};

	print_poke(stdout, p);
	for (size_t i = 0; i < s->notes.nr; i++) {
		const struct note *note = &s->notes.v[i];

		if (note_covers(note, p->addr))
			ksft_print_msg("%llu %s %llx, %zu bytes\n", note->time,
				       words[note->kind], note->addr, note->len);
	}
}

/* The same for trampolines, slots, BPF and modules. */
static void check_side(const struct session *s, const struct pokes *p)
{
	struct verdict fwd = { }, back = { };
	const struct poke *first = NULL;
	size_t missing;

	replay_side(p, &s->notes, FORWARDS, &s->start, s->side_end, &fwd);
	replay_side(p, &s->notes, BACKWARDS, &s->end, NULL, &back);
	ksft_test_result(!fwd.side_breaks && !back.side_breaks,
			 "so_they_are_outside_text: %zu records, %zu breaks\n",
			 fwd.side, fwd.side_breaks + back.side_breaks);
	report_bad(fwd.first_bad ? &fwd : &back, s);
	ksft_test_result(!fwd.side_diff,
			 "forwards_gives_that_end_too: %zu of %zu bytes differ\n",
			 fwd.side_diff, fwd.side_bytes);

	missing = unannounced(p, &s->notes, &s->start, &first);
	ksft_test_result(!missing,
			 "code_outside_text_is_announced: %zu times, %zu records without\n",
			 notes_count(&s->notes, ANNOUNCED), missing);
	if (missing)
		report_unannounced(s, first);
	check_slots(p);
	check_entries();
}

/* A module that cannot be loaded any more would not be missed otherwise. */
static void check_modules(void)
{
	if (!workload_has("modules"))
		ksft_test_result_skip("modules_came: none was asked for\n");
	else
		ksft_test_result(modules_loads(),
				 "modules_came: %d times, %d to where one had been\n",
				 modules_loads(), modules_loads_again());
}

static void check_faults(void)
{
	if (workload_has("killed"))
		ksft_test_result(killed_times(), "tasks_were_killed: %d of them\n",
				 killed_times());
	if (workload_has("frozen"))
		ksft_test_result(frozen_times(), "machine_was_suspended: %d times\n",
				 frozen_times());
}

/* What would make the rest true of nothing. */
static void check_not_vacuous(const struct session *s, const struct pokes *p)
{
	size_t changed = text_diff(&s->start, &s->end);

	ksft_test_result(changed, "text_changed: %zu bytes in %d rounds\n",
			 changed, s->rounds);
	ksft_test_result(p->nr >= opt.records_min,
			 "enough_records: %zu of at least %zu\n", p->nr,
			 opt.records_min);
	if (s->traps < 0)
		ksft_test_result_skip("enough_traps: this kernel counts none\n");
	else
		ksft_test_result(s->traps >= opt.traps_min,
				 "enough_traps: %ld of at least %ld\n",
				 s->traps, opt.traps_min);
	check_modules();
	check_faults();
	if (opt.hotplug)
		ksft_test_result(s->cycles >= opt.hotplug,
				 "enough_cycles: %d of at least %d\n",
				 s->cycles, opt.hotplug);
}

/* A replay that accepts damaged records proves nothing about good ones. */
static void check_oracle(const struct session *s, const struct pokes *p)
{
	static const char * const name[] = {
		[DROP] = "dropped", [SWAP] = "swapped", [FLIP] = "flipped",
	};

	mutate_seed(opt.seed);
	for (int m = DROP; m <= FLIP; m++) {
		int seen = mutants_noticed(p, m, MUTANTS, &s->start, &s->end);

		ksft_test_result(seen == MUTANTS,
				 "%s_record_is_noticed: %d of %d times\n",
				 name[m], seen, MUTANTS);
	}
}

static void check(const struct session *s)
{
	struct pokes p = session_pokes(s);
	__u64 lost = events_lost(s->events);

	dump(&p);
	check_not_vacuous(s, &p);
	ksft_test_result(!lost, "none_lost: %llu of %d CPUs\n", lost,
			 events_cpus(s->events));
	check_text(s, &p);
	check_side(s, &p);
	check_oracle(s, &p);
}

static void set_option(int c)
{
	switch (c) {
	case 's':
		opt.seconds = atof(optarg);
		break;
	case 'r':
		opt.records_min = strtoul(optarg, NULL, 0);
		break;
	case 't':
		opt.traps_min = strtol(optarg, NULL, 0);
		break;
	case 'e':
		opt.seed = strtoull(optarg, NULL, 0);
		break;
	case 'w':
		opt.workload = optarg;
		break;
	case 'h':
		opt.hotplug = atoi(optarg);
		break;
	case 'o':
		opt.hold = optarg;
		break;
	case 'd':
		opt.dump = optarg;
		break;
	default:
		ksft_exit_fail_msg("options, each with a value: %s\n", OPTIONS);
	}
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds",	 required_argument, NULL, 's' },
		{ "records-min", required_argument, NULL, 'r' },
		{ "traps-min",	 required_argument, NULL, 't' },
		{ "seed",	 required_argument, NULL, 'e' },
		{ "workload",	 required_argument, NULL, 'w' },
		{ "hotplug",	 required_argument, NULL, 'h' },
		{ "hold",	 required_argument, NULL, 'o' },
		{ "dump",	 required_argument, NULL, 'd' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		set_option(c);
}

int main(int argc, char **argv)
{
	struct session s = { };

	ksft_print_header();
	parse_options(argc, argv);
	if (geteuid())
		ksft_exit_skip("text-poke records and kcore need root\n");
	mount_kernel_fs();
	if (!workload_parse(opt.workload))
		ksft_exit_skip("no knob of %s in this kernel\n", opt.workload);
	if (opt.hotplug && !hotplug_works())
		ksft_exit_skip("no CPU can go offline\n");
	ksft_set_plan(16 + !!opt.hotplug + workload_has("killed") +
		      workload_has("frozen"));
	run(&s);
	check(&s);
	ksft_finished();
}
