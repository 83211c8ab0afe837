# SPDX-License-Identifier: GPL-2.0
"""The page of `make check`: architecture x test, what failed with its log,
what was skipped and why.
"""

import re
from collections import Counter
from pathlib import Path

from .. import arch as arches
from .. import paths
from ..pages.markup import Safe, seconds, table, tag, write as fill
from ..say import tail
from . import junit
from .ktap import FAILED, PASSED, SKIPPED, whole

EVERY = "every"  # the column of what concerns no architecture alone
SHORT = {PASSED: "ok", FAILED: "failed", SKIPPED: "skipped"}
# Where a result has named its log.
LOG = re.compile(r"\bsee (/\S+?)[;,.]?(?:\s|$)")
LINES = 60  # of a log
TIMES, DASH = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"


def split(suite):
    """(column, row) of a suite: the architecture that its name begins with, and the rest."""
    first, _, rest = suite.name.partition(": ")
    return (first, rest) if rest and first in arches.ARCHES else (EVERY, suite.name)


def arranged(suites):
    """row -> column -> suite, in the order in which they were done."""
    rows: dict = {}
    for suite in suites:
        if suite.results:
            column, row = split(suite)
            rows.setdefault(row, {})[column] = suite
    return rows


def _columns(rows):
    """Those that are there, what is for every architecture first."""
    there = {column for cells in rows.values() for column in cells}
    return [column for column in (EVERY, *arches.ARCHES) if column in there]


def _time(suite):
    if suite.unchanged:
        return "unchanged"
    return "" if suite.seconds is None else seconds(suite.seconds)


def _cell(suite):
    """How many of a suite passed and so on, in its colour."""
    if not suite:
        return tag("td", class_="none")
    count = Counter(result.status for result in suite.results)
    words = ", ".join(
        f"{count[status]} {SHORT[status]}" for status in (FAILED, PASSED, SKIPPED) if count[status]
    )
    return tag("td", words, " ", tag("small", _time(suite)), class_=suite.status)


def _overview(rows, columns):
    lines = [
        [
            tag("td", tag("a", row, href=f"#row{number}")),
            *(_cell(cells.get(column)) for column in columns),
        ]
        for number, (row, cells) in enumerate(rows.items())
    ]
    return table(["step, or part of one", *columns], lines)


def _plain(column, result):
    """A test's name without its architecture, so that it is one test on all of them."""
    return result.name.removeprefix(f"{column}: ")


def _statuses(cells):
    """test -> column -> its results, for what has the same name may be there twice."""
    tests: dict = {}
    for column, suite in cells.items():
        for result in suite.results:
            tests.setdefault(_plain(column, result), {}).setdefault(column, []).append(result)
    return tests


def _one(results):
    """The cell of one test on one architecture; why it was skipped stands behind it."""
    if not results:
        return tag("td", class_="none")
    many = f" {TIMES}{len(results)}" if len(results) > 1 else ""
    status = whole(results)
    return tag(
        "td",
        f"{SHORT[status]}{many}",
        class_=status,
        title="; ".join(filter(None, (result.note for result in results))),
    )


def _details(number, row, cells, columns):
    """All tests of a row, on each architecture."""
    columns = [column for column in columns if column in cells]
    lines = [
        [tag("td", test), *(_one(found.get(column)) for column in columns)]
        for test, found in _statuses(cells).items()
    ]
    head = tag("summary", f"{row} ({len(lines)})")
    return tag("details", head, table(["test", *columns], lines), id=f"row{number}")


def _logs(note):
    """The ends of the logs that a result names, if they are still there."""
    for name in LOG.findall(note):
        if Path(name).is_file():
            yield tag("p", "the end of ", tag("code", name))
            yield tag("pre", tail(name, LINES))


def _failure(suite, result):
    said = "\n".join([*result.before, *result.after])
    return tag(
        "div",
        tag("h3", result.name),
        tag("p", f"{suite.name}: {result.note or 'without a word'}"),
        tag("pre", said) if said else "",
        *_logs(result.note),
        class_="failure",
    )


def _failures(suites):
    found = [
        _failure(suite, result)
        for suite in suites
        for result in suite.results
        if result.status == FAILED
    ]
    return Safe("".join(found)) or tag("p", "Nothing failed.")


def _skipped(suites):
    lines = [
        [tag("td", result.name), tag("td", result.note or DASH)]
        for suite in suites
        for result in suite.results
        if result.status == SKIPPED
    ]
    return table(["test", "reason"], lines) if lines else tag("p", "Nothing was skipped.")


def _counts(steps):
    count = Counter(result.status for step in steps for result in step.results)
    same = sum(result.unchanged for step in steps for result in step.results)
    words = [f"{count[status]} {status}" for status in (PASSED, FAILED, SKIPPED)]
    return ", ".join([*words, *[f"{same} of these unchanged since an earlier run"] * bool(same)])


def write(name, steps):
    """The page of a command's steps; returns its path."""
    suites = list(junit.suites(steps))
    rows = arranged(suites)
    columns = _columns(rows)
    details = (
        _details(number, row, cells, columns) for number, (row, cells) in enumerate(rows.items())
    )
    path = paths.BUILD / name / "index.html"
    fill(
        path,
        "check.html",
        command=name,
        counts=_counts(steps),
        overview=_overview(rows, columns),
        failures=_failures(suites),
        skipped=_skipped(suites),
        details=Safe("".join(details)),
        spent=seconds(sum(step.seconds or 0 for step in steps)),
    )
    return path
