# SPDX-License-Identifier: GPL-2.0
"""git, spoken to so that the same input gives the same bytes on every machine.

No user or system configuration, no hooks, no attributes, no replacement objects;
commits are made by plumbing on an index of their own, so no working tree is touched.

What git refuses is a GitError, which is a sentence as it is: where the caller has no
better one, the user still gets that and no trace.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from .errors import INFRA, MISSING, USAGE, Fail
from .say import die_with_us, why

CLEAN = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
OPTIONS = (
    "-c",
    "safe.directory=*",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.quotePath=false",
    "-c",
    "gc.auto=0",
)
# What can be made again need not survive a power cut; a tree of the user's must.
FAST = ("-c", "core.fsync=none")
# Whatever would change a diff is said, so that no default of a later git changes the series.
DIFF = (
    "-p",
    "-U3",
    "--full-index",
    "--no-renames",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--inter-hunk-context=0",
)


# What an operation of git's leaves in a repository while it is under way.
MARKS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or am",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}


class GitError(Fail):
    """git said no; the caller may know better what that means. said: all of its words."""

    def __init__(self, doing, said):
        super().__init__(
            INFRA, f"git {doing} failed: {said.splitlines()[0] if said else 'it does not say why'}"
        )
        self.said = said


def _verb(cmd):
    """What git is asked to do: the first word that is no option and no option's value."""
    words = iter(cmd[1:])
    for word in words:
        if word in ("-c", "-C"):
            next(words)
        elif not word.startswith("-"):
            return word
    return "itself"


def _environment(extra, clean=True):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | (CLEAN if clean else {}) | extra


def _call(cmd, data=b"", env=None, cwd=None):
    """stdout as bytes; GitError carries stderr."""
    try:
        done = subprocess.run(
            cmd,
            input=data,
            env=env,
            cwd=cwd,
            capture_output=True,
            check=False,
            preexec_fn=die_with_us,
        )
    except FileNotFoundError:
        raise Fail(MISSING, "git is missing: run `make setup` as root") from None
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").strip()
        if disk := why(said):
            raise Fail(INFRA, disk)
        raise GitError(_verb(cmd), said)
    return done.stdout


def decode(data):
    """Bytes to text and, by encode(), back to the very same bytes."""
    return data.decode("utf-8", "surrogateescape")


def encode(text):
    return text.encode("utf-8", "surrogateescape")


def porcelain(tree, *words, data=b"", clean=True, **env):
    """An ordinary git command in a working tree, and in no other one above it;
    clean=False lets the user's configuration in.
    """
    options = (*OPTIONS, *FAST) if clean else OPTIONS
    env["GIT_CEILING_DIRECTORIES"] = str(Path(tree).resolve().parent)
    return decode(_call(["git", *options, "-C", str(tree), *words], data, _environment(env, clean)))


# A tree of the user's


def is_work_tree(tree):
    """Whether a folder is the top of a working tree; one that only looks like it is refused."""
    if not os.path.lexists(Path(tree) / ".git"):
        return False
    try:
        porcelain(tree, "rev-parse", "--absolute-git-dir")
    except GitError as error:
        raise Fail(
            USAGE,
            f"{tree}/.git is no repository ({error.said.splitlines()[0]}): repair or remove it, "
            "then run the command again",
        ) from None
    return True


def head(tree):
    """The commit that a tree is on."""
    try:
        return porcelain(tree, "rev-parse", "--verify", "-q", "HEAD^{commit}").strip()
    except GitError:
        raise Fail(
            USAGE,
            f"{tree} is on a branch that has no commit: commit something there, or check out a "
            "branch that has one",
        ) from None


def busy_with(tree):
    """What keeps git from changing a tree, as a sentence's beginning with what to do, or ''."""
    folder = Path(porcelain(tree, "rev-parse", "--absolute-git-dir").strip())
    if name := next((name for mark, name in MARKS.items() if (folder / mark).exists()), ""):
        return f"a {name} is under way in {tree}: finish or abort it"
    if (folder / "index.lock").exists():
        return (
            f"git is at work in {tree}, or was interrupted: end it and remove {folder}/index.lock"
        )
    return ""


class Repo:
    """A repository's object store."""

    def __init__(self, folder):
        self.folder = Path(folder)

    @classmethod
    def create(cls, folder):
        """A new bare repository."""
        _call(
            [
                "git",
                *OPTIONS,
                "-c",
                "init.defaultBranch=series",
                "init",
                "-q",
                "--bare",
                "--template=",
                folder,
            ],
            env=_environment({}),
        )
        return cls(folder)

    def __call__(self, *words, data=b"", **env):
        """Bare (it takes both words) also keeps a tree's .gitattributes from
        changing what a diff looks like.
        """
        cmd = [
            "git",
            *OPTIONS,
            *FAST,
            "-c",
            "core.bare=true",
            f"--git-dir={self.folder}",
            "--bare",
            *words,
        ]
        return decode(_call(cmd, data, _environment(env), cwd=self.folder))

    def blobs(self, files):
        """Store files (path -> file on disk); path -> (mode, blob)."""
        names = sorted(files)
        listed = encode("".join(f"{files[name]}\n" for name in names))
        ids = self("hash-object", "-w", "--no-filters", "--stdin-paths", data=listed).split()
        modes = ("100755" if os.access(files[name], os.X_OK) else "100644" for name in names)
        return dict(zip(names, zip(modes, ids)))

    def contents(self, blobs):
        """blob -> bytes, all by one process."""
        wanted = sorted(set(blobs))
        data = encode(
            self("cat-file", "--batch", data=encode("".join(f"{blob}\n" for blob in wanted)))
        )
        found, at = {}, 0
        for blob in wanted:
            start = data.index(b"\n", at) + 1
            at = start + int(data[at:start].split()[2])
            found[blob] = data[start:at]
            at += 1
        return found

    def trees(self, commits):
        """The trees of commits."""
        return (
            self("rev-parse", *(f"{commit}^{{tree}}" for commit in commits)).split()
            if commits
            else []
        )

    def commit(self, tree, message, author, date, parents=()):
        """A commit whose id depends on nothing but what is given."""
        name, mail = author.rstrip(">").rsplit(" <", 1)
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", name), ("EMAIL", mail), ("DATE", date))
        }
        onto = [word for parent in parents for word in ("-p", parent)]
        return self("commit-tree", tree, *onto, data=encode(message), **who).strip()

    def index(self, start=None):
        return Index(self, start)


class Index:
    """An index of its own, thrown away at the end of a `with`."""

    def __init__(self, repo, start):
        self.repo, self.start = repo, start

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="text-poke-")
        if self.start:
            self("read-tree", self.start)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def __call__(self, *words, data=b"", **env):
        return self.repo(*words, data=data, GIT_INDEX_FILE=f"{self.folder.name}/index", **env)

    def add(self, entries):
        """Add entries (path -> (mode, blob))."""
        lines = "".join(
            f"{mode} {blob}\t{name}\0" for name, (mode, blob) in sorted(entries.items())
        )
        self("update-index", "-z", "--add", "--index-info", data=encode(lines))

    def tree(self):
        return self("write-tree").strip()
