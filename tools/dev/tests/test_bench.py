# SPDX-License-Identifier: GPL-2.0
"""How `make bench` reads, compares and judges."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import bench  # noqa: E402
from textpoke.bench import MET, UNKNOWN, UNMET, Row  # noqa: E402

MS = 10**6
TRACER = Row("tracer on", "tracer", "on", "base", {"x86": 0.25, "arm64": 0.5})
GUARDED = Row("guarded", "tracer-guarded", "on", "other", 2, "tracer")
STALL = Row("stall", "kprobe", "stall", "idle")
CALL = Row("call", "call", "many", "call", 1.1, "one")
DELAY = Row("delay", "throttled", "longest", "delay")
LOST = Row("lost", "throttled", "lost", "base", {"x86": 1.0})
IPIS = Row("IPIs", "tracer", "ipis", "broadcasts")


class Reading(unittest.TestCase):
    def test_repetitions_are_collected_in_order(self):
        self.assertEqual(bench.parse("a on 3\na on 1\nb off 2\n"), {("a", "on"): [3, 1], ("b", "off"): [2]})

    def test_boots_are_merged(self):
        self.assertEqual(bench.merge([{("a", "on"): [1]}, {("a", "on"): [2], ("b", "on"): [3]}]),
                         {("a", "on"): [1, 2], ("b", "on"): [3]})

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
        for row in (TRACER, GUARDED, STALL, DELAY, IPIS):
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
        self.assertEqual([bench.broadcasts_allowed(n) for n in (1, 4096, 4097, 12000)], [8, 8, 16, 24])
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

    def test_every_row_has_a_known_rule(self):
        for row in bench.ROWS:
            self.assertIn(row.rule, {"", *bench.RULES}, row.what)
            self.assertTrue(row.rule != "other" or row.other, row.what)

    def test_what_is_measured_in_turns_of_a_knob_is_told_both_ways(self):
        for case in {row.case for row in bench.ROWS if row.metric == "on"}:
            self.assertEqual(len([row for row in bench.ROWS if (row.case, row.metric) == (case, "off")]), 1, case)

    def test_the_text_of_another_kind_of_base_is_called_so(self):
        row = Row("text", "size", "text", "")
        self.assertEqual(self.judge(row, arch="riscv").row.what, "text (base: no-preempt)")
        self.assertEqual(self.judge(row, arch="arm64").row.what, "text")


class Printing(unittest.TestCase):
    def setUp(self):
        self.base = {("tracer", "on"): [100 * MS, 120 * MS], ("sites", "functions"): [12000]}
        self.series = {("tracer", "on"): [80 * MS, 90 * MS], ("sites", "functions"): [12000],
                       ("tracer", "profile:slow"): [3], ("tracer", "profile:slower"): [5]}

    def test_a_row_shows_both_the_ratio_the_target_and_the_verdict(self):
        line = next(line for line in bench.report("arm64", self.base, self.series) if line.startswith("function tracer on"))
        self.assertRegex(line, r"100\.00 ms \(110\.00 ms\)\s+80\.00 ms \(85\.00 ms\)\s+0\.80\s+<= 0\.5 of base\s+NOT MET")

    def test_the_largest_cost_of_what_is_not_met_is_named(self):
        lines = bench.report("arm64", self.base, self.series)
        self.assertIn("most of the time of tracer on the series: slower 5, slow 3", lines)

    def test_what_listens_is_explained_by_what_listened(self):
        self.series |= {("tracer-guarded", "on"): [170 * MS], ("tracer-guarded", "profile:guard"): [7]}
        lines = bench.report("arm64", self.base, self.series)
        self.assertIn("most of the time of tracer-guarded on the series: guard 7", lines)

    def test_a_profile_that_is_missing_is_told(self):
        self.series |= {("call", "untraced"): [0], ("call", "one"): [100], ("call", "many"): [200]}
        self.assertIn("most of the time of call on the series: nothing was sampled", bench.report("arm64", self.base, self.series))

    def test_every_target_has_a_profile_and_the_guest_takes_it(self):
        guest = bench.SOURCE.read_text()
        self.assertIn('current = "call"', guest)
        for row in (row for row in bench.ROWS if row.rule):
            name = bench.PROFILES[row.case]
            self.assertTrue(name == "call" or f'profile("{name}", ' in guest, row.what)

    def test_the_guest_listens_while_it_profiles_what_listens(self):
        guest = bench.SOURCE.read_text()
        listening = guest[guest.index("\tlisten_begin();"):guest.index("\tlisten_end();")]
        for name in bench.PROFILES.values():
            self.assertEqual(f'profile("{name}", ' in listening, name.endswith("-guarded"), name)

    def test_nothing_is_explained_that_is_met(self):
        self.series[("tracer", "on")] = [10 * MS]
        self.assertFalse([line for line in bench.report("arm64", self.base, self.series) if line.startswith("most")])

    def test_the_last_line_counts(self):
        self.assertEqual(bench.report("arm64", self.base, self.series)[-1], "arm64: 0 targets met, 1 not met")

    def test_growth_has_a_line_for_each_size(self):
        lines = bench.growth(self.base, self.series)
        self.assertEqual(len(lines), 1 + len(bench.SIZES))
        self.assertIn("all (12000)", lines[-1])
        self.assertIn("100.00 ms / 80.00 ms", lines[-1])


if __name__ == "__main__":
    unittest.main()
