# SPDX-License-Identifier: GPL-2.0
"""What Debian's suites have, and whether what a variant makes of theirs is what the
patch makes of the pinned one.
"""

import os
import sys
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import host, paths  # noqa: E402
from textpoke.checks import elsewhere, suites  # noqa: E402
from textpoke.errors import INFRA, TEST_FAILED, Fail  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED  # noqa: E402
from textpoke.series import patches  # noqa: E402

ROWS = """\
linux-source-6.12 | 6.12.118-1 | http://mirror/debian-security trixie-security/main amd64 Packages
linux-source-6.12 | 6.12.117-1 | http://mirror/debian-security trixie-security/main amd64 Packages
"""
MIRRORS = [("http://mirror/debian", "bookworm"), ("http://mirror/safe", "bookworm-security")]


class Lists(unittest.TestCase):
    """What is said when lists are old, absent or empty."""

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(paths, "CACHE", self.home))
        self.enterContext(mock.patch.object(suites, "say"))
        self.apt = mock.Mock(home=self.home, listed=self.home / "listed")
        self.apt.update.side_effect = self.apt.listed.touch
        self.enterContext(mock.patch.object(host, "suite_apt", return_value=self.apt))
        self.rows = self.enterContext(mock.patch.object(suites, "output", return_value=ROWS))

    def test_the_newest_comes_first(self):
        source = suites.newest("trixie-security")
        self.assertEqual((source.package, source.version), ("6.12.118-1", "6.12.118"))

    def test_a_backport_s_version_is_upstream_s(self):
        self.assertEqual(
            suites.Source("bookworm-backports", "6.12.95-1~bpo12+1").version, "6.12.95"
        )

    def test_new_lists_are_not_fetched_again(self):
        suites.newest("trixie")
        suites.newest("trixie")
        self.apt.update.assert_called_once()
        os.utime(self.apt.listed, (0, time.time() - suites.FRESH_FOR - 9))
        suites.newest("trixie")
        self.assertEqual(self.apt.update.call_count, 2)

    def test_without_a_network_old_lists_will_do(self):
        self.apt.listed.touch()
        os.utime(self.apt.listed, (0, 0))
        self.apt.update.side_effect = Fail(INFRA, "no network")
        self.assertEqual(suites.newest("trixie").package, "6.12.118-1")

    def test_without_a_network_and_lists_it_is_skipped_with_the_reason(self):
        self.apt.update.side_effect = Fail(INFRA, "no network")
        result = suites._result("trixie", mock.Mock())
        self.assertEqual((result.status, result.note), (SKIPPED, "no network"))

    def test_a_suite_without_the_package_is_skipped(self):
        self.rows.return_value = ""
        self.assertEqual(suites._result("trixie-backports", mock.Mock()).status, SKIPPED)

    def test_what_does_not_fit_fails(self):
        for wrong, status in ((None, PASSED), (Fail(TEST_FAILED, "hunk 2 of 3"), FAILED)):
            with mock.patch.object(suites, "fit", side_effect=wrong):
                self.assertEqual(suites._result("trixie", mock.Mock()).status, status)

    def test_each_version_but_the_pinned_one_is_built_once(self):
        found = {
            "bookworm-security": "6.12.117-1~deb12u1",
            "bookworm-backports": "6.12.95-1",
            "trixie": "6.12.117-1",
            "trixie-security": "6.12.118-1",
            "trixie-backports": "6.12.118-1~bpo13+1",
        }
        with mock.patch.object(
            suites, "newest", lambda suite: suites.Source(suite, found[suite])
        ), mock.patch.object(suites.bases, "made_for", return_value={"version": "6.12.117"}):
            self.assertEqual(
                [source.package for source in suites.others()], ["6.12.118-1", "6.12.95-1"]
            )


class Same(unittest.TestCase):
    """A variant may differ from the patch in what the bases differ in, and in nothing else."""

    def differ(self, ours, theirs, whole=False):
        """Each base and its final text, as words."""
        changes = [
            suites.Change(*(Counter(text.split()) for text in texts)) for texts in (ours, theirs)
        ]
        return suites.difference(*changes, whole)

    def test_the_same_change_beside_another_context(self):
        self.assertEqual(self.differ(("a b c", "a B c"), ("a b d", "a B d")), "")

    def test_lines_that_only_the_variant_adds(self):
        self.assertEqual(self.differ(("a b", "a B"), ("a b", "a B X")), "X")

    def test_lines_that_only_the_patch_adds(self):
        self.assertEqual(self.differ(("a b", "a B X"), ("a b", "a B")), "X")
        self.assertEqual(self.differ(("a b", "a B X"), ("a b X", "a B X")), "")

    def test_lines_that_the_older_base_has_in_other_words(self):
        self.assertEqual(self.differ(("call new", "NEW call"), ("call old", "NEW call")), "")
        self.assertEqual(self.differ(("call", "call"), ("call", "")), "call")

    def test_a_base_that_does_part_of_it_itself(self):
        self.assertEqual(
            self.differ(
                ("a b", "a save vectors"), ("a saved only-some", "a saved vectors"), whole=True
            ),
            "",
        )
        self.assertEqual(
            self.differ(
                ("a b", "a save vectors"), ("a saved only-some", "a saved more"), whole=True
            ),
            "more",
        )

    def test_what_the_older_base_calls_otherwise(self):
        changes = [
            suites.Change(Counter(before), Counter([*before, more]))
            for before, more in ((["int new;"], "new = newer;"), (["int old;"], "old = newer;"))
        ]
        self.assertEqual(suites.difference(*changes, whole=True), "old = newer;")
        pinned = changes[0].named([("new", "old")])
        self.assertEqual(suites.difference(pinned, changes[1], whole=True), "")


class Fits(unittest.TestCase):
    """What was found to fit is not tried again until something changes."""

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(suites, "touched_files", return_value=self.home))
        self.enterContext(mock.patch.object(suites, "_tree"))
        self.enterContext(
            mock.patch.multiple(suites.series, micro=mock.DEFAULT, pinned=mock.DEFAULT)
        )
        self.same = self.enterContext(mock.patch.object(suites, "_check_same"))
        self.enterContext(mock.patch.object(patches, "fingerprint", lambda: self.series))
        self.series = "one"
        self.base = mock.Mock(key="base", version="6.12.7")

    def test_once(self):
        source = suites.Source("trixie", "6.12.8-1")
        suites.fit(source, self.base)
        suites.fit(source, self.base)
        self.same.assert_called_once()
        self.series = "two"
        suites.fit(source, self.base)
        self.assertEqual(self.same.call_count, 2)

    def test_what_failed_is_tried_again(self):
        self.same.side_effect = Fail(TEST_FAILED, "differs")
        for _ in range(2):
            with self.assertRaisesRegex(Fail, "differs"):
                suites.fit(suites.Source("trixie", "6.12.8-1"), self.base)


class Releases(unittest.TestCase):
    """Debian 13 has QEMU and clang itself, and the pinned source in the other release's suites."""

    def release(self, name, mirrors):
        self.enterContext(mock.patch.object(host, "_release", return_value=name))
        self.enterContext(mock.patch.object(host, "_mirrors", return_value=mirrors))

    def test_backports_are_for_debian_12_alone(self):
        self.release("bookworm", MIRRORS)
        self.assertIn("bookworm-backports", host._host_sources()[-1])
        self.assertEqual(host._suite_options(host.BACKPORTS), ["-t", "bookworm-backports"])
        self.release("trixie", [("http://mirror/debian", "trixie")])
        self.assertEqual(len(host._host_sources()), 1)
        self.assertEqual(host._suite_options(host.BACKPORTS), [])

    def test_security_updates_have_their_own_mirror(self):
        self.release("bookworm", MIRRORS)
        self.assertEqual(host.mirror_of("trixie-security"), "http://mirror/safe")
        self.release("trixie", [("http://mirror/debian", "trixie")])
        self.assertEqual(host.mirror_of("bookworm-security"), "http://mirror/debian-security")

    def test_the_base_comes_from_its_own_release(self):
        self.release(
            "trixie",
            [("http://mirror/debian", "trixie"), ("http://mirror/safe", "trixie-security")],
        )
        with mock.patch.object(host, "Apt") as apt:
            host.release_apt("bookworm")
        name, sources, _ = apt.call_args.args
        self.assertEqual(name, "release-bookworm")
        self.assertTrue(sources[0].endswith("http://mirror/debian bookworm main"))
        self.assertTrue(sources[1].endswith("http://mirror/safe bookworm-security main"))

    def test_a_command_that_fails_there_fails_here(self):
        for status, wanted in ((0, PASSED), (2, FAILED)):
            with mock.patch.object(elsewhere, "command", return_value=status):
                self.assertEqual(
                    [each.status for each in elsewhere.result("trixie", "gates")], [wanted]
                )


if __name__ == "__main__":
    unittest.main()
