# SPDX-License-Identifier: GPL-2.0
"""The page of `make trace`: it shows every branch, every change of text,
and what was decoded otherwise.
"""

import contextlib
import io
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from tests import pages  # noqa: E402
from textpoke import errors  # noqa: E402
from textpoke.pages import markup  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, Result  # noqa: E402
from textpoke.trace import tracepage  # noqa: E402
from textpoke.trace.tracecolumns import BASE, SERIES, Column  # noqa: E402

TEXT = {"crossed": 3, "pieces": 100, "wrong": 0, "unknown": 0}
BRANCHES = {"executed": 1000, "decoded": 990, "wrong": 0, "missing": 0, "errors": 0}
HOSTILE = "</li><script>alert(1)</script>"
SECOND = 10**9


setUpModule = pages.need_plots


def column(name, amiss=0, differs=()):
    """Two CPUs: one busy all the time, the other in the beginning;
    changes in the middle, one outside.
    """
    bins = [(0, number, 7, amiss if number == 50 else 0) for number in range(100)] + [
        (1, 0, 300, 0)
    ]
    return Column(
        name,
        TEXT,
        BRANCHES | {"wrong": amiss},
        tuple(bins),
        (5 * SECOND, 15 * SECOND),
        (2, 10 * SECOND, 10 * SECOND + 1, 12 * SECOND),
        differs,
    )


def dots(svg):
    """(x, y) of the points that a chart has, in the order of its groups."""
    return [
        tuple(map(float, found))
        for found in re.findall(r'<desc class="value">([\d.]+): ([\d.]+)</desc>', svg)
    ]


class Page(unittest.TestCase):
    def setUp(self):
        self.path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "index.html"
        self.said = self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def page(self, columns, results=(Result("a", PASSED),)):
        tracepage.write(self.path, "arm64", columns, results)
        whole = self.path.read_text()
        pages.Balanced(whole)
        self.assertNotRegex(whole, pages.REMOTE)
        return whole

    def charts(self, *columns):
        return re.findall(r"<svg.*?</svg>", self.page(list(columns)), re.S)

    def test_each_cpu_of_each_column_has_a_chart_the_base_above(self):
        charts = self.charts(column(BASE, 9), column(SERIES))
        titles = [f"{name}, CPU {cpu}" for name in (BASE, SERIES) for cpu in (0, 1)]
        self.assertEqual([title for chart, title in zip(charts, titles) if title in chart], titles)
        self.assertEqual(len(charts), 4)

    def test_every_branch_is_in_it(self):
        busy, other = self.charts(column(SERIES))
        self.assertEqual(sum(y for _, y in dots(busy)), 700)
        self.assertEqual(dots(other)[0], (0.05, 300))
        self.assertIn("executed (700)", busy)
        self.assertIn("executed (300)", other)

    def test_what_is_amiss_is_red_and_where_it_was(self):
        chart, _ = self.charts(column(BASE, 9))
        self.assertIn((5.05, 9), dots(chart))
        self.assertIn("wrong or missing (9)", chart)
        self.assertIn(tracepage.AMISS, chart)

    def test_changes_of_text_are_marks_if_they_were_in_that_time(self):
        _, chart = self.charts(column(SERIES))
        self.assertEqual(dots(chart)[1:], [(5.05, 0), (7.05, 0)])
        self.assertIn("changes of text (3)", chart)

    def test_the_table_and_the_differences_are_there_and_harmless(self):
        whole = self.page([column(BASE, 9, (HOSTILE, "cpu 1, executed a -> b")), column(SERIES)])
        self.assertNotIn(HOSTILE, whole)
        self.assertIn("<li>cpu 1, executed a -&gt; b</li>", whole)
        self.assertIn('<td>wrong</td><td class="number">9</td><td class="number">0</td>', whole)
        self.assertIn("There are none.", self.page([column(SERIES)]))

    def test_the_verdict_names_what_failed(self):
        self.assertIn("all 1 results passed", self.page([column(SERIES)]))
        self.assertIn(
            "failed: b: 3 wrong",
            self.page([column(SERIES)], [Result("a", PASSED), Result("b", FAILED, "3 wrong")]),
        )

    def test_without_a_trace_unit_it_says_so(self):
        self.assertIn("perf knows no trace unit", self.page([Column(SERIES, TEXT)]))

    def test_the_same_gives_the_same(self):
        self.assertEqual(self.page([column(SERIES)]), self.page([column(SERIES)]))

    def test_a_page_that_cannot_be_had_is_one_sentence(self):
        with mock.patch.object(tracepage, "write", side_effect=errors.Fail(3, "no pygal")):
            markup.try_to_write(self.path, tracepage.write)
        self.assertIn("no page of it: no pygal", self.said.getvalue())

    @unittest.skipUnless(pages.BROWSER, pages.NO_BROWSER)
    def test_a_browser_shows_it(self):
        self.page([column(BASE, 9), column(SERIES)])
        seen = pages.dom(self.path)
        self.assertEqual(seen.count("<svg"), 4)
        self.assertIn("wrong or missing (9)", seen)


if __name__ == "__main__":
    unittest.main()
