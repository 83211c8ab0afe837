# SPDX-License-Identifier: GPL-2.0
"""What the commands take, and what they say to other words."""

import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import arch as arches  # noqa: E402
from textpoke import cli, errors, paths  # noqa: E402


class Commands(unittest.TestCase):
    def main(self, *words, **env):
        with mock.patch.dict(os.environ, env), contextlib.redirect_stderr(
            io.StringIO()
        ) as said, contextlib.redirect_stdout(io.StringIO()) as out:
            code = cli.main(list(words))
        return code, said.getvalue(), out.getvalue()

    def usage(self, *words, says, **env):
        code, said, _ = self.main(*words, **env)
        self.assertEqual(code, errors.USAGE)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn(says, said)

    def test_help_names_every_command_and_option(self):
        code, _, out = self.main("help")
        self.assertEqual(code, 0)
        for word in (*cli.COMMANDS, *cli.VARIABLES, "Error N"):
            self.assertIn(word, out)

    def test_the_makefile_has_the_same_commands(self):
        text = (paths.DEV.parent.parent / "Makefile").read_text().replace("\\\n", " ")
        listed = re.search(r"^COMMANDS := (.*)$", text, re.M)[1].split()
        self.assertEqual(sorted(listed), sorted(cli.COMMANDS))

    def test_wrong_usage_is_one_sentence(self):
        self.usage("frobnicate", says="frobnicate is no command")
        self.usage("boot", "ARCH=sparc", says="ARCH=sparc")
        self.usage("boot", "ACRH=x86", says="ACRH is no option")
        self.usage("tree", "ARCH=x86", says="ARCH means nothing to tree")
        self.usage("boot", "x86", says="x86 is not NAME=value")
        self.usage("boot", says="ARCH=vax", ARCH="vax")
        self.usage("kernel", "LLVM=yes", says="LLVM=yes")
        self.usage("apply", says="KERNEL=")
        self.usage("apply", "KERNEL=~nobody-of-that-name/linux", says="is not a folder")
        self.usage("boot", "SMP=x", says="SMP=x")
        self.usage("boot", "INITRD=/nowhere", says="INITRD=/nowhere is not a file")
        self.usage("shell", "QEMU_ARGS='", says="QEMU_ARGS cannot be split")
        self.usage(
            "mutants",
            "ONLY=no-such-mutant",
            says="ONLY=no-such-mutant matches none of the mutants: ",
        )

    def test_an_architecture_without_a_backend_is_refused(self):
        bare = replace(arches.get("powerpc"), has_backend=False)
        with mock.patch.dict(arches.ARCHES, powerpc=bare):
            self.usage("kunit", "ARCH=powerpc", says="ARCH=powerpc does not have yet: use x86, ")

    def test_what_make_was_given_is_checked_too(self):
        self.usage("boot", says="ACRH is no option", MAKEFLAGS="rR -- APPEND=a\\ b=c ACRH=x86")
        with mock.patch.dict(
            os.environ,
            {"MAKEFLAGS": "rR -- APPEND=a\\ b=c ARCH=x86", "ARCH": "x86", "APPEND": "a b=c"},
        ):
            _, options = cli.parse(["boot"])
        self.assertEqual((options.arch, options.get("APPEND")), ("x86", "a b=c"))

    def test_words_win_over_the_environment(self):
        with mock.patch.dict(os.environ, {"ARCH": "x86", "SMP": "4"}):
            _, options = cli.parse(["boot", "ARCH=riscv", "TIMEOUT="])
        self.assertEqual(
            (options.arch, options.number("SMP"), options.number("TIMEOUT", 9)), ("riscv", 4, 9)
        )
        self.assertRaises(errors.Fail, cli.Options({"SMP": "0"}).number, "SMP")
        self.assertRaises(errors.Fail, cli.Options({"SMP": "two"}).number, "SMP")

    def test_the_system_s_errors_are_sentences(self):
        for number, code in ((28, errors.INFRA), (13, errors.MISSING)):
            with mock.patch.dict(
                cli.COMMANDS,
                {"gates": cli.Command("", "", mock.Mock(side_effect=OSError(number, "x", "f")))},
            ):
                status, said, _ = self.main("gates")
            self.assertEqual((status, len(said.splitlines())), (code, 1))

    def test_what_nobody_expected_is_no_failed_test(self):
        with mock.patch.dict(
            cli.COMMANDS, {"gates": cli.Command("", "", mock.Mock(side_effect=RuntimeError("x")))}
        ):
            status, said, _ = self.main("gates")
        self.assertEqual(status, errors.INFRA)
        self.assertIn("RuntimeError: x", said)

    def test_make_hands_over_code_and_options(self):
        root = paths.DEV.parent.parent
        done = subprocess.run(
            ["make", "-C", root, "boot", "ARCH=sparc"], capture_output=True, text=True, check=False
        )
        self.assertIn("ARCH=sparc is not known", done.stderr)
        self.assertIn("Error 2", done.stderr)
        done = subprocess.run(
            ["make", "-C", root, "nothing"], capture_output=True, text=True, check=False
        )
        self.assertIn("nothing is no command", done.stderr)


if __name__ == "__main__":
    unittest.main()
