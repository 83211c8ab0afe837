# SPDX-License-Identifier: GPL-2.0
"""The tables of what is expected: how they are read, and that each says what its parts are."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.errors import Fail  # noqa: E402
from textpoke.results import tables  # noqa: E402


class Rows(unittest.TestCase):
    def rows(self, text, **how):
        return list(tables.rows(Path("here"), "a | b | reason", text, **how))

    def test_parts_between_bars(self):
        text = "# why\n\na | b | c d\na || b | c|d | e\n"
        self.assertEqual(self.rows(text), [["a", "b", "c d"], ["a || b", "c|d", "e"]])

    def test_what_has_another_number_of_parts_or_an_empty_one_is_told(self):
        for text in "a | b", "a | b | c | d", "a |  | c", "a | b |":
            with self.assertRaisesRegex(Fail, "here:2 is not `a | b | reason`: correct it"):
                self.rows(f"# why\n{text}\n")
        self.assertEqual(self.rows("a | b\n", lengths=(2, 3)), [["a", "b"]])

    def test_no_file_is_no_rows(self):
        self.assertEqual(list(tables.rows(Path("/nowhere/list"), "a")), [])


class OurOwn(unittest.TestCase):
    def test_each_says_in_its_first_comment_what_its_parts_are(self):
        files = [path for path in sorted(tables.FOLDER.rglob("*")) if path.is_file()]
        self.assertGreater(len(files), 10)
        for path in files:
            first = re.match("(?:#.*\n)+", path.read_text())
            self.assertRegex(first[0] if first else "", r"`[^`]+ \| [^`]+`", path.name)


if __name__ == "__main__":
    unittest.main()
