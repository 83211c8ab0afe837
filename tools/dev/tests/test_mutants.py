# SPDX-License-Identifier: GPL-2.0
"""The table of mutants, and what counts as noticed."""

import re
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import cli, paths  # noqa: E402
from textpoke.checks import mutants  # noqa: E402
from textpoke.errors import Fail  # noqa: E402
from textpoke.guests import tests  # noqa: E402
from textpoke.proofs import models  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED, Result  # noqa: E402

NO_SYNC = mutants.Mutant("NO_SYNC_C", ("checker",), "out of turn")
NO_SORT = mutants.Mutant("NO_SORT", ("core",), "duplicates|overlaps")
DROPPED = mutants.Mutant("RECORD_DROPPED", ("replay",), "old_bytes")
NO_WMB = mutants.Mutant("NO_WMB", ("model",), "lkmm/publish.litmus: no-wmb")
DECLARED = {"lkmm/publish.litmus: no-wmb": "lkmm: publish: mutant no-wmb is found"}
COMPLAINS, ENDS = "KUnit: the kernel does not complain", "KUnit: the guest ends by itself"


class Table(unittest.TestCase):
    def test_a_line_is_read(self):
        self.assertEqual(mutants.parse("# why\n\nNO_SYNC_C | checker | out of turn\n"), [NO_SYNC])

    def test_a_mutant_may_be_for_one_architecture(self):
        (mutant,) = mutants.parse("NO_TAIL | core | a|b | only x86: no tails elsewhere\n")
        self.assertEqual(
            (mutant.pattern, mutant.only, mutant.why), ("a|b", "x86", "no tails elsewhere")
        )

    def test_several_layers_may_notice(self):
        (mutant,) = mutants.parse("NO_PUBLISH | checker or guest | a\n")
        self.assertEqual((mutant.layers, mutant.trial), (("checker", "guest"), mutants.KUNIT))

    def test_layers_tell_with_what_to_try(self):
        self.assertEqual(
            [each.trial for each in (NO_SYNC, NO_SORT, DROPPED, NO_WMB)],
            [mutants.KUNIT, mutants.KUNIT, mutants.SELFTESTS, mutants.MODEL],
        )

    def test_bad_lines_are_told(self):
        for line in (
            "NO_SYNC_C | checker | ",
            "NO_SYNC_C | kunit | x",
            "A | core | x | sometimes",
            "A | core | x | only x86: y | z",
            "A | core or replay | x",
            "A | model or core | x",
            "A | core or spin | x",
            "A | core",
            "A",
        ):
            with self.subTest(line), self.assertRaises(Fail):
                mutants.parse(line)

    def test_names_are_as_on_the_command_line(self):
        self.assertEqual(NO_SYNC.word, "no-sync-c")


class Agree(unittest.TestCase):
    def refused(self, words, *what):
        with self.assertRaisesRegex(Fail, words):
            mutants.agree(*what)

    def test_what_agrees(self):
        mutants.agree([NO_SYNC, NO_WMB], ["NO_SYNC_C"], DECLARED)

    def test_a_step_without_a_line_is_told(self):
        self.refused("no line for NO_TRAP", [NO_SYNC], ["NO_SYNC_C", "NO_TRAP"], {})

    def test_a_line_without_a_step_is_told(self):
        self.refused("has no NO_SYNC_C", [NO_SYNC], [], {})

    def test_a_mutant_that_no_model_has_is_told(self):
        self.refused("no model has the mutant `lkmm/publish.litmus: no-wmb`", [NO_WMB], [], {})

    def test_a_step_is_not_left_to_a_model(self):
        self.refused(
            "has NO_WMB", [NO_WMB, mutants.Mutant("NO_WMB", ("core",), "x")], ["NO_WMB"], DECLARED
        )

    def test_two_lines_of_one_name_are_told(self):
        self.refused("two lines", [NO_SYNC, NO_SYNC], ["NO_SYNC_C"], {})
        here, there = replace(NO_SYNC, only="x86 arm64"), replace(NO_SYNC, only="arm64")
        self.refused("two lines", [here, there], ["NO_SYNC_C"], {})

    def test_two_lines_of_one_name_for_different_architectures(self):
        lines = [replace(NO_SYNC, only="x86 arm64"), replace(NO_SYNC, only="powerpc")]
        mutants.agree(lines, ["NO_SYNC_C"], {})
        self.assertEqual(mutants.of_name("powerpc", lines), lines[1:])
        self.assertEqual(mutants.of_name("x86", lines), lines[:1])
        self.assertEqual(mutants.of_name("riscv", lines), lines)

    def test_the_table_is_that_of_the_kernel_and_of_the_models(self):
        mutants.agree(
            mutants.parse(mutants.TABLE.read_text()),
            mutants.steps(mutants.STEPS.read_text()),
            models.mutants(),
        )

    def test_suites_are_those_that_have_to_run(self):
        everywhere = {*tests.KUNIT_SUITES}.union(*(arch.kunit for arch in arches.ARCHES.values()))
        self.assertLessEqual(set(mutants.SUITES.values()), everywhere)

    def test_patterns_name_cases_of_their_suites(self):
        cases = {}
        for path in (paths.ROOT / "kernel/text_poke/tests").glob("*_test.c"):
            text = path.read_text()
            for suite in re.findall(r'\.name\s*= "(text_poke\w*)"', text):
                cases[suite] = re.findall(r"KUNIT_CASE\w*\((\w+)", text)
        for mutant in mutants.parse(mutants.TABLE.read_text()):
            of_guest = {"ends by itself"} if "guest" in mutant.layers else set()
            for layer in set(mutant.layers) & set(mutants.SUITES):
                with self.subTest(mutant.name):
                    for part in set(mutant.pattern.split("|")) - of_guest:
                        self.assertTrue(
                            any(re.search(part, case) for case in cases[mutants.SUITES[layer]]),
                            part,
                        )


def failed(name, note=""):
    return Result(name, FAILED, note)


class Verdict(unittest.TestCase):
    def survives(self, mutant, *results):
        found = mutants.verdict(mutant, results)
        self.assertEqual(found.status, FAILED)
        return found.note

    def notices(self, mutant, *results):
        found = mutants.verdict(mutant, results)
        self.assertEqual(found.status, PASSED, found.note)
        self.assertIn("noticed", found.note)

    def test_noticed_by_whom_the_table_says(self):
        self.notices(NO_SYNC, failed(COMPLAINS, "WARNING: text_poke: a unit out of turn, at x"))
        self.notices(NO_SORT, failed("text_poke: overlaps_change_nothing"))
        self.notices(DROPPED, failed("text_poke: replay: old_bytes_are_the_state_before"))

    def test_a_survivor_is_a_failure(self):
        self.assertIn("survives", self.survives(NO_SYNC))

    def test_noticed_by_somebody_else_is_a_failure(self):
        self.assertIn("panic", self.survives(NO_SYNC, failed("boots", "panic")))

    def test_the_words_of_another_layer_do_not_count(self):
        self.survives(NO_SYNC, failed("text_poke_debug: out of turn"))
        self.survives(NO_SORT, failed("text_poke_live: overlaps"), failed(COMPLAINS, "overlaps"))
        self.survives(
            DROPPED, failed("text_poke: records_survive_hotplug.sh: old_bytes_are_the_state_before")
        )

    def test_a_suite_that_did_not_run_has_noticed_nothing(self):
        slot = mutants.Mutant("SLOT_NO_QUIESCE", ("slot",), ".")
        self.survives(slot, failed("text_poke_slot: the suite ran", "there is no result of it"))
        self.notices(slot, failed("text_poke_slot: slots_are_freed"))

    def test_one_of_several_layers_is_enough(self):
        mutant = mutants.Mutant("NO_PUBLISH", ("checker", "guest"), "no batch|ends by itself")
        self.notices(mutant, failed(ENDS, "panic"))
        self.notices(mutant, failed(COMPLAINS, "a trap with no batch"))
        self.survives(mutant, failed(COMPLAINS, "BUG: soft lockup"))

    def test_a_workload_without_its_knobs_shows_nothing(self):
        (lacking,) = tests.knobs("# # no knob of modules in this kernel\n")
        self.assertIn(
            "modules",
            self.survives(
                DROPPED, failed("text_poke: replay: old_bytes_are_the_state_before"), lacking
            ),
        )

    def test_only_failures_notice(self):
        self.survives(
            NO_SYNC,
            Result(COMPLAINS, PASSED, "out of turn"),
            Result(COMPLAINS, SKIPPED, "out of turn"),
        )


class Sound(unittest.TestCase):
    def status(self, trial, *results):
        return mutants.soundness(trial, [NO_SORT, DROPPED, NO_WMB], results).status

    def test_what_ran_and_passed(self):
        self.assertEqual(self.status(mutants.KUNIT, Result("text_poke: a", PASSED)), PASSED)

    def test_a_failure_without_a_mutant(self):
        self.assertEqual(
            self.status(mutants.KUNIT, Result("text_poke: a", PASSED), failed("b")), FAILED
        )

    def test_a_workload_without_its_knobs(self):
        passed = Result("text_poke: replay: old_bytes_are_the_state_before", PASSED)
        self.assertEqual(self.status(mutants.SELFTESTS, passed), PASSED)
        self.assertEqual(
            self.status(
                mutants.SELFTESTS, passed, *tests.knobs("# # no knob of bpf in this kernel\n")
            ),
            FAILED,
        )

    def test_a_replay_that_is_skipped(self):
        skipped = Result("text_poke: replay", SKIPPED, "no knob of keys in this kernel")
        self.assertEqual(
            self.status(mutants.SELFTESTS, skipped, Result("text_poke: a.sh", PASSED)), FAILED
        )


class Trials(unittest.TestCase):
    def test_every_trial_gets_the_mutants_name_and_is_sound_first(self):
        asked = []

        def trial(_, __, append):
            asked.append(append)
            nothing = append.endswith("=nothing")
            return [Result("text_poke: overlaps", PASSED if nothing else FAILED)]

        elsewhere = mutants.Mutant("NO_TAIL", ("core",), "x", "x86", "no tails")
        with mock.patch.object(mutants, "TRIALS", {mutants.KUNIT: trial}):
            found = list(mutants.results("arm64", None, [NO_SORT, elsewhere]))
        self.assertEqual(asked, ["text_poke.busted=nothing", "text_poke.busted=no-sort"])
        self.assertEqual([each.status for each in found], [PASSED, PASSED, SKIPPED])

    def test_the_guest_of_the_selftests_takes_a_mutant(self):
        def boots(name, kdir, initrd, **how):
            return [how | {"list": initrd}]

        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(tests, "install_selftests", lambda *_, **__: Path(folder)),
            mock.patch.multiple(
                tests,
                programs=lambda *_: {},
                in_guest=boots,
                _selftests_results=lambda *what: what[-1],
            ),
            mock.patch.object(
                tests.initramfs,
                "build_initramfs",
                lambda name, extra, args, **_: (
                    args,
                    (extra["selftests"] / "kselftest-list.txt").read_text(),
                ),
            ),
        ):
            mutants._installed.cache_clear()
            self.addCleanup(mutants._installed.cache_clear)
            (how,) = mutants.TRIALS[mutants.SELFTESTS]("x86", None, "text_poke.busted=unheard")
        self.assertEqual(
            (how["append"], how["timeout"]), ("text_poke.busted=unheard", mutants.SELFTESTS_TIMEOUT)
        )
        self.assertEqual(how["list"], (("text_poke",), "text_poke:replay\n"))


class Command(unittest.TestCase):
    def run_on(self, **given):
        with mock.patch.object(mutants, "_run") as run, mock.patch.object(
            mutants, "print", create=True
        ):
            mutants.main(cli.Options({"ONLY": "no-sort"} | given))
        return [call.args[1] for call in run.call_args_list]

    def test_every_architecture_unless_one_is_named(self):
        self.assertEqual(self.run_on(), ["x86", "arm64", "riscv", "powerpc"])
        self.assertEqual(self.run_on(ARCH="riscv"), ["riscv"])


class OfModels(unittest.TestCase):
    def results(self, *found):
        with mock.patch.dict(models.STEPS, lkmm=lambda: found):
            return {
                result.name: result.status for result in mutants.model_results([NO_WMB], DECLARED)
            }

    def test_a_mutant_is_what_its_model_says(self):
        for status in (PASSED, FAILED):
            self.assertEqual(
                self.results(Result(DECLARED[NO_WMB.pattern], status)),
                {"model: mutant no-wmb": status},
            )

    def test_a_mutant_that_was_not_tried(self):
        self.assertEqual(self.results(Result("other", PASSED)), {"model: mutant no-wmb": FAILED})

    def test_a_model_that_does_not_hold_shows_nothing(self):
        self.assertEqual(
            self.results(Result(DECLARED[NO_WMB.pattern], PASSED), failed("lkmm: publish: Never")),
            {"model: mutant no-wmb": PASSED, "lkmm: publish: Never": FAILED},
        )

    def test_names_are_those_of_results(self):
        names = models.mutants()
        self.assertEqual(names["lkmm/lookup.litmus: broken"], "lkmm: lookup-broken: Sometimes")
        self.assertEqual(
            names["arm64/forward.litmus: no-isb"], "arm64: forward: mutant no-isb is found"
        )
        self.assertEqual(
            names["spin/batch.pml: ONE_UNIT NO_SYNC_E"],
            "spin: batch: mutant ONE_UNIT NO_SYNC_E is found",
        )
        self.assertEqual(
            names["cbmc/arm64-emulate.c: b-link"], "cbmc: arm64-emulate: mutant b-link is found"
        )


if __name__ == "__main__":
    unittest.main()
