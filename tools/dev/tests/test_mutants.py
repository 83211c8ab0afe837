# SPDX-License-Identifier: GPL-2.0
"""The table of mutants, and what counts as noticed."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import mutants  # noqa: E402
from textpoke.errors import Fail  # noqa: E402
from textpoke.ktap import FAILED, PASSED, SKIPPED, Result  # noqa: E402

NO_SYNC = mutants.Mutant("NO_SYNC_C", "kunit", "out of turn")


class Table(unittest.TestCase):
    def test_a_line_is_read(self):
        self.assertEqual(mutants.parse("# why\n\nNO_SYNC_C | kunit | out of turn\n"), [NO_SYNC])

    def test_a_mutant_may_be_for_one_architecture(self):
        mutant, = mutants.parse("NO_TAIL | kunit | a|b | only x86: no tails elsewhere\n")
        self.assertEqual((mutant.pattern, mutant.only, mutant.why), ("a|b", "x86", "no tails elsewhere"))

    def test_bad_lines_are_told(self):
        for line in ("NO_SYNC_C | kunit | ", "NO_SYNC_C | spin | x", "A | kunit | x | sometimes", "A | kunit | x | only x86: y | z"):
            with self.subTest(line), self.assertRaises(Fail):
                mutants.parse(line)

    def test_a_step_without_a_line_is_told(self):
        with self.assertRaisesRegex(Fail, "no line for NO_TRAP"):
            mutants.agree([NO_SYNC], ["NO_SYNC_C", "NO_TRAP"])

    def test_a_line_without_a_step_is_told(self):
        with self.assertRaisesRegex(Fail, "has no NO_SYNC_C"):
            mutants.agree([NO_SYNC], [])

    def test_the_table_is_that_of_the_kernel(self):
        mutants.agree(mutants.parse(mutants.TABLE.read_text()), mutants.steps(mutants.STEPS.read_text()))

    def test_names_are_as_on_the_command_line(self):
        self.assertEqual(NO_SYNC.word, "no-sync-c")


class Verdict(unittest.TestCase):
    def test_noticed_by_whom_the_table_says(self):
        found = mutants.verdict(NO_SYNC, ["KUnit: a unit out of turn, at x"])
        self.assertEqual(found.status, PASSED)
        self.assertIn("noticed", found.note)

    def test_a_survivor_is_a_failure(self):
        found = mutants.verdict(NO_SYNC, [])
        self.assertEqual(found.status, FAILED)
        self.assertIn("survives", found.note)

    def test_noticed_by_somebody_else_is_a_failure(self):
        found = mutants.verdict(NO_SYNC, ["boots: panic"])
        self.assertEqual(found.status, FAILED)
        self.assertIn("boots: panic", found.note)

    def test_only_failures_notice(self):
        results = [Result("a unit out of turn", PASSED), Result("b", SKIPPED, "out of turn"), Result("c", FAILED, "why")]
        self.assertEqual(mutants.failures(results), ["c: why"])


if __name__ == "__main__":
    unittest.main()
