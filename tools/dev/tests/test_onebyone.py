# SPDX-License-Identifier: GPL-2.0
"""Which selftests are run again when some of their files are others."""

import sys
import tempfile
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.guests import initramfs, onebyone, tests  # noqa: E402
from textpoke.results import kept, known, made  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED, Result  # noqa: E402

FILES = {
    "t/replay": b"\x7fELF",
    "t/alone": b"\x7fELF alone",
    "t/again.sh": b"#!/bin/sh\n. ./common.sh\n./replay --seconds 1\n",
    "t/replayed.sh": b"#!/bin/sh\n./again.sh\n",
    "t/common.sh": b"count() { ./listen; }\n",
    "t/listen": b"\x7fELF listen",
    "run.sh": b"#!/bin/sh\n",
}
TESTS = ["t:replay", "t:alone", "t:again.sh", "t:replayed.sh"]


@dataclass
class Fake:
    """A guest that says of each test in its list what it is told to."""

    folder: Path
    ran: list = field(default_factory=list)
    status: dict = field(default_factory=dict)
    kernel: str = "a kernel"
    ended: str = PASSED
    left_out: tuple = (Result("t/x", SKIPPED, "left out"),)

    def parts(self):
        return [self.kernel]

    def common(self):
        return self

    def some(self, listed):
        def boot():
            self.ran.append(listed)
            for test in listed:
                name = test.replace(":", ": ")
                yield Result(name + ": a case", self.status.get(test, PASSED))
            yield Result("t: the guest ends by itself", self.ended)

        return lambda: list(boot())


class OneByOne(unittest.TestCase):
    def setUp(self):
        place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder, self.store = place / "selftests", kept.Store(place=place / "passed")
        for name, text in FILES.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(text)
        (self.folder / known.LIST).write_text("\n".join(TESTS))
        self.guest = Fake(self.folder)
        self.enterContext(mock.patch.object(made, "modules", lambda *_: ["modules"]))

    def run_them(self):
        """Which are run, and the results."""
        self.guest.ran.clear()
        found = onebyone.OneByOne(self.store, "x86: selftests", self.guest)()
        return sum(self.guest.ran, []), found

    def change(self, name):
        path = self.folder / name
        path.write_bytes(path.read_bytes() + b"\n")

    def test_which_a_test_uses(self):
        self.assertEqual(
            known.used(self.folder, TESTS),
            {
                "t:replay": ["t:replay"],
                "t:alone": ["t:alone"],
                "t:again.sh": ["t:again.sh", "t:replay"],
                "t:replayed.sh": ["t:again.sh", "t:replay", "t:replayed.sh"],
            },
        )

    def test_what_a_common_script_runs_is_used_by_all(self):
        (self.folder / "t/common.sh").write_bytes(b"./alone\n")
        self.assertTrue(all("t:alone" in used for used in known.used(self.folder, TESTS).values()))

    def test_all_at_first_and_none_afterwards(self):
        ran, first = self.run_them()
        self.assertEqual(ran, TESTS)
        self.assertEqual(
            [each.name for each in first],
            [
                "t/x",
                "t: replay: a case",
                "t: alone: a case",
                "t: again.sh: a case",
                "t: replayed.sh: a case",
                "t: the guest ends by itself",
            ],
        )
        ran, second = self.run_them()
        self.assertEqual(ran, [])
        self.assertEqual([each.unchanged for each in second], [False, True, True, True, True])

    def test_only_what_uses_a_changed_one(self):
        self.run_them()
        self.change("t/alone")
        ran, found = self.run_them()
        self.assertEqual(ran, ["t:alone"])
        self.assertEqual([each.name for each in found if each.unchanged][0], "t: replay: a case")
        self.change("t/replay")
        self.assertEqual(self.run_them()[0], ["t:replay", "t:again.sh", "t:replayed.sh"])
        self.change("t/again.sh")
        self.assertEqual(self.run_them()[0], ["t:again.sh", "t:replayed.sh"])
        self.assertEqual(self.run_them()[0], [])

    def test_all_if_something_common_changes(self):
        self.run_them()
        self.guest.kernel = "another"
        self.assertEqual(self.run_them()[0], TESTS)

    def test_a_failure_is_not_kept(self):
        self.guest.status["t:alone"] = FAILED
        self.run_them()
        self.assertEqual(self.run_them()[0], ["t:alone"])

    def test_a_guest_that_died_keeps_none(self):
        self.guest.ended = FAILED
        self.run_them()
        self.assertEqual(self.run_them()[0], TESTS)

    def test_nothing_is_known_when_all_is_to_be_done(self):
        self.run_them()
        self.store.fresh = True
        self.assertEqual(self.run_them()[0], TESTS)


class Guests(unittest.TestCase):
    """The guests for some, and for what they have in common."""

    def setUp(self):
        self.place = Path(self.enterContext(tempfile.TemporaryDirectory()))
        folder = self.place / "selftests"
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text)
        (folder / known.LIST).write_text("\n".join(TESTS))
        self.guest = tests.selftests_in("x86", self.place, ("t",), folder, {})

    def extra(self, guest):
        with mock.patch.object(initramfs, "build_initramfs") as built:
            guest.initrd()
        folder = built.call_args.kwargs["extra"]["selftests"]
        files = {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}
        return built.call_args.kwargs["args"], known.listed(folder), files

    def test_some(self):
        targets, listed, files = self.extra(self.guest.some(["t:alone"]))
        self.assertEqual((targets, listed), (("t",), ["t:alone"]))
        self.assertEqual(files, {*FILES, known.LIST})

    def test_what_they_have_in_common(self):
        _, listed, files = self.extra(self.guest.common())
        self.assertEqual(listed, [])
        self.assertEqual(files, {"run.sh", "t/common.sh", "t/listen", known.LIST})

    def listed(self, *listed):
        with mock.patch.object(tests, "programs", return_value={}):
            return self.extra(
                tests.listed_guest("x86", self.place, listed, installed=self.guest.folder)
            )

    def test_listed_ones_have_no_others_beside_them(self):
        _, listed, files = self.listed("t:alone")
        self.assertEqual(listed, ["t:alone"])
        self.assertEqual(files, {"run.sh", "t/alone", "t/common.sh", "t/listen", known.LIST})

    def test_listed_ones_have_what_they_use(self):
        *_, files = self.listed("t:again.sh")
        self.assertEqual(
            files, {"run.sh", "t/again.sh", "t/common.sh", "t/listen", "t/replay", known.LIST}
        )


if __name__ == "__main__":
    unittest.main()
