# SPDX-License-Identifier: GPL-2.0
"""What the poker and the trap handler rely on in the kernel's memory model:
litmus tests, and a broken twin of each.
"""

from .. import paths
from ..errors import Fail
from ..results import made
from ..results.ktap import FAILED, Result
from ..series import base as bases
from . import claims, litmus

FOLDER = paths.ROOT / "Documentation/litmus-tests/text-poke"
PREFIX = "lkmm"
BROKEN = "-broken"


def _lacks_twin(test, tests):
    """Why a test does not have the twin that shows that it can fail, or '';
    a twin needs its test likewise.
    """
    if test.path.stem.endswith(BROKEN):
        other, wanted = test.path.stem.removesuffix(BROKEN), litmus.NEVER
    else:
        other, wanted = test.path.stem + BROKEN, litmus.SOMETIMES
    there = other in tests and tests[other].result == wanted
    return "" if there else f"there is no {other}.litmus with the result {wanted}"


def _load(folder):
    """Name -> test."""
    return {path.stem: litmus.load(path) for path in sorted(folder.glob("*.litmus"))}


def _checks(tests, observe):
    for test in tests.values():
        if why := _lacks_twin(test, tests):
            yield lambda test=test, why=why: Result(
                f"{PREFIX}: {test.path.stem}: has a twin", FAILED, why
            )
        yield from litmus.checks(PREFIX, test, observe)


def mutants(folder=FOLDER):
    """(file and mutant, name of its result); a twin is its test's mutant `broken`."""
    yield from litmus.mutants(PREFIX, folder)
    for path in sorted(folder.glob(f"*{BROKEN}.litmus")):
        twin = f"{path.name.replace(BROKEN, '')}: {BROKEN[1:]}"
        yield twin, f"{PREFIX}: {path.stem}: {litmus.SOMETIMES}"


def parts():
    """What the results are made from: see made.py."""
    return [
        list(made.folder(FOLDER)),
        list(made.folder(_model())),
        litmus.parts(),
        made.modules("proofs.lkmm"),
    ]


def _model():
    return bases.current().path / "tools/memory-model"


def results(folder=FOLDER):
    """A result for each test, its twin and its mutants."""
    command = [*litmus.herd(), "-conf", "linux-kernel.cfg"]
    try:
        tests = _load(folder)
    except Fail as failure:
        yield Result(f"{PREFIX}: has tests", FAILED, failure.message)
        return
    if not tests:
        yield Result(f"{PREFIX}: has tests", FAILED, f"there is none in {folder}")
    yield from claims.all_at_once(
        _checks(tests, lambda text: litmus.observe(command, text, cwd=_model()))
    )
