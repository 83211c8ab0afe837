# SPDX-License-Identifier: GPL-2.0
"""What is read from a torture run, and when it has failed."""

import sys
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import paths  # noqa: E402
from textpoke.guests import initramfs, torture  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED  # noqa: E402

KERNEL = """\
torture module --- text_poke:  disable_onoff_at_boot=0
Figures: pokes=10 traps-nop=1
Figures: pokes=2000 traps-nop=11
--- End of test: SUCCESS: pokes=3000 guarded=300 listeners=20 probings=30 probe-hits=90000 \
site-probings=20 site-hits=9000 refused=90 cycles=7 traps-nop=12 calls-nmi=4000 preempted=900 \
wrong=0
"""
ONE = """\
TAP version 13
1..4
ok 1 text_changed: 17 bytes in 5 rounds
ok 2 enough_records: 4000 of at least 1000
ok 3 none_lost: 0 of 2 CPUs
ok 4 modules_came: 4 times, 2 to where one had been
# Totals: pass:4 fail:0
"""
REPLAY = f"replay --seconds 5\n{ONE}status 0\nreplay --seconds 5 --hotplug 1\n{ONE}status 0\n"
COUNTS = (
    "graph 3\npressure 2\nwx-looks 60\nsuspend 5\nbacktraces 9\nlivepatch 1\npseudo-nmis 1\n"
    "samples 5000\n"
)
DONE = "everything was done that was to be done"


def sent(kernel=KERNEL, replay=REPLAY, counts=COUNTS):
    return {"kernel": kernel, "replay": replay, "counts": counts}


def failed(files, arch="x86"):
    """name -> note of what failed."""
    return {
        result.name: result.note
        for result in torture.results(arch, files)
        if result.status == FAILED
    }


class Reading(unittest.TestCase):
    def test_the_last_line_of_the_kernel_is_the_verdict(self):
        word, figures = torture.end_of_test(KERNEL)
        self.assertEqual(
            (word, figures["pokes"], figures["traps-nop"], figures["wrong"]),
            ("SUCCESS", 3000, 12, 0),
        )
        self.assertEqual(torture.end_of_test("Figures: pokes=10\n"), ("", {}))

    def test_each_replay_has_its_cases_its_plan_and_its_end(self):
        first, second = torture.replays(REPLAY)
        self.assertEqual((first.how, second.how), ("--seconds 5", "--seconds 5 --hotplug 1"))
        self.assertEqual(
            [(run.planned, len(run.cases), run.status) for run in (first, second)], [(4, 4, 0)] * 2
        )
        self.assertEqual(
            [case.name for case in first.cases],
            ["text_changed", "enough_records", "none_lost", "modules_came"],
        )

    def test_modules_have_to_come_and_to_come_back(self):
        without = REPLAY.replace(
            "modules_came: 4 times, 2 to where one had been",
            "# SKIP modules_came: none was asked for",
        )
        self.assertEqual(torture.figures(sent(replay=without))["modules"], 0)
        self.assertIn("0 of 1 modules, 0 of 1 modules-again", failed(sent(replay=without))[DONE])
        elsewhere = REPLAY.replace("2 to where", "0 to where")
        self.assertEqual(torture.figures(sent(replay=elsewhere))["modules"], 8)
        self.assertIn("too little: 0 of 1 modules-again", failed(sent(replay=elsewhere))[DONE])

    def test_a_kernel_without_what_a_replay_is_to_change_is_a_failure(self):
        lacking = REPLAY.replace("TAP version 13\n", "# no knob of bpf in this kernel\n", 1)
        self.assertTrue(
            any("no knob of bpf" in note for note in failed(sent(replay=lacking)).values())
        )

    def test_figures_of_all_replays_are_added_up(self):
        figures = torture.figures(sent())
        self.assertEqual(
            [
                figures[name]
                for name in (
                    "replays",
                    "records",
                    "lost",
                    "modules",
                    "modules-again",
                    "pokes",
                    "graph",
                )
            ],
            [2, 8000, 0, 8, 4, 3000, 3],
        )
        self.assertIn("pokes 3000, ", torture.in_words(figures))

    def test_nothing_was_sent(self):
        self.assertEqual(torture.figures(sent("", "", "")), {})


class Judging(unittest.TestCase):
    def test_a_good_run(self):
        results = list(torture.results("x86", sent()))
        self.assertEqual({result.status for result in results}, {PASSED})
        self.assertIn("replay: none_lost", [result.name for result in results])

    def test_the_kernel_says_what_was_wrong(self):
        kernel = KERNEL.replace("SUCCESS", "FAILURE").replace(
            "Figures", "!!! what cannot be at a site\nFigures", 1
        )
        self.assertEqual(
            failed(sent(kernel)), {"the kernel's torture test": "what cannot be at a site"}
        )

    def test_no_verdict_is_a_failure(self):
        self.assertEqual(
            failed(sent("Figures: pokes=1\n"), "arm64")["the kernel's torture test"],
            "it gave no verdict",
        )

    def test_a_case_fails_if_it_did_once(self):
        replay = REPLAY.replace("ok 3 none_lost: 0", "not ok 3 none_lost: 9", 1).replace(
            "status 0", "status 1", 1
        )
        self.assertEqual(
            failed(sent(replay=replay)), {"replay: none_lost": "in 1 of 2 replays: 9 of 2 CPUs"}
        )

    def test_a_case_is_skipped_if_it_always_was(self):
        def status(replay):
            return [
                result.status
                for result in torture.results("x86", sent(replay=replay))
                if result.name == "replay: none_lost"
            ]

        once = REPLAY.replace("ok 3 none_lost: 0", "ok 3 # SKIP none_lost: 0", 1)
        self.assertEqual(status(once), [PASSED])
        self.assertEqual(
            status(once.replace("ok 3 none_lost: 0", "ok 3 # SKIP none_lost: 0")), [SKIPPED]
        )

    def test_a_replay_that_does_not_end_is_a_failure(self):
        name = "every replay ran to its end"
        for replay, why in (
            (REPLAY.replace("status 0", "status 137", 1), "1 of 2 did not"),
            (REPLAY.rsplit("status", 1)[0], "1 of 2 did not"),
            (REPLAY.replace("ok 3 none_lost: 0 of 2 CPUs\n", "", 1), "1 of 2 did not"),
            ("", "there was none"),
        ):
            self.assertEqual(failed(sent(replay=replay))[name], why)

    def test_a_page_that_can_be_written_and_executed_is_a_failure(self):
        self.assertEqual(
            failed(sent(counts=COUNTS + "wx-pages 2\n")),
            {"no page can be written and executed": "there were some in 2 looks"},
        )

    def test_what_was_not_done_often_enough_proves_nothing(self):
        self.assertEqual(
            failed(sent(counts=COUNTS.replace("graph 3\n", "")))[DONE], "too little: 0 of 2 graph"
        )
        self.assertEqual(
            failed(sent(KERNEL.replace("listeners=20", "listeners=7")))[DONE],
            "too little: 7 of 10 listeners",
        )

    def test_a_longer_run_has_to_do_more(self):
        self.assertIn(
            "5000 of 12000 samples",
            {each.name: each.note for each in torture.results("x86", sent(), 60)}[DONE],
        )

    def test_nothing_is_wanted_less_than_once(self):
        self.assertGreaterEqual(min(torture.wanted("x86", 1).values()), 1)

    def test_architectures_differ_in_what_they_can_do(self):
        counts = COUNTS.replace("livepatch 1\n", "").replace("pseudo-nmis 1\n", "")
        without = sent(KERNEL.replace("calls-nmi=4000", "calls-nmi=0"), counts=counts)
        self.assertEqual(failed(without, "riscv"), {})
        self.assertEqual(
            failed(without, "arm64"), {DONE: "too little: 0 of 1 pseudo-nmis, 0 of 1000 calls-nmi"}
        )
        self.assertEqual(
            failed(without, "x86"), {DONE: "too little: 0 of 1 livepatch, 0 of 1000 calls-nmi"}
        )

    def test_where_cpus_are_isolated_some_have_to_be_left_alone(self):
        for counts, note in ("", "too little: 0 of 20 left-alone"), ("left-alone 20\n", ""):
            found = torture.results("x86", sent(counts=COUNTS + counts), append="quiet nohz_full=1")
            self.assertEqual({each.name: each.note for each in found}[DONE], note)


class Longer(unittest.TestCase):
    """The guest's own look at whether it may end, with a kernel log of ours."""

    FIGURES = (
        "pokes=4000 batches=9 undone=4 cycles=4 traps-nop=10 traps-step=10 "
        "calls-task=200 calls-nmi=0 nmis=0 traps-in-nmi=0 wrong=0"
    )

    def enough(self, *lines):
        script = (initramfs.GUEST / "torture.sh").read_text()
        function = re.search(r"^enough\(\)\n\{.*?^\}$", script, re.M | re.S)[0]
        log = "\n".join(f"[    1.0] text_poke-torture: {line}" for line in lines)
        with tempfile.TemporaryDirectory() as folder:
            for word in torture.parameters("x86", 2).split():
                name, value = word.removeprefix("text_poke_torture.").split("=")
                (Path(folder) / name).write_text(f"{value}\n")
            said = f"PARAMS={folder}\ndmesg() {{ echo '{log}'; }}\n{function}\nenough"
            ran = subprocess.run(["sh", "-c", said], capture_output=True, text=True, check=False)
        self.assertEqual(ran.stderr, "")
        return ran.returncode == 0

    def test_the_last_figures_have_to_be_enough(self):
        few = self.FIGURES.replace("traps-step=10", "traps-step=9")
        self.assertTrue(self.enough(f"Figures: {few}", f"Figures: {self.FIGURES}"))
        self.assertFalse(self.enough(f"Figures: {few}"))
        self.assertFalse(self.enough("Start of test: nreaders=4"))

    def test_each_kind_of_figure_is_looked_at(self):
        for figure in ("pokes=3999", "undone=3", "cycles=3", "traps-nop=9", "calls-task=199"):
            name, _, _ = figure.partition("=")
            few = re.sub(rf"{name}=\d+", figure, self.FIGURES)
            self.assertFalse(self.enough(f"Figures: {few}"), figure)

    def test_where_there_are_nmis_they_count(self):
        self.assertFalse(self.enough(f"Figures: {self.FIGURES.replace('nmis=0', 'nmis=1')}"))


class Running(unittest.TestCase):
    def test_the_kernel_is_told_how_little_is_a_failure(self):
        words = torture.parameters("x86", 3).split()
        self.assertIn("text_poke_torture.run=1", words)
        self.assertIn(f"text_poke_torture.pokes_min={3 * torture.A_MINUTE['pokes_min']}", words)
        self.assertIn("text_poke_torture.traps_min=15", words)
        self.assertIn("text_poke_torture.traps_min=3", torture.parameters("powerpc", 3).split())

    def test_what_is_wanted_is_done_by_the_guest_or_the_kernel(self):
        script = (initramfs.GUEST / "torture.sh").read_text()
        kernel = (paths.ROOT / "kernel/text_poke/tests/torture.c").read_text()
        for what in {what for name in arches.ARCHES for what in torture.wanted(name, 1)} - {
            "modules",
            "modules-again",
        }:
            word = what.split("-")[-1] if what.startswith("calls-") else what
            self.assertTrue(
                f"did {what}" in script or f"/{what}" in script or f'"{word}"' in kernel, what
            )

    def test_arm64_has_nmis(self):
        guest = torture.torture_guest("arm64", Path("arm64"), Path(), append="nokaslr")
        self.assertTrue(guest.how["append"].endswith(" irqchip.gicv3_pseudo_nmi=1 nokaslr"))

    def test_what_the_guest_has_sent_is_judged(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(torture, "print", create=True),
            mock.patch.multiple(torture.tests, sent=lambda *_: "", guest_results=lambda *_: []),
        ):
            found = torture._guest_results("arm64", 1, "", mock.Mock(folder=Path(folder)))
            self.assertEqual(
                sorted(path.name for path in Path(folder).iterdir()), ["counts", "kernel", "replay"]
            )
        self.assertIn(FAILED, [each.status for each in found])


if __name__ == "__main__":
    unittest.main()
