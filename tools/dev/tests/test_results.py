# SPDX-License-Identifier: GPL-2.0
"""Results as JUnit XML, JSON and a page:
all of them are there, with their times, and nothing in them breaks the file.
"""

import contextlib
import io
import json
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from tests import pages  # noqa: E402
from textpoke import cli, paths  # noqa: E402
from textpoke.checks import check  # noqa: E402
from textpoke.results import grid, junit, kept, ktap, report  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED, Result, Step  # noqa: E402

HOSTILE = "a </script><b>&\"'\x00\x1b[31m\udc80"
STEPS = [
    Step(
        "series: gates",
        [
            Result("a gate", PASSED),
            Result(HOSTILE, FAILED, HOSTILE, before=(HOSTILE,), after=("behind",)),
        ],
        3.25,
    ),
    Step(
        "arm64: kernel and guests",
        [
            Result("arm64: builds", PASSED),
            Result("arm64: s: one", PASSED, part="KUnit", seconds=33.5),
            Result("arm64: s: two", SKIPPED, "no disk", part="KUnit", seconds=33.5),
        ],
        500.0,
    ),
    Step(
        "x86: kernel and guests",
        [
            Result("x86: builds", PASSED, unchanged=True),
            Result("x86: s: one", PASSED, part="KUnit", unchanged=True),
        ],
    ),
    Step("nothing", [], 0.1),
]


class Case(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.multiple(paths, BUILD=self.home, LOGS=self.home / "log"))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))


class Programs(Case):
    def suites(self):
        root = ElementTree.fromstring(junit.as_xml("check", STEPS))
        return root, {suite.get("name"): suite for suite in root}

    def test_junit_counts_and_times(self):
        root, suites = self.suites()
        self.assertEqual(
            [root.get(name) for name in ("tests", "failures", "skipped", "time")],
            ["7", "1", "1", "503.350"],
        )
        self.assertEqual(
            {name: (suite.get("tests"), suite.get("time")) for name, suite in suites.items()},
            {
                "series: gates": ("2", "3.250"),
                "arm64: kernel and guests": ("1", "500.000"),
                "arm64: kernel and guests: KUnit": ("2", "33.500"),
                "x86: kernel and guests": ("1", None),
                "x86: kernel and guests: KUnit": ("1", None),
                "nothing": ("0", "0.100"),
            },
        )

    def test_junit_tells_failed_skipped_and_unchanged_apart(self):
        _, suites = self.suites()
        failure = suites["series: gates"].find("testcase/failure")
        self.assertTrue(failure.text.endswith("behind"))
        self.assertIn("</script><b>&", failure.get("message"))
        self.assertEqual(
            suites["arm64: kernel and guests: KUnit"].find("testcase/skipped").get("message"),
            "no disk",
        )
        self.assertIsNotNone(
            suites["x86: kernel and guests"].find("testcase/properties/property[@name='unchanged']")
        )
        self.assertIsNone(suites["arm64: kernel and guests"].find("testcase/properties"))

    def test_json_has_the_same(self):
        found = json.loads(junit.as_json("check", STEPS))
        self.assertEqual(
            [found[name] for name in ("command", "passed", "failed", "skipped", "seconds")],
            ["check", 5, 1, 1, 503.35],
        )
        suites = {suite["name"]: suite for suite in found["suites"]}
        self.assertEqual(suites["arm64: kernel and guests: KUnit"]["seconds"], 33.5)
        self.assertEqual(
            (
                suites["x86: kernel and guests"]["seconds"],
                suites["x86: kernel and guests"]["unchanged"],
            ),
            (None, True),
        )
        self.assertEqual(suites["series: gates"]["results"][1]["said"], [HOSTILE, "behind"])

    def test_every_command_writes_them(self):
        with contextlib.redirect_stdout(io.StringIO()):
            one = report.Report().into("kunit")
            one.step("arm64: kunit", lambda: [Result("a", PASSED)])
            one.end()
        self.assertEqual(
            sorted(path.name for path in paths.LOGS.iterdir()),
            ["kunit.json", "kunit.ktap", "kunit.xml"],
        )
        self.assertEqual(ElementTree.parse(paths.LOGS / "kunit.xml").getroot().get("tests"), "1")

    def test_they_go_by_the_command_s_name(self):
        """As TESTING.md says, whatever functions the command consists of."""
        options = cli.Options({"ARCH": "x86"})
        given = {name: mock.Mock(return_value=[]) for name in ("kunit", "selftests", "ftracetest")}
        for name, function in given.items():
            function.__name__ = name
        with (
            contextlib.redirect_stdout(io.StringIO()),
            mock.patch.object(check.kernel, "build_kernel"),
            mock.patch.multiple(check.tests, **given),
            mock.patch.object(check.torture, "torture", return_value=[]),
        ):
            for command in (check.kunit, check.kselftest, check.torment):
                command(options)
        self.assertEqual(
            sorted(path.name for path in paths.LOGS.glob("*.xml")),
            ["kselftest.xml", "kunit.xml", "torture.xml"],
        )

    def test_what_cannot_be_written_hides_no_result(self):
        with contextlib.redirect_stdout(io.StringIO()) as out, mock.patch.object(
            junit, "as_xml", side_effect=OSError(28, "full")
        ), self.assertRaises(OSError):
            one = report.Report().into("kunit")
            one.step("a step", lambda: [Result("a", PASSED)])
            one.end()
        self.assertEqual(out.getvalue().splitlines()[-1], "1 passed, 0 failed, 0 skipped")


class Times(Case):
    def test_a_step_has_its_time_unless_all_is_known(self):
        store = kept.Store(place=self.home / "kept")
        with contextlib.redirect_stdout(io.StringIO()):
            for expected in (True, False):
                one = report.Report(store)
                one.step(
                    "a step",
                    lambda: time.sleep(0.02) or [Result("a", PASSED)],
                    parts=lambda: ["made from"],
                )
                self.assertEqual((one.steps[0].seconds or 0) >= 0.02, expected)
                self.assertEqual(one.steps[0].seconds is None, not expected)

    def test_a_part_has_its_time_and_none_the_next_time(self):
        store, part = kept.Store(place=self.home / "kept"), check.Part(
            lambda: [Result("one", PASSED)], lambda: ["made from"]
        )
        first, second = (check._part(store, "x86", "KUnit", part)[0] for _ in range(2))
        self.assertEqual(
            (first.part, first.unchanged, first.seconds is None), ("KUnit", False, False)
        )
        self.assertEqual((second.part, second.unchanged, second.seconds), ("KUnit", True, None))

    def test_a_kept_step_knows_its_parts_and_old_files_read_as_before(self):
        store, results = kept.Store(place=self.home / "kept"), [
            Result("a", PASSED),
            Result("b", PASSED, part="KUnit", seconds=1.0),
        ]
        store.keep("a step", "key", results)
        self.assertEqual(
            [(each.part, each.seconds) for each in store.known("a step", "key")],
            [("", None), ("KUnit", None)],
        )
        path = store._path("a step", "key")
        old = json.loads(path.read_text())
        del old["parts"]
        path.write_text(json.dumps(old))
        self.assertEqual(
            [(each.name, each.part) for each in store.known("a step", "key")],
            [("a", ""), ("b", "")],
        )
        path.write_text(json.dumps(old | {"parts": ["only one"]}))
        self.assertIsNone(store.known("a step", "key"))


class Page(Case):
    def page(self, steps):
        text = grid.write("check", steps).read_text()
        self.assertEqual((self.home / "check/index.html").read_text(), text)
        self.assertEqual([path.name for path in (self.home / "check").iterdir()], ["index.html"])
        pages.Balanced(text)
        return text, ElementTree.fromstring(text)

    def cells(self, page):
        return [
            (cell.get("class"), " ".join("".join(cell.itertext()).split()))
            for cell in page.iter("td")
        ]

    def test_architecture_by_test_in_colours(self):
        text, page = self.page(STEPS)
        for cell in (
            (FAILED, "1 failed, 1 ok 3.2 s"),
            (PASSED, "1 ok unchanged"),
            (PASSED, "1 ok, 1 skipped 34 s"),
            ("none", ""),
        ):
            self.assertIn(cell, self.cells(page))
        for head in ("every", "x86", "arm64"):
            self.assertIn(f"<th>{head}</th>", text)
        self.assertNotIn("<th>riscv</th>", text)

    def test_nothing_that_a_test_says_is_taken_for_html(self):
        text, page = self.page(STEPS)
        self.assertNotIn("</script><b>", text)
        self.assertNotIn("\x00", text)
        self.assertIn("a </script><b>&\"'", "".join(page.itertext()))

    def test_the_log_of_what_failed_and_the_reason_of_what_was_skipped(self):
        log = self.home / "guest.log"
        log.write_text("".join(f"line {number}\n" for number in range(1000)))
        text, page = self.page(
            [
                Step(
                    "a step",
                    [
                        Result("a", FAILED, f"it hung; see {log}"),
                        Result("b", FAILED, "see /nowhere/log"),
                    ],
                    1.0,
                )
            ]
        )
        self.assertIn("line 999", text)
        self.assertNotIn("line 900\n", text)
        text, page = self.page(STEPS)
        self.assertIn((None, "no disk"), self.cells(page))
        self.assertIn("behind", text)

    def test_it_needs_no_network(self):
        self.assertNotRegex(self.page(STEPS)[0], pages.REMOTE)

    @unittest.skipUnless(pages.BROWSER, pages.NO_BROWSER)
    def test_a_browser_reads_it(self):
        self.page(STEPS)
        seen = pages.dom(self.home / "check/index.html")
        self.assertRegex(seen, r'<td class="failed">1 failed, 1 ok <small>3\.2 s</small></td>')
        self.assertEqual(seen.count("<details"), 3)

    def test_no_results_at_all(self):
        text, _ = self.page([])
        self.assertIn("Nothing failed.", text)
        self.assertIn("Nothing was skipped.", text)

    def test_the_commands_with_many_architectures_leave_it(self):
        with contextlib.redirect_stdout(io.StringIO()):
            one = report.Picked(None).into("check-full")
            one.step(
                "x86: KASAN", lambda: [Result("x86: KASAN: boots", PASSED)], parts=kept.NOTHING
            )
            one.end()
        self.assertIn("KASAN", (self.home / "check-full/index.html").read_text())


class Whole(unittest.TestCase):
    def test_what_a_step_with_parts_comes_to(self):
        status = {suite.name: suite.status for suite in junit.suites(STEPS)}
        self.assertEqual(status["series: gates"], FAILED)
        self.assertEqual(status["arm64: kernel and guests: KUnit"], PASSED)
        self.assertEqual(ktap.whole([]), SKIPPED)


if __name__ == "__main__":
    unittest.main()
