# SPDX-License-Identifier: GPL-2.0
"""The series on bases of several versions and on trees of the user's, as mails, interrupted, and
with gates that bite.
"""

import contextlib
import os
import re
import shutil
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position,unused-import
from tests.test_series import (  # noqa: E402,F401
    BASE,
    LINES,
    Case,
    Interrupted,
    contents,
    make_package,
    setUpModule,
    write_tree,
)
from textpoke import errors, git, paths, say  # noqa: E402
from textpoke.checks import gates  # noqa: E402
from textpoke.results import ktap  # noqa: E402
from textpoke.series import apply, base, mails, patches, series  # noqa: E402


class Source(Case):
    def times(self):
        return {path: (self.src / path).stat().st_mtime_ns for path in contents(self.src)}

    def setUp(self):
        super().setUp()
        self.three()
        self.pristine = contents(paths.BUILD / "base-src")
        self.src = series.source_tree()

    def same_as_tree(self):
        series.tree()
        self.assertEqual(contents(self.src), contents(self.tree))
        self.assertEqual(contents(paths.BUILD / "base-src"), self.pristine)

    def test_it_is_base_and_series(self):
        self.same_as_tree()
        self.assertTrue((self.src / "kernel/b.c").samefile(paths.BUILD / "base-src/kernel/b.c"))
        self.assertFalse((self.src / "kernel/a.c").samefile(paths.BUILD / "base-src/kernel/a.c"))

    def test_only_what_changed_gets_a_new_time(self):
        before = self.times()
        self.assertEqual(series.source_tree(), self.src)
        self.assertEqual(self.times(), before)
        write_tree(self.root, {"kernel/text_poke/core.c": "int changed;\n"})
        series.source_tree()
        after = self.times()
        self.assertEqual(
            [path for path in after if after[path] != before[path]], ["kernel/text_poke/core.c"]
        )
        self.same_as_tree()

    def test_a_file_given_back_is_newer_than_what_was_built_from_it(self):
        before = self.times()
        self.rebase("/core: add/d")
        series.refresh()
        series.source_tree()
        self.same_as_tree()
        self.assertGreater(self.times()["kernel/a.c"], before["kernel/a.c"])
        self.assertNotIn("kernel/text_poke/core.c", contents(self.src))

    def test_tampering_is_repaired(self):
        (self.src / "kernel/a.c").write_text("scribble\n")
        (self.src / "kernel/text_poke/core.c").unlink()
        series.source_tree()
        self.same_as_tree()

    def test_nothing_is_run_when_nothing_changed(self):
        with mock.patch.object(
            git.subprocess, "run", side_effect=AssertionError
        ), mock.patch.object(say.subprocess, "Popen", side_effect=AssertionError):
            series.source_tree()

    def test_interrupted_anywhere_it_recovers(self):
        self.rebase("/core: add/d")
        self.commit("kernel: change b", {"kernel/b.c": "x\n", "lib/new.c": "y\n"})
        series.refresh()
        for step in range(1, 6):
            if self.interrupted(step):
                write_tree(self.root, {"lib/new.c": f"y{step}\n"})
        self.assertGreater(step, 3)
        series.source_tree()
        self.same_as_tree()

    def test_what_an_interruption_left_is_known(self):
        write_tree(self.root, {"lib/one.c": "1\n", "lib/two.c": "2\n"})
        self.assertTrue(self.interrupted(8))
        self.assertTrue((self.src / "lib/one.c").exists())
        (self.root / "lib/one.c").unlink()
        series.source_tree()
        self.assertFalse((self.src / "lib/one.c").exists())

    def interrupted(self, step):
        calls = iter(range(1, 100))
        original = series.Source._put

        def put(source, path, new):
            if next(calls) == step:
                raise Interrupted
            original(source, path, new)

        with mock.patch.object(series.Source, "_put", put):
            try:
                series.source_tree()
            except Interrupted:
                return True
        return False


class Bases(Case):
    def setUp(self):
        super().setUp()
        self.three()

    def test_another_sublevel_is_built_and_left_alone(self):
        folder = self.kernel()
        before = contents(folder)
        src = series.source_tree()
        self.assertIn("long line_5;", (src / "kernel/a.c").read_text())
        self.assertIn("new in this version", (src / "kernel/a.c").read_text())
        self.assertEqual((src / "kernel/text_poke/core.c").read_text(), "int core;\n")
        write_tree(
            folder, {"kernel/b.c": "edited\n", "kernel/a.c": "/* again */\n" + BASE["kernel/a.c"]}
        )
        (folder / "kernel/crlf.c").unlink()
        series.source_tree()
        self.assertEqual((src / "kernel/b.c").read_text(), "edited\n")
        self.assertIn("again", (src / "kernel/a.c").read_text())
        self.assertFalse((src / "kernel/crlf.c").exists())
        before |= contents(folder)
        del before["kernel/crlf.c"]
        self.assertEqual(contents(folder), before)

    def test_a_git_tree_that_was_built_in(self):
        folder = self.kernel(files={".gitignore": "*.o\n.config\n"})
        self.as_git(folder)
        write_tree(
            folder,
            {"kernel/a.o": "object\n", ".config": "CONFIG_X=y\n", "kernel/new.c": "untracked\n"},
        )
        src = series.source_tree()
        self.assertFalse((src / "kernel/a.o").exists() or (src / ".config").exists())
        self.assertTrue((src / "kernel/new.c").exists())

    def test_trees_that_are_no_base(self):
        self.kernel(
            files={"Makefile": "VERSION = 6\nPATCHLEVEL = 13\nSUBLEVEL = 2\n"}, name="other"
        )
        self.refused(series.source_tree, "6.13.2", "6.12.y")
        self.refused(apply.apply, "6.13.2")
        (self.home / "empty").mkdir()
        os.environ["KERNEL"] = str(self.home / "empty")
        self.refused(series.source_tree, "not a Linux source tree", code=errors.USAGE)
        os.environ["KERNEL"] = str(self.home / "nowhere")
        self.refused(series.source_tree, "not a folder", code=errors.USAGE)
        self.kernel(files={".config": "x\n"}, name="built")
        self.refused(series.source_tree, "make mrproper")
        self.kernel()
        self.refused(series.tree, "KERNEL=", code=errors.USAGE)

    def test_a_tree_the_series_does_not_fit(self):
        folder = self.kernel(
            sublevel=30, files={"kernel/a.c": LINES.replace("line_5", "line_five")}
        )
        before = contents(folder)
        for command in (series.source_tree, apply.apply):
            self.refused(
                command,
                "0001-core-add-the-poker.patch",
                "hunk 1 of 1 for kernel/a.c:",
                "6.12.30",
                "fits 6.12.7: use",
                "0001-core-add-the-poker.6.12.30-30.hunks",
            )
        self.assertEqual(contents(folder), before)

    def test_apply_to_a_plain_folder(self):
        folder = self.kernel()
        apply.apply()
        self.assertIn("long line_5;", (folder / "kernel/a.c").read_text())
        self.assertTrue(contents(folder)["tools/testing/selftests/text_poke/run.sh"][0])
        self.assertFalse([path for path in contents(folder) if "apply" in path])
        once = contents(folder)
        self.refused(apply.apply, "already", code=errors.USAGE)
        write_tree(self.root, {"kernel/text_poke/core.c": "newer\n"})
        self.refused(apply.apply, "another version", code=errors.USAGE)
        self.assertEqual(contents(folder), once)

    def test_apply_interrupted_anywhere_recovers(self):
        want, original = None, Path.rename
        for step in range(1, 12):
            folder = self.kernel(name=f"linux{step}")
            before, calls = contents(folder), iter(range(1, 100))

            def rename(path, target, calls=calls, step=step):
                if next(calls) == step:
                    raise Interrupted
                return original(path, target)

            with mock.patch.object(Path, "rename", rename), contextlib.suppress(Interrupted):
                apply.apply()
            if step == 1:
                left = {
                    path: what
                    for path, what in contents(folder).items()
                    if not path.startswith(apply.PLAN)
                }
                self.assertEqual(left, before)
            with contextlib.suppress(errors.Fail):
                apply.apply()
            want = want or contents(folder)
            self.assertEqual(contents(folder), want, f"interrupted at rename {step}")
        self.assertIn("kernel/text_poke/core.c", want)

    def test_apply_to_a_git_tree(self):
        folder = self.kernel()
        self.as_git(folder)
        write_tree(folder, {"kernel/b.c": "edited\n"})
        self.refused(apply.apply, "uncommitted", code=errors.USAGE)
        self.git("checkout", "-q", ".", tree=folder)
        apply.apply()
        subjects = self.git("log", "--format=%s", "-3", tree=folder).splitlines()
        self.assertEqual(subjects, ["MAINTAINERS: name us", "arm64: use it", "core: add the poker"])
        self.assertNotIn("Adds:", self.git("log", "--format=%B", "-3", tree=folder))
        self.assertEqual(self.git("status", "--porcelain", tree=folder), "")
        self.refused(apply.apply, "already", code=errors.USAGE)

    def test_a_git_am_that_fails_is_undone(self):
        folder = self.kernel()
        self.as_git(folder)
        hook = folder / ".git/hooks/applypatch-msg"
        before = self.git("rev-parse", "HEAD", tree=folder)
        original = series.export
        with mock.patch.object(series, "export", lambda small, out: original(small, out) + [hook]):
            hook.parent.mkdir(exist_ok=True)
            hook.write_text("not a mail\n")
            self.refused(apply.apply, "undone")
        self.assertEqual(self.git("rev-parse", "HEAD", tree=folder), before)
        self.assertEqual(self.git("status", "--porcelain", tree=folder), "")

    def test_a_damaged_package_is_fetched_again(self):
        deb = next(paths.CACHE.glob("*.deb"))
        for text, stamp in ((b"!<arch>\ncut", True), (deb.read_bytes(), False)):
            with self.subTest(size=len(text)):
                good = deb.read_bytes()
                deb.write_bytes(text)
                if not stamp:
                    patches.write(
                        self.root / "patches/v6.12/base",
                        "version: 6.12.7\npackage: 6.12.7-1\nsha256: 00\n",
                    )
                shutil.rmtree(paths.BUILD / "base-src")
                with mock.patch.object(
                    base, "_download", side_effect=lambda version: (deb.write_bytes(good), deb)[1]
                ) as fetched:
                    if stamp:
                        base.current()
                    else:
                        self.refused(base.current, "not what patches/v6.12/base names")
                fetched.assert_called_once_with("6.12.7-1")

    def test_an_interrupted_unpacking_recovers(self):
        whole = contents(paths.BUILD / "base-src")
        shutil.rmtree(paths.BUILD / "base-src")
        with mock.patch.object(base, "version_of", side_effect=Interrupted), self.assertRaises(
            Interrupted
        ):
            base.current()
        self.assertFalse((paths.BUILD / "base-src").exists())
        self.assertEqual(contents(base.base_source()), whole)

    def test_the_next_base_of_the_mirror(self):
        """The hunks apply to 6.12.8, so it is taken; refresh then says what they are made for."""
        self.git("branch", "mine", "HEAD~1")
        newer = BASE | {
            "Makefile": BASE["Makefile"].replace("= 7", "= 8"),
            "kernel/a.c": "/* 8 */\n" + BASE["kernel/a.c"],
        }
        next(paths.CACHE.glob("*.deb")).unlink()
        with mock.patch.dict(BASE, newer):
            make_package(paths.CACHE, "6.12.8-1")
        shutil.rmtree(paths.BUILD / "base-src")
        fresh = next(paths.CACHE.glob("*.deb"))
        with mock.patch.object(base, "_download", return_value=fresh):
            self.assertEqual(base.current().version, "6.12.8")
        self.assertIn("long line_5;", (series.source_tree() / "kernel/a.c").read_text())
        for _, gate in gates.GATES:
            gate()
        series.tree()
        self.assertIn("/* 8 */", (self.tree / "kernel/a.c").read_text())
        self.assertTrue(self.git("rev-parse", "mine"))
        series.refresh()
        self.assertEqual(base.made_for()["version"], "6.12.8")
        self.identity()


VARIANT = """\
Subject: core: add the poker
For: {range}

There line_3 is long.
{whole}---
diff --git a/kernel/a.c b/kernel/a.c
--- a/kernel/a.c
+++ b/kernel/a.c
@@ -5,7 +5,7 @@ void f(void)
 int line_2;
 long line_3;
 int line_4;
-int line_5;
+{adds}
 int line_6;
 int line_7;
 int line_8;
"""
# What another base changes beside line_5.
CHANGED = BASE["kernel/a.c"].replace("int line_3;", "long line_3;")


class Variants(Case):
    """Hunks for other versions than the one that the series was made for."""

    def setUp(self):
        super().setUp()
        self.three()

    def variant(
        self, range="6.12.30+", adds="long line_5;", whole="", number=1
    ):  # pylint: disable=redefined-builtin
        name = f"{number:04}-core-add-the-poker.{range}.hunks"
        write_tree(
            self.root,
            {f"patches/v6.12/{name}": VARIANT.format(range=range, adds=adds, whole=whole)},
        )
        return name

    def applied(self, sublevel, text=CHANGED):
        """What is in the file that differs once the series is in a tree of that version."""
        folder = self.kernel(
            sublevel, {"kernel/a.c": text}, name=f"linux{sublevel}-{len(list(self.home.iterdir()))}"
        )
        apply.apply()
        return (folder / "kernel/a.c").read_text()

    def test_each_version_gets_its_hunks(self):
        self.kernel(30, {"kernel/a.c": CHANGED})
        self.refused(apply.apply, "hunk 1 of 1 for kernel/a.c:", "6.12.30")
        self.variant()
        self.assertIn("long line_3;\nint line_4;\nlong line_5;", self.applied(30))
        self.assertIn("long line_5;", self.applied(31))
        self.assertIn(
            "int line_3;\nint line_4;\nlong line_5;", self.applied(29, BASE["kernel/a.c"])
        )
        os.environ.pop("KERNEL")
        self.identity()

    def test_a_range_ends(self):
        self.variant("6.12.20-30")
        self.assertIn("long line_5;", self.applied(20))
        self.kernel(31, {"kernel/a.c": CHANGED}, name="later")
        self.refused(apply.apply, "hunk 1 of 1 for kernel/a.c:", "6.12.31")

    def test_refresh_keeps_them_beside_their_patches(self):
        self.variant()
        series.tree()
        self.rebase("1i exec true")
        self.git("checkout", "-q", "--detach", "base")
        self.commit("first: come before", {"kernel/b.c": LINES + "int more;\n"})
        self.git("cherry-pick", "base..series")
        self.git("checkout", "-q", "-B", "series")
        series.refresh()
        names = [path.name for path in patches.variant_files()]
        self.assertEqual(names, ["0002-core-add-the-poker.6.12.30+.hunks"])
        self.assertIn("long line_5;", self.applied(30))
        os.environ.pop("KERNEL")
        self.git("checkout", "-q", "--detach", "base")
        self.git("cherry-pick", "series~2..series")
        self.git("checkout", "-q", "-B", "series")
        series.refresh()
        self.assertEqual(patches.variant_files(), [])

    def test_one_that_the_patch_has_left_behind(self):
        """The patch adds what the variant does not."""
        name = self.variant(adds="char line_5;")
        self.refused(gates.variants_stand_in, name, "bring it up to date")
        self.kernel(30, {"kernel/a.c": CHANGED})
        self.refused(apply.apply, name, "bring it up to date")

    def test_all_hunks_for_a_file(self):
        """Where the base does part of it itself, and until the patch changes there."""
        path = patches.files()[0]
        known = patches.load()[0].hash_of("kernel/a.c")
        name = self.variant(adds="char line_5;", whole=f"\nWhole: kernel/a.c {known}\n")
        gates.variants_stand_in()
        self.assertIn("char line_5;", self.applied(30))
        patches.write(path, patches.read(path).replace("+long line_5;", "+short line_5;"))
        self.refused(gates.variants_stand_in, name, "other hunks", "Whole: kernel/a.c")

    def test_no_hunks_for_a_file(self):
        known = patches.load()[0].hash_of("kernel/a.c")
        name = self.variant(whole=f"\nWhole: kernel/a.c {known}\n")
        text = (self.root / "patches/v6.12" / name).read_text()
        write_tree(self.root, {f"patches/v6.12/{name}": text.partition("diff --git")[0]})
        self.assertEqual(self.applied(30), CHANGED)

    def test_what_none_may_be(self):
        for what, spoil in {
            "which the patch itself was made for": lambda: self.variant("6.12.5+"),
            "put them apart": lambda: (self.variant(), self.variant("6.12.20-40")),
            "does not begin with": lambda: self.variant("6.12.x"),
            "which no patch has": lambda: write_tree(
                self.root,
                {
                    "patches/v6.12/0009-x.6.12.9+.hunks": VARIANT.format(
                        range="6.12.9+", adds="", whole=""
                    ).replace("core: add", "core: subtract")
                },
            ),
            "which the patch does not change": lambda: write_tree(
                self.root,
                {
                    "patches/v6.12/0001-x.6.12.9+.hunks": VARIANT.format(
                        range="6.12.9+", adds="", whole=""
                    ).replace("kernel/a.c", "kernel/b.c")
                },
            ),
        }.items():
            with self.subTest(what):
                spoil()
                self.refused(gates.variants_stand_in, what)
                for path in patches.variant_files():
                    path.unlink()

    def test_they_do_not_become_the_patch(self):
        """The mirror has gone on to a version that needs one."""
        self.variant("6.12.8+")
        next(paths.CACHE.glob("*.deb")).unlink()
        newer = {"Makefile": BASE["Makefile"].replace("= 7", "= 8"), "kernel/a.c": CHANGED}
        with mock.patch.dict(BASE, newer):
            make_package(paths.CACHE, "6.12.8-1")
        shutil.rmtree(paths.BUILD / "base-src")
        with mock.patch.object(base, "_download", return_value=next(paths.CACHE.glob("*.deb"))):
            self.assertEqual(base.current().version, "6.12.8")
        for _, gate in gates.GATES:
            gate()
        series.tree()
        self.assertIn(
            "long line_3;\nint line_4;\nlong line_5;", (self.tree / "kernel/a.c").read_text()
        )
        self.refused(series.refresh, "0001-core-add-the-poker.6.12.8+.hunks", "edit on 6.12.7")


class Output(Case):
    def test_the_series_is_what_git_am_takes(self):
        self.three()
        out = mails.write_series(self.home / "out")
        one = contents(out)
        self.assertEqual(
            [name[:4] for name in sorted(one)], [mails.LIST[:4], "0001", "0002", "0003"]
        )
        self.assertEqual(contents(mails.write_series(self.home / "out")), one)
        text = b"".join(data for _, data in one.values())
        for word in (
            b"Adds:",
            b"Signed-off-by",
            git.porcelain(self.root, "--version").split()[2].encode(),
        ):
            self.assertNotIn(word, text)
        target = self.home / "target"
        shutil.copytree(paths.BUILD / "base-src", target, symlinks=True)
        self.as_git(target)
        self.git("am", "-q", *map(str, sorted(out.glob("*.patch"))), tree=target)
        self.assertEqual(contents(target), contents(self.tree))
        self.assertEqual(
            self.git("rev-parse", "HEAD^{tree}", tree=target), self.git("rev-parse", "HEAD^{tree}")
        )

    def test_a_folder_with_other_things_is_not_replaced(self):
        self.three()
        write_tree(self.home / "out", {"thesis.txt": "years of work\n"})
        self.refused(lambda: mails.write_series(self.home / "out"), "thesis.txt", code=errors.USAGE)
        self.assertTrue((self.home / "out/thesis.txt").exists())


class Interruptions(Case):
    def test_refresh_interrupted_at_any_write_recovers(self):
        self.three()
        self.rebase("1!G;h;$!d")
        self.commit("kernel: change b", {"kernel/b.c": "x\n", "lib/new.c": "y\n"})
        self.commit("", {"kernel/text_poke/core.c": "int core_2;\n"}, "--fixup", "HEAD~1")
        self.rebase("", "--autosquash")
        start = self.home / "start"
        shutil.copytree(self.root, start, symlinks=True)
        series.refresh()
        want, names = self.repository(), self.names()
        original, reached = patches.write, 0
        for step in range(1, 40):
            shutil.rmtree(self.root)
            shutil.copytree(start, self.root, symlinks=True)
            calls = iter(range(1, 100))

            def write(path, text, calls=calls, step=step):
                if next(calls) == step:
                    raise Interrupted
                return original(path, text)

            with mock.patch.object(patches, "write", write):
                try:
                    series.refresh()
                    break
                except Interrupted:
                    reached = step
            series.refresh()
            self.assertEqual(self.repository(), want, f"interrupted at write {step}")
        self.assertGreater(reached, len(names))

    def test_refresh_interrupted_while_deleting_recovers(self):
        self.three()
        self.rebase("/core: add/d")
        start, original = self.home / "start", Path.unlink
        shutil.copytree(self.root, start, symlinks=True)
        for step in range(1, 5):
            shutil.rmtree(self.root)
            shutil.copytree(start, self.root, symlinks=True)
            calls = iter(range(1, 100))

            def unlink(path, *words, calls=calls, step=step, **more):
                if next(calls) == step:
                    raise Interrupted
                return original(path, *words, **more)

            with mock.patch.object(Path, "unlink", unlink), contextlib.suppress(Interrupted):
                series.refresh()
            series.refresh()
            self.assertEqual(
                self.names(), ["0001-arm64-use-it.patch", "0002-MAINTAINERS-name-us.patch"]
            )
            self.assertEqual(
                sorted(patches.kept()),
                ["arch/arm64/kernel/text_poke.c"],
                f"interrupted at deletion {step}",
            )

    def test_tree_interrupted_recovers(self):
        self.three()
        want = contents(self.tree)
        original = series.porcelain

        def porcelain(tree, *words, **more):
            if "checkout" in words and "-B" in words:
                original(tree, "checkout", "-q", "-f", "--detach", "base")
                (Path(tree) / ".git/index.lock").touch()
                raise Interrupted
            return original(tree, *words, **more)

        for fresh in (False, True):
            if fresh:
                shutil.rmtree(self.tree)
            with mock.patch.object(series, "porcelain", porcelain), self.assertRaises(Interrupted):
                series.tree()
            series.tree()
            self.assertEqual(contents(self.tree), want)
        self.identity()


class Gates(Case):
    def gate(self, name):
        return dict(gates.GATES)[name]

    def test_each_gate_bites(self):
        self.three()
        patch = patches.files()[0]
        good = patches.read(patch)
        self.identity()
        spoil = {
            "no kept file exists in the base": lambda: write_tree(self.root, {"kernel/a.c": "x\n"}),
            "every kept file is added by one patch": lambda: write_tree(
                self.root, {"lib/x.c": "x\n"}
            ),
            "no hunk adds or deletes a file": lambda: patches.write(
                patch, good + "deleted file mode 100644\n"
            ),
            "refresh after series changes nothing": lambda: write_tree(
                self.root, {"MAINTAINERS": "other\n"}
            ),
            "no machine paths or package hosts": lambda: write_tree(
                self.root, {"README.md": "see /ro" "ot/x\n"}
            ),
        }
        before = self.repository()
        for name, damage in spoil.items():
            with self.subTest(gate=name):
                damage()
                with self.assertRaises(errors.Fail):
                    self.gate(name)()
                for path in set(self.repository()) - set(before):
                    (self.root / path).unlink()
                write_tree(
                    self.root, {path: git.decode(data) for path, (_, data) in before.items()}
                )
        self.identity()

    def test_the_am_gate_bites(self):
        self.three()
        original = series.export

        def export(small, folder):
            mails = original(small, folder)
            mails[0].write_text(mails[0].read_text().replace("+long line_5;", "+char line_5;"))
            return mails

        with mock.patch.object(series, "export", export), self.assertRaisesRegex(
            errors.Fail, "another tree"
        ):
            gates.am_agrees()

    def test_a_stale_hunk_is_noticed(self):
        self.three()
        path = patches.files()[0]
        patches.write(path, re.sub(r"@@ -(\d+),", "@@ -7,", patches.read(path), count=1))
        with self.assertRaisesRegex(errors.Fail, "refresh would leave"):
            gates.refresh_is_identity()

    def test_another_author_is_noticed(self):
        self.three()
        gates.one_author()
        path = patches.files()[1]
        patches.write(path, patches.read(path).replace("A Developer", "Another", 1))
        self.refused(gates.one_author, path.name, "Another <dev@localhost>", "From: A Developer")

    def test_a_long_line_of_a_change_log_is_noticed(self):
        self.three()
        gates.logs_are_narrow()
        path, long = patches.files()[1], "word " * 16
        for line, bad in (("Fixes: " + long, False), ("x" * 80, False), (long, True)):
            text = patches.read(path)
            patches.write(path, text.replace("\n---\n", f"\n{line}\n---\n", 1))
            if bad:
                self.refused(gates.logs_are_narrow, path.name, "over 75 columns")
            else:
                gates.logs_are_narrow()
            patches.write(path, text)

    def test_the_lines_that_are_printed(self):
        self.three()
        found = list(gates.results())
        self.assertEqual(
            [each.name for each in found], [f"series: {name}" for name, _ in gates.GATES]
        )
        self.assertEqual({each.status for each in found}, {ktap.PASSED})
        write_tree(self.root, {"lib/x.c": "x\n"})
        self.assertIn(
            "series: every kept file is added by one patch",
            [each.name for each in gates.results() if each.status == ktap.FAILED],
        )


if __name__ == "__main__":
    unittest.main()
