# SPDX-License-Identifier: GPL-2.0
"""`make cases`: what people have reported, as guests, on the base and on the series.

Each folder of tools/dev/cases has a program, case.c, that says what it has seen and whether
that is right, a README with the report's source and what is right, and perhaps a file `boot`
with what its guest needs. A case that fails on the series fails the step: always if it passes
on the base, else unless tools/dev/expected/known says why.

A line of `boot` is `KEY [ARCH...]: VALUE`, for all architectures or for those that are named:

    append  parameters of the kernel; with several such lines the case is booted with each
    qemu    arguments for QEMU
    file    a file of the kernel's build folder, for the guest's /
"""

import functools
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..bench import bench
from ..errors import HANG, INFRA, OK, PANIC, TEST_FAILED, USAGE, Fail
from ..guests import initramfs, kernel, tests
from ..results import known
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..say import run, say
from . import check

FOLDER = paths.DEV / "cases"
FRAGMENT = "cases"
JOB = initramfs.GUEST / "case.sh"
SKIP = 4  # a case's exit status
TIMEOUT = 1200
# Where the series ends, the base is given up after so many times as long, and some seconds.
LONGER, MORE = 5, 120
BASE, SERIES = "base", "series"
LINE = re.compile(r"(?P<key>append|qemu|file)(?P<arches>(?: \w+)*): *(?P<value>.*)")
VERDICT = re.compile(r"CASE \S+ (?:PASS|FAIL|SKIP)\b:? *(?P<why>.*)")
WORDS = {PASSED: "pass", FAILED: "FAIL", SKIPPED: "skip"}
ENDED = {PANIC: "DIED", HANG: "HUNG"}


@dataclass(frozen=True)
class Case:
    """A case and one way to boot it."""

    folder: Path
    append: str = ""
    qemu: str = ""
    files: tuple = ()

    @property
    def name(self):
        return self.folder.name

    @property
    def title(self):
        """As it is named in results; the parameters tell its boots apart."""
        return f"{self.name}: {self.append}" if self.append else self.name


@dataclass(frozen=True)
class Outcome:
    """How a case went on one kernel: a status, that status or the end of its guest in a word,
    and what there is to say.
    """

    status: str
    word: str
    why: str = ""
    said: tuple = ()


# What there is


def _values(lines, key, name):
    """What a case's lines say of a key for an architecture."""
    for line in lines:
        if line["key"] == key and name in (line["arches"].split() or [name]):
            yield line["value"]


def _parsed(path):
    """The lines of a `boot` file."""
    for number, text in enumerate(path.read_text().splitlines() if path.exists() else (), 1):
        if not text or text.startswith("#"):
            continue
        line = LINE.fullmatch(text)
        if not line or set(line["arches"].split()) - set(arches.ARCHES):
            raise Fail(
                INFRA, f"{path}:{number} is not `append, qemu or file [ARCH...]: VALUE`: correct it"
            )
        yield line


def boots(folder, name):
    """A case's boots on an architecture, at least one."""
    lines = list(_parsed(folder / "boot"))
    qemu, files = " ".join(_values(lines, "qemu", name)), tuple(_values(lines, "file", name))
    return [
        Case(folder, append, qemu, files) for append in list(_values(lines, "append", name)) or [""]
    ]


def load(name, only=""):
    """Every boot of the cases on an architecture, or of those whose name begins with only."""
    folders = sorted(path.parent for path in FOLDER.glob("*/case.c"))
    wanted = [folder for folder in folders if fnmatch(folder.name, f"{only}*")]
    if not wanted:
        raise Fail(
            USAGE,
            f"CASE={only} matches none of the cases: "
            f"{', '.join(folder.name for folder in folders)}",
        )
    return [case for folder in wanted for case in boots(folder, name)]


# One guest


def _program(name, case):
    """The case's program, static."""
    program = paths.BUILD / "cases" / name / case.name
    program.parent.mkdir(parents=True, exist_ok=True)
    run(
        [
            f"{arches.get(name).cross}gcc",
            "-static",
            "-pthread",
            "-O2",
            "-Wall",
            case.folder / "case.c",
            "-o",
            program,
        ],
        log=paths.LOGS / f"case-{case.name}-{name}.log",
        what=f"building {case.name}",
    )
    return program


def _why(said):
    """The reason that a case gives with its verdict; without one, all that it said last."""
    found = [match["why"] for line in said if (match := VERDICT.match(line))]
    return found[-1] if found else "; ".join(said[-1:])


def outcome(result, text):
    """What became of a guest: text is what the case has printed."""
    said = tuple(text.splitlines())
    if result.code not in (OK, TEST_FAILED):
        return Outcome(
            FAILED,
            ENDED.get(result.code, "FAIL"),
            "; ".join([result.reason, *result.badness[:1]]),
            tuple(result.tail),
        )
    if result.verdict == SKIP:
        return Outcome(SKIPPED, WORDS[SKIPPED], _why(said), said)
    if result.verdict != 0 or not said:
        return Outcome(
            FAILED, WORDS[FAILED], _why(said) or f"its exit status is {result.verdict}", said
        )
    if result.badness:
        return Outcome(
            FAILED, WORDS[FAILED], f"the kernel complained: {result.badness[0].strip()}", said
        )
    return Outcome(PASSED, WORDS[PASSED], "", said)


def try_on(name, kdir, case, program, timeout=TIMEOUT):
    """Boot a case on a kernel."""
    say(f"{case.title} on {kdir.name}")
    extra = {"case": program, **{Path(file).name: kdir / file for file in case.files}}
    initrd = initramfs.build_initramfs(name, extra=extra, job=JOB)
    result = tests.in_guest(name, kdir, initrd, case.append, timeout=timeout, qemu_args=case.qemu)
    how = outcome(result, tests.sent(result, "case.txt"))
    return (
        how
        if how.status == PASSED
        else Outcome(how.status, how.word, f"{how.why}; console log: {result.log}", how.said)
    )


# Both kernels


@dataclass(frozen=True)
class Row:
    """A case on both kernels."""

    case: Case
    base: Outcome
    series: Outcome

    @property
    def words(self):
        """Why the series did not pass; if it did, why the base did not."""
        if self.series.status == PASSED and self.base.status == FAILED:
            return f"the base: {self.base.why}"
        return self.series.why


def judge(row, expected):
    """The result of a case. Only an end that it has on the base as well may be excused."""
    title, words, said = (
        f"cases: {row.case.title}",
        row.words,
        row.series.said if row.series.status == FAILED else (),
    )
    if row.series.status != PASSED and row.base.status == PASSED:
        return Result(title, FAILED, f"{words}; it passes on the base", before=said)
    return known.judge(Result(title, row.series.status, words, before=said), expected)


def table(rows):
    """The lines of the table."""
    cells = [("case", BASE, SERIES, "")]
    cells += [(row.case.title, row.base.word, row.series.word, row.words) for row in rows]
    return bench.columns(cells)


def kernels(name):
    """Which kernel -> its folder, both built."""
    host.need(*host.BUILD)
    return {
        BASE: kernel.build_kernel(
            name, base=True, fragments=(FRAGMENT, *arches.get(name).base_fragments)
        ),
        SERIES: kernel.build_kernel(name, fragments=(FRAGMENT,)),
    }


def _row(name, kdirs, case):
    program, begun = _program(name, case), time.monotonic()
    series = try_on(name, kdirs[SERIES], case, program)
    most = min(TIMEOUT, LONGER * (time.monotonic() - begun) + MORE)
    return Row(case, try_on(name, kdirs[BASE], case, program, int(most)), series)


def cases(name, only=""):
    """A result for each case, and the table of all."""
    found, kdirs, rows = load(name, only), kernels(name), []
    expected = known.load(name, kdirs[SERIES].name)
    initramfs.build_initramfs(name)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(functools.partial(_row, name, kdirs), found):
            rows.append(row)
            yield judge(row, expected)
    print("\n".join(table(rows)), flush=True)


def main(options):
    """`cases`: on one architecture, all of them or those whose names begin with CASE."""
    report, name = check.Report().into("cases"), options.arch
    report.step(f"{name}: cases", lambda: check.named(name, cases(name, options.get("CASE", ""))))
    return report.end()
