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
from textpoke.trace import small, trace  # noqa: E402

PERF = paths.BUILD / "perf-host/perf"
BASE, LENGTH = small.Arm.BASE, small.LENGTH


@unittest.skipUnless(PERF.exists(), "there is no perf: `make run` builds one")
class CoreSight(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = made.build(cls)
        cls.guest = small.Arm()
        cls.time = cls.guest.whole()

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.guest.log.write(self.folder)
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
                perfdata.with_trace(parts, perfdata.ETM, [perfdata.stream(self.folder, 0, parts)])
            )
        )
        (data / "kcore_dir/kcore").write_bytes(small.kcore(self.guest))
        (data / "kcore_dir/kallsyms").write_text(small.kallsyms(self.guest))
        (data / "kcore_dir/modules").write_text("")
        own = trace.Tools(None, None, self.program, {}, PERF)
        return trace.compare_branches(
            trace.Trace(own, self.folder, None, parts, self.encoded), data, PERF
        )

    def test_every_branch_is_decoded_as_it_was_executed(self):
        found = self.decoded(self.guest.recording(self.time))
        self.assertEqual(
            (found["executed"], found["wrong"], found["missing"], found["errors"], found.differs),
            (self.encoded["branches"], 0, 0, 0, []),
        )
        self.assertGreater(found["executed"], 14_000)
        self.assertEqual(self.encoded["gaps"], 4)

    def test_nor_do_a_million_changes_elsewhere_make_a_difference(self):
        filler = self.guest.FILLER
        there, back = (
            small.poke(self.time + 1, BASE + LENGTH - 8, *states)
            for states in ((filler, self.guest.OLD), (self.guest.OLD, filler))
        )
        found = self.decoded(self.guest.recording(self.time, [(there + back) * 500_000]))
        self.assertEqual(
            (found["executed"], found["wrong"], found["missing"], found["errors"]),
            (self.encoded["branches"], 0, 0, 0),
        )
        self.assertGreater((self.folder / "perf.data/data").stat().st_size, 48 * 1_000_000)
        self.assertNotIn("of kernel text", (self.folder / "perf.err").read_text())

    def test_without_the_record_it_is_not(self):
        parts = self.guest.recording(self.time)
        self.assertGreater(
            self.decoded(perfdata.without_record(parts, parts.records()[0]))["wrong"], 1000
        )

    def test_nor_with_one_that_is_too_early(self):
        parts = self.guest.recording(self.time)
        self.assertGreater(
            self.decoded(perfdata.with_time(parts, parts.records()[0], self.time - 5000))["wrong"],
            10,
        )

    def test_nor_with_one_that_is_stamped_when_the_other_code_was_executed(self):
        parts = self.guest.recording(self.time)
        (record,) = parts.records()
        (self.folder / "text").write_bytes(struct.pack("<2Q", BASE, LENGTH) + self.guest.text)
        for name in "programs", "areas":
            (self.folder / name).write_bytes(b"")
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
            list(replay.segments(io.BytesIO(small.kcore(self.guest)))), [(4096, BASE, LENGTH)]
        )


if __name__ == "__main__":
    unittest.main()
