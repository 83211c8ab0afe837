# SPDX-License-Identifier: GPL-2.0
"""`make coverage`: which lines of the core and of a backend do the tests execute?

A kernel that counts (CONFIG_GCOV_PROFILE_TEXT_POKE) goes through KUnit, its selftests and
a minute of torture, and sends out what it has counted; gcov tells which line that was. Of all
lines, 95 percent must have been executed, and each that returns an error or goes to where
one is returned: in all of its branches, if it has some.

Lines that cannot be are in tools/dev/expected/accepted/coverage, `file | the line | reason`, with
the architectures in front of the file (`x86, arm64: core.c`) if that is so on these alone. A
function that nothing calls there is named as `name()`. Code that is noinstr is not instrumented,
and does not count: a counter's store may fault or be traced.
"""

import json
import re
import shutil
import tarfile
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import arch as arches
from .. import paths
from ..guests import kernel, tests, torture
from ..results.ktap import FAILED, PASSED, Result
from ..results.tables import FOLDER, rows
from ..say import output, say
from ..series import series
from . import check

FRAGMENTS = ("gcov",)
MINUTES = 1
LEAST = 95
ACCEPTED = FOLDER / "accepted/coverage"
CORE = tuple(
    f"kernel/text_poke/{name}.c"
    for name in (
        "core",
        "guard",
        "write",
        "sync",
        "report",
        "path",
        "trap",
        "slot",
        "quiesce",
        "debugfs",
    )
)
# A line that gives an error, or goes to where one is given.
ERROR = re.compile(r"\breturn\b.*-E[A-Z]+\b|\bgoto (fault|out|err\w*|fail\w*);")
# As far as the condition may be from what it leads to.
NEAR = 4
COMMENT = re.compile(r"^\s*(\*|/\*)")


@dataclass
class Lines:
    """What is known of a file: how often each line was executed, and each branch of it,
    and which function it stands in.
    """

    count: dict = field(default_factory=lambda: defaultdict(int))
    branches: dict = field(default_factory=dict)
    function: dict = field(default_factory=dict)

    def add(self, number, count, branches, function=None):
        """What one compilation of a line says in one run;
        a function may have been compiled more than once.
        """
        self.count[number] += count
        self.function[number] = function
        known = self.branches.get(number, [])
        if len(known) == len(branches):
            branches = [one + more for one, more in zip(known, branches)]
        self.branches[number] = branches if sum(branches) >= sum(known) else known

    @property
    def percent(self):
        hit = sum(1 for count in self.count.values() if count)
        return 100 * hit / len(self.count) if self.count else 0

    @property
    def missed(self):
        return sorted(number for number, count in self.count.items() if not count)

    def without(self, known, text):
        """The same, without the lines and functions that are accepted as not executed."""
        left = {
            number: count
            for number, count in self.count.items()
            if count or not {text[number - 1].strip(), f"{self.function[number]}()"} & known
        }
        return replace(self, count=left)

    def all_ways(self, number):
        """Whether a line was executed, in each of its branches.

        What returns a constant often has no code of its own: then it was if the condition in front
        of it, which has, was both true and false.
        """
        if number in self.count:
            return self.count[number] > 0 and all(self.branches[number])
        before = [
            other
            for other, ways in self.branches.items()
            if number - NEAR <= other < number and len(ways) > 1
        ]
        return bool(before) and all(self.branches[max(before)])


def files(name):
    """Those that are looked at, on an architecture."""
    arch = arches.get(name)
    return [*CORE, f"arch/{arch.kind_of or arch.name}/kernel/text_poke.c"]


# Reading what gcov says


def read(text, wanted, found):
    """Add what gcov says as JSON of the wanted files to found, by name."""
    for each in json.loads(text)["files"]:
        name = next((name for name in wanted if each["file"].endswith(name)), None)
        for line in each["lines"] if name else ():
            branches = [
                branch["count"] for branch in line.get("branches", ()) if not branch["throw"]
            ]
            function = line.get("function_name")
            found[name].add(line["line_number"], line["count"], branches, function)


def _gcov(arch, data, notes):
    """gcov's words about one object, of which the data is from a guest and the
    notes from the build.
    """
    folder = data.parent
    shutil.copy(notes, folder / f"{data.stem}.gcno")
    return output(
        [
            f"{arch.cross}gcov",
            "--json-format",
            "--stdout",
            "--branch-counts",
            "--branch-probabilities",
            data.name,
        ],
        cwd=folder,
    )


def collect(name, kdir, archives):
    """name of file -> Lines, over all that guests have sent."""
    arch = arches.get(name)
    found: defaultdict = defaultdict(Lines)
    wanted = files(name)
    place = paths.BUILD / "coverage" / arch.name
    shutil.rmtree(place, ignore_errors=True)
    for number, archive in enumerate(archives):
        for source in wanted:
            inside = f"gcov{kdir}/{Path(source).with_suffix('.gcda')}"
            data = place / str(number) / Path(source).with_suffix(".gcda")
            if _extract(archive, inside, data):
                read(_gcov(arch, data, (kdir / source).with_suffix(".gcno")), wanted, found)
    return found


def _extract(archive, inside, to):
    """Put a member of an archive into a file; False: there is none."""
    try:
        with tarfile.open(archive) as tar:
            member = tar.extractfile(inside)
            assert member, f"{inside} is a file"
            data = member.read()
    except (tarfile.TarError, KeyError, EOFError):
        return False
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(data)
    return True


# Judging


def error_lines(source):
    """(number, line) of each line that gives an error."""
    for number, line in enumerate(source.splitlines(), 1):
        if ERROR.search(line) and not COMMENT.match(line):
            yield number, line.strip()


def accepted(text, name):
    """(file, line) -> reason, on an architecture."""
    found = {}
    for place, line, reason in rows(ACCEPTED, "file | the line | reason", text):
        only, _, path = place.rpartition(": ")
        if not only or name in only.split(", "):
            found[path, line] = reason
    return found


def errors_not_hit(name, source, lines, known):
    """The lines of a file that give an error and did not, or not in every way;
    without those that are known.
    """
    return [
        f"{name}:{number}: {line}"
        for number, line in error_lines(source)
        if not lines.all_ways(number) and (name, line) not in known
    ]


def results(sources, found, known):
    """Results of what was found; sources is name of file -> its text."""
    for name, source in sources.items():
        here = {line for file, line in known if file == name}
        lines = found.get(name, Lines()).without(here, source.splitlines())
        good = lines.percent >= LEAST
        yield Result(
            f"lines of {name}",
            PASSED if good else FAILED,
            f"{lines.percent:.1f} % of {len(lines.count)}",
        )
        missing = errors_not_hit(name, source, lines, known)
        yield Result(f"errors of {name}", FAILED if missing else PASSED, "; ".join(missing))
    stale = [
        f"{name}: {line}"
        for name, line in known
        if name in sources and not stands(line, sources[name], found.get(name, Lines()))
    ]
    yield Result("what is accepted is there", FAILED if stale else PASSED, "; ".join(stale))


def stands(accept, source, lines):
    """Whether a line stands in a file, or a `function()` that was not executed."""
    ran = {lines.function[number] for number, count in lines.count.items() if count}
    functions = {f"{each}()" for each in set(lines.function.values()) - ran}
    return accept in functions or accept in {text.strip() for text in source.splitlines()}


def never_run(sources, found):
    """The lines that were never executed, to be read one by one."""
    for name, source in sources.items():
        text = source.splitlines()
        for number in found[name].missed if name in found else ():
            yield f"{name}:{number}: {text[number - 1].strip()}"


# The command


def _machines(name):
    """An architecture, on each of its machines."""
    arch = arches.get(name)
    return [replace(arch, machine=machine) for machine in (arch.machine, *arch.machines)]


def _guests(name, kdir):
    """Run all that is to be counted; (its results, what its guests have sent)."""
    before = set((paths.BUILD / "boot").glob("*"))
    kunit = [result for arch in _machines(name) for result in tests.kunit(arch, kdir)]
    for words in arches.get(name).kunit_also:
        kunit += tests.kunit(name, kdir, words)
    found = [
        *kunit,
        *tests.selftests(name, kdir, targets=tests.OWN),
        *torture.torture(name, kdir, MINUTES),
    ]
    return found, sorted(path / "out" for path in set((paths.BUILD / "boot").glob("*")) - before)


def coverage(name):
    """All results: of the tests, and of what they have executed."""
    kdir = kernel.build_kernel(name, fragments=FRAGMENTS)
    ran, archives = _guests(name, kdir)
    yield from ran
    found = collect(name, kdir, archives)
    # Not those that stand here: what lies over them moves their lines.
    tree = series.source_tree()
    sources = {
        path: (tree / path).read_text()
        for path in files(name)
        if path in found or (kdir / path).with_suffix(".o").exists()
    }
    say(f"lines that were never executed on {name}:")
    print("\n".join(never_run(sources, found)), flush=True)
    yield from results(sources, found, accepted(ACCEPTED.read_text(), name))


def main(options):
    """`coverage`: on one architecture."""
    report, name = check.Report().into("coverage"), options.arch
    report.step(
        f"{name}: coverage",
        lambda: (Result(f"{name}: {each.name}", each.status, each.note) for each in coverage(name)),
    )
    return report.end()
