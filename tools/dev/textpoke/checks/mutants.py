# SPDX-License-Identifier: GPL-2.0
"""`make mutants`: break the core on purpose, one step after the other, and see what notices it.

The table tools/dev/expected/mutants says of each step of kernel/text_poke/busted.h, which
tools/dev/overlay has, which layer of the tests has to notice it, and in which words:

    NAME | LAYER [or LAYER...] | PATTERN [| only ARCH...: REASON]

PATTERN is a regular expression over what a failure of that layer is called and says. A mutant
that no layer notices is a hole in the tests; one that another layer notices is a hole in the
table.

What no run can notice has a line of layer `model`, whose pattern is a mutant that a model
declares: `FAMILY/FILE: MUTANT`. `make models` tries it, and so do we.
"""

import functools
import itertools
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch

from .. import arch as arches
from .. import paths
from ..errors import INFRA, USAGE, Fail
from ..guests import initramfs, kernel, tests
from ..proofs import models
from ..results import tables
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..series import overlay
from . import check

TABLE = tables.FOLDER / "mutants"
STEPS = paths.ROOT / overlay.FOLDER / "kernel/text_poke/busted.h"
STEP = re.compile(r"^\tTEXT_POKE_BUSTED_(?!NOTHING\b|NR\b)(\w+),", re.M)
ONLY = re.compile(r"only (\w+(?: \w+)*): (.+)")
# A mutant may never come to an end.
TIMEOUT = 400
SELFTESTS_TIMEOUT = 1200
# The selftests that are a layer; the others would take most of the time and have no say.
REPLAY = ("text_poke:replay",)

KUNIT, SELFTESTS, MODEL = "kunit", "selftests", "model"
SUITES = {"core": "text_poke"} | {
    name: f"text_poke_{name}"
    for name in ("conformance", "debug", "fault", "input", "live", "slot", "stop", "catch_up")
}
# Layer -> with what it is tried.
LAYERS = dict.fromkeys(("checker", "guest", *SUITES), KUNIT) | {"replay": SELFTESTS, MODEL: MODEL}
FORM = "NAME | LAYER [or LAYER...] | PATTERN [| only ARCH...: REASON]"


@dataclass(frozen=True)
class Mutant:
    """A step that goes wrong, and which layers have to notice."""

    name: str
    layers: tuple
    pattern: str
    only: str = ""
    why: str = ""

    @property
    def word(self):
        """As the kernel's command line has it."""
        return self.name.lower().replace("_", "-")

    @property
    def trial(self):
        """With what it is tried."""
        return LAYERS[self.layers[0]]


def steps(text):
    """The names that the kernel knows."""
    return STEP.findall(text)


def _mutant(name, layer, pattern, *rest):
    """The mutant of a line's parts."""
    layers, only = tuple(layer.split(" or ")), list(filter(None, map(ONLY.fullmatch, rest)))
    kinds = {LAYERS.get(each) for each in layers}
    if len(kinds) != 1 or None in kinds or len(only) != len(rest):
        raise Fail(
            INFRA,
            f"{TABLE}: {name} is not `{FORM}` with layers of one kind among "
            f"{', '.join(LAYERS)}: correct it",
        )
    return Mutant(name, layers, pattern, *(words for match in only for words in match.groups()))


def parse(text):
    """The mutants of a table."""
    return [_mutant(*parts) for parts in tables.rows(TABLE, FORM, text, lengths=(3, 4))]


def agree(mutants, known, declared):
    """The table has every step that the kernel knows,
    and besides them only mutants that the models declare.
    """
    names = [mutant.name for mutant in mutants if mutant.trial != MODEL]
    of_models = [mutant for mutant in mutants if mutant.trial == MODEL]
    if missing := sorted(set(known) - set(names)):
        raise Fail(INFRA, f"{TABLE} has no line for {', '.join(missing)}: say what has to notice")
    if stale := sorted(set(names) - set(known)):
        raise Fail(INFRA, f"{STEPS} has no {', '.join(stale)}: remove the line from {TABLE}")
    if both := [mutant.name for mutant in of_models if mutant.name in known]:
        raise Fail(INFRA, f"{STEPS} has {both[0]}: let a run notice it, not a model")
    if lost := [mutant for mutant in of_models if mutant.pattern not in declared]:
        raise Fail(
            INFRA, f"{lost[0].name}: no model has the mutant `{lost[0].pattern}`: correct {TABLE}"
        )
    for one, other in itertools.combinations(mutants, 2):
        if one.name == other.name and not _apart(one, other):
            raise Fail(INFRA, f"{TABLE} has two lines of one name: keep one")


def _apart(one, other):
    """Whether two mutants are tried on different architectures."""
    both = set(one.only.split()), set(other.only.split())
    return all(both) and both[0].isdisjoint(both[1])


# Which layer says it


def _speaks(layer, name):
    """Whether a result of this name is the layer's."""
    if layer in SUITES:
        return name.startswith(f"{SUITES[layer]}: ") and not name.endswith(": the suite ran")
    return {
        "checker": name == "KUnit: the kernel does not complain",
        "guest": name == "KUnit: the guest ends by itself",
        "replay": name.startswith("text_poke: replay: "),
    }[layer]


def _spoken_by(mutant, results):
    return [
        result for result in results if any(_speaks(layer, result.name) for layer in mutant.layers)
    ]


def failures(results):
    """What failed."""
    return [result for result in results if result.status == FAILED]


def in_words(results):
    return [f"{result.name}: {result.note}" for result in results]


def verdict(mutant, results):
    """Whether a mutant was noticed by a layer that the table names."""
    failed = failures(results)
    if lacking := [result for result in failed if result.name.endswith(tests.HAS_KNOBS)]:
        return Result(f"mutant {mutant.word}", FAILED, f"not tried with all: {lacking[0].note}")
    noticed = [
        line for line in in_words(_spoken_by(mutant, failed)) if re.search(mutant.pattern, line)
    ]
    if noticed:
        return Result(f"mutant {mutant.word}", PASSED, f"noticed: {noticed[0]}")
    others = (
        f"only this did: {'; '.join(in_words(failed)[:3])}"
        if failed
        else "nothing did: it survives"
    )
    return Result(
        f"mutant {mutant.word}",
        FAILED,
        f"{' or '.join(mutant.layers)}: {mutant.pattern} did not notice, {others}",
    )


def soundness(trial, mutants, results):
    """With nothing broken nothing fails, and every suite that has to notice something ran."""
    name = f"{trial} with nothing broken"
    if failed := in_words(failures(results)):
        return Result(name, FAILED, "; ".join(failed[:3]))
    passed = [result.name for result in results if result.status == PASSED]
    layers = dict.fromkeys(
        layer for mutant in mutants if mutant.trial == trial for layer in mutant.layers
    )
    if silent := [layer for layer in layers if not any(_speaks(layer, each) for each in passed)]:
        return Result(name, FAILED, f"nothing passed of {', '.join(silent)}")
    return Result(name, PASSED)


# Trying


def _kunit(name, kdir, append):
    return tests.kunit(name, kdir, append, timeout=TIMEOUT)


def _selftests(name, kdir, append):
    """The replay alone, which the first to come builds."""
    return _installed(name, kdir)(append=append)


@functools.cache
def _installed(name, kdir):
    return tests.listed_guest(name, kdir, REPLAY, timeout=SELFTESTS_TIMEOUT)


TRIALS = {KUNIT: _kunit, SELFTESTS: _selftests}


def _left_out(name, mutant):
    return mutant.only and name not in mutant.only.split()


def of_name(name, mutants):
    """Those of an architecture: of two lines of one name, the one for it."""
    tried = {mutant.name for mutant in mutants if not _left_out(name, mutant)}
    return [mutant for mutant in mutants if not _left_out(name, mutant) or mutant.name not in tried]


def _try(name, kdir, mutant):
    if _left_out(name, mutant):
        return Result(f"mutant {mutant.word}", SKIPPED, mutant.why)
    return verdict(mutant, TRIALS[mutant.trial](name, kdir, f"text_poke.busted={mutant.word}"))


def results(name, kdir, mutants):
    """A result for each mutant, as many at a time as there are CPUs."""
    tried = [mutant for mutant in mutants if not _left_out(name, mutant)]
    for trial in dict.fromkeys(mutant.trial for mutant in tried):
        yield soundness(trial, tried, TRIALS[trial](name, kdir, "text_poke.busted=nothing"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda mutant: _try(name, kdir, mutant), mutants)


def _of_model(mutant, found, declared):
    """What became of a model's mutant."""
    result = found.get(declared[mutant.pattern], Result("", FAILED, "nothing tried it"))
    note = (
        f"noticed: {mutant.pattern}"
        if result.status == PASSED
        else f"{mutant.pattern}: {result.note}"
    )
    return Result(f"model: mutant {mutant.word}", result.status, note)


def model_results(mutants, declared):
    """A result for each mutant of the table that is a model's;
    a model of theirs that does not hold shows nothing.
    """
    families = dict.fromkeys(mutant.pattern.split("/")[0] for mutant in mutants)
    found = {result.name: result for family in families for result in models.STEPS[family]()}
    yield from (_of_model(mutant, found, declared) for mutant in mutants)
    named = {declared[mutant.pattern] for mutant in mutants}
    yield from (result for result in failures(found.values()) if result.name not in named)


def _built(name, mutants):
    """The results of those that a kernel is built for."""
    kdir = kernel.build_kernel(name)
    initramfs.build_initramfs(name)
    yield from check.named(name, results(name, kdir, of_name(name, mutants)))


def _run(report, name, mutants):
    report.step(f"{name}: mutants", _built, name, mutants)


def main(options):
    """`mutants`: all of them, or those that ONLY is a pattern of;
    on every architecture with a backend, or ARCH.
    """
    declared, only = models.mutants(), options.get("ONLY", "*")
    mutants = parse(TABLE.read_text())
    agree(mutants, steps(STEPS.read_text()), declared)
    known, mutants = mutants, [mutant for mutant in mutants if fnmatch(mutant.word, only)]
    if not mutants:
        raise Fail(
            USAGE,
            f"ONLY={only} matches none of the mutants: "
            f"{', '.join(dict.fromkeys(mutant.word for mutant in known))}",
        )
    of_models = [mutant for mutant in mutants if mutant.trial == MODEL]
    report = check.Report().into("mutants")
    report.step("models: mutants", model_results, of_models, declared)
    run = [mutant for mutant in mutants if mutant.trial != MODEL]
    for name in check.names(options) if run else ():
        if arches.get(name).has_backend:
            _run(report, name, run)
    print(
        f"{len(run)} mutants of the kernel, {len(of_models)} of the models, which `make models` "
        "tries with all others",
        flush=True,
    )
    return report.end()
