# SPDX-License-Identifier: GPL-2.0
"""The second opinion of our packets: what OpenCSD's lister prints, and that it reads what is broken
as something else.
"""

import contextlib
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.trace import lister  # noqa: E402

SYNC = bytes([*[0] * 11, 0x80, 0x01, 0x01, 0x00])
PLACE = bytes([0x85, 0x01, 0x02, *(0xFFFF800080000000 >> 16).to_bytes(6, "little")])
CONTEXT = bytes([0xB1, 1, 0, 0, 0])
CLOCK = bytes([0x02, 0x85, 0x01])
IRQ = bytes([0x06, 14 << 1 | 1])
# A CPU comes into the kernel, takes a branch of two, and is interrupted.
GOOD = SYNC + b"\x04" + PLACE + CONTEXT + CLOCK + b"\xf7\xf6" + IRQ + b"\x9d" + PLACE[1:]
ADDRESS = 0xFFFF800080000000 | 1 << 2 | 2 << 9
WRITTEN = {
    "syncs": 1,
    "traces-on": 1,
    "addresses": 2,
    "contexts": 1,
    "addresses-sum": 2 * ADDRESS % (1 << 64),
    "timestamps": 1,
    "timestamps-sum": 5 | 1 << 7,
    "atoms-taken": 1,
    "atoms-not": 1,
    "irqs": 1,
    "data-faults": 0,
}
FIGURES = {"branches": 7} | {f"written-{name}": value for name, value in WRITTEN.items()}
# Broken: its offset in the trace, and the byte that comes there.
AT_CLOCK = GOOD.index(CLOCK)
BROKEN = {
    "an address": (GOOD.index(PLACE) + 2, 0x03),
    "a context": (GOOD.index(CONTEXT), 0xB0),
    "a timestamp that does not end": (AT_CLOCK + 2, 0x81),
    "a timestamp": (AT_CLOCK + 1, 0x86),
    "an atom": (GOOD.index(b"\xf7\xf6"), 0xF6),
    "two atoms in one": (GOOD.index(b"\xf7\xf6"), 0xD8),
    "a kind of exception": (GOOD.index(IRQ) + 1, 12 << 1 | 1),
    "a header that is none": (GOOD.index(b"\xf7\xf6"), 0x08),
}


class TestLister(unittest.TestCase):
    """The program itself, on a few bytes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def differences(self, data):
        """Of these bytes."""
        aux = self.folder / "aux.0"
        aux.write_bytes(data)
        return lister.differences(FIGURES, self.folder / "listed", [aux])

    def test_leaves_no_file_where_it_runs(self):
        self.enterContext(contextlib.chdir(self.folder))
        self.differences(GOOD)
        self.assertEqual(["aux.0", "listed"], sorted(path.name for path in self.folder.iterdir()))

    def test_reads_what_was_written(self):
        self.assertEqual([], self.differences(GOOD))

    def test_reads_what_is_broken_as_something_else(self):
        for name, (at, byte) in BROKEN.items():
            with self.subTest(name):
                data = bytearray(GOOD)
                data[at] = byte
                self.assertNotEqual([], self.differences(bytes(data)))

    def test_adds_what_all_cpus_wrote(self):
        paths = [self.folder / f"aux.{cpu}" for cpu in range(2)]
        for path in paths:
            path.write_bytes(GOOD)
        found = lister.listed(self.folder / "listed", paths)
        self.assertEqual(4, found["addresses"])
        self.assertEqual(["irqs: 1 written, 2 read"], lister.faults({"irqs": 1}, {"irqs": 2}))


if __name__ == "__main__":
    unittest.main()
