# SPDX-License-Identifier: GPL-2.0
"""The replay on the host: exact for true records, and never fooled by damaged ones."""

import dataclasses
import io
import random
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.records import replay  # noqa: E402
from textpoke.records.replay import Poke, Text  # noqa: E402

BASE = 0xFFFF800080010000
NOP = bytes.fromhex("1f2003d5")


def branch(n):
    return struct.pack("<I", 0x14000000 | n)


class Kernel:
    """A made-up kernel that pokes its text and tells the truth about it."""

    def __init__(self, sites=200, seed=7):
        self.random = random.Random(seed)
        self.data = bytearray(NOP * sites)
        self.pokes = []
        self.start = Text(BASE, bytes(self.data))

    def poke(self, time):
        at = 4 * self.random.randrange(len(self.data) // 4)
        old = bytes(self.data[at : at + 4])
        new = NOP if old != NOP else branch(1 + self.random.randrange(1000))
        self.data[at : at + 4] = new
        self.pokes.append(Poke(time, BASE + at, old, new))

    def run(self, count=1000):
        for time in range(1000, 1000 + count):
            self.poke(time)
        return self

    @property
    def end(self):
        return Text(BASE, bytes(self.data))

    def judge(self, pokes=None, **times):
        when = {"workload_began": 0, "end_began": 10**6, "end_ended": 10**6 + 1} | times
        return replay.judge(self.start, self.end, self.pokes if pokes is None else pokes, 0, **when)


class TrueRecords(unittest.TestCase):
    def test_replay_exactly(self):
        result = Kernel().run().judge()
        self.assertTrue(result.exact)
        self.assertEqual(result.records, 1000)
        self.assertGreater(result.changed, 0)

    def test_settle_while_the_copy_is_made(self):
        kernel = Kernel().run(50)
        copied = kernel.end
        before = kernel.start
        half = Text(BASE, before.data[:400] + copied.data[400:])
        kernel.run(500)
        kernel.pokes = [dataclasses.replace(p, time=i) for i, p in enumerate(kernel.pokes)]
        for kernel.start in (before, copied, half):
            self.assertTrue(kernel.judge(workload_began=50).exact)

    def test_settle_while_the_end_is_read(self):
        kernel = Kernel().run(300)
        early = kernel.end
        kernel.poke(5000)
        for end in (early, kernel.end):
            result = replay.judge(kernel.start, end, kernel.pokes, 0, 0, 4000, 6000)
            self.assertTrue(result.exact)

    def test_records_after_the_end_do_not_count(self):
        kernel = Kernel().run(100)
        end = kernel.end
        kernel.poke(9000)
        self.assertTrue(replay.judge(kernel.start, end, kernel.pokes, 0, 0, 4000, 6000).exact)


class DamagedRecords(unittest.TestCase):
    def setUp(self):
        self.kernel = Kernel().run()
        self.random = random.Random(3)

    def notices(self, pokes):
        result = self.kernel.judge(pokes)
        self.assertFalse(result.exact)
        return result

    def test_dropped(self):
        for _ in range(40):
            pokes = list(self.kernel.pokes)
            pokes.pop(self.random.randrange(len(pokes)))
            self.notices(pokes)

    def test_swapped_on_one_site(self):
        for _ in range(40):
            pokes = list(self.kernel.pokes)
            i = self.random.randrange(len(pokes) // 2)
            later = [j for j in range(i + 1, len(pokes)) if pokes[j].addr == pokes[i].addr]
            if later:
                pokes[i], pokes[later[0]] = pokes[later[0]], pokes[i]
                self.notices(pokes)

    def test_flipped(self):
        for _ in range(40):
            pokes = list(self.kernel.pokes)
            i = self.random.randrange(len(pokes))
            which = self.random.choice(("old", "new"))
            data = bytearray(getattr(pokes[i], which))
            data[self.random.randrange(4)] ^= 1 << self.random.randrange(8)
            pokes[i] = dataclasses.replace(pokes[i], **{which: bytes(data)})
            self.notices(pokes)

    def test_all_dropped(self):
        result = self.notices([])
        self.assertEqual(result.forwards, result.changed)

    def test_a_copy_that_no_early_record_explains(self):
        kernel = Kernel().run(100)
        data = bytearray(kernel.start.data)
        at = kernel.pokes[0].addr - BASE
        data[at : at + 4] = b"\xff" * 4
        kernel.start = Text(BASE, bytes(data))
        self.assertGreater(kernel.judge(workload_began=2000).unsettled, 0)

    def test_text_that_appears_from_nowhere(self):
        poke = self.kernel.pokes[0]
        self.notices([dataclasses.replace(poke, old=b"")] + self.kernel.pokes[1:])


class OutsideText(unittest.TestCase):
    def judge(self, *pokes):
        text = Text(BASE, NOP)
        pokes = [Poke(i, 0x1000, old, new) for i, (old, new) in enumerate(pokes)]
        return replay.judge(text, text, pokes, 0, 0, 100, 101)

    def test_known_from_the_first_record(self):
        result = self.judge((b"", b"ab"), (b"ab", b"cd"), (b"cd", b""), (b"", b"xy"))
        self.assertTrue(result.exact)
        self.assertEqual(result.outside, 4)

    def test_break(self):
        self.assertGreater(self.judge((b"", b"ab"), (b"xx", b"cd")).outside_breaks, 0)


SCRIPT = """\
              sh   77 [001]    12.000000345: PERF_RECORD_TEXT_POKE ffff800080010004 do_one+0x4 \
old len 4 new len 4
            Old bytes: 1f 20 03 d5
            New bytes: 05 00 00 14
            perf   70    11.000000000: PERF_RECORD_TEXT_POKE ffff800090000000  old len 0 new len 18
            New bytes: 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f
            New bytes: 10 11
            perf   70 [000]    12.500000000: PERF_RECORD_LOST lost 3
"""


class PerfScript(unittest.TestCase):
    def test_parse(self):
        pokes, lost = replay.parse_script(SCRIPT.splitlines())
        self.assertEqual(lost, 3)
        self.assertEqual([p.time for p in pokes], [11 * 10**9, 12 * 10**9 + 345])
        self.assertEqual((pokes[0].new, pokes[0].cpu), (bytes(range(18)), None))
        self.assertEqual(
            pokes[1], Poke(12 * 10**9 + 345, BASE + 4, NOP, branch(5), "do_one+0x4", 1)
        )

    def test_cut_short(self):
        with self.assertRaises(ValueError):
            replay.parse_script(SCRIPT.splitlines()[:2])


def elf(order, addr, data):
    ident = b"\x7fELF\x02" + (b"\x01" if order == "<" else b"\x02") + bytes(10)
    head = ident + struct.pack(order + "HHIQQQIHHHHHH", 4, 0, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return (
        head + struct.pack(order + "IIQQQQQQ", 1, 7, 120, addr, 0, len(data), len(data), 0) + data
    )


class Kcore(unittest.TestCase):
    def test_text_in_either_byte_order(self):
        for order in "<>":
            kcore = io.BytesIO(elf(order, BASE, bytes(range(200))))
            self.assertEqual(
                replay.kcore_text(kcore, BASE + 8, 16), Text(BASE + 8, bytes(range(8, 24)))
            )

    def test_text_that_is_not_there(self):
        with self.assertRaises(ValueError):
            replay.kcore_text(io.BytesIO(elf("<", BASE, bytes(16))), BASE + 8, 16)


class Sites(unittest.TestCase):
    """A literal and the instruction behind it share a record."""

    def test_each_has_its_own_bytes_and_its_own_place(self):
        both = Poke(7, BASE, b"L" * 8 + b"move" + NOP, b"M" * 8 + b"move" + branch(3), "f-0x8", 1)
        self.assertEqual(
            both.sites(),
            [
                Poke(7, BASE, b"L" * 8, b"M" * 8, "f-0x8", 1),
                Poke(7, BASE + 12, NOP, branch(3), "", 1),
            ],
        )

    def test_both_count(self):
        both = Poke(7, BASE, b"L" * 8 + NOP, b"M" * 8 + branch(3))
        self.assertEqual(replay.count_sites([both, both.reversed()]), 2)

    def test_any_other_record_is_of_one_site(self):
        for old, new in ((NOP, branch(3)), (b"L" * 8, b"M" * 8), (b"", NOP * 16), (NOP * 16, b"")):
            alone = Poke(7, BASE, old, new)
            self.assertEqual(alone.sites(), [alone])


if __name__ == "__main__":
    unittest.main()
