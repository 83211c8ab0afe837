# SPDX-License-Identifier: GPL-2.0
"""`make models`: every formal model, and every mutant of one.

A model's module has results(), which yields a Result for each model and each mutant. One
that does not hold, and a mutant that nobody notices, is a failure; so is a model that has
no mutants, for nothing shows that it can fail.
"""

from . import cbmc, herd, hooks, letters, lkmm, spin

STEPS = {
    "letters": letters.results,
    "hooks": lambda: hooks.results(mutants()),
    "arm64": herd.results,
    "lkmm": lkmm.results,
    "spin": spin.results,
    "cbmc": cbmc.results,
}

# Those that have mutants which others name.
FAMILIES = {"arm64": herd, "lkmm": lkmm, "spin": spin, "cbmc": cbmc}


def mutants():
    """`family/file: mutant` -> the name of its result, of every mutant that a model has."""
    return {f"{family}/{mutant}": name for family, module in FAMILIES.items() for mutant, name in module.mutants()}


def run(report):
    """All models into a report; one that cannot be run does not keep the others from it."""
    for name, results in STEPS.items():
        report.step(f"models: {name}", results)
