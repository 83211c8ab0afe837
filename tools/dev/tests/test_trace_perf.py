# SPDX-License-Identifier: GPL-2.0
"""CoreSight of a made-up guest, decoded by the real perf: do its packets mean what was executed?"""

import io
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import test_trace as made  # noqa: E402
from textpoke import paths  # noqa: E402
from textpoke.records import perfdata, replay  # noqa: E402
from textpoke.trace import trace  # noqa: E402

PERF = paths.BUILD / "perf-host/perf"
BASE, LENGTH = 0xFFFF800080010000, 0x4000
NOP, RET, ERET, BRK, ISB, BR, HVC = (
    0xD503201F,
    0xD65F03C0,
    0xD69F03E0,
    0xD4200000,
    0xD5033FDF,
    0xD61F0000,
    0xD4000002,
)
SITE, LOOP, FUNCTION, OTHER, VECTOR, BACK, UP = 4, 0, 0x100, 0x200, 0x800, 0x900, 0xA00
SAMPLE_IP, KERNEL, MMAP = 1, 1, 1


def branch(at, to):
    return 0x14000000 | (to - at) // 4 & 0x3FFFFFF


def call(at, to):
    return branch(at, to) | 1 << 31


def unless_equal(at, to):
    return 0x54000001 | ((to - at) // 4 & 0x7FFFF) << 5


class Guest:
    """A loop with a site that changes, a function that it calls, and an exception's handler.

    Code is what is not a record's.
    """

    def __init__(self):
        self.text, self.log = bytearray(struct.pack("<I", NOP) * (LENGTH // 4)), made.Log()
        self.loop = self.block(LOOP, NOP, NOP, call(8, FUNCTION))
        self.behind_site = self.block(SITE + 4, call(8, FUNCTION))
        self.site_on = self.block(SITE, NOP, call(8, FUNCTION))
        self.function, self.returns = self.block(FUNCTION, NOP, ISB), self.block(
            FUNCTION + 8, NOP, RET
        )
        self.again = self.block(0xC, unless_equal(0xC, LOOP))
        self.leaves, self.other = self.block(0x10, branch(0x10, OTHER)), self.block(
            OTHER, NOP, NOP, NOP, BR
        )
        self.handler, self.back, self.eret = (
            self.block(VECTOR, NOP, NOP, ERET),
            self.block(BACK, NOP, ERET),
            self.block(BACK + 4, ERET),
        )
        self.down, self.up = self.block(UP - 0x10, NOP, HVC), self.block(UP, NOP, RET)
        self.armed = self.only_in_log(LOOP, NOP, BRK)
        self.changed = self.only_in_log(LOOP, NOP, branch(SITE, 0x10))
        self.log.cpu(0).time(100_000)

    def only_in_log(self, at, *words):
        return self.log.block(BASE + at, *(struct.pack("<I", word) for word in words))

    def block(self, at, *words):
        struct.pack_into(f"<{len(words)}I", self.text, at, *words)
        return self.only_in_log(at, *words)

    def did(self, *blocks):
        """(block, how many of its instructions) one after the other."""
        for number, insns in blocks:
            self.log.run(number, insns)

    def interrupted(self, at, kind=0):
        self.log.put(made.Log.TRAP, kind, BASE + at, BASE + VECTOR)
        self.did((self.handler, 3))

    def called(self):
        self.did((self.function, 2), (self.returns, 2), (self.again, 1))

    def before(self, number):
        """Once around, with an interrupt now and then:
        in the middle, where a branch has just led, and a return.
        """
        self.did((self.loop, 3))
        self.called()
        if number % 7 == 3:
            self.did((self.loop, 1))
            self.interrupted(SITE)
            self.did((self.site_on, 2))
            self.called()
        if number % 11 == 5:
            self.interrupted(LOOP)
        if number % 13 == 5:
            self.did((self.loop, 3), (self.function, 2), (self.returns, 2))
            self.interrupted(0xC)
            self.did((self.again, 1))

    def trapped(self):
        self.did((self.armed, 1))
        self.interrupted(SITE, kind=1)
        self.did((self.behind_site, 1))
        self.called()

    def after(self):
        self.did((self.changed, 2), (self.leaves, 1), (self.other, 4))

    def to_user_and_back(self):
        self.after()
        self.log.put(made.Log.TRAP, 0, BASE, BASE + BACK)
        self.did((self.back, 2))
        self.log.put(made.Log.USER).put(made.Log.TRAP, 1, 0x400000, BASE + BACK)
        self.did((self.back, 1))
        self.interrupted(BACK + 4)
        self.did((self.eret, 1))

    def off_and_on(self):
        self.after()
        self.did((self.down, 2), (self.up, 2))

    def whole(self):
        """The time of the record, for all of it:
        before, trapped, the record, trapped, an interrupt, after.
        """
        for number in range(2000):
            self.before(number)
        self.trapped()
        time = 100_000 + self.log.count - 1000
        self.log.time(time)
        self.trapped()
        self.interrupted(LOOP)
        for number in range(2000):
            self.after()
            if number % 100 == 50:
                self.to_user_and_back()
            if number % 500 == 250:
                self.off_and_on()
        self.did((self.changed, 0))
        self.log.put(made.Log.END)
        return time


def kernel_event(kind, body, time):
    whole = bytearray(made.event(kind, body + made.trailer(time)))
    struct.pack_into("<H", whole, 4, KERNEL)
    return bytes(whole)


def recording(guest, time):
    """What a guest's perf would have written."""
    raw = perfdata.ATTR.pack(
        1, 136, 9, 1, made.TYPE | SAMPLE_IP, 0, perfdata.SAMPLE_ID_ALL | 1 << 8
    ).ljust(136, b"\0")
    name = b"[kernel.kallsyms]_text\0\0"
    place = kernel_event(MMAP, struct.pack("<iIQQQ", -1, 0, BASE, LENGTH, BASE) + name, 0)
    site = BASE + SITE
    record = kernel_event(
        perfdata.TEXT_POKE,
        struct.pack("<QHH2I", site, 4, 4, NOP, branch(SITE, 0x10)) + b"\0" * 4,
        time,
    )
    conversion = made.event(perfdata.TIME_CONV, struct.pack("<5Q8x", 0, 1, 0, 0, 0))
    return perfdata.PerfData([perfdata.Attribute(raw, (1,))], [conversion, place, record], {})


def kcore(text):
    """An ELF file of the text."""
    head = (
        b"\x7fELF\2\1\1"
        + b"\0" * 9
        + struct.pack("<HHIQQQIHHHHHH", 4, 183, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    part = struct.pack("<IIQQQQQQ", 1, 7, 4096, BASE, 0, len(text), len(text), 4096)
    return (head + part).ljust(4096, b"\0") + bytes(text)


@unittest.skipUnless(PERF.exists(), "there is no perf: `make run` builds one")
class CoreSight(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = made.build(cls)
        cls.guest = Guest()
        cls.time = cls.guest.whole()

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "log").write_bytes(self.guest.log.entries)
        (self.folder / "blocks").write_bytes(self.guest.log.blocks)
        done = subprocess.run(
            [self.program, "encode", "arm64", self.folder],
            check=True,
            capture_output=True,
            text=True,
        )
        self.encoded = trace.parse(done.stdout)

    def decoded(self, parts):
        data = self.folder / "perf.data"
        (data / "kcore_dir").mkdir(parents=True, exist_ok=True)
        (data / "data").write_bytes(
            perfdata.build(
                perfdata.with_trace(parts, perfdata.ETM, [(self.folder / "aux.0").read_bytes()])
            )
        )
        (data / "kcore_dir/kcore").write_bytes(kcore(self.guest.text))
        (data / "kcore_dir/kallsyms").write_text(
            f"{BASE:016x} T _stext\n{BASE:016x} T _text\n{BASE + LENGTH:016x} T _etext\n"
        )
        (data / "kcore_dir/modules").write_text("")
        own = trace.Tools(None, None, self.program, {}, PERF)
        return trace.compare_branches(
            trace.Trace(own, self.folder, None, parts, self.encoded), data, PERF
        )

    def test_every_branch_is_decoded_as_it_was_executed(self):
        found = self.decoded(recording(self.guest, self.time))
        self.assertEqual(
            (found["executed"], found["wrong"], found["missing"], found["errors"], found.differs),
            (self.encoded["branches"], 0, 0, 0, []),
        )
        self.assertGreater(found["executed"], 14_000)
        self.assertEqual(self.encoded["gaps"], 4)

    def test_without_the_record_it_is_not(self):
        parts = recording(self.guest, self.time)
        self.assertGreater(
            self.decoded(perfdata.without_record(parts, parts.records()[0]))["wrong"], 1000
        )

    def test_nor_with_one_that_is_too_early(self):
        parts = recording(self.guest, self.time)
        self.assertGreater(
            self.decoded(perfdata.with_time(parts, parts.records()[0], self.time - 5000))["wrong"],
            10,
        )

    def test_nor_with_one_that_is_stamped_when_the_other_code_was_executed(self):
        parts = recording(self.guest, self.time)
        (record,) = parts.records()
        (self.folder / "text").write_bytes(struct.pack("<2Q", BASE, LENGTH) + self.guest.text)
        (self.folder / "time").write_bytes(struct.pack("<3Q", *parts.time_conversion()))
        run = trace.Trace(
            trace.Tools(None, None, self.program, {}, PERF), self.folder, None, parts, self.encoded
        )
        self.assertEqual(trace.compare_text(run, parts)["wrong"], 0)
        wrong = trace.stamps([record], trace._windows(self.folder))
        self.assertLess(wrong[record.at].early, record.time)
        self.assertGreater(wrong[record.at].late, record.time)
        for function in (trace.too_early, trace.too_late):
            moved = function(parts, [record], wrong)
            self.assertGreater(trace.compare_text(run, moved)["wrong"], 0, function)
            self.assertGreater(self.decoded(moved)["wrong"], 0, function)

    def test_the_copy_is_read_as_that_of_a_guest_is(self):
        self.assertEqual(
            list(replay.segments(io.BytesIO(kcore(self.guest.text)))), [(4096, BASE, LENGTH)]
        )


if __name__ == "__main__":
    unittest.main()
