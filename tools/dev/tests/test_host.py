# SPDX-License-Identifier: GPL-2.0
"""Packages: what apt says as one sentence,
and where foreign ones come from while a mirror is updated.
"""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import host  # noqa: E402
from textpoke.errors import INFRA, MISSING, Fail  # noqa: E402

UPDATED = """\
Err:2 http://mirror trixie/main riscv64 Packages
  File has unexpected size (9385284 != 9387120). Mirror sync in progress?
E: Failed to fetch http://mirror/dists/trixie/main/binary-riscv64/Packages.xz
"""
UNREACHED = "E: Failed to fetch http://mirror/dists/trixie/InRelease\n"


class Advice(unittest.TestCase):
    def advice(self, text):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            log.write_text(text)
            return host.advice(log)

    def test_a_mirror_that_is_updated_is_not_taken_for_one_that_is_not_there(self):
        self.assertIn("is being updated", self.advice(UPDATED))
        self.assertIn("cannot be reached", self.advice(UNREACHED))


class AnotherMachine(unittest.TestCase):
    def test_builds_no_kernel(self):
        with (
            mock.patch.object(host.platform, "machine", return_value="aarch64"),
            mock.patch.object(host, "need", side_effect=AssertionError("it was asked for")),
            self.assertRaisesRegex(Fail, "on x86_64 machines alone, .* is aarch64") as raised,
        ):
            host.need_to_build("gcc")
        self.assertEqual(raised.exception.code, MISSING)

    def test_this_one_does(self):
        with (
            mock.patch.object(host.platform, "machine", return_value="x86_64"),
            mock.patch.object(host, "need") as need,
        ):
            host.need_to_build("gcc-riscv64-linux-gnu")
        self.assertIn("gcc-riscv64-linux-gnu", need.call_args.args)


class Foreign(unittest.TestCase):
    def debs(self, *broken):
        """What is fetched if the lists of the broken suites cannot be had,
        and from which suites that was tried.
        """
        tried = []

        def fetch(_packages, _debarch, suite):
            tried.append(suite)
            if suite in broken:
                raise Fail(INFRA, f"{suite} is being updated")
            return [f"busybox-of-{suite}.deb"]

        with mock.patch.object(host, "_foreign_debs", fetch), mock.patch.object(host, "say"):
            return host._foreign_debs_of_any(("busybox-static",), "riscv64", "trixie"), tried

    def test_come_from_the_suite_that_was_asked_for(self):
        self.assertEqual(self.debs(), (["busybox-of-trixie.deb"], ["trixie"]))

    def test_come_from_others_while_that_is_updated(self):
        self.assertEqual(self.debs("trixie"), (["busybox-of-stable.deb"], ["trixie", "stable"]))
        self.assertEqual(
            self.debs("trixie", "stable"),
            (["busybox-of-testing.deb"], ["trixie", "stable", "testing"]),
        )

    def test_the_first_failure_is_told_if_no_suite_can_be_had(self):
        with self.assertRaisesRegex(Fail, "^trixie is being updated$"):
            self.debs("trixie", "stable", "testing")


if __name__ == "__main__":
    unittest.main()
