# SPDX-License-Identifier: GPL-2.0
"""The protocol on arm64, with Arm's own model of instruction fetch:
what DC, IC, DSB and ISB are there for.
"""

from .. import paths
from ..errors import Fail
from ..results import made
from ..results.ktap import FAILED, Result
from . import claims, litmus

FOLDER = paths.ROOT / "tools/verification/text_poke/arm64"
PREFIX = "arm64"


def _checks(path, observe):
    """What is to be checked of a file."""
    try:
        test = litmus.load(path)
    except Fail as failure:
        message = failure.message
        yield lambda: Result(f"{PREFIX}: {path.stem}", FAILED, message)
        return
    yield from litmus.checks(PREFIX, test, observe)
    if not any(change.kind == litmus.MUTANT for change in test.changes):
        yield lambda: claims.unchallenged(f"{PREFIX}: {path.stem}")


def mutants(folder=FOLDER):
    """(file and mutant, name of its result)."""
    return litmus.mutants(PREFIX, folder)


def parts():
    """What the results are made from: see made.py."""
    return [list(made.folder(FOLDER)), litmus.parts(), made.modules("proofs.herd")]


def results(folder=FOLDER):
    """A result for each test, and for each of its mutants."""
    command = [*litmus.herd(), "-variant", "self"]
    files = sorted(folder.glob("*.litmus"))
    if not files:
        yield Result(f"{PREFIX}: has tests", FAILED, f"there is none in {folder}")
    yield from claims.all_at_once(
        check
        for path in files
        for check in _checks(path, lambda text: litmus.observe(command, text))
    )
