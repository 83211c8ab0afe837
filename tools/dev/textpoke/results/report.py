# SPDX-License-Identifier: GPL-2.0
"""Steps as they are printed, counted, picked by name, listed, and kept when they have passed."""

import functools
import time
import traceback
from dataclasses import replace
from fnmatch import fnmatch

from .. import paths
from ..errors import OK, TEST_FAILED, USAGE, Fail, of_system
from ..say import say, working
from ..series import patches
from . import grid, junit, ktap, made
from .kept import NOTHING
from .ktap import FAILED, PASSED, SKIPPED, Result, Step

WORDS = {PASSED: "ok", FAILED: "not ok", SKIPPED: "skip"}


def named(prefix, results):
    """The same results under an architecture's name."""
    return (replace(result, name=f"{prefix}: {result.name}") for result in results)


def results_of(name, function, *args):
    """What a step gives, as it comes; what breaks it is a failed test."""
    try:
        yield from function(*args)
    except Fail as failure:
        yield Result(name, FAILED, failure.message)
    except Exception as error:  # a mistake in these tools must not hide the other tests
        if known := of_system(error):
            yield Result(name, FAILED, known.message)
            return
        traceback.print_exc()
        yield Result(name, FAILED, f"{type(error).__name__}: {error}")


class Report:
    """Prints results as they come, and counts them; failures once more at the end.

    store   where results of steps are looked for that say what they are made from; None: all are
            done
    """

    # Seconds without a word of a step's, or of its parts', after which the step gives one.
    silent_for = 90
    command = None  # whose results go into files, besides being printed
    has_page = False

    def __init__(self, store=None):
        self.store = store
        self.count = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self.unchanged = 0
        self.failed = []
        self.steps = []

    def add(self, results, kept):
        for result in results:
            kept.append(result)
            self.count[result.status] += 1
            self.unchanged += result.unchanged
            print(f"{WORDS[result.status]} {result.name}{result.remark}", flush=True)
            for line in result.said:
                print(f"    {line}", flush=True)
            if result.status == FAILED:
                self.failed.append(f"failed: {result.name}{result.remark}")

    def step(self, name, function, *args, parts=NOTHING):
        """Add what a step gives; one that breaks is itself a failed test.

        Returns whether all passed.

        parts   a function that gives what the step is made from (see kept.py); without it the step
                is always done
        """
        found: list[Result] = []
        before, begin = self.count[FAILED], time.monotonic()
        with working(name, self.silent_for):
            self.add(results_of(name, self._once, name, parts, function, *args), found)
        known = bool(found) and all(result.unchanged for result in found)
        self.steps.append(Step(name, found, None if known else time.monotonic() - begin))
        return self.count[FAILED] == before

    def _once(self, name, parts, function, *args):
        return self.store.once(name, parts, function, *args) if self.store else function(*args)

    def into(self, name):
        """Have the results written for other programs by a command of that name:
        as KTAP, JUnit XML and JSON.
        """
        self.command = name
        return self

    def _write(self):
        if not self.command:
            return
        place = paths.LOGS / self.command
        patches.write(place.with_suffix(".ktap"), ktap.written(self.steps).encode(errors="replace"))
        patches.write(place.with_suffix(".xml"), junit.as_xml(self.command, self.steps))
        patches.write(place.with_suffix(".json"), junit.as_json(self.command, self.steps))
        say(f"the results for programs: {place}.ktap, .xml (JUnit) and .json")
        if self.has_page:
            say(f"the results as a page: {grid.write(self.command, self.steps)}")

    def end(self):
        """The last lines, whatever becomes of the files, and the exit code."""
        try:
            self._write()
        finally:
            code = self._last_lines()
        return code

    def _last_lines(self):
        counts = [f"{self.count[status]} {status}" for status in (PASSED, FAILED, SKIPPED)]
        if self.unchanged:
            print(
                f"unchanged: {self.unchanged} of these were done by an earlier run, from the same "
                "(FRESH=1 does all again)"
            )
        print("\n".join([*self.failed, ", ".join(counts)]), flush=True)
        return TEST_FAILED if self.count[FAILED] or not self.count[PASSED] else OK


class Picked(Report):
    """A report of which steps can be picked,
    and are kept though they do not say what they are made from.

    store   where results are kept
    parts   a function from the first word of a step's name, an architecture perhaps, to what it is
            made from; without one, a step that does not say it is always done
    """

    has_page = True

    def __init__(self, store, only="*", parts=None):
        super().__init__(store)
        self.only, self.parts = only, parts and self.remembered(parts)
        self.names = []

    def wanted(self, name):
        return fnmatch(name, self.only)

    def step(self, name, function, *args, parts=None):
        """A step that is asked for; returns whether it has passed or was not asked for."""
        self.names.append(name)
        # Those of an architecture, whose name begins theirs, have what concerns that one in common.
        parts = parts or (
            functools.partial(self.parts, name.split(":")[0]) if self.parts else NOTHING
        )
        return not self.wanted(name) or self._wanted_step(name, parts, function, *args)

    def _wanted_step(self, name, parts, function, *args):
        say(f"step: {name}")
        return super().step(name, function, *args, parts=parts)

    def _check_only(self):
        """A pattern that fits nothing is a slip."""
        if not any(map(self.wanted, self.names)):
            raise Fail(
                USAGE,
                f"ONLY={self.only} matches none of the {len(self.names)} steps: LIST=1 names them",
            )

    def end(self):
        """The exit code, unless nothing was done because of a slip."""
        self._check_only()
        return super().end()

    def remembered(self, function):
        """A function that gives parts, which are asked for before a step and behind it."""
        return function

    def keep(self, name, function, parts=None):
        """A step whose results are called as it is."""
        return self.step(name, lambda: named(name, function()), parts=parts)


class Named(Picked):
    """Names the steps, and which of them have passed, instead of doing them."""

    def __init__(self, *what, **how):
        super().__init__(*what, **how)
        self.left = 0

    def _wanted_step(self, name, parts, function, *args):
        """As if it passed, so that what depends on it is named as well."""
        passed = parts is not NOTHING and self.store.known(name, made.safely(parts)) is not None
        print(f"{'passed' if passed else 'to do'}: {name}")
        self.left += not passed
        return True

    def remembered(self, function):
        """Nothing is done meanwhile."""
        return functools.cache(function)

    def end(self):
        """The last line counts them."""
        self._check_only()
        print(f"{self.left} of {len(list(filter(self.wanted, self.names)))} steps to do")
        return OK
