# SPDX-License-Identifier: GPL-2.0
"""perf is built once, however many want it."""

import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import paths  # noqa: E402
from textpoke.guests import perf  # noqa: E402
from textpoke.say import run  # noqa: E402


class Build(unittest.TestCase):
    def setUp(self):
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.folder = Path(own.name)
        (self.folder / "tools/perf").mkdir(parents=True)
        (self.folder / "tools/perf/perf.c").write_text("perf")
        self.out = self.folder / "build/perf-here"
        self.builds = 0
        self.found = []
        for target, name, what in (
            (paths, "BUILD", self.folder / "build"),
            (paths, "LOGS", self.folder / "log"),
            (perf, "run", self.make),
            (perf, "say", mock.Mock()),
        ):
            changed = mock.patch.object(target, name, what)
            changed.start()
            self.addCleanup(changed.stop)

    def make(self, *_, **__):
        """Like a linker: the program is there before it is whole."""
        self.builds += 1
        with open(self.out / "perf", "w") as program:
            time.sleep(0.2)
            program.write("perf")

    def build(self):
        self.found.append(perf.build(self.folder, self.out, (), "perf").read_text())

    def test_two_that_want_it_at_once_get_a_whole_one(self):
        both = [threading.Thread(target=self.build) for _ in range(2)]
        for each in both:
            each.start()
        for each in both:
            each.join()
        self.assertEqual((self.builds, self.found), (1, ["perf", "perf"]))

    def test_it_is_not_built_again(self):
        self.build()
        self.build()
        self.assertEqual(self.builds, 1)

    def test_nothing_is_made_in_the_source(self):
        source = self.folder / "tools/perf"
        (source / "Makefile").write_text("all: $(O)/perf\n\ttouch helper\n$(O)/perf:\n\ttouch $@\n")
        with mock.patch.object(perf, "run", run):
            perf.build(self.folder, self.out, (), "perf")
        self.assertEqual({each.name for each in source.iterdir()}, {"perf.c", "Makefile"})

    def test_a_source_that_changed_is_built_anew(self):
        self.build()
        (self.folder / "tools/perf/perf.c").write_text("another perf")
        self.build()
        self.assertEqual(self.builds, 2)


if __name__ == "__main__":
    unittest.main()
