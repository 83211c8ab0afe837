# SPDX-License-Identifier: GPL-2.0
"""What is read from a torture run, and when it has failed."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import initramfs, torture  # noqa: E402
from textpoke.ktap import FAILED, PASSED, SKIPPED  # noqa: E402

KERNEL = """\
torture module --- text_poke:  disable_onoff_at_boot=0
Figures: pokes=10 traps-nop=1
Figures: pokes=2000 traps-nop=11
--- End of test: SUCCESS: pokes=3000 traps-nop=12 calls-nmi=4 cycles=7 wrong=0
"""
ONE = """\
TAP version 13
1..3
ok 1 text_changed: 17 bytes in 5 rounds
ok 2 enough_records: 4000 of at least 1000
ok 3 none_lost: 0 of 2 CPUs
# Totals: pass:3 fail:0
"""
REPLAY = f"replay --seconds 5\n{ONE}status 0\nreplay --seconds 5 --hotplug 1\n{ONE}status 0\n"
COUNTS = "graph 3\npressure 2\nwx-looks 60\nsuspend 5\nbacktraces 9\nlivepatch 1\n"


def sent(kernel=KERNEL, replay=REPLAY, counts=COUNTS):
    return {"kernel": kernel, "replay": replay, "counts": counts}


def failed(files, arch="x86"):
    """name -> note of what failed."""
    return {result.name: result.note for result in torture.results(arch, files) if result.status == FAILED}


class Reading(unittest.TestCase):
    def test_the_last_line_of_the_kernel_is_the_verdict(self):
        self.assertEqual(torture.end_of_test(KERNEL), ("SUCCESS", {"pokes": 3000, "traps-nop": 12, "calls-nmi": 4, "cycles": 7,
                                                                   "wrong": 0}))
        self.assertEqual(torture.end_of_test("Figures: pokes=10\n"), ("", {}))

    def test_each_replay_has_its_cases_its_plan_and_its_end(self):
        first, second = torture.replays(REPLAY)
        self.assertEqual((first.how, second.how), ("--seconds 5", "--seconds 5 --hotplug 1"))
        self.assertEqual([(run.planned, len(run.cases), run.status) for run in (first, second)], [(3, 3, 0)] * 2)
        self.assertEqual([case.name for case in first.cases], ["text_changed", "enough_records", "none_lost"])

    def test_figures_of_all_replays_are_added_up(self):
        figures = torture.figures(sent())
        self.assertEqual([figures[name] for name in ("replays", "records", "lost", "modules", "pokes", "graph")],
                         [2, 8000, 0, 10, 3000, 3])
        self.assertIn("pokes 3000, ", torture.in_words(figures))

    def test_nothing_was_sent(self):
        self.assertEqual(torture.figures(sent("", "", "")), {})


class Judging(unittest.TestCase):
    def test_a_good_run(self):
        results = list(torture.results("x86", sent()))
        self.assertEqual({result.status for result in results}, {PASSED})
        self.assertIn("replay: none_lost", [result.name for result in results])

    def test_the_kernel_says_what_was_wrong(self):
        kernel = KERNEL.replace("SUCCESS", "FAILURE").replace("Figures", "!!! what cannot be at a site\nFigures", 1)
        self.assertEqual(failed(sent(kernel)), {"the kernel's torture test": "what cannot be at a site"})

    def test_no_verdict_is_a_failure(self):
        self.assertEqual(failed(sent("Figures: pokes=1\n"), "arm64")["the kernel's torture test"], "it gave no verdict")

    def test_a_case_fails_if_it_did_once(self):
        replay = REPLAY.replace("ok 3 none_lost: 0", "not ok 3 none_lost: 9", 1).replace("status 0", "status 1", 1)
        self.assertEqual(failed(sent(replay=replay)), {"replay: none_lost": "in 1 of 2 replays: 9 of 2 CPUs"})

    def test_a_case_is_skipped_if_it_always_was(self):
        def status(replay):
            return [result.status for result in torture.results("x86", sent(replay=replay)) if result.name == "replay: none_lost"]

        once = REPLAY.replace("ok 3 none_lost: 0", "ok 3 # SKIP none_lost: 0", 1)
        self.assertEqual(status(once), [PASSED])
        self.assertEqual(status(once.replace("ok 3 none_lost: 0", "ok 3 # SKIP none_lost: 0")), [SKIPPED])

    def test_a_replay_that_does_not_end_is_a_failure(self):
        name = "every replay ran to its end"
        for replay, why in ((REPLAY.replace("status 0", "status 137", 1), "1 of 2 did not"),
                            (REPLAY.rsplit("status", 1)[0], "1 of 2 did not"),
                            (REPLAY.replace("ok 3 none_lost: 0 of 2 CPUs\n", "", 1), "1 of 2 did not"), ("", "there was none")):
            self.assertEqual(failed(sent(replay=replay))[name], why)

    def test_a_page_that_can_be_written_and_executed_is_a_failure(self):
        self.assertEqual(failed(sent(counts=COUNTS + "wx-pages 2\n")),
                         {"no page can be written and executed": "there were some in 2 looks"})

    def test_what_was_never_done_proves_nothing(self):
        name = "everything was done that was to be done"
        self.assertEqual(failed(sent(counts=COUNTS.replace("graph 3\n", "")))[name], "not once: graph")
        self.assertEqual(failed(sent(KERNEL.replace("cycles=7", "cycles=0")))[name], "not once: cycles")

    def test_architectures_differ_in_what_they_can_do(self):
        without = sent(KERNEL.replace("calls-nmi=4", "calls-nmi=0"), counts=COUNTS.replace("livepatch 1\n", ""))
        self.assertEqual(failed(without, "arm64"), {})
        self.assertEqual(failed(without, "x86"), {"everything was done that was to be done": "not once: livepatch, calls-nmi"})


class Running(unittest.TestCase):
    def test_a_longer_run_has_to_do_more(self):
        words = torture.parameters(3).split()
        self.assertIn("text_poke_torture.run=1", words)
        self.assertIn(f"text_poke_torture.pokes_min={3 * torture.A_MINUTE['pokes_min']}", words)

    def test_what_is_wanted_is_done_by_the_guest(self):
        script = (initramfs.GUEST / "torture.sh").read_text()
        for what in set(torture.wanted("x86")) - {"cycles", "modules", "calls-nmi"}:
            self.assertIn(f"did {what}", script)


if __name__ == "__main__":
    unittest.main()
