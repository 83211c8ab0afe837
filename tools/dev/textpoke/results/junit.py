# SPDX-License-Identifier: GPL-2.0
"""Results for other programs, as JUnit XML and as JSON. KTAP is in ktap.py.

A suite is a step, or a part of one (a guest of an architecture's step). What is known is how long
that took, not how long each of its tests did; what is unchanged since an earlier run took none.
"""

import json
from collections import Counter
from dataclasses import dataclass
from xml.etree import ElementTree

from ..pages.markup import clean
from . import ktap
from .ktap import FAILED, SKIPPED


@dataclass(frozen=True)
class Suite:
    """A step's results, or those of one of its parts."""

    step: str
    part: str
    results: list
    seconds: float | None  # None: it is not known, or nothing was done

    @property
    def name(self):
        return f"{self.step}: {self.part}" if self.part else self.step

    @property
    def unchanged(self):
        """Whether all of it is of an earlier run."""
        return bool(self.results) and all(result.unchanged for result in self.results)

    @property
    def status(self):
        return ktap.whole(self.results)


def suites(steps):
    """What is to be told of steps: each, and behind it its parts."""
    for step in steps:
        parts: dict[str, list] = {"": []}
        for result in step.results:
            parts.setdefault(result.part, []).append(result)
        for part, results in parts.items():
            yield Suite(step.name, part, results, results[0].seconds if part else step.seconds)


def _words(result):
    """All that a result says besides its status."""
    return "\n".join(filter(None, [result.note, *result.before, *result.after]))


def _counts(results):
    """How many there are, as attributes."""
    count = Counter(result.status for result in results)
    return {
        "tests": str(len(results)),
        "failures": str(count[FAILED]),
        "errors": "0",
        "skipped": str(count[SKIPPED]),
    }


def _time(value):
    return {} if value is None else {"time": f"{value:.3f}"}


def _case(parent, suite, result):
    case = ElementTree.SubElement(
        parent, "testcase", classname=clean(suite.name), name=clean(result.name)
    )
    if result.unchanged:
        known = ElementTree.SubElement(case, "properties")
        ElementTree.SubElement(known, "property", name="unchanged", value="true")
    if result.status == SKIPPED:
        ElementTree.SubElement(case, "skipped", message=clean(result.note))
    if result.status == FAILED:
        ElementTree.SubElement(case, "failure", message=clean(result.note)).text = clean(
            _words(result)
        )


def as_xml(name, steps):
    """JUnit XML of steps."""
    every = [result for step in steps for result in step.results]
    root = ElementTree.Element(
        "testsuites", name=name, **_counts(every), **_time(sum(step.seconds or 0 for step in steps))
    )
    for suite in suites(steps):
        part = ElementTree.SubElement(
            root,
            "testsuite",
            name=clean(suite.name),
            **_counts(suite.results),
            **_time(suite.seconds),
        )
        for result in suite.results:
            _case(part, suite, result)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _row(result):
    said = [*result.before, *result.after]
    return {
        "name": result.name,
        "status": result.status,
        "note": result.note,
        "unchanged": result.unchanged,
        **({"said": said} if said else {}),
    }


def as_json(name, steps):
    """The same as JSON."""
    every = Counter(result.status for step in steps for result in step.results)
    rows = [
        {
            "name": suite.name,
            "step": suite.step,
            "part": suite.part,
            "status": suite.status,
            "seconds": suite.seconds,
            "unchanged": suite.unchanged,
            "results": list(map(_row, suite.results)),
        }
        for suite in suites(steps)
    ]
    counts = {status: every[status] for status in (ktap.PASSED, FAILED, SKIPPED)}
    return (
        json.dumps(
            {
                "command": name,
                **counts,
                "seconds": sum(step.seconds or 0 for step in steps),
                "suites": rows,
            },
            indent=1,
        )
        + "\n"
    )
