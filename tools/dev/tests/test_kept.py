# SPDX-License-Identifier: GPL-2.0
"""When a step is not done again: it has passed,
and not the least of what it is made from has changed.
"""

import contextlib
import functools
import io
import os
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from textpoke import arch as arches  # noqa: E402
from textpoke import paths  # noqa: E402
from textpoke.checks import check, full  # noqa: E402
from textpoke.errors import INFRA, Fail  # noqa: E402
from textpoke.guests import boot, initramfs, tests, torture  # noqa: E402
from textpoke.proofs import cbmc, litmus, models  # noqa: E402
from textpoke.results import kept, known, made  # noqa: E402
from textpoke.results.ktap import FAILED, PASSED, SKIPPED, Result  # noqa: E402
from textpoke.series import base as bases  # noqa: E402
from textpoke.series.patches import Patch, Variant  # noqa: E402


class Temporary(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))


class Once(Temporary):
    """What is done again."""

    def setUp(self):
        super().setUp()
        self.made, self.times = ["one"], 0
        self.gives = [Result("a case", PASSED, "a note"), Result("another", SKIPPED, "why")]

    def store(self, **how):
        return kept.Store(place=self.folder / "passed", **how)

    def step(self):
        self.times += 1
        yield from self.gives

    def once(self, name="a step", parts=None, **how):
        return list(self.store(**how).once(name, parts or (lambda: list(self.made)), self.step))

    def test_what_has_passed_is_shown_as_it_was(self):
        self.assertEqual(self.once(), self.gives)
        self.assertEqual(self.once(), [replace(each, unchanged=True) for each in self.gives])
        self.assertEqual(self.times, 1)
        self.assertEqual(
            [each.remark for each in self.once()], [" (a note; unchanged)", " (why; unchanged)"]
        )

    def again(self, change):
        """How often a step is done that passed before a change."""
        self.once()
        change()
        self.times = 0
        self.once()
        return self.times

    def test_what_is_made_from_something_else_is_done(self):
        self.assertEqual(self.again(lambda: None), 0)
        self.assertEqual(self.again(lambda: self.made.append("two")), 1)
        self.assertEqual(self.again(lambda: self.made.pop()), 0)

    def test_what_has_failed_is_done(self):
        self.gives.append(Result("a third", FAILED))
        self.assertEqual(self.again(lambda: None), 1)
        self.assertFalse((self.folder / "passed").exists())

    def test_what_has_shown_nothing_is_done(self):
        for self.gives in [], [Result("a case", SKIPPED, "why")]:
            self.assertEqual(self.again(lambda: None), 1)

    def test_what_breaks_is_done(self):
        def breaks():
            yield Result("a case", PASSED)
            raise Fail(INFRA, "no network")

        with self.assertRaises(Fail):
            list(self.store().once("a step", lambda: ["one"], breaks))
        self.once()
        self.assertEqual(self.times, 1)

    def test_what_is_not_followed_to_its_end_is_done(self):
        results = self.store().once("a step", lambda: ["one"], self.step)
        next(results)
        results.close()
        self.once()
        self.assertEqual(self.times, 2)

    def test_what_is_changed_meanwhile_is_done(self):
        def edited():
            self.made[0] = "edited"
            yield from self.gives

        list(self.store().once("a step", lambda: list(self.made), edited))
        self.once()
        self.made[0] = "one"
        self.once()
        self.assertEqual(self.times, 2)

    def test_what_cannot_be_told_is_done(self):
        def fails():
            raise Fail(INFRA, "no package")

        for parts in (lambda: ["one", [made.UNKNOWN]]), fails, (lambda: [self.folder / "gone"]):
            self.times = 0
            self.once(parts=parts)
            self.once(parts=parts)
            self.assertEqual(self.times, 2)

    def test_what_is_to_be_done_always_is(self):
        self.once(parts=kept.NOTHING)
        self.once(parts=kept.NOTHING)
        self.assertEqual(self.times, 2)

    def test_a_step_is_known_by_its_name(self):
        self.once()
        self.once("another step")
        self.assertEqual(self.times, 2)

    def test_fresh_does_everything_and_keeps_it(self):
        self.once()
        self.gives[0] = Result("a case", PASSED, "later")
        self.assertEqual(self.once(fresh=True), self.gives)
        self.assertEqual([each.note for each in self.once()], ["later", "why"])
        self.assertEqual(self.times, 2)

    def test_fresh_and_failed_is_not_what_passed_before(self):
        self.once()
        self.gives.append(Result("a third", FAILED))
        self.once(fresh=True)
        self.once()
        self.assertEqual(self.times, 3)

    def test_a_damaged_file_is_no_result(self):
        for damage in (
            "",
            "{}",
            '{"name": "a step", "key": "x", "results": [["a", "passed", ""]]}',
            "[1",
            '{"results": [[]]}',
        ):
            self.assertEqual(
                self.again(
                    lambda damage=damage: [
                        path.write_text(damage) for path in (self.folder / "passed").iterdir()
                    ]
                ),
                1,
            )

    def test_a_file_that_says_that_something_failed_is_no_result(self):
        def fail():
            for path in (self.folder / "passed").iterdir():
                path.write_text(path.read_text().replace('"passed"', '"failed"'))

        self.assertEqual(self.again(fail), 1)

    def test_without_a_place_to_write_all_goes_on(self):
        (self.folder / "passed").write_text("a file")
        for _ in range(2):
            self.assertEqual(self.once(), self.gives)
        self.assertEqual(self.times, 2)

    def test_what_nobody_asks_for_goes(self):
        self.once()
        (old,) = (self.folder / "passed").iterdir()
        os.utime(old, (0, 0))
        self.once("another step")
        self.assertFalse(old.exists())

    def test_parts_of_a_step_may_be_known(self):
        def outer():
            return self.store().once("inner", lambda: ["one"], self.step)

        self.once("inner", lambda: ["one"])
        list(self.store().once("outer", lambda: ["one"], outer))
        self.assertEqual(
            [each.unchanged for each in self.store().known("outer", made.digest(["one"]))],
            [True, True],
        )


class Count(Temporary):
    """What the report says."""

    def test_unchanged_counts_as_what_it_was(self):
        def step():
            return [Result("a", PASSED), Result("b", SKIPPED, "why")]

        for last in ["ok a", "skip b (why)"], ["ok a (unchanged)", "skip b (why; unchanged)"]:
            report = check.Report(kept.Store(place=self.folder))
            with contextlib.redirect_stdout(io.StringIO()) as out:
                self.assertTrue(report.step("step", step, parts=lambda: ["one"]))
                self.assertEqual(report.end(), 0)
            lines = out.getvalue().splitlines()
            self.assertEqual(lines[:2], last)
            self.assertEqual(lines[-1], "1 passed, 0 failed, 1 skipped")
            self.assertEqual("FRESH=1" in out.getvalue(), "unchanged" in last[0])


class Digest(Temporary):
    def test_where_one_part_ends_counts(self):
        different = [
            ["ab", "c"],
            ["a", "bc"],
            [["a"], "bc"],
            ["a", ["bc"]],
            [["a", "bc"]],
            [b"a", b"bc", b""],
        ]
        self.assertEqual(len({made.digest(parts) for parts in different}), len(different))

    def test_what_a_file_says_counts_and_whether_it_can_be_executed(self):
        path = self.folder / "a"
        path.write_text("one")
        first = made.digest([path])
        path.write_text("two")
        os.utime(path, (1, 1))
        second = made.digest([path])
        path.chmod(0o755)
        third = made.digest([path])
        path.write_text("one")
        path.chmod(0o644)
        self.assertEqual(len({first, second, third}), 3)
        self.assertEqual(made.digest([path]), first)

    def folders(self, change):
        for name in "here", "there":
            (self.folder / name / "sub").mkdir(parents=True)
            (self.folder / name / "sub/a").write_text("one")
            (self.folder / name / "l").symlink_to("sub/a")
        change(self.folder / "there")
        return len({made.digest(made.folder(self.folder / name)) for name in ("here", "there")})

    def test_where_a_folder_lies_does_not(self):
        self.assertEqual(self.folders(lambda _: None), 1)

    def test_names_links_and_contents_below_it_do(self):
        for change in (
            lambda top: (top / "sub/a").rename(top / "sub/b"),
            lambda top: (top / "sub/a").write_text("two"),
            lambda top: (top / "new").touch(),
            lambda top: ((top / "l").unlink(), (top / "l").symlink_to("sub")),
        ):
            with self.subTest():
                self.assertEqual(self.folders(change), 2)
            self.setUp()


class Modules(unittest.TestCase):
    def names(self, *roots):
        return {
            ".".join(path.relative_to(paths.DEV).with_suffix("").parts)
            for path in made.closure(*roots)
        }

    def test_all_that_is_imported_at_any_depth(self):
        found = self.names("guests.tests")
        wanted = "guests.tests guests.boot guests.kernel series.base git say paths __init__"
        self.assertLessEqual({f"textpoke.{name}" for name in wanted.split()}, found)
        for name in ("textpoke.proofs.cbmc", *made.UNJUDGING):
            self.assertNotIn(name, found)
        self.assertEqual(self.names("errors"), {"textpoke.errors", "textpoke.__init__"})

    def test_the_packages_that_these_lie_in(self):
        found = self.names("guests.tests")
        for name in "guests", "results", "series":
            self.assertIn(f"textpoke.{name}.__init__", found)
        self.assertNotIn("textpoke.proofs.__init__", found)

    def test_it_is_what_python_loads(self):
        for root in ("guests.tests", "records.run", "proofs.cbmc", "checks.full"):
            code = (
                f"import sys; import textpoke.{root}; "
                "print(*(name for name in sys.modules if name.startswith('textpoke.')))"
            )
            said = made.output([sys.executable, "-c", code], cwd=paths.DEV)
            found = {name.removesuffix(".__init__") for name in self.names(root)}
            self.assertLessEqual(set(said.split()) - made.UNJUDGING, found, root)

    def test_all_ways_to_import(self):
        for code, wanted in (
            (
                "from . import a, b as c",
                {"textpoke.guests", "textpoke.guests.a", "textpoke.guests.b"},
            ),
            ("from .boot import A", {"textpoke.guests.boot", "textpoke.guests.boot.A"}),
            ("from .. import say", {"textpoke", "textpoke.say"}),
            ("from ..series.git import A", {"textpoke.series.git", "textpoke.series.git.A"}),
            (
                "def a():\n    from ..series import base",
                {"textpoke.series", "textpoke.series.base"},
            ),
            ("import textpoke.say as b", {"textpoke.say"}),
            ("from textpoke.series import base", {"textpoke.series", "textpoke.series.base"}),
        ):
            self.assertEqual(set(made._names_in(code, "textpoke.guests")), wanted, code)
        self.assertEqual(
            set(made._names_in("from . import say", "textpoke")), {"textpoke", "textpoke.say"}
        )

    def test_what_is_no_module_of_ours_is_left_out(self):
        for name in "os", "tests.test_kept", "textpoke.say.output", "textpoke.none", "tests":
            self.assertIsNone(made._file(name), name)

    def test_a_root_that_is_none_is_a_mistake(self):
        for root in "boot", "guests.none", "tests.test_kept":
            with self.assertRaises(ValueError):
                made.modules("errors", root)

    def test_a_module_counts_by_its_place_too(self):
        names = made.modules("guests.boot")[::2]
        self.assertLessEqual({"__init__.py", "guests/__init__.py", "guests/boot.py"}, set(names))
        self.assertEqual(len(names), len(set(names)))


class Machine(Temporary):
    FIELDS = "installed\t{}\tamd64\t{}\t, {}\t{}\n"

    def versions(self, *rows, wanted=("gcc",)):
        text = "".join(self.FIELDS.format(*row) for row in rows)
        made._dpkg.cache_clear()
        self.addCleanup(made._dpkg.cache_clear)
        with mock.patch.object(made, "output", lambda *_, **__: text):
            return made.packages(*wanted)

    def test_what_a_package_needs_belongs_to_it(self):
        rows = [
            ("gcc", "1", "gcc-12 (>= 12) | c-compiler, libc6:any", ""),
            ("gcc-12", "12", "", ""),
            ("libc6", "2", "", ""),
            ("clang", "9", "", "c-compiler"),
        ]
        first = self.versions(*rows)
        self.assertEqual(
            first[1:], ["clang:amd64 9", "gcc-12:amd64 12", "gcc:amd64 1", "libc6:amd64 2"]
        )
        for number, _ in enumerate(rows):
            changed = [
                (*row[:1], "new", *row[2:]) if at == number else row for at, row in enumerate(rows)
            ]
            self.assertNotEqual(self.versions(*changed), first)
        self.assertNotEqual(self.versions(*rows[1:]), first)

    def test_others_do_not(self):
        row = ("gcc", "1", "", "")
        self.assertEqual(self.versions(row), self.versions(row, ("vim", "9", "", "")))

    def test_a_program_is_what_is_found(self):
        seen = set()
        for text in "one", "two":
            program = self.folder / "gcc"
            program.write_text(text)
            program.chmod(0o755)
            with mock.patch.dict(os.environ, PATH=str(self.folder)):
                seen.add(made.digest(made.programs("gcc")))
                seen.add(made.digest(made.programs("ld")))
        self.assertEqual(len(seen), 3)

    def test_what_the_shell_tells_the_compiler(self):
        seen = set()
        for given in (
            {},
            {"KCFLAGS": "-O1"},
            {"KCFLAGS": "-O2"},
            {"LD_LIBRARY_PATH": "/x"},
            {"KBUILD_X": "1"},
            {"CPATH": "/x"},
        ):
            with mock.patch.dict(os.environ, given):
                seen.add(made.digest(made.environment()))
        with mock.patch.dict(os.environ, {"HOME": "/x", "TEXT_POKE_ROOT": "/x"}):
            seen.add(made.digest(made.environment()))
        self.assertEqual(len(seen), 6)


class WhatConcernsAnArchitecture(Temporary):
    def test_its_own_code_and_what_it_shares(self):
        for path in (
            "arch/arm64/Kconfig",
            "arch/Kconfig",
            "kernel/text_poke/core.c",
            "tools/testing/selftests/text_poke/replay.c",
            "arch/arm/kernel/patch.c",
            "arch/x86/crypto/Kconfig",
            "Documentation/Kconfig",
        ):
            self.assertTrue(made.concerns(path, "arm64"), path)
        self.assertTrue(made.concerns("arch/x86/Kconfig", "i386"))
        self.assertTrue(made.concerns("kernel/text_poke/tests/test.h", "arm64"))
        self.assertTrue(made.concerns("kernel/text_poke/tests/x86/arch_test.h", "i386"))

    def test_tests_are_no_part_of_its_kernels(self):
        for path in "tools/testing/selftests/text_poke/replay.c", "tools/perf/util/event.c":
            self.assertTrue(made.concerns(path, "arm64"), path)
            self.assertFalse(made.of_kernel(path, "arm64"), path)
        self.assertTrue(made.of_kernel("kernel/text_poke/core.c", "arm64"))
        self.assertFalse(made.of_kernel("arch/x86/Kconfig", "arm64"))

    def test_not_that_of_others_and_what_is_read(self):
        for path in (
            "arch/x86/Kconfig",
            "Documentation/core-api/text-poke.rst",
            "MAINTAINERS",
            "kernel/text_poke/tests/x86/arch_test.h",
            "tools/verification/text_poke/batch.pml",
        ):
            self.assertFalse(made.concerns(path, "arm64"), path)

    def differs(self, path, names):
        """For which of the architectures a file of the series counts."""

        def digests(blob):
            with mock.patch.object(made, "_series_on", lambda *_: [(path, blob)]):
                return {name: made.digest(made.series_of(name)) for name in names}

        one, other = digests("100644 blob 1"), digests("100644 blob 2")
        return [name for name in names if one[name] != other[name]]

    def test_files_count_where_they_are_read(self):
        for path, wanted in (
            ("arch/x86/Kconfig", ["x86", "i386"]),
            ("arch/riscv/kernel/a.c", ["riscv"]),
            ("Documentation/a.rst", []),
            ("tools/verification/a", []),
            ("include/linux/a.h", ["x86", "riscv", "i386"]),
        ):
            self.assertEqual(self.differs(path, ("x86", "riscv", "i386")), wanted, path)

    def comes_to(self, series, version="6.12.117", have=None):
        """What made takes of a series for."""
        now = mock.Mock(path=self.folder, version=version)
        with mock.patch.object(made.series, "load", lambda drafts: (series, have or {})):
            return made._series_on.__wrapped__(now, "")

    def patches(self, *texts):
        """Patches that turn a file of the base into each text in turn."""
        folder = self.folder / "diffs"
        folder.mkdir(exist_ok=True)
        for number, (before, after) in enumerate(zip(texts, texts[1:])):
            (folder / "a").write_text(before)
            (folder / "b").write_text(after)
            diff = subprocess.run(
                ["diff", "-u", "--label", "a/f", "--label", "b/f", folder / "a", folder / "b"],
                capture_output=True,
                text=True,
            ).stdout
            yield Patch(
                f"s{number}",
                "A <a@localhost>",
                "Thu, 1 Jan 2026 00:00:00 +0000",
                "l\n",
                (),
                f"diff --git a/f b/f\n{diff}",
            )

    def test_how_patches_share_a_change_does_not_count(self):
        (self.folder / "f").write_text("1\n2\n3\n")
        at_once, in_two = (
            list(self.patches("1\n2\n3\n", *texts))
            for texts in (["1\nX\nY\n"], ["1\nX\n3\n", "1\nX\nY\n"])
        )
        self.assertEqual(self.comes_to(at_once), self.comes_to(in_two))
        self.assertNotEqual(self.comes_to(at_once), self.comes_to(in_two[:1]))

    def test_a_variant_counts_where_it_fits(self):
        (self.folder / "f").write_text("1\n2\n3\n")
        one, other = (next(self.patches("1\n2\n3\n", text)) for text in ("1\nX\n3\n", "1\nX\nY\n"))
        both = replace(one, variants=(Variant("s0", "6.12.95-113", "why", diff=other.diff),))
        self.assertEqual(self.comes_to([both]), self.comes_to([one]))
        self.assertEqual(self.comes_to([both], "6.12.100"), self.comes_to([other]))

    def test_a_file_counts_before_it_has_a_patch(self):
        (self.folder / "f").write_text("1\n")
        seen = []
        for text in "one", "two":
            (self.folder / "a.c").write_text(text)
            seen.append(self.comes_to([], have={"kernel/a.c": self.folder / "a.c"}))
        self.assertEqual([path for path, _ in seen[0]], ["kernel/a.c"])
        self.assertNotEqual(*seen)

    def test_a_kernel_has_read_what_it_says(self):
        kdir, source = self.folder / "x86", Path("/clone/build/src")
        kdir.mkdir()
        note = kdir / ".a.o.cmd"

        def beyond(*words):
            note.write_text(
                f"source_a.o := {source}/kernel/a.c\ndeps_a.o := \\\n"
                f"  {source}/arch/x86/include/asm/a.h \\\n" + " \\\n".join(words)
            )
            return made.read_beyond("x86", kdir, source)

        self.assertEqual(
            beyond(
                "include/generated/a.h",
                "arch/x86/include/generated/b.h",
                f"{source}/tools/arch/arm64/a.h",
            ),
            [],
        )
        self.assertEqual(
            beyond(f"{source}/arch/arm64/include/asm/a.h"), ["arch/arm64/include/asm/a.h"]
        )
        self.assertEqual(
            beyond("../src/arch/riscv/a.h", "./arch/powerpc/b.h"),
            ["arch/powerpc/b.h", "arch/riscv/a.h"],
        )
        self.assertEqual(beyond(f"-I{source}/tools/verification/x"), ["tools/verification/x"])
        other = "kernel/text_poke/tests/riscv/arch_test.h"
        self.assertEqual(
            beyond(f"{source}/kernel/text_poke/tests/test.h", f"../src/{other}"), [other]
        )
        self.assertEqual(
            beyond(f"  $(wildcard {source}/Documentation/a.rst)"), ["Documentation/a.rst"]
        )
        note.write_text("nothing")
        with self.assertRaises(Fail):
            made.read_beyond("x86", kdir, source)


class TheBase(Temporary):
    def setUp(self):
        super().setUp()
        self.base = bases.Base(
            self.folder / "base-src", self.folder / "src", "6.12.1", "1", "f" * 64
        )
        for name in "kernel/a.c", "kernel/b.c", ".gitignore":
            for tree in self.base.path, self.base.src:
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.base.path / name).write_text("one")
            os.utime(self.base.path / name, (1000, 1000))
            os.link(self.base.path / name, self.base.src / name)
        stamp = self.folder / "base-src.stamp"
        stamp.touch()
        os.utime(stamp, (2000, 2000))

    def part(self, **other):
        with mock.patch.object(made.bases, "current", lambda: replace(self.base, **other)):
            return made.base()

    def test_it_is_known_by_its_hash(self):
        self.assertEqual(self.part(), "f" * 64)

    def test_the_users_own_may_change_at_any_time(self):
        self.assertIs(self.part(sha256=""), made.UNKNOWN)

    def test_what_is_changed_by_hand_is_noticed(self):
        def written(path):
            (self.base.src / path).write_text("two")

        def replaced(path):
            (self.base.src / path).unlink()
            (self.base.src / path).write_text("two")

        for change in written, replaced:
            change("kernel/a.c")
            self.assertIs(self.part(), made.UNKNOWN)
            self.setUp()

    def test_and_so_is_what_is_added(self):
        for name in "include/new.h", "tools/testing/selftests/ftrace/test.d/new.tc":
            (self.base.src / name).parent.mkdir(parents=True)
            (self.base.src / name).touch()
            self.assertIs(self.part(), made.UNKNOWN)
            (self.base.src / name).unlink()

    def test_and_a_selftest_of_the_bases(self):
        name = "tools/testing/selftests/x/a.o"
        for tree in self.base.path, self.base.src:
            (tree / name).parent.mkdir(parents=True)
            (tree / name).write_text(str(tree))
            os.utime(tree / name, (1000, 1000))
        self.assertIs(self.part(), made.UNKNOWN)

    def test_but_not_what_is_ours(self):
        (self.base.src / "kernel/a.c").unlink()
        (self.base.src / "kernel/a.c").write_text("the series'")
        for name in "tools/testing/selftests/x/a.ko", "scripts/__pycache__/a.pyc":
            (self.base.src / name).parent.mkdir(parents=True)
            (self.base.src / name).touch()
        (self.folder / "src.json").write_text('{"files": {"kernel/a.c": []}}')
        self.assertEqual(self.part(), "f" * 64)

    def test_without_a_source_there_is_nothing_to_be_changed(self):
        self.assertEqual(self.part(src=self.folder / "none"), "f" * 64)


class Guest(Temporary):
    """What a guest's results are made from."""

    def setUp(self):
        super().setUp()
        self.kdir = self.folder / "x86"
        self.image, self.initrd = self.kdir / arches.get("x86").image, self.folder / "initrd"
        self.image.parent.mkdir(parents=True)
        for path in self.image, self.initrd:
            path.write_text("one")
        self.lists = self.folder / "known"
        self.lists.mkdir()
        self.enterContext(mock.patch.object(known, "FOLDER", self.lists))
        self.versions = ["qemu 10"]
        self.enterContext(mock.patch.multiple(boot, _good_qemu=lambda _: "10"))
        self.enterContext(
            mock.patch.multiple(
                made, packages=lambda *_: self.versions, programs=lambda *_: ["here"]
            )
        )

    def guest(self, name="x86", judge=tests._kunit_results, more=("parser",), **how):
        return tests.Guest(
            name,
            self.kdir,
            lambda: self.initrd,
            judge,
            {"append": "a", "smp": 2, "timeout": 9} | how,
            more=more,
        )

    def digest(self, *what, **how):
        return made.digest(self.guest(*what, **how).parts())

    def test_not_where_it_lies(self):
        first = self.digest()
        moved = self.folder / "elsewhere"
        moved.mkdir()
        self.kdir = self.kdir.rename(moved / "x86")
        self.initrd = self.initrd.rename(moved / "initrd")
        self.assertEqual(self.digest(), first)

    def test_all_that_it_is_booted_with(self):
        first = self.digest()
        others = [
            self.digest(append="b"),
            self.digest(smp=4),
            self.digest(timeout=10),
            self.digest(qemu_args="-icount shift=0"),
            self.digest(mem="2G"),
            self.digest(replace(arches.get("x86"), machine="pc")),
            self.digest(replace(arches.get("x86"), cpu="base")),
            self.digest(more=("another",)),
            self.digest(judge=tests._selftests_results),
        ]
        for path in self.image, self.initrd:
            path.write_text("two")
            others.append(self.digest())
        self.versions = ["qemu 11"]
        others.append(self.digest())
        self.assertEqual(len({first, *others}), 1 + len(others))

    def test_what_is_known_of_its_tests_and_not_of_others(self):
        seen = {self.digest()}
        for name in "all", "x86":
            (self.lists / name).write_text("")
            seen.add(self.digest())
            (self.lists / name).write_text("a | failed | why\n")
            seen.add(self.digest())
        (self.lists / "arm64").touch()
        seen.add(self.digest())
        self.assertEqual(len(seen), 5)

    def test_the_code_that_judges(self):
        seen = {self.digest()}
        for name in "tests.py", "boot.py", "ktap.py", "known.py":
            with mock.patch.object(
                made, "file", lambda path, name=name: f"{path.name} {path.name == name}"
            ):
                seen.add(self.digest())
        self.assertEqual(len(seen), 5)

    def test_what_is_booted_is_what_is_hashed(self):
        built = []
        guest = tests.Guest(
            "x86",
            self.kdir,
            lambda: built.append(1) or self.initrd,
            tests._kunit_results,
            {},
            lambda *what, **_: what,
        )
        guest.parts()
        with mock.patch.object(tests, "_kunit_results"):
            guest.initrd()
        self.assertEqual(built, [1])

    def test_guests_of_all_kinds_can_tell(self):
        for guest in (
            check.boots_guest("x86", self.kdir),
            torture.torture_guest("x86", self.kdir, self.folder),
            tests.selftests_in("x86", self.kdir, ("text_poke",), self.folder, {}, append="", smp=2),
        ):
            object.__setattr__(guest, "initrd", lambda: self.initrd)
            self.assertTrue(made.digest(guest.parts()))


class Architecture(Temporary):
    """What all of an architecture's steps are made from."""

    PART = {
        "base": lambda: "base",
        "series_of": lambda *_: ["series"],
        "configuration": lambda _: ["config"],
        "environment": lambda: ["shell"],
        "packages": lambda *_: ["packages"],
        "programs": lambda *_: ["programs"],
        "modules": lambda *_: ["modules"],
    }

    def digest(self, **other):
        with (
            mock.patch.multiple(made, **self.PART | other),
            mock.patch.object(made.host, "need"),
            mock.patch.multiple(
                initramfs, busybox=lambda _: "busybox", static_program=lambda *_: "bash"
            ),
            mock.patch.object(check.perf, "foreign_libraries", lambda _: self.folder),
        ):
            return made.safely(functools.partial(check._architecture_parts, "x86"))

    def test_each_part_counts(self):
        first = self.digest()
        for name in self.PART:
            other = self.digest(**{name: lambda *_: ["other"]})
            self.assertNotEqual(first, other, name)
            self.assertIs(
                self.digest(
                    **{name: lambda *_: made.UNKNOWN if name == "base" else [made.UNKNOWN]}
                ),
                made.UNKNOWN,
            )
        (self.folder / "libelf.so").touch()
        self.assertNotEqual(first, self.digest())

    def test_its_own_configuration_and_lists_and_not_those_of_others(self):
        def names(arch):
            return {parts[0] for parts in made.configuration(arch) if len(parts) > 1}

        self.assertLessEqual(
            {
                "config/common.config",
                "config/riscv.config",
                "config/series.config",
                "guest/init",
                "expected/known/all",
                "expected/known/riscv",
            },
            names("riscv"),
        )
        self.assertFalse(
            {"config/x86.config", "expected/known/arm64-64k", "expected/known/x86"} & names("riscv")
        )
        self.assertIn("expected/known/arm64-64k", names("arm64"))

    def test_what_lies_in_folders_counts(self):
        dev = self.folder / "dev"
        for place in ("config", "guest/module", "expected/known", "expected/accepted"):
            (dev / place).mkdir(parents=True)
        (dev / "guest/module/Makefile").write_text("obj-m := a.o\n")

        def digest():
            return made.digest(made.configuration("riscv"))

        with mock.patch.object(made.paths, "DEV", dev):
            first = digest()
            self.assertEqual(digest(), first)
            (dev / "guest/module/Makefile").write_text("obj-m := b.o\n")
            other = digest()
            (dev / "guest/module/b.c").touch()
            self.assertEqual(len({first, other, digest()}), 3)

    def test_its_description_counts(self):
        first = made.digest(made.configuration("riscv"))
        with mock.patch.dict(arches.ARCHES, riscv=replace(arches.get("riscv"), cpu="rv64")):
            self.assertNotEqual(made.digest(made.configuration("riscv")), first)


class Others(unittest.TestCase):
    def test_models_that_are_kept_say_what_they_are_made_from(self):
        self.assertLessEqual(set(models.PARTS), set(models.STEPS))
        for parts, place in ((models.PARTS["spin"], "spin"), (models.PARTS["cbmc"], "cbmc")):
            seen = []
            for text in "one", "two":
                folders = {}

                def folder(top, skip=(), text=text, folders=folders):
                    folders[Path(top).name] = top
                    return [str(Path(top).name), text if Path(top).name == place else ""]

                with (
                    mock.patch.multiple(
                        made,
                        folder=folder,
                        base=lambda: "base",
                        packages=lambda *_: [],
                        programs=lambda *_: [],
                    ),
                    mock.patch.object(cbmc, "program", lambda: [Path("/r/usr/lib/x/ld.so")]),
                    mock.patch.object(litmus, "herd"),
                    mock.patch.object(made.host, "need"),
                ):
                    seen.append(made.digest(parts()))
                self.assertIn(place, folders)
            self.assertEqual(len(set(seen)), 2)

    def test_steps_that_do_not_tell_are_made_from_the_whole_repository(self):
        with mock.patch.multiple(
            made,
            repository=lambda: ["the repository"],
            architecture=lambda *_: ["an architecture"],
            modules=lambda *_: ["modules"],
        ):
            self.assertIn("the repository", full.parts_of("code")[0])
            self.assertNotIn("the repository", str(full.parts_of("x86")))

    def test_the_repository_is_all_but_what_is_generated(self):
        names = [part for part in made.repository() if isinstance(part, str)]
        self.assertLessEqual({"README.md", "tools/dev/tp", "kernel/text_poke/core.c"}, set(names))
        self.assertFalse([name for name in names if name.startswith((".git/", "build/"))])


if __name__ == "__main__":
    unittest.main()
