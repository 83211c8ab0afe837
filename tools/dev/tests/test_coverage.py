# SPDX-License-Identifier: GPL-2.0
"""What is read from gcov, which lines count as errors, and when coverage is too little."""

import json
import sys
import unittest
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import paths  # noqa: E402
from textpoke.checks import coverage  # noqa: E402
from textpoke.errors import Fail  # noqa: E402
from textpoke.results.ktap import FAILED  # noqa: E402

NAME = "kernel/text_poke/core.c"
SOURCE = """\
/* Returns -EINVAL now and then. */
int f(int a, int b)
{
	if (a)
		return -EINVAL;
	if (b)
		goto fault;
	return b ? -EBUSY : 0;
fault:
	return 1;
}
"""


def said(*lines, name=f"/src/{NAME}", function="f"):
    """gcov's JSON of (line number, count, branch counts...)."""
    return json.dumps(
        {
            "files": [
                {
                    "file": name,
                    "lines": [
                        {
                            "line_number": number,
                            "count": count,
                            "function_name": function,
                            "branches": [{"count": each, "throw": False} for each in branches],
                        }
                        for number, count, *branches in lines
                    ],
                }
            ]
        }
    )


def found(*texts):
    lines = defaultdict(coverage.Lines)
    for text in texts:
        coverage.read(text, [NAME], lines)
    return lines


def failed(lines, known=None, source=SOURCE):
    return {
        result.name: result.note
        for result in coverage.results({NAME: source}, lines, known or {})
        if result.status == FAILED
    }


GOOD = said((4, 9, 4, 5), (5, 4), (6, 5, 2, 3), (7, 2), (8, 3, 1, 2), (10, 2))


class Reading(unittest.TestCase):
    def test_lines_are_added_up_over_runs(self):
        lines = found(said((4, 1, 0, 1), (5, 0)), said((4, 2, 2, 0), (5, 2)))[NAME]
        self.assertEqual(
            (dict(lines.count), lines.branches[4], lines.missed), ({4: 3, 5: 2}, [2, 1], [])
        )

    def test_other_files_are_left_out(self):
        self.assertEqual(found(said((1, 1), name="/src/include/linux/list.h")), {})

    def test_how_many_were_executed(self):
        lines = found(said((1, 1), (2, 0), (3, 7), (4, 0)))[NAME]
        self.assertEqual((lines.percent, lines.missed), (50, [2, 4]))
        self.assertEqual(coverage.Lines().percent, 0)


class Errors(unittest.TestCase):
    def test_what_gives_an_error(self):
        self.assertEqual([number for number, _ in coverage.error_lines(SOURCE)], [5, 7, 8])

    def test_the_core_has_some(self):
        text = (paths.ROOT / NAME).read_text()
        lines = [line for _, line in coverage.error_lines(text)]
        self.assertIn("return -ENXIO;", lines)
        self.assertNotIn(
            "*   -EINVAL      misaligned address, impossible length, not an instruction", lines
        )


class Judging(unittest.TestCase):
    def test_a_good_run(self):
        self.assertEqual(failed(found(GOOD)), {})
        names = [result.name for result in coverage.results({NAME: SOURCE}, found(GOOD), {})]
        self.assertEqual(
            names, [f"lines of {NAME}", f"errors of {NAME}", "what is accepted is there"]
        )

    def test_too_little_is_a_failure(self):
        few = found(said((4, 9, 4, 5), (5, 4), (6, 5, 2, 3), (7, 2), (8, 3, 1, 2), (9, 0), (10, 0)))
        self.assertIn(f"lines of {NAME}", failed(few))
        self.assertIn(f"lines of {NAME}", failed({}))

    def test_an_error_that_never_came_is_a_failure(self):
        never = found(said((4, 5, 0, 5), (5, 0), (6, 5, 2, 3), (7, 2), (8, 3, 1, 2), (10, 2)))
        self.assertEqual(failed(never)[f"errors of {NAME}"], f"{NAME}:5: return -EINVAL;")

    def test_an_error_that_shares_its_line_must_come_too(self):
        half = found(said((4, 9, 4, 5), (5, 4), (6, 5, 2, 3), (7, 2), (8, 3, 0, 3), (10, 2)))
        self.assertEqual(failed(half)[f"errors of {NAME}"], f"{NAME}:8: return b ? -EBUSY : 0;")

    def test_an_error_that_is_not_counted_at_all_is_a_failure(self):
        self.assertIn(f"errors of {NAME}", failed(found(said((4, 1)))))

    def test_one_without_code_of_its_own_came_if_its_condition_was_both(self):
        both = said((4, 9, 4, 5), (6, 5, 2, 3), (7, 2), (8, 3, 1, 2), (10, 2))
        self.assertEqual(failed(found(both)), {})
        never = said((4, 9, 0, 9), (6, 5, 2, 3), (7, 2), (8, 3, 1, 2), (10, 2))
        self.assertEqual(failed(found(never))[f"errors of {NAME}"], f"{NAME}:5: return -EINVAL;")

    def test_an_accepted_one_is_none(self):
        never = found(
            said(
                (4, 5, 0, 5),
                (5, 0),
                *[(number, 1) for number in range(20, 60)],
                (7, 2),
                (8, 3, 1, 2),
            )
        )
        self.assertEqual(failed(never, {(NAME, "return -EINVAL;"): "why"}), {})

    def test_an_accepted_line_or_function_does_not_count(self):
        few = found(said((4, 9, 4, 5), (5, 4), (6, 5, 2, 3), (7, 2), (8, 3, 1, 2), (10, 0)))
        self.assertIn(f"lines of {NAME}", failed(few))
        self.assertEqual(failed(few, {(NAME, "return 1;"): "why"}), {})
        other = found(GOOD, said((1, 0), (2, 0), function="g"))
        self.assertIn(f"lines of {NAME}", failed(other))
        self.assertEqual(failed(other, {(NAME, "g()"): "why"}), {})

    def test_an_accepted_function_that_was_executed_is_told(self):
        self.assertEqual(
            failed(found(GOOD), {(NAME, "f()"): "why"})["what is accepted is there"],
            f"{NAME}: f()",
        )

    def test_what_is_accepted_and_gone_is_told(self):
        self.assertEqual(
            failed(found(GOOD), {(NAME, "return -ENODEV;"): "why"})["what is accepted is there"],
            f"{NAME}: return -ENODEV;",
        )


class Accepted(unittest.TestCase):
    def test_a_line_is_read(self):
        self.assertEqual(
            coverage.accepted("# why\n\na.c | return x || y; | no\n", "x86"),
            {("a.c", "return x || y;"): "no"},
        )

    def test_a_line_may_be_for_one_architecture(self):
        line = "x86: a.c | return -EIO; | no\n"
        self.assertEqual(
            [list(coverage.accepted(line, name)) for name in ("x86", "arm64")],
            [[("a.c", "return -EIO;")], []],
        )

    def test_a_line_may_be_for_some_architectures(self):
        line = "x86, arm64: a.c | f() | no\n"
        self.assertEqual(
            [list(coverage.accepted(line, name)) for name in ("x86", "arm64", "riscv")],
            [[("a.c", "f()")], [("a.c", "f()")], []],
        )

    def test_a_bad_line_is_told(self):
        with self.assertRaises(Fail):
            coverage.accepted("a.c | return -EINVAL;\n", "x86")

    def test_the_list_can_be_read(self):
        for name in ("x86", "arm64"):
            for path, _ in coverage.accepted(coverage.ACCEPTED.read_text(), name):
                self.assertTrue((paths.ROOT / path).exists(), path)

    def test_the_files_are_there(self):
        for arch in ("x86", "arm64"):
            for name in coverage.files(arch):
                self.assertTrue((paths.ROOT / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
