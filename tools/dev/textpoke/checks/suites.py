# SPDX-License-Identifier: GPL-2.0
"""The Linux 6.12 of every Debian suite that has one: does the series fit what people run?

Lists and packages come through apt configurations of our own, as host.py has them, and stay
in the cache. Of a package's tree only the files that hunks touch are unpacked, which takes
seconds; a whole tree is for the steps of check-full that build one.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .. import host, paths
from ..errors import INFRA, Fail
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..say import output, say
from ..series import base as bases
from ..series import patches, series

SUITES = (
    "bookworm-security",
    "bookworm-backports",
    "trixie",
    "trixie-security",
    "trixie-backports",
)
DEBARCH = "amd64"  # whatever has lists: the package is for all
FRESH_FOR = 12 * 3600  # seconds for which lists count as new
NEEDED = ("Makefile", "Kbuild")  # what tells the version


@dataclass(frozen=True)
class Source:
    """A package of Linux's source in a suite."""

    suite: str
    package: str  # Debian's version

    @property
    def version(self):
        """6.12.y"""
        return self.package.split("-")[0]


class Absent(Exception):
    """A suite cannot be asked now, or has no such package."""


# What the suites have


def _listed(apt, suite):
    """New lists, or those of before when no new ones can be had."""
    if apt.listed.exists() and time.time() - apt.listed.stat().st_mtime < FRESH_FOR:
        return
    try:
        apt.update()
    except Fail as failure:
        if not apt.listed.exists():
            raise Absent(failure.message) from None
        say(f"{failure.message}; going by the older lists of {suite}")


def newest(suite):
    """The newest package of a suite, by its lists."""
    with host.locked(f"suite-{suite}"):
        apt = host.suite_apt(suite, DEBARCH)
        _listed(apt, suite)
        rows = output(
            ["apt-cache", "-c", apt.home / "apt.conf", "madison", bases.PACKAGE],
            what=f"reading the lists of {suite}",
        )
    offered = [row.split("|")[1].strip() for row in rows.splitlines() if row.count("|") >= 2]
    if not offered:
        raise Absent(f"it has no {bases.PACKAGE}")
    return Source(suite, offered[0])


def _deb(source):
    """Its package, from the cache where it is there."""
    deb = paths.CACHE / f"{bases.PACKAGE}_{source.package}_all.deb"
    if not deb.exists():
        say(f"downloading {bases.PACKAGE} {source.package} (150 MB)")
        host.room(paths.CACHE, 1, "downloading it")
        try:
            with host.locked(f"suite-{source.suite}"):
                host.suite_apt(source.suite, DEBARCH).download(
                    [f"{bases.PACKAGE}={source.package}"], paths.CACHE
                )
        except Fail as failure:
            raise Absent(failure.message) from None
    return deb


# What is in them


def _touched():
    return sorted({*NEEDED, *patches.upstreams(patches.load())})


@contextlib.contextmanager
def _opened(source):
    """The tarball in a package."""
    part = paths.BUILD / "tmp" / f"{source.package}.deb"
    opened = bases._tarball(_deb(source), part)
    try:
        if not opened:
            _deb(source).unlink()
            raise Absent(
                f"{bases.PACKAGE} {source.package} was damaged, and is fetched again the next time"
            )
        yield opened[0]
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _untar(tarball, names, folder):
    """Files of a tarball; one that it does not have is not there afterwards."""
    listing = folder.with_name(folder.name + ".list")
    listing.write_text("".join(f"{bases.PACKAGE}/{name}\n" for name in names))
    xz = subprocess.Popen(["xz", "-dc", "-T0", tarball], stdout=subprocess.PIPE)
    subprocess.run(
        ["tar", "-x", "--no-same-owner", "--strip-components=1", "-C", folder, "-T", listing],
        stdin=xz.stdout,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    # tar may end before the tarball does, but not without a file that every Linux has.
    assert xz.stdout
    xz.stdout.close()
    xz.wait()
    listing.unlink()
    if lacking := [name for name in NEEDED if not (folder / name).exists()]:
        raise Fail(INFRA, f"{tarball} could not be unpacked: it has no {lacking[0]}")


def touched_files(source):
    """A folder with the files of a source that hunks touch; it is kept while it has all of them."""
    folder, names = paths.CACHE / "suites" / source.package, _touched()
    known = folder / ".names"
    with host.locked(f"suites-{source.package}"):
        if set(names) - set(paths.noted(known).split("\n")):
            with _opened(source) as tarball:
                say(f"unpacking {len(names)} files of {bases.PACKAGE} {source.package}")
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                _untar(tarball, names, folder)
            known.write_text("\n".join(names))
    return folder


def whole_tree(source):
    """All of a source, unpacked."""
    folder = paths.BUILD / f"linux-{source.package}"
    with host.locked(f"suites-{source.package}"):
        if not folder.exists():
            host.room(paths.BUILD, bases.UNPACKED_GIB, "unpacking it")
            part = folder.with_name(folder.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            with _opened(source) as tarball:
                what = f"unpacking {bases.PACKAGE} {source.package}"
                say(what)
                bases.untar(tarball, part, what)
            part.rename(folder)
    return folder


@contextlib.contextmanager
def as_kernel(source):
    """The tree of a source in the place of the pinned one, for whatever is built meanwhile."""
    before = os.environ.get("KERNEL")
    os.environ["KERNEL"] = str(whole_tree(source))
    try:
        yield
    finally:
        os.environ.pop("KERNEL")
        if before:
            os.environ["KERNEL"] = before


# Does the series fit, and say the same there?


def _lines(path):
    text = path.read_text(errors="surrogateescape")
    return Counter(filter(None, map(str.strip, text.splitlines())))


def _named(lines, names):
    """Lines with the words of names replaced."""
    found: Counter = Counter()
    for line, number in lines.items():
        found[re.sub(r"\w+", lambda word: names.get(word[0], word[0]), line)] += number
    return found


@dataclass(frozen=True)
class Change:
    """What the series does to a file of one base, by its lines, wherever they are."""

    before: Counter
    after: Counter

    def named(self, names):
        """The same, with other names for some things."""
        return Change(*(_named(lines, dict(names)) for lines in (self.before, self.after)))

    @property
    def added(self):
        return self.after - self.before

    @property
    def removed(self):
        return self.before - self.after


def difference(pinned, other, whole=False):
    """A line in which two changes differ though their bases do not, or ''.

    whole  the other base does part of it itself, so that less may be added and removed
    """
    theirs, ours = other.before - pinned.before, pinned.before - other.before
    strange = [(other.added - pinned.added, ours), (other.removed - pinned.removed, theirs)]
    if not whole:
        strange += [(pinned.added - other.added, theirs), (pinned.removed - other.removed, ours)]
    return next((line for lines, bases_own in strange for line in (lines - bases_own)), "")


class Tree:
    """A base with the series on it, as far as hunks touch it."""

    def __init__(self, base, small, place):
        self.base, self.place = Path(base), Path(place)
        small.checkout(self.place)

    def change(self, files):
        """What the series does to files, taken together;
        one that it leaves alone here is the base's.
        """
        before: Counter = Counter()
        after: Counter = Counter()
        for path in files:
            made = self.place / path
            before += _lines(self.base / path)
            after += _lines(made if made.exists() else self.base / path)
        return Change(before, after)


@contextlib.contextmanager
def _tree(base, small):
    with series.scratch() as place:
        yield Tree(base, small, place)


def _of_variants(version):
    """(variant's file, files, whether the variant has all hunks for them, names) of what
    variants change in a version.
    """
    for patch in patches.load():
        for variant in patch.variants:
            if variant.fits(version):
                whole = dict(variant.whole)
                # The base may do it in another file than the patch.
                named = variant.named
                yield from [(variant.name(patch), tuple(whole), True, named)] * bool(whole)
                yield from (
                    (variant.name(patch), (path,), False, named)
                    for path in set(variant.hunks) - set(whole)
                )


def _check_same(version, other, pinned):
    """Where a variant is used, the result is the same up to what the base itself has changed."""
    for name, files, whole, named in _of_variants(version):
        if line := difference(pinned.change(files).named(named), other.change(files), whole):
            raise patches.bad(
                name,
                f"makes {' and '.join(files)} of {version} another than the patch makes it, by "
                "more than the "
                f"two bases differ: see the line `{line}`",
            )


def _key(base):
    """Changes with whatever the answer depends on, but for the source itself."""
    code = [
        (paths.DEV / "textpoke" / name).read_bytes()
        for name in ("git.py", "series/patches.py", "series/series.py", "checks/suites.py")
    ]
    return hashlib.sha256(
        b"\0".join([patches.fingerprint().encode(), base.key.encode(), *code])
    ).hexdigest()


def fit(source, base):
    """One source, unless it was found to fit before; raises what is wrong."""
    folder = touched_files(source)
    passed, key = folder / ".passed", _key(base)
    if paths.noted(passed) == key:
        return
    with (
        series.micro(folder, source.version) as small,
        _tree(folder, small) as other,
        _tree(base.path, series.pinned()) as pinned,
    ):
        _check_same(source.version, other, pinned)
    patches.write(passed, key)


def _result(suite, base):
    name = f"series: fits the newest of {suite}"
    try:
        source = newest(suite)
        fit(source, base)
        return Result(f"{name}, {source.package}", PASSED)
    except Absent as absent:
        return Result(name, SKIPPED, str(absent))
    except Fail as failure:
        return Result(name, FAILED, failure.message)


def fits():
    """A result for every suite."""
    if not shutil.which("apt-cache"):
        yield Result("series: fits the newest of every suite", SKIPPED, "there is no apt")
        return
    base = bases.current()
    # A tarball is unpacked by one CPU.
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(lambda suite: _result(suite, base), SUITES)


def others():
    """The newest of each suite where its version is not the pinned one, each once,
    the newest first.
    """
    found: dict = {}
    for suite in SUITES:
        with contextlib.suppress(Absent, Fail):
            source = newest(suite)
            found.setdefault(source.version, source)
    found.pop(bases.made_for()["version"], None)
    return [found[version] for version in sorted(found, key=patches.level, reverse=True)]
