# SPDX-License-Identifier: GPL-2.0
"""Programs of a newer Debian than this machine's, in a folder,
with all the libraries that they need.

Nothing is installed: a script starts the program with its own loader and libraries.
"""

import contextlib
import re
import shutil
from pathlib import Path

from .. import host, paths
from ..errors import INFRA, MISSING, Fail
from ..say import output, say

DEBARCH, TRIPLET, LOADER = "amd64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2"


def _apt(suites):
    """apt that knows these suites alone, and nothing of what is installed here."""
    sources = [host.source(host.mirror_of(suite), suite, f" arch={DEBARCH}") for suite in suites]
    return host.Apt(f"{DEBARCH}-{suites[0]}", sources, DEBARCH)


def _install(apt, store, suite, packages, *words):
    return [
        f"-oDir::Cache::archives={store}",
        "install",
        "-y",
        "--no-install-recommends",
        "-t",
        suite,
        *words,
        *packages,
    ]


def closure(text):
    """(name, version) of all that apt would install, as it says it with -s."""
    return re.findall(r"^Inst (\S+) \((\S+) ", text, re.M)


def _lists(packages, suite):
    """(the list of what was fetched last, that of what has been found to fit): names of files in
    the store.
    """
    store = paths.CACHE / "debs" / "newer"
    return [store / f"{suite}-{'-'.join(packages)}.{kind}" for kind in ("fetched", "fits")]


def _kept(packages, suite):
    """The .deb files that have fitted before, or nothing if one of them is gone."""
    kept = _lists(packages, suite)[1]
    found = [kept.parent / name for name in paths.noted(kept).splitlines()]
    return found if all(path.exists() for path in found) else []


def _fetch(apt, suite, packages):
    """The .deb files of packages and of all that they need."""
    note = _lists(packages, suite)[0]
    store = note.parent
    (store / "partial").mkdir(parents=True, exist_ok=True)
    apt.do(
        *_install(apt, store, suite, packages, "--download-only"),
        what=f"downloading {' '.join(packages)}",
    )
    listed = output(
        apt.command(*_install(apt, store, suite, packages, "-s")),
        what=f"looking up {' '.join(packages)}",
    )
    found = []
    for name, version in closure(listed):
        found += store.glob(f"{name}_{version.replace(':', '%3a')}_*.deb")
    if not found:
        raise Fail(INFRA, f"apt lists nothing that {' '.join(packages)} needs: see {apt.log}")
    note.write_text("".join(f"{path.name}\n" for path in found))
    return found


def _debs(packages, suites):
    """What is to be unpacked; a machine of another kind cannot run it."""
    if (
        output(["dpkg", "--print-architecture"], what="asking dpkg for its architecture").strip()
        != DEBARCH
    ):
        raise Fail(
            MISSING, f"{' '.join(packages)} of {suites[0]} can be had for {DEBARCH} machines only"
        )
    host.room(paths.BUILD, 1, f"unpacking {' '.join(packages)}")
    if kept := _kept(packages, suites[0]):
        return kept
    say(f"fetching {' '.join(packages)} of {suites[0]}, with libraries")
    return _fetch(_apt(suites), suites[0], packages)


def unpack(packages, suites, dest, fits):
    """Packages of the first of suites, and what they need of any of them, unpacked into dest.

    fits(dest) fails if they are not what is wanted, and they are fetched anew the next time. Those
    that are stay in the cache, and are taken from there though the suites have moved on to others.
    """
    note = f"{' '.join(suites)}: {' '.join(packages)}\n"
    host.unpack_noted(dest, note, f"packages-{suites[0]}", lambda: _debs(packages, suites))
    fetched, kept = _lists(packages, suites[0])
    try:
        fits(dest)
    except Fail:
        shutil.rmtree(dest)
        kept.unlink(missing_ok=True)
        raise
    with contextlib.suppress(FileNotFoundError):  # nothing was fetched
        fetched.replace(kept)
    return dest


def starter(folder, program, *words):
    """A script in the folder that starts a program there, with words before its arguments."""
    libraries = folder / "usr/lib" / TRIPLET
    found = folder / "usr/bin" / program
    if not found.exists():
        raise Fail(INFRA, f"{folder} holds no {program}: remove it and run the command again")
    script = Path(folder) / program
    command = " ".join(map(str, [libraries / LOADER, "--library-path", libraries, found, *words]))
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    script.chmod(0o755)
    return script
