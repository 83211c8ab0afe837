# SPDX-License-Identifier: GPL-2.0
"""make apply and make unapply: the series into a tree of the user's, and out of it again.

All is checked first. In a git tree git am makes a commit per patch, or none; anywhere else
what changes is staged in the tree, which then is made to be it by renames. An interruption
is undone, or finished, by the next run.
"""

import os
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import git, host, lock, paths
from ..errors import INFRA, USAGE, Fail
from ..git import GitError, Repo, encode, porcelain
from ..say import say, working
from . import base as bases
from . import patches, series

PLAN = ".text-poke-apply"
MARK = "text-poke-apply"  # in a git tree's repository: the commit that we began at
FILES, GONE, WHAT = "files", "gone", "what"  # what a plan holds


# What of the series is in a tree


@dataclass(frozen=True)
class Standing:
    """The patches of a tree: those it has, those it lacks,
    and those that are neither there nor not.
    """

    there: tuple
    lacking: tuple
    other: tuple
    without: dict  # upstream's file -> its bytes without those that are there
    whose: str = ""  # a file that another version of the series has left

    def refuse_for_apply(self, target, is_git):
        """One sentence for a tree that has the series, or another version of it, or a part."""
        if self.other:
            raise Fail(
                USAGE,
                f"{target} has another version of the series ({self.whose or self.other[0].name} "
                "differs there): take that out first",
            )
        if self.there and self.lacking:
            first = self.lacking[0]
            raise Fail(
                USAGE,
                f"{target} has the series, but lacks {len(self.lacking)} of its "
                f"{len(self.there) + len(self.lacking)} patches, "
                f"the first of them `{first.subject}`: take out the others with "
                f"{_how_out(target, is_git, self.there)}, then apply all",
            )
        if self.there:
            raise Fail(USAGE, f"{target} has the series already: nothing to do")


def _begun(target, have):
    return any(os.path.lexists(target / path) for path in have)


class _Look:
    """Takes the patches out again, the last one first, in an index of its own.

    levels: kept path -> the number of the last patch that is in the tree's file, -1 without the
    file, None if it is another.
    """

    def __init__(self, index, levels):
        self.index, self.levels = index, levels
        self.found: dict[str, list] = {"there": [], "lacking": [], "other": []}
        self.whose = ""

    def _applies(self, diff, *words):
        try:
            self.index("apply", "--cached", "--whitespace=nowarn", *words, "-", data=encode(diff))
        except GitError:
            return False
        return True

    def _kept(self, number, path):
        level = self.levels[path]
        if level is None:
            return "other"
        return "there" if level >= number else "lacking"

    def _hunks(self, diff):
        if self._applies(diff, "--reverse"):
            return "there"
        # Nothing is changed by a try.
        return "lacking" if self._applies(diff, "--check") else "other"

    def look(self, number, patch, kept):
        """Which of the three a patch is, with the kept files that it adds or changes."""
        kinds = {path: self._kept(number, path) for path in sorted(kept)}
        diff = patch.diff_of(lambda path: path not in kept)
        both = {*kinds.values(), *([self._hunks(diff)] if diff else ())}
        kind = both.pop() if len(both) == 1 else "other"
        # One that is there and is no version of ours, rather than one that is not there.
        odd = sorted(
            (path for path in kinds if kinds[path] != "there"),
            key=lambda path: kinds[path] != "other",
        )
        if kind == "other" and odd and (not self.whose or kinds[odd[0]] == "other"):
            self.whose = odd[0]
        self.found[kind].insert(0, patch)


def _levels(repo, target, after):
    """See _Look: what a file is after each patch is known,
    so that it tells itself how far it is.
    """
    owned = sorted({path for kept in after for path in kept})
    blobs = repo.blobs({path: target / path for path in owned if (target / path).is_file()})
    levels = {path: None if os.path.lexists(target / path) else -1 for path in owned}
    for number, kept in enumerate(after):
        levels |= {
            path: number
            for path, (_, blob) in kept.items()
            if path in blobs and blobs[path][1] == blob
        }
    return levels


def standing(target, version):
    """What of the series a tree has."""
    whole, have = series.load()
    if not _begun(target, have):
        return Standing((), tuple(whole), (), {})
    with series.scratch() as folder, working(f"comparing {target} with the series", 15):
        repo = Repo.create(Path(folder) / "git")
        whole = [patch.at(version) for patch in whole]
        after = series.states(repo, whole, repo.blobs(have))
        with repo.index() as index:
            index.add(
                repo.blobs(
                    {
                        path: target / path
                        for path in patches.upstreams(whole)
                        if (target / path).is_file()
                    }
                )
            )
            look = _Look(index, _levels(repo, target, after))
            for number, patch in reversed(list(enumerate(whole))):
                look.look(number, patch, after[number])
            there, lacking, other = map(tuple, look.found.values())
            return Standing(there, lacking, other, _contents(repo, index, folder), look.whose)


def _contents(repo, index, folder):
    """path -> (mode, bytes) of an index."""
    place = Path(folder) / "without"
    place.mkdir()
    series.check_out(repo, index, place)
    return {
        str(path.relative_to(place)): (path.stat().st_mode, path.read_bytes())
        for path in place.rglob("*")
        if path.is_file()
    }


# A folder without git


def _stage(target, what, fill, gone=()):
    """Everything that is to be, under a temporary name until it is whole; then it is made so."""
    part = target / f"{PLAN}.part"
    shutil.rmtree(part, ignore_errors=True)
    (part / FILES).mkdir(parents=True)
    (part / WHAT).write_text(what)
    (part / GONE).write_bytes(encode("\0".join(gone)))
    fill(part / FILES)
    part.rename(target / PLAN)
    _finish(target)


def _finish(target):
    """Move what is staged into place, and remove what is to go;
    an interrupted command ends here too.
    """
    plan = target / PLAN
    for at, _, names in os.walk(plan / FILES):
        for name in names:
            staged = Path(at, name)
            place = target / staged.relative_to(plan / FILES)
            place.parent.mkdir(parents=True, exist_ok=True)
            staged.rename(place)
    gone: str = patches.read(plan / GONE)
    for path in filter(None, gone.split("\0")):
        (target / path).unlink(missing_ok=True)
        _prune((target / path).parent, target)
    # Not piece by piece under its own name, by which it counts as whole.
    part = plan.with_name(f"{PLAN}.part")
    shutil.rmtree(part, ignore_errors=True)
    plan.rename(part)
    shutil.rmtree(part)


def _prune(folder, top):
    """Folders that a deleted file leaves empty."""
    while folder != top and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


# A git tree


def _identity(target):
    """The committer: the user as git knows them, else the patch's author."""
    try:
        porcelain(target, "var", "GIT_COMMITTER_IDENT", clean=False)
        return {}
    except GitError:
        name, mail = patches.load()[0].author.rstrip(">").split(" <")
        return {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail}


def _mark(target):
    return Path(porcelain(target, "rev-parse", "--absolute-git-dir").strip()) / MARK


def _undo(target, before, who):
    """Back to where git am began; the tree was clean then, but for files that git does not know."""
    for how in ("--abort", "--quit"):
        try:
            porcelain(target, "am", how, clean=False, **who)
            break
        except GitError:
            continue
    try:
        porcelain(target, "reset", "-q", "--hard", before, clean=False, **who)
    except GitError as error:
        raise Fail(
            INFRA,
            f"{target} cannot be put back to {before[:12]} now ({error.said.splitlines()[0]}): "
            "put that in order, then run the command again, which does it",
        ) from None
    _mark(target).unlink(missing_ok=True)


def _ours_since(target, before):
    """Whether all that was committed since is the series: else it is the user's work."""
    said = porcelain(target, "log", "--format=%s", f"{before}..HEAD").splitlines()
    return set(said) <= {patch.subject for patch in patches.load()}


def _recover(target):
    """Undo a git am of ours that was killed."""
    mark = _mark(target)
    if not (before := paths.noted(mark)):
        mark.unlink(missing_ok=True)
        return
    if (lock_file := mark.with_name("index.lock")).exists():
        raise Fail(
            INFRA,
            f"an apply was interrupted in {target}, and git has left {lock_file}: remove it, then "
            "run the command again",
        )
    if mark.with_name("rebase-apply").exists() and _ours_since(target, before):
        say("undoing an apply that was interrupted")
        _undo(target, before, _identity(target))
    mark.unlink(missing_ok=True)


def _apply_git(small, target):
    """One commit per patch, as git am makes them; all of them or none."""
    before, who, mark = git.head(target), _identity(target), _mark(target)
    with tempfile.TemporaryDirectory(prefix="text-poke-") as folder:
        mails = series.export(small, Path(folder) / "mails")
        mark.write_text(before)
        try:
            porcelain(
                target,
                "-c",
                "am.threeWay=false",
                "-c",
                "commit.gpgSign=false",
                "am",
                "-q",
                "--no-3way",
                "--keep-cr",
                *map(str, mails),
                clean=False,
                **who,
            )
        except BaseException as error:
            _undo(target, before, who)
            if isinstance(error, GitError):
                raise Fail(
                    INFRA, f"git am failed in {target} and was undone: {error.said.splitlines()[0]}"
                ) from None
            raise
    mark.unlink()
    say(
        f"the way back: git -C {shlex.quote(str(target))} reset --keep {before[:12]}, or make "
        "unapply"
    )


def _must_be_clean(target):
    if busy := git.busy_with(target):
        raise Fail(USAGE, f"{busy}, then run the command again")
    git.head(target)
    if porcelain(target, "status", "--porcelain", "--untracked-files=no"):
        raise Fail(
            USAGE,
            f"{target} has uncommitted changes: commit or stash them, then run the command again",
        )


def _are_last(target, wanted):
    """Whether a branch ends with these patches as commits, and nothing but them."""
    return porcelain(target, "log", f"-{len(wanted)}", "--format=%s", "--reverse").splitlines() == [
        patch.subject for patch in wanted
    ]


def _by_git(wanted):
    return f"git, from `{wanted[0].subject}` to `{wanted[-1].subject}`"


def _how_out(target, is_git, there):
    """What takes those patches out again, in words."""
    return "`make unapply`" if not is_git or _are_last(target, there) else _by_git(there)


def _unapply_git(target, found):
    """The series' commits off the branch, if they are the last ones there: else only their owner
    knows what depends on them.
    """
    wanted = found.there
    if not _are_last(target, wanted):
        raise Fail(
            USAGE,
            f"the last {len(wanted)} commits of {target} are not the series alone: take it out "
            f"with {_by_git(wanted)}",
        )
    say(f"taking {len(wanted)} patches out of {target}")
    was = git.head(target)
    porcelain(target, "reset", "-q", "--keep", f"HEAD~{len(wanted)}", clean=False)
    say(f"the branch was at {was[:12]}")


# The commands


def _target(name):
    target = bases.user_tree()
    if not target:
        raise Fail(USAGE, f"name the tree: make {name} KERNEL=/path/to/linux")
    return target, bases.version_of(target)


def _is_interrupted(target, is_git):
    return (target / PLAN).exists() or is_git and _mark(target).exists()


def _begin(target, is_git):
    """Bring an interrupted command to an end; what it was, or ''."""
    finished = ""
    if (target / PLAN).exists():
        finished = patches.read(target / PLAN / WHAT)
        say(f"finishing an interrupted {finished}")
        _finish(target)
    shutil.rmtree(target / f"{PLAN}.part", ignore_errors=True)
    if is_git:
        _recover(target)
        _must_be_clean(target)
    return finished


def apply(dry=False):
    """make apply KERNEL=…: the series into the user's own tree, checked as a whole first."""
    host.need("git")
    target, version = _target("apply")
    is_git = git.is_work_tree(target)
    with lock.folder(target):
        if dry and _is_interrupted(target, is_git):
            raise Fail(
                USAGE,
                f"a command was interrupted in {target}, which `make apply` or `make unapply` "
                "brings to an end: nothing was done",
            )
        finished, found = _begin(target, is_git), standing(target, version)
        if finished == "apply" and found.there and not found.lacking and not found.other:
            say("done")
            return
        found.refuse_for_apply(target, is_git)
        with series.micro(target, version) as small:
            if dry:
                _tell(small, target, version)
                return
            say(f"applying {len(small.series)} patches to {target} (Linux {version})")
            with working("applying", 15):
                _apply_git(small, target) if is_git else _stage(target, "apply", small.checkout)
    say("done")


def _tell(small, target, version):
    """What would be done."""
    touched = patches.upstreams(small.series)
    say(
        f"{len(small.series)} patches would be applied to {target} (Linux {version}): "
        f"{len(touched)} files would be changed, {len(small.entries)} added; nothing was done"
    )


def unapply():
    """make unapply KERNEL=…: the series out of it again."""
    host.need("git")
    target, version = _target("unapply")
    is_git = git.is_work_tree(target)
    with lock.folder(target):
        finished, found = _begin(target, is_git), standing(target, version)
        if found.other:
            raise Fail(
                USAGE,
                f"{target} has another version of the series ({found.whose or found.other[0].name} "
                "differs there): "
                "take it out with the tools of that version, or with git",
            )
        if not found.there and not finished:
            raise Fail(USAGE, f"{target} does not have the series: nothing to do")
        if found.there:
            _unapply_git(target, found) if is_git else _unapply_plain(target, found)
    say("done")


def _unapply_plain(target, found):
    say(f"taking {len(found.there)} patches out of {target}")

    def fill(folder):
        for path, (mode, data) in found.without.items():
            if (target / path).read_bytes() != data:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(data)
                (folder / path).chmod(mode & 0o777)

    _stage(target, "unapply", fill, [path for patch in found.there for path in patch.adds])
