# SPDX-License-Identifier: GPL-2.0
"""The overlay: what breaks the kernel on purpose, and is no part of the series.

tools/dev/overlay has it at the paths of the kernel's tree:

    PATH.patch   a diff of PATH, which the series adds; without fuzz, wherever in the file it fits
    PATH         a file that it adds itself

It lies over the series in build/src, which the kernels of these tools are built from, and nowhere
else: build/tree, `make series` and `make apply` do not know of it. A kernel that has it is told
by CONFIG_TEXT_POKE_BUSTED=y, without which nothing of it is left: see offcost.py. It adds the
parameter text_poke.busted, whose values tools/dev/expected/mutants lists.
"""

import hashlib
import os
import re

from .. import paths
from ..errors import INFRA, Fail
from ..git import GitError, decode, encode
from . import patches

FOLDER = "tools/dev/overlay"
DIFF = ".patch"
# What nothing of the series may mention.
TRACE = re.compile(r"\w*busted\w*", re.I)

_NAMES = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?(\S+)", re.M)


def files():
    """The overlay's files by their paths in its folder."""
    top = paths.ROOT / FOLDER
    found: dict = {}
    for at, folders, names in os.walk(top):
        folders[:] = [name for name in folders if not patches.litter(name)]
        places = (top / at / name for name in names if not patches.litter(name))
        found |= {str(place.relative_to(top)): place for place in places}
    return dict(sorted(found.items()))


def added():
    """The files that it adds, by their paths in the kernel's tree."""
    return {path: file for path, file in files().items() if not path.endswith(DIFF)}


def diffs():
    """path in the kernel's tree -> the diff of it."""
    return {
        path.removesuffix(DIFF): decode(file.read_bytes())
        for path, file in files().items()
        if path.endswith(DIFF)
    }


def parts():
    """What the overlay is made of, for made.digest()."""
    for path, file in files().items():
        yield from (path, file)


def fingerprint():
    """A hash of the overlay."""
    total = hashlib.sha256()
    for path, file in files().items():
        data = file.read_bytes()
        total.update(encode(f"{path}\0{os.access(file, os.X_OK)}\0{len(data)}\0") + data)
    return total.hexdigest()


def _bad(path, sentence):
    return Fail(INFRA, f"{FOLDER}/{path} {sentence}")


def check_names(entries):
    """Diffs are of the series' files, each of the one that it is called after;
    what is added is new.
    """
    for path in added():
        if path in entries:
            raise _bad(path, f"is a file of the series: have a diff of it there, {path}{DIFF}")
    for path, text in diffs().items():
        if path not in entries:
            raise _bad(path + DIFF, f"is a diff of {path}, which the series does not add")
        if _NAMES.findall(text) != [path, path]:
            raise _bad(
                path + DIFF,
                f"is no diff of {path} alone: its first two lines are `--- a/{path}` and `+++ "
                f"b/{path}`",
            )


def lay(repo, index, entries):
    """Put it over the series in an index; entries: the files that the series adds."""
    check_names(entries)
    index.add(repo.blobs(added()))
    for path, text in diffs().items():
        try:
            index("apply", "--cached", "--whitespace=nowarn", "-", data=encode(text))
        except GitError as error:
            at = re.search(r"patch failed: \S+:(\d+)", error.said)
            raise _bad(
                path + DIFF,
                f"does not apply to {path}{f', near line {at[1]}' if at else ''}: "
                "write it anew for the file as it is now, CONTRIBUTING.md says how",
            ) from None


def traces(texts):
    """(name, word) of what mentions the overlay among (name, text)."""
    for name, text in texts:
        if found := TRACE.search(text):
            yield name, found[0]
