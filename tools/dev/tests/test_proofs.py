# SPDX-License-Identifier: GPL-2.0
"""What is made of Spin's models and CBMC's harnesses: lists of mutants, verdicts, survivors.

Neither program is run.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke.errors import INFRA, Fail  # noqa: E402
from textpoke.proofs import cbmc, claims, spin  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED  # noqa: E402

MODEL = """\
/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model, with a mutant in its words.
 *
 * variant ONE: another machine
 * mutant NO_SYNC: goes
 *	wrong
 * mutant ONE NO_SYNC: goes wrong there
 *
 * redundant NO_WAIT: nobody is there
 */
#ifdef ONE
#endif
#if !defined(NO_SYNC) && !defined(NO_WAIT)
#endif
"""

HOLDS = "State-vector 84 byte, depth reached 62, errors: 0\n"
ERROR = (
    "pan:1: assertion violated saved (at depth 5)\nWarning: Search not completed\n"
    "State-vector 84 byte, depth reached 62, errors: 1\n"
)

HARNESS = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * A harness.
 *
 * source lib/one.c
 * source lib/two.h
 * proof first
 * proof second
 *
 * mutant plus in first: "a + b" -> "a - b"
 * mutant lines in second: "case 1:
 *		return;"
 *	-> ""
 */
"""
TEXTS = {"lib/one.c": "\treturn a + b;\n", "lib/two.h": "\tcase 1:\n\t\treturn;\n"}

SUCCESS = (
    "[first.assertion.1] line 3 equal: SUCCESS\n\n"
    "** 0 of 1 failed (1 iterations)\nVERIFICATION SUCCESSFUL\n"
)
FAILURE = (
    "Violated property:\n  file one.c function first line 3 thread 0\n  equal\n  a == b\n\n\n"
    "VERIFICATION FAILED\n"
)


class Folder(unittest.TestCase):
    """Something with files in a folder of its own."""

    def folder(self, **files):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in files.items():
            path = Path(folder.name) / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Path(folder.name)

    def fails(self, sentence, function, *args):
        with self.assertRaises(Fail) as caught:
            function(*args)
        self.assertEqual(caught.exception.code, INFRA)
        self.assertIn(sentence, caught.exception.message)


class Claims(unittest.TestCase):
    def test_entries_end_at_an_empty_line_or_the_next(self):
        found = claims.entries(MODEL, "mutant", "redundant")
        self.assertEqual(
            [(entry.kind, claims.one_line(entry.text)) for entry in found],
            [
                ("mutant", "NO_SYNC: goes wrong"),
                ("mutant", "ONE NO_SYNC: goes wrong there"),
                ("redundant", "NO_WAIT: nobody is there"),
            ],
        )

    def test_no_comment_has_no_entries(self):
        self.assertEqual(claims.entries("int a;\n", "mutant"), [])

    def test_what_is_to_hold_and_what_is_to_fail(self):
        status = {
            (wanted, found): claims.result("name", wanted, lambda found=found: found).status
            for wanted in (True, False)
            for found in ("", "assertion violated")
        }
        self.assertEqual(
            status,
            {
                (True, ""): PASSED,
                (True, "assertion violated"): FAILED,
                (False, ""): FAILED,
                (False, "assertion violated"): PASSED,
            },
        )

    def test_what_cannot_be_run_is_neither(self):
        def run():
            raise Fail(INFRA, "no room")

        for wanted in (True, False):
            self.assertEqual(claims.result("name", wanted, run).status, FAILED)


class Spin(Folder):
    def trials(self, text=MODEL):
        return [(trial.kind, trial.macros) for trial in spin.parse(Path("model.pml"), text)]

    def test_list(self):
        self.assertEqual(
            self.trials(),
            [
                ("variant", ("ONE",)),
                ("mutant", ("NO_SYNC",)),
                ("mutant", ("ONE", "NO_SYNC")),
                ("redundant", ("NO_WAIT",)),
            ],
        )

    def test_macros_that_only_one_side_has(self):
        self.fails("NO_WAIT is not used", self.trials, MODEL.replace(" && !defined(NO_WAIT)", ""))
        self.fails("LATE is not in the list", self.trials, MODEL + "#ifndef LATE\n#endif\n")

    def test_entry_without_a_reason(self):
        self.fails(
            "is not NAME: text", self.trials, MODEL.replace("NO_WAIT: nobody is there", "NO_WAIT")
        )

    def test_verdicts(self):
        self.assertEqual(spin.verdict(HOLDS), "")
        self.assertEqual(spin.verdict(ERROR), "assertion violated saved (at depth 5)")

    def test_search_that_was_cut_short(self):
        self.fails("deeper", spin.verdict, "error: max search depth too small\n" + HOLDS)
        self.fails("not completed", spin.verdict, "Warning: Search not completed\n" + HOLDS)
        self.fails("no end", spin.verdict, "pan: out of memory\n")

    def results(self, found, text=MODEL):
        """Statuses by name, if run gives what `found` has for the macros."""
        folder = self.folder(model_DOT_pml=text)
        with mock.patch.object(spin.host, "need"):
            results = list(spin.results(folder, lambda text, macros=(): found.get(macros, "")))
        return {result.name: result.status for result in results}

    KILLED = {("NO_SYNC",): "an error", ("ONE", "NO_SYNC"): "an error"}

    def test_all_is_well(self):
        self.assertEqual(
            self.results(self.KILLED),
            {
                "spin: model: holds": PASSED,
                "spin: model: variant ONE holds": PASSED,
                "spin: model: mutant NO_SYNC is found": PASSED,
                "spin: model: mutant ONE NO_SYNC is found": PASSED,
                "spin: model: redundant NO_WAIT changes nothing": PASSED,
            },
        )

    def failed(self, found):
        return [name for name, status in self.results(found).items() if status == FAILED]

    def test_survivor(self):
        self.assertEqual(
            self.failed({("NO_SYNC",): "an error"}), ["spin: model: mutant ONE NO_SYNC is found"]
        )

    def test_needed_after_all(self):
        self.assertEqual(
            self.failed(self.KILLED | {("NO_WAIT",): "an error"}),
            ["spin: model: redundant NO_WAIT changes nothing"],
        )

    def test_model_that_does_not_hold(self):
        self.assertEqual(self.failed(self.KILLED | {(): "an error"}), ["spin: model: holds"])

    def test_model_without_mutants(self):
        self.assertEqual(
            self.results({}, "/*\n * A model.\n */\n")["spin: model: has mutants"], FAILED
        )

    def test_folder_without_models(self):
        with mock.patch.object(spin.host, "need"):
            self.assertEqual([result.status for result in spin.results(self.folder())], [FAILED])


class Cbmc(Folder):
    def harness(self, text=HARNESS):
        return cbmc.parse(Path("arm64-one.c"), text)

    def test_list(self):
        harness = self.harness()
        self.assertEqual(
            (harness.arch, harness.sources, harness.proofs),
            ("arm64", ("lib/one.c", "lib/two.h"), ("first", "second")),
        )
        self.assertEqual(
            [(mutant.name, mutant.proof, mutant.old, mutant.new) for mutant in harness.mutants],
            [("plus", "first", "a + b", "a - b"), ("lines", "second", "case 1:\n\t\treturn;", "")],
        )

    def test_lists_that_are_wrong(self):
        self.fails("names no proof", self.harness, HARNESS.replace(" * proof", " * proves"))
        self.fails("names no source", self.harness, HARNESS.replace(" * source", " * about"))
        self.fails("is no proof", self.harness, HARNESS.replace("in second", "in third"))
        self.fails("is not NAME", self.harness, HARNESS.replace('"a - b"', "a - b"))

    def test_mutant_is_in_one_place(self):
        harness = self.harness()
        changed = cbmc.mutated(harness, TEXTS, harness.mutants[1])
        self.assertEqual(changed, TEXTS | {"lib/two.h": "\t\n"})
        for times, text in ((0, "a * b"), (2, "a + b, a + b")):
            self.fails(
                f"{times} times",
                cbmc.mutated,
                harness,
                TEXTS | {"lib/one.c": text},
                harness.mutants[0],
            )

    def test_verdicts(self):
        self.assertEqual(cbmc.verdict(0, SUCCESS), "")
        self.assertEqual(cbmc.verdict(10, FAILURE), "equal")

    def test_proofs_of_nothing(self):
        self.fails("no verdict", cbmc.verdict, 6, "PARSING ERROR\n")
        self.fails("nothing was proved", cbmc.verdict, 0, "** 0 of 0 failed (1 iterations)\n")
        self.fails(
            "leaves ffs() open",
            cbmc.verdict,
            0,
            "**** WARNING: no body for function ffs\n" + SUCCESS,
        )

    def results(self, found, text=HARNESS):
        """Statuses by name, if CBMC says what `found` has for the source and the proof."""
        tree = self.folder(lib__one_DOT_c=TEXTS["lib/one.c"], lib__two_DOT_h=TEXTS["lib/two.h"])
        folder = self.folder(**{"arm64-one_DOT_c": text})

        def run(harness, texts, proof, at=None):
            rounds.append(at)
            return found(texts, proof)

        rounds = self.rounds = []
        checks = [
            check for path in sorted(folder.glob("*.c")) for check in cbmc._checks(path, tree, run)
        ]
        return {result.name: result.status for result in claims.all_at_once(checks)}

    def test_all_is_well(self):
        self.assertEqual(
            self.results(lambda texts, proof: "" if texts == TEXTS else "equal"),
            {
                "cbmc: arm64-one: first holds": PASSED,
                "cbmc: arm64-one: second holds": PASSED,
                "cbmc: arm64-one: mutant plus is found": PASSED,
                "cbmc: arm64-one: mutant lines is found": PASSED,
            },
        )

    def test_one_round(self):
        self.results(lambda *_: "", HARNESS.replace("in first:", "in first at 3:"))
        self.assertEqual(self.rounds.count("3"), 1)
        self.assertEqual(set(self.rounds), {None, "3"})
        said = subprocess.CompletedProcess([], 0, SUCCESS, "")
        for at, words in (None, []), ("0", ["-DAT=0"]):
            with mock.patch.object(cbmc.subprocess, "run", return_value=said) as run:
                cbmc.prove(["cbmc"], Path("tree"), self.harness(), TEXTS, "first", at)
            found = [word for word in run.call_args[0][0] if word.startswith("-D")]
            self.assertEqual(found, words)

    def test_survivors(self):
        statuses = self.results(lambda texts, proof: "")
        self.assertEqual(
            [name for name, status in statuses.items() if status == FAILED],
            ["cbmc: arm64-one: mutant plus is found", "cbmc: arm64-one: mutant lines is found"],
        )

    def test_proof_without_mutants(self):
        statuses = self.results(
            lambda texts, proof: "" if texts == TEXTS else "equal",
            HARNESS.replace("in second", "in first"),
        )
        self.assertEqual(statuses["cbmc: arm64-one: second: has mutants"], FAILED)

    def test_source_that_is_gone(self):
        statuses = self.results(
            lambda texts, proof: "", HARNESS.replace("lib/two.h", "lib/three.h")
        )
        self.assertEqual(statuses, {"cbmc: arm64-one": FAILED})

    def test_the_series_own_sources_come_first(self):
        """Those of the tree have the overlay over them."""
        tree = self.folder(lib__one_DOT_c="overlaid", lib__two_DOT_h="tree")
        with mock.patch.object(cbmc.paths, "ROOT", self.folder(lib__one_DOT_c="own")):
            self.assertEqual(
                cbmc.sources(self.harness(), tree), {"lib/one.c": "own", "lib/two.h": "tree"}
            )
            said = subprocess.CompletedProcess([], 0, SUCCESS, "")
            with mock.patch.object(cbmc.subprocess, "run", return_value=said) as run:
                cbmc.prove(["cbmc"], Path("tree"), self.harness(), TEXTS, "first")
            includes = [word[2:] for word in run.call_args[0][0] if word.startswith("-I")]
            self.assertLess(
                includes.index(f"{cbmc.paths.ROOT}/include"), includes.index("tree/include")
            )

    def test_sources_come_from_the_copy(self):
        """The copy stands before the tree, and below it what the sources have beside them."""
        said = subprocess.CompletedProcess([], 0, SUCCESS, "")
        with mock.patch.object(cbmc.subprocess, "run", return_value=said) as run:
            cbmc.prove(["cbmc"], Path("tree"), self.harness(), TEXTS, "first")
        words = run.call_args[0][0]
        includes = [word[2:] for word in words if word.startswith("-I")]
        self.assertEqual(includes[0], "arm64")
        self.assertEqual(
            includes[-4:], ["tree", "tree/arch/arm64/include", "tree/include", "tree/lib"]
        )
        self.assertTrue(all(not Path(word).exists() for word in includes[1:5]))


if __name__ == "__main__":
    unittest.main()
