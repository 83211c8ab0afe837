# SPDX-License-Identifier: GPL-2.0
"""Litmus tests: what a file's first comment says about it, and what herd7 finds.

The comment says which observation is expected, and what is to be changed in the test to
see whether the observation depends on it:

    Result: Never
    Reached: 1:X3=1; 1:X9=3;
    mutant NAME: EDITS
    redundant NAME: EDITS: why it may go
    variant NAME: EDITS: which machine or caller that is

A mutant has to be found: it gives Sometimes. What is redundant may go, and a variant has to
hold as well: both give what the test gives. EDITS are, with commas in between:

    drop "TEXT"   replace "TEXT" by "TEXT"   exchange "TEXT" "TEXT"   on "FEATURES"

A TEXT stands exactly once behind the comment. An entry goes on until an empty line or the
next entry. Reached is a final state that must be among those of the unchanged test, so that
it does not hold for the reason that it never gets anywhere; there may be several.
"""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import host, paths
from ..errors import INFRA, Fail
from ..results import made
from ..results.ktap import FAILED, PASSED, Result
from ..say import output

# herd7 is in no release that is installed anywhere; it brings the libraries that it was built for.
PACKAGES = ("herdtools7", "libc6", "libgmp10")
SUITE = "sid"

NEVER, SOMETIMES = "Never", "Sometimes"
MUTANT, REDUNDANT, VARIANT = "mutant", "redundant", "variant"

_BRACKET = re.compile(r"\(\*|\*\)")
_ENTRY = re.compile(rf"({MUTANT}|{REDUNDANT}|{VARIANT})\s+([\w-]+):\s*(.*)", re.S)
_EDIT = re.compile(r'(drop|replace|exchange|on)\s+"([^"]*)"(?:\s+(?:by\s+)?"([^"]*)")?\s*')
_OBSERVATION = re.compile(r"^Observation \S+ (\w+) (\d+) (\d+)$", re.M)


@dataclass(frozen=True)
class Change:
    """Something to be changed in a test, and whether the result is to change with it."""

    kind: str
    name: str
    edits: tuple  # of (what, text, other text or None)
    why: str = ""


@dataclass(frozen=True)
class Test:
    """A litmus test as its first comment describes it."""

    path: Path
    text: str
    result: str
    reached: tuple
    changes: tuple


# The first comment


def _bad(path, sentence):
    return Fail(INFRA, f"{path.name}: {sentence}")


def _split(text):
    """A test in two parts: up to the end of its first comment, which may hold others,
    and what is executed.
    """
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket[0] == "(*" else -1
        if depth == 0:
            return text[: bracket.end()], text[bracket.end() :]
    return "", text


def _paragraphs(comment):
    """The comment's lines in pieces: an empty line ends one, and so does the start of an entry."""
    piece: list[str] = []
    for line in [*comment.removesuffix("*)").splitlines(), ""]:
        line = re.sub(r"^\s*\*?\s*", "", line).rstrip()
        if piece and (not line or _ENTRY.match(line)):
            yield " ".join(piece)
            piece = []
        if line:
            piece.append(line)


def _edits(path, name, text):
    """The edits of an entry, and what follows them."""
    edits, rest = [], text
    while match := _EDIT.match(rest):
        what, first, second = match.groups()
        if (what in ("replace", "exchange")) != (second is not None):
            raise _bad(path, f"{name} has a `{what}` with the wrong number of texts")
        edits.append((what, first, second))
        rest = rest[match.end() :].removeprefix(",").lstrip()
    return tuple(edits), rest


def _change(path, piece):
    """One entry."""
    found = _ENTRY.match(piece)
    assert found, "a piece begins with an entry"
    kind, name, text = found.groups()
    edits, rest = _edits(path, name, text)
    why = rest.removeprefix(":").strip()
    if not edits or (rest and not rest.startswith(":")):
        raise _bad(path, f"{name} does not say what to drop, replace or exchange")
    if kind != MUTANT and not why:
        raise _bad(path, f"{name} is {kind}, but there is no reason")
    return Change(kind, name, edits, why)


def parse(path, text):
    """A test from its text."""
    said, _ = _split(text)
    result = re.search(r"^\s*\*?\s*Result:\s*(\w+)", said, re.M)
    reached = tuple(re.findall(r"^\s*\*?\s*Reached:\s*(.+?)\s*$", said, re.M))
    if not result or result[1] not in (NEVER, SOMETIMES):
        raise _bad(
            path, f"its first comment does not say `Result: {NEVER}` or `Result: {SOMETIMES}`"
        )
    changes = tuple(_change(path, piece) for piece in _paragraphs(said) if _ENTRY.match(piece))
    return Test(path, text, result[1], reached, changes)


def load(path):
    return parse(path, path.read_text())


# Changing a test


def _once(test, change, body, text):
    """The text, which must be there, and be there once."""
    if (count := body.count(text)) != 1:
        raise _bad(test.path, f"{change.name} changes `{text}`, which is there {count} times")
    return text


def _edit(test, change, head, body, edit):
    """One edit of a test in two parts."""
    what, first, second = edit
    if what == "on":
        name, _, rest = head.partition("\n")
        return f"{name}\nCacheType={first}\n{rest}", body
    _once(test, change, body, first)
    if what == "drop":
        return head, body.replace(first, " ")
    if what == "replace":
        return head, body.replace(first, second)
    _once(test, change, body, second)
    parts = re.split(f"({re.escape(first)}|{re.escape(second)})", body)
    parts[1], parts[3] = parts[3], parts[1]
    return head, "".join(parts)


def changed(test, change):
    """The text of a test after a change."""
    head, body = _split(test.text)
    for edit in change.edits:
        head, body = _edit(test, change, head, body, edit)
    return head + body


# herd7


@dataclass(frozen=True)
class Found:
    """What herd7 says: Never, Sometimes or Always, and the final states."""

    result: str
    states: tuple


def herd():
    """The words that start herd7, which is unpacked where it is not yet."""
    debarch = output(["dpkg", "--print-architecture"]).strip()
    root = host.unpack_foreign(PACKAGES, debarch, SUITE, paths.BUILD / "foreign" / "herd")
    loader = next(root.glob("usr/lib/*/ld-linux*.so.*"))
    return [
        loader,
        "--library-path",
        loader.parent,
        root / "usr/bin/herd7",
        "-set-libdir",
        root / "usr/share/herdtools7/herd",
    ]


def parts():
    """What herd7 itself is made from: see made.py."""
    return list(made.folder(herd()[0].parents[3]))


def judge(said, errors=""):
    """herd7's output as Found. It exits with 0 whatever happens, and may have looked at nothing."""
    match = _OBSERVATION.search(said)
    if not match:
        raise Fail(INFRA, (errors.strip() or "herd7 said nothing").splitlines()[-1])
    if match[2] == match[3] == "0":
        raise Fail(INFRA, "no execution gets to the end: the test shows nothing")
    if "outcomes may be missing" in errors:
        raise Fail(INFRA, "herd7 has not followed every loop to its end")
    return Found(match[1], tuple(re.findall(r"^(\S.*;)$", said, re.M)))


def observe(command, text, cwd=None):
    """Run herd7 on a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.litmus"
        path.write_text(text)
        done = subprocess.run(
            [str(word) for word in [*command, path]],
            cwd=cwd,
            text=True,
            capture_output=True,
            check=False,
        )
    return judge(done.stdout, done.stderr)


# Results


def _expect(name, wanted, run, reached=()):
    """One result: what was wanted is what is found."""
    try:
        found = run()
    except Fail as failure:
        return Result(name, FAILED, failure.message)
    if found.result != wanted:
        return Result(name, FAILED, f"{found.result} instead of {wanted}")
    if lacking := [state for state in reached if state not in found.states]:
        return Result(name, FAILED, f"{lacking[0]} is not among the final states")
    return Result(name, PASSED)


SAYS = {MUTANT: "is found", REDUNDANT: "changes nothing", VARIANT: "holds"}


def _called(prefix, test, change):
    """The name of a change's result."""
    return f"{prefix}: {test.path.stem}: {change.kind} {change.name} {SAYS[change.kind]}"


def mutants(prefix, folder):
    """(file and mutant, name of its result) of every test in a folder."""
    for test in map(load, sorted(folder.glob("*.litmus"))):
        for change in test.changes:
            if change.kind == MUTANT:
                yield f"{test.path.name}: {change.name}", _called(prefix, test, change)


def checks(prefix, test, observe_text):
    """What is to be checked of a test: functions that give a Result each."""
    name = f"{prefix}: {test.path.stem}"
    yield lambda: _expect(
        f"{name}: {test.result}", test.result, lambda: observe_text(test.text), test.reached
    )
    for change in test.changes:
        wanted = SOMETIMES if change.kind == MUTANT else test.result
        yield lambda change=change, wanted=wanted: _expect(
            _called(prefix, test, change), wanted, lambda: observe_text(changed(test, change))
        )
