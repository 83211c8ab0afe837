# SPDX-License-Identifier: GPL-2.0
"""How these tools are written themselves: formatted, linted, typed, their shell scripts, too.

Each program is one of Debian 12's; another version of it writes or finds something else, so there
its result is a skip that says so. How Python is checked is in tools/dev: pyproject.toml, .flake8.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import host, paths
from ..errors import Fail
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..say import output, run

WIDTH = 100
# Of tools/dev, where pyproject.toml and .flake8 are; tp is Python for all but a shell.
PYTHON = ("textpoke", "tests", "tp")
# busybox and dash, which run the scripts in guests, have `local`. SC1091: the kernel's helpers for
# selftests, which are not here.
SHELL = ("-x", "-s", "dash", "-P", "SCRIPTDIR", "-P", ".", "-e", "SC1091", "-f", "gcc")
SHOWN = 5
VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True)
class Standard:
    """A program that finds what is not written as it has to be; what it says is what it finds."""

    name: str
    program: str  # a package of Debian's, too
    version: str  # how that begins
    words: tuple

    def command(self, top: Path) -> list:
        """In tools/dev for Python, at the top for shell."""
        if self.program == "shellcheck":
            return [self.program, *self.words, *scripts(top)]
        found = [name for name in PYTHON if (top / "tools/dev" / name).exists()]
        return [self.program, *self.words, *found]

    def folder(self, top: Path) -> Path:
        return top if self.program == "shellcheck" else top / "tools/dev"


# Their caches lie outside the tree, as all that is kept does.
TYPED = ("--cache-dir", paths.CACHE / "mypy", "--no-error-summary")
STANDARDS = (
    Standard("the tools' Python is as black writes it", "black", "23.", ("--check",)),
    Standard("flake8 finds nothing in it", "flake8", "5.", ()),
    Standard("mypy finds nothing in it", "mypy", "1.0", TYPED),
    Standard("shellcheck finds nothing in scripts", "shellcheck", "0.9", SHELL),
)
PLACES = {"BLACK_CACHE_DIR": str(paths.CACHE / "black")}


def scripts(top: Path) -> list[str]:
    """The shell scripts, by their names or their first lines, but for tp, which is Python."""
    found = []
    for at, folders, names in os.walk(top):
        folders[:] = [
            name for name in folders if name != ".git" and Path(at, name) != top / "build"
        ]
        for name in names:
            path = Path(at, name)
            if path.is_file() and _is_shell(path):
                found.append(str(path.relative_to(top)))
    return sorted(found)


def _is_shell(path: Path) -> bool:
    if path.suffix == ".sh":
        return True
    with open(path, "rb") as file:
        return path.name != "tp" and file.readline().rstrip() == b"#!/bin/sh"


def too_wide(top: Path) -> Iterator[str]:
    """The lines of shell scripts that are; of Python flake8 tells."""
    for name in scripts(top):
        for number, line in enumerate((top / name).read_text().splitlines(), 1):
            if len(line.expandtabs(8)) > WIDTH:
                yield f"{name}:{number}: is wider than {WIDTH} columns"


def _version(program: str) -> str:
    found = VERSION.search(output([program, "--version"]))
    return found[0] if found else ""


def judged(standard: Standard, top: Path = paths.ROOT) -> Result:
    """What a program says of what is there."""
    host.need(standard.program)
    if not (has := _version(standard.program)).startswith(standard.version):
        why = f"{standard.program} is {has} here, which is to be {standard.version}*"
        return Result(standard.name, SKIPPED, why)
    log = paths.LOGS / f"standards-{standard.program}.log"
    status = run(
        standard.command(top),
        log=log,
        what=standard.program,
        cwd=standard.folder(top),
        env=PLACES,
        check=False,
    )
    said = [line.replace(f"{top}/", "") for line in _said(log)] if status else []
    if standard.program == "shellcheck":
        said += too_wide(top)
    if not said:
        return Result(standard.name, PASSED)
    more = f"; {len(said) - SHOWN} more" if len(said) > SHOWN else ""
    return Result(standard.name, FAILED, f"{'; '.join(said[:SHOWN])}{more}; see {log}")


def _said(log: Path) -> list[str]:
    """What a program has said that failed."""
    said = log.read_text(errors="replace").splitlines()[1:]
    return [line for line in said if line.strip()] or ["it failed without a word"]


def results(top: Path = paths.ROOT) -> Iterator[Result]:
    """A result for each; one that lacks its program fails, and says how to get that."""
    for standard in STANDARDS:
        try:
            yield judged(standard, top)
        except Fail as failure:
            yield Result(standard.name, FAILED, failure.message)
