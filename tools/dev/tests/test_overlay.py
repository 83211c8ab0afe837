# SPDX-License-Identifier: GPL-2.0
"""The overlay: where it lies, where it does not, and that it is told when it does not fit."""

import unittest
from unittest import mock

from textpoke import errors
from textpoke.checks import gates, mutants
from textpoke.results import made
from textpoke.series import mails, overlay, patches, series
from tests.test_series import (  # noqa: F401  pylint: disable=unused-import
    Case,
    contents,
    setUpModule,
    write_tree,
)

TOP = overlay.FOLDER + "/"
CORE = TOP + "kernel/text_poke/core.c.patch"
DIFF = """--- a/kernel/text_poke/core.c
+++ b/kernel/text_poke/core.c
@@ -1 +1,2 @@
 int core;
+int broken;
"""
LAID = {
    "kernel/text_poke/core.c": "int core;\nint broken;\n",
    "kernel/text_poke/busted.c": "int busted;\n",
}


class Overlay(Case):
    """A series of three with an overlay of a diff and a file."""

    def setUp(self):
        super().setUp()
        self.three()
        write_tree(self.root, {CORE: DIFF, TOP + "kernel/text_poke/busted.c": "int busted;\n"})

    def test_it_lies_over_the_series_where_kernels_are_built(self):
        src = series.source_tree()
        for path, text in LAID.items():
            self.assertEqual((src / path).read_text(), text)
        self.assertEqual((self.root / "kernel/text_poke/core.c").read_text(), "int core;\n")

    def test_it_is_no_part_of_the_series(self):
        series.tree()
        self.assertEqual((self.tree / "kernel/text_poke/core.c").read_text(), "int core;\n")
        self.assertFalse((self.tree / "kernel/text_poke/busted.c").exists())
        self.assertNotIn(
            b"broken", b"".join(data for _, data in contents(mails.write_series()).values())
        )
        self.identity()

    def test_a_part_of_the_series_does_without(self):
        src, _ = series.source_after(1)
        self.assertEqual((src / "kernel/text_poke/core.c").read_text(), "int core;\n")
        self.assertFalse((src / "kernel/text_poke/busted.c").exists())

    def test_a_change_of_it_is_a_change_of_the_source(self):
        src = series.source_tree()
        before = (src / "kernel/a.c").stat().st_mtime_ns
        write_tree(self.root, {CORE: DIFF.replace("broken", "very_broken")})
        series.source_tree()
        self.assertIn("very_broken", (src / "kernel/text_poke/core.c").read_text())
        self.assertEqual((src / "kernel/a.c").stat().st_mtime_ns, before)

    def test_what_is_made_from_it_is_made_again(self):
        nothing = dict.fromkeys(("base", "packages", "programs", "configuration"), lambda *_: [])
        with mock.patch.multiple(made, **nothing):
            before = made.digest(made.architecture("x86"))
            self.assertEqual(made.digest(made.architecture("x86")), before)
            write_tree(self.root, {CORE: DIFF.replace("broken", "very_broken")})
            self.assertNotEqual(made.digest(made.architecture("x86")), before)

    def test_what_it_no_longer_has_is_gone(self):
        src = series.source_tree()
        (self.root / TOP / "kernel/text_poke/busted.c").unlink()
        (self.root / CORE).unlink()
        series.source_tree()
        self.assertFalse((src / "kernel/text_poke/busted.c").exists())
        self.assertEqual((src / "kernel/text_poke/core.c").read_text(), "int core;\n")

    def test_it_fits_wherever_its_lines_are(self):
        write_tree(self.root, {"kernel/text_poke/core.c": "int more;\nint core;\n"})
        write_tree(self.root, {CORE: DIFF.replace("-1 +1,2", "-2 +2,2")})
        gates.overlay_fits()

    def test_without_fuzz(self):
        write_tree(self.root, {"kernel/text_poke/core.c": "int core_2;\n"})
        for what in (gates.overlay_fits, series.source_tree):
            self.refused(what, CORE, "does not apply to kernel/text_poke/core.c", "near line 1")

    def test_diffs_are_of_one_file_of_the_series(self):
        for path, text, words in (
            (
                CORE,
                DIFF.replace("+++ b/kernel/text_poke/core.c", "+++ b/kernel/text_poke/c.c"),
                "is no diff of",
            ),
            (CORE, DIFF + DIFF.replace("core.c", "b.c"), "is no diff of"),
            (
                TOP + "kernel/a.c.patch",
                DIFF.replace("text_poke/core.c", "a.c"),
                "which the series does not add",
            ),
            (TOP + "kernel/text_poke/core.c", "int x;\n", "is a file of the series"),
        ):
            with self.subTest(path=path, words=words):
                write_tree(self.root, {path: text})
                self.refused(lambda: overlay.check_names(patches.kept()), path, words)
                (self.root / path).unlink()
                write_tree(self.root, {CORE: DIFF})

    def test_it_adds_no_file_of_upstreams(self):
        write_tree(self.root, {TOP + "kernel/b.c": "int x;\n"})
        self.refused(gates.overlay_fits, "kernel/b.c is upstream's", code=errors.TEST_FAILED)

    def test_a_trace_of_it_in_the_series_is_told(self):
        gates.overlay_is_apart()
        write_tree(self.root, {"kernel/text_poke/core.c": "int core;\nif (busted(THIS))\n"})
        self.refused(
            gates.overlay_is_apart, "kernel/text_poke/core.c has `busted`", code=errors.TEST_FAILED
        )

    def test_a_trace_of_it_in_a_hunk_is_told(self):
        path = patches.files()[0]
        patches.write(path, patches.read(path).replace("+long line_5;", "+long busted_5;"))
        self.refused(gates.overlay_is_apart, "has `busted_5`", code=errors.TEST_FAILED)


class OurOwn(unittest.TestCase):
    def test_what_is_there_is_a_step_of_the_table(self):
        used = set()
        for path, file in overlay.files().items():
            if not path.endswith("/busted.h"):
                used |= set(overlay.re.findall(r"\bbusted\((\w+)\)", file.read_text()))
        names = {mutant.name for mutant in mutants.parse(mutants.TABLE.read_text())}
        self.assertGreater(len(used), 50)
        self.assertLessEqual(used, names)


if __name__ == "__main__":
    unittest.main()
