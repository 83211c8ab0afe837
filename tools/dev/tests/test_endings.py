# SPDX-License-Identifier: GPL-2.0
"""When a kernel that ended in the middle of a batch has ended well."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke.errors import HANG, OK, PANIC  # noqa: E402
from textpoke.guests import endings, initramfs  # noqa: E402

GOOD = f"[ 1.0] {endings.ARMED}\n[ 1.1] {endings.PANICKED}\n[ 1.2] Rebooting\n"


class Panic(unittest.TestCase):
    def test_told_and_over(self):
        self.assertEqual(endings.panic_verdict(PANIC, GOOD), "")

    def test_not_told(self):
        self.assertIn("no word", endings.panic_verdict(PANIC, GOOD.replace("Kernel panic", "")))

    def test_not_over(self):
        self.assertIn("did not end", endings.panic_verdict(HANG, GOOD))

    def test_too_early_proves_nothing(self):
        self.assertIn(
            "never in the middle", endings.panic_verdict(PANIC, GOOD.replace(endings.ARMED, ""))
        )

    def test_a_trap_that_kills(self):
        for words in ("Oops: int3: 0000 [#1]", "Unexpected kernel BRK exception at EL1"):
            self.assertIn("not handled", endings.panic_verdict(PANIC, f"{GOOD}[ 1.3] {words}\n"))

    def test_one_from_before_is_not_ours(self):
        self.assertEqual(endings.panic_verdict(PANIC, f"[ 0.1] Oops: int3: 0000 [#1]\n{GOOD}"), "")


class Next(unittest.TestCase):
    def test_its_verdict_counts(self):
        self.assertEqual(endings.next_verdict(OK, GOOD), "")
        self.assertIn("did not get as far", endings.next_verdict(None, GOOD))
        self.assertIn("did not get as far", endings.next_verdict(1, GOOD))

    def test_a_guest_that_could_not_begin_is_no_next_kernel(self):
        self.assertIn("never in the middle", endings.next_verdict(OK, ""))


class Ways(unittest.TestCase):
    def test_each_has_words(self):
        for arch in arches.ARCHES.values():
            self.assertLessEqual(set(arch.endings), set(endings.NEXT_KERNELS))


class Job(unittest.TestCase):
    def test_the_guest_says_what_is_looked_for(self):
        self.assertIn(endings.ARMED, (initramfs.GUEST / "ending.sh").read_text())


if __name__ == "__main__":
    unittest.main()
