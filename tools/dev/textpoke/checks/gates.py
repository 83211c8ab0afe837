# SPDX-License-Identifier: GPL-2.0
"""What must hold for the series at any time; each gate raises Fail with what is wrong."""

import os
import re
import tempfile
from pathlib import Path

from .. import git, host, paths
from ..code import standards, words
from ..errors import TEST_FAILED, Fail
from ..git import Repo
from ..results.ktap import FAILED, PASSED, Result
from ..results.report import Report
from ..series import base as bases
from ..series import overlay, patches, series
from . import suites

CREATES = re.compile(
    r"^(?:new file|deleted file|rename|copy|similarity)\b|^(?:---|\+\+\+) /dev/null", re.M
)
# Written so that no pattern matches its own text.
FOREIGN = re.compile(
    r"(?<![\w.)}\-/])/(?:[w]ork|[r]oot|[h]ome/\w+)/|(?:[\w-]+\.)*(?:[d]ebian|[p]ypi"
    r"|[n]pmjs)\.(?:org|com)\b|\b[d]ocker\.io\b",
    re.I,
)
TEXT_LIMIT = 1 << 20
LOG_WIDTH, UNBROKEN = 75, re.compile(r"[A-Z][\w-]*: |\s*\S+$")
# As long as no person sends the series.
AUTHOR = "Text Poke <text-poke@localhost>"


def kept_is_new():
    """No kept file exists in the base."""
    tree = bases.current().path
    if there := sorted(path for path in patches.kept() if os.path.lexists(tree / path)):
        raise Fail(TEST_FAILED, f"{there[0]} is upstream's: keep only a hunk of it")


def hunks_only_change():
    """No hunk adds or deletes a file."""
    for patch in patches.load():
        if found := CREATES.search(patch.diff):
            raise patches.bad(patch.name, f"has the line `{found[0]} …`: hunks only change files")


def variants_stand_in():
    """Each variant is for other versions than the patch, in files of upstream's that it changes,
    and not older than the patch.
    """
    made, have = bases.made_for()["version"], patches.kept()
    for patch in patches.load():
        for variant in patch.variants:
            if made and variant.fits(made):
                raise patches.bad(
                    variant.name(patch),
                    f"is for {made} as well, which the patch itself was made for: leave that out",
                )
            if found := CREATES.search(variant.diff):
                raise patches.bad(
                    variant.name(patch), f"has the line `{found[0]} …`: hunks only change files"
                )
            if ours := [path for path in variant.hunks if path in have]:
                raise patches.bad(
                    variant.name(patch),
                    f"has a hunk for {ours[0]}, which is kept, and the same in each version: "
                    "remove it",
                )
            first, _ = variant.bounds()
            patch.at(f"6.12.{first}")
        _not_two_for_one(patch)


def _not_two_for_one(patch):
    """No version has two variants with hunks for one file."""
    for number, one in enumerate(patch.variants):
        for other in patch.variants[number + 1 :]:
            both = set(one.hunks) & set(other.hunks)
            if both and any(
                each.fits(f"6.12.{of.bounds()[0]}") for each, of in ((one, other), (other, one))
            ):
                raise patches.bad(
                    other.name(patch),
                    f"and {one.name(patch)} have hunks for {min(both)} in one version: put them "
                    "apart",
                )


def all_counted():
    """The patches are numbered from one on, without a gap, in whole parts,
    and nothing lies beside them that is left out.
    """
    patches.check_parts(patches.load())
    if strange := patches.strangers():
        raise patches.bad(
            strange[0],
            "is no patch, no variant of one and not the base: name it NNNN-subject.patch, or "
            "remove it",
        )
    for number, path in enumerate(patches.files(), 1):
        if int(path.name[:4]) != number:
            raise patches.bad(
                path.name,
                f"is number {number} of the series, by its place: run `make tree` and `make "
                "refresh`",
            )


def one_author():
    """Every patch is from the series' author, not from the git configuration of a machine."""
    for patch in patches.load():
        if patch.author != AUTHOR:
            raise patches.bad(patch.name, f"is from {patch.author}: have `From: {AUTHOR}` there")


def logs_are_narrow():
    """No line of a change log is longer than checkpatch has it, but for those that cannot be
    broken: a trailer's, and what has no blank.
    """
    for patch in patches.load():
        for line in patch.log.splitlines():
            if len(line) > LOG_WIDTH and not UNBROKEN.match(line):
                raise patches.bad(
                    patch.name, f"has `{line}`, which is over {LOG_WIDTH} columns: wrap it"
                )


def owned_once():
    """Every kept file is added by one patch, before others change it,
    and every patch's file is there.
    """
    series.load()


def _am(small, mails, folder):
    """The tree that git am makes of the mails on the base."""
    git.porcelain(
        folder.parent, "clone", "-q", "--no-checkout", str(small.repo.folder), str(folder)
    )
    git.porcelain(folder, "checkout", "-q", "-b", "am", small.base)
    who = {"GIT_COMMITTER_NAME": "gate", "GIT_COMMITTER_EMAIL": "gate@localhost"}
    try:
        git.porcelain(folder, "am", "-q", *map(str, mails), **who)
    except git.GitError as error:
        raise Fail(
            TEST_FAILED, f"git am refuses the series: {error.said.splitlines()[0]}"
        ) from None
    return git.porcelain(folder, "rev-parse", "HEAD^{tree}").strip()


def am_agrees():
    """The exported series, by git am, gives the tree of files and hunks; twice the same bytes."""
    small = series.pinned()
    with tempfile.TemporaryDirectory() as folder:
        small.repo("update-ref", "refs/heads/series", small.head)
        mails = series.export(small, Path(folder) / "one")
        again = series.export(small, Path(folder) / "two")
        for out in ("one", "two"):
            series.export_parts(small, Path(folder) / out)
        parts = [sorted((Path(folder) / out).glob("*/*.patch")) for out in ("one", "two")]
        if [mail.read_bytes() for mail in [*mails, *parts[0]]] != [
            mail.read_bytes() for mail in [*again, *parts[1]]
        ]:
            raise Fail(TEST_FAILED, "two exports of the series differ")
        made = (
            _am(small, mails, Path(folder) / "am")
            if mails
            else small.repo("rev-parse", f"{small.base}^{{tree}}").strip()
        )
        if made != small.repo("rev-parse", f"{small.head}^{{tree}}").strip():
            raise Fail(TEST_FAILED, "git am of the series gives another tree than files and hunks")


def _plain(data):
    """A patch without what another base alone changes:
    line numbers, what they are in, and blob ids.
    """
    return re.sub(rb"^(@@ -)[\d, +-]+( @@).*|^index .*\n", rb"\1\2", data, flags=re.M)


def _said(path, fitted):
    """What a file of the series has to be on this base."""
    return git.encode(fitted[path].text()) if path in fitted else (paths.ROOT / path).read_bytes()


def refresh_is_identity():
    """Reading the series back from its commits changes nothing."""
    base = bases.current()
    same_base = base.sha256 == bases.made_for()["sha256"]
    fitted = {f"{patches.FOLDER}/{patch.name}": patch.at(base.version) for patch in patches.load()}
    small = series.pinned()
    extract = series.Extract(Repo(small.repo.folder), small.base, small.head, patches.headers())
    wanted = extract.result(small.base, small.head)
    for path, what in series.differences(wanted):
        if same_base or what != "changed" or _plain(wanted[path][1]) != _plain(_said(path, fitted)):
            raise Fail(
                TEST_FAILED,
                f"refresh would leave {path} {what}: run `make tree` and `make refresh`",
            )


def _listed():
    """The files of this repository; of one that came without git all that is there,
    but for what is generated.
    """
    if git.is_work_tree(paths.ROOT):
        return bases.sources(paths.ROOT)
    found = (
        Path(at, name).relative_to(paths.ROOT)
        for at, _, names in os.walk(paths.ROOT)
        for name in names
    )
    return {
        str(path)
        for path in found
        if path.parts[0] != paths.BUILD.name and not patches.litter(path)
    }


def _texts():
    """Every text file of this repository that git has or would add."""
    for name in sorted(_listed()):
        path = paths.ROOT / name
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()[:TEXT_LIMIT]
            if b"\0" not in data:
                yield name, git.decode(data)


def no_foreign_names():
    """No path of a machine and no package host in what we wrote."""
    for name, text in _texts():
        for number, line in enumerate(text.splitlines(), 1):
            ours = not name.endswith((".patch", patches.HUNKS)) or not line.startswith((" ", "-"))
            if ours and (found := FOREIGN.search(line)):
                raise Fail(
                    TEST_FAILED,
                    f"{name}:{number} has `{found[0]}`: a machine's path or a package host does "
                    "not belong here",
                )


def _added_lines(diff):
    return "\n".join(
        line[1:]
        for line in diff.splitlines()
        if line.startswith("+") and not line.startswith("+++")
    )


def _texts_of_series():
    """(name, text) of all that the series brings:
    kept files, change logs and added lines of hunks.
    """
    yield from (
        (path, git.decode(file.read_bytes())) for path, file in sorted(patches.kept().items())
    )
    for patch in patches.load():
        yield patch.name, f"{patch.message}\n{_added_lines(patch.diff)}"
        yield from ((variant.name(patch), _added_lines(variant.diff)) for variant in patch.variants)


def overlay_fits():
    """What breaks the kernel on purpose applies to the series, without fuzz."""
    base = bases.current()
    for path in overlay.added():
        if os.path.lexists(base.path / path):
            raise Fail(TEST_FAILED, f"{overlay.FOLDER}/{path} is upstream's: give it another name")
    small = series.pinned()
    with small.repo.index(small.head) as index:
        overlay.lay(small.repo, index, small.entries)


def overlay_is_apart():
    """The series has no trace of it."""
    for name, word in overlay.traces(_texts_of_series()):
        raise Fail(
            TEST_FAILED,
            f"{name} has `{word}`: what breaks the kernel on purpose belongs into {overlay.FOLDER}",
        )


def words_are_plain():
    """Comments, documents, change logs, messages and names have none of the words that
    tools/dev/terms.md gives others for.
    """
    if found := list(words.found()):
        path, line, word = found[0]
        raise Fail(
            TEST_FAILED,
            f"{path}:{line} has `{word}`, the first of {len(found)} words to write otherwise: see "
            "tools/dev/terms.md",
        )


GATES = [
    ("no kept file exists in the base", kept_is_new),
    ("no hunk adds or deletes a file", hunks_only_change),
    ("every variant of a patch is as new as the patch", variants_stand_in),
    ("every kept file is added by one patch", owned_once),
    ("git am of the series equals files and hunks", am_agrees),
    ("refresh after series changes nothing", refresh_is_identity),
    ("no machine paths or package hosts", no_foreign_names),
    ("every file beside the patches is one of them, and counted", all_counted),
    ("the overlay that breaks the kernel on purpose applies", overlay_fits),
    ("the series has no trace of that overlay", overlay_is_apart),
    ("the series and its documents use the words of terms.md", words_are_plain),
    ("every patch is from the series' author", one_author),
    ("no line of a change log is too long", logs_are_narrow),
]


def results():
    """A result for each gate."""
    for name, gate in GATES:
        try:
            gate()
            yield Result(f"series: {name}", PASSED)
        except Fail as failure:
            yield Result(f"series: {name}", FAILED, failure.message)


def main(_):
    """`gates`: all of them, the kernels of Debian's suites too; then what these tools themselves
    are held to.
    """
    host.need("git")
    report = Report().into("gates")
    report.step("series: gates", results)
    report.step("series: Debian's suites", suites.fits)
    report.step("tools: standards", standards.results)
    return report.end()
