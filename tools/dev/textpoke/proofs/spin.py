# SPDX-License-Identifier: GPL-2.0
"""The protocol under every interleaving, with stale fetches: Spin's models and their mutants.

A model's first comment lists what is to be tried on it. Names are macros of the model:

    variant NAME: which machine that is             has to hold as well
    mutant NAME: what goes wrong                    has to fail
    redundant NAME: why that may be left out        has to hold; if not, it is not redundant

Several names stand for all of them at once.
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
from . import claims

FOLDER = paths.ROOT / "tools/verification/text_poke/spin"
PREFIX = "spin"
VARIANT, MUTANT, REDUNDANT = "variant", "mutant", "redundant"
SAYS = {VARIANT: "holds", MUTANT: "is found", REDUNDANT: "changes nothing"}

DEPTH = 100_000
# Seconds; the longest takes some ten of them, where nothing else runs.
TIMEOUT = 600
# GCC takes longer for a search than the search itself.
COMPILE = ("tcc", "-w", "-DSAFETY", "-o", "pan", "pan.c")

_ENTRY = re.compile(r"((?:[A-Z]\w* ?)+): (\S.*)")
_USES = re.compile(r"^#\s*(?:ifdef|ifndef|if|elif)\b(.*)$", re.M)
_ERRORS = re.compile(r"^State-vector .* errors: (\d+)$", re.M)
_WHY = re.compile(r"^pan:\d+: (.+)$", re.M)


@dataclass(frozen=True)
class Trial:
    """A model with some macros defined."""

    kind: str
    macros: tuple

    @property
    def name(self):
        return f"{self.kind} {' '.join(self.macros)} {SAYS[self.kind]}"


def _macros(text):
    """The macros that decide what a model is made of."""
    return {
        name for line in _USES.findall(text) for name in re.findall(r"\b[A-Za-z_]\w+\b", line)
    } - {"defined"}


def parse(path, text):
    """The trials of a model; every macro is tried, and is one of the model's."""
    trials = []
    for entry in claims.entries(text, VARIANT, MUTANT, REDUNDANT):
        match = _ENTRY.fullmatch(claims.one_line(entry.text))
        if not match:
            raise claims.broken(
                path, f"`{entry.kind} {claims.one_line(entry.text)}` is not NAME: text"
            )
        trials.append(Trial(entry.kind, tuple(match[1].split())))
    named, used = {name for trial in trials for name in trial.macros}, _macros(text)
    if named != used:
        name = sorted(named ^ used)[0]
        raise claims.broken(path, f"{name} is {'not used' if name in named else 'not in the list'}")
    return trials


def verdict(said):
    """What pan has found, as a sentence; '' if the model holds.

    A search that was cut short is a Fail.
    """
    if "max search depth too small" in said:
        raise Fail(INFRA, f"the search is deeper than {DEPTH} steps")
    match = _ERRORS.search(said)
    if not match:
        raise Fail(
            INFRA, f"pan came to no end: {(said.strip() or 'it said nothing').splitlines()[-1]}"
        )
    if int(match[1]):
        why = _WHY.search(said)
        return why[1] if why else "an error"
    if "Search not completed" in said:
        raise Fail(INFRA, "the search was not completed")
    return ""


def _step(command, folder, what):
    """One of the programs in a row; its output."""
    try:
        done = subprocess.run(
            command, cwd=folder, text=True, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise Fail(INFRA, f"{what} took more than {TIMEOUT} s") from None
    said = done.stdout + done.stderr
    if done.returncode:
        raise Fail(INFRA, f"{what} failed: {(said.strip() or 'no output').splitlines()[-1]}")
    return said


def search(text, macros=()):
    """Generate, compile and run the search of a model; what it finds."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.pml").write_text(text)
        _step(["spin", "-a", *(f"-D{name}" for name in macros), "model.pml"], folder, "spin")
        _step(COMPILE, folder, "compiling the search")
        return verdict(_step(["./pan", f"-m{DEPTH}", "-w20"], folder, "the search"))


def _checks(path, run):
    """What is to be checked of a model: functions that give a Result each."""
    name, text = f"{PREFIX}: {path.stem}", path.read_text()
    try:
        trials = parse(path, text)
    except Fail as failure:
        message = failure.message
        yield lambda: Result(name, FAILED, message)
        return
    if not any(trial.kind == MUTANT for trial in trials):
        yield lambda: claims.unchallenged(name)
    yield lambda: claims.result(f"{name}: holds", True, lambda: run(text))
    for trial in trials:
        yield lambda trial=trial: claims.result(
            f"{name}: {trial.name}", trial.kind != MUTANT, lambda: run(text, trial.macros)
        )


def mutants(folder=FOLDER):
    """(file and mutant, name of its result)."""
    for path in sorted(folder.glob("*.pml")):
        for trial in parse(path, path.read_text()):
            if trial.kind == MUTANT:
                mutant = f"{path.name}: {' '.join(trial.macros)}"
                yield mutant, f"{PREFIX}: {path.stem}: {trial.name}"


def parts():
    """What the results are made from: see made.py."""
    host.need(*host.MODELS)
    return [
        list(made.folder(FOLDER)),
        made.packages(*host.MODELS, "gcc", "cpp"),
        list(made.programs("spin", "tcc", "gcc", "cpp")),
        made.environment(),
        made.modules("proofs.spin"),
    ]


def results(folder=FOLDER, run=search):
    """A result for each model, and for each of its variants and mutants."""
    host.need(*host.MODELS)
    files = sorted(folder.glob("*.pml"))
    if not files:
        yield Result(f"{PREFIX}: has models", FAILED, f"there is none in {folder}")
    yield from claims.all_at_once(check for path in files for check in _checks(path, run))
