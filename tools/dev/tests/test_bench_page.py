# SPDX-License-Identifier: GPL-2.0
"""The page of `make bench`: every row, ratios as bars, cost over sites as curves."""

import contextlib
import io
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from tests import pages  # noqa: E402
from textpoke.bench import bench, benchpage, benchrows  # noqa: E402

MS = 10**6
HOSTILE = "</li><script>alert(1)</script>"
REMOVE = "ftrace_mflr=remove"


setUpModule = pages.need_plots


def figures():
    """Made up: the base's cost grows with the sites, the series' hardly."""
    base, series = ({("sites", "functions"): [12000]} for _ in range(2))
    for number, (_, case) in enumerate(benchrows.SITES.cases, 1):
        base[case, "on"] = [number * 100 * MS, number * 150 * MS]
        series[case, "on"] = [10 * MS + number * MS]
        series[case, "syncs"] = [4]
    base["events", "on"], series["events", "on"] = [1000 * MS], [900 * MS]
    series["events", f"profile:{HOSTILE}"] = [3]
    return {bench.BASE: base, bench.SERIES: series}


class Page(unittest.TestCase):
    def setUp(self):
        self.path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "index.html"
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def page(self, found, others=None, then=None, arch="arm64"):
        benchpage.write(self.path, bench.shown(arch, found, others or {}, then))
        whole = self.path.read_text()
        pages.Balanced(whole)
        self.assertNotRegex(whole, pages.REMOTE)
        return whole

    def charts(self, **how):
        return re.findall(r"<svg.*?</svg>", self.page(figures(), **how), re.S)

    def test_every_row_is_in_the_table_with_its_verdict(self):
        whole = self.page(figures())
        for row in bench.rows_of("arm64"):
            self.assertIn(f"<td>{row.what}</td>", whole)
        self.assertIn(
            '<td>function tracer on</td><td class="number">500.00 ms (625.00 ms)</td>'
            '<td class="number">15.00 ms (15.00 ms)</td><td class="number">0.03</td>'
            '<td class="number">&lt;= 0.5 of base</td><td class="passed">met</td>',
            whole,
        )
        self.assertIn('<td class="failed">NOT MET</td>', whole)

    def test_the_verdict_counts(self):
        found = figures()
        self.assertIn('class="verdict bad">arm64: 2 targets met, 1 not met<', self.page(found))
        found[bench.SERIES]["events", "on"] = [MS]
        self.assertIn('class="verdict good">arm64: 3 targets met, 0 not met<', self.page(found))

    def test_every_ratio_has_a_bar(self):
        bars = self.charts()[0]
        values = re.findall(r'<desc class="value">(?:[^<]*: )?([\d.]+)</desc>', bars)
        self.assertEqual(sorted(values), ["0.03", "0.90"])
        self.assertIn("events/enable on", bars)

    def test_curves_go_from_256_sites_to_all(self):
        charts = self.charts()
        self.assertEqual(len(charts), 3)
        dots = [
            tuple(map(float, found))
            for found in re.findall(r'<desc class="value">([\d.]+): ([\d.]+)</desc>', charts[1])
        ]
        sites = [256, 1024, 4096, 8192, 12000]
        self.assertEqual(
            dots, [*zip(sites, (100, 200, 300, 400, 500)), *zip(sites, (11, 12, 13, 14, 15))]
        )
        self.assertIn("syncs, on and off", charts[2])

    def test_points_are_only_of_what_was_measured(self):
        self.assertEqual(
            benchpage.points(benchrows.SITES, {("tracer-256", "on"): [5 * MS, 3 * MS]}, "on", MS),
            [(256, 3)],
        )

    def test_cpus_and_events_have_curves_where_there_is_more_than_a_point(self):
        found = figures()
        found[bench.SERIES] |= {
            (f"cpus-{number}", "ipis"): [number - 1] for number in benchrows.CPUS
        }
        whole = self.page(found)
        self.assertIn("<h3>Over CPUs, which take turns</h3>", whole)
        self.assertNotIn("<h3>Over perf events", whole)
        dots = re.findall(r'<desc class="value">(\d+): (\d+)</desc>', whole.split("<h3>")[2])
        self.assertEqual(dots, [(str(number), str(number - 1)) for number in benchrows.CPUS])

    def test_where_the_time_goes_is_there_and_harmless(self):
        whole = self.page(figures())
        self.assertNotIn(HOSTILE, whole)
        self.assertIn("most of the time of events on the series: &lt;/li&gt;", whole)

    def test_a_parameter_has_its_table_and_its_curve(self):
        found = figures()
        others = {REMOVE: {("tracer", "on"): [70 * MS], ("sites", "functions"): [12000]}}
        whole = self.page(found | others, others, arch="powerpc")
        self.assertIn(f"<h2>With {REMOVE}</h2>", whole)
        self.assertIn('<td class="number">70.00 ms (70.00 ms)</td>', whole)
        self.assertIn(REMOVE, re.findall(r"<svg.*?</svg>", whole, re.S)[1])

    def test_another_run_has_its_table(self):
        whole = self.page(figures(), then=figures())
        self.assertIn("Against another run", whole)
        self.assertIn("<th>series then</th>", whole)
        self.assertNotIn("Against another run", self.page(figures()))

    def test_nothing_measured_is_said(self):
        whole = self.page({bench.BASE: {}, bench.SERIES: {}})
        self.assertIn("Nothing was measured on both.", whole)
        self.assertIn("Nothing was measured.", whole)

    def test_the_same_gives_the_same(self):
        self.assertEqual(self.page(figures()), self.page(figures()))

    @unittest.skipUnless(pages.BROWSER, pages.NO_BROWSER)
    def test_a_browser_shows_it(self):
        self.page(figures())
        seen = pages.dom(self.path)
        self.assertEqual(seen.count("<svg"), 3)
        self.assertIn("events/enable on", seen)


if __name__ == "__main__":
    unittest.main()
