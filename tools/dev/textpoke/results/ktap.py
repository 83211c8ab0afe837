# SPDX-License-Identifier: GPL-2.0
"""What kselftest's runner prints, as results: one per case where a test has cases.

The runner prints a line per test and, before it, the test's own lines behind `# `:

    # TAP version 13
    # 1..2
    # ok 1 a case
    # not ok 2 another # TODO reason
    not ok 1 selftests: text_poke: replay # exit=1
"""

import itertools
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

# How many lines of a failed test are shown, before its result and after.
SAID = 15

_LINE = re.compile(
    r"(?P<no>not )?ok (?P<number>\d+)(?: -)?(?P<name>| .*?)(?:\s+# (?P<directive>.*))?$"
)
# How kselftest.h has it: `ok 1 # SKIP a case: its reason`, or the reason only.
_BEHIND = re.compile(r"\w+ (?P<name>[^:]+)(?:: *(?P<note>.+))?$")
_PLAN = re.compile(r"1\.\.(\d+)")
_SUITE = re.compile(r"selftests: (?P<target>[^:]+): (?P<test>\S+)")


@dataclass(frozen=True)
class Result:
    """One line of `make check`."""

    name: str
    status: str
    note: str = ""
    before: tuple = ()  # what a failed test had to say before its result, and after
    after: tuple = ()
    unchanged: bool = False  # it is of an earlier run, for it would be made from the same
    part: str = ""  # of the step, if that has parts
    # that the whole part took; None: it is not known, or of an earlier run
    seconds: float | None = None

    @property
    def remark(self):
        """What stands in brackets behind its name."""
        words = "; ".join([*filter(None, [self.note]), *["unchanged"] * self.unchanged])
        return f" ({words})" if words else ""

    @property
    def said(self):
        """The part of it that is worth showing."""
        return (*self.before[-SAID:], *self.after[-SAID:])


class Step(NamedTuple):
    """A step, its results, and how long it took: None if it is all of an earlier run."""

    name: str
    results: list
    seconds: float | None = None


def _status(line):
    """What a result line says, and its reason for a skip."""
    directive = line["directive"] or ""
    if re.match(r"skip\b", directive, re.I):
        return SKIPPED, directive[4:].strip()
    if line["no"]:
        return FAILED, directive
    return PASSED, ""


def _case(line):
    """Name, status and note of a case, whose name may stand behind the directive.

    What ktap_helpers.sh skips has its reason behind the name: `ok 1 a case: its reason # SKIP`.
    """
    status, note = _status(line)
    name, _, more = (word.strip() for word in line["name"].partition(":"))
    if status == SKIPPED:
        note = note or more
    if not name and (behind := _BEHIND.match(line["directive"] or "")):
        name, note = behind["name"].strip(), behind["note"] or behind["name"].strip()
    return name, status, note


def _around(lines, at):
    """What a test said right before and right after one of its results:
    some tests do this, some that.
    """
    before = list(itertools.takewhile(lambda text: not _LINE.match(text), reversed(lines[:at])))
    after = list(itertools.takewhile(lambda text: not _LINE.match(text), lines[at + 1 :]))
    return {"before": tuple(before[::-1]), "after": tuple(after)}


def _cases(lines):
    """The cases of one test, and the number it has planned; None: it has no plan."""
    plan, found = None, []
    for at, text in enumerate(lines):
        if match := _PLAN.match(text):
            plan = int(match[1])
        elif match := _LINE.match(text):
            name, status, note = _case(match)
            said = _around(lines, at) if status == FAILED else {}
            found.append(Result(name, status, note, **said))
    return plan, found


def _test(line, lines):
    """Results of one test: its cases, or itself. A test that failed has at least one failure."""
    name = line["name"].strip()
    if suite := _SUITE.match(name):
        name = f"{suite['target']}: {suite['test']}"
    status, note = _status(line)
    plan, cases = _cases(lines)
    found = [replace(case, name=f"{name}: {case.name}") for case in cases]
    if plan is not None and plan != len(cases) and not (plan == 0 and status == SKIPPED):
        found.append(Result(f"{name}: all cases ran", FAILED, f"{len(cases)} of {plan} did"))
    if not cases or (status == FAILED and all(case.status != FAILED for case in found)):
        found.append(Result(name, status, note, tuple(lines) if status == FAILED else ()))
    return found


def parse(text):
    """Results of everything that the runner printed, a plan per target;
    one that was not kept is a failure.
    """
    plan, tests, lines, found = None, 0, [], []
    for raw in text.splitlines():
        if raw.startswith("# "):
            lines.append(raw[2:])
        elif match := _LINE.match(raw):
            found += _test(match, lines)
            tests, lines = tests + 1, []
        elif match := _PLAN.match(raw):
            plan = (plan or 0) + int(match[1])
    if plan is None or plan != tests:
        found.append(
            Result(
                "all tests ran",
                FAILED,
                f"{tests} of {plan if plan is not None else 'an unknown number'} did",
            )
        )
    return found


# The other way round: results for what reads them by program


def _line(number, status, name, note):
    skip = f" # SKIP {note}".rstrip() if status == SKIPPED else ""
    return f"{'not ok' if status == FAILED else 'ok'} {number} {name}{skip}"


def _unique(names):
    """Names that a reader can tell from one another, without the character that ends a name."""
    seen: dict[str, int] = {}
    for name in names:
        plain = name.replace("#", "@").strip() or "without a name"
        seen[plain] = seen.get(plain, 0) + 1
        yield plain if seen[plain] == 1 else f"{plain} ({seen[plain]})"


def _inner(results):
    """The lines of a step's results, each failure's words before it."""
    yield from ("KTAP version 1", f"1..{len(results)}")
    for number, (result, name) in enumerate(
        zip(results, _unique(result.name for result in results)), 1
    ):
        said = [result.note, *result.said] if result.status == FAILED else []
        yield from (f"# {line}" for text in said for line in text.splitlines())
        yield _line(number, result.status, name, result.note)


def whole(results):
    """The status of something that has these results."""
    statuses = {result.status for result in results}
    return FAILED if FAILED in statuses else PASSED if PASSED in statuses else SKIPPED


def written(steps):
    """KTAP of steps, with their results nested in them."""
    lines = ["KTAP version 1", f"1..{len(steps)}"]
    for number, (step, name) in enumerate(zip(steps, _unique(step.name for step in steps)), 1):
        lines += [f"  {line}" for line in _inner(step.results)] if step.results else []
        lines.append(
            _line(number, whole(step.results), name, "" if step.results else "it has no results")
        )
    return "\n".join(lines) + "\n"
