# SPDX-License-Identifier: GPL-2.0
"""Keys in text that runs while a CPU counts as in user mode: found, and held against a list."""

import struct
import unittest
from pathlib import Path
from unittest import mock

from textpoke import arch
from textpoke.code import unwatched
from textpoke.results.ktap import FAILED, PASSED

TEXT, NOINSTR, ENTRY, KEYS, JUMPS, CALLS = (
    0xFFFF0000_00000000 + n for n in range(0, 0x6000, 0x1000)
)
SYMBOLS = {
    "_text": TEXT,
    "__noinstr_text_start": NOINSTR,
    "__noinstr_text_end": NOINSTR + 0x100,
    "__entry_text_start": ENTRY,
    "__entry_text_end": ENTRY + 0x100,
    "one": KEYS,
    "two": KEYS + 0x10,
    "three": KEYS + 0x20,
}


def jumps(*sites, at=JUMPS):
    """A table of static keys: of each site where it is, and its key."""
    found = b""
    for site, key in sites:
        here = at + len(found)
        found += struct.pack("<iiq", site - here, 0, key + 3 - here - 8)
    return found


def calls(*sites, at=CALLS):
    """A table of static calls."""
    found = b""
    for site, key in sites:
        here = at + len(found)
        found += struct.pack("<ii", site - here, key + 2 - here - 4)
    return found


class Keys(unittest.TestCase):
    def keys(self, of_jumps, of_calls=None):
        """What is found in a kernel with these tables."""
        tables = {JUMPS: of_jumps} | ({CALLS: of_calls} if of_calls is not None else {})
        symbols = SYMBOLS | {
            "__start___jump_table": JUMPS,
            "__stop___jump_table": JUMPS + len(of_jumps),
        }
        if of_calls is not None:
            symbols |= {
                "__start_static_call_sites": CALLS,
                "__stop_static_call_sites": CALLS + len(of_calls),
            }

        def output(words):
            if words[0].endswith("nm"):
                return "".join(f"{addr:016x} T {name}\n" for name, addr in symbols.items())
            start = int(words[2].partition("=")[2], 16)
            data, lines = tables[start], [
                "\nvmlinux:     file format elf64\n\nContents of section x:\n"
            ]
            for at in range(0, len(data), 16):
                row = data[at : at + 16].hex()
                cut = " ".join(row[i : i + 8] for i in range(0, len(row), 8))
                lines.append(f" {start + at:x} {cut:35}  ................\n")
            return "".join(lines)

        with mock.patch.object(unwatched, "output", output):
            return unwatched.keys("x86", Path("k"))

    def test_sites_in_ordinary_text_do_not_count(self):
        self.assertEqual(
            self.keys(jumps((TEXT, KEYS), (NOINSTR + 0x100, KEYS), (NOINSTR - 4, KEYS))), set()
        )

    def test_sites_in_noinstr_and_in_entry_text_do(self):
        found = self.keys(jumps((TEXT, KEYS), (NOINSTR, KEYS), (ENTRY + 0xFF, KEYS + 0x18)))
        self.assertEqual(found, {"one", "two"})

    def test_so_do_static_calls(self):
        self.assertEqual(
            self.keys(jumps(), calls((TEXT, KEYS), (NOINSTR + 8, KEYS + 0x20))), {"three"}
        )


class List(unittest.TestCase):
    def result(self, has):
        with (
            mock.patch.object(unwatched, "keys", lambda *_: set(has)),
            mock.patch.object(unwatched, "listed", lambda *_: {"one", "two"}),
        ):
            return unwatched.result("x86", Path("k"))

    def test_what_is_known_passes(self):
        self.assertEqual(self.result(["two", "one"]).status, PASSED)

    def test_another_key_and_one_that_has_gone_do_not(self):
        for has, word in ((["one", "two", "three"], "three"), (["one"], "two")):
            with self.subTest(has):
                self.assertEqual(self.result(has).status, FAILED)
                self.assertIn(word, self.result(has).note)

    def test_each_architecture_has_reasons(self):
        for name, each in arch.ARCHES.items():
            self.assertEqual(bool(unwatched.listed(name)), each.isolates, name)


if __name__ == "__main__":
    unittest.main()
