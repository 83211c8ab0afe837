# SPDX-License-Identifier: GPL-2.0
"""What a source is without what can be switched off, and how it is compiled again."""

import unittest
from pathlib import Path
from unittest import mock

from textpoke import paths
from textpoke.code import offcost
from textpoke.errors import Fail
from textpoke.results.ktap import PASSED


class Without(unittest.TestCase):
    def test_a_question_is_answered(self):
        self.assertEqual(offcost.without("if (is_replaced(warn))"), "if (0)")
        self.assertEqual(offcost.without("if (text_poke_should_fail(POINT))"), "if (0)")

    def test_a_hook_is_nothing(self):
        self.assertEqual(
            offcost.without("\ttext_poke_check_store(&batch.sites[at(i)], what);"), "\t((void)0);"
        )

    def test_lines_stay_where_they_are(self):
        text = "a(text_poke_check_store(one,\n\ttwo), is_replaced(X));\nb();"
        self.assertEqual(offcost.without(text), "a(((void)0)\n, 0);\nb();")

    def test_what_a_test_replaces_is_called(self):
        self.assertEqual(
            offcost.without("return text_poke_store(f(x),\n\ty);"),
            "return arch_text_poke_store(f(x),\n\ty);",
        )

    def test_what_only_sounds_alike_stays(self):
        for text in (
            "not_is_replaced(X)",
            "is_replaced = 1",
            "text_poke_checks(1)",
            "arch_text_poke_store(1)",
        ):
            self.assertEqual(offcost.without(text), text)


class Symbols(unittest.TestCase):
    CODE = [
        "0000000000000000 <f>:",
        "   0:\tcall   5 <f+0x5>",
        "\t\t\t1: R_X86_64_PLT32\ttext_poke_rest-0x4",
        "\t\t\t6f9: R_X86_64_PC32\ttext_poke_stats+0x2c",
        "\t\t\t8: R_X86_64_32S\t.rodata+0x20",
        "  5c: R_RISCV_BRANCH\t.L12",
    ]

    def test_only_names_count(self):
        self.assertEqual(offcost.symbols(self.CODE), {"text_poke_rest", "text_poke_stats"})

    def compared(self, codes):
        with mock.patch.object(offcost, "_instructions", side_effect=codes), mock.patch.object(
            offcost.series, "source_tree", lambda: paths.ROOT
        ):
            return offcost.compare("kernel/text_poke/trap.c", Path("x"), None)

    def test_what_is_left_is_told(self):
        more = [*self.CODE, "   9: R_X86_64_PC32\ttext_poke_busted_step-0x4"]
        self.assertEqual(
            self.compared([self.CODE, self.CODE, [*self.CODE, "   a:\tnop"]]).status, PASSED
        )
        self.assertIn("text_poke_busted_step", self.compared([self.CODE, self.CODE, more]).note)
        self.assertIn("without is_replaced", self.compared([more, self.CODE, more]).note)


class Command(unittest.TestCase):
    LINE = (
        "savedcmd_a/b.o := ccache gcc -Wp,-MMD,a/.b.o.d -O2 -DX='\"b\"' -c -o a/b.o src/b.c  ; "
        "./tools/objtool b.o"
    )

    def test_only_source_and_object_are_others(self):
        words = offcost.command(self.LINE, "new.c", "out.o")
        self.assertEqual(words, ["ccache", "gcc", "-O2", '-DX="b"', "-c", "-o", "out.o", "new.c"])

    def test_another_line_is_refused(self):
        with self.assertRaisesRegex(Fail, "writes its commands down"):
            offcost.command("deps_a/b.o := x", "new.c", "out.o")


if __name__ == "__main__":
    unittest.main()
