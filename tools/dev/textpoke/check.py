# SPDX-License-Identifier: GPL-2.0
"""`make check`: every test, one line each, and the count as the last line.

What costs least comes first. A step that cannot be carried out is a failed test with its
reason, and the steps that do not depend on it go on.
"""

import functools
import os
import re
import sys
import traceback
from dataclasses import replace

from . import arch as arches
from . import boot, endings, gates, host, initramfs, kernel, ktap, models, paths, tests, torture
from .errors import OK, TEST_FAILED, Fail
from .ktap import FAILED, PASSED, SKIPPED, Result
from .say import run as command
from .say import say

WORDS = {PASSED: "ok", FAILED: "not ok", SKIPPED: "skip"}
UNIT_TESTS = paths.DEV / "tests"
# unittest's words: the test, and the error that ended it.
WRONG = re.compile(r"(FAIL|ERROR): |[\w.]*(Error|Fail): ")


def _results(name, function, *args):
    """What a step gives, as it comes; what breaks it is a failed test."""
    try:
        yield from function(*args)
    except Fail as failure:
        yield Result(name, FAILED, failure.message)
    except Exception as error:  # a mistake in these tools must not hide the other tests
        traceback.print_exc()
        yield Result(name, FAILED, f"{type(error).__name__}: {error}")


class Report:
    """Prints results as they come, and counts them; failures once more at the end."""

    def __init__(self):
        self.count = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self.failed = []

    def add(self, results):
        for result in results:
            self.count[result.status] += 1
            note = f" ({result.note})" if result.note else ""
            print(f"{WORDS[result.status]} {result.name}{note}", flush=True)
            for line in result.said:
                print(f"    {line}", flush=True)
            if result.status == FAILED:
                self.failed.append(f"failed: {result.name}{note}")

    def step(self, name, function, *args):
        """Add what a step gives; one that breaks is itself a failed test. Returns whether all passed."""
        before = self.count[FAILED]
        self.add(_results(name, function, *args))
        return self.count[FAILED] == before

    def end(self):
        """The last lines, and the exit code."""
        counts = [f"{self.count[status]} {status}" for status in (PASSED, FAILED, SKIPPED)]
        print("\n".join([*self.failed, ", ".join(counts)]), flush=True)
        return TEST_FAILED if self.count[FAILED] or not self.count[PASSED] else OK


# The steps

def _gates():
    for name, gate in gates.GATES:
        try:
            gate()
            yield Result(f"series: {name}", PASSED)
        except Fail as failure:
            yield Result(f"series: {name}", FAILED, failure.message)


def _why(log):
    """Which of a file's unit tests failed, and with which words."""
    found = [line for line in log.read_text(errors="replace").splitlines() if WRONG.match(line)]
    return "; ".join([*found[:6], f"see {log}"])


def _unit_tests(prefix, env=None):
    """The tools' own tests, a line per file."""
    host.need(*host.BUILD)
    for path in sorted(UNIT_TESTS.glob("test_*.py")):
        log = paths.LOGS / f"{prefix.replace(' ', '-')}-{path.stem}.log"
        status = command([sys.executable, "-m", "unittest", "-v", path], log=log, what=f"{prefix}: {path.stem}",
                         env=env, cwd=paths.DEV, check=False)
        yield Result(f"{prefix}: {path.stem}", FAILED if status else PASSED, _why(log) if status else "")


def boots(name, kdir, append="", smp=2, paging=""):
    """The kernel boots to our init with all its CPUs, with that paging, and has nothing to complain about.

    Its CPUs take turns where its text changes meanwhile, as in all tests: see tests.in_guest().
    """
    initrd = initramfs.build_initramfs(name, job=boot.HELLO, args=[str(smp), *filter(None, [paging])])
    result = boot.boot(name, kdir, initrd, append=append, smp=smp, echo=False, turns=arches.get(name).has_backend)
    booted = result.verdict == 0 and result.code == OK
    if not booted:
        boot.report(result)
    yield Result("boots", PASSED if booted else FAILED, "" if booted else result.reason)
    complaint = result.badness[0].strip() if result.badness else ""
    yield Result("boots without a complaint", FAILED if complaint else PASSED, complaint)


def _build(name):
    kernel.build_kernel(name)
    yield Result(f"{name}: builds with the series", PASSED)


def named(prefix, results):
    """The same results under an architecture's name."""
    return (replace(result, name=f"{prefix}: {result.name}") for result in results)


def _guests(name, kdir):
    """How `make boot` tells the ends of a guest apart, with real guests."""
    log = paths.LOGS / f"guests-{name}.log"
    status = command([sys.executable, "-m", "unittest", "-v", "tests.test_boot.Guest"], log=log, cwd=paths.DEV,
                     what="booting guests that pass, fail, panic and hang", env={"ARCH": name, "KDIR": str(kdir)}, check=False)
    yield Result("guests that pass, fail, panic and hang are told apart", FAILED if status else PASSED, _why(log) if status else "")


def _main_job(name):
    """`make run`, whose verdict is its exit status; what it prints goes into a log."""
    log = paths.LOGS / f"run-{name}.log"
    code = command([paths.DEV / "tp", "run", f"ARCH={name}"], log=log, what=f"the main job on {name}", check=False)
    yield Result("the main job records, decodes and replays", FAILED if code else PASSED, f"see {log}" if code else "")


def _taking_turns(name, kdir):
    """Tests whose guests' CPUs take turns: each needs one of ours. What takes longest comes first."""
    left_out, ftracetest = tests.ftracetest_guests(name, kdir)
    own = tests.install_selftests(name, kdir, tests.OWN)
    parts = [
        *(("ftracetest", guest) for guest in ftracetest),
        ("selftests", tests.selftests_guest(name, kdir)),
        *(("selftests that count", guest) for guest in tests.counted_guests(name, kdir)),
        ("torture", functools.partial(torture.torture_guest, name, kdir, own)),
        ("the main job", functools.partial(_main_job, name)),
        ("KUnit", functools.partial(tests.kunit, name, kdir)),
        ("guests", functools.partial(_guests, name, kdir)),
        *(("endings", guest) for guest in endings.endings_guests(name, kdir, own)),
    ]
    for results in tests.side_by_side([lambda part=part: list(_results(*part)) for part in parts]):
        yield from named(name, results)
    yield from named(name, left_out)


def _architecture(report, name):
    """Build and boot one architecture's kernel, and test it if it has a backend."""
    if not report.step(f"{name}: builds with the series", _build, name):
        return
    kdir = kernel.folder(name)
    if report.step(f"{name}: boots", lambda: named(name, boots(name, kdir))) and arches.get(name).has_backend:
        report.step(f"{name}: guests", _taking_turns, name, kdir)


def names(options):
    """ARCH, or all of them: those with a backend first."""
    if options.get("ARCH"):
        return [options.arch]
    own = [name for name, arch in arches.ARCHES.items() if not arch.kind_of]
    return sorted(own, key=lambda name: not arches.ARCHES[name].has_backend)


def everything(report, architectures):
    """All of check, into a report."""
    say(f"{os.cpu_count()} CPUs; everything generated goes to {paths.BUILD}")
    report.step("series: gates", _gates)
    report.step("tools: unit tests", _unit_tests, "tools")
    models.run(report)
    for name in architectures:
        _architecture(report, name)


def main(options):
    """`check`: all of it, or what concerns one architecture."""
    report = Report()
    everything(report, names(options))
    return report.end()


def formal():
    """`models`: the formal models and their mutants."""
    report = Report()
    models.run(report)
    return report.end()


def _one(options, *parts):
    """Parts of check on one kernel, as a command of its own."""
    report, name = Report(), options.arch
    kdir = kernel.build_kernel(name, llvm=options.flag("LLVM"))
    for part in parts:
        report.step(f"{name}: {part.__name__}", lambda part=part: named(name, part(name, kdir)))
    return report.end()


def kunit(options):
    """`kunit`: the KUnit suites."""
    return _one(options, tests.kunit)


def kselftest(options):
    """`kselftest`: the selftests."""
    return _one(options, tests.selftests, tests.ftracetest)


def torment(options):
    """`torture`: MINUTES of the torture test."""
    minutes, smp = options.number("MINUTES", torture.MINUTES), options.number("SMP", torture.SMP)

    def tortured(name, kdir):
        return torture.torture(name, kdir, minutes, options.get("APPEND", ""), smp)

    return _one(options, tortured)
