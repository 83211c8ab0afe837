# SPDX-License-Identifier: GPL-2.0
"""What is made of a kernel's tables and calls; no kernel is read."""

import struct
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.code import calls  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED  # noqa: E402

BASE, FILE = 0xC000000000001000, 0x10
SYMBOLS = f"""\
{BASE:016x} 0000000000000020 T first
{BASE + 0x20:016x} 0000000000000010 t second
{BASE + 0x40:016x} D __start___jump_table
{BASE + 0x60:016x} D __stop___jump_table
{BASE + 0x60:016x} 0000000000000010 d names
{BASE + 0x70:016x} D __start_mcount_loc
{BASE + 0x78:016x} D __stop_mcount_loc
"""
SECTIONS = (
    f"  [ 2] .text             PROGBITS        {BASE:016x} {FILE:06x} 000100 00  AX  0   0 4096\n"
)
RELOCATIONS = "".join(
    f"{BASE + at:016x}  0000000000000016 R_PPC64_RELATIVE                          "
    f"{BASE + to - (1 << 64):x}\n"
    for at, to in ((0x60, 0x80), (0x68, 0x88), (0x70, 0x24), (0x78, 0))
)


def said(words, **_):
    """What binutils print."""
    return {"nm": SYMBOLS, "readelf": SECTIONS if "-SW" in words else RELOCATIONS}[words[0]]


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # Two keys, in the second function and in the first, and two names.
        table = struct.pack("<i12x", 0x28 - 0x40) + struct.pack("<i12x", 0x4 - 0x50)
        text = bytes(FILE + 0x40) + table + bytes(0x20) + b"one\0\0\0\0\0two\0"
        kdir = Path(folder.name)
        (kdir / "vmlinux").write_bytes(text)
        with mock.patch.object(calls, "output", said):
            self.image = calls.Image(kdir, "")

    def test_tables_of_distances(self):
        self.assertEqual(
            list(self.image.distances("__jump_table", calls.KEY)), [BASE + 0x28, BASE + 0x4]
        )
        self.assertEqual(self.image.keyed(), {"first", "second"})

    def test_tables_of_pointers(self):
        self.assertEqual(self.image.pointers("mcount_loc"), [BASE + 0x24])
        self.assertEqual(self.image.function(BASE + 0x24), "second")

    def test_strings(self):
        self.assertEqual(list(self.image.strings("names")), ["one", "two"])

    def test_ranges(self):
        self.assertEqual(self.image.within("first", "second"), {"first"})
        self.assertEqual(self.image.within("first", "no_such_symbol"), set())

    def test_a_relocation_of_arm64(self):
        line = (
            "ffff8000804d8cc8  0000000000000403 R_AARCH64_RELATIVE                        "
            "-7fff7fb23000"
        )
        match = calls.RELOCATED.match(line)
        self.assertEqual((match["at"], match["value"]), ("ffff8000804d8cc8", "-7fff7fb23000"))

    def test_a_section_that_is_data(self):
        line = (
            "  [13] __jump_table      PROGBITS        ffff8000806b3000 6c3000 000014 00   A  0"
            "   0  4"
        )
        self.assertEqual(
            calls.SECTION.match(line).groups(), ("ffff8000806b3000", "6c3000", "000014")
        )


class Following(unittest.TestCase):
    CALLS = {"a": {"b", "x"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}

    def test_all_that_is_reached(self):
        found = calls.reached(self.CALLS, {"a"}, [])
        self.assertEqual(found, {"a": None, "b": "a", "x": "a", "c": "b"})
        self.assertEqual(calls.chain("c", found), "c <- b <- a")

    def test_what_is_accepted_is_not_followed(self):
        self.assertEqual(set(calls.reached(self.CALLS, {"a"}, [("a", "b*")])), {"a", "x"})
        self.assertEqual(set(calls.reached(self.CALLS, {"a"}, [("b", "b")])), {"a", "b", "c", "x"})

    def test_what_ends_it(self):
        self.assertEqual(set(calls.reached(self.CALLS, {"a"}, [], {"b"})), {"a", "b", "x"})

    def test_what_is_accepted_and_not_there(self):
        found = calls.reached(self.CALLS, {"a"}, [])
        self.assertEqual(calls.unused(self.CALLS, found, [("a", "b"), ("d", "a")]), {"a by d"})
        self.assertEqual(calls.unused(self.CALLS, found, [("out", "a")], [("out", "a")]), set())

    def test_what_is_wrong_is_named_and_not_without_end(self):
        result = calls.judged("x", [f"f{number}" for number in range(calls.MANY + 3)])
        self.assertEqual(result.status, FAILED)
        self.assertTrue(result.note.endswith(f"f{calls.MANY - 1}; and 3 more"))
        self.assertEqual(calls.judged("x", {"b", "a"}).note, "a; b")
        self.assertEqual(calls.judged("x", set()).status, PASSED)


if __name__ == "__main__":
    unittest.main()
