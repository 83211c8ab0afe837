# SPDX-License-Identifier: GPL-2.0
"""The page of what was recorded: it says what the records say, and what they do not; and `tp page`
of a user's own recording.
"""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from tests import pages  # noqa: E402
from textpoke import cli, errors, paths  # noqa: E402
from textpoke.code import disasm  # noqa: E402
from textpoke.pages import markup, plots  # noqa: E402
from textpoke.records import page, recorded, run  # noqa: E402
from textpoke.records.replay import Poke  # noqa: E402

ARM64 = disasm.MACHINES["arm64"]
NOP, BRANCH, CALL = (bytes.fromhex(code) for code in ("1f2003d5", "05000014", "feffff97"))
HOSTILE = "</script><i>&\"' $title"
BASE = 0xFFFF800080010000
KALLSYMS = (f"{BASE:x} T _stext", "ffff800080010100 t foo", f"{BASE + 0x200000:x} T _etext")
OBJDUMP = "   0:\tb\t0x14\n  10:\tnop\n  20:\tbl\t0x18\n"


setUpModule = pages.need_plots


def listing(pokes):
    """What run.Listing makes of records, without objdump."""
    made = run.Listing.__new__(run.Listing)
    made.symbols, made.pokes = disasm.Symbols(KALLSYMS), pokes
    made.shown = disasm.parse(OBJDUMP.splitlines(), [BRANCH, NOP, CALL], ARM64)
    return made


def records():
    """Two hundred calls that change once, and a branch that changes ten times, on two CPUs."""
    calls = [
        Poke(10**9 * (i + 1), BASE + 0x1000 + 16 * i, NOP, CALL, f"function_{i}+0x4", 0)
        for i in range(200)
    ]
    flips = [
        Poke(
            10**9 * (300 + i),
            BASE + 0x104,
            *((NOP, BRANCH) if i % 2 == 0 else (BRANCH, NOP)),
            HOSTILE,
            1,
        )
        for i in range(10)
    ]
    return calls + flips


def bars(svg):
    """The sum of all bars of a plot, as the pointer is told them."""
    return sum(int(value) for value in re.findall(r"<title>(\d+) at", svg))


class Case(unittest.TestCase):
    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.said = self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def page(self, pokes=None, text=range(BASE, BASE + 0x200000), **more):
        page.write(
            self.home / "index.html",
            page.Seen(
                "a <run>",
                listing(records() if pokes is None else pokes),
                text,
                ["records 210 <"],
                **more,
            ),
        )
        whole = (self.home / "index.html").read_text()
        pages.Balanced(whole)
        self.assertNotRegex(whole, pages.REMOTE)
        return whole


class Contents(Case):
    def test_every_record_is_in_the_plots_and_the_table(self):
        whole = self.page()
        self.assertEqual(
            [bars(svg) for svg in re.findall(r"<svg.*?</svg>", whole, re.S)], [210, 210, 210, 201]
        )
        for label in ("branches (10)", "calls (200)", "CPU 0 (200)", "CPU 1 (10)"):
            self.assertIn(label, whole)
        rows = json.loads(re.search(r'id="rows">(.*?)</script>', whole, re.S)[1])
        self.assertEqual(len(rows), 201)
        self.assertEqual(
            rows[0],
            [
                f"{BASE + 0x1000:016x}",
                "function_0+0x4",
                "calls",
                1,
                0,
                0,
                "0",
                "nop -> bl foo+0xef8",
            ],
        )
        self.assertEqual(
            rows[-1][1:], [HOSTILE, "branches", 10, 299, 308, "1", "nop <-> b foo+0x18"]
        )

    def test_nothing_in_it_is_taken_for_html(self):
        whole = self.page()
        self.assertNotIn("</script><i>", whole)
        self.assertNotIn("a <run>", whole)

    def test_the_same_gives_the_same_bytes(self):
        self.assertEqual(self.page(), self.page())

    def test_records_outside_text_are_told_and_not_drawn(self):
        whole = self.page(text=range(BASE, BASE + 0x1000))
        self.assertIn("Not in it, but of modules and trampolines: 200 of the records.", whole)
        self.assertEqual(
            [bars(svg) for svg in re.findall(r"<svg.*?</svg>", whole, re.S)], [210, 210, 10, 1]
        )
        self.assertIn("does not say where text begins", self.page(text=None))

    def test_without_records(self):
        whole = self.page(pokes=[])
        self.assertIn("No text poke was recorded.", whole)
        self.assertIn('id="rows">[]<', whole)

    def test_one_record_and_no_cpu(self):
        whole = self.page(pokes=[Poke(5, BASE, NOP, CALL)])
        self.assertIn("no CPU told (1)", whole)

    def test_what_is_at_the_very_end_is_in_the_last_bin(self):
        self.assertEqual(plots.binned([0, 1, 1], 0, 1), [1] + [0] * (plots.BINS - 2) + [2])
        self.assertEqual(sum(plots.binned([7, 7], 7, 7)), 2)


class Words(Case):
    def counters(self, before, after):
        return page.Counters(before, after)

    def test_the_longest_armed_window(self):
        self.assertIn(
            "1.500 ms, while",
            page.armed(self.counters({"armed_max_ns": 0}, {"armed_max_ns": 1500000})),
        )
        self.assertIn(
            "before this recording began",
            page.armed(self.counters({"armed_max_ns": 7}, {"armed_max_ns": 7})),
        )
        self.assertIn(
            "Nothing was armed", page.armed(self.counters({"armed_max_ns": 0}, {"armed_max_ns": 0}))
        )
        for nothing in (None, self.counters({}, {})):
            self.assertIn("Not known", page.armed(nothing))
            self.assertIn("Not known", page.traps(nothing))

    def test_traps_are_not_made_up(self):
        self.assertRegex(
            page.traps(self.counters({"traps": 2}, {"traps": 44})),
            "^42 were handled. The kernel remembers no site",
        )

    def test_where_the_last_traps_were_is_told(self):
        last = Counter({"vfs_read+0x0/0x10": 3, "a<b+0x4/0x8": 1})
        counters = page.Counters({"traps": 2}, {"traps": 44}, last)
        self.assertIn("the last of each CPU: 4, at 2 sites", page.traps(counters))
        rows = re.findall(
            r'class="code">(.*?)</td><td class="number">(\d+)', page._trapped(counters)
        )
        self.assertEqual(rows, [("vfs_read+0x0/0x10", "3"), ("a&lt;b+0x4/0x8", "1")])
        self.assertEqual(page._trapped(self.counters({}, {})), "")

    def test_the_verdict_is_the_one_that_was_given(self):
        whole = self.page(verdict=page.Verdict("VERDICT: incomplete: <2>", False))
        self.assertIn('<p class="verdict bad">VERDICT: incomplete: &lt;2&gt;</p>', whole)
        self.assertIn("There is no verdict", self.page())


class Beside(Case):
    """The page of `make run`, whose verdict comes first."""

    def test_what_keeps_it_from_being_made_is_one_sentence(self):
        place = self.home / "index.html"
        for problem, says in (
            (errors.Fail(errors.MISSING, "no plots"), "no page of it: no plots"),
            (OSError(28, "full"), "no page of it: [Errno 28] full"),
            (ZeroDivisionError("x"), "no page of it: the lines above say why"),
        ):
            place.write_text("of an earlier run")
            with mock.patch.object(plots, "_pygal", side_effect=problem):
                markup.try_to_write(place, page.write, page.Seen("x", listing(records()), None, []))
            self.assertIn(says, self.said.getvalue())
            self.assertEqual(list(self.home.iterdir()), [])

    def test_a_library_that_cannot_be_loaded(self):
        with mock.patch.dict(sys.modules, {"pygal": None}), self.assertRaises(
            errors.Fail
        ) as caught:
            plots._pygal()
        self.assertEqual(caught.exception.code, errors.MISSING)

    def test_it_is_made_of_the_run_s_own_data(self):
        folder = self.home / "run/arm64/recording"
        folder.mkdir(parents=True)
        (folder / "began").write_text(f"{BASE:x} {0x200000} 1 2\n")
        for which, count in ("before", 1), ("after", 43):
            (folder / f"stats.{which}").write_text(f"traps {count}\narmed_max_ns {count}000000\n")
        (folder / "trapped").write_text("0 vfs_read+0x0/0x10\n1 vfs_read+0x0/0x10\n")
        run.leave_page(
            run.Recording(folder),
            listing(records()),
            ["records 210"],
            page.Verdict("VERDICT: complete", True),
        )
        whole = (folder.parent / "index.html").read_text()
        for words in (
            "make run: arm64",
            "VERDICT: complete",
            "42 were handled",
            '<td class="code">vfs_read+0x0/0x10</td><td class="number">2</td>',
            "43.000 ms, while",
            'href="recording/records.txt"',
        ):
            self.assertIn(words, whole)


@unittest.skipUnless(pages.BROWSER, pages.NO_BROWSER)
class Browser(Case):
    def rows(self, fragment=""):
        seen = pages.dom(self.home / "index.html", fragment)
        return (
            re.findall(
                r"<tr>(.*?)</tr>", re.search(r'<tbody id="body">(.*?)</tbody>', seen, re.S)[1]
            ),
            seen,
        )

    def test_the_table_is_paged_and_searched(self):
        self.page()
        rows, seen = self.rows()
        self.assertEqual(len(rows), 100)
        self.assertIn("function_0+0x4", rows[0])
        self.assertIn("1 to 100 of 201", seen)
        self.assertIn("&lt;/script&gt;&lt;i&gt;", self.rows("#branches")[0][0])
        rows, seen = self.rows("#bl%20function_19")
        self.assertEqual(len(rows), 11)
        self.assertIn("none", self.rows("#nowhere")[1])


PERF = """\
#!/bin/sh
case "$1" in
report) cat "$HERE/header"; exit $(cat "$HERE/code") ;;
script) echo "$@" >"$HERE/asked"; cat "$HERE/script"; exit $(cat "$HERE/code") ;;
esac
"""
HEADER = (
    "# os release : 6.12.117\n# arch : aarch64\n"
    "# event : name = dummy, type = 1, text_poke = 1, clockid = 4\n"
)
SCRIPT = """\
  sh   77 [001]    12.000000345: PERF_RECORD_TEXT_POKE ffff800080010104 foo+0x4 old len 4 new len 4
            Old bytes: 1f 20 03 d5
            New bytes: 05 00 00 14
  sh   77 [001]    13.000000000: PERF_RECORD_LOST lost 3
"""


class Own(Case):
    """`tp page`."""

    def setUp(self):
        super().setUp()
        self.data = self.home / "perf.data"
        (self.data / "kcore_dir").mkdir(parents=True)
        (self.data / "data").write_bytes(b"PERFILE2" + bytes(100))
        (self.data / "kcore_dir/kallsyms").write_text("\n".join(KALLSYMS) + "\n")
        self.perf = self.home / "build/perf-host/perf"
        self.perf.parent.mkdir(parents=True)
        self.perf.write_text(PERF)
        self.perf.chmod(0o755)
        self.has(HEADER, SCRIPT)
        self.enterContext(mock.patch.dict(os.environ, {"HERE": str(self.home)}))
        self.enterContext(
            mock.patch.multiple(paths, BUILD=self.home / "build", LOGS=self.home / "build/log")
        )
        shown = disasm.parse(OBJDUMP.splitlines(), [BRANCH, NOP, CALL], ARM64)
        self.enterContext(mock.patch.object(disasm, "disassemble", lambda codes, arch: shown))

    def has(self, header, script, code=0):
        for name, text in ("header", header), ("script", script), ("code", f"{code}\n"):
            (self.home / name).write_text(text)

    def tp(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = cli.main(["page", *map(str, words)])
        return code, out.getvalue().strip()

    def fails(self, says, *words, code=errors.USAGE):
        self.assertEqual(self.tp(*words), (code, ""))
        self.assertRegex(self.said.getvalue().splitlines()[-1], says)
        self.assertEqual([path.name for path in self.home.glob("*.html*")], [])

    def test_a_folder_gives_a_page_beside_it(self):
        out = self.home / "perf.data.html"
        self.assertEqual(self.tp(self.data), (errors.OK, str(out)))
        whole = out.read_text()
        pages.Balanced(whole)
        for words in (
            "kernel 6.12.117",
            "records 1, sites 1, lost 3",
            "CPU 1 (1)",
            "There is no verdict",
            "Of all text.",
            "nop -\\u003e b foo+0x18",
            "Not known",
        ):
            self.assertIn(words.replace("\\u003e", ">"), whole)
        self.assertIn("--no-itrace", (self.home / "asked").read_text())
        self.assertEqual(list(paths.LOGS.glob("*page*")), [])

    def test_a_single_file_and_an_equals_sign_in_its_name(self):
        file = self.home / "a=b.data"
        file.write_bytes(b"PERFILE2" + bytes(100))
        self.assertEqual(self.tp(file)[0], errors.OK)
        self.assertIn("does not say where text begins", (self.home / "a=b.data.html").read_text())
        self.assertEqual(self.tp(f"DATA={file}")[0], errors.OK)

    def test_what_is_no_recording(self):
        self.fails("page needs a recording")
        self.fails("/nowhere is not there", "/nowhere")
        self.fails("data is not there", self.home / "build")
        (self.home / "text").write_text("perf.data")
        self.fails("does not begin as", self.home / "text")
        self.fails("one too many: page takes one", self.data, self.data)
        with mock.patch.dict(os.environ, {"DATA": str(self.data)}):
            self.fails("page needs a recording")

    def test_what_perf_cannot_read(self):
        self.has("incompatible file format", "", 255)
        self.fails("reading .* failed: incompatible file format", self.data)
        self.has(HEADER, SCRIPT, 0)
        with mock.patch.object(recorded.Recording, "header", return_value=HEADER):
            self.has(HEADER, SCRIPT, 234)
            self.fails("cannot be read to its end", self.data)

    def test_what_has_no_text_pokes_or_another_machine(self):
        self.has(HEADER.replace("text_poke = 1, ", ""), "")
        self.fails("not asked for: record it with `perf record --kcore", self.data)
        self.has(HEADER.replace("aarch64", "s390x"), "")
        self.fails("of the machine s390x: known are x86_64", self.data)
        self.has("", "")
        self.fails("of a machine that it does not name", self.data)

    def test_none_recorded_is_no_error(self):
        self.has(HEADER, "")
        self.assertEqual(self.tp(self.data)[0], errors.OK)
        self.assertIn("No text poke was recorded.", (self.home / "perf.data.html").read_text())

    def test_whose_perf(self):
        self.assertEqual(recorded.perf(), str(self.perf))
        self.perf.unlink()
        with mock.patch.object(recorded.shutil, "which", return_value="/usr/bin/perf"):
            self.assertEqual(recorded.perf(), "/usr/bin/perf")
        with mock.patch.object(recorded.shutil, "which", return_value=None):
            self.fails("there is no perf", self.data, code=errors.MISSING)

    def test_where_nothing_can_be_written(self):
        with mock.patch.object(
            markup.patches, "write", side_effect=PermissionError(13, "no", str(self.data))
        ):
            self.fails("no permission to write", self.data, code=errors.MISSING)


class Program(unittest.TestCase):
    def test_help_names_it(self):
        said = subprocess.run(
            [paths.DEV / "tp", "help", "page"], capture_output=True, text=True, check=True
        ).stdout
        self.assertIn("tools/dev/tp page perf.data", said)
        self.assertIn("DATA", said)


if __name__ == "__main__":
    unittest.main()
