# SPDX-License-Identifier: GPL-2.0
"""`make torture`: the kernel's torture test of text pokes,
beside everything else that gets in the way.

The guest starts the test when it boots. Then, for some minutes, records are replayed over
and over, CPUs come and go, functions are traced and live patched, memory is short, page
tables are looked through and all CPUs are sampled and interrupted; see guest/torture.sh.
The test itself, and CPUs that come and go, stop the machine. What came of it are results as
of any other test, and a line of figures.
"""

import functools
import re
from collections import Counter
from dataclasses import dataclass, field

from .. import arch as arches
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..say import say
from . import initramfs, tests

MINUTES = 2
SMP = 2
# Of every minute: a tenth, or less, of what a guest does on a busy machine. Others are slower.
A_MINUTE = {"pokes_min": 2000, "calls_min": 100, "traps_min": 5, "cycles_min": 2, "undone_min": 2}
# Where less of it comes: on powerpc guards are short, and a busy machine meets four a minute whose
# instruction has a slot.
LESS = {"powerpc": {"traps_min": 1}}
# The same of what is not judged by the kernel, everywhere and where an architecture names it; at
# least one of each.
EVERYWHERE = {
    "guarded": 100,
    "listeners": 5,
    "probings": 8,
    "probe-hits": 5000,
    "site-probings": 4,
    "site-hits": 500,
    "refused": 10,
    "preempted": 200,
    "modules": 0.2,
    "modules-again": 0.1,
    "graph": 1,
    "pressure": 0.2,
    "wx-looks": 1,
    "suspend": 0.5,
    "backtraces": 1,
    "samples": 200,
}
SOMEWHERE = {"livepatch": 0.04, "calls-nmi": 500, "pseudo-nmis": 0}
# With this on the command line.
ISOLATING = "nohz_full="
LEFT_ALONE = {"left-alone": 10}
HOTPLUG = 25  # jiffies that a CPU is away, and there
FAULTS = 5  # of a hundred batches, that are made to fail midway
# For what the guest does besides, and for the replay that has just begun.
GRACE = 900
END = re.compile(r"^--- End of test: (?P<word>\w+):(?P<figures>.*)$", re.M)
WRONG = re.compile(r"^!!! (.*)$", re.M)
CASE = re.compile(r"(?P<no>not )?ok \d+ (?P<skip># SKIP )?(?P<name>\w+)(?:: (?P<note>.*))?$")


@dataclass
class Replay:
    """One replay: how it was run, what it said, how it ended."""

    how: str
    cases: list = field(default_factory=list)
    planned: int | None = None
    status: int | None = None

    @property
    def complete(self):
        """It has ended by itself, with as many cases as it had planned."""
        return self.status in (0, 1) and self.planned == len(self.cases)

    def number(self, case, which=0):
        """The first number that a case has mentioned, or a later one."""
        for result in self.cases:
            if result.name == case and which < len(found := re.findall(r"\d+", result.note)):
                return int(found[which])
        return 0


# Reading what the guest has sent


def end_of_test(text):
    """The kernel's verdict and its figures; ('', {}) if it gave none."""
    found = END.findall(text)
    if not found:
        return "", {}
    word, figures = found[-1]
    return word, {
        name: int(value) for name, _, value in (pair.partition("=") for pair in figures.split())
    }


def counts(text):
    """name -> number."""
    return {name: int(number) for name, number in (line.split() for line in text.splitlines())}


def replays(text):
    """Every replay of a log."""
    found = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "replay":
            found.append(Replay(rest))
        elif not found:
            continue
        elif word == "status":
            found[-1].status = int(rest)
        elif plan := re.fullmatch(r"1\.\.(\d+)", line):
            found[-1].planned = int(plan[1])
        elif case := CASE.match(line):
            status = FAILED if case["no"] else SKIPPED if case["skip"] else PASSED
            found[-1].cases.append(Result(case["name"], status, case["note"] or ""))
    return found


# Judging


def _result(name, good, note=""):
    return Result(name, PASSED if good else FAILED, "" if good else note)


def _kernel_result(text):
    word, _ = end_of_test(text)
    wrong = WRONG.findall(text)
    said = f"its verdict is {word}" if word else "it gave no verdict"
    return _result("the kernel's torture test", word == "SUCCESS", "; ".join(wrong[:3]) or said)


def _case_result(name, cases):
    """One result for what a case has said in every replay."""
    notes = [case.note for case in cases if case.status == FAILED]
    if notes:
        return Result(
            f"replay: {name}",
            FAILED,
            f"in {len(notes)} of {len(cases)} replays: {'; '.join(notes[:3])}",
        )
    if all(case.status == SKIPPED for case in cases):
        return Result(f"replay: {name}", SKIPPED, cases[0].note)
    return Result(f"replay: {name}", PASSED)


def replay_results(runs):
    """A result for each case, over all replays; and whether these were complete."""
    cases = [case for run in runs for case in run.cases]
    for name in dict.fromkeys(case.name for case in cases):
        yield _case_result(name, [case for case in cases if case.name == name])
    cut = [run for run in runs if not run.complete]
    yield _result(
        "every replay ran to its end",
        runs and not cut,
        f"{len(cut)} of {len(runs)} did not" if cut else "there was none",
    )


def wanted(name, minutes, append=""):
    """what -> how often it must have been done, besides what the kernel judges itself."""
    least = EVERYWHERE | {what: SOMEWHERE[what] for what in arches.get(name).torture}
    if ISOLATING in append:
        least |= LEFT_ALONE
    return {what: max(1, int(number * minutes)) for what, number in least.items()}


def results(name, sent, minutes=MINUTES, append=""):
    """All results of a run of some minutes, from the files that the guest has sent."""
    runs, done = replays(sent["replay"]), figures(sent)
    yield _kernel_result(sent["kernel"])
    yield from replay_results(runs)
    yield from tests.knobs(sent["replay"])
    pages = done.get("wx-pages", 0)
    yield _result(
        "no page can be written and executed", not pages, f"there were some in {pages} looks"
    )
    missing = [
        f"{done.get(what, 0)} of {least} {what}"
        for what, least in wanted(name, minutes, append).items()
        if done.get(what, 0) < least
    ]
    yield _result(
        "everything was done that was to be done", not missing, f"too little: {', '.join(missing)}"
    )


def figures(sent):
    """name -> number: the kernel's, the replays' together, and what else was done."""
    total: Counter = Counter()
    runs = replays(sent["replay"])
    for run in runs:
        total["replays"] += 1
        total["records"] += run.number("enough_records")
        total["lost"] += run.number("none_lost")
        total["replay-cycles"] += run.number("enough_cycles")
        total["modules"] += run.number("modules_came")
        total["modules-again"] += run.number("modules_came", 1)
    return end_of_test(sent["kernel"])[1] | dict(total) | counts(sent["counts"])


def in_words(done):
    """The figures in a line: traps and calls by kind, the rest as they are."""
    return ", ".join(f"{name} {number}" for name, number in done.items())


# Running


def parameters(arch, minutes):
    """The kernel's: to be started at boot, and how little is a failure."""
    given = {
        "run": 1,
        "onoff_interval": HOTPLUG,
        "faults": FAULTS,
        "stat_interval": 10,
        "stutter": 1,
    }
    given |= {name: least * minutes for name, least in (A_MINUTE | LESS.get(str(arch), {})).items()}
    return " ".join(f"text_poke_torture.{name}={value}" for name, value in given.items())


def _guest_results(name, minutes, append, result):
    """What a guest has sent, judged."""
    sent = {file: tests.sent(result, file) for file in ("kernel", "replay", "counts")}
    for file, text in sent.items():
        (result.folder / file).write_text(text)
    print(f"{name}: {in_words(figures(sent))}", flush=True)
    return [*results(name, sent, minutes, append), *tests.guest_results("torture", result)]


def torture_guest(name, kdir, folder, minutes=MINUTES, append="", smp=SMP):
    """What boots a guest with our selftests in a folder for some minutes of it,
    and judges what it has sent.
    """

    def initrd():
        extra = tests.ours(folder, "replay")
        extra |= {"bin/sample": tests.program(name, kdir, "sample")}
        return initramfs.build_initramfs(
            name, extra=extra, job=initramfs.GUEST / "torture.sh", args=[60 * minutes], kdir=kdir
        )

    append = " ".join(
        filter(None, (parameters(name, minutes), arches.get(name).torture_append, append))
    )
    how = {"append": append, "smp": smp, "timeout": 60 * minutes + GRACE}
    return tests.Guest(
        name, kdir, initrd, functools.partial(_guest_results, name, minutes, append), how
    )


def torture(name, kdir, *how):
    """Results of some minutes of it, with selftests that are built now."""
    say(f"torture on {name}")
    return torture_guest(name, kdir, tests.install_selftests(name, kdir, tests.OWN), *how)()


def for_a_while(name, kdir, append="", smp=SMP, minutes=MINUTES):
    """The same, for as long as make check does it, or as a variant needs."""
    return torture(name, kdir, minutes, append, smp)
