# SPDX-License-Identifier: GPL-2.0
"""What is made of the models: mutants, survivors, vacuous tests, and letters that differ.
herd7 itself is not run.
"""

import itertools
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.errors import INFRA, Fail  # noqa: E402
from textpoke.proofs import herd, letters, litmus, lkmm, models  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED  # noqa: E402

TEST = """\
AArch64 test
(*
 * Result: Never
 *
 * A test with DSB ISH in its comment.
 * Reached: 1:X0=1;
 * Reached: 1:X0=2;
 *
 * mutant no-dsb: drop "DSB ISH (* one *)"
 * mutant late: exchange "STR W0,[X1]" "STR W2,[X3]",
 *	replace "CBZ W4,end" by "NOP"
 *
 * redundant acquire: replace "LDAR" by "LDR":
 *	a branch
 *	comes after it
 * variant coherent: on "DIC IDC", drop "DSB ISH (* two *)": it has no need
 *)
{
0:X1=x; 0:X3=y;
}
 P0                  ;
 STR W0,[X1]         ;
 DSB ISH (* one *)   ;
 LDAR W4,[X5]        ;
 CBZ W4,end          ;
 DSB ISH (* two *)   ;
 STR W2,[X3]         ;
end:                 ;

exists (x=1)
"""
STATES = ("1:X0=1;", "1:X0=2;")


def parse(text=TEST):
    return litmus.parse(Path("test.litmus"), text)


def body(text):
    return text.partition("0:X1=x")[2]


def change(name, test=None):
    return next(each for each in (test or parse()).changes if each.name == name)


class Refused(unittest.TestCase):
    def refused(self, function, *words):
        with self.assertRaises(Fail) as caught:
            function()
        self.assertEqual(caught.exception.code, INFRA)
        for word in words:
            self.assertIn(word, caught.exception.message)


class Comment(Refused):
    def test_what_it_says(self):
        test = parse()
        self.assertEqual((test.result, test.reached), ("Never", STATES))
        self.assertEqual(
            [(each.kind, each.name) for each in test.changes],
            [
                ("mutant", "no-dsb"),
                ("mutant", "late"),
                ("redundant", "acquire"),
                ("variant", "coherent"),
            ],
        )
        self.assertEqual(
            change("late").edits,
            (("exchange", "STR W0,[X1]", "STR W2,[X3]"), ("replace", "CBZ W4,end", "NOP")),
        )
        self.assertEqual(
            (change("acquire").why, change("coherent").why),
            ("a branch comes after it", "it has no need"),
        )

    def test_a_result_is_needed(self):
        for text in (
            TEST.replace("Result: Never", ""),
            TEST.replace("Never", "Perhaps"),
            "AArch64 test\n{}\n",
        ):
            self.refused(lambda text=text: parse(text), "Result")

    def test_what_may_go_needs_a_reason(self):
        self.refused(lambda: parse(TEST.replace(": it has no need", "")), "coherent", "reason")

    def test_an_entry_that_cannot_be_read(self):
        for old, new in (
            ('drop "DSB ISH (* one *)"', "drop the barrier"),
            ('drop "DSB', 'delete "DSB'),
            ('by "NOP"', ""),
        ):
            self.refused(lambda old=old, new=new: parse(TEST.replace(old, new)), "test.litmus")


class Changed(Refused):
    def test_drop(self):
        text = litmus.changed(parse(), change("no-dsb"))
        self.assertNotIn("(* one *)", body(text))
        self.assertIn("(* two *)", body(text))

    def test_exchange_and_replace(self):
        text = body(litmus.changed(parse(), change("late")))
        self.assertLess(text.index("STR W2,[X3]"), text.index("DSB ISH"))
        self.assertLess(text.index("NOP"), text.index("STR W0,[X1]"))
        self.assertNotIn("CBZ", text)

    def test_features_come_before_everything(self):
        self.assertEqual(
            litmus.changed(parse(), change("coherent")).splitlines()[1], "CacheType=DIC IDC"
        )

    def test_the_comment_is_left_alone(self):
        self.assertIn('drop "DSB ISH (* one *)"', litmus.changed(parse(), change("no-dsb")))

    def test_a_text_that_is_not_there_is_an_error(self):
        test = parse(TEST.replace(" LDAR W4,[X5]        ;\n", ""))
        self.refused(
            lambda: litmus.changed(test, change("acquire", test)), "acquire", "LDAR", "0 times"
        )

    def test_a_text_that_is_there_twice_is_an_error(self):
        test = parse(TEST.replace('drop "DSB ISH (* one *)"', 'drop "DSB ISH"'))
        self.refused(lambda: litmus.changed(test, change("no-dsb", test)), "2 times")


class Herd(Refused):
    def test_what_it_says(self):
        found = litmus.judge(
            "Test t Allowed\nStates 2\n1:X0=1;\n1:X0=2;\nNo\nObservation t Never 0 4\n"
        )
        self.assertEqual((found.result, found.states), ("Never", STATES))

    def test_a_test_that_it_cannot_read(self):
        self.refused(
            lambda: litmus.judge("", "Warning: File \"t\": unexpected '|'\n"), "unexpected"
        )
        self.refused(lambda: litmus.judge(""), "nothing")

    def test_never_because_nothing_happens(self):
        self.refused(lambda: litmus.judge("Observation t Never 0 0\n"), "shows nothing")

    def test_never_because_it_did_not_look_far_enough(self):
        self.refused(
            lambda: litmus.judge(
                "Observation t Never 0 4\n",
                "unrolling limit exceeded, legal outcomes may be missing.",
            ),
            "loop",
        )


def arm(text, folder):
    """Results of herd.results() where herd7 finds what observe() says."""
    (Path(folder) / "test.litmus").write_text(text)
    with mock.patch.object(litmus, "herd", lambda: ["herd7"]), mock.patch.object(
        litmus, "observe", observe
    ):
        return {result.name: result for result in herd.results(Path(folder))}


def observe(_, text, cwd=None):
    """A herd7 that notices only what becomes of the first DSB and of the store."""
    noticed = "(* one *)" not in body(text) or "NOP" in body(text)
    return litmus.Found("Sometimes" if noticed else "Never", STATES)


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def statuses(self, text=TEST):
        return {name: result.status for name, result in arm(text, self.folder).items()}

    def test_a_line_for_the_test_and_for_each_change(self):
        self.assertEqual(
            self.statuses(),
            {
                "arm64: test: Never": PASSED,
                "arm64: test: mutant no-dsb is found": PASSED,
                "arm64: test: mutant late is found": PASSED,
                "arm64: test: redundant acquire changes nothing": PASSED,
                "arm64: test: variant coherent holds": PASSED,
            },
        )

    def test_a_mutant_that_survives_is_a_failure(self):
        found = self.statuses(TEST.replace('drop "DSB ISH (* one *)"', 'drop "DSB ISH (* two *)"'))
        self.assertEqual(
            [name for name, status in found.items() if status == FAILED],
            ["arm64: test: mutant no-dsb is found"],
        )

    def test_what_is_called_redundant_and_is_not_is_a_failure(self):
        found = self.statuses(TEST.replace('replace "LDAR" by "LDR"', 'drop "DSB ISH (* one *)"'))
        self.assertEqual(found["arm64: test: redundant acquire changes nothing"], FAILED)

    def test_a_test_that_does_not_hold_is_a_failure(self):
        self.assertEqual(
            self.statuses(TEST.replace(" DSB ISH (* one *)", " NOP"))["arm64: test: Never"], FAILED
        )

    def test_a_state_that_is_not_reached_is_a_failure(self):
        result = arm(TEST.replace("1:X0=2;", "1:X0=3;"), self.folder)["arm64: test: Never"]
        self.assertEqual(
            (result.status, result.note), (FAILED, "1:X0=3; is not among the final states")
        )

    def test_a_change_that_cannot_be_made_is_a_failure(self):
        result = arm(TEST.replace("LDAR W4,[X5]", "NOP"), self.folder)[
            "arm64: test: redundant acquire changes nothing"
        ]
        self.assertEqual(result.status, FAILED)
        self.assertIn("0 times", result.note)

    def test_a_test_without_mutants_is_a_failure(self):
        found = self.statuses(
            TEST.replace("mutant no-dsb", "variant no-dsb")
            .replace("mutant late", "variant late")
            .replace('(* one *)"\n', '(* one *)": why\n')
            .replace('by "NOP"\n', 'by "NOP": why\n')
        )
        self.assertEqual(found["arm64: test: has mutants"], FAILED)

    def test_a_test_that_cannot_be_read_is_a_failure(self):
        self.assertEqual(self.statuses(TEST.replace("Never", "Perhaps")), {"arm64: test": FAILED})

    def test_no_tests_are_a_failure(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.object(
            litmus, "herd", lambda: ["herd7"]
        ):
            self.assertEqual([result.status for result in herd.results(Path(empty))], [FAILED])
            with mock.patch.object(
                lkmm.bases, "current", lambda: types.SimpleNamespace(path=Path(empty))
            ):
                self.assertEqual([result.status for result in lkmm.results(Path(empty))], [FAILED])


class Twins(unittest.TestCase):
    def lacking(self, **results):
        tests = {
            name.replace("_", "-"): litmus.Test(
                Path(f"{name.replace('_', '-')}.litmus"), "", result, (), ()
            )
            for name, result in results.items()
        }
        return [name for name, test in tests.items() if lkmm._lacks_twin(test, tests)]

    def test_a_test_and_its_twin(self):
        self.assertEqual(self.lacking(one="Never", one_broken="Sometimes"), [])

    def test_one_without_the_other(self):
        self.assertEqual(self.lacking(one="Never"), ["one"])
        self.assertEqual(self.lacking(one_broken="Sometimes"), ["one-broken"])

    def test_a_twin_that_is_not_broken(self):
        self.assertEqual(self.lacking(one="Never", one_broken="Never"), ["one"])


class Time(unittest.TestCase):
    def ran(self, seconds, wanted=lambda name: True):
        """What is said if the wanted of the models take as long, and what was made of each."""
        each = seconds / len(models.STEPS)
        clock = itertools.accumulate(itertools.cycle((1, each)))
        report, said = mock.Mock(), []
        report.step.side_effect = lambda name, results, *args, parts: wanted(name) and list(
            results(*args)
        )
        with (
            mock.patch.object(models, "say", said.append),
            mock.patch.object(models.time, "monotonic", lambda: next(clock)),
            mock.patch.dict(models.STEPS, {name: tuple for name in models.STEPS}),
        ):
            models.run(report)
        return said, [call.args[0] for call in report.step.call_args_list]

    def test_the_target_is_named_and_kept(self):
        said, steps = self.ran(60)
        self.assertEqual(said, ["the models took 60 s, within the target of 60 s"])
        self.assertEqual(steps, [f"models: {name}" for name in models.STEPS])

    def test_too_long_is_said_and_no_failure(self):
        said, steps = self.ran(60.2)
        self.assertEqual(
            said, ["the models took 61 s: the target of 60 s was exceeded, which is not a failure"]
        )
        self.assertEqual(len(steps), len(models.STEPS))

    def test_nothing_is_said_if_they_were_not_all_run(self):
        said, steps = self.ran(60, wanted=lambda name: name != "models: spin")
        self.assertEqual(said, [])
        self.assertEqual(len(steps), len(models.STEPS))


class OurOwn(unittest.TestCase):
    def test_every_change_can_be_made(self):
        for folder in (herd.FOLDER, lkmm.FOLDER):
            for path in folder.glob("*.litmus"):
                test = litmus.load(path)
                for each in test.changes:
                    with self.subTest(path=path.name, change=each.name):
                        self.assertNotEqual(litmus.changed(test, each), test.text)

    def test_the_letters_agree(self):
        self.assertEqual([result for result in letters.results() if result.status != PASSED], [])


CODE = """\
	ret = write_pass(PASS_FINAL, &at->final, synced.tailed);	/* f */
	emit_records(&at->recorded, synced.armed);		/* d */
	ret = write_pass(PASS_TAIL, &at->tailed, synced.armed);	/* e */
	return write_pass(PASS_ARM, &at->armed, wave);		/* b */
	text_poke_publish(batch.sites, batch.nr);		/* a */
			sync_cpus();				/* c e g */
	/* What is left. */
		text_poke_retire();				/* h */
"""
STEPS = [
    ("a", "publish"),
    ("b", "trap"),
    ("c", "sync"),
    ("d", "record"),
    ("e", "tail"),
    ("e", "sync"),
    ("f", "unit"),
    ("g", "sync"),
    ("h", "retire"),
]
TIMELINE = """\
 * The protocol:
 *
 *   a: publish the batch
 *   b: write a trap into every unit
 *   c: sync ........................... the old instruction cannot run
 *   d: emit one record per site         a hit acts as the NEW instruction
 *   e: write the tails; sync .......... gone
 *   f: write the units
 *   g: sync ........................... the trap cannot be hit
 *   h: retire the batch
"""
MODEL = "/* a */ /* b: trap */ /* c */ /* d */ /* e: sync */ /* f */ /* g */ /* h */"


class Letters(Refused):
    def code(self, old="", new=""):
        self.assertIn(old, CODE)
        return letters.of_code(Path("core.c"), CODE.replace(old, new))

    def timeline(self, old="", new=""):
        letters.check_timeline(Path("text_poke.h"), TIMELINE.replace(old, new), STEPS)

    def model(self, text):
        letters.check_model(Path("model.pml"), text, STEPS)

    def test_the_order_in_which_a_site_sees_the_steps(self):
        self.assertEqual(self.code(), STEPS)

    def test_variables_may_have_any_name(self):
        code = (
            CODE.replace("synced", "before")
            .replace("at->", "progress->")
            .replace("wave", "end")
            .replace("PASS_ARM,", "PASS_ARM, min(a, b),")
        )
        self.assertEqual(letters.of_code(Path("guard.c"), code), STEPS)

    def test_a_step_that_does_not_wait_for_the_sync(self):
        self.refused(lambda: self.code("recorded, synced.armed", "recorded, at->armed"), "step d")

    def test_a_step_that_waits_for_another_sync(self):
        self.refused(
            lambda: self.code("final, synced.tailed", "final, synced.armed"), "no protocol"
        )
        self.refused(lambda: self.code("recorded, synced.armed", "recorded, synced.tailed"))

    def test_a_letter_behind_something_else(self):
        self.refused(lambda: self.code("text_poke_retire", "text_poke_forget"), "text_poke_forget")
        self.refused(lambda: self.code("/* h */", ""), "no protocol")

    def test_timelines(self):
        self.timeline()
        self.refused(lambda: self.timeline("f: write the units", "f: write the tails"), "f, tail,")
        self.refused(
            lambda: self.timeline(" *   d: emit one record per site ", " * "), "d, record,"
        )
        self.refused(lambda: self.timeline("g: sync", "g: wait"), "step g")
        self.refused(lambda: self.timeline("The protocol", "It"), "no timeline")

    def test_a_model_with_all_steps(self):
        self.model(MODEL)
        self.model(" * Steps: a b c d e f g h\n" + MODEL)

    def test_a_model_with_some(self):
        self.model(
            "(*\n * Steps: f h a b f h\n * Left out: c d e g\n *)\n"
            "(* f *) (* h: retire *) (* a *) (* b *) (* f *) // h\n"
        )
        self.model(" * Left out: a b c d e h\n/* f: unit */ /* g */")

    def test_a_model_of_something_else(self):
        self.model(" * Steps: none\n/* no step */")
        self.refused(lambda: self.model(" * Steps: none\n/* b */"), "none", "takes b")

    def test_a_model_with_other_steps_than_the_code(self):
        self.refused(lambda: self.model(MODEL.replace("/* d */", "/* x */")), "no step x")
        self.refused(
            lambda: self.model(MODEL.replace("/* d */", "")), "a b c d e f g h", "a b c e f g h"
        )
        self.refused(lambda: self.model(MODEL.replace("trap", "record")), "b record", "trap")
        self.refused(lambda: self.model("nothing"), "none")

    def test_a_model_with_another_order(self):
        self.refused(
            lambda: self.model(
                " * Steps: a b d c e f g h\n/* a */ /* b */ /* d */ /* c */ /* e */ /* f */ /* g "
                "*/ /* h */"
            ),
            "order",
        )

    def test_a_model_that_is_silent_about_a_step(self):
        self.refused(
            lambda: self.model(" * Steps: f g\n * Left out: a b c d h\n/* f */ /* g */"),
            "a b c d e f g h",
        )


if __name__ == "__main__":
    unittest.main()
