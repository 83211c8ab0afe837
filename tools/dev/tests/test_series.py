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
from textpoke import errors, git, paths, say  # noqa: E402
from textpoke.checks import gates  # noqa: E402
from textpoke.results import ktap  # noqa: E402
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
        Bases.as_git(self, folder)
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
    def as_git(self, folder):
        self.git("init", "-q", tree=folder)
        self.git("add", "-A", "-f", tree=folder)
        self.git("commit", "-q", "-m", "theirs", tree=folder)

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
        Bases.as_git(self, target)
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
