# SPDX-License-Identifier: GPL-2.0
"""What the commands do to trees and folders of the user's: all, or nothing;
never what is not theirs.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position,unused-import
from tests.test_series import (  # noqa: E402,F401
    BASE,
    Case,
    Interrupted,
    contents,
    setUpModule,
    write_tree,
)
from textpoke import clean, cli, errors, git, given, lock, paths  # noqa: E402
from textpoke.checks import gates  # noqa: E402
from textpoke.series import apply, base, mails, patches, series  # noqa: E402


class Trees(Case):
    """Series of three, a user's tree with git or without."""

    def setUp(self):
        super().setUp()
        self.three()

    def git_tree(self, **how):
        return self.as_git(self.kernel(**how))

    def state(self, folder):
        return (
            self.git("rev-parse", "HEAD", tree=folder),
            self.git("status", "--porcelain", tree=folder),
            contents(folder),
        )


class InGit(Trees):
    def test_a_lock_is_seen_before_anything_is_done(self):
        folder = self.git_tree()
        before = self.state(folder)
        (folder / ".git/index.lock").touch()
        self.refused(apply.apply, "index.lock", code=errors.USAGE)
        (folder / ".git/index.lock").unlink()
        self.assertEqual(self.state(folder), before)
        self.assertFalse((folder / ".git/rebase-apply").exists())
        apply.apply()

    def test_a_lock_that_comes_meanwhile_leaves_nothing_for_ever(self):
        folder = self.git_tree()
        before, original = self.state(folder), git.porcelain

        def porcelain(tree, *words, **how):
            if "am" in words and "--no-3way" in words:
                (folder / ".git/index.lock").touch()
            return original(tree, *words, **how)

        with mock.patch.object(apply, "porcelain", porcelain):
            self.refused(apply.apply, "cannot be put back")
        self.refused(apply.apply, "index.lock")
        (folder / ".git/index.lock").unlink()
        self.assertEqual(self.state(folder), before)
        apply.apply()

    def killed(self, folder, after):
        """An apply that was killed after a number of commits,
        by a signal that nothing can catch.
        """
        hook = folder / ".git/hooks/post-applypatch"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(
            f"#!/bin/sh\ntest $(git rev-list --count HEAD) -le {after} || kill -9 $PPID\n"
        )
        hook.chmod(0o755)
        with mock.patch.object(git, "OPTIONS", ("-c", "safe.directory=*")), mock.patch.object(
            apply, "_undo", side_effect=Interrupted
        ), self.assertRaises(Interrupted):
            apply.apply()
        hook.unlink()

    def test_one_that_was_killed_is_undone_and_done_again(self):
        folder = self.git_tree()
        self.killed(folder, 2)
        self.assertTrue((folder / ".git/rebase-apply").exists())
        apply.apply()
        self.assertEqual(len(self.git("log", "--format=%s", tree=folder).splitlines()), 4)
        self.assertEqual(self.git("status", "--porcelain", tree=folder), "")
        self.assertFalse((folder / ".git" / apply.MARK).exists())

    def test_work_that_came_after_a_kill_is_not_undone(self):
        folder = self.git_tree()
        self.killed(folder, 2)
        self.git("am", "--quit", tree=folder)
        self.git("reset", "-q", "--hard", tree=folder)
        self.commit_in(folder, "mine")
        head = self.git("rev-parse", "HEAD", tree=folder)
        with contextlib.suppress(errors.Fail):
            apply.apply()
        self.assertEqual(self.git("rev-parse", "HEAD", tree=folder), head)

    def commit_in(self, folder, subject):
        self.git("commit", "-q", "--allow-empty", "-m", subject, tree=folder)

    def test_a_repository_without_a_commit(self):
        folder = self.kernel()
        self.git("init", "-q", "--template=", tree=folder)
        self.refused(apply.apply, "no commit", code=errors.USAGE)

    def test_what_only_looks_like_a_repository(self):
        """Above it is one, which must not be taken for it."""
        self.git("init", "-q", "--template=", tree=self.home)
        folder = self.kernel()
        before = contents(folder)
        for make in ((folder / ".git").mkdir, lambda: (folder / ".git").symlink_to("nowhere")):
            make()
            self.refused(apply.apply, "is no repository", code=errors.USAGE)
            (folder / ".git").rmdir() if (folder / ".git").is_dir() else (folder / ".git").unlink()
        self.assertEqual(contents(folder), before)

    def test_the_way_back(self):
        folder = self.git_tree()
        before = self.state(folder)
        apply.apply()
        self.assertIn(f"reset --keep {before[0][:12]}", self.said.getvalue())
        apply.unapply()
        self.assertEqual(self.state(folder), before)
        self.refused(apply.unapply, "does not have the series", code=errors.USAGE)

    def test_commits_on_top_are_not_thrown_away(self):
        folder = self.git_tree()
        apply.apply()
        self.commit_in(folder, "mine")
        self.refused(apply.unapply, "not the series alone", code=errors.USAGE)

    def test_what_takes_out_a_part_is_what_can(self):
        folder = self.git_tree()
        apply.apply()
        self.git("revert", "--no-edit", "HEAD~1", tree=folder)
        self.refused(
            apply.apply,
            "lacks 1 of its 3",
            "`arm64: use it`",
            "with git, from `core: add the poker` to `MAINTAINERS: name us`",
            code=errors.USAGE,
        )
        self.git("reset", "-q", "--hard", "HEAD~2", tree=folder)
        self.refused(apply.apply, "lacks 1 of its 3", "`make unapply`", code=errors.USAGE)
        apply.unapply()
        apply.apply()

    def test_the_way_back_can_be_typed(self):
        folder = self.as_git(self.kernel(name="a tree"))
        apply.apply()
        self.assertIn(f"git -C '{folder}' reset", self.said.getvalue())

    def test_a_dry_run_leaves_an_interruption_as_it_is(self):
        folder = self.git_tree()
        self.killed(folder, 2)
        before = self.state(folder)
        self.refused(lambda: apply.apply(dry=True), "was interrupted", code=errors.USAGE)
        self.assertEqual(self.state(folder), before)
        self.assertTrue((folder / ".git/rebase-apply").exists())


class Plain(Trees):
    def test_the_way_back(self):
        folder = self.kernel()
        before = contents(folder)
        apply.apply()
        self.assertNotEqual(contents(folder), before)
        apply.unapply()
        self.assertEqual(contents(folder), before)
        self.assertFalse((folder / "kernel/text_poke").exists())

    def test_what_was_changed_since_stays(self):
        folder = self.kernel()
        apply.apply()
        write_tree(folder, {"kernel/text_poke/core.c": "mine\n"})
        self.refused(
            apply.unapply,
            "another version of the series (kernel/text_poke/core.c",
            code=errors.USAGE,
        )
        self.assertEqual((folder / "kernel/text_poke/core.c").read_text(), "mine\n")

    def test_a_patch_that_was_taken_out_is_missed(self):
        folder = self.kernel()
        apply.apply()
        (folder / "MAINTAINERS").write_text(BASE["MAINTAINERS"])
        self.refused(
            apply.apply, "lacks 1 of its 3 patches", "MAINTAINERS: name us", code=errors.USAGE
        )
        apply.unapply()
        apply.apply()
        self.refused(apply.apply, "already", code=errors.USAGE)

    def test_one_that_was_killed_is_finished_and_good(self):
        folder, original = self.kernel(), Path.rename
        calls = iter(range(100))

        def rename(path, target):
            if next(calls) == 3:
                raise Interrupted
            return original(path, target)

        with mock.patch.object(Path, "rename", rename), self.assertRaises(Interrupted):
            apply.apply()
        self.assertTrue((folder / apply.PLAN).exists())
        before = contents(folder)
        self.refused(lambda: apply.apply(dry=True), "was interrupted", code=errors.USAGE)
        self.assertEqual(contents(folder), before)
        apply.apply()
        self.assertIn("finishing an interrupted apply", self.said.getvalue())
        self.refused(apply.apply, "already", code=errors.USAGE)

    def test_a_dry_run_changes_nothing(self):
        folder = self.kernel()
        before = contents(folder)
        apply.apply(dry=True)
        self.assertEqual(contents(folder), before)
        self.assertIn("3 patches would be applied", self.said.getvalue())

    def test_two_at_once_take_turns(self):
        folder = self.kernel()
        with lock.folder(folder):
            code = (
                "import sys; sys.path.insert(0, sys.argv[1])\nfrom textpoke import lock\n"
                "import fcntl\n"
                "with lock._opened(sys.argv[2], 0) as fd: print(lock._taken(fd, fcntl.LOCK_EX))"
            )
            said = subprocess.run(
                [sys.executable, "-c", code, paths.DEV, folder],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        self.assertEqual(said, "False\n")


class Named(Trees):
    """KERNEL= of what must not be touched or is no base."""

    def check(self, name, **options):
        given.check(cli.COMMANDS[name], cli.Options(options))

    def test_our_own_trees_are_refused(self):
        series.tree()
        link = self.home / "link"
        link.symlink_to(paths.BUILD / "base-src")
        for name in ("apply", "unapply", "kernel", "check", "series"):
            for tree in (paths.BUILD / "base-src", self.tree, link):
                self.refused(
                    lambda name=name, tree=tree: self.check(name, KERNEL=str(tree)),
                    "keep what they make",
                    code=errors.USAGE,
                )

    def test_one_that_has_the_series_is_told_before_it_is_copied(self):
        folder = self.kernel()
        apply.apply()
        self.refused(
            lambda: self.check("kernel", KERNEL=str(folder)), "has the series", code=errors.USAGE
        )
        self.check("apply", KERNEL=str(folder))

    def test_one_around_us_is_not_copied_into_itself(self):
        write_tree(self.home, BASE)
        self.refused(
            lambda: self.check("kernel", KERNEL=str(self.home)),
            "holds this very folder",
            code=errors.USAGE,
        )

    def test_series_for_a_tree_of_the_users(self):
        """Which needs nothing but git, and changes nothing there."""
        folder = self.kernel()
        before = contents(folder)
        shutil.rmtree(paths.BUILD)
        with mock.patch.object(base, "current", side_effect=AssertionError):
            out = mails.write_series(self.home / "out")
        self.assertEqual(contents(folder), before)
        self.as_git(folder)
        self.git("am", "-q", *map(str, sorted(out.glob("*.patch"))), tree=folder)
        self.assertIn("long line_5;", (folder / "kernel/a.c").read_text())


class Out(Trees):
    """OUT=: what is there and not ours stays."""

    def setUp(self):
        super().setUp()
        self.out = self.home / "out"

    def write(self, out=None):
        return mails.write_series(str(out or self.out))

    def names(self):
        return sorted(path.name[:4] for path in self.out.glob("*.patch"))

    def test_somebody_s_own_patches(self):
        write_tree(self.out, {"0001-mine.patch": "years of work\n"})
        self.refused(self.write, "0001-mine.patch", code=errors.USAGE)
        self.assertEqual(contents(self.out), {"0001-mine.patch": (False, b"years of work\n")})

    def test_what_was_added_or_changed_since(self):
        self.write()
        self.write()
        for name in (
            "0000-cover-letter.patch",
            sorted(path.name for path in self.out.glob("0002*"))[0],
        ):
            write_tree(self.out, {name: "mine\n"})
            self.refused(self.write, name, code=errors.USAGE)
            self.assertEqual((self.out / name).read_text(), "mine\n")
            (self.out / name).unlink()

    def test_patches_that_are_gone_go(self):
        self.write()
        self.rebase("/arm64: use it/d")
        series.refresh()
        self.write()
        self.assertEqual(self.names(), ["0001", "0002"])

    def test_interrupted_it_is_still_ours(self):
        self.write()
        self.rebase("/arm64: use it/d")
        series.refresh()
        with mock.patch.object(Path, "rename", side_effect=Interrupted), self.assertRaises(
            Interrupted
        ):
            self.write()
        self.write()
        self.assertEqual(self.names(), ["0001", "0002"])

    def test_a_link_leads_to_its_folder(self):
        (self.home / "real").mkdir()
        self.out.symlink_to(self.home / "real")
        self.write()
        self.assertTrue(self.out.is_symlink())
        self.assertEqual(self.names(), ["0001", "0002", "0003"])

    def test_what_is_no_folder(self):
        self.out.write_text("x")
        self.refused(self.write, "no folder", code=errors.USAGE)
        self.out.unlink()
        self.out.symlink_to("out")
        self.refused(self.write, "leads nowhere", code=errors.USAGE)
        self.refused(lambda: self.write("/"), "/ holds", code=errors.USAGE)
        self.assertEqual([path.name for path in self.home.iterdir() if "part" in path.name], [])
        write_tree(self.home, {"file": "x\n"})
        with mock.patch.object(mails, "_on_base", side_effect=AssertionError("something was made")):
            self.refused(lambda: self.write(self.home / "file/out"), "in none", code=errors.USAGE)

    def test_what_it_tells_to_type_can_be(self):
        self.out = self.home / "my patches"
        self.write()
        self.assertIn(f"git am '{self.out}'/*.patch", self.said.getvalue())

    def test_a_mount_point_is_written_and_not_replaced(self):
        """What cannot be renamed, or have a neighbour."""
        self.out.mkdir()
        before = self.out.stat().st_ino
        self.out.parent.chmod(0o755)
        self.write()
        self.assertEqual(self.out.stat().st_ino, before)
        self.assertEqual(
            [path.name for path in self.out.parent.iterdir() if path.name.startswith("out.")], []
        )

    def test_the_environment_s_is_another_program_s(self):
        with mock.patch.dict(os.environ, {"OUT": str(self.out)}):
            os.environ.pop("MAKEFLAGS", None)
            _, options = cli.parse(["series"])
            self.assertIsNone(options.get("OUT"))
            self.assertIn("left alone", self.said.getvalue())
            os.environ["MAKEFLAGS"] = f"rR -- OUT={self.out}"
            _, options = cli.parse(["series"])
            self.assertEqual(options.get("OUT"), str(self.out))


class Subjects(Trees):
    def test_no_subject_is_refused(self):
        write_tree(self.tree, {"kernel/b.c": "x\n"})
        self.git("commit", "-q", "-a", "--allow-empty-message", "-m", "")
        self.refused(series.refresh, "has no subject")

    def test_one_without_a_letter_for_a_file_s_name_is_kept(self):
        self.commit("\u66f4\u65b0", {"kernel/b.c": "x\n"})
        series.refresh()
        self.assertEqual(len(patches.load()), 4)
        self.assertRegex(patches.files()[3].name, r"^0004-[0-9a-f]{12}\.patch$")
        self.identity()
        self.assertEqual(len(list(mails.write_series().glob("*.patch"))), 4)

    def test_the_gate_counts(self):
        folder, first = self.root / patches.FOLDER, patches.files()[0]
        gates.all_counted()
        for name in ("0004.patch", "first.patch", "0001-x.patch.txt"):
            shutil.copy(first, folder / name)
            self.refused(gates.all_counted, name)
            (folder / name).unlink()
        first.rename(folder / "0004-core.patch")
        self.refused(gates.all_counted, "is number 1")


class Work(Trees):
    """What is in build/tree and nowhere else."""

    def clean(self):
        clean.clean()
        return self.tree.exists()

    def test_what_is_refreshed_goes(self):
        self.assertFalse(self.clean())
        self.assertEqual(list(paths.BUILD.iterdir()), [])

    def test_a_stash_is_work(self):
        write_tree(self.tree, {"kernel/b.c": "mine\n"})
        self.git("stash", "-q", "-u")
        self.assertTrue(self.clean())
        self.assertIn("a stash: it stays", self.said.getvalue())
        self.git("stash", "pop", "-q")
        self.assertEqual((self.tree / "kernel/b.c").read_text(), "mine\n")

    def test_so_is_a_tag(self):
        self.git("tag", "mine")
        self.assertTrue(self.clean())

    def test_so_is_what_git_cannot_tell(self):
        shutil.rmtree(self.tree / ".git/refs")
        (self.tree / ".git/HEAD").write_text("rubbish\n")
        self.assertTrue(self.clean())

    def test_a_branch_without_a_commit(self):
        self.git("checkout", "-q", "--orphan", "new")
        for prepare in (lambda: None, lambda: self.git("rm", "-r", "-q", "-f", ".")):
            prepare()
            for command in (series.tree, series.refresh):
                self.refused(command, "has no commit", code=errors.USAGE)
        self.assertTrue(self.clean())

    def test_not_beneath_another_command(self):
        with lock.build():
            self.refused(clean.clean, "at work")
        self.assertFalse(self.clean())


class Damage(Trees):
    """Files of ours that were cut short or overwritten are as good as none."""

    def damage(self, path):
        for data in (b"", b"{", b"[]", b"\xff\xfe\0", b"version: 6.12.7\n"):
            path.write_bytes(data)
            yield data

    def test_what_is_noted_of_the_base(self):
        want = contents(paths.BUILD / "base-src")
        for data in self.damage(paths.BUILD / "base-src.stamp"):
            with self.subTest(data=data):
                self.assertEqual(contents(base.base_source()), want)

    def test_what_is_noted_of_the_source(self):
        want = contents(series.source_tree())
        for data in self.damage(paths.BUILD / "src.json"):
            with self.subTest(data=data):
                self.assertEqual(contents(series.source_tree()), want)

    def test_what_is_noted_of_the_tree(self):
        for data in self.damage(self.tree / ".git/text-poke.json"):
            with self.subTest(data=data):
                series.tree()
                series.refresh()

    def test_a_base_that_is_removed_meanwhile_is_not_a_hunk_s_fault(self):
        original = git.Repo.blobs

        def blobs(repo, files):
            if "kernel/a.c" in files:
                shutil.rmtree(paths.BUILD / "base-src")
            return original(repo, files)

        with mock.patch.object(git.Repo, "blobs", blobs), self.assertRaisesRegex(
            errors.Fail, "was removed meanwhile"
        ):
            mails.write_series()

    def test_a_repository_without_git(self):
        shutil.rmtree(self.root / ".git")
        self.identity()
        write_tree(self.root, {"kernel/text_poke/core.c": "see /ro" "ot/x\n"})
        with self.assertRaisesRegex(errors.Fail, "machine's path"):
            gates.no_foreign_names()


class Kills(unittest.TestCase):
    def test_a_command_s_child_does_not_outlive_a_kill(self):
        code = (
            "import sys; sys.path.insert(0, sys.argv[1])\nfrom textpoke import say\n"
            "say.run(['sh', '-c', 'echo $$; exec sleep 100'], sys.argv[2])"
        )
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            process = subprocess.Popen(
                [sys.executable, "-c", code, paths.DEV, log], stderr=subprocess.DEVNULL
            )
            while not log.exists() or log.read_text().count("\n") < 2:
                time.sleep(0.05)
            pid = int(log.read_text().splitlines()[1])
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.assertTrue(self.gone(pid))

    @staticmethod
    def gone(pid):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if "zombie" in Path(f"/proc/{pid}/status").read_text():
                    return True
            except (FileNotFoundError, ProcessLookupError):
                return True
            time.sleep(0.05)
        return False


if __name__ == "__main__":
    unittest.main()
