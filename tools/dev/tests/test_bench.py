# SPDX-License-Identifier: GPL-2.0
"""How `make bench` reads, compares and judges."""

import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import cli, errors  # noqa: E402
from textpoke.bench import bench, benchrows  # noqa: E402
from textpoke.bench.bench import MET, UNKNOWN, UNMET, Row  # noqa: E402

MS = 10**6
TRACER = Row("tracer on", "tracer", "on", "base", {"x86": 0.25, "arm64": 0.5})
GUARDED = Row("guarded", "tracer-guarded", "on", "other", 2, "tracer")
STALL = Row("stall", "kprobe", "stall", "idle")
CALL = Row("call", "call", "many", "call", 1.1, "one")
DELAY = Row("delay", "throttled", "longest", "delay")
LOST = Row("lost", "throttled", "lost", "base", {"x86": 1.0})
IPIS = Row("IPIs", "tracer", "ipis", "broadcasts")
SYNCS = Row("syncs", "events", "syncs", "number", 20)
REMOVE = "ftrace_mflr=remove"


class Reading(unittest.TestCase):
    def test_repetitions_are_collected_in_order(self):
        self.assertEqual(
            bench.parse("a on 3\na on 1\nb off 2\n"), {("a", "on"): [3, 1], ("b", "off"): [2]}
        )

    def test_what_a_task_does_not_sleep_of_a_switch_it_is_awake(self):
        found = bench.parse("a on 9\na on_asleep 4\na on 3\na on_asleep 5\na off 2\n")
        self.assertEqual(found["a", "on_awake"], [5, 0])
        self.assertNotIn(("a", "off_awake"), found)

    def test_boots_are_merged(self):
        self.assertEqual(
            bench.merge([{("a", "on"): [1]}, {("a", "on"): [2], ("b", "on"): [3]}]),
            {("a", "on"): [1, 2], ("b", "on"): [3]},
        )

    def test_the_sizes_of_a_kernel_are_in_kb(self):
        said = "   text\t   data\t    bss\n9999360\t2048\t77\t1\t1\tvmlinux\n"
        self.assertEqual(bench.sizes(said), {("size", "text"): [9765], ("size", "data"): [2]})

    def test_those_of_each_cpu_and_site_are_in_bytes(self):
        sections = ".text   10   0\n.data..percpu   93600   18446744071568588800\n"
        symbols = (
            "ffffffff80df6ef8 0000000000000200 b few_index\n"
            "ffffffff80df70f8 0000000000001000 b few_sites\nffffffff80df70f8 t other\n"
        )
        self.assertEqual(
            dict(bench.sizes_of_each(sections, symbols)),
            {("size", "cpu"): [93600], ("size", "site"): [72]},
        )
        self.assertEqual(dict(bench.sizes_of_each("", "")), {})

    def test_a_line_that_is_no_figure_is_an_error(self):
        self.assertRaises(ValueError, bench.parse, "a on\n")


class Judging(unittest.TestCase):
    def judge(self, row, base=None, series=None, arch="arm64"):
        return bench.judge(row, arch, base or {}, series or {})

    def test_the_smallest_of_each_are_compared(self):
        base, series = {("tracer", "on"): [100, 300]}, {("tracer", "on"): [900, 50]}
        judged = self.judge(TRACER, base, series)
        self.assertEqual((judged.ratio, judged.verdict), (0.5, MET))

    def test_targets_differ_between_architectures(self):
        base, series = {("tracer", "on"): [100]}, {("tracer", "on"): [50]}
        self.assertEqual(self.judge(TRACER, base, series, "x86").verdict, UNMET)

    def test_what_was_not_measured_is_neither_met_nor_missed(self):
        for row in (TRACER, GUARDED, STALL, DELAY, IPIS, SYNCS):
            self.assertEqual(self.judge(row).verdict, UNKNOWN)
        self.assertEqual(self.judge(TRACER, {}, {("tracer", "on"): [1]}).verdict, UNKNOWN)

    def test_guarded_is_held_against_the_same_kernel(self):
        series = {("tracer", "on"): [100], ("tracer-guarded", "on"): [201]}
        self.assertEqual(self.judge(GUARDED, {("tracer", "on"): [1000]}, series).verdict, UNMET)
        series[("tracer-guarded", "on")] = [200]
        self.assertEqual(self.judge(GUARDED, {}, series).verdict, MET)

    def test_stalls_are_held_against_idleness_by_the_median(self):
        series = {("idle", "stall"): [MS, 2 * MS, 9 * MS], ("kprobe", "stall"): [0, 3 * MS, 9 * MS]}
        self.assertEqual(self.judge(STALL, {}, series).verdict, MET)
        series[("kprobe", "stall")] = [0, 3 * MS + 1, 9 * MS]
        self.assertEqual(self.judge(STALL, {}, series).verdict, UNMET)

    def test_beside_a_waiting_poker_a_call_takes_a_millisecond_at_most(self):
        series = {("throttled", "longest"): [0, MS, 9 * MS]}
        self.assertEqual(self.judge(DELAY, {}, series).verdict, MET)
        series["throttled", "longest"][1] += 1
        self.assertEqual(self.judge(DELAY, {}, series).verdict, UNMET)

    def test_where_the_base_traps_as_well_it_is_what_counts(self):
        base, series = {("throttled", "longest"): [5 * MS]}, {("throttled", "longest"): [5 * MS]}
        self.assertEqual(self.judge(DELAY, base, series, "x86").verdict, MET)
        series["throttled", "longest"] = [5 * MS + 1]
        self.assertEqual(self.judge(DELAY, base, series, "x86").verdict, UNMET)
        self.assertEqual(self.judge(DELAY, {}, series, "x86").verdict, UNKNOWN)

    def test_what_has_no_target_on_an_architecture_has_no_verdict(self):
        self.assertEqual(self.judge(LOST, {}, {("throttled", "lost"): [1]}).verdict, "")

    def test_broadcasts_are_allowed_by_the_number_of_sites(self):
        self.assertEqual(
            [bench.broadcasts_allowed(n) for n in (1, 4096, 4097, 12000)], [8, 8, 16, 24]
        )
        series = {("sites", "functions"): [12000], ("tracer", "ipis"): [24, 90]}
        self.assertEqual(self.judge(IPIS, {}, series).verdict, MET)
        series[("tracer", "ipis")] = [25]
        self.assertEqual(self.judge(IPIS, {}, series).verdict, UNMET)

    def test_of_a_traced_call_only_the_tracing_counts(self):
        series = {("call", "untraced"): [1000], ("call", "one"): [1100], ("call", "many"): [1110]}
        self.assertEqual(self.judge(CALL, {}, series).verdict, MET)
        series["call", "many"] = [1111]
        self.assertEqual(self.judge(CALL, {}, series).verdict, UNMET)
        self.assertEqual(self.judge(CALL, {}, {}).verdict, UNKNOWN)

    def test_a_count_has_a_limit_of_its_own(self):
        series = {("events", "syncs"): [20, 90]}
        self.assertEqual(self.judge(SYNCS, {}, series).verdict, MET)
        series["events", "syncs"] = [21]
        self.assertEqual(self.judge(SYNCS, {}, series).verdict, UNMET)

    def test_what_goes_in_groups_and_what_goes_alone_has_its_targets(self):
        aims = {(row.case, row.metric): (row.rule, row.limit) for row in benchrows.ROWS}
        for metric in ("on", "off"):
            self.assertEqual(aims["events", metric], ("base", 0.2))
            self.assertEqual(aims["kprobes", metric], ("base", 0.2))
            self.assertEqual(aims["one-key", metric], ("base", 1.0))
            self.assertEqual(aims["kprobe", f"{metric}_awake"], ("base", 1.0))
        self.assertEqual(aims["events", "syncs"], ("number", 20))
        self.assertEqual(aims["module-calls", "on"], ("base", {"x86": 0.2}))

    def test_each_group_is_told_with_its_interrupts_and_syncs(self):
        cases = {row.case for row in (*benchrows.GROUPS, *benchrows.SINGLE)}
        told = {(row.case, row.metric) for row in benchrows.ROWS}
        for case in cases:
            wanted = {(case, metric) for metric in ("on", "off", "ipis", "syncs")}
            self.assertLessEqual(wanted, told)

    def test_what_is_measured_the_guest_measures(self):
        guest = bench.SOURCE.read_text()
        measured = {
            *re.findall(r'turn_often\("([\w-]+)"', guest),
            *re.findall(r'current = "(\w+)"', guest),
            *re.findall(r'throttled_case\("([\w-]+)"', guest),
            "size",
        }
        self.assertLessEqual({row.case for row in benchrows.ROWS}, measured)
        sizes = re.search(r"sizes\[\] = \{ ([\d, ]+) \}", guest)[1].split(", ")
        self.assertEqual(
            [*((int(size), f"tracer-{size}") for size in sizes), (None, "tracer")],
            list(benchrows.SITES.cases),
        )

    def test_what_cost_grows_with_is_measured(self):
        guest = bench.SOURCE.read_text()
        numbers = re.search(r"numbers\[\] = \{ ([\d, ]+), EVENTS_MAX \}", guest)[1].split(", ")
        most = re.search(r"#define EVENTS_MAX\s+(\d+)", guest)[1]
        *_, cpus, events = benchrows.AXES
        self.assertEqual(
            [(0, "tracer"), (1, "tracer-guarded")]
            + [(int(number), f"listening-{number}") for number in (*numbers, most)],
            list(events.cases),
        )
        self.assertIn('turn_often("cpus", &tracer', guest)
        self.assertEqual(
            [f"cpus-{number}" for number in benchrows.CPUS], [c for _, c in cpus.cases]
        )

    def test_only_powerpc_has_an_mflr(self):
        found = {
            name: [row for row in benchrows.rows_of(name) if row.case == "entry"]
            for name in ("x86", "arm64", "riscv", "powerpc")
        }
        self.assertEqual({name for name, rows in found.items() if rows}, {"powerpc"})

    def test_every_row_has_a_known_rule(self):
        for row in benchrows.ROWS:
            self.assertIn(row.rule, {"", *bench.RULES}, row.what)
            self.assertTrue(row.rule != "other" or row.other, row.what)

    def test_what_is_measured_in_turns_of_a_knob_is_told_both_ways(self):
        for case in {row.case for row in benchrows.ROWS if row.metric == "on"}:
            off = [row for row in benchrows.ROWS if (row.case, row.metric) == (case, "off")]
            self.assertEqual(len(off), 1, case)

    def test_the_text_of_another_kind_of_base_is_called_so(self):
        row = Row("text", "size", "text", "")
        self.assertEqual(self.judge(row, arch="riscv").row.what, "text (base: no-preempt)")
        self.assertEqual(self.judge(row, arch="arm64").row.what, "text")


class Printing(unittest.TestCase):
    def setUp(self):
        self.base = {("tracer", "on"): [100 * MS, 120 * MS], ("sites", "functions"): [12000]}
        self.series = {
            ("tracer", "on"): [80 * MS, 90 * MS],
            ("sites", "functions"): [12000],
            ("tracer", "profile:slow"): [3],
            ("tracer", "profile:slower"): [5],
        }

    def test_a_row_shows_both_the_ratio_the_target_and_the_verdict(self):
        line = next(
            line
            for line in bench.report("arm64", self.base, self.series)
            if line.startswith("function tracer on")
        )
        self.assertRegex(
            line,
            r"100\.00 ms \(110\.00 ms\)\s+80\.00 ms \(85\.00 ms\)\s+0\.80\s+<= 0\.5 of base\s+NOT "
            r"MET",
        )

    def test_the_largest_cost_of_what_is_not_met_is_named(self):
        lines = bench.report("arm64", self.base, self.series)
        self.assertIn("most of the time of tracer on the series: slower 5, slow 3", lines)

    def test_what_listens_is_explained_by_what_listened(self):
        self.series |= {
            ("tracer-guarded", "on"): [170 * MS],
            ("tracer-guarded", "profile:guard"): [7],
        }
        lines = bench.report("arm64", self.base, self.series)
        self.assertIn("most of the time of tracer-guarded on the series: guard 7", lines)

    def test_a_profile_that_is_missing_is_told(self):
        self.series |= {("call", "untraced"): [0], ("call", "one"): [100], ("call", "many"): [200]}
        self.assertIn(
            "most of the time of call on the series: nothing was sampled",
            bench.report("arm64", self.base, self.series),
        )

    def test_every_target_has_a_profile_and_the_guest_takes_it(self):
        guest = bench.SOURCE.read_text()
        self.assertIn('current = "call"', guest)
        for row in (row for row in benchrows.ROWS if row.rule):
            name = bench.PROFILES[row.case]
            self.assertTrue(name == "call" or f'profile("{name}", ' in guest, row.what)

    def test_the_guest_listens_while_it_profiles_what_listens(self):
        guest = bench.SOURCE.read_text()
        begin = guest.index("\tlisten_begin(1);")
        listening = guest[begin : guest.index("\tlisten_end();", begin)]
        for name in bench.PROFILES.values():
            self.assertEqual(f'profile("{name}", ' in listening, name.endswith("-guarded"), name)

    def test_nothing_is_explained_that_is_met(self):
        self.series[("tracer", "on")] = [10 * MS]
        self.assertFalse(
            [
                line
                for line in bench.report("arm64", self.base, self.series)
                if line.startswith("most")
            ]
        )

    def test_the_last_line_counts(self):
        self.assertEqual(
            bench.report("arm64", self.base, self.series)[-1], "arm64: 0 targets met, 1 not met"
        )

    def test_a_parameter_has_a_table_without_targets_and_its_wait_apart(self):
        self.series |= {("tracer", "on_asleep"): [30 * MS], ("entry", "mflr"): [1000]}
        varied = {
            ("tracer", "on"): [500 * MS],
            ("tracer", "on_asleep"): [430 * MS, 500 * MS],
            ("entry", "mflr"): [0],
        }
        lines = bench.report("powerpc", self.base, self.series, {REMOVE: varied})
        of_it = lines[lines.index(f"with {REMOVE}, which has no targets:") :]
        self.assertIn("500.00 ms", next(line for line in of_it if "tracer on" in line))
        self.assertRegex(next(line for line in of_it if "mflr  " in line), r"-\s+0\.0 \(0\.0\)")
        self.assertIn(f"function tracer on with {REMOVE}: 400.00 ms more in RCU-tasks", of_it)
        self.assertEqual(of_it[-1], "powerpc: 0 targets met, 1 not met")
        self.assertFalse([line for line in lines if line.startswith("function tracer off with")])

    def test_growth_has_a_line_for_each_size(self):
        lines = bench.growth(benchrows.SITES, self.base, self.series)
        self.assertEqual(len(lines), 1 + len(benchrows.SITES.cases))
        self.assertIn("all (12000)", lines[-1])
        self.assertIn("100.00 ms / 80.00 ms", lines[-1])

    def test_and_for_each_number_of_cpus_and_events(self):
        self.series[("cpus-8", "on")] = [70 * MS]
        lines = bench.report("arm64", self.base, self.series)
        for axis in benchrows.AXES:
            at = next(i for i, line in enumerate(lines) if line.startswith(axis.title))
            self.assertEqual(lines[at - 1], "")
            self.assertEqual(lines[at + len(axis.cases) + 1][:1], "")
        self.assertTrue(any(line.startswith("8  ") and "- / 70.00 ms" in line for line in lines))

    def test_records_are_told_by_the_second(self):
        found = bench.parse("tracer on 100\ntracer off 400\ntracer records 1000\n")
        self.assertEqual(found["tracer", "records_per_second"], [2 * 10**9])

    def test_no_rate_is_told_of_a_switch_that_records_nothing(self):
        found = bench.parse("tracer on 100\ntracer off 400\ntracer records 0\n")
        self.assertNotIn(("tracer", "records_per_second"), found)


class Files(unittest.TestCase):
    """bench.json, and COMPARE= of a later run."""

    def setUp(self):
        self.path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "bench.json"
        self.found = {
            bench.BASE: {("tracer", "on"): [100 * MS, 120 * MS], ("key", "on"): [5]},
            bench.SERIES: {
                ("tracer", "on"): [50 * MS],
                ("key", "on"): [5],
                ("tracer", "syncs"): [10],
                ("tracer", "profile:f"): [3],
            },
        }

    def refused(self, says, arch="x86"):
        with self.assertRaises(errors.Fail) as caught:
            cli.parse(["bench", f"ARCH={arch}", f"COMPARE={self.path}"])
        self.assertEqual(caught.exception.code, errors.USAGE)
        self.assertIn(says, caught.exception.message)
        self.assertNotIn("\n", caught.exception.message)

    def test_what_is_written_is_read(self):
        bench.benchfile.write(self.path, "x86", self.found)
        self.assertEqual(bench.benchfile.read(self.path, "x86"), self.found)
        cli.parse(["bench", "ARCH=x86", f"COMPARE={self.path}"])

    def test_a_file_that_is_none_is_one_sentence_before_anything_is_built(self):
        self.refused("cannot be read (No such file or directory)")
        for text in ("", "{", "[]", "7", "null", '{"kind": "another"}', "[" * 100000):
            self.path.write_text(text)
            self.refused("is no bench.json of `make bench`")
        self.path.write_bytes(b"\xff\xfe\x00")
        self.refused("is no bench.json")
        self.path.unlink()
        self.path.mkdir()
        self.refused("cannot be read (Is a directory)")

    def test_a_file_that_lacks_something_is_refused(self):
        bench.benchfile.write(self.path, "x86", self.found)
        whole = json.loads(self.path.read_text())
        for key, value, says in (
            ("format", 2, "its format is 2"),
            ("subjects", {}, "no figures of base and series"),
            ("subjects", {"base": {"a": [1]}}, "`a` has no numbers"),
            ("subjects", {"base": {"a on": ["x"]}}, "`a on` has no numbers"),
            ("subjects", {"base": {"a on": []}}, "`a on` has no numbers"),
            ("subjects", {"base": {"a on": 3}}, "of another kind"),
            ("subjects", {"base": 3}, "of another kind"),
            ("subjects", 3, "of another kind"),
        ):
            self.path.write_text(json.dumps(whole | {key: value}))
            self.refused(says)
        del whole["arch"]
        self.path.write_text(json.dumps(whole))
        self.refused("of another kind")

    def test_another_architecture_is_refused(self):
        bench.benchfile.write(self.path, "x86", self.found)
        self.refused("is of ARCH=x86, not of arm64", arch="arm64")

    def row(self, then, now, what):
        return next(row for row in bench.compared("x86", then, now) if row[0] == what)

    def test_what_has_changed_is_told_by_the_ratio(self):
        now = {
            bench.BASE: {("tracer", "on"): [200 * MS]},
            bench.SERIES: {("tracer", "on"): [120 * MS]},
        }
        self.assertEqual(
            self.row(self.found, now, "function tracer on"),
            (
                "function tracer on",
                "100.00 ms",
                "200.00 ms",
                "50.00 ms",
                "120.00 ms",
                "0.50",
                "0.60",
                "worse",
            ),
        )
        now[bench.SERIES]["tracer", "on"] = [80 * MS]
        self.assertEqual(self.row(self.found, now, "function tracer on")[-1], "better")
        now[bench.SERIES]["tracer", "on"] = [105 * MS]
        self.assertEqual(self.row(self.found, now, "function tracer on")[-1], "")

    def test_what_the_base_does_not_count_is_told_by_the_series(self):
        now = {bench.BASE: {}, bench.SERIES: {("tracer", "syncs"): [12]}}
        self.assertEqual(
            self.row(self.found, now, "function tracer, syncs on+off"),
            ("function tracer, syncs on+off", "-", "-", "10", "12", "-", "-", "worse"),
        )
        self.assertEqual(self.row(self.found, now, "static key on")[-1], "")

    def test_of_rates_more_is_better(self):
        what = "listening: tracer, records per second"
        slow, fast = (
            {bench.BASE: {}, bench.SERIES: {("tracer-guarded", "records_per_second"): rates}}
            for rates in ([50, 100], [50, 200])
        )
        self.assertEqual(
            self.row(slow, fast, what), (what, "-", "-", "100", "200", "-", "-", "better")
        )
        self.assertEqual(self.row(fast, slow, what)[-1], "worse")

    def test_figures_and_page_are_left_and_another_run_is_compared_with(self):
        self.found[bench.SERIES]["sites", "functions"] = [12000]
        self.enterContext(mock.patch.object(bench.paths, "BUILD", self.path.parent))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        with mock.patch.object(bench.benchpage, "write") as page, contextlib.redirect_stdout(
            io.StringIO()
        ) as out:
            bench.leave("x86", self.found | {REMOVE: self.found[bench.SERIES]}, self.found)
        home = self.path.parent / "bench/x86"
        left = bench.benchfile.read(home / "bench.json", "x86")
        self.assertEqual(set(left), {bench.BASE, bench.SERIES, REMOVE})
        path, shown = page.call_args.args
        self.assertEqual(path, home / "index.html")
        self.assertEqual((list(shown.variants), bool(shown.compared)), ([REMOVE], True))
        self.assertIn("now and then: min", out.getvalue())

    def test_the_earlier_figures_are_read_before_they_are_replaced(self):
        options = cli.Options({"ARCH": "x86", "COMPARE": str(self.path)})
        bench.benchfile.write(self.path, "x86", self.found)
        build = mock.Mock(side_effect=lambda *_, **__: self.path.write_text(""))
        with mock.patch.object(bench.kernel, "build_kernel", build), mock.patch.object(
            bench, "compare", return_value={}
        ), mock.patch.object(bench, "leave") as leave:
            bench.main(options)
        leave.assert_called_once_with("x86", {}, self.found)


class Boots(unittest.TestCase):
    def measured(self, arch):
        """(what, kernel, words on the command line) of each boot."""
        done = []

        def boots(what):
            def boot(_, kdir, files, append=""):
                self.assertEqual(files["bench-modules/of"], kdir)
                done.append((what, kdir.name, append))
                return {(what, "n"): [len(done)]}

            return boot

        with mock.patch.multiple(
            bench,
            measure=boots("measure"),
            count=boots("count"),
            on_cpus=lambda number, *how, **more: boots(f"cpus-{number}")(*how, **more),
            isolated=boots("isolated"),
            say=mock.DEFAULT,
            build_program=mock.DEFAULT,
        ), mock.patch.object(
            bench.tests, "build_modules", lambda _, kdir, *where: {"bench-modules/of": kdir}
        ):
            found = bench.compare(arch, {bench.BASE: Path("b"), bench.SERIES: Path("s")})
        return done, found

    def test_the_kernels_take_turns(self):
        done, found = self.measured("x86")
        self.assertEqual(
            done,
            [
                *[("measure", "b", ""), ("measure", "s", "")] * bench.ROUNDS,
                ("count", "b", ""),
                ("count", "s", ""),
                *[
                    (f"cpus-{number}", kernel, "")
                    for number in benchrows.CPUS
                    for kernel in ("b", "s")
                ],
                ("isolated", "b", ""),
                ("isolated", "s", ""),
            ],
        )
        self.assertEqual(
            found[bench.SERIES],
            {
                ("measure", "n"): [2, 4],
                ("count", "n"): [6],
                **{(f"cpus-{nr}", "n"): [8 + 2 * i] for i, nr in enumerate(benchrows.CPUS)},
                ("isolated", "n"): [16],
            },
        )

    def test_it_waits_for_a_machine_that_does_nothing_else(self):
        free = iter([0, 1, 2])
        with mock.patch.multiple(
            bench.boot,
            say=mock.DEFAULT,
            time=mock.Mock(monotonic=lambda: 0),
            free_cores=lambda: next(free),
            cores=lambda: 2,
        ) as mocked:
            bench.wait_for_quiet(2)
            self.assertEqual(mocked["say"].call_count, 2)

    def test_and_does_not_measure_beside_something_else(self):
        clock = iter([0, bench.QUIET - 1, bench.QUIET])
        with mock.patch.multiple(
            bench.boot,
            say=mock.DEFAULT,
            time=mock.Mock(monotonic=lambda: next(clock)),
            free_cores=lambda: 0,
            cores=lambda: 2,
        ):
            with self.assertRaisesRegex(Exception, "run `make bench` again"):
                bench.wait_for_quiet(2)

    def test_a_cpu_is_isolated_by_a_word_on_the_command_line(self):
        with mock.patch.object(bench, "measure") as measure:
            bench.isolated("x86", "k", {}, append="more")
        measure.assert_called_once_with("x86", "k", {}, "isolated", append="nohz_full=1 more")

    def test_cpus_take_turns_however_many_are_free_and_have_cases_of_their_own(self):
        with mock.patch.object(
            bench, "measure", return_value={("cpus", "on"): [1], ("cpus-key", "on"): [2]}
        ) as measure:
            found = bench.on_cpus(4, "x86", "k", {}, append="more")
        measure.assert_called_once_with("x86", "k", {}, "cpus", smp=4, turns=True, append="more")
        self.assertEqual(found, {("cpus-4", "on"): [1], ("cpus-key-4", "on"): [2]})

    def test_a_parameter_has_boots_of_its_own(self):
        done, found = self.measured("powerpc")
        self.assertEqual(set(found), {bench.BASE, bench.SERIES, REMOVE})
        self.assertEqual(
            [boot for boot in done if boot[2]],
            [("measure", "s", REMOVE)] * bench.ROUNDS
            + [("count", "s", REMOVE)]
            + [(f"cpus-{number}", "s", REMOVE) for number in benchrows.CPUS],
        )

    def test_the_modules_that_the_guest_loads_are_built(self):
        named = set(re.findall(r'MODULES "(\w+)\.ko"', bench.SOURCE.read_text()))
        built = set(re.findall(r"(\w+)\.o", (bench.MODULES / "Kbuild").read_text()))
        self.assertEqual(named, built)
        for name in named:
            self.assertTrue((bench.MODULES / f"{name}.c").exists(), name)


if __name__ == "__main__":
    unittest.main()
