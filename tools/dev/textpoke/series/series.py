# SPDX-License-Identifier: GPL-2.0
"""The series: files kept whole and hunks on one side, an ordinary git tree on the other.

    make tree      build/tree: the base, then one commit per patch; edit and commit there
    make refresh   writes files and hunks back from build/tree

`make series` (mails.py) and `make apply` (apply.py) take it from here to others' trees.

How refresh matches: by subject. A commit whose subject a patch has keeps that patch's
From, Date and change log, whatever the commit says (to change them, edit the patch
file and run `make tree` again); a commit with a new subject makes a new patch with the
commit's author, date and message; a patch whose commit is gone goes, and so do the
files it added. Numbers follow the order of the commits.

A file that the series adds stands at its path as the last patch leaves it. One patch adds it,
later ones may change it, with hunks as for any other file; see states().
"""

import contextlib
import copy
import functools
import json
import os
import re
import shutil
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from .. import git, host, paths
from ..errors import INFRA, USAGE, Fail
from ..git import DIFF, GitError, Repo, encode, porcelain
from ..say import QUIET_FOR, run, say, working
from . import base as bases
from . import overlay, patches
from .patches import Patch

BASE_AUTHOR = "Linux <linux@localhost>"
BASE_DATE = "1700000000 +0000"
TREE = "build/tree"


def tree_folder():
    return paths.BUILD / "tree"


# From patches to commits


def _place_of(patch, error, side="-"):
    """(file, which of its hunks) that git apply refuses, as far as it says; side:
    + if it is taken out.
    """
    if not (place := re.search(r"patch failed: (\S+):(\d+)", error)):
        other = re.search(r"error: (\S+?): ", error)
        return (other[1] if other else error.splitlines()[-1]), ""
    _, hunks = patches.split_hunks(patch.hunks[place[1]])
    begins = re.compile(rf"@@ {'' if side == '-' else r'-[0-9,]+ '}{re.escape(side)}{place[2]}[, ]")
    number = next((number for number, hunk in enumerate(hunks, 1) if begins.match(hunk)), None)
    return f"{place[1]}:{place[2]}", f"hunk {number} of {len(hunks)} for " if number else ""


def _why_not(patch, error, version):
    """git apply's refusal as a sentence: the patch, the file, the hunk, the versions that fit,
    and what to do.
    """
    path, hunk = _place_of(patch, error)
    name = patch.name.removesuffix(".patch")
    return Fail(
        INFRA,
        f"{patches.FOLDER}/{patch.name}: {hunk}{path} does not apply to Linux {version}; the "
        f"series fits {bases.range()}: "
        "use one of these, or put the hunk as it is to be there into "
        f"{name}.{version}-{patches.level(version)}{patches.HUNKS}",
    )


def _cannot_take_out(patch, error):
    """The same of hunks for a file that is kept: it was changed where a patch changes it."""
    path, hunk = _place_of(patch, error, "+")
    return Fail(
        INFRA,
        f"{patches.FOLDER}/{patch.name}: {hunk}{path} cannot be taken out of the file as it stands "
        "here: undo your change of "
        f"that place, run `make tree`, make it in {TREE} in the commit `{patch.subject}` or a "
        "later one, then run `make refresh`",
    )


def _listed(index, paths_):
    """path -> (mode, blob) of some files of an index."""
    rows = (
        row.split("\t", 1)
        for row in index("ls-files", "-s", "-z", "--", *paths_).split("\0")
        if row
    )
    return {path: tuple(info.split()[:2]) for info, path in rows if path in paths_}


def states(repo, series, entries):
    """For each patch: path -> (mode, blob) of the kept files that it adds or changes,
    as they are after it.

    entries has what they are in the end. The hunks of each patch are taken out again, the last
    patch first.
    """
    owned, now = patches.owners(series), {
        path: entries[path] for patch in series for path in patch.adds
    }
    with repo.index() as index:
        index.add(now)
        found = [_take_out(index, patch, owned, now) for patch in reversed(series)]
    return found[::-1]


def _take_out(index, patch, owned, now):
    """What kept files are after a patch; afterwards now has what they are before it."""
    ours = [path for path in patch.changes if path in owned]
    after = {path: now[path] for path in (*patch.adds, *ours)}
    if ours:
        try:
            index(
                "apply",
                "--cached",
                "--reverse",
                "--whitespace=nowarn",
                "-",
                data=encode(patch.diff_of(ours.__contains__)),
            )
        except GitError as error:
            raise _cannot_take_out(patch, error.said) from None
        now.update(_listed(index, ours))
    return after


def _apply(index, patch, after, version):
    """One patch into an index: upstream's files by their hunks,
    and the kept ones as they are after it.
    """
    if diff := patch.diff_of(lambda path: path not in after):
        try:
            index("apply", "--cached", "--whitespace=nowarn", "-", data=encode(diff))
        except GitError as error:
            raise _why_not(patch, error.said, version) from None
    if after:
        index.add(after)
    return index.tree()


def commit_series(repo, onto, series, entries, version):
    """The series as commits on top of onto; entries: added path -> (mode, blob) in the end.

    Returns their ids.
    """
    commits, parent = [], onto
    with repo.index(onto) as index:
        for patch, after in zip(series, states(repo, series, entries), strict=True):
            tree = _apply(index, patch, after, version)
            parent = repo.commit(tree, patch.message, patch.author, patch.date, [parent])
            commits.append(parent)
    return commits


def check_out(repo, index, folder):
    """Write all files of an index below a folder."""
    # Not --bare: this one command needs a working tree.
    git.porcelain(
        repo.folder,
        f"--work-tree={folder}",
        f"--git-dir={repo.folder}",
        "checkout-index",
        "-a",
        "-f",
        GIT_INDEX_FILE=f"{index.folder.name}/index",
    )


class Micro:
    """The series in a throw-away repository that holds only the upstream files it touches.

    Blob ids are content hashes, so patches made here are those of the full tree, at
    a thousandth of the cost.
    """

    def __init__(self, folder, tree, version, series, have):
        self.repo = Repo.create(folder)
        self.series = series = [patch.at(version) for patch in series]
        owned = patches.owners(series)
        for patch in series:
            self._check_base(tree, version, patch, owned)
        with self.repo.index() as index:
            index.add(self.repo.blobs({path: tree / path for path in patches.upstreams(series)}))
            self.base = self.repo.commit(index.tree(), f"Linux {version}\n", BASE_AUTHOR, BASE_DATE)
        self.entries = self.repo.blobs(have)
        self.commits = commit_series(self.repo, self.base, series, self.entries, version)
        self.head = self.commits[-1] if self.commits else self.base

    @staticmethod
    def _check_base(tree, version, patch, owned):
        """Say it here: the small index cannot know what else the base has."""
        for path in patch.adds:
            if os.path.lexists(tree / path):
                raise patches.bad(
                    patch.name,
                    f"adds {path}, which Linux {version} has already: rename it or change it by "
                    "hunks",
                )
        for path in patch.changes:
            if path not in owned and not (tree / path).is_file():
                raise patches.bad(
                    patch.name,
                    f"changes {path}, which Linux {version} does not have; "
                    f"the series fits {bases.range()}: use one of these, or adapt this patch",
                )

    def until(self, count):
        """The same with the first patches alone, in the same repository."""
        part = copy.copy(self)
        part.commits, part.entries = self.commits[:count], {}
        part.head = part.commits[-1] if part.commits else self.base
        return part

    def files(self):
        """(path, mode and blob) of every touched and kept file, as it is in the end."""
        with self.repo.index(self.head) as index:
            index.add(self.entries)
            return self.files_after(index.tree())

    def files_after(self, commit):
        """The same as it is after a patch, or in a tree."""
        rows = self.repo("ls-tree", "-r", "-z", commit).split("\0")
        return [(path, info) for info, path in (row.split("\t") for row in rows if row)]

    def checkout(self, folder, overlaid=False):
        """Write the final content of every touched and kept file below folder,
        with what lies over them or not.
        """
        with self.repo.index(self.head) as index:
            index.add(self.entries)
            if overlaid:
                overlay.lay(self.repo, index, self.entries)
            check_out(self.repo, index, folder)
        return sorted(
            str(Path(at, name).relative_to(folder))
            for at, _, names in os.walk(folder)
            for name in names
        )


def _scratch():
    """Where temporary folders go: the disk of the build, and `make clean` removes them."""
    folder = paths.BUILD / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def scratch():
    """A folder for a while."""
    return tempfile.TemporaryDirectory(dir=_scratch())


def load(drafts=False):
    """The series and its kept files, each owned once; drafts:
    files that have no patch yet are told, not refused.
    """
    series, have = patches.load(), patches.kept()
    loose = patches.unowned(series, have) if drafts else []
    for path in loose:
        say(f"{path} belongs to no patch yet: commit it in {TREE}, then run `make refresh`")
    patches.check_owned(series, {path: have[path] for path in have if path not in loose})
    return series, have


@contextlib.contextmanager
def micro(tree, version, loaded=None):
    """The series of this repository on a tree."""
    series, have = loaded or load()
    with tempfile.TemporaryDirectory(dir=_scratch(), ignore_cleanup_errors=True) as folder:
        try:
            made = Micro(Path(folder) / "git", tree, version, series, have)
        except (Fail, OSError):
            _must_be_there(tree, folder)
            raise
        yield made


_once = threading.Lock()


@functools.lru_cache(1)
def _kept(path, version, _fingerprint):
    """The series on a tree, and what it lies in, which goes with it."""
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(micro(path, version))
        return made, stack.pop_all()


def pinned():
    """The series on the base, made once as long as neither changes: for readers, not to be cut
    short.
    """
    base = bases.current()
    with _once:
        made, _ = _kept(base.path, base.version, patches.fingerprint())
    return made


def _must_be_there(*folders):
    """What is removed beneath a command looks like a hunk that does not fit."""
    for folder in folders:
        if not Path(folder).is_dir():
            raise Fail(INFRA, f"{folder} was removed meanwhile: run the command again") from None


# From commits to patches


def _raw(repo, commit):
    """(status, new mode, new blob, path) of every file that a commit changes."""
    words = repo(
        "diff-tree", "-r", "--no-commit-id", "--no-renames", "--raw", "-z", f"{commit}^", commit
    ).split("\0")
    for info, path in zip(words[::2], words[1::2]):
        _, mode, _, blob, status = info.split()
        yield status, mode, blob, path


class Extract:
    """Reads base..head of a repository back into patches and kept files."""

    def __init__(self, repo, base, head, known):
        self.repo, self.known = repo, known
        self.upstream = set(repo("ls-tree", "-r", "-z", "--name-only", base).split("\0"))
        self.entries, self.owner, self.series = {}, {}, []
        for commit in repo("rev-list", "--reverse", f"{base}..{head}").split():
            self._commit(commit)

    def _commit(self, commit):
        subject, author, date, log = self._said(commit)
        # A new one is where it stands.
        before = self.series or list(self.known.values())[:1]
        part = (
            self.known[subject].part if subject in self.known else before[-1].part if before else ""
        )
        adds, changes = [], []
        for status, mode, blob, path in _raw(self.repo, commit):
            if path in self.upstream:
                changes.append(self._change(status, mode, path, subject))
            elif path in self.owner:
                changes.append(self._change_of_ours(status, mode, blob, path, subject))
            else:
                adds.append(self._add(status, mode, blob, path, subject))
        diff = (
            self.repo("diff-tree", *DIFF, "--no-commit-id", f"{commit}^", commit, "--", *changes)
            if changes
            else ""
        )
        patch = Patch(
            subject, author, date, log, tuple(sorted(adds)), self._without_ids(diff), part=part
        ).numbered(len(self.series) + 1)
        if problem := patches.flaw(patch):
            raise Fail(INFRA, f"the commit `{subject}` in {TREE} {problem}")
        if any(other.subject == subject for other in self.series):
            raise Fail(
                INFRA,
                f"two commits in {TREE} have the subject `{subject}`: reword or squash one with "
                "`git rebase -i base`",
            )
        self.series.append(patch)

    def _said(self, commit):
        """Subject, author, date and log: the patch's own where there is one."""
        words = self.repo(
            "show", "-s", "--format=%s%x00%an <%ae>%x00%aD%x00%b%x00%P", commit
        ).split("\0")
        subject, author, date, log, parents = words
        if len(parents.split()) != 1:
            raise Fail(
                INFRA,
                f"the commit `{subject}` in {TREE} is a merge: make the history linear with `git "
                "rebase -i base`",
            )
        log = log.strip("\n")
        if subject not in self.known:
            return subject, author, date, log
        patch = self.known[subject]
        if log != patch.log:
            say(
                f"{patch.name}: keeping the patch's change log, not the commit's (edit the patch "
                "file to change it)"
            )
        return subject, patch.author, patch.date, patch.log

    def _change(self, status, mode, path, subject):
        if status not in "MT" or not mode.startswith("100"):
            raise Fail(
                INFRA,
                f"the commit `{subject}` in {TREE} deletes or replaces {path}, which upstream "
                "owns: change its content instead",
            )
        return path

    def _change_of_ours(self, status, mode, blob, path, subject):
        if status not in "MT" or not mode.startswith("100"):
            raise Fail(
                INFRA,
                f"the commit `{subject}` in {TREE} deletes or replaces {path}, which the commit "
                f"`{self.owner[path]}` adds: "
                "leave it out there with `git rebase -i base`, or change its content instead",
            )
        self.entries[path] = (mode, blob)
        return path

    def _without_ids(self, diff):
        """A diff in which the files that are kept have no blob ids:
        these would change with every edit of a file.
        """
        return "".join(
            f"diff --git a/{path} b/{path}"
            + (
                re.sub(r"^index .*\n", "", text, count=1, flags=re.M)
                if path in self.owner
                else text
            )
            for path, text in patches.by_file(diff).items()
        )

    def _add(self, status, mode, blob, path, subject):
        if not mode.startswith("100"):
            raise Fail(
                INFRA,
                f"the commit `{subject}` in {TREE} adds {path}, which is not an ordinary file: add "
                "a file instead",
            )
        if not patches.allowed(path):
            raise Fail(
                INFRA,
                f"the commit `{subject}` in {TREE} adds {path}: new files go below "
                f"{', '.join(patches.ROOTS)}, "
                f"but not {patches.OURS}",
            )
        self.owner[path] = subject
        self.entries[path] = (mode, blob)
        return path

    def maintainers(self, base, head):
        """Our section of MAINTAINERS: the lines that the series adds to upstream's."""
        diff = self.repo("diff-tree", *DIFF, base, head, "--", "MAINTAINERS")
        _, _, hunks = diff.partition("\n@@")
        added = re.findall(r"^\+(.*)$", hunks, re.M)
        return "\n".join(added).strip("\n") + "\n" if added else ""

    def result(self, base, head):
        """path in this repository -> (executable, bytes) of everything refresh would write."""
        wanted = {
            f"{patches.FOLDER}/{patch.name}": (False, encode(patch.text())) for patch in self.series
        }
        # Variants stay as they are, and beside their patches.
        wanted |= {
            f"{patches.FOLDER}/{variant.name(patch)}": (False, encode(variant.text()))
            for patch in self.series
            if patch.subject in self.known
            for variant in self.known[patch.subject].variants
        }
        data = self.repo.contents(blob for _, blob in self.entries.values())
        wanted |= {
            path: (mode == "100755", data[blob]) for path, (mode, blob) in self.entries.items()
        }
        if section := self.maintainers(base, head):
            wanted["MAINTAINERS"] = (False, encode(section))
        return wanted


def present():
    """path -> file of everything in this repository that refresh owns."""
    found = patches.kept() | {
        f"{patches.FOLDER}/{path.name}": path for path in patches.files() + patches.variant_files()
    }
    section = paths.ROOT / "MAINTAINERS"
    return found | ({"MAINTAINERS": section} if section.exists() else {})


def differences(wanted):
    """What refresh would change, as (path, 'new' | 'changed' | 'gone')."""
    have = present()
    for path, (executable, data) in sorted(wanted.items()):
        if path not in have:
            yield path, "new"
        elif have[path].read_bytes() != data or os.access(have[path], os.X_OK) != executable:
            yield path, "changed"
    claimed = {
        path
        for file in patches.files()
        for path in patches.parse(file.name, patches.read(file)).adds
    }
    gone = set(have) - set(wanted) - (set(patches.kept()) - claimed)
    # A patch goes after the files it claims: else an interruption would leave them unclaimed.
    for path in sorted(gone, key=lambda path: (path.startswith(patches.FOLDER), path)):
        yield path, "gone"


# make tree


def _quote(path):
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' if '"' in path else path


def _stream(tree, version, out):
    """A tree as git fast-import wants it: one pack, no loose objects."""
    message = encode(f"Linux {version}\n")
    name, _ = BASE_AUTHOR.split(" <")
    out.write(
        encode(
            f"commit refs/heads/pristine\ncommitter {name} <linux@localhost> {BASE_DATE}\n"
            f"data {len(message)}\n"
        )
        + message
    )
    for at, folders, names in os.walk(tree):
        folders[:] = sorted(set(folders) - {".git"})
        links = [one for one in folders if os.path.islink(os.path.join(at, one))]
        for name in sorted(names + links):
            path = Path(at, name)
            mode, data = (
                ("120000", encode(os.readlink(path)))
                if path.is_symlink()
                else ("100755" if os.access(path, os.X_OK) else "100644", path.read_bytes())
            )
            out.write(
                encode(f"M {mode} inline {_quote(str(path.relative_to(tree)))}\ndata {len(data)}\n")
                + data
                + b"\n"
            )


def _import(base, part):
    """The base as a repository with one commit."""
    repo = Repo.create(part)
    with tempfile.TemporaryFile(dir=_scratch()) as stream:
        _stream(base.path, base.version, stream)
        stream.seek(0)
        run(
            [
                "git",
                f"--git-dir={part}",
                "-c",
                "core.compression=1",
                "-c",
                "pack.depth=1",
                "fast-import",
                "--quiet",
            ],
            stdin=stream,
            what="importing the base into git",
        )
    repo("tag", "base", "refs/heads/pristine")
    repo("symbolic-ref", "HEAD", "refs/heads/pristine")


def _base_repo(base):
    """The base's repository, made once and kept in the cache."""
    store = paths.CACHE / f"base-{base.key}.git"
    with host.locked("base-git"):
        if not store.exists():
            host.room(paths.CACHE, 1, "the base as a git repository")
            host.room(paths.BUILD, 2, "the base as a git repository")
            say(f"importing Linux {base.version} into git (once for each base)")
            part = store.with_name(store.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            _import(base, part)
            part.rename(store)
    return store


class State:
    """What build/tree was made from; kept inside its .git."""

    def __init__(self, tree):
        self.path = tree / ".git/text-poke.json"
        self.known = paths.noted_fields(self.path) or self._from_tags(tree)

    @staticmethod
    def _from_tags(tree):
        """What is known all the same if the file is damaged."""
        try:
            return {
                "refreshed": porcelain(
                    tree, "rev-parse", "--verify", "-q", "refs/tags/refreshed"
                ).strip()
            }
        except GitError:
            return {}

    def __getitem__(self, name):
        return self.known.get(name, "")

    def save(self, **known):
        self.known |= known
        patches.write(self.path, json.dumps(self.known, indent=1) + "\n")


def _changes(tree):
    """Uncommitted changes in a tree, as a sentence's beginning, or ''."""
    if not git.is_work_tree(tree):
        raise Fail(INFRA, f"{tree} is no git tree: move it away, then run `make tree`")
    if busy := git.busy_with(tree):
        return busy
    git.head(tree)  # on a branch without a commit nothing can be set aside
    if porcelain(tree, "status", "--porcelain", "--untracked-files=normal"):
        return (
            f"{TREE} has uncommitted changes: commit them there, or set them aside with "
            f"`git -C {TREE} stash -u`"
        )
    return ""


# What `make tree` makes itself; every other branch, tag or stash is the user's work.
OUR_REFS = {"refs/heads/series", "refs/tags/base", "refs/tags/refreshed"}


def work_in(tree):
    """What would be lost with build/tree, in words, or ''; what cannot be told would be."""
    try:
        if _changes(tree):
            return "changes that are not committed"
        refs = set(porcelain(tree, "for-each-ref", "--format=%(refname)").split()) - OUR_REFS
        if refs:
            return "a stash" if "refs/stash" in refs else f"{min(refs)}"
        if len(porcelain(tree, "worktree", "list", "--porcelain").split("\n\n")) > 2:
            return "another working tree that belongs to it"
        return (
            "" if git.head(tree) == State(tree)["refreshed"] else "commits that were not refreshed"
        )
    except Fail as failure:
        return f"something that git cannot tell ({failure.message})"


def _must_be_refreshed(tree, state):
    """Refuse to lose work: commits or changes that refresh has not seen."""
    if state["busy"] == "tree":
        return
    if problem := _changes(tree):
        raise Fail(INFRA, f"{problem}, then run `make refresh`")
    if git.head(tree) != state["refreshed"]:
        raise Fail(
            INFRA,
            f"{TREE} has commits that were not refreshed: run `make refresh`, "
            f"or drop them with `git -C {TREE} reset --hard refreshed`",
        )


def _place(tree, base, series, have):
    """Commit the series in a tree's repository and check it out; only what differs is rewritten."""
    repo, state = Repo(tree / ".git"), State(tree)
    onto = repo("rev-parse", "refs/tags/base^{commit}").strip()
    commits = commit_series(
        repo, onto, [patch.at(base.version) for patch in series], repo.blobs(have), base.version
    )
    head = commits[-1] if commits else onto
    if state["busy"] == "tree":
        (tree / ".git/index.lock").unlink(missing_ok=True)
    state.save(busy="tree", base=base.key, version=base.version)
    repo("tag", "-f", "refreshed", head)
    porcelain(tree, "checkout", "-q", "-f", "-B", "series", head)
    state.save(busy="", refreshed=head, series=patches.fingerprint())
    return len(commits)


def _new_tree(tree, base, series, have):
    """A tree from nothing, under a temporary name until it is whole."""
    store = _base_repo(base)
    host.room(paths.BUILD, 3, TREE)
    part = tree.with_name("tree.part")
    shutil.rmtree(part, ignore_errors=True)
    porcelain(paths.BUILD, "clone", "-q", "--no-checkout", str(store), str(part))
    porcelain(part, "remote", "remove", "origin")
    porcelain(part, "checkout", "-q", "--detach", "base")
    porcelain(part, "branch", "-q", "-D", "pristine")
    made = _place(part, base, series, have)
    part.rename(tree)
    return made


def _new_base(tree, base):
    """Another base in an existing tree: what the user keeps on branches of their own stays."""
    porcelain(
        tree, "fetch", "-q", "--no-tags", str(_base_repo(base)), "+refs/tags/base:refs/tags/base"
    )


def tree():
    """make tree: an ordinary git tree with one commit per patch."""
    host.need("git")
    base = bases.current()
    if not base.key:
        raise Fail(
            USAGE,
            "KERNEL= cannot be the base of build/tree: leave it out, or use `make apply KERNEL=…`",
        )
    series, have = load(drafts=True)
    folder = tree_folder()
    with host.locked("tree", paths.BUILD), working(f"making {TREE}", QUIET_FOR):
        say(f"making {TREE}: Linux {base.version} and {len(series)} patches")
        with micro(base.path, base.version, (series, have)):
            pass  # says what is wrong before anything is changed
        if folder.exists():
            state = State(folder)
            _must_be_refreshed(folder, state)
            if state["base"] != base.key:
                _new_base(folder, base)
            _place(folder, base, series, have)
        else:
            _new_tree(folder, base, series, have)
        for path in patches.unowned(series, have):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(have[path], folder / path)
    say(f"{TREE} is ready: edit and commit there, then run `make refresh`")


# make refresh


def _refreshable(tree):
    """The state of a tree that refresh may read; everything that speaks against it is said."""
    if not tree.exists():
        raise Fail(USAGE, f"there is no {TREE}: run `make tree` first")
    if problem := _changes(tree):
        raise Fail(INFRA, problem)
    state, head = State(tree), git.head(tree)
    repo = Repo(tree / ".git")
    base = repo("rev-parse", "refs/tags/base^{commit}").strip()
    if repo("merge-base", base, head).strip() != base:
        raise Fail(
            INFRA,
            f"{TREE} does not build on its tag base: rebase it with `git -C {TREE} rebase --onto "
            "base`",
        )
    if state["series"] != patches.fingerprint() and state["busy"] != f"refresh {head}":
        raise Fail(
            INFRA,
            f"patches or files changed here since {TREE} was made: "
            + _way_out(head == state["refreshed"]),
        )
    return state, repo, base, head


def _way_out(nothing_new):
    if nothing_new:
        return "run `make tree`"
    return (
        f"set your commits aside (`git -C {TREE} branch mine && git -C {TREE} reset --hard "
        "refreshed`), "
        f"run `make tree`, then bring them back with `git -C {TREE} cherry-pick`"
    )


def _refuse_variants(version):
    """What a variant has put into the tree must not become the patch itself."""
    used = [
        variant.name(patch)
        for patch in patches.headers().values()
        for variant in patch.variants
        if variant.fits(version)
    ]
    if used:
        raise Fail(
            INFRA,
            f"{TREE} is Linux {version}, where {used[0]} takes the place of hunks: "
            f"edit on {bases.made_for()['version']}, which the series was made for",
        )


def _verify(repo, base, head, extract, version):
    """What is about to be written must make the very trees it was read from."""
    again = commit_series(repo, base, extract.series, extract.entries, version)
    wanted = repo("rev-list", "--reverse", f"{base}..{head}").split()
    for patch, one, other in zip(
        extract.series, repo.trees(wanted), repo.trees(again), strict=True
    ):
        if one != other:
            raise Fail(
                INFRA,
                f"the commit `{patch.subject}` cannot be written as hunks and files: nothing was "
                "changed, "
                "split the commit or report this",
            )


def _write_back(wanted, changes):
    """New and changed first, then what is gone, so that an interruption loses nothing."""
    for path, what in changes:
        if what != "gone":
            executable, data = wanted[path]
            patches.write(paths.ROOT / path, data)
            (paths.ROOT / path).chmod(0o755 if executable else 0o644)
    for path, what in changes:
        if what == "gone":
            (paths.ROOT / path).unlink()
            _prune((paths.ROOT / path).parent)


def _prune(folder):
    """Folders that a deleted file leaves empty."""
    while folder != paths.ROOT and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def refresh():
    """make refresh: files and hunks from build/tree's commits."""
    folder = tree_folder()
    with host.locked("tree", paths.BUILD), working(
        f"reading {TREE} and checking that it can be made again", QUIET_FOR
    ):
        state, repo, base, head = _refreshable(folder)
        _refuse_variants(state["version"])
        extract = Extract(repo, base, head, patches.headers())
        _verify(repo, base, head, extract, state["version"])
        wanted = extract.result(base, head)
        changes = list(differences(wanted))
        state.save(busy=f"refresh {head}")
        _write_back(wanted, changes)
        _write_base(state["base"])
        repo("tag", "-f", "refreshed", head)
        state.save(busy="", refreshed=head, series=patches.fingerprint())
    for path, what in changes:
        say(f"{what:8}{path}")
    say(f"{len(extract.series)} patches, {len(changes)} files changed")


def _write_base(key):
    """The hunks are now for this base."""
    base = bases.current()
    if base.key == key:
        patches.write(paths.ROOT / patches.FOLDER / "base", bases.describe(base))


# The series as mails

MAILS = (
    "--zero-commit",
    "--no-signature",
    "--numbered",
    "--no-base",
    "--no-thread",
    "--stat=72",
    *DIFF,
)


def export(small, folder):
    """The mails of a Micro's series, the same bytes each time."""
    folder.mkdir(parents=True, exist_ok=True)
    if small.commits:
        small.repo("format-patch", "-q", *MAILS, "-o", str(folder), f"{small.base}..{small.head}")
    return sorted(folder.glob("*.patch"))


def export_parts(small, folder):
    """Below folder, the mails of each part with its cover letter, by the part's name;
    the same bytes each time.
    """
    before, done = small.base, 0
    for part, group in patches.parts_of(small.series):
        done += len(group)
        subject, text = patches.cover(part)
        name, mail = group[-1].author.rstrip(">").rsplit(" <", 1)
        small.repo("update-ref", "refs/heads/part", small.commits[done - 1])
        # git takes a branch's description for the cover letter, which is dated when it is made.
        small.repo(
            "-c",
            f"branch.part.description={subject}\n\n{text}",
            "format-patch",
            "-q",
            "--cover-letter",
            "--cover-from-description=subject",
            *MAILS,
            "-o",
            str(folder / part),
            f"{before}..part",
            GIT_COMMITTER_NAME=name,
            GIT_COMMITTER_EMAIL=mail,
            GIT_COMMITTER_DATE=group[-1].date,
        )
        before = small.commits[done - 1]


# The source tree that is built


def _stat(path):
    """What tells a file that we wrote from one that was changed since."""
    info = path.lstat()
    return [info.st_size, info.st_mtime_ns, info.st_ino]


class Source:
    """base + series as a tree of hard links in which every touched file is a fresh one."""

    def __init__(self, base):
        self.base, self.src = base, base.src
        self.stamp = base.src.with_name(base.src.name + ".json")
        known = paths.noted_fields(self.stamp)
        self.ours = known.get("files", {})
        self.linked = known.get("linked", "")
        self.series = known.get("series", "")

    def _intact(self):
        return all(
            (self.src / path).exists() and _stat(self.src / path) == stat
            for path, stat in self.ours.items()
        )

    def current(self, series):
        """Nothing to do: same base, same series, the files untouched."""
        return (
            self.base.key
            and self.linked == self.base.key
            and self.series == series
            and self._intact()
        )

    def link(self):
        """Hard links to the base; what we wrote is left alone for now."""
        if self.linked == self.base.key != "":
            return
        host.need("rsync")
        say(f"linking {self.src.name} to Linux {self.base.version}")
        self.src.mkdir(parents=True, exist_ok=True)
        listing = self.stamp.with_suffix(".ours")
        listing.write_text("".join(f"/{path}\n" for path in self.ours))
        run(
            [
                "rsync",
                "-a",
                "--delete",
                f"--exclude-from={listing}",
                f"--link-dest={self.base.path}/",
                f"{self.base.path}/",
                f"{self.src}/",
            ],
            what="linking the source tree",
        )
        self.linked = self.base.key

    def _put(self, path, new):
        """Replace a file when its content differs;
        an equal one keeps its time, so nothing is rebuilt.
        """
        place = self.src / path
        same = (
            place.is_file()
            and not self._shared(path)
            and place.read_bytes() == new.read_bytes()
            and os.access(place, os.X_OK) == os.access(new, os.X_OK)
        )
        if not same:
            place.parent.mkdir(parents=True, exist_ok=True)
            new.rename(place)

    def _shared(self, path):
        """Still the base's own file?"""
        mine, original = self.src / path, self.base.path / path
        return original.exists() and mine.exists() and os.path.samefile(mine, original)

    def _give_back(self, path, scratch):
        """A file that the series no longer touches:
        as in the base, but with a new time, or make would not notice.
        """
        original, place = self.base.path / path, self.src / path
        if original.exists():
            new = scratch / "back"
            shutil.copy(original, new)
            os.utime(new)
            self._put(path, new)
            return True
        place.unlink(missing_ok=True)
        return False

    def fill(self, small, scratch, overlaid=False):
        """The series' files into the tree, and out of it what is no longer the series'."""
        folder = scratch / "files"
        folder.mkdir()
        wanted = small.checkout(folder, overlaid)
        # Written down before anything is written, so that an interruption leaves nothing unknown.
        self.ours |= {path: [] for path in wanted if path not in self.ours}
        self.save("")
        for path in wanted:
            self._put(path, folder / path)
        back = [path for path in self.ours if path not in wanted and self._give_back(path, scratch)]
        self.ours = {path: _stat(self.src / path) for path in wanted + back}

    def save(self, series):
        self.series = series
        known = {"linked": self.linked, "series": self.series, "files": self.ours}
        patches.write(self.stamp, json.dumps(known) + "\n")


def source_after(count):
    """The base with the first patches of the series, in a folder of its own;
    what is alike keeps its time.
    """
    base = bases.current()
    with host.locked("every-patch", paths.BUILD):
        source = Source(replace(base, src=paths.BUILD / "every-patch" / "src"))
        small = pinned().until(count)
        with tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
            source.link()
            source.fill(small, Path(scratch))
            source.save(small.head)
            return source.src, small.head


def source_tree():
    """build/src: the base with the series and the overlay, brought up to date;
    the folder to build from.
    """
    base = bases.current()
    series = f"{patches.fingerprint()} {overlay.fingerprint()}"
    with host.locked("src", paths.BUILD):
        source = Source(base)
        if source.current(series):
            return base.src
        with micro(
            base.path, base.version, load(drafts=True)
        ) as small, tempfile.TemporaryDirectory(dir=_scratch()) as scratch:
            source.link()
            source.fill(small, Path(scratch), overlaid=True)
        source.save(series)
    return base.src
