# SPDX-License-Identifier: GPL-2.0
"""`make check`: every test, one line each, and the count as the last line.

What costs least comes first. A step that cannot be carried out is a failed test with its
reason, and the steps that do not depend on it go on.
"""

import functools
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..code import realmode, standards, unwatched
from ..errors import OK
from ..guests import boot, endings, initramfs, kernel, onebyone, perf, tests, torture
from ..proofs import models
from ..records import run
from ..results import kept, made
from ..results.kept import NOTHING
from ..results.ktap import FAILED, PASSED, Result
from ..results.report import Named, Picked, Report, named, results_of
from ..say import run as command
from ..say import say, working
from ..series import series
from ..trace import trace
from . import gates, suites

UNIT_TESTS = paths.DEV / "tests"
# Of these, the tests that read what people read.
READERS = ("test_files.py", "test_given.py", "test_guide.py", "test_words.py")
# The slowest of those that read nothing but the tools: they are run where nothing else is.
ALONE = (
    "test_apply.py",
    "test_bases.py",
    "test_installed.py",
    "test_page.py",
    "test_series.py",
    "test_trace.py",
)
# Ends of guests: those that each machine has its own way for, and the others, which tests.SHOWS
# shows for all.
ENDS, SAME_ENDS = ("Machine",), ("Guest",)
# unittest's words: the test, and the error that ended it.
WRONG = re.compile(r"(FAIL|ERROR): |[\w.]*(Error|Fail): ")
LEFT_OUT = re.compile(r"\.\.\. skipped (['\"])(?P<reason>.+)\1$", re.M)


# The steps


def _why(log):
    """Which of a file's unit tests failed, and with which words."""
    found = [line for line in log.read_text(errors="replace").splitlines() if WRONG.match(line)]
    return "; ".join([*found[:6], f"see {log}"])


def _left_out(log):
    """Why some of a file's unit tests were skipped, which others may have passed beside."""
    return "; ".join(
        f"skipped: {reason}"
        for reason in dict.fromkeys(
            found["reason"] for found in LEFT_OUT.finditer(log.read_text(errors="replace"))
        )
    )


def _tested(files=made.code):
    """What decides how the tests end that read no documents."""
    return *files(), *made.packages(*host.BUILD, *host.BROWSER, *host.PAGE)


def _tested_alone():
    """The same for those that read nothing but the tools."""
    return _tested(functools.partial(made.folder, paths.DEV, skip=made.LEFT_BEHIND))


def _unit_tests(prefix, wanted="test_*.py", but=(), env=None):
    """The tools' own tests, a line per file."""
    files = set(UNIT_TESTS.glob(wanted)) - {UNIT_TESTS / name for name in but}
    yield from _tests_of(prefix, files, env)


def _alone(prefix, names):
    """The same of some, in a copy of the tools that has nothing of the series beside it."""
    with tempfile.TemporaryDirectory() as top:
        copy = Path(top) / paths.DEV.relative_to(paths.ROOT)
        shutil.copytree(paths.DEV, copy, ignore=shutil.ignore_patterns(*made.LEFT_BEHIND))
        files = [copy / UNIT_TESTS.relative_to(paths.DEV) / name for name in names]
        yield from _tests_of(prefix, files, None, copy)


def _tests_of(prefix, files, env, dev=None):
    """The results of these files; dev is the tools' folder that they are in, if not ours."""
    host.need(*host.BUILD, *host.BROWSER)
    # The largest file takes longest, and comes first: nothing is left to wait for it alone.
    jobs = [
        functools.partial(_unit_test, prefix, path, env, dev or paths.DEV)
        for path in sorted(files, key=lambda path: path.stat().st_size, reverse=True)
    ]
    yield from sorted(tests.side_by_side(jobs), key=lambda result: result.name)


def _unit_test(prefix, path, env, dev):
    """The result of a file of unit tests."""
    log = paths.LOGS / f"{prefix.replace(' ', '-')}-{path.stem}.log"
    status = command(
        [sys.executable, "-m", "unittest", "-v", path],
        log=log,
        what=f"{prefix}: {path.stem}",
        env=env,
        cwd=dev,
        check=False,
    )
    return Result(
        f"{prefix}: {path.stem}",
        FAILED if status else PASSED,
        _why(log) if status else _left_out(log),
    )


def boots_guest(name, kdir, append="", smp=2, paging=""):
    """What boots the kernel to our init with all its CPUs, with that paging,
    and looks for complaints.

    Its CPUs take turns where its text changes meanwhile, as in all tests: see tests.in_guest().
    """

    def initrd():
        return initramfs.build_initramfs(
            name, job=boot.HELLO, args=[str(smp), *filter(None, [paging])]
        )

    how = {"append": append, "smp": smp, "echo": False, "turns": arches.get(name).has_backend}
    return tests.Guest(name, kdir, initrd, _booted, how, boot.boot)


def _booted(result):
    booted = result.verdict == 0 and result.code == OK
    if not booted:
        boot.report(result)
    yield Result("boots", PASSED if booted else FAILED, "" if booted else result.reason)
    complaint = result.badness[0].strip() if result.badness else ""
    yield Result("boots without a complaint", FAILED if complaint else PASSED, complaint)


def boots(*what):
    """The results of that."""
    return boots_guest(*what)()


def _guests(name, kdir, ends):
    """How `make boot` tells the ends of a guest apart, with real guests."""
    log = paths.LOGS / f"guests-{name}.log"
    status = command(
        [sys.executable, "-m", "unittest", "-v", *(f"tests.test_boot.{each}" for each in ends)],
        log=log,
        cwd=paths.DEV,
        what="booting guests that pass, fail, panic and hang",
        env={"ARCH": name, "KDIR": str(kdir)},
        check=False,
    )
    yield Result(
        "guests that pass, fail, panic and hang are told apart",
        FAILED if status else PASSED,
        _why(log) if status else "",
    )


def same_ends(name, kdir, append="", smp=2):
    """The ends that one machine shows for all in make check."""
    return _guests(name, kdir, SAME_ENDS)


def _guests_parts(name, kdir):
    """What that is made from."""
    # The modules' own initramfs has what every guest of theirs has, but for its job.
    initrd = initramfs.build_initramfs(name, kdir=kdir)
    return [
        boot.identity(name, kdir, initrd),
        made.modules("checks.check", "guests.boot"),
        [UNIT_TESTS / "test_boot.py"],
        list(made.programs("tar")),
    ]


def _main_job(name):
    """`make run`, whose verdict is its exit status; what it prints goes into a log."""
    log = paths.LOGS / f"run-{name}.log"
    patience = [f"TIMEOUT={boot.patience()}"] * bool(boot.patience())
    code = command(
        [paths.DEV / "tp", "run", f"ARCH={name}", *patience],
        log=log,
        what=f"the main job on {name}",
        check=False,
    )
    yield Result(
        "the main job records, decodes and replays",
        FAILED if code else PASSED,
        f"see {log}" if code else "",
    )


def _main_job_parts(name, kdir):
    """What that is made from: its guest, and all that perf is made from."""
    snapshot = run.build_snapshot(name, kdir / "main-job")
    initrd = initramfs.build_initramfs(
        name, extra={"/usr/bin/text_snapshot": snapshot}, job=run.JOB, kdir=kdir
    )
    return [
        boot.identity(name, kdir, initrd),
        perf.parts(name),
        made.modules("records.run", "cli"),
        [paths.DEV / "tp"],
    ]


@dataclass(frozen=True)
class Part:
    """A part of a step that can be done by itself, and what it is made from."""

    function: Callable
    parts: Callable

    def __call__(self):
        return self.function()


def _with(word, guest):
    """The same, with a word on the kernel's command line in each result's name."""
    return Part(lambda: list(named(word, guest())), guest.parts)


# Of an architecture's parts, those that take longer than a step that is done beside them.
LONGEST = 3


def _all_of(store, name, parts, beside=()):
    """The results of parts, some of which are done at a time; what is done beside them gives none
    here.
    """
    jobs = [functools.partial(_part, store, name, *part) for part in parts]
    jobs[LONGEST:LONGEST] = [functools.partial(_beside, step) for step in beside]
    for results in tests.side_by_side(jobs):
        yield from named(name, results)


def _beside(step):
    step.begin()
    return ()


class Ahead:
    """A step that can be done ahead of its turn, beside the parts of another.

    store, name, parts, function    as of Store.once()
    """

    def __init__(self, store, name, parts, function):
        self.store, self.name, self.parts, self.function = store, name, parts, function
        self._found = None

    def begin(self):
        """Do it now, unless it is known: what it gives is kept for its turn."""
        key = made.safely(self.parts)
        if self.store.known(self.name, key) is None:
            self._found = key, _timed(self.name, self.name, results_of(self.name, self.function))

    def __call__(self):
        """What it gives: of before only if it would be made from the same now."""
        key, results = self._found or (None, None)
        return results if results and made.safely(self.parts) == key else self.function()


def _taking_turns(store, name, kdir, beside=()):
    """Tests whose guests' CPUs take turns: each needs one of ours; what is to be done beside them.

    What takes longest comes first.
    """
    shows = name == tests.SHOWS
    left_out, ftracetest = tests.ftracetest_guests(name, kdir)
    own = tests.install_selftests(name, kdir, tests.OWN)
    selftests = tests.selftests_guest(name, kdir, but=tests.LONG_SELFTESTS.get(name, ()))
    ends = ENDS + SAME_ENDS * shows
    first, *others = [(f"ftracetest {number}", guest) for number, guest in enumerate(ftracetest, 1)]
    parts = [
        (
            "selftests",
            onebyone.OneByOne(store, f"{name}: selftests", selftests),
        ),
        # From nothing: two perfs are built for it.
        (
            "the main job",
            Part(
                functools.partial(_main_job, name), functools.partial(_main_job_parts, name, kdir)
            ),
        ),
        first,
        ("torture", torture.torture_guest(name, kdir, own)),
        ("KUnit", tests.kunit_guest(name, kdir)),
        *others,
        *(("selftests that count", guest) for guest in tests.counted_guests(name, kdir)),
        *(
            ("selftests with an isolated CPU", guest)
            for guest in tests.isolated_guests(name, kdir, own=own)
        ),
        (
            "guests",
            Part(
                functools.partial(_guests, name, kdir, ends),
                functools.partial(_guests_parts, name, kdir),
            ),
        ),
        *(
            (f"ending {number}", guest)
            for number, guest in enumerate(endings.endings_guests(name, kdir, own), 1)
        ),
        *(
            (f"KUnit with {word}", _with(word, tests.kunit_guest(name, kdir, word)))
            for word in arches.get(name).kunit_also
        ),
    ]
    yield from _all_of(store, name, parts, beside)
    yield from named(name, left_out)


def _part(store, name, title, part):
    """The results of a part, which may be known; one that breaks is itself a failed test."""
    function = functools.partial(store.once, f"{name}: {title}", part.parts, part)
    return _timed(f"{name}: {title}", title, results_of(title, function))


def _timed(name, part, results):
    """Results as they come, of a part of a step: with the time that it has taken."""
    begin = time.monotonic()
    with working(name):
        found = list(results)
    spent = time.monotonic() - begin
    say(f"{name}: {spent:.0f} s")
    return [replace(each, part=part, seconds=None if each.unchanged else spent) for each in found]


def _built_and_tested(store, name, beside):
    """Build and boot one architecture's kernel, and test it if it has a backend.

    beside  the steps that are done ahead of their turn meanwhile: see Ahead
    """
    kdir = kernel.build_kernel(name)
    yield Result(f"{name}: builds with the series", PASSED)
    beyond = made.read_beyond(name, kdir, series.source_tree())
    yield Result(
        f"{name}: is made from nothing of other architectures",
        FAILED if beyond else PASSED,
        ", ".join(beyond[:5]),
    )
    if arches.get(name).isolates:
        yield unwatched.result(name, kdir)
    if arches.get(name).real_mode:
        yield from named(name, realmode.real_mode(name, kdir))
    guest = boots_guest(name, kdir)
    booted = list(results_of("boots", store.once, f"{name}: boots", guest.parts, guest))
    yield from named(name, booted)
    if arches.get(name).has_backend and all(each.status == PASSED for each in booted):
        yield from _taking_turns(store, name, kdir, beside)


def _architecture_parts(name):
    """What all that is made from."""
    foreign = [initramfs.busybox(name)]
    if arches.get(name).has_backend:
        foreign += [
            initramfs.static_program(name, tests.BASH, "bash-static"),
            *made.folder(perf.foreign_libraries(name)),
        ]
    real_mode = arches.get(name).real_mode
    return [
        list(made.architecture(name)),
        foreign,
        made.modules(
            "guests.kernel",
            "guests.boot",
            "guests.tests",
            "guests.torture",
            "guests.endings",
            "guests.onebyone",
            "records.run",
            "results.kept",
            "results.made",
            "results.report",
            "code.unwatched",
            *["code.realmode"] * real_mode,
        ),
        [
            paths.DEV / "textpoke/checks/check.py",
            paths.DEV / "textpoke/cli.py",
            paths.DEV / "tp",
            UNIT_TESTS / "test_boot.py",
            unwatched.LIST,
            *[realmode.ACCEPTED] * real_mode,
        ],
    ]


def _trace(store, name):
    return Ahead(
        store,
        f"{name}: trace",
        functools.partial(trace.parts, name),
        functools.partial(trace.checked, name),
    )


def _architecture(report, name):
    """Its kernel, its guests and, where there is an encoder for one, a short trace."""
    store = report.store or kept.Store()
    traced = [_trace(store, name)] if name in trace.MACHINES else []
    report.step(
        f"{name}: kernel and guests",
        _built_and_tested,
        store,
        name,
        [step for step in traced if report.wanted(step.name)],
        parts=functools.partial(_architecture_parts, name),
    )
    for step in traced:
        report.step(step.name, step, parts=step.parts)


def names(options):
    """ARCH, or all of them: those with a backend first."""
    if options.get("ARCH"):
        return [options.arch]
    own = [name for name, arch in arches.ARCHES.items() if not arch.kind_of]
    return sorted(own, key=lambda name: not arches.ARCHES[name].has_backend)


def everything(report, architectures):
    """All of check, into a report."""
    say(f"{os.cpu_count()} CPUs; everything generated goes to {paths.BUILD}")
    report.step("series: gates", gates.results, parts=NOTHING)
    report.step("tools: standards", standards.results, parts=NOTHING)
    report.step("series: Debian's suites", suites.fits, parts=NOTHING)
    report.step("tools: tests that need no series", _alone, "tools", ALONE, parts=_tested_alone)
    others = *READERS, *ALONE
    report.step("tools: unit tests", _unit_tests, "tools", "test_*.py", others, parts=_tested)
    for name in READERS:
        report.step(f"tools: {name}", _unit_tests, "tools", name, parts=NOTHING)
    models.run(report)
    report.step("perf: tests", perf.host_tests, parts=perf.host_parts)
    for name in architectures:
        _architecture(report, name)


def main(options):
    """`check`: all of it, or what concerns one architecture."""
    kind = Named if options.flag("LIST") else Picked
    report = kind(kept.Store(options.flag("FRESH")), options.get("ONLY", "*")).into("check")
    everything(report, names(options))
    return report.end()


def formal():
    """`models`: the formal models and their mutants, all of them, for that is what is asked for."""
    report = Report().into("models")
    models.run(report)
    return report.end()


def _one(options, command, *parts):
    """Parts of check on one kernel, as a command of its own."""
    report, name = Report().into(command), options.arch
    kdir = kernel.build_kernel(name, llvm=options.flag("LLVM"))
    for part in parts:
        report.step(f"{name}: {part.__name__}", lambda part=part: named(name, part(name, kdir)))
    return report.end()


def kunit(options):
    """`kunit`: the KUnit suites."""
    return _one(options, "kunit", tests.kunit)


def kselftest(options):
    """`kselftest`: the selftests."""
    return _one(options, "kselftest", tests.selftests, tests.ftracetest)


def torment(options):
    """`torture`: MINUTES of the torture test."""
    minutes, smp = options.number("MINUTES", torture.MINUTES), options.number("SMP", torture.SMP)

    def tortured(name, kdir):
        return torture.torture(name, kdir, minutes, options.get("APPEND", ""), smp)

    return _one(options, "torture", tortured)
