# SPDX-License-Identifier: GPL-2.0
"""The series machinery, on a base of a dozen files packed the way Debian packs the real one."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
from textpoke import errors, git, paths  # noqa: E402
from textpoke.checks import gates  # noqa: E402
from textpoke.series import apply, base, mails, patches, series  # noqa: E402

LINES = "".join(f"int line_{number};\n" for number in range(40))
BASE = {
    "Makefile": "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 7\nEXTRAVERSION =\n",
    "Kbuild": "obj-y += kernel/\n",
    "MAINTAINERS": "FIRST\nF:\tkernel/\n\nTHE REST\nF:\t*\n",
    ".gitignore": ".*\n*.o\n!.gitignore\n!.kunitconfig\n/*\n!/debian/\n",
    ".gitattributes": "*.c -diff\n",
    "kernel/a.c": "void f(void)\n{\n" + LINES + "}\n",
    "kernel/b.c": LINES,
    "kernel/crlf.c": "one\r\ntwo\r\nthree\r\n",
    "kernel/latin1.c": "caf\udce9\nnext\n",
    "arch/arm64/Kconfig": "config ARM64\n\tdef_bool y\n",
    "scripts/run.sh": "#!/bin/sh\n",
}
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A Developer"), ("EMAIL", "dev@localhost"))
}


def write_tree(folder, files):
    """Files from a dict; scripts are executable."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(git.encode(text))
        path.chmod(0o755 if name.endswith(".sh") else 0o644)


def make_package(cache, version="6.12.7-1"):
    """A package as apt would have left it in the cache."""
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        write_tree(work / "src", BASE)
        (work / "src/link").symlink_to("kernel/a.c")
        tarball = work / "deb" / base.TARBALL
        tarball.parent.mkdir(parents=True)
        subprocess.run(
            ["tar", "-cJf", tarball, "-C", work, "--transform=s/^src/linux-source-6.12/", "src"],
            check=True,
        )
        write_tree(
            work / "deb",
            {
                "DEBIAN/control": f"Package: linux-source-6.12\nVersion: {version}\n"
                "Architecture: all\nMaintainer: A <a@localhost>\nDescription: fake\n"
            },
        )
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                "dpkg-deb",
                "--build",
                "-Znone",
                work / "deb",
                cache / f"linux-source-6.12_{version}_all.deb",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )


def contents(folder, skip=(".git", "build")):
    """path -> (executable, bytes) of every file below a folder."""
    found = {}
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in skip]
        for name in names:
            path = Path(at, name)
            found[str(path.relative_to(folder))] = (os.access(path, os.X_OK), path.read_bytes())
    return found


class Interrupted(BaseException):
    """Stands for a kill at any point: nothing in the code may catch it for good."""


class Templates:
    """States that many tests start from, made once and copied."""

    def __init__(self):
        self.home = None
        self.made = {}

    def copy(self, name, make, home):
        """Put the state into home; the first time, make it there."""
        if name not in self.made:
            make()
            self.made[name] = self.home / name
            shutil.copytree(home, self.made[name], symlinks=True)
        else:
            shutil.rmtree(home)
            shutil.copytree(self.made[name], home, symlinks=True)


TEMPLATES = Templates()


def setUpModule():  # pylint: disable=invalid-name
    """The templates go when the module is done."""
    folder = tempfile.TemporaryDirectory(dir=SCRATCH)
    unittest.addModuleCleanup(folder.cleanup)
    TEMPLATES.home = Path(folder.name)
    TEMPLATES.made = {}


class Case(unittest.TestCase):
    """A repository of its own, and an editor in its build/tree."""

    def setUp(self):
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(dir=SCRATCH)))
        self.root = self.home / "repo"
        self.tree = self.root / "build/tree"
        here = {
            "ROOT": self.root,
            "BUILD": self.root / "build",
            "LOGS": self.root / "build/log",
            "CACHE": self.home / "cache",
        }
        for name, value in here.items():
            self.enterContext(mock.patch.object(paths, name, value))
        self.enterContext(mock.patch.dict(os.environ, WHO))
        self.enterContext(mock.patch.object(base.host, "need"))
        self.enterContext(mock.patch.object(base, "UNPACKED_GIB", 0))
        self.enterContext(mock.patch.object(gates, "AUTHOR", "A Developer <dev@localhost>"))
        self.enterContext(mock.patch.object(tempfile, "tempdir", str(self.home)))
        os.environ.pop("KERNEL", None)
        self.said = io.StringIO()
        self.enterContext(contextlib.redirect_stderr(self.said))
        TEMPLATES.copy("blank", self.blank, self.home)

    def blank(self):
        """A repository that names its base and has no patch."""
        make_package(self.home / "cache")
        (self.root / "patches/v6.12").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "--template=", self.root], check=True)
        patches.write(self.root / "patches/v6.12/base", base.describe(base.current()))

    def git(self, *words, tree=None):
        return git.porcelain(
            tree or self.tree, *words, **WHO, GIT_SEQUENCE_EDITOR=os.environ.get("EDIT", "true")
        )

    def commit(self, subject, files, *words, log="Because of a reason."):
        write_tree(self.tree, files)
        self.git("add", "-A", ".")
        self.git("commit", "-q", *(words or ("-m", subject, "-m", log)))

    def rebase(self, edit, *words):
        """git rebase -i with a sed command as the editor."""
        with mock.patch.dict(os.environ, {"EDIT": f"sed -i -e '{edit}'"}):
            self.git("rebase", "-q", "-i", *words, "base")

    def three(self):
        """A series of three: core, users, docs."""
        TEMPLATES.copy("three", self.make_three, self.home)

    def make_three(self):
        series.tree()
        core = BASE["kernel/a.c"].replace("int line_5;", "long line_5;")
        self.commit(
            "core: add the poker",
            {
                "kernel/text_poke/core.c": "int core;\n",
                "kernel/a.c": core,
                "tools/testing/selftests/text_poke/run.sh": "#!/bin/sh\n",
                "kernel/text_poke/.kunitconfig": "CONFIG_KUNIT=y\n",
            },
        )
        self.commit(
            "arm64: use it",
            {
                "arch/arm64/kernel/text_poke.c": "int arm64;\n",
                "arch/arm64/Kconfig": BASE["arch/arm64/Kconfig"] + "\tselect HAVE_IT\n",
            },
        )
        self.commit(
            "MAINTAINERS: name us",
            {
                "MAINTAINERS": BASE["MAINTAINERS"].replace(
                    "THE REST", "TEXT POKE\nF:\tkernel/text_poke/\n\nTHE REST"
                )
            },
        )
        series.refresh()

    def kernel(self, sublevel=9, files=None, name="linux"):
        """A tree of the user's, with a line more at the top of what we hunk."""
        folder = self.home / name
        made = (
            BASE
            | {
                "Makefile": BASE["Makefile"].replace("= 7", f"= {sublevel}"),
                "kernel/a.c": "/* new in this version */\n" + BASE["kernel/a.c"],
            }
            | (files or {})
        )
        write_tree(folder, made)
        os.environ["KERNEL"] = str(folder)
        return folder

    def as_git(self, folder):
        """Make a repository of a user's tree, which is in its only commit."""
        self.git("init", "-q", "--template=", tree=folder)
        self.git("add", "-A", "-f", tree=folder)
        self.git("commit", "-q", "-m", "theirs", tree=folder)
        return folder

    def names(self):
        return [path.name for path in patches.files()]

    def repository(self):
        return contents(self.root)

    def refused(self, what, *words, code=errors.INFRA):
        """The sentence of a refusal, which changes nothing here."""
        before = self.repository()
        with self.assertRaises(errors.Fail) as caught:
            what()
        self.assertEqual(self.repository(), before)
        self.assertEqual(caught.exception.code, code, caught.exception.message)
        for word in words:
            self.assertIn(word, caught.exception.message)
        self.assertNotIn("\n", caught.exception.message)
        return caught.exception.message

    def identity(self):
        """Gates pass, and a tree made afresh reads back as what is here."""
        before = self.repository()
        for name, gate in gates.GATES:
            with self.subTest(gate=name):
                gate()
        series.tree()
        series.refresh()
        self.assertEqual(self.repository(), before)


class Editing(Case):
    def test_an_empty_series_is_the_base(self):
        series.tree()
        self.assertEqual(self.git("rev-list", "--count", "HEAD").strip(), "1")
        self.assertEqual(contents(self.tree), contents(paths.BUILD / "base-src"))
        self.identity()

    def test_debians_ignore_rules_hide_no_new_file(self):
        self.three()
        write_tree(self.tree, {"lib/new.c": "x\n"})
        self.assertIn("lib/new.c", self.git("status", "--porcelain", "-uall"))

    def test_commits_become_files_and_hunks(self):
        self.three()
        self.assertEqual(
            self.names(),
            [
                "0001-core-add-the-poker.patch",
                "0002-arm64-use-it.patch",
                "0003-MAINTAINERS-name-us.patch",
            ],
        )
        kept = contents(self.root)
        self.assertEqual(kept["kernel/text_poke/core.c"], (False, b"int core;\n"))
        self.assertTrue(kept["tools/testing/selftests/text_poke/run.sh"][0])
        self.assertNotIn("kernel/a.c", kept)
        self.assertEqual(kept["MAINTAINERS"][1], b"TEXT POKE\nF:\tkernel/text_poke/\n")
        text = patches.read(patches.files()[0])
        self.assertTrue(
            text.startswith(
                "Subject: core: add the poker\nFrom: A Developer <dev@localhost>\nDate: "
            )
        )
        self.assertIn(
            "\n\nBecause of a reason.\n\nAdds: kernel/text_poke/.kunitconfig\n"
            "Adds: kernel/text_poke/core.c\n",
            text,
        )
        self.assertIn("-int line_5;\n+long line_5;\n", text)
        self.assertNotIn("core.c\n+++", text)
        self.identity()

    def test_a_fixup_keeps_the_patch_and_its_text(self):
        self.three()
        before = patches.headers()["core: add the poker"]
        self.commit("", {"kernel/text_poke/core.c": "int core_2;\n"}, "--fixup", "HEAD~2")
        self.rebase("", "--autosquash")
        series.refresh()
        after = patches.headers()["core: add the poker"]
        self.assertEqual((self.root / "kernel/text_poke/core.c").read_text(), "int core_2;\n")
        self.assertEqual(
            (after.name, after.author, after.date, after.log, after.diff),
            (before.name, before.author, before.date, before.log, before.diff),
        )
        self.identity()

    def test_an_inserted_commit_renumbers(self):
        self.three()
        self.commit("kernel: change b", {"kernel/b.c": LINES + "int more;\n"})
        todo = self.git("rev-list", "--reverse", "base..HEAD").split()
        self.git("checkout", "-q", "--detach", "base")
        self.git("cherry-pick", todo[0], todo[3], todo[1], todo[2])
        series.refresh()
        self.assertEqual([name[:4] for name in self.names()], ["0001", "0002", "0003", "0004"])
        self.assertEqual(self.names()[1], "0002-kernel-change-b.patch")
        self.assertEqual(self.names()[3], "0004-MAINTAINERS-name-us.patch")
        self.identity()

    def test_reordered_commits_reorder_the_patches(self):
        self.three()
        self.rebase("1!G;h;$!d")
        # The editor reversed the whole list, comments included.
        series.refresh()
        self.assertEqual(
            [patch.subject for patch in patches.load()],
            ["MAINTAINERS: name us", "arm64: use it", "core: add the poker"],
        )
        self.identity()

    def test_a_dropped_commit_takes_its_patch_and_files_along(self):
        self.three()
        self.rebase("/arm64: use it/d")
        series.refresh()
        self.assertEqual(
            self.names(), ["0001-core-add-the-poker.patch", "0002-MAINTAINERS-name-us.patch"]
        )
        self.assertFalse((self.root / "arch").exists())
        self.rebase("/MAINTAINERS/d")
        series.refresh()
        self.assertFalse((self.root / "MAINTAINERS").exists())
        self.identity()

    def test_the_patch_text_wins_over_the_commit(self):
        self.three()
        self.git("commit", "-q", "--amend", "-m", "MAINTAINERS: name us", "-m", "Other words.")
        series.refresh()
        self.assertIn("keeping the patch's change log", self.said.getvalue())
        self.assertNotIn("Other words", patches.read(patches.files()[2]))
        self.git(
            "commit", "-q", "--amend", "-m", "MAINTAINERS: name all of us", "-m", "Other words."
        )
        series.refresh()
        self.assertEqual(self.names()[2], "0003-MAINTAINERS-name-all-of-us.patch")
        self.assertIn("Other words.", patches.read(patches.files()[2]))
        self.identity()

    def test_an_edited_patch_text_reaches_the_tree(self):
        self.three()
        path = patches.files()[1]
        patches.write(
            path,
            patches.read(path).replace(
                "Because of a reason.", "Because.\n\nTwo paragraphs: \u00e9."
            ),
        )
        series.tree()
        self.assertIn("Two paragraphs: \u00e9.", self.git("log", "-1", "--format=%B", "HEAD~1"))
        self.identity()

    def test_bytes_survive(self):
        series.tree()
        self.commit(
            "bytes",
            {
                "kernel/latin1.c": "caf\udce9\nNEXT\n",
                "lib/no_newline.c": "int x;",
                "lib/bytes.bin": "\0\udcff",
            },
        )
        self.commit(
            "more, after a commit with odd bytes",
            {"kernel/latin1.c": "caf\udce9\nNEXT\nat the end without newline"},
        )
        series.refresh()
        self.identity()

    def test_carriage_returns_are_kept_but_not_exported_unseen(self):
        series.tree()
        self.commit("bytes", {"kernel/crlf.c": "one\r\nTWO\r\nthree\r\n"})
        series.refresh()
        self.assertEqual(
            (series.source_tree() / "kernel/crlf.c").read_bytes(), b"one\r\nTWO\r\nthree\r\n"
        )
        with self.assertRaisesRegex(errors.Fail, "git am refuses"):
            gates.am_agrees()

    def test_the_users_git_configuration_changes_nothing(self):
        self.three()
        before = self.repository()
        config = self.home / "config"
        config.write_text(
            "[diff]\n\tnoprefix = true\n\tcontext = 9\n\talgorithm = minimal\n\trenames = copies\n"
            "[core]\n\tautocrlf = true\n\tabbrev = 5\n[format]\n\tsignature = x\n\tthread = true\n"
        )
        with mock.patch.dict(
            os.environ,
            {"GIT_CONFIG_GLOBAL": str(config), "GIT_DIFF_OPTS": "-u9", "TZ": "Asia/Tokyo"},
        ):
            series.tree()
            series.refresh()
            one = contents(mails.write_series())
        self.assertEqual(self.repository(), before)
        self.assertEqual(contents(mails.write_series()), one)


class Refusals(Case):
    def commits(self, subject, files, *words):
        self.commit(subject, files)
        self.refused(series.refresh, *words)
        self.git("reset", "-q", "--hard", "HEAD~1")

    def test_commits_that_cannot_be_patches(self):
        self.three()
        self.commits("outside", {"drivers/new.c": "x\n"}, "drivers/new.c", "new files go below")
        self.commits("ours", {"tools/dev/new.c": "x\n"}, "tools/dev")
        self.commits("fixup! core: add the poker", {"kernel/b.c": "x\n"}, "autosquash")
        self.commits("arm64: use it", {"kernel/b.c": "x\n"}, "two commits", "arm64: use it")
        self.commits(
            "signed\n\nSigned-off-by: A <a@localhost>", {"kernel/b.c": "x\n"}, "Signed-off-by"
        )
        self.commits("log\n\n---\nrest", {"kernel/b.c": "x\n"}, "start of the diff")
        self.commits("[RFC] brackets", {"kernel/b.c": "x\n"}, "brackets")

    def test_deleting_upstreams_files(self):
        series.tree()
        (self.tree / "kernel/b.c").unlink()
        self.commits("kernel: remove b", {}, "kernel/b.c", "upstream")

    def test_a_merge(self):
        self.three()
        self.git("checkout", "-q", "-b", "side", "base")
        self.commit("side", {"kernel/b.c": "x\n"})
        self.git("merge", "-q", "-m", "merged", "series")
        self.refused(series.refresh, "merge", "linear")

    def test_links_and_empty_commits(self):
        series.tree()
        (self.tree / "lib").mkdir()
        (self.tree / "lib/link.c").symlink_to("../kernel/a.c")
        self.commits("a link", {}, "lib/link.c", "ordinary")
        self.git("commit", "-q", "--allow-empty", "-m", "empty")
        self.refused(series.refresh, "empty", "changes nothing")

    def test_work_that_would_be_lost(self):
        self.refused(series.refresh, "make tree", code=errors.USAGE)
        self.three()
        head = self.git("rev-parse", "HEAD")
        write_tree(self.tree, {"kernel/a.c": "edited\n"})
        for command in (series.tree, series.refresh):
            self.refused(command, "uncommitted changes")
        self.git("checkout", "-q", ".")
        write_tree(self.tree, {"kernel/untracked.c": "new\n"})
        for command in (series.tree, series.refresh):
            self.refused(command, "uncommitted changes")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "kernel: new")
        self.refused(series.tree, "make refresh", "reset --hard refreshed")
        self.assertTrue(series.work_in(self.tree))
        self.git("reset", "-q", "--hard", "refreshed")
        self.assertEqual(self.git("rev-parse", "HEAD"), head)
        self.assertFalse(series.work_in(self.tree))
        series.tree()

    def test_a_rebase_under_way(self):
        self.three()
        self.rebase("1s/^pick/edit/")
        for command in (series.tree, series.refresh):
            self.refused(command, "rebase", "finish or abort")

    def test_changes_on_both_sides(self):
        self.three()
        (self.root / "kernel/text_poke/core.c").write_text("int edited_here;\n")
        self.refused(series.refresh, "run `make tree`")
        self.commit("kernel: change b", {"kernel/b.c": "x\n"})
        self.refused(series.refresh, "git -C build/tree branch mine")
        self.refused(series.tree, "make refresh")
        self.git("branch", "mine")
        self.git("reset", "-q", "--hard", "refreshed")
        series.tree()
        self.assertEqual((self.tree / "kernel/text_poke/core.c").read_text(), "int edited_here;\n")
        self.git("cherry-pick", "mine")
        series.refresh()
        self.assertEqual(len(self.names()), 4)
        self.identity()

    def test_files_without_a_patch_and_patches_without_a_file(self):
        self.three()
        extra = self.root / "kernel/text_poke/extra.c"
        extra.write_text("int extra;\n")
        for command in (mails.write_series, gates.owned_once):
            self.refused(command, "kernel/text_poke/extra.c", "belongs to no patch")
        self.assertTrue((series.source_tree() / "kernel/text_poke/extra.c").exists())
        extra.unlink()
        self.assertFalse((series.source_tree() / "kernel/text_poke/extra.c").exists())
        core = self.root / "kernel/text_poke/core.c"
        core.rename(core.with_suffix(".orig"))
        for command in (series.tree, series.source_tree, mails.write_series):
            self.refused(command, "0001-core", "kernel/text_poke/core.c")

    def test_patches_that_are_malformed(self):
        self.three()
        path = patches.files()[0]
        good = patches.read(path)
        for old, new, word in (
            ("Subject: ", "Subjekt: ", "Subject"),
            ("From: ", "Form: ", "From"),
            ("Date: ", "Data: ", "Date"),
            ("\n---\n", "\n--\n", "`---`"),
            ("Because of", "Signed-off-by: me", "Signed-off-by"),
            (
                "core: add the poker",
                "arm64: use it",
                "0002-arm64-use-it.patch: has the subject `arm64: use it`, which 0001-",
            ),
            (
                "Adds: kernel/text_poke/core.c",
                "Adds: arch/arm64/kernel/text_poke.c",
                "arch/arm64/kernel/text_poke.c",
            ),
            ("A Developer <", "A Developer ", "Name <address>"),
        ):
            with self.subTest(new=new):
                path.write_bytes(git.encode(good.replace(old, new)))
                self.refused(series.tree, word)


class Steps(Case):
    """A file that one patch adds and later ones change."""

    FIRST = "".join(f"int step_{number};\n" for number in range(40))
    SECOND = FIRST.replace("step_5;", "step_5 = 5;")
    THIRD = SECOND.replace("step_30;", "step_30 = 30;") + "int last;\n"
    PATH = "kernel/text_poke/steps.c"

    def setUp(self):
        super().setUp()
        TEMPLATES.copy("steps", self.make_steps, self.home)

    def make_steps(self):
        self.three()
        self.commit("steps: begin", {self.PATH: self.FIRST})
        self.commit("steps: second", {self.PATH: self.SECOND, "kernel/b.c": LINES + "int b;\n"})
        self.commit("steps: third", {self.PATH: self.THIRD})
        series.refresh()

    def after(self):
        """The file after each of the three patches, as a tree made afresh has it."""
        series.tree()
        return [
            self.git("show", f"{commit}:{self.PATH}") for commit in ("HEAD~2", "HEAD~1", "HEAD")
        ]

    def test_the_last_state_is_kept_and_the_others_are_found(self):
        self.assertEqual((self.root / self.PATH).read_text(), self.THIRD)
        begin, second, third = patches.load()[3:]
        self.assertEqual((begin.adds, begin.diff), ((self.PATH,), ""))
        self.assertEqual((second.adds, sorted(second.hunks)), ((), ["kernel/b.c", self.PATH]))
        self.assertEqual(third.diff.count("\n@@ "), 2)
        self.assertNotIn("index ", third.diff)
        self.assertEqual(self.after(), [self.FIRST, self.SECOND, self.THIRD])
        self.identity()

    def test_every_step_is_built_as_it_is_by_then(self):
        want = [self.FIRST, self.SECOND, self.THIRD]
        for count, text in zip((4, 5, 6), want):
            place, _ = series.source_after(count)
            self.assertEqual((place / self.PATH).read_text(), text)
            self.assertEqual("int b;" in (place / "kernel/b.c").read_text(), count > 4)
        place, _ = series.source_after(3)
        self.assertFalse((place / self.PATH).exists())
        self.assertEqual((series.source_tree() / self.PATH).read_text(), self.THIRD)

    def test_git_am_and_apply_go_through_the_steps(self):
        folder = self.kernel()
        self.as_git(folder)
        apply.apply()
        self.assertEqual(
            [self.git("show", f"HEAD~{back}:{self.PATH}", tree=folder) for back in (2, 1, 0)],
            [self.FIRST, self.SECOND, self.THIRD],
        )
        apply.unapply()
        self.assertFalse((folder / self.PATH).exists())

    def test_a_tree_that_has_some_of_the_steps(self):
        folder = self.kernel()
        apply.apply()
        (folder / self.PATH).write_text(self.SECOND)
        self.refused(apply.apply, "lacks 1 of its 6 patches", "steps: third", code=errors.USAGE)
        (folder / self.PATH).write_text(self.SECOND.replace("step_7;", "step_seven;"))
        self.refused(apply.apply, "another version", self.PATH, code=errors.USAGE)
        (folder / self.PATH).write_text(self.THIRD)
        before = contents(self.home / "linux")
        apply.unapply()
        self.assertFalse((folder / self.PATH).exists())
        apply.apply()
        self.assertEqual(contents(folder), before)

    def test_a_rebase_that_reorders_them(self):
        self.git("checkout", "-q", "-B", "series", "HEAD~2")
        self.git("cherry-pick", "refreshed", "refreshed~1")
        series.refresh()
        self.assertEqual(
            [patch.subject for patch in patches.load()[3:]],
            ["steps: begin", "steps: third", "steps: second"],
        )
        self.assertEqual((self.root / self.PATH).read_text(), self.THIRD)
        self.assertEqual(
            self.after()[1], self.FIRST.replace("step_30;", "step_30 = 30;") + "int last;\n"
        )
        self.identity()

    def test_a_fixup_in_the_middle(self):
        self.git("checkout", "-q", "-B", "series", "HEAD~1")
        self.commit(
            "",
            {self.PATH: self.SECOND.replace("step_20;", "step_20 = 20;")},
            "--amend",
            "--no-edit",
        )
        self.git("cherry-pick", "refreshed")
        series.refresh()
        self.assertEqual(
            (self.root / self.PATH).read_text(), self.THIRD.replace("step_20;", "step_20 = 20;")
        )
        self.assertIn("+int step_20 = 20;", patches.load()[4].diff)
        self.identity()

    def test_an_edit_of_the_kept_file_itself(self):
        """It goes into the patch that adds the file, and so into all states."""
        (self.root / self.PATH).write_text(self.THIRD.replace("step_20;", "step_20 = 20;"))
        self.assertIn("step_20 = 20;", (series.source_tree() / self.PATH).read_text())
        self.assertEqual(["step_20 = 20;" in text for text in self.after()], [True] * 3)
        self.identity()
        (self.root / self.PATH).write_text("/* moved */\n" + (self.root / self.PATH).read_text())
        self.assertIn("/* moved */", (series.source_tree() / self.PATH).read_text())
        self.refused(
            gates.refresh_is_identity,
            "refresh would leave",
            "run `make tree` and `make refresh`",
            code=errors.TEST_FAILED,
        )
        series.tree()
        series.refresh()
        self.identity()

    def test_an_edit_where_a_patch_changes_the_file(self):
        series.source_tree()
        (self.root / self.PATH).write_text(self.THIRD.replace("int step_31;", "long step_31;"))
        for command in (series.tree, series.source_tree, mails.write_series, gates.am_agrees):
            self.refused(
                command,
                "0006-steps-third.patch: hunk 1 of 2 for kernel/text_poke/steps.c:28 cannot be "
                "taken out",
                "undo your change",
                "`make tree`",
                "`steps: third`",
                "`make refresh`",
            )
        (self.root / self.PATH).write_text(self.THIRD.replace("int step_6;", "long step_6;"))
        self.refused(
            series.tree, "0005-steps-second.patch: hunk 1 of 1 for kernel/text_poke/steps.c:3 "
        )

    def test_steps_of_a_mode(self):
        (self.tree / self.PATH).chmod(0o755)
        self.commit("steps: run", {})
        series.refresh()
        self.assertTrue(os.access(self.root / self.PATH, os.X_OK))
        self.assertIn("\nold mode 100644\nnew mode 100755\n", patches.load()[6].diff)
        self.identity()
        self.assertFalse(os.access(series.source_after(6)[0] / self.PATH, os.X_OK))

    def test_what_no_step_may_be(self):
        (self.tree / self.PATH).unlink()
        self.commit("steps: end", {})
        self.refused(series.refresh, "steps: end", "deletes", self.PATH, "`steps: begin` adds")
        self.git("reset", "-q", "--hard", "HEAD~1")
        begin, third = (path for path in patches.files() if path.name[:4] in ("0004", "0006"))
        third.rename(third.with_name("0002-steps-third.patch"))
        self.refused(series.tree, "0002-steps-third.patch", self.PATH, begin.name, "move it behind")

    def test_a_variant_has_none(self):
        third = patches.files()[5]
        text = patches.read(third).partition("---\n")[2]
        hunks = f"Subject: steps: third\nFor: 6.12.9+\n\nWhy it is.\n---\n{text}"
        write_tree(self.root, {"patches/v6.12/0006-steps-third.6.12.9+.hunks": hunks})
        self.refused(gates.variants_stand_in, self.PATH, "is kept")


class Drafts(Case):
    """Files that were begun in this repository, before there is a patch for them."""

    def test_they_are_committed_in_the_tree(self):
        self.three()
        write_tree(
            self.root, {"kernel/text_poke/extra.c": "int extra;\n", "lib/x.sh": "#!/bin/sh\n"}
        )
        series.tree()
        self.assertIn("belongs to no patch yet", self.said.getvalue())
        self.refused(series.refresh, "uncommitted")
        self.commit("extra: add", {})
        series.refresh()
        self.assertEqual(patches.load()[3].adds, ("kernel/text_poke/extra.c", "lib/x.sh"))
        self.assertTrue(os.access(self.root / "lib/x.sh", os.X_OK))
        self.identity()

    def test_refresh_does_not_delete_what_it_never_knew(self):
        self.three()
        write_tree(self.root, {"lib/x.c": "int extra;\n"})
        series.tree()
        (self.tree / "lib/x.c").unlink()
        self.rebase("/core: add/d")
        series.refresh()
        self.assertTrue((self.root / "lib/x.c").exists())
        self.assertFalse((self.root / "kernel/text_poke/core.c").exists())


class Hunks(Case):
    def edit(self, number, old, new):
        path = patches.files()[number]
        text = patches.read(path)
        self.assertIn(old, text)
        patches.write(path, text.replace(old, new))
        return path.name

    def everywhere(self, *words):
        """Every command says the same, and nothing is half done."""
        tree, src = contents(self.tree), contents(paths.BUILD / "src")
        for command in (series.tree, series.source_tree, mails.write_series):
            self.refused(command, *words)
        self.assertEqual(contents(self.tree), tree)
        self.assertEqual(contents(paths.BUILD / "src"), src)
        self.assertFalse((paths.BUILD / "series").exists())

    def setUp(self):
        super().setUp()
        self.three()
        series.source_tree()

    def test_a_hunk_that_does_not_apply(self):
        name = self.edit(0, "-int line_5;", "-int line_55;")
        self.everywhere(name, "hunk 1 of 1 for kernel/a.c:", "6.12.7", "fits 6.12.7")

    def test_context_that_differs_is_not_fuzzed(self):
        name = self.edit(0, "\n int line_2;\n", "\n int line_22;\n")
        self.everywhere(name, "kernel/a.c:")

    def test_a_file_the_base_has_not(self):
        name = self.edit(0, "kernel/a.c", "kernel/zz.c")
        self.everywhere(name, "kernel/zz.c", "6.12.7")

    def test_an_added_file_the_base_has(self):
        write_tree(self.root, {"kernel/b.c": "mine\n"})
        name = self.edit(1, "Adds: arch", "Adds: kernel/b.c\nAdds: arch")
        self.everywhere(name, "kernel/b.c", "already")

    def test_a_hunk_that_adds_a_file(self):
        self.edit(
            1,
            "\n---\n",
            "\n---\ndiff --git a/lib/new.c b/lib/new.c\nnew file mode 100644\n--- /dev/null\n"
            "+++ b/lib/new.c\n@@ -0,0 +1 @@\n+int x;\n",
        )
        self.everywhere("lib/new.c")
        self.refused(gates.hunks_only_change, "new file")


class Parts(Case):
    """The pieces that a series is sent in."""

    NAMES = ("1-core", "1-core", "2-docs")

    def setUp(self):
        super().setUp()
        self.three()
        for path, part in zip(patches.files(), self.NAMES):
            self.put(path, part)
        for part in set(self.NAMES):
            cover = f"Subject: The {part} of it\n\nWhy it is.\n\nAnd how.\n"
            write_tree(self.root, {f"patches/v6.12/{part}.cover": cover})
        series.tree()

    def put(self, path, part):
        text = re.sub(r"^Part: .*\n", "", patches.read(path), flags=re.M)
        patches.write(
            path, re.sub(r"^(Date: .*\n)", rf"\1Part: {part}\n", text, count=1, flags=re.M)
        )

    def subjects(self, folder):
        return [
            re.search(r"^Subject: (.*)$", path.read_text(), re.M)[1]
            for path in sorted(folder.glob("*.patch"))
        ]

    def test_each_has_its_mails(self):
        out = mails.write_series()
        self.assertEqual(self.subjects(out)[0], "[PATCH 1/3] core: add the poker")
        self.assertEqual(
            self.subjects(out / "1-core"),
            [
                "[PATCH 0/2] The 1-core of it",
                "[PATCH 1/2] core: add the poker",
                "[PATCH 2/2] arm64: use it",
            ],
        )
        self.assertEqual(
            self.subjects(out / "2-docs"),
            ["[PATCH 0/1] The 2-docs of it", "[PATCH 1/1] MAINTAINERS: name us"],
        )
        letter = (out / "1-core/0000-cover-letter.patch").read_text()
        self.assertIn("\nWhy it is.\n\nAnd how.\n", letter)
        self.assertIn("A Developer (2):", letter)
        self.assertNotIn("Part:", "".join(path.read_text() for path in out.rglob("*.patch")))
        self.identity()

    def test_what_was_written_before_goes(self):
        out = mails.write_series(self.home / "out")
        once = contents(out)
        self.assertEqual(contents(mails.write_series(self.home / "out")), once)
        self.put(patches.files()[2], "1-core")
        (self.root / "patches/v6.12/2-docs.cover").unlink()
        mails.write_series(self.home / "out")
        self.assertFalse((out / "2-docs").exists())
        self.assertEqual(len(list(out.glob("1-core/*"))), 4)
        (out / "1-core/0000-cover-letter.patch").write_text("mine\n")
        self.refused(
            lambda: mails.write_series(self.home / "out"),
            "1-core/0000-cover-letter.patch",
            code=errors.USAGE,
        )

    def test_the_tenth_comes_behind_the_ninth(self):
        for path, part in zip(patches.files(), ("9-core", "9-core", "10-docs")):
            self.put(path, part)
        for part, now in (("1-core", "9-core"), ("2-docs", "10-docs")):
            (self.root / f"patches/v6.12/{part}.cover").rename(
                self.root / f"patches/v6.12/{now}.cover"
            )
        gates.all_counted()
        self.assertEqual(len(list(mails.write_series().glob("10-docs/*"))), 2)

    def test_refresh_keeps_them(self):
        self.commit("kernel: change b", {"kernel/b.c": "x\n"})
        todo = self.git("rev-list", "--reverse", "base..HEAD").split()
        self.git("checkout", "-q", "--detach", "base")
        self.git("cherry-pick", todo[0], todo[3], todo[1], todo[2])
        series.refresh()
        self.assertEqual(
            [patch.part for patch in patches.load()], ["1-core", "1-core", "1-core", "2-docs"]
        )
        self.identity()

    def test_what_none_may_be(self):
        first, second, third = patches.files()
        behind = "is of the part `1-core`, behind one of `2-docs`"
        for what, spoil in {
            f"0003-MAINTAINERS-name-us.patch: {behind}": lambda: (
                self.put(second, "2-docs"),
                self.put(third, "1-core"),
            ),
            "0001-core-add-the-poker.patch: is of the part `Core`": lambda: self.put(first, "Core"),
            "3-more.cover: is not there": lambda: self.put(third, "3-more"),
        }.items():
            with self.subTest(what):
                spoil()
                for command in (gates.all_counted, mails.write_series):
                    self.refused(command, what)
                for path, part in zip((first, second, third), self.NAMES):
                    self.put(path, part)
        write_tree(self.root, {"patches/v6.12/4-none.cover": "Subject: x\n\ny\n"})
        self.refused(gates.all_counted, "4-none.cover", "is no patch")


if __name__ == "__main__":
    unittest.main()
