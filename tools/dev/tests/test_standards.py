# SPDX-License-Identifier: GPL-2.0
"""How these tools are written: that each standard bites, and what is said where one cannot."""

import contextlib
import io
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import errors, host, paths  # noqa: E402
from textpoke.checks import gates  # noqa: E402
from textpoke.code import standards  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED, Result  # noqa: E402

PYTHON = "tools/dev/textpoke/one.py"
SHELL = "tools/dev/guest/one.sh"
GOOD = {
    PYTHON: "def add(a: int, b: int) -> int:\n    return a + b\n",
    "tools/dev/tests/test_one.py": 'A = "\ttab"\n',
    "tools/dev/tp": "#!/bin/sh\n" '""":"\nexec python3 "$0" "$@"\n"""\nprint()\n',
    SHELL: '#!/bin/sh\nlocal_one()\n{\n\tlocal one="$1"\n\techo "$one"\n}\nlocal_one "$@"\n',
    "build/one.sh": "echo $1\n",
}
BLACK, FLAKE8, MYPY, SHELLCHECK = standards.STANDARDS


class Case(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(paths, "LOGS", self.top / "build/log"))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        for name, text in GOOD.items():
            self.write(name, text)
        for name in ("pyproject.toml", ".flake8"):
            shutil.copy(paths.DEV / name, self.top / "tools/dev" / name)

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Bites(Case):
    """With the programs themselves."""

    def judged(self, standard):
        if lacking := host.missing(standard.program):
            self.skipTest(f"no {lacking[0]}")
        result = standards.judged(standard, self.top)
        if result.status == SKIPPED:
            self.skipTest(result.note)
        return result

    def bites(self, standard, name, text, *said):
        self.assertEqual(self.judged(standard), Result(standard.name, PASSED))
        self.write(name, text)
        result = self.judged(standard)
        self.assertEqual(result.status, FAILED)
        for words in said:
            self.assertIn(words, result.note)

    def test_a_format(self):
        self.bites(BLACK, PYTHON, "A = {'a':1}\n", "would reformat tools/dev/textpoke/one.py")

    def test_the_format_of_tp(self):
        self.bites(BLACK, "tools/dev/tp", "print( )\n", "would reformat tp;")

    def test_a_name_that_nothing_uses(self):
        self.bites(FLAKE8, PYTHON, "import os\n", "textpoke/one.py:1:1: F401")

    def test_a_wide_line(self):
        text = f'A = "{"x" * 94}"\n'
        self.assertEqual(len(text.rstrip()), 100)
        self.write(PYTHON, text)
        self.bites(FLAKE8, PYTHON, f'A = "{"x" * 95}"\n', "textpoke/one.py:1:101: E501")

    def test_a_type(self):
        self.bites(MYPY, PYTHON, 'def one() -> int:\n    return ""\n', "one.py:2: error:")

    def test_a_type_in_a_function_without_types(self):
        self.bites(MYPY, PYTHON, 'def one():\n    return 1 + ""\n', "one.py:2: error:")

    def test_a_word_that_may_be_several(self):
        self.bites(SHELLCHECK, SHELL, "#!/bin/sh\necho $1\n", f"{SHELL}:2:6: note:", "[SC2086]")

    def test_a_shell_that_guests_do_not_have(self):
        self.bites(SHELLCHECK, ".ci/run", '#!/bin/sh\n[[ "$1" = a ]]\n', ".ci/run:2:1:", "[SC3010]")

    def test_a_wide_line_of_shell(self):
        self.write(SHELL, f"#!/bin/sh\n\techo {'x' * 87}\n")
        self.bites(SHELLCHECK, SHELL, f"#!/bin/sh\n\techo {'x' * 88}\n", f"{SHELL}:2: is wider")


class Scripts(Case):
    def test_scripts_are_told_by_their_name_or_first_line(self):
        self.write(".ci/run", "#!/bin/sh\n")
        self.write("tools/dev/other", "#!/bin/shell\n")
        self.assertEqual(standards.scripts(self.top), [".ci/run", SHELL])

    def test_those_of_this_repository(self):
        found = standards.scripts(paths.DEV.parent.parent)
        self.assertIn("tools/dev/guest/init", found)
        self.assertIn("tools/dev/guest/textpoke.sh", found)
        self.assertIn("tools/testing/selftests/text_poke/counters.sh", found)
        self.assertIn(".ci/run", found)


class Lacking(Case):
    """None of the programs is run."""

    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.object(standards, "run", side_effect=AssertionError))

    def test_a_program_that_is_not_there(self):
        with (
            mock.patch.object(host, "missing", lambda *names: list(names)),
            mock.patch.object(host, "is_debian", lambda: True),
            mock.patch("os.geteuid", lambda: 1000),
        ):
            found = list(standards.results(self.top))
        self.assertEqual([each.status for each in found], [FAILED] * 4)
        for each, program in zip(found, host.STANDARDS, strict=True):
            self.assertIn(f"missing packages ({program}): run `sudo make setup`", each.note)

    def test_another_version_is_no_pass(self):
        with (
            mock.patch.object(host, "need"),
            mock.patch.object(standards, "output", lambda _: "black, 25.1.0 (compiled: no)\n"),
        ):
            result = standards.judged(BLACK, self.top)
        self.assertEqual(
            result, Result(BLACK.name, SKIPPED, "black is 25.1.0 here, which is to be 23.*")
        )


class Gates(unittest.TestCase):
    def test_they_are_among_the_gates(self):
        results = [
            Result("a", PASSED),
            Result("b", SKIPPED, "why"),
            Result("c", FAILED, "what"),
        ]
        with (
            mock.patch.object(gates, "GATES", [("series", lambda: None)]),
            mock.patch.object(gates.standards, "results", lambda: results),
            mock.patch.object(gates.suites, "fits", lambda: [Result("newest", PASSED)]),
            mock.patch.object(host, "need"),
            mock.patch.object(
                paths, "LOGS", Path(self.enterContext(tempfile.TemporaryDirectory()))
            ),
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            self.assertEqual(gates.main(None), errors.TEST_FAILED)
        self.assertEqual(
            out.getvalue().splitlines()[:5],
            ["ok series: series", "ok newest", "ok a", "skip b (why)", "not ok c (what)"],
        )


if __name__ == "__main__":
    unittest.main()
