# SPDX-License-Identifier: GPL-2.0
"""What a case's folder says of its guest, what became of it, and when that fails the step."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke.checks import cases  # noqa: E402
from textpoke.errors import HANG, INFRA, OK, PANIC, TEST_FAILED, USAGE, Fail  # noqa: E402
from textpoke.guests import boot, initramfs, tests  # noqa: E402
from textpoke.results.known import Known  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED  # noqa: E402

CASE = cases.Case(Path("07-it"))
PASS = cases.Outcome(PASSED, "pass")
FAIL = cases.Outcome(FAILED, "FAIL", "3 bytes; console log: x", ("a line",))
DIED = cases.Outcome(FAILED, "DIED", "the kernel panicked")
SKIP = cases.Outcome(SKIPPED, "skip", "there is no second CPU")
KNOWN = {"cases: 07-it": Known(FAILED, "6.12 does it as well")}


class Folders(unittest.TestCase):
    """Cases in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        mock.patch.object(cases, "FOLDER", self.folder).start()
        self.addCleanup(mock.patch.stopall)

    def case(self, name, text=None):
        (self.folder / name).mkdir()
        (self.folder / name / "case.c").touch()
        if text is not None:
            (self.folder / name / "boot").write_text(text)

    def titles(self, name="x86", only=""):
        return [case.title for case in cases.load(name, only)]


class Loading(Folders):
    def test_without_a_file_it_is_booted_once_and_plainly(self):
        self.case("07-it")
        self.assertEqual(cases.load("x86"), [cases.Case(self.folder / "07-it")])

    def test_each_append_is_a_boot(self):
        self.case("07-it", "# why\n\nappend:\nappend: nosmp\nappend: pti=on nopcid\n")
        self.assertEqual(self.titles(), ["07-it", "07-it: nosmp", "07-it: pti=on nopcid"])

    def test_lines_may_be_for_some_architectures(self):
        self.case(
            "07-it",
            "append x86: a\nappend arm64 riscv: b\nqemu: -q\nqemu x86: -r\nfile riscv: f.ko\n",
        )
        self.assertEqual(
            [
                (case.append, case.qemu, case.files)
                for name in ("x86", "riscv")
                for case in cases.load(name)
            ],
            [("a", "-q -r", ()), ("b", "-q", ("f.ko",))],
        )

    def test_one_without_a_line_for_an_architecture_is_booted_plainly(self):
        self.case("07-it", "append x86: a\n")
        self.assertEqual(self.titles("arm64"), ["07-it"])

    def test_a_value_is_taken_as_it_is(self):
        self.case("07-it", "append: trace_event=a:* kprobe_event=p:b1,c;p:b2,d\n")
        self.assertEqual(cases.load("x86")[0].append, "trace_event=a:* kprobe_event=p:b1,c;p:b2,d")

    def test_a_slip_is_told(self):
        for text in ("appendix: a\n", "append a\n", "append vax: a\n", "APPEND=a\n"):
            with self.subTest(text), tempfile.TemporaryDirectory() as name:
                path = Path(name) / "boot"
                path.write_text(text)
                with self.assertRaises(Fail) as caught:
                    cases.boots(Path(name), "x86")
                self.assertEqual(caught.exception.code, INFRA)

    def test_some_may_be_asked_for(self):
        self.case("07-it")
        self.case("17-that")
        self.assertEqual(
            (self.titles(only="17"), self.titles(only="07-it")), (["17-that"], ["07-it"])
        )
        with self.assertRaises(Fail) as caught:
            cases.load("x86", "7")
        self.assertEqual(caught.exception.code, USAGE)
        self.assertIn("07-it, 17-that", caught.exception.message)


class Outcomes(unittest.TestCase):
    def outcome(self, code, verdict, text, badness=()):
        result = boot.Result(
            code, "a reason", Path("log"), Path("tar"), verdict, list(badness), ["the last line"]
        )
        return cases.outcome(result, text)

    def test_pass(self):
        self.assertEqual(self.outcome(OK, 0, "CASE 07-it PASS (0)\n").status, PASSED)

    def test_fail_with_its_words(self):
        how = self.outcome(TEST_FAILED, 1, "3 bytes\nCASE 07-it FAIL (3)\n")
        self.assertEqual(
            (how.status, how.word, how.why, how.said),
            (FAILED, "FAIL", "(3)", ("3 bytes", "CASE 07-it FAIL (3)")),
        )

    def test_skip_with_its_reason(self):
        how = self.outcome(TEST_FAILED, cases.SKIP, "CASE 07-it SKIP: there is none\n")
        self.assertEqual((how.status, how.why), (SKIPPED, "there is none"))

    def test_a_program_that_dies_fails(self):
        for text in ("", "Segmentation fault\n"):
            self.assertEqual(self.outcome(TEST_FAILED, 139, text).status, FAILED)

    def test_a_guest_without_a_verdict_or_a_word_fails(self):
        self.assertEqual(self.outcome(OK, None, "").status, FAILED)
        self.assertEqual(self.outcome(OK, 0, "").status, FAILED)
        self.assertEqual(self.outcome(OK, None, "listening\n").status, FAILED)

    def test_a_complaint_of_the_kernel_fails(self):
        how = self.outcome(OK, 0, "CASE 07-it PASS (0)\n", ["[ 1.0] WARNING: it"])
        self.assertEqual(
            (how.status, how.why), (FAILED, "the kernel complained: [ 1.0] WARNING: it")
        )

    def test_a_guest_that_ends_badly(self):
        for code, word in ((PANIC, "DIED"), (HANG, "HUNG"), (INFRA, "FAIL")):
            how = self.outcome(code, 0, "CASE 07-it PASS (0)\n", ["BUG: it"])
            self.assertEqual(
                (how.status, how.word, how.why, how.said),
                (FAILED, word, "a reason; BUG: it", ("the last line",)),
            )


class Judging(unittest.TestCase):
    def judged(self, base, series, known=()):
        result = cases.judge(cases.Row(CASE, base, series), dict(known))
        return result.status, result.note

    def test_what_passes_passes(self):
        self.assertEqual(self.judged(PASS, PASS), (PASSED, ""))
        self.assertEqual(self.judged(DIED, PASS), (PASSED, "the base: the kernel panicked"))
        self.assertEqual(self.judged(SKIP, PASS)[0], PASSED)

    def test_what_passes_on_the_base_is_never_excused(self):
        for series in (FAIL, DIED, SKIP):
            for known in ({}, KNOWN, {"cases: 07-it": Known(SKIPPED, "it is so")}):
                status, note = self.judged(PASS, series, known)
                self.assertEqual((status, note), (FAILED, f"{series.why}; it passes on the base"))

    def test_what_fails_on_both_needs_a_reason(self):
        self.assertEqual(self.judged(FAIL, FAIL)[0], FAILED)
        self.assertEqual(
            self.judged(FAIL, FAIL, KNOWN), (SKIPPED, "as on the base: 6.12 does it as well")
        )

    def test_what_fails_where_the_base_skips_it_needs_a_reason(self):
        self.assertEqual(self.judged(SKIP, FAIL)[0], FAILED)

    def test_a_reason_that_is_stale_is_told(self):
        self.assertEqual(
            self.judged(FAIL, PASS, KNOWN)[1], "listed as failed on the base, but passes"
        )

    def test_a_skip_says_why(self):
        self.assertEqual(self.judged(SKIP, SKIP), (SKIPPED, "there is no second CPU"))
        self.assertEqual(self.judged(SKIP, cases.Outcome(SKIPPED, "skip"))[0], FAILED)

    def test_what_a_failed_case_has_said_is_shown(self):
        self.assertEqual(cases.judge(cases.Row(CASE, PASS, FAIL), {}).said, ("a line",))


class Running(Folders):
    """The step, with guests that are none."""

    def run_with(self, verdicts, name="x86", only=""):
        """verdicts: (kernel's folder, title) -> (code, verdict); else a case passes.

        What is printed.
        """
        self.booted, self.given = [], {}

        def in_guest(name, kdir, initrd, append, timeout, **how):
            self.given[kdir.name] = timeout
            self.booted.append((kdir.name, append, how["qemu_args"]))
            code, verdict = verdicts.get((kdir.name, append), (OK, 0))
            return boot.Result(code, "a reason", Path("log"), Path("tar"), verdict)

        fakes = (
            (cases, "kernels", lambda name: {"base": Path("base-x86"), "series": Path("x86")}),
            (cases, "_program", lambda name, case: b"program"),
            (tests, "in_guest", in_guest),
            (
                tests,
                "sent",
                lambda result, name: "CASE it SKIP: so\n"
                if result.verdict == cases.SKIP
                else "CASE it FAIL (3)\n",
            ),
            (initramfs, "build_initramfs", lambda *args, **how: Path("initrd")),
        )
        for where, what, fake in fakes:
            mock.patch.object(where, what, fake).start()
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(
            io.StringIO()
        ):
            results = list(cases.cases(name, only))
        return {result.name: result.status for result in results}, out.getvalue()

    def test_both_kernels_are_booted_with_what_a_case_asks_for(self):
        self.case("07-it", "append: a=1\nqemu: -q\n")
        self.assertEqual(self.run_with({})[0], {"cases: 07-it: a=1": PASSED})
        self.assertEqual(sorted(self.booted), [("base-x86", "a=1", "-q"), ("x86", "a=1", "-q")])

    def test_one_boot_may_fail_and_another_pass(self):
        self.case("07-it", "append:\nappend: a=1\n")
        results, said = self.run_with(
            {("x86", "a=1"): (PANIC, None), ("base-x86", ""): (HANG, None)}
        )
        self.assertEqual(results, {"cases: 07-it": PASSED, "cases: 07-it: a=1": FAILED})
        rows = [line.split()[:3] for line in said.splitlines()[1:]]
        self.assertEqual(rows[0], ["07-it", "HUNG", "pass"])
        self.assertIn("pass  DIED", said)

    def test_a_base_that_hangs_is_given_up_when_the_series_has_ended_long_ago(self):
        self.case("07-it")
        self.run_with({})
        self.assertEqual(self.given["x86"], cases.TIMEOUT)
        self.assertEqual(self.given["base-x86"], cases.MORE)

    def test_where_to_read_on_is_told(self):
        self.case("07-it")
        self.assertIn("(3); console log: log", self.run_with({("x86", ""): (TEST_FAILED, 1)})[1])


class Ours(unittest.TestCase):
    """The cases that there are."""

    def test_each_has_what_belongs_to_it(self):
        for path in cases.FOLDER.glob("*/"):
            if path.is_dir():
                self.assertTrue(
                    (path / "case.c").exists()
                    and (path / "README").read_text().startswith(f"{path.name}\n"),
                    path,
                )

    def test_each_can_be_loaded_for_every_architecture(self):
        for name in arches.ARCHES:
            self.assertEqual(len({case.title for case in cases.load(name)}), len(cases.load(name)))

    def test_each_names_itself_in_its_verdict(self):
        for path in cases.FOLDER.glob("*/case.c"):
            self.assertIn(f'#define NAME "{path.parent.name}"', path.read_text())


if __name__ == "__main__":
    unittest.main()
