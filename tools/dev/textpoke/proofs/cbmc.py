# SPDX-License-Identifier: GPL-2.0
"""Proofs about the real C source, for every input: CBMC's harnesses and their mutants.

A harness includes what it proves from the series, without the overlay, and else from the tree.
Its first comment says what, and how to see that the proof depends on it:

    source PATH                          a file of the tree
    unwind N                             how often a loop is executed at the most
    proof FUNCTION                       a function of the harness that has to hold
    mutant NAME in FUNCTION [at N]: "TEXT" -> "TEXT"

A mutant is a copy of the sources in which the first text, which stands there exactly once,
is replaced by the second; the function then has to fail. With N it is compiled with AT, in which
the harness does one of many rounds alone: one that fails is enough. The architecture is the first
part of the harness's name; a folder of that name has headers instead of the tree's.
"""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import host, paths
from ..errors import INFRA, Fail
from ..results import made
from ..results.ktap import FAILED, Result
from ..say import output
from ..series import series
from . import claims

FOLDER = paths.ROOT / "tools/verification/text_poke/cbmc"
PREFIX = "cbmc"
SOURCE, UNWIND, PROOF, MUTANT = "source", "unwind", "proof", "mutant"

# CBMC is in newer releases only; it brings the libraries that it was built for.
PACKAGES = ("cbmc", "libc6", "libgcc-s1", "libstdc++6", "minisat")
SUITE = "trixie"
# The kernel is compiled with -fwrapv: overflow is not an error.
FLAGS = (
    "--64",
    "--no-standard-checks",
    "--object-bits",
    "12",
    "--slice-formula",
    "--stop-on-fail",
    "--unwinding-assertions",
)
UNWOUND = "34"
# Seconds; the longest takes some ten of them, where nothing else runs.
TIMEOUT = 600
HOLDS, FAILS = 0, 10

_MUTANT = re.compile(r'([\w-]+) in (\w+)(?: at (\d+))?:\s*"([^"]+)"\s*->\s*"([^"]*)"', re.S)
_FAILURE = re.compile(r"^Violated property:\n.*\n  (.*)$", re.M)
_NO_BODY = re.compile(r"no body for function '?([\w:$]+)'?")
_COUNT = re.compile(r"^\*\* \d+ of (\d+) failed", re.M)


@dataclass(frozen=True)
class Mutant:
    """A text that is replaced in the sources, and the proof that notices."""

    name: str
    proof: str
    at: str | None  # the round of the harness that fails, if not just any
    old: str
    new: str


@dataclass(frozen=True)
class Harness:
    """A harness as its first comment describes it."""

    path: Path
    sources: tuple
    unwind: str
    proofs: tuple
    mutants: tuple

    @property
    def arch(self):
        return self.path.stem.split("-")[0]


def _mutant(path, text, proofs):
    match = _MUTANT.fullmatch(text.strip())
    if not match:
        raise claims.broken(
            path,
            f"`mutant {claims.one_line(text)}` is not " 'NAME in FUNCTION [at N]: "TEXT" -> "TEXT"',
        )
    mutant = Mutant(*match.groups())
    if mutant.proof not in proofs:
        raise claims.broken(path, f"mutant {mutant.name} names {mutant.proof}, which is no proof")
    return mutant


def parse(path, text):
    """A harness from its text."""
    kinds = (SOURCE, UNWIND, PROOF, MUTANT)
    found = claims.entries(text, *kinds)
    said = {kind: [entry.text for entry in found if entry.kind == kind] for kind in kinds}
    proofs = tuple(map(claims.one_line, said[PROOF]))
    for kind in (SOURCE, PROOF):
        if not said[kind]:
            raise claims.broken(path, f"its first comment names no {kind}")
    return Harness(
        path,
        tuple(map(claims.one_line, said[SOURCE])),
        claims.one_line(" ".join(said[UNWIND]) or UNWOUND),
        proofs,
        tuple(_mutant(path, one, proofs) for one in said[MUTANT]),
    )


def mutated(harness, texts, mutant):
    """The sources, name -> text, with a mutant's text replaced in the one place where it is."""
    places = [name for name, text in texts.items() for _ in range(text.count(mutant.old))]
    if len(places) != 1:
        raise claims.broken(
            harness.path, f"mutant {mutant.name}: its text is in the sources {len(places)} times"
        )
    return texts | {places[0]: texts[places[0]].replace(mutant.old, mutant.new)}


def sources(harness, tree):
    """The files under proof, name -> text: the series' own, which stand here, or the tree's."""
    tops = {
        name: next((top for top in (paths.ROOT, tree) if (top / name).is_file()), None)
        for name in harness.sources
    }
    for name, top in tops.items():
        if not top:
            raise claims.broken(harness.path, f"the tree has no {name}")
    return {name: (top / name).read_text() for name, top in tops.items()}


def program():
    """The words that start CBMC, which is unpacked where it is not yet."""
    debarch = output(["dpkg", "--print-architecture"]).strip()
    root = host.unpack_foreign(PACKAGES, debarch, SUITE, paths.BUILD / "foreign" / "cbmc")
    loader = next(root.glob("usr/lib/*/ld-linux*.so.*"))
    return [loader, "--library-path", f"{loader.parent}:{root / 'usr/lib'}", root / "usr/bin/cbmc"]


def verdict(status, said):
    """What CBMC has found, as a sentence; '' if the proof holds."""
    if status == FAILS:
        found = _FAILURE.search(said)
        return found[1] if found else "a failure"
    if status != HOLDS:
        raise Fail(
            INFRA,
            f"CBMC came to no verdict: {(said.strip() or 'it said nothing').splitlines()[-1]}",
        )
    if missing := _NO_BODY.search(said):
        raise Fail(INFRA, f"the harness leaves {missing[1]}() open")
    count = _COUNT.search(said)
    if not count or count[1] == "0":
        raise Fail(INFRA, "nothing was proved")
    return ""


def _place(folder, texts):
    """The sources under their names in the tree."""
    for name, text in texts.items():
        place = Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def _includes(harness, folders):
    """Where headers are looked for: in each folder as the kernel does it,
    and beside the sources.
    """
    beside = dict.fromkeys(str(Path(name).parent) for name in harness.sources)
    yield f"-I{harness.path.parent / harness.arch}"
    for folder in folders:
        yield from (
            f"-I{Path(folder) / part}"
            for part in (".", f"arch/{harness.arch}/include", "include", *beside)
        )


def prove(command, tree, harness, texts, proof, at=None):
    """Run CBMC on one proof, or on one round of it; what it finds."""
    with tempfile.TemporaryDirectory() as folder:
        _place(folder, texts)
        words = [
            *command,
            *FLAGS,
            "--unwind",
            harness.unwind,
            *_includes(harness, (folder, paths.ROOT, tree)),
            "--function",
            proof,
            *([f"-DAT={at}"] if at else []),
            harness.path,
        ]
        try:
            done = subprocess.run(
                [str(word) for word in words],
                cwd=folder,
                text=True,
                capture_output=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Fail(INFRA, f"CBMC took more than {TIMEOUT} s") from None
    return verdict(done.returncode, done.stdout + done.stderr)


def _checks(path, tree, run):
    """What is to be checked of a harness: functions that give a Result each."""
    name = f"{PREFIX}: {path.stem}"
    try:
        harness = parse(path, path.read_text())
        texts = sources(harness, tree)
    except Fail as failure:
        message = failure.message
        yield lambda: Result(name, FAILED, message)
        return
    for proof in harness.proofs:
        if not any(mutant.proof == proof for mutant in harness.mutants):
            yield lambda proof=proof: claims.unchallenged(f"{name}: {proof}")
        yield lambda proof=proof: claims.result(
            f"{name}: {proof} holds", True, lambda: run(harness, texts, proof)
        )
    for mutant in harness.mutants:
        yield lambda mutant=mutant: claims.result(
            _called(path, mutant),
            False,
            lambda: run(harness, mutated(harness, texts, mutant), mutant.proof, mutant.at),
        )


def _called(path, mutant):
    """The name of a mutant's result."""
    return f"{PREFIX}: {path.stem}: mutant {mutant.name} is found"


def mutants(folder=FOLDER):
    """(file and mutant, name of its result)."""
    for path in sorted(folder.glob("*.c")):
        for mutant in parse(path, path.read_text()).mutants:
            yield f"{path.name}: {mutant.name}", _called(path, mutant)


def parts():
    """What the results are made from (see made.py):
    the harnesses, and all of the tree that they may include.
    """

    def wanted(path, _):
        return not path.startswith(
            ("Documentation/", "tools/testing/", "tools/verification/", "samples/")
        )

    host.need("gcc")
    loader = program()[0]
    return [
        list(made.folder(FOLDER)),
        made.base(),
        list(made.series_of("", wanted)),
        list(made.folder(loader.parents[3])),
        made.packages("gcc", "libc6-dev"),
        list(made.programs("gcc", "cpp")),
        made.environment(),
        made.modules("proofs.cbmc"),
    ]


def results(folder=FOLDER):
    """A result for each proof, and for each of the mutants."""
    host.need("gcc")
    command, tree = program(), series.source_tree()
    files = sorted(folder.glob("*.c"))
    if not files:
        yield Result(f"{PREFIX}: has harnesses", FAILED, f"there is none in {folder}")
    yield from claims.all_at_once(
        check
        for path in files
        for check in _checks(path, tree, lambda *what: prove(command, tree, *what))
    )
