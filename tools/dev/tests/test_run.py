# SPDX-License-Identifier: GPL-2.0
"""What `make run` prints and how it ends."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.code import disasm  # noqa: E402
from textpoke.errors import OK, TEST_FAILED  # noqa: E402
from textpoke.records import run  # noqa: E402
from textpoke.records.replay import Poke, Result  # noqa: E402

ARM64 = disasm.MACHINES["arm64"]
NOP = bytes.fromhex("1f2003d5")
KALLSYMS = (
    "ffff800080010000 T _stext",
    "ffff800080010100 t foo",
    "ffff800080010200 T ftrace_caller",
    "ffff800080010180 d data",
)
# As aarch64's objdump prints a file of three slots: b +20, nop, bl -8.
OBJDUMP = """\
   0:\tb\t0x14
   4:\tudf\t#0
  10:\tnop
  20:\tbl\t0x18
"""


class Disassembly(unittest.TestCase):
    def setUp(self):
        self.codes = [bytes.fromhex("05000014"), NOP, bytes.fromhex("feffff97")]
        self.symbols = disasm.Symbols(KALLSYMS)
        self.shown = disasm.parse(OBJDUMP.splitlines(), self.codes, ARM64)

    def show(self, i, addr=0xFFFF800080010104):
        return disasm.show(self.shown[self.codes[i]], addr, self.symbols)

    def test_addresses_of_what_has_one(self):
        lines = [*KALLSYMS[:2], "                 U elsewhere", "                 w or_nowhere", ""]
        wanted = {"_stext": 0xFFFF800080010000, "foo": 0xFFFF800080010100}
        self.assertEqual(disasm.addresses(lines), wanted)

    def test_targets_move_with_the_address(self):
        self.assertEqual([self.show(i) for i in range(3)], ["b foo+0x18", "nop", "bl _stext+0xfc"])
        self.assertEqual(self.show(2, 0xFFFF800080010208), "bl ftrace_caller")

    def test_calls_are_told_from_branches(self):
        self.assertEqual([self.shown[code].call for code in self.codes], [False, False, True])

    def test_data_is_told_from_instructions(self):
        pointer = 0xFFFF800080010184.to_bytes(8, "little")
        shown = disasm.disassemble([pointer, b"", b"x" * 40], "arm64")
        self.assertEqual(disasm.show(shown[b""], 0, self.symbols), "nothing")
        self.assertEqual(disasm.show(shown[b"x" * 40], 0, self.symbols), "40 bytes")
        self.assertEqual(disasm.show(shown[pointer], 0, self.symbols), "data+0x4")

    def test_a_target_before_the_file(self):
        text = disasm.parse(["   0:\tbl\t0xfffffffffffffff8"], [NOP], ARM64)
        self.assertEqual(text[NOP].distance, -8)


class Verdict(unittest.TestCase):
    good = {"records": 10, "sites": 5, "changed": 20}
    grown = {"pokes": 10, "batches": 1, "syncs": 3, "traps": 2}

    def verdict(self, base=False, grown=grown, calls=("call",), **fields):
        return run.verdict(Result(**(self.good | fields)), grown, calls, base)[1]

    def test_complete(self):
        self.assertEqual(self.verdict(), OK)
        self.assertEqual(self.verdict(grown={}), OK)

    def test_each_fault_counts(self):
        for fault in ("lost", "breaks", "outside_breaks", "unsettled", "forwards", "backwards"):
            self.assertEqual(self.verdict(**{fault: 1}), TEST_FAILED, fault)
        self.assertEqual(self.verdict(changed=0), TEST_FAILED)
        self.assertEqual(self.verdict(grown=self.grown | {"traps": 0}), TEST_FAILED)
        self.assertEqual(self.verdict(calls=()), TEST_FAILED)

    def test_nothing_recorded_is_what_the_base_shows(self):
        nothing = {"records": 0, "forwards": 20, "backwards": 20}
        self.assertEqual(self.verdict(**nothing), TEST_FAILED)
        self.assertEqual(self.verdict(base=True, **nothing), OK)
        self.assertEqual(self.verdict(base=True, forwards=20), TEST_FAILED)


class Listing(unittest.TestCase):
    def test_few_of_many_calls_and_every_branch(self):
        bl, branch = bytes.fromhex("feffff97"), bytes.fromhex("05000014")
        listing = run.Listing.__new__(run.Listing)
        listing.symbols = disasm.Symbols(KALLSYMS)
        listing.shown = disasm.parse(OBJDUMP.splitlines(), [branch, NOP, bl], ARM64)
        base = 0xFFFF800080010000
        listing.pokes = [Poke(i, base + 4 * i, NOP, bl, f"f{i}") for i in range(100)]
        listing.pokes += [
            Poke(200 + i, base + 0x1000 + 4 * (i % 20), NOP, branch) for i in range(40)
        ]
        text = listing.brief()
        self.assertEqual(sum("<-> b " in line for line in text), 20)
        self.assertEqual(sum("-> bl " in line for line in text), 2 * run.SHOWN)
        self.assertIn("  ... 90 more ...", text)


if __name__ == "__main__":
    unittest.main()
