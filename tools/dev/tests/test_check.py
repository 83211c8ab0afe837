# SPDX-License-Identifier: GPL-2.0
"""What becomes of the lines that the kernel's test runners print, and of the count."""

import contextlib
import functools
import io
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import cli, paths  # noqa: E402
from textpoke.checks import check, full  # noqa: E402
from textpoke.errors import INFRA, OK, TEST_FAILED, Fail  # noqa: E402
from textpoke.guests import (  # noqa: E402
    endings,
    initramfs,
    kernel,
    onebyone,
    perf,
    tests,
    torture,
)
from textpoke.results import kept, known, ktap  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED, Result  # noqa: E402
from textpoke.series import base as bases  # noqa: E402

RUNNER = """\
TAP version 13
1..3
# selftests: text_poke: replay
# TAP version 13
# 1..3
# ok 1 text_changed: 17 bytes
# not ok 2 none_lost: 3 of 2 CPUs
# ok 3 swapped # SKIP no swaps
# # Totals: pass:1 fail:1
not ok 1 selftests: text_poke: replay # exit=1
# selftests: static_keys: test_static_keys.sh
# static_keys: ok
ok 2 selftests: static_keys: test_static_keys.sh
# selftests: ftrace: ftracetest-ktap
# module is missing
ok 3 selftests: ftrace: ftracetest-ktap # SKIP
"""


def statuses(text):
    return {result.name: result.status for result in ktap.parse(text)}


PERF_TEST = """\
Couldn't bump rlimit(MEMLOCK), failures may take place when creating BPF maps, etc
  9: Hardware trace of text that changes                             :
  9.1: Intel PT across text pokes                                    : Running (1 active)
  9.1: Intel PT across text pokes                                    : Ok
--- start ---
Intel PT: branch 0 of 32: 1 => 2, decoded 22: 1 => 3
  9.2: perf inject, Intel PT across text pokes                       :\x1b[31m FAILED!\x1b[m
 10: CoreSight across text pokes                                     : Skip (no CoreSight)
"""


class PerfTest(unittest.TestCase):
    def test_results(self):
        self.assertEqual(
            [(result.name, result.status, result.note) for result in perf.tested(PERF_TEST)],
            [
                ("perf test: Intel PT across text pokes", PASSED, ""),
                ("perf test: perf inject, Intel PT across text pokes", FAILED, ""),
                ("perf test: CoreSight across text pokes", SKIPPED, "no CoreSight"),
            ],
        )

    def test_parts_that_are_left_out(self):
        self.assertEqual(perf.left_out(PERF_TEST), [])
        self.assertEqual(perf.left_out(PERF_TEST.replace("9.2", "9.4")), ["9.2", "9.3"])

    def test_no_result_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(
            paths, "LOGS", Path(folder)
        ), mock.patch.object(perf, "build_host_perf", lambda: "true"):
            self.assertEqual([result.status for result in perf.host_tests()], [FAILED])


class Runner(unittest.TestCase):
    def test_cases_stand_for_their_test(self):
        self.assertEqual(
            statuses(RUNNER),
            {
                "text_poke: replay: text_changed": PASSED,
                "text_poke: replay: none_lost": FAILED,
                "text_poke: replay: swapped": SKIPPED,
                "static_keys: test_static_keys.sh": PASSED,
                "ftrace: ftracetest-ktap": SKIPPED,
            },
        )

    def test_reason_of_a_skip(self):
        notes = {result.name: result.note for result in ktap.parse(RUNNER)}
        self.assertEqual(notes["text_poke: replay: swapped"], "no swaps")

    def test_skips_have_their_names_behind(self):
        """As kselftest.h prints them: they were once taken for passed cases called `# SKIP ...`."""
        text = RUNNER.replace("ok 3 swapped # SKIP no swaps", "ok 3 # SKIP swapped: no swaps: none")
        self.assertEqual(statuses(text), statuses(RUNNER))
        notes = {result.name: result.note for result in ktap.parse(text)}
        self.assertEqual(notes["text_poke: replay: swapped"], "no swaps: none")

    def test_skips_of_ktap_helpers_have_their_reason_before(self):
        text = RUNNER.replace("ok 3 swapped # SKIP no swaps", "ok 3 swapped: no swaps: none # SKIP")
        found = {result.name: result for result in ktap.parse(text)}
        (swapped,) = (found[name] for name in found if name.endswith(": swapped"))
        self.assertEqual((swapped.status, swapped.note), (SKIPPED, "no swaps: none"))

    def test_skips_may_have_a_reason_only(self):
        text = RUNNER.replace("ok 3 swapped # SKIP no swaps", "ok 3 # SKIP there is one CPU")
        found = {result.name: result for result in ktap.parse(text)}[
            "text_poke: replay: there is one CPU"
        ]
        self.assertEqual((found.status, found.note), (SKIPPED, "there is one CPU"))

    def test_what_a_failed_case_said_before_and_after_is_kept(self):
        before = "".join(f"# # before {i}\n" for i in range(ktap.SAID + 1))
        after = "".join(f"# after {i}\n" for i in range(ktap.SAID + 1))
        text = RUNNER.replace("# not ok 2", f"{before}# not ok 2").replace(
            "# ok 3", f"{after}# ok 3"
        )
        said = {result.name: result.said for result in ktap.parse(text)}
        self.assertEqual(said["text_poke: replay: text_changed"], ())
        kept = said["text_poke: replay: none_lost"]
        self.assertEqual((kept[0], kept[ktap.SAID - 1]), ("# before 1", f"# before {ktap.SAID}"))
        self.assertEqual((kept[ktap.SAID], kept[-1]), ("after 1", f"after {ktap.SAID}"))

    def test_missing_cases_are_a_failure(self):
        found = statuses(RUNNER.replace("# ok 3 swapped # SKIP no swaps\n", ""))
        self.assertEqual(found["text_poke: replay: all cases ran"], FAILED)

    def test_missing_tests_are_a_failure(self):
        self.assertEqual(
            statuses(RUNNER.replace("1..3\n# selftests", "1..4\n# selftests", 1))["all tests ran"],
            FAILED,
        )
        self.assertEqual(statuses("")["all tests ran"], FAILED)

    def test_targets_have_plans_of_their_own(self):
        text = (
            "TAP version 13\n1..1\nok 1 selftests: a: b\n"
            "TAP version 13\n1..1\nok 1 selftests: c: d\n"
        )
        self.assertEqual(statuses(text), {"a: b": PASSED, "c: d": PASSED})

    def test_a_test_that_fails_without_a_failed_case(self):
        text = RUNNER.replace("# not ok 2", "# ok 2")
        self.assertEqual(statuses(text)["text_poke: replay"], FAILED)


class Known(unittest.TestCase):
    def load(self, text, kind="", more="", shared=""):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "arm64").write_text(text)
        (Path(folder.name) / "arm64-64k").write_text(more)
        (Path(folder.name) / "all").write_text(shared)
        with mock.patch.object(known, "FOLDER", Path(folder.name)):
            return known.load("arm64", kind)

    def test_expected_failures_are_skipped_with_the_reason(self):
        expected = self.load("# comment\n\na test | failed | no such device\n")
        judged = known.judge(Result("a test", FAILED), expected)
        self.assertEqual((judged.status, judged.note), (SKIPPED, "as on the base: no such device"))

    def test_only_what_is_listed_and_as_listed(self):
        expected = self.load("a test | skipped | needs two disks\n")
        self.assertEqual(known.judge(Result("a test", FAILED), expected).status, FAILED)
        self.assertEqual(known.judge(Result("another", FAILED), expected).status, FAILED)
        self.assertEqual(known.judge(Result("a test", PASSED), expected).status, PASSED)

    def test_what_fails_now_and_then_has_to_say_why(self):
        expected = self.load("a test | failed | two CPUs race | found 0*\n")
        self.assertEqual(
            known.judge(
                Result("a test", FAILED, before=("test 3", "Expected 1* but found 0*")), expected
            ).status,
            SKIPPED,
        )
        self.assertEqual(
            known.judge(Result("a test", FAILED, after=("Found junk",)), expected).status, FAILED
        )
        self.assertEqual(known.judge(Result("a test", PASSED), expected), Result("a test", PASSED))

    def test_a_kind_of_kernel_has_more(self):
        lists = "a test | skipped | needs two disks\n", "another | failed | needs small pages\n"
        self.assertEqual(list(self.load(lists[0], "arm64", lists[1])), ["a test"])
        self.assertEqual(list(self.load(lists[0], "arm64-kasan", lists[1])), ["a test"])
        self.assertEqual(list(self.load(lists[0], "arm64-64k", lists[1])), ["a test", "another"])

    def test_what_every_architecture_has_is_listed_once(self):
        lists = {
            "shared": "a test | failed | a race\nanother | failed | no disk\n",
            "text": "another | skipped | no small disk\n",
        }
        self.assertEqual(
            self.load(**lists),
            {
                "a test": known.Known(FAILED, "a race"),
                "another": known.Known(SKIPPED, "no small disk"),
            },
        )

    def test_a_skip_needs_a_reason(self):
        expected = self.load("a test | skipped | needs two disks\n")
        self.assertEqual(known.judge(Result("a test", SKIPPED), expected).status, SKIPPED)
        self.assertEqual(
            known.judge(Result("another", SKIPPED, "no disk"), expected).status, SKIPPED
        )
        self.assertEqual(known.judge(Result("another", SKIPPED), expected).status, FAILED)

    def test_a_line_without_a_reason_is_refused(self):
        for text in (
            "a test | failed\n",
            "a test | failed |\n",
            "a test | broken | why\n",
            "a test | failed | why |\n",
        ):
            with self.assertRaises(Fail) as caught:
                self.load(text)
            self.assertEqual(caught.exception.code, INFRA)

    def test_what_is_left_out_is_not_there_to_be_run(self):
        out = {
            "ftrace/a.tc": known.Known(known.LEFT_OUT, "it hangs"),
            "ftrace/b.tc": known.Known(known.LEFT_OUT, "it hung"),
            "elsewhere/c": known.Known(known.LEFT_OUT, "it stops"),
            "a test": known.Known(FAILED, "no disk"),
        }
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            (home / "ftrace").mkdir()
            (home / "ftrace/a.tc").touch()
            (home / "kselftest-list.txt").write_text("ftrace:a.tc\nftrace:z.tc\n")
            with mock.patch.object(known, "load", lambda *_: out):
                found = [(each.name, each.status) for each in known.leave_out("arm64", home)]
            self.assertFalse((home / "ftrace/a.tc").exists())
            self.assertEqual((home / "kselftest-list.txt").read_text(), "ftrace:z.tc\n")
        self.assertEqual(found, [("ftrace/a.tc", SKIPPED), ("ftrace/b.tc", FAILED)])

    def test_our_own_lists_are_well_formed(self):
        targets = {
            *tests.SELFTESTS,
            *tests.FTRACETEST,
            *(target for arch in arches.ARCHES.values() for target in arch.selftests),
        }
        for path in known.FOLDER.glob("*"):
            out = {
                name.split("/")[0]
                for name, here in known.load(path.name).items()
                if here.status == known.LEFT_OUT
            }
            self.assertLessEqual(out, targets)


class Knobs(unittest.TestCase):
    def test_a_workload_that_has_all(self):
        self.assertEqual(list(tests.knobs(RUNNER)), [])

    def test_what_a_replay_goes_on_without_is_a_failure(self):
        text = RUNNER.replace(
            "# # Totals",
            "# # no knob of bpf in this kernel\n# # no knob of modules in this kernel\n# # Totals",
        )
        self.assertEqual(
            [(each.status, each.note) for each in tests.knobs(text)],
            [(FAILED, "no knob of bpf, modules in this kernel")],
        )

    def test_one_that_has_none_is_a_failure_although_it_is_skipped(self):
        (found,) = tests.knobs(
            "# # no knob of keys in this kernel\n# 1..0 # SKIP no knob of keys,bpf in this kernel\n"
        )
        self.assertEqual(
            (found.status, found.note), (FAILED, "no knob of keys, bpf in this kernel")
        )

    def test_the_words_are_those_of_the_selftest(self):
        for name in ("workload.c", "replay.c"):
            source = (paths.ROOT / "tools/testing/selftests/text_poke" / name).read_text()
            with self.subTest(name):
                self.assertEqual(tests.NO_KNOB.findall(source), ["%s"])

    def test_it_may_be_known(self):
        (lacking,) = tests.knobs("no knob of bpf in this kernel")
        self.assertEqual(
            known.judge(lacking, {lacking.name: known.Known(FAILED, "no BPF here")}).status, SKIPPED
        )


class Ftracetest(unittest.TestCase):
    def shares(self, arch, *cases):
        """The cases of each share of make check, and of what it leaves out."""
        home = Path(self.enterContext(tempfile.TemporaryDirectory())) / "selftests-ftrace"
        for case in cases:
            (home / "ftrace/test.d" / case).parent.mkdir(parents=True, exist_ok=True)
            (home / "ftrace/test.d" / case).touch()
        (home / "ftrace/test.d/functions").touch()
        return [
            sorted(
                str(path.relative_to(share / "ftrace/test.d"))
                for path in (share / "ftrace/test.d").rglob("*.tc")
            )
            for share in (*tests.shares(home, arch), tests.rest(home, arch))
        ]

    def test_every_case_is_in_one_share(self):
        first = ["kprobe/a.tc", "of_tomorrow/b/c.tc"]
        second = sorted(f"{folder}/a.tc" for folder in tests.SHARE)
        left = list(tests.NO_TEXT[:1])
        self.assertEqual(self.shares(tests.SHOWS, *first, *second, *left), [first, second, left])
        self.assertEqual(
            self.shares("arm64", *first, *second, *left), [first, sorted(second + left)]
        )
        first.insert(0, "direct/a.tc")
        for arch, long in tests.LONG.items():
            self.assertEqual(
                self.shares(arch, *first, *second, *left, *long),
                [first, sorted(second + left + list(long))],
            )

    def test_what_is_left_to_check_full_is_there(self):
        home = bases.base_source() / "tools/testing/selftests/ftrace/test.d"
        named = [*tests.NO_TEXT, *(case for long in tests.LONG.values() for case in long)]
        self.assertEqual([case for case in named if not (home / case).exists()], [])
        self.assertIn("ftracetest", [part for variant in full.VARIANTS for part in variant.parts])
        self.assertIs(full.PARTS["ftracetest"], tests.ftracetest_rest)

    def test_a_selftest_that_takes_long_is_left_to_check_full(self):
        source = bases.base_source() / "tools/testing/selftests"
        for long in (test for each in tests.LONG_SELFTESTS.values() for test in each):
            self.assertTrue((source / f"{long.replace(':', '/')}.c").exists(), long)
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        known.tell(folder, ["a:short", "a:long"])
        with (
            mock.patch.object(tests, "_installed", return_value=(folder, [], {})),
            mock.patch.object(tests, "possible", lambda _, targets: (targets, [])),
        ):
            tests.selftests_guest("arm64", Path("kdir"), targets=("a",))
            self.assertEqual(known.listed(folder), ["a:short", "a:long"])
            tests.selftests_guest("arm64", Path("kdir"), targets=("a",), but=("a:long",))
        self.assertEqual(known.listed(folder), ["a:short"])

    def test_side_by_side(self):
        self.assertEqual(tests.side_by_side([lambda: 1, lambda: 2]), [1, 2])
        with self.assertRaises(Fail):
            tests.side_by_side([lambda: 1, self.refuse])

    def test_no_more_at_once_than_asked_for(self):
        running, most = [], []
        two = threading.Barrier(2)

        def function(number):
            running.append(number)
            most.append(len(running))
            # Each waits for another one.
            two.wait(timeout=60)
            running.remove(number)
            return number

        self.assertEqual(
            tests.side_by_side([functools.partial(function, number) for number in range(4)]),
            list(range(4)),
        )
        self.assertEqual(max(most), 2)

    def test_as_many_at_once_as_the_user_wants(self):
        self.addCleanup(tests.take, 2)
        for jobs in (1, 3):
            running, most = [], []
            together = threading.Barrier(jobs)

            def function(number, running=running, most=most, together=together):
                running.append(number)
                most.append(len(running))
                together.wait(timeout=60)
                running.remove(number)

            command, options = cli.parse(["check", f"JOBS={jobs}"])
            with mock.patch.dict(os.environ):
                cli._settle(command, options)
            tests.side_by_side([functools.partial(function, number) for number in range(6)])
            self.assertEqual(max(most), jobs)

    def test_what_make_uses_the_word_for_is_left_alone(self):
        with mock.patch.dict(os.environ, JOBS="7"), contextlib.redirect_stderr(io.StringIO()):
            self.assertIsNone(cli.parse(["check"])[1].get("JOBS"))

    @staticmethod
    def refuse():
        raise Fail(INFRA, "no guest")


class Booting(unittest.TestCase):
    def boots(self, code, verdict):
        result = mock.Mock(code=code, verdict=verdict, badness=(), reason="why")
        with mock.patch.multiple(
            check.boot, boot=lambda *_, **__: result, report=mock.DEFAULT
        ), mock.patch.object(check.initramfs, "build_initramfs"):
            return [each.status for each in check.boots("x86", None)]

    def test_a_guest_that_only_powers_off_has_not_shown_anything(self):
        self.assertEqual(self.boots(OK, 0), [PASSED, PASSED])
        self.assertEqual(self.boots(OK, None), [FAILED, PASSED])
        self.assertEqual(self.boots(TEST_FAILED, 1), [FAILED, PASSED])


class KUnit(unittest.TestCase):
    LOG = """
[    1.0] KTAP version 1
[    1.0] 1..1
[    1.1]     # Subtest: text_poke
[    1.1]     1..3
[    1.2]     ok 1 interrupts off # SKIP needs a second CPU
[    1.2]     ok 2 other
[    1.3]         KTAP version 1
[    1.3]         # Subtest: each way
[    1.3]         ok 1 forwards
[    1.3]         ok 2 backwards, twice
[    1.3]     ok 3 each way
[    1.4] ok 1 text_poke
"""
    SAID = """\
[    1.2]     # other: EXPECTATION FAILED at kernel/text_poke/core_test.c:77
[    1.2]     Expected site->old == found, but
[    1.2]         site->old == 1 (0x1)
[    1.2]         found == 2 (0x2)
[    1.2]     not ok 2 other
"""

    def kunit(self, log=LOG, suites=("text_poke",)):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        result = mock.Mock(out_tar=folder / "out", console="")
        self.place = folder / "kunit.log"
        with mock.patch.multiple(
            tests,
            sent=lambda *_: log,
            KUNIT_SUITES=suites,
            guest_results=lambda *_: [],
            arches=mock.DEFAULT,
        ), mock.patch.object(tests.series, "source_tree", bases.base_source):
            tests.arches.get.return_value.kunit = ()
            return tests._kunit_results("x86", Path("x86"), result)

    def failed(self, log):
        return [each for each in self.kunit(log) if each.status == FAILED]

    def test_a_case_says_why_it_was_skipped(self):
        found = self.kunit()
        self.assertEqual(
            [(each.name, each.status, each.note) for each in found],
            [
                ("text_poke: interrupts off", SKIPPED, "needs a second CPU"),
                ("text_poke: other", PASSED, ""),
                ("text_poke: each way: forwards", PASSED, ""),
                ("text_poke: each way: backwards, twice", PASSED, ""),
            ],
        )

    def test_or_where_it_has_failed_and_what_it_said(self):
        (found,) = self.failed(self.LOG.replace("[    1.2]     ok 2 other\n", self.SAID))
        self.assertEqual(found.name, "text_poke: other")
        self.assertEqual(
            found.note, f"EXPECTATION FAILED at kernel/text_poke/core_test.c:77; see {self.place}"
        )
        self.assertEqual(
            found.said[1:],
            ("Expected site->old == found, but", "site->old == 1 (0x1)", "found == 2 (0x2)"),
        )
        self.assertTrue(self.place.name == "kunit.log")

    def test_a_kernel_that_died_in_a_case(self):
        log = (
            self.LOG[: self.LOG.index("[    1.2]     ok 2")]
            + "[    1.2] BUG: unable to handle page fault\n"
        )
        self.assertTrue(self.failed(log))

    def test_a_log_without_results(self):
        self.assertTrue(self.failed("[    1.0] Run /init\n"))

    def test_a_suite_of_which_all_was_skipped_did_not_run(self):
        found = self.kunit(suites=("text_poke", "text_poke_live"))
        self.assertEqual(
            [each.name for each in found if each.status == FAILED],
            ["text_poke_live: the suite ran"],
        )
        log = self.LOG[: self.LOG.index("[    1.2]     ok 2")] + "[    1.4] ok 1 text_poke\n"
        self.assertIn("text_poke: the suite ran", [each.name for each in self.failed(log)])


class GuestsOfTheirOwn(unittest.TestCase):
    """Selftests that need a guest which the others do not have."""

    def guests(self, function, name):
        """What a function gives for an architecture, and the list that the guest goes by."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        with mock.patch.multiple(
            tests,
            install_selftests=lambda *_, **__: folder,
            programs=lambda *_: {},
            say=mock.DEFAULT,
        ):
            return list(function(name, Path(name))), folder / "kselftest-list.txt"

    def test_one_that_counts_is_for_those_that_do(self):
        (guest,), listed = self.guests(tests.counted_guests, "arm64")
        self.assertEqual(listed.read_text(), "perf_events:remove_on_exec\n")
        self.assertIn("-icount", guest.how["qemu_args"])
        self.assertEqual(self.guests(tests.counted_guests, "riscv")[0], [])

    def test_one_without_a_tick_is_for_the_isolated_cpu(self):
        (guest,), listed = self.guests(tests.isolated_guests, "riscv")
        self.assertEqual(listed.read_text(), "text_poke:isolated_cpus_are_left_alone\n")
        self.assertIn("nohz_full=1", guest.how["append"].split())
        self.assertEqual(self.guests(tests.isolated_guests, "powerpc")[0], [])


class TargetsOfAKernel(unittest.TestCase):
    """Selftests that want what not every kernel of an architecture has."""

    def possible(self, config):
        kdir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (kdir / ".config").write_text(config)
        targets, lacking = tests.possible(kdir, ("text_poke", "livepatch"))
        return targets, [(each.name, each.status) for each in lacking]

    def test_all_where_it_has_everything(self):
        self.assertEqual(self.possible("CONFIG_LIVEPATCH=y\n"), (("text_poke", "livepatch"), []))

    def test_what_cannot_be_built_is_told(self):
        self.assertEqual(
            self.possible("# CONFIG_LIVEPATCH is not set\n"),
            (("text_poke",), [("livepatch", SKIPPED)]),
        )

    def test_what_is_not_wanted_is_not_told(self):
        kdir = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (kdir / ".config").write_text("")
        self.assertEqual(tests.possible(kdir, ("text_poke",)), (("text_poke",), []))


class TakingTurns(unittest.TestCase):
    def found(self, store, name="x86"):
        def gives(name, status=PASSED):
            return check.Part(lambda: [Result(name, status)], lambda: [name])

        left_out = [Result("left out", SKIPPED)]
        refused = check.Part(Ftracetest.refuse, lambda: ["ftracetest"])
        with (
            mock.patch.multiple(
                tests,
                isolated_guests=lambda *_, **__: [],
                ftracetest_guests=lambda *_: (left_out, [refused]),
                install_selftests=mock.DEFAULT,
                selftests_guest=lambda *_, **__: gives("replay", FAILED),
                kunit_guest=lambda *_: gives("KUnit"),
            ),
            mock.patch.object(onebyone, "OneByOne", lambda _store, _title, guest: guest),
            mock.patch.object(torture, "torture_guest", lambda *_: gives("torture")),
            mock.patch.multiple(
                check,
                _main_job=lambda *_: [Result("the main job", PASSED)],
                _guests=lambda *_: [Result("guests", PASSED)],
                _main_job_parts=lambda *_: ["run"],
                _guests_parts=lambda *_: ["guests"],
                say=mock.DEFAULT,
            ),
            mock.patch.object(
                endings, "endings_guests", lambda *_: [gives("panic"), gives("crash")]
            ),
        ):
            return list(check._taking_turns(store, name, Path(name)))

    def test_suites_run_once_more_with_other_words(self):
        with tempfile.TemporaryDirectory() as folder:
            found = self.found(kept.Store(place=Path(folder)), "powerpc")
        self.assertIn(
            ("powerpc: ftrace_mflr=remove: KUnit", PASSED),
            [(each.name, each.status) for each in found],
        )

    def test_a_guest_that_cannot_be_booted_does_not_hide_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = (self.found(kept.Store(place=Path(folder))) for _ in range(2))
        names = [
            ("replay", FAILED),
            ("the main job", PASSED),
            ("ftracetest 1", FAILED),
            ("torture", PASSED),
            ("KUnit", PASSED),
            ("guests", PASSED),
            ("panic", PASSED),
            ("crash", PASSED),
            ("left out", SKIPPED),
        ]
        for found in first, second:
            self.assertEqual(
                [(each.name, each.status) for each in found],
                [(f"x86: {name}", status) for name, status in names],
            )
        self.assertEqual([each.name for each in first if each.unchanged], [])
        # Neither what failed, nor what broke, nor what is not done at all.
        self.assertEqual(
            [each.name for each in second if not each.unchanged],
            ["x86: replay", "x86: ftracetest 1", "x86: left out"],
        )


class Installed(unittest.TestCase):
    def test_what_is_there_is_not_built_again(self):
        own = Path(self.enterContext(tempfile.TemporaryDirectory())) / "selftests-text_poke"
        own.mkdir()
        known.tell(own, ["text_poke:a", *tests.ISOLATED])
        for test in known.listed(own):
            known.file_of(own, test).parent.mkdir(exist_ok=True)
            known.file_of(own, test).touch()
        with (
            mock.patch.object(tests, "install_selftests") as build,
            mock.patch.object(tests, "programs", return_value={}),
        ):
            (guest,) = tests.isolated_guests("x86", Path("kdir"), own=own)
        build.assert_not_called()
        self.assertEqual(guest.folder.name, "selftests-text_poke-isolated")
        self.assertEqual(known.listed(guest.folder), [*tests.ISOLATED])
        self.assertEqual(known.listed(own), ["text_poke:a", *tests.ISOLATED])


class MainJob(unittest.TestCase):
    def test_its_exit_status_is_its_verdict(self):
        for status, wanted in ((0, PASSED), (1, FAILED), (4, FAILED)):
            with mock.patch.object(check, "command", return_value=status) as ran:
                (found,) = check._main_job("x86")
            self.assertEqual(
                (found.status, ran.call_args.args[0][1:]), (wanted, ["run", "ARCH=x86"])
            )


class Interruption(unittest.TestCase):
    SCRIPT = """if True:
        import pathlib, sys, threading, time
        sys.path.insert(0, sys.argv[1])
        from textpoke import say
        log = pathlib.Path(sys.argv[2])
        words = ["sh", "-c", "echo $$; exec sleep 100"]
        threading.Thread(target=say.run, args=(words, log), daemon=True).start()
        while not log.exists() or log.read_text().count("\\n") < 2:
            time.sleep(0.01)
        # It may say so before our side has made a note of it.
        time.sleep(1)
        raise KeyboardInterrupt
        """

    def test_commands_of_threads_end_with_us(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            subprocess.run(
                [sys.executable, "-c", self.SCRIPT, paths.DEV, log],
                check=False,
                capture_output=True,
                timeout=30,
            )
            pid = int(log.read_text().splitlines()[1])
        self.assertFalse(Path(f"/proc/{pid}").exists())


class Lkdtm(unittest.TestCase):
    def test_where_it_cannot_be_tried_it_says_why(self):
        skipped = [Result("lkdtm", SKIPPED, arches.get("riscv").lkdtm)]
        self.assertEqual(tests.lkdtm("riscv", None), skipped)


class Stays(unittest.TestCase):
    def test_the_plan_counts_every_result(self):
        script = (initramfs.GUEST / "stays.sh").read_text()
        results = len(re.findall(r"^\tresult ", script, re.M))
        self.assertIn(f"echo 1..{results}\n", script)


class Samples(unittest.TestCase):
    SCRIPT = (initramfs.GUEST / "samples.sh").read_text()

    def test_the_plan_counts_every_result(self):
        loaded = len(re.findall(r"^\tsample .", self.SCRIPT, re.M))
        each = len(re.findall(r"^\tresult ", self.SCRIPT, re.M))
        self.assertIn(f"echo 1..{2 * loaded * each}\n", self.SCRIPT)

    def test_every_sample_is_built_where_there_is_a_backend(self):
        for name in ("x86", "arm64", "riscv"):
            have = kernel.settings(
                "\n".join(
                    (kernel.FRAGMENTS / f"{each}.config").read_text() for each in ("common", name)
                )
            )
            for symbol in (
                "SAMPLE_FTRACE_DIRECT",
                "SAMPLE_FTRACE_DIRECT_MULTI",
                "SAMPLE_FTRACE_OPS",
            ):
                self.assertEqual(have.get(symbol), "m", f"{symbol} on {name}")

    def test_the_guest_has_modules_and_its_words_are_results(self):
        said = "1..2\nok 1 selftests: samples: a-loads\nnot ok 2 selftests: samples: a-unloads\n"
        guest = mock.Mock(code=OK, badness=[])
        with mock.patch.object(tests.initramfs, "build_initramfs") as built, mock.patch.object(
            tests, "say"
        ), mock.patch.multiple(tests, in_guest=lambda *_: guest, sent=lambda *_: said):
            found = {each.name: each.status for each in tests.samples("arm64", Path("kdir"))}
        self.assertEqual(built.call_args.kwargs["kdir"], Path("kdir"))
        self.assertEqual(
            found,
            {
                "samples: a-loads": PASSED,
                "samples: a-unloads": FAILED,
                "samples: the guest ends by itself": PASSED,
                "samples: the kernel does not complain": PASSED,
            },
        )


class Ziccif(unittest.TestCase):
    SCRIPT = (initramfs.GUEST / "ziccif.sh").read_text()
    SEEN = "ziccif: seen with and without"

    def found(self, *jobs):
        """What is made of two guests, each of which says one line, of the CPUs they had."""
        cpus, said = [], iter(jobs)

        def booted(machine, *_):
            cpus.append(machine.cpu)
            return mock.Mock(code=OK, badness=[])

        with mock.patch.object(tests.initramfs, "build_initramfs"), mock.patch.object(
            tests, "say"
        ), mock.patch.multiple(tests, in_guest=booted, sent=lambda *_: f"1..1\n{next(said)}\n"):
            results = list(tests.ziccif("riscv", Path("kdir")))
        riscv = arches.get("riscv")
        self.assertEqual(cpus, [riscv.cpu, riscv.no_ziccif])
        return {each.name: each for each in results}

    def test_both_are_to_be_seen(self):
        there, absent = (f"ok 1 selftests: {each}" for each in tests.ZICCIF)
        for said, status, note in (
            ((there, absent), PASSED, ""),
            ((there, there), FAILED, f"not seen: {tests.ZICCIF[1]}"),
            ((absent, absent), FAILED, f"not seen: {tests.ZICCIF[0]}"),
            ((there, f"not {absent}"), FAILED, f"not seen: {tests.ZICCIF[1]}"),
            ((f"not {there}", absent), FAILED, f"not seen: {tests.ZICCIF[0]}"),
        ):
            seen = self.found(*said)[self.SEEN]
            self.assertEqual((seen.status, seen.note), (status, note), said)

    def test_the_guest_says_what_is_looked_for(self):
        for name in tests.ZICCIF:
            suite, case = name.split(": ")
            self.assertIn(f"suite={suite}\n", self.SCRIPT)
            self.assertIn(f"\tresult {case}\n", self.SCRIPT)

    def test_the_kernel_says_what_the_guest_looks_for(self):
        warning = re.search('^WARNING="(.+)"$', self.SCRIPT, re.M)[1]
        patches = (paths.ROOT / "patches").glob("*/*riscv*.patch")
        self.assertTrue(any(f'pr_info("{warning}' in path.read_text() for path in patches))


class Architectures(unittest.TestCase):
    def test_the_four_and_those_with_a_backend_first(self):
        self.assertEqual(check.names(cli.Options({})), ["x86", "arm64", "riscv", "powerpc"])
        self.assertEqual(check.names(cli.Options({"ARCH": "i386"})), ["i386"])


class Count(unittest.TestCase):
    def report(self, *steps):
        report, out = check.Report(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            for step in steps:
                report.step("step", step)
            code = report.end()
        return code, out.getvalue().splitlines()

    def test_last_line_counts(self):
        code, lines = self.report(lambda: [Result("a", PASSED), Result("b", SKIPPED, "why")])
        self.assertEqual(
            (code, lines), (OK, ["ok a", "skip b (why)", "1 passed, 0 failed, 1 skipped"])
        )

    def test_a_failure_is_the_exit_code(self):
        self.assertEqual(
            self.report(lambda: [Result("a", FAILED), Result("b", PASSED)])[0], TEST_FAILED
        )

    def test_nothing_passed_is_a_failure(self):
        self.assertEqual(self.report(lambda: [Result("a", SKIPPED)])[0], TEST_FAILED)
        self.assertEqual(self.report()[0], TEST_FAILED)

    def test_a_step_that_breaks_is_a_failed_test(self):
        def sentence():
            raise Fail(INFRA, "no network")

        def mistake():
            yield Result("a", PASSED)
            raise KeyError("b")

        code, lines = self.report(sentence, mistake)
        self.assertEqual(code, TEST_FAILED)
        self.assertEqual(
            lines[:3], ["not ok step (no network)", "ok a", "not ok step (KeyError: 'b')"]
        )
        self.assertEqual(
            lines[3:],
            [
                "failed: step (no network)",
                "failed: step (KeyError: 'b')",
                "1 passed, 2 failed, 0 skipped",
            ],
        )


class Written(unittest.TestCase):
    """Results as KTAP, for programs."""

    STEPS = [
        ktap.Step(
            "series: gates",
            [
                Result("a gate", PASSED, "1 s"),
                Result("a gate", FAILED, "two\nlines", before=("said",)),
                Result("", SKIPPED, "no disk"),
            ],
        ),
        ktap.Step("x86: #1", [Result("boots", PASSED)]),
        ktap.Step("nothing", []),
        ktap.Step("only skips", [Result("x", SKIPPED, "why")]),
    ]

    def test_names_are_there_and_differ_and_steps_nest(self):
        self.assertEqual(
            ktap.written(self.STEPS).splitlines(),
            [
                "KTAP version 1",
                "1..4",
                "  KTAP version 1",
                "  1..3",
                "  ok 1 a gate",
                "  # two",
                "  # lines",
                "  # said",
                "  not ok 2 a gate (2)",
                "  ok 3 without a name # SKIP no disk",
                "not ok 1 series: gates",
                "  KTAP version 1",
                "  1..1",
                "  ok 1 boots",
                "ok 2 x86: @1",
                "ok 3 nothing # SKIP it has no results",
                "  KTAP version 1",
                "  1..1",
                "  ok 1 x # SKIP why",
                "ok 4 only skips # SKIP",
            ],
        )

    def test_the_kernel_s_own_parser_reads_it(self):
        place = bases.base_source() / "tools/testing/kunit"
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]); import kunit_parser as k\n"
            "c = k.parse_run_tests(sys.stdin.read().splitlines()).counts\n"
            "print(c.passed, c.failed, c.skipped, c.errors)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, place],
            input=ktap.written(self.STEPS[:2]),
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual(done.stdout.split()[-4:], ["2", "1", "1", "0"], done.stderr)

    def test_it_is_written_at_the_end(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(
            paths, "LOGS", Path(folder) / "log"
        ), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            report = check.Report().into("check")
            report.step("a step", lambda: [Result("a", PASSED)])
            report.end()
            self.assertIn(
                "ok 1 a\nok 1 a step\n",
                (Path(folder) / "log/check.ktap").read_text().replace("  ", ""),
            )


class Picking(unittest.TestCase):
    """ONLY and LIST of `check`."""

    def run_check(self, **options):
        done = []

        def everything(report, _):
            for name in ("series: gates", "x86: kernel and guests"):
                report.step(
                    name,
                    lambda name=name: done.append(name) or [Result(name, PASSED)],
                    parts=kept.NOTHING,
                )

        with (
            mock.patch.object(check, "everything", everything),
            mock.patch.object(check.Report, "_write"),
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()),
        ):
            code = check.main(cli.Options(options))
        return code, done, out.getvalue().splitlines()

    def test_all_without_them(self):
        self.assertEqual(self.run_check()[:2], (OK, ["series: gates", "x86: kernel and guests"]))

    def test_only_some(self):
        self.assertEqual(
            self.run_check(ONLY="x86*"),
            (
                OK,
                ["x86: kernel and guests"],
                ["ok x86: kernel and guests", "1 passed, 0 failed, 0 skipped"],
            ),
        )
        with self.assertRaisesRegex(Fail, "matches none of the 2 steps"):
            self.run_check(ONLY="x87*")

    def test_a_list_does_nothing(self):
        self.assertEqual(
            self.run_check(LIST="1"),
            (
                OK,
                [],
                ["to do: series: gates", "to do: x86: kernel and guests", "2 of 2 steps to do"],
            ),
        )

    def test_a_silent_step_gives_a_sign_of_life(self):
        with (
            mock.patch.object(check.Report, "silent_for", 0.1),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            check.Report().step("a step", lambda: time.sleep(0.5) or [Result("a", PASSED)])
        self.assertIn("a step: still at it", said.getvalue())


class Ahead(unittest.TestCase):
    """A step that is done beside the parts of another, and has its turn later."""

    def setUp(self):
        self.store = kept.Store(place=Path(self.enterContext(tempfile.TemporaryDirectory())))
        self.made_from, self.status, self.done = "a", PASSED, 0
        for stream in contextlib.redirect_stdout, contextlib.redirect_stderr:
            self.enterContext(stream(io.StringIO()))

    def give(self):
        self.done += 1
        if self.status is None:
            raise Fail(INFRA, "no QEMU")
        return [Result("decoded", self.status)]

    def step(self):
        return check.Ahead(self.store, "x86: trace", lambda: [self.made_from], self.give)

    def turn(self, step):
        return list(self.store.once(step.name, step.parts, step))

    def test_it_is_done_once(self):
        step = self.step()
        step.begin()
        (found,) = self.turn(step)
        self.assertEqual((found.status, found.unchanged, self.done), (PASSED, False, 1))
        self.assertIsNotNone(found.seconds)
        step = self.step()
        step.begin()
        (found,) = self.turn(step)
        self.assertEqual((found.status, found.unchanged, self.done), (PASSED, True, 1))

    def test_it_is_done_in_its_turn_if_it_was_not_begun(self):
        (found,) = self.turn(self.step())
        self.assertEqual((found.status, self.done), (PASSED, 1))

    def test_it_is_done_again_if_it_would_be_made_from_something_else(self):
        step = self.step()
        step.begin()
        self.made_from = "b"
        self.turn(step)
        self.assertEqual(self.done, 2)

    def test_a_failure_waits_for_its_turn(self):
        for self.status in FAILED, None:
            step = self.step()
            step.begin()
            self.assertEqual([each.status for each in self.turn(step)], [FAILED])
        self.assertEqual(self.done, 2)

    def test_its_results_are_not_those_of_the_step_beside_it(self):
        step = self.step()
        found = list(check._all_of(self.store, "x86", [], [step]))
        self.assertEqual((found, self.done), ([], 1))


class UnitTests(unittest.TestCase):
    def test_the_result_of_each_is_its_own(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(
            check, "UNIT_TESTS", Path(name)
        ), mock.patch.multiple(paths, DEV=Path(name), LOGS=Path(name) / "log"):
            for test, body in ("test_a", "self.fail('no')"), ("test_b", "pass" + " " * 80):
                (Path(name) / f"{test}.py").write_text(
                    "import unittest\nclass T(unittest.TestCase):\n"
                    f"    def test_it(self):\n        {body}\n"
                )
            found = list(check._unit_tests("tools"))
        self.assertEqual(
            [(each.name, each.status) for each in found],
            [("tools: test_a", FAILED), ("tools: test_b", PASSED)],
        )
        self.assertIn("AssertionError: no", found[0].note)

    def test_those_without_the_series_find_nothing_of_it(self):
        root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        dev = root / "tools/dev"
        files = {
            root / "Makefile": "",
            dev / "beside": "",
            dev / "tests/test_a.py": "from pathlib import Path\nimport unittest\n"
            "class T(unittest.TestCase):\n"
            "    def test_it(self):\n"
            "        top = Path(__file__).parents[3]\n"
            "        self.assertEqual([*top.iterdir()], [top / 'tools'])\n"
            "        self.assertTrue(Path('beside').exists())\n",
        }
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        with mock.patch.object(check, "UNIT_TESTS", dev / "tests"), mock.patch.multiple(
            paths, ROOT=root, DEV=dev, LOGS=root / "log"
        ):
            there = list(check._unit_tests("tools"))
            copied = list(check._alone("tools", ["test_a.py"]))
        self.assertEqual([each.status for each in (*there, *copied)], [FAILED, PASSED])

    def test_the_words_of_a_failure_are_told(self):
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log"
            log.write_text(
                "test_a (t.T.test_a) ... [ 1s] QEMU: x\nFAIL\nFAIL: test_a (t.T.test_a)\n"
                "Traceback\n  File\n"
                "AssertionError: 3 != 0 : it hung\nERROR: test_b (t.T.test_b)\n"
                "textpoke.errors.Fail: no QEMU\n"
            )
            said = check._why(log)
        self.assertEqual(
            said,
            "FAIL: test_a (t.T.test_a); AssertionError: 3 != 0 : it hung; ERROR: test_b "
            "(t.T.test_b); "
            f"textpoke.errors.Fail: no QEMU; see {log}",
        )

    def test_what_was_skipped_is_told_beside_what_passed(self):
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log"
            log.write_text(
                "test_a (t.T.test_a) ... skipped 'no `x`'\n"
                "test_b (t.T.test_b) ... skipped 'no `x`'\n"
                'test_c (t.T.test_c) ... ok\ntest_d (t.T.test_d) ... skipped "it isn\'t there"\n'
            )
            self.assertEqual(check._left_out(log), "skipped: no `x`; skipped: it isn't there")


if __name__ == "__main__":
    unittest.main()
