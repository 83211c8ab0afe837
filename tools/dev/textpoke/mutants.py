# SPDX-License-Identifier: GPL-2.0
"""`make mutants`: break the core on purpose, one step after the other, and see who notices.

The steps are those of kernel/text_poke/busted.h. The table tools/dev/mutants says of each
with which tests it is tried and what has to notice it:

    NAME | kunit or selftests | PATTERN [| only ARCH...: REASON]

PATTERN is a regular expression over the names of the tests that fail and what they say. A
mutant that nobody notices is a hole in the tests; one that somebody else notices is a hole
in the table.
"""

import functools
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch

from . import check, initramfs, kernel, paths, tests
from .errors import INFRA, Fail
from .ktap import FAILED, PASSED, SKIPPED, Result

TABLE = paths.DEV / "mutants"
STEPS = paths.ROOT / "kernel/text_poke/busted.h"
STEP = re.compile(r"^\tTEXT_POKE_BUSTED_(?!NOTHING\b|NR\b)(\w+),", re.M)
ONLY = re.compile(r"only (\w+(?: \w+)*): (.+)")
# A mutant may never come to an end.
TIMEOUT = 240
SELFTESTS_TIMEOUT = 600


@dataclass(frozen=True)
class Mutant:
    """A step that goes wrong, and who has to notice."""

    name: str
    with_what: str
    pattern: str
    only: str = ""
    why: str = ""

    @property
    def word(self):
        """As the kernel's command line has it."""
        return self.name.lower().replace("_", "-")


def steps(text):
    """The names that the kernel knows."""
    return STEP.findall(text)


def parse(text):
    """The mutants of a table."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        name, with_what, pattern, *more = (part.strip() for part in line.split(" | "))
        only = ONLY.fullmatch(more[0]) if more else None
        if with_what not in TRIALS or not pattern or len(more) > 1 or (more and not only):
            raise Fail(INFRA, f"{TABLE}:{number} is not `NAME | {' or '.join(TRIALS)} | PATTERN [| only ARCH...: REASON]`: correct it")
        found.append(Mutant(name, with_what, pattern, *(only.groups() if only else ())))
    return found


def agree(mutants, known):
    """The table has every step that the kernel knows, and no other."""
    names = [mutant.name for mutant in mutants]
    if missing := sorted(set(known) - set(names)):
        raise Fail(INFRA, f"{TABLE} has no line for {', '.join(missing)}: say who has to notice")
    if stale := sorted(set(names) - set(known)):
        raise Fail(INFRA, f"{STEPS} has no {', '.join(stale)}: remove the line from {TABLE}")


# Trying

def _kunit(name, kdir, append):
    return tests.kunit(name, kdir, append, timeout=TIMEOUT)


def _selftests(name, kdir, append):
    """The selftests of text pokes alone, which the first to come builds."""
    return _installed(name, kdir)(append=append)


@functools.cache
def _installed(name, kdir):
    return functools.partial(tests.selftests_guest(name, kdir, targets=tests.OWN), timeout=SELFTESTS_TIMEOUT)


TRIALS = {"kunit": _kunit, "selftests": _selftests}


def failures(results):
    """What failed, in words."""
    return [f"{result.name}: {result.note}" for result in results if result.status == FAILED]


def verdict(mutant, failed):
    """Whether a mutant was noticed by whom the table says."""
    noticed = [line for line in failed if re.search(mutant.pattern, line)]
    if noticed:
        return Result(f"mutant {mutant.word}", PASSED, f"noticed: {noticed[0]}")
    others = f"only this did: {'; '.join(failed[:3])}" if failed else "nobody did: it survives"
    return Result(f"mutant {mutant.word}", FAILED, f"{mutant.pattern} did not notice, {others}")


def _try(name, kdir, mutant):
    if mutant.only and name not in mutant.only.split():
        return Result(f"mutant {mutant.word}", SKIPPED, mutant.why)
    return verdict(mutant, failures(TRIALS[mutant.with_what](name, kdir, f"text_poke.busted={mutant.word}")))


def _sound(name, kdir, trial):
    """With nothing broken nothing fails; else a failure would say nothing about a mutant."""
    failed = failures(TRIALS[trial](name, kdir, "text_poke.busted=nothing"))
    return Result(f"{trial} with nothing broken", FAILED if failed else PASSED, "; ".join(failed[:3]))


def results(name, kdir, mutants):
    """A result for each mutant, as many at a time as there are CPUs."""
    for trial in TRIALS:
        yield _sound(name, kdir, trial)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda mutant: _try(name, kdir, mutant), mutants)


def main(options):
    """`mutants`: all of them, or those that ONLY is a pattern of."""
    name, only = options.arch, options.get("ONLY", "*")
    mutants = parse(TABLE.read_text())
    agree(mutants, steps(STEPS.read_text()))
    mutants = [mutant for mutant in mutants if fnmatch(mutant.word, only)]
    report = check.Report()
    kdir = kernel.build_kernel(name)
    initramfs.build_initramfs(name)
    report.step(f"{name}: mutants", lambda: (Result(f"{name}: {each.name}", each.status, each.note)
                                            for each in results(name, kdir, mutants)))
    return report.end()
