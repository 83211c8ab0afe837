# SPDX-License-Identifier: GPL-2.0
"""What check-full keeps of an interrupted run, which patch is built where,
and what counts as a new finding.
"""

import contextlib
import io
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke.checks import full  # noqa: E402
from textpoke.code import lint  # noqa: E402
from textpoke.errors import INFRA, Fail  # noqa: E402
from textpoke.guests import kernel, tests, torture  # noqa: E402
from textpoke.results import kept, known, made  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, Result  # noqa: E402
from textpoke.series.patches import Patch  # noqa: E402
from textpoke.trace import trace  # noqa: E402


class KeepingSteps(unittest.TestCase):
    """A place to keep steps in, and steps."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name) / "passed"
        self.done = []

    def report(self, key="one", only="*", kind=full.Kept):
        return kind(kept.Store(place=self.place), only, lambda _: [key])

    def step(self, report, name="a step", status=PASSED):
        def function():
            self.done.append(name)
            yield Result("a case", status, "a note")

        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(
            io.StringIO()
        ):
            passed = report.keep(name, function)
        return passed, out.getvalue()


class Keeping(KeepingSteps):
    def test_what_has_passed_is_not_done_again(self):
        first, second = (self.step(self.report()) for _ in range(2))
        self.assertEqual(first, (True, "ok a step: a case (a note)\n"))
        self.assertEqual(second, (True, "ok a step: a case (a note; unchanged)\n"))
        self.assertEqual(self.done, ["a step"])

    def test_what_has_failed_is(self):
        for _ in range(2):
            self.assertEqual(self.step(self.report(), status=FAILED)[0], False)
        self.assertEqual(self.done, ["a step"] * 2)

    def test_and_so_is_what_was_made_from_something_else(self):
        self.step(self.report())
        self.step(self.report("two"))
        self.assertEqual(self.done, ["a step"] * 2)

    def test_runs_side_by_side_keep_what_both_have_done(self):
        first, second = self.report(), self.report()
        self.step(first, "x86: KASAN")
        self.step(second, "arm64: KASAN")
        third = self.report()
        for name in ("x86: KASAN", "arm64: KASAN"):
            self.step(third, name)
        self.assertEqual(self.done, ["x86: KASAN", "arm64: KASAN"])

    def test_an_architecture_has_a_key_of_its_own(self):
        for key in ("one", "two"):
            report = full.Kept(
                kept.Store(place=self.place),
                parts=lambda arch: ["its own" if arch == "x86" else key],
            )
            for name in ("x86: KASAN", "code: checkpatch"):
                self.step(report, name)
        self.assertEqual(self.done, ["x86: KASAN", "code: checkpatch", "code: checkpatch"])

    def test_a_step_that_breaks_is_not_kept(self):
        def function():
            yield Result("a case", PASSED)
            raise Fail(INFRA, "no network")

        with contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(self.report().keep("a step", function))
        self.assertFalse(self.place.exists())

    def test_only_what_is_asked_for(self):
        report = self.report(only="arm64: KASAN*")
        for name in ("arm64: KASAN: KUnit", "arm64: lockdep: KUnit"):
            self.assertTrue(self.step(report, name)[0])
        self.assertEqual(self.done, ["arm64: KASAN: KUnit"])

    def test_a_pattern_that_fits_nothing_is_a_slip(self):
        report = self.report(only="arm64: KASAN")
        self.step(report, "arm64: KASAN: KUnit")
        with self.assertRaisesRegex(
            Fail, "^ONLY=arm64: KASAN matches none of the 1 steps: LIST=1 names them$"
        ):
            report.end()


class Naming(KeepingSteps):
    """LIST=1: nothing is done."""

    def listed(self, *names, only="*"):
        report = self.report(only=only, kind=full.Steps)
        said = "".join(self.step(report, name)[1] for name in names)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = report.end()
        return code, said + out.getvalue()

    def test_what_has_passed_and_what_has_not(self):
        self.step(self.report(), "x86: KASAN")
        self.step(self.report(), "x86: lockdep", FAILED)
        self.assertEqual(
            self.listed("x86: KASAN", "x86: lockdep"),
            (0, "passed: x86: KASAN\nto do: x86: lockdep\n1 of 2 steps to do\n"),
        )
        self.assertEqual(self.done, ["x86: KASAN", "x86: lockdep"])

    def test_what_has_passed_of_another_series_is_to_be_done(self):
        self.step(self.report("two"), "x86: KASAN")
        self.assertEqual(self.listed("x86: KASAN"), (0, "to do: x86: KASAN\n1 of 1 steps to do\n"))

    def test_a_pattern_is_for_this_too(self):
        self.assertEqual(
            self.listed("x86: KASAN", "arm64: KASAN", only="arm64*"),
            (0, "to do: arm64: KASAN\n1 of 1 steps to do\n"),
        )
        with self.assertRaisesRegex(Fail, "matches none of the 1 steps"):
            self.listed("x86: KASAN", only="x86")


class Traces(unittest.TestCase):
    def test_each_that_can_be_traced_has_its_step(self):
        report = mock.Mock()
        full._traces(report, [*arches.ARCHES])
        self.assertEqual(
            [call.args[0] for call in report.step.call_args_list],
            [
                f"{name}: {what}"
                for name in arches.ARCHES
                if name in trace.MACHINES
                for what in ("the whole trace", "trace with QEMU 10")
            ],
        )

    def test_it_is_all_of_it_and_beside_the_base_where_perf_decodes(self):
        found = mock.Mock(return_value=[Result("right", PASSED)])
        with mock.patch.multiple(trace, results=found, kernel=mock.DEFAULT):
            for name, base in {"x86": True, "arm64": True, "riscv": False}.items():
                self.assertEqual(
                    [each.name for each in trace.whole(name)], [f"{name}: the whole trace: right"]
                )
                self.assertEqual(found.call_args.kwargs, {"base": base, "size": trace.LONG})


class Variants(unittest.TestCase):
    def test_every_part_is_known(self):
        for variant in full.VARIANTS:
            self.assertTrue(variant.parts)
            self.assertLessEqual(set(variant.parts), set(full.PARTS))

    def test_another_kind_is_built_in_its_place(self):
        built = []
        report = mock.Mock(
            keep=lambda name, function, _: built.append(
                (name, [each.status for each in function()])
            )
            or True
        )
        with mock.patch.object(
            full.kernel, "build_kernel", lambda *what, **how: built.append(what)
        ), mock.patch.dict(full.PARTS, boots=lambda name, *_: [Result(name, PASSED)]):
            full._variant(report, "x86", full.Variant("32 bits", kind="i386", parts=("boots",)))
        self.assertEqual(
            built,
            [
                ("i386",),
                ("x86: 32 bits: kernel", [PASSED]),
                ("i386",),
                ("x86: 32 bits: boots", [PASSED]),
            ],
        )

    def test_a_variant_is_made_from_what_it_is_and_not_from_the_others(self):
        """Else a word about one, or a tool that others use, would have all of them done anew."""
        found = []
        report = mock.Mock(
            keep=lambda name, _, parts: found.append(parts()), parts=lambda name: [name]
        )
        for variant in full.Variant("a"), full.Variant("a", append="more"), full.Variant("a"):
            full._variant(report, "x86", variant)
        first, second, third = found
        self.assertEqual(first, third)
        self.assertNotEqual(first, second)
        named = {str(path.name) for path in made.closure(*full.JUDGES)}
        self.assertLessEqual({"kernel.py", "tests.py", "lint.py"}, named)
        self.assertFalse(named & {"full.py", "fuzz.py", "coverage.py", "deb.py"})

    def test_what_a_variant_asks_for_is_there(self):
        for variant in full.VARIANTS:
            for fragment in variant.fragments:
                self.assertTrue((kernel.FRAGMENTS / f"{fragment}.config").is_file(), fragment)
            self.assertLessEqual(
                {*variant.arches, *filter(None, [variant.kind])},
                {*arches.ARCHES, *arches.KINDS},
            )
        self.assertLessEqual(set(arches.KINDS), {variant.kind for variant in full.VARIANTS})

    def test_another_machine_is_the_same_architecture(self):
        variant = full.Variant(
            "fences by firmware", ("riscv",), machine="virt", parts=("selftests",)
        )
        given = []
        with mock.patch.object(full, "_kernel", lambda *_: Path("riscv")), mock.patch.dict(
            full.PARTS, selftests=lambda *what: given.append(what) or []
        ):
            full._part("riscv", variant, "selftests")
        other = given[0][0]
        self.assertEqual((other.machine, f"{other}"), ("virt", "riscv"))
        self.assertEqual(known.load(other, "riscv"), known.load("riscv", "riscv"))
        self.assertTrue(known.load(other))
        self.assertEqual(known.load(other), known.load("riscv"))
        self.assertNotEqual(known.load("riscv"), known.load(known.ALL))

    def test_and_has_selftests_like_it(self):
        other = replace(arches.get("riscv"), machine="virt")
        with mock.patch.multiple(
            tests,
            install_selftests=lambda name, *_: Path(f"selftests-{name}"),
            isolated_guests=lambda *_: [],
            programs=lambda name, _: {},
            selftests_in=lambda name, kdir, targets, folder, *_, **__: lambda: [
                (f"{name}", targets, folder)
            ],
            say=mock.DEFAULT,
        ):
            found = [tests.selftests(name, Path("riscv")) for name in (other, "riscv")]
        self.assertEqual(found[0], found[1])

    def test_what_only_clang_can_build_is_built_with_it(self):
        for variant in full.VARIANTS:
            if {"bti", "cfi"} & set(variant.fragments):
                self.assertTrue(variant.llvm, variant.name)

    def test_torture_goes_on_for_as_long_as_in_check(self):
        with mock.patch.object(torture, "torture") as mocked:
            full.PARTS["torture"]("arm64", "kdir", "append", 4)
        mocked.assert_called_once_with("arm64", "kdir", torture.MINUTES, "append", 4)

    def test_or_longer_where_the_machine_stands_still_for_a_while(self):
        variant = full.Variant("slow", append="append", smp=4, minutes=5)
        with (
            mock.patch.object(torture, "torture") as mocked,
            mock.patch.object(full, "_kernel", return_value="kdir"),
        ):
            full._part("arm64", variant, "torture")
        mocked.assert_called_once_with("arm64", "kdir", 5, "append", 4)


def patch(*changes, adds=()):
    return Patch(
        "s", "a", "d", "l", adds, "".join(f"diff --git a/{path} b/{path}\n" for path in changes)
    )


class WhereAPatchIsBuilt(unittest.TestCase):
    def test_its_own_architecture(self):
        self.assertEqual(
            full.built_for(patch("arch/arm64/Kconfig", adds=("arch/arm64/kernel/text_poke.c",))),
            ["arm64"],
        )

    def test_all_when_they_share_it(self):
        self.assertEqual(
            full.built_for(patch("arch/arm64/Kconfig", "kernel/jump_label.c")),
            ["x86", "arm64", "riscv", "powerpc"],
        )

    def test_nowhere_when_it_is_no_code_of_the_kernel(self):
        self.assertEqual(
            full.built_for(
                patch("MAINTAINERS", adds=("tools/testing/selftests/text_poke/replay.c",))
            ),
            [],
        )

    def test_perf_is_built_where_it_changes(self):
        self.assertTrue(full.is_perf_s(patch("tools/perf/util/dso.c")))
        self.assertTrue(full.is_perf_s(patch("kernel/a.c", adds=("tools/include/linux/a.h",))))
        self.assertFalse(full.is_perf_s(patch("tools/testing/selftests/a.c", "kernel/perf/a.c")))

    def test_perf_has_a_step_for_each_of_its_patches(self):
        files = [("tools/perf/b.c", "b"), ("kernel/a.c", "a")]
        stages = [(1, patch("kernel/a.c"), files[1:]), (2, patch("tools/perf/b.c"), files)]
        report, built = mock.Mock(), []
        with mock.patch.multiple(
            full,
            series=mock.Mock(source_after=lambda number: (f"src{number}", None)),
            perf=mock.Mock(
                PARTS=full.perf.PARTS, concerns=full.perf.concerns, build_part=built.append
            ),
            _perf_building=lambda: "all else",
        ):
            report.remembered = lambda function: function
            full._every_perf(report, stages)
            ((name, build, parts),) = [call.args for call in report.keep.call_args_list]
            self.assertEqual([each.status for each in build()], ["passed"])
            self.assertEqual(parts(), [[["tools/perf/b.c", "b"]], "all else"])
        self.assertEqual(name, "perf: after patch: s")
        self.assertEqual(built, ["src2"])

    def test_one_in_five_boots(self):
        stages = [
            (number, patch("kernel/a.c" if number % 2 else "arch/arm64/a.c"), [])
            for number in range(1, 14)
        ]
        for name, booted in (("x86", [9]), ("arm64", [5, 10])):
            places = full.of_name(stages, name)
            self.assertEqual([stage[0] for stage, boots in places if boots], booted)

    def test_what_boots_it_counts_where_it_boots(self):
        stages = [(number, patch("arch/riscv/a.c"), []) for number in range(1, 6)]
        report, done, built = mock.Mock(), [], []
        report.remembered = lambda function: function
        with mock.patch.multiple(
            full,
            series=mock.Mock(source_after=lambda number: (number, None)),
            kernel=mock.Mock(build_part=lambda *how: built.append(how) or how[1]),
            check=mock.Mock(boots=lambda name, kdir: done.append((name, kdir)) or ["boots"]),
            _stages=lambda: stages,
            _building=lambda name: "its building",
            _booting=lambda name: "its boot",
        ):
            full._every_patch(report, ["riscv"])
            steps = [call.args for call in report.keep.call_args_list]
            found = [(len(list(build())), parts()[1:]) for _, build, parts in steps]
        self.assertEqual(found[:4], [(1, ["its building"])] * 4)
        self.assertEqual(found[4:], [(2, ["its building", "its boot"])])
        self.assertEqual([boots for *_, boots in built], [False] * 4 + [True])
        self.assertEqual(done, [("riscv", 5)])

    def test_a_kernel_is_built_from_what_concerns_it(self):
        files = [
            (path, path)
            for path in (
                "arch/x86/Kconfig",
                "arch/arm64/Kconfig",
                "kernel/a.c",
                "Documentation/a.rst",
                "tools/perf/a.c",
                "tools/testing/a.c",
                "tools/objtool/a.c",
            )
        ]
        self.assertEqual(
            [path for path, _ in full.kernel_files("arm64", files)],
            ["arch/arm64/Kconfig", "kernel/a.c", "tools/objtool/a.c"],
        )

    def test_a_part_may_lack_what_the_whole_has(self):
        text = (kernel.FRAGMENTS / "series.config").read_text()
        self.assertIn("TEXT_POKE", kernel.exceptions(text, {None, "base", "part"}))
        self.assertEqual(kernel.exceptions(text, {None}), {})


class Findings(unittest.TestCase):
    BASE = [
        "../kernel/a.c:10:5: warning: unused variable 'x' [-Wunused-variable]",
        "/src/kernel/a.c:70: warning: Function parameter 'y' not described",
        "  CC kernel/a.o",
    ]

    def found(self, lines):
        return lint.findings(lines, "/src")

    def test_a_finding_that_has_moved_is_not_new(self):
        moved = [line.replace(":10:", ":99:").replace(":70:", ":71:") for line in self.BASE]
        self.assertEqual(lint.new(self.found(moved), self.found(self.BASE)), [])
        self.assertEqual(sum(self.found(self.BASE).values()), 2)

    def test_one_more_of_the_same_is_new(self):
        more = [*self.BASE, self.BASE[0]]
        self.assertEqual(
            lint.new(self.found(more), self.found(self.BASE)),
            [("kernel/a.c", "warning: unused variable 'x' [-Wunused-variable]")],
        )

    def test_objtool_names_functions_not_lines(self):
        def found(offset, callee):
            line = (
                f"vmlinux.o: warning: objtool: handle+{offset}: call to {callee}() "
                "leaves .noinstr.text section"
            )
            return lint.findings([line], "", lint.OBJTOOL)

        self.assertEqual(lint.new(found("0x1b", "memcmp"), found("0x2c", "memcmp")), [])
        self.assertEqual(len(lint.new(found("0x1b", "printk"), found("0x1b", "memcmp"))), 1)

    def test_a_result_tells_what_is_new(self):
        self.assertEqual(lint.judged("sparse", []).status, PASSED)
        judged = lint.judged("sparse", [("kernel/a.c", "warning: odd")])
        self.assertEqual((judged.status, judged.note), (FAILED, "1 new: kernel/a.c: warning: odd"))

    def test_objects_of_the_kernel_at_hand(self):
        with tempfile.TemporaryDirectory() as folder:
            kdir = Path(folder)
            for name in ("kernel/.a.o.cmd", "arch/x86/kernel/.b.o.cmd"):
                (kdir / name).parent.mkdir(parents=True)
                (kdir / name).touch()
            files = ["kernel/a.c", "kernel/off.c", "arch/x86/kernel/b.c", "include/linux/a.h"]
            self.assertEqual(lint.objects(files, "arm64", kdir), ["kernel/a.o"])
            self.assertEqual(
                lint.objects(files, "x86", kdir), ["kernel/a.o", "arch/x86/kernel/b.o"]
            )


class Checkpatch(unittest.TestCase):
    SAID = "kernel/a.c:12: WARNING:AVOID_BUG: Do not crash the kernel"

    def test_what_it_says_is_told_with_its_file(self):
        self.assertEqual(
            list(lint.objections([self.SAID], {})),
            ["kernel/a.c: AVOID_BUG: Do not crash the kernel"],
        )

    def test_what_is_accepted_is_not_told(self):
        self.assertEqual(
            list(lint.objections([self.SAID], {("kernel/a.c", "AVOID_BUG"): "why"})), []
        )

    def test_the_same_elsewhere_is_told(self):
        self.assertTrue(list(lint.objections([self.SAID], {("kernel/b.c", "AVOID_BUG"): "why"})))

    def test_a_change_log_can_be_accepted_too(self):
        said = [":9: WARNING:UNKNOWN_COMMIT_ID: Unknown commit id '123456789abc'"]
        self.assertEqual(
            list(lint.objections(said, {("*.c", "*"): "why"})),
            ["change log: UNKNOWN_COMMIT_ID: Unknown commit id '123456789abc'"],
        )
        self.assertEqual(list(lint.objections(said, {("change log", "UNKNOWN_*"): "why"})), [])

    def test_what_is_not_understood_is_told(self):
        self.assertEqual(
            list(lint.objections(["Must be run from the top", ""], {})),
            ["Must be run from the top"],
        )

    def test_the_list_can_be_read(self):
        self.assertTrue(lint.accepted())

    def test_it_leaves_no_notes_in_the_source(self):
        with tempfile.TemporaryDirectory() as folder:
            with lint._without_its_notes(Path(folder)):
                (Path(folder) / ".checkpatch-camelcase.date.2026").touch()
            self.assertEqual(list(Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
