# SPDX-License-Identifier: GPL-2.0
"""make series: what git am takes, in OUT or build/series,
and each part with its cover letter in a folder there.

A list in that folder says what we have written there, by name and content. What it does
not say is the user's, and is never removed or replaced; nor is what was changed since.
"""

import contextlib
import hashlib
import os
import shlex
import shutil
from pathlib import Path

from .. import host, lock, paths
from ..errors import USAGE, Fail
from ..say import say
from . import base as bases
from . import patches, series

LIST = ".text-poke-series"  # as sha256sum has it
PART = f"{LIST}.new"


def _hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _below(folder):
    """Name, as the list has it -> file, of all mails in a folder and its parts."""
    return {
        str(path.relative_to(folder)): path
        for path in sorted([*folder.glob("*.patch"), *folder.glob("*/*.patch")])
    }


def _lines(mails):
    return {f"{_hash(path)}  {name}" for name, path in mails.items()}


def _strange(folder, known, inside=""):
    """The names of what is in a folder and is not as we have written it."""
    for path in sorted(folder.iterdir()):
        name = f"{inside}{path.name}"
        if not inside and path.name.startswith(LIST):
            continue
        if (
            path.is_dir()
            and not path.is_symlink()
            and any(line.partition("  ")[2].startswith(f"{name}/") for line in known)
        ):
            yield from _strange(path, known, f"{name}/")
        elif not path.is_file() or path.is_symlink() or f"{_hash(path)}  {name}" not in known:
            yield name


def _nearest(path):
    """The path, or what there is of the way to it."""
    return next(each for each in (path, *path.parents) if os.path.lexists(each))


def folder_of(out):
    """OUT as the folder that it is or leads to; one that we must not write is refused."""
    if not out:
        return paths.BUILD / "series"
    nowhere = Fail(USAGE, f"OUT={out} is a link that leads nowhere: name a new or empty folder")
    try:
        folder = Path(os.path.expanduser(out)).resolve()
    except (OSError, RuntimeError):
        raise nowhere from None
    # Newer Pythons leave a link that leads to itself as it is.
    if folder.is_symlink():
        raise nowhere
    if not _nearest(folder).is_dir():
        raise Fail(USAGE, f"OUT={out} is no folder, or in none: name a new or empty one")
    if not os.access(_nearest(folder), os.W_OK | os.X_OK):
        raise Fail(USAGE, f"OUT={out} is where you may not write: name a folder of yours")
    check(folder)
    return folder


def check(folder):
    """Nothing is in a folder but what an earlier `make series` has put there."""
    known = set(paths.noted(folder / LIST).splitlines())
    strange = list(_strange(folder, known)) if folder.is_dir() else []
    if strange:
        raise Fail(
            USAGE,
            f"{folder} holds {strange[0]}, which `make series` has not written as it is: "
            "name a new or empty folder (OUT=), or move that away",
        )


@contextlib.contextmanager
def _part(folder):
    """Where new mails are made: in the folder, which may be a mount point or a link,
    and gone when they are in place.
    """
    part = folder / PART
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _replace(mails, folder):
    """New mails in the place of those on the list, which has both meanwhile."""
    listed = paths.noted(folder / LIST).splitlines()
    wanted = _lines(mails)
    patches.write(folder / LIST, "".join(f"{line}\n" for line in sorted({*listed, *wanted})))
    for name in {line.partition("  ")[2] for line in listed} - set(mails):
        (folder / name).unlink(missing_ok=True)
        if (at := (folder / name).parent) != folder and at.is_dir() and not any(at.iterdir()):
            at.rmdir()
    for name, mail in mails.items():
        (folder / name).parent.mkdir(exist_ok=True)
        mail.rename(folder / name)
    patches.write(folder / LIST, "".join(f"{line}\n" for line in sorted(wanted)))


@contextlib.contextmanager
def _on_base():
    """The series on the user's tree, of which nothing is changed, or on the base."""
    if tree := bases.user_tree():
        version = bases.version_of(tree)
    else:
        base = bases.current()
        tree, version = base.path, base.version
    with series.micro(tree, version) as small:
        yield small, version


def write_series(out=None):
    """make series: what git am takes, in OUT or build/series."""
    host.need("git")
    folder = folder_of(out)
    with _on_base() as (small, version), series.scratch() as place:
        patches.check_parts(small.series)
        mails = series.export(small, Path(place) / "mails")
        series.export_parts(small, Path(place) / "mails")
        folder.mkdir(parents=True, exist_ok=True)
        with lock.folder(folder), _part(folder) as part:
            check(folder)
            shutil.copytree(Path(place) / "mails", part, dirs_exist_ok=True)
            _replace(_below(part), folder)
    say(
        f"{len(mails)} patches for Linux {version} in {folder}: git am "
        f"{shlex.quote(str(folder))}/*.patch"
    )
    return folder
