# SPDX-License-Identifier: GPL-2.0
"""`make models`: every formal model, and every mutant of one.

A model's module has results(), which yields a Result for each model and each mutant. One
that does not hold, and a mutant that no model notices, is a failure; so is a model that has
no mutants, for nothing shows that it can fail.
"""

import math
import time
from collections.abc import Callable

from ..results.kept import NOTHING
from ..say import say
from . import cbmc, herd, hooks, letters, lkmm, spin

STEPS: dict[str, Callable] = {
    "letters": letters.results,
    "hooks": lambda: hooks.results(mutants()),
    "arm64": herd.results,
    "lkmm": lkmm.results,
    "spin": spin.results,
    "cbmc": cbmc.results,
}

# Seconds that all of them may take, so that they are run often.
TARGET = 60

# What those are made from that take some time; the others are always done.
PARTS = {"arm64": herd.parts, "lkmm": lkmm.parts, "spin": spin.parts, "cbmc": cbmc.parts}

# Those that have mutants which others name.
FAMILIES = {"arm64": herd, "lkmm": lkmm, "spin": spin, "cbmc": cbmc}


def mutants():
    """`family/file: mutant` -> the name of its result, of every mutant that a model has."""
    return {
        f"{family}/{mutant}": name
        for family, module in FAMILIES.items()
        for mutant, name in module.mutants()
    }


def duration(seconds):
    """A sentence about how long it took.

    Too long is no failure: machines differ, and what else they do.
    """
    took = math.ceil(seconds)
    if took <= TARGET:
        return f"the models took {took} s, within the target of {TARGET} s"
    return (
        f"the models took {took} s: the target of {TARGET} s was exceeded, which is not a failure"
    )


def _timed(results, took):
    """What results() gives; the seconds that it took are added to took."""
    begin = time.monotonic()
    yield from results()
    took.append(time.monotonic() - begin)


def run(report):
    """All models into a report; one that cannot be run does not keep the others from it.

    How long they took is told only if all were run now: check-full may know them, or not be asked
    for them.
    """
    took: list[float] = []
    for name, results in STEPS.items():
        report.step(f"models: {name}", _timed, results, took, parts=PARTS.get(name, NOTHING))
    if len(took) == len(STEPS):
        say(duration(sum(took)))
