# SPDX-License-Identifier: GPL-2.0
"""What the selftest `replay` takes for announced: a module's memory may have been another's just
before and after.
"""

import subprocess
import tempfile
import unittest
from pathlib import Path

SELFTESTS = Path(__file__).resolve().parents[3] / "tools/testing/selftests/text_poke"

# Notes come as kind, time, other end, address, length; records as time and address, one in each
# line after `-`.
PROGRAM = r"""
#include <stdio.h>
#include "text_poke.h"
int main(void)
{
	struct image text = { .base = 0, .len = 1 };
	struct poke pokes[64] = { };
	struct pokes all = { .v = pokes };
	const struct poke *first;
	struct notes notes = { };
	struct note n;
	int kind;

	while (scanf("%d %llu %llu %llx %zu", &kind, &n.time, &n.other, &n.addr, &n.len) == 5) {
		n.kind = kind;
		notes_add(&notes, n);
	}
	scanf("-");
	while (scanf("%llu %llx", &pokes[all.nr].time, &pokes[all.nr].addr) == 2)
		all.nr++;
	notes_narrow(&notes);
	printf("%zu\n", unannounced(&all, &notes, &text, &first));
}
"""
ANNOUNCED, WITHDRAWN, LOADED, UNLOADED = range(4)
PAGE = 4096


class Notes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        main = Path(cls.folder.name) / "main.c"
        main.write_text(PROGRAM)
        cls.program = main.with_suffix("")
        sources = [SELFTESTS / name for name in ("notes.c", "oracle.c", "kcore.c")]
        subprocess.run(
            [
                "gcc",
                "-O1",
                "-w",
                "-D__SANE_USERSPACE_TYPES__",
                "-D_GNU_SOURCE",
                "-I",
                SELFTESTS,
                main,
                *sources,
                "-o",
                cls.program,
            ],
            check=True,
            capture_output=True,
        )

    def missing(self, notes, records):
        """How many of the records, (time, address), lie where no note, (kind, time, other,
        address), has told of code.
        """
        lines = [f"{kind:d} {time} {other} {addr:x} {PAGE}" for kind, time, other, addr in notes]
        lines += ["-", *(f"{time} {addr:x}" for time, addr in records)]
        return int(
            subprocess.run(
                [self.program], input="\n".join(lines), text=True, capture_output=True, check=True
            ).stdout
        )

    def test_record_without_a_note_is_found(self):
        self.assertEqual(
            self.missing([(ANNOUNCED, 10, 0, 0x1000)], [(20, 0x1004), (20, 0x2004), (5, 0x1004)]), 2
        )

    def test_module_is_loaded_to_where_a_slot_was_withdrawn_meanwhile(self):
        notes = [
            (ANNOUNCED, 10, 0, 0x1000),
            (LOADED, 100, 200, 0x1000),
            (WITHDRAWN, 150, 0, 0x1000),
        ]
        self.assertEqual(self.missing(notes, [(160, 0x1004), (300, 0x1004)]), 0)

    def test_slot_is_announced_where_a_module_was_unloaded_meanwhile(self):
        notes = [
            (LOADED, 100, 200, 0x1000),
            (UNLOADED, 500, 400, 0x1000),
            (ANNOUNCED, 450, 0, 0x1000),
        ]
        self.assertEqual(self.missing(notes, [(440, 0x1004), (460, 0x1004), (600, 0x1004)]), 0)

    def test_withdrawn_later_is_withdrawn(self):
        notes = [
            (LOADED, 100, 200, 0x1000),
            (UNLOADED, 500, 400, 0x1000),
            (ANNOUNCED, 450, 0, 0x1000),
            (WITHDRAWN, 700, 0, 0x1000),
        ]
        self.assertEqual(self.missing(notes, [(600, 0x1004), (800, 0x1004)]), 1)

    def test_memory_elsewhere_does_not_matter(self):
        notes = [(LOADED, 100, 200, 0x1000), (WITHDRAWN, 150, 0, 0x2000)]
        self.assertEqual(self.missing(notes, [(120, 0x1004), (160, 0x2004)]), 1)


if __name__ == "__main__":
    unittest.main()
