# SPDX-License-Identifier: GPL-2.0
"""make series: what git am takes, in OUT or build/series.

A list in that folder says what we have written there, by name and content. What it does
not say is somebody's, and is never removed or replaced; nor is what was changed since.
"""

import contextlib
import hashlib
import os
import shlex
import shutil
from pathlib import Path

from . import base as bases
from . import host, lock, patches, paths, series
from .errors import USAGE, Fail
from .say import say

LIST = ".text-poke-series"  # as sha256sum has it
PART = f"{LIST}.new"


def _hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _lines(files):
    return {f"{_hash(path)}  {path.name}" for path in files}


def _ours(path, known):
    """Whether a file is as we have written it."""
    if path.name.startswith(LIST):
        return True
    return path.is_file() and not path.is_symlink() and f"{_hash(path)}  {path.name}" in known


def _nearest(path):
    """The path, or what there is of the way to it."""
    return next(each for each in (path, *path.parents) if os.path.lexists(each))


def folder_of(out):
    """OUT as the folder that it is or leads to; one that we must not write is refused."""
    if not out:
        return paths.BUILD / "series"
    try:
        folder = Path(os.path.expanduser(out)).resolve()
    except (OSError, RuntimeError):
        raise Fail(USAGE, f"OUT={out} is a link that leads nowhere: name a new or empty folder") from None
    if not _nearest(folder).is_dir():
        raise Fail(USAGE, f"OUT={out} is no folder, or in none: name a new or empty one")
    check(folder)
    return folder


def check(folder):
    """Nothing is in a folder but what an earlier `make series` has put there."""
    known = set(paths.noted(folder / LIST).splitlines())
    strange = sorted(path.name for path in folder.iterdir() if not _ours(path, known)) if folder.is_dir() else []
    if strange:
        raise Fail(USAGE, f"{folder} holds {strange[0]}, which `make series` has not written as it is: "
                          "name a new or empty folder (OUT=), or move that away")


@contextlib.contextmanager
def _part(folder):
    """Where new mails are made: in the folder, which may be a mount point or a link, and gone when they are in place."""
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
    for name in {line.partition("  ")[2] for line in listed} - {mail.name for mail in mails}:
        (folder / name).unlink(missing_ok=True)
    for mail in mails:
        mail.rename(folder / mail.name)
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
        mails = series.export(small, Path(place) / "mails")
        folder.mkdir(parents=True, exist_ok=True)
        with lock.folder(folder), _part(folder) as part:
            check(folder)
            _replace([Path(shutil.copy(mail, part)) for mail in mails], folder)
    say(f"{len(mails)} patches for Linux {version} in {folder}: git am {shlex.quote(str(folder))}/*.patch")
    return folder
