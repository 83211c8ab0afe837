# SPDX-License-Identifier: GPL-2.0
"""Run the kernel's tests in a guest: KUnit suites and selftests, with the kernel's own tools."""

import functools
import json
import os
import re
import shutil
import sys
import tarfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import arch as arches
from .. import paths
from ..errors import HANG, OK, PANIC, TEST_FAILED
from ..results import known, ktap, made
from ..say import run, say
from ..series import series
from . import boot, initramfs, kernel

LOG = "log_buf_len=4M"
CHECK = "checks.check"
KUNIT_SUITES = (
    "text_poke",
    "text_poke_conformance",
    "text_poke_debug",
    "text_poke_fault",
    "text_poke_group",
    "text_poke_input",
    "text_poke_live",
    "text_poke_probe",
    "text_poke_record",
    "text_poke_tracepoint",
    "text_poke_user",
    "kprobes_test",
)
OWN = ("text_poke",)
SELFTESTS = (*OWN, "static_keys")
# What targets of theirs need, and not every kernel has, as tools/dev/config says and why.
NEEDS = {"livepatch": "LIVEPATCH"}
NO_TICK = "nohz_full=1"  # what makes CPU 1 one that text pokes leave alone in user mode
ISOLATED = ("text_poke:isolated_cpus_are_left_alone",)
# The architecture that shows in make check what is the same on each; check-full has the others.
SHOWS = "x86"
# One shell script that forks all the time: it takes as long as everything else together, so
# its folders are shared out to two guests that run side by side. All that is not named here
# is in the first one's share; these change text by tracepoints alone, through the same code
# on each architecture.
FTRACETEST = ("ftrace",)
SHARE = ("00basic", "dynevent", "event", "filter", "instances", "trigger")
# Cases that look at the words of commands, at buffers or at files alone, and change no text:
# check-full has them.
NO_TEXT = (
    "00basic/mount_options.tc",
    "00basic/ringbuffer_size.tc",
    "00basic/ringbuffer_subbuf_size.tc",
    "00basic/test_ownership.tc",
    "00basic/trace_marker.tc",
    "dynevent/eprobes_syntax_errors.tc",
    "dynevent/fprobe_syntax_errors.tc",
    "kprobe/kprobe_syntax_errors.tc",
    "kprobe/uprobe_syntax_errors.tc",
    "trigger/trigger-hist-syntax-errors.tc",
    "trigger/trigger-trace-marker-hist.tc",
    "trigger/trigger-trace-marker-snapshot.tc",
    "trigger/trigger-trace-marker-synthetic.tc",
    "trigger/inter-event/trigger-synthetic-event-createremove.tc",
    "trigger/inter-event/trigger-synthetic-event-syntax.tc",
    "trigger/inter-event/trigger-synthetic_event_syntax_errors.tc",
)
# It loads modules beside each tracer, eight times over, which takes longer on these than
# everything else that runs at the same time. kprobe-direct.tc has direct calls there, and
# check-full has this case.
LONG = {name: ("direct/ftrace-direct.tc",) for name in ("powerpc", "riscv")}
PROGRAMS = ("usr/bin/chrt", "sbin/insmod")
BASH = ("bash-static",)
# Under emulation, on a machine that does other things too.
TIMEOUT = 1800
SKIPPED_CASE = re.compile(r"ok \d+ (\S.*?) # SKIP (\S.*)")
NO_KNOB = re.compile(r"no knob of (\S+) in this kernel")
HAS_KNOBS = "the workload has its knobs"
WARNED = re.compile(r"cut here \]-+\n(?:\[[^\]]*\] )?(.+)")


def sent(result, name):
    """A file that the guest has sent, as text; '' if it sent none."""
    try:
        with tarfile.open(result.out_tar) as tar:
            member = tar.extractfile(name)
            assert member, f"{name} is a file"
            return member.read().decode(errors="replace")
    except (tarfile.TarError, KeyError, EOFError):
        return ""


def _words(result):
    """What the first warning of the console says:
    its words stand above the line that has WARNING in it.
    """
    return WARNED.findall(result.console)[:1]


def guest_results(what, result):
    """How the guest itself ended: it gave its verdict, and the kernel did not complain."""
    ended = ktap.PASSED if result.code in (OK, TEST_FAILED) else ktap.FAILED
    quiet = ktap.FAILED if result.badness else ktap.PASSED
    complaint = ": ".join([result.badness[0].strip(), *_words(result)]) if result.badness else ""
    return [
        ktap.Result(
            f"{what}: the guest ends by itself",
            ended,
            "" if ended == ktap.PASSED else result.reason,
        ),
        ktap.Result(f"{what}: the kernel does not complain", quiet, complaint),
    ]


def in_guest(name, kdir, initrd, append="", smp=2, timeout=TIMEOUT, qemu_args=""):
    """Boot a guest whose CPUs take turns.

    These tests look at what CPUs execute while text changes. CPUs that run side by side can
    go on with code that memory no longer holds, through no fault of the kernel: see
    boot.accelerator().
    """
    result = boot.boot(
        name,
        kdir,
        initrd,
        smp=smp,
        append=f"{LOG} {append}".strip(),
        timeout=timeout,
        echo=False,
        turns=True,
        qemu_args=qemu_args,
    )
    if result.code in (PANIC, HANG):
        boot.report(result)
    return result


@dataclass(frozen=True)
class Guest:
    """What boots a guest and gives results. What these are made from can be told before."""

    name: object  # the architecture
    kdir: Path
    initrd: Callable  # builds it
    judge: Callable  # a function from how the guest went to the results
    how: dict = field(default_factory=dict)  # words for what boots it
    boot: Callable | None = None  # what boots it; None: in_guest
    more: tuple = ()  # what else is judged by: parts to be hashed

    def __post_init__(self):
        # What is hashed is what is booted.
        object.__setattr__(self, "initrd", functools.cache(self.initrd))

    def __call__(self, **more):
        boots = self.boot or in_guest
        return list(self.judge(boots(self.name, self.kdir, self.initrd(), **self.how | more)))

    def parts(self):
        """The guest to the last bit, what is known of its tests, and the code that judges."""
        judges = self.judge.func if isinstance(self.judge, functools.partial) else self.judge
        boots = self.boot or in_guest
        whole = {each.__module__ for each in (judges, boots)}
        code = {name.removeprefix("textpoke.") for name in whole if name.startswith("textpoke.")}
        names = (known.ALL, str(self.name), self.kdir.name)
        lists = [path for name in dict.fromkeys(names) if (path := known.FOLDER / name).exists()]
        # The whole of check uses every module there is.
        own = [paths.DEV / "textpoke/checks/check.py"] if CHECK in code else []
        return [
            boot.identity(self.name, self.kdir, self.initrd(), **self.how),
            judges.__qualname__,
            boots.__qualname__,
            made.modules("guests.tests", *code - {CHECK}),
            own,
            [[path.name, path] for path in lists],
            list(self.more),
        ]


# KUnit

# The kernel's own reading of the log, by its own parser: name, status, log and parts of each test.
PARSE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import kunit_parser
def told(test):
    tests = list(map(told, test.subtests))
    return {"name": test.name, "status": test.status.name, "log": test.log, "tests": tests}
with open(sys.argv[2]) as log:
    parsed = kunit_parser.parse_run_tests(kunit_parser.extract_tap_lines(log))
with open(sys.argv[3], "w") as out:
    json.dump(told(parsed), out)
"""
STATUS = {"SUCCESS": ktap.PASSED, "SKIPPED": ktap.SKIPPED}
# What KUnit says first of what is wrong.
WRONG = re.compile(r"# .*?((?:EXPECTATION|ASSERTION) FAILED at \S+)")


def _parsed(log, folder):
    """What the kernel's parser makes of a log."""
    text, out = folder / "kunit.log", folder / "kunit.json"
    text.write_text(log)
    out.unlink(missing_ok=True)
    run(
        [
            sys.executable,
            "-B",
            "-c",
            PARSE,
            series.source_tree() / "tools/testing/kunit",
            text,
            out,
        ],
        log=paths.LOGS / "kunit-parse.log",
        what="reading the KUnit results",
        check=False,
    )
    return (
        json.loads(out.read_text())
        if out.exists()
        else {"name": "", "status": "FAILURE", "log": [], "tests": []}
    )


def _reasons(log):
    """Why cases of KUnit were skipped, which its parser does not tell: name -> reason."""
    return dict(SKIPPED_CASE.findall(log))


def _case(name, test, reasons, place):
    """One case of KUnit; one that failed says where, what else it said, and where there is more."""
    status, said = STATUS.get(test["status"], ktap.FAILED), [line.strip() for line in test["log"]]
    if status != ktap.FAILED:
        return ktap.Result(
            name, status, reasons.get(test["name"], "") if status == ktap.SKIPPED else ""
        )
    where = [match[1] for match in map(WRONG.search, said) if match]
    what = where[0] if where else test["status"].lower().replace("_", " ")
    return ktap.Result(name, status, f"{what}; see {place}", before=tuple(said))


def _cases(test, reasons, place, path=""):
    """Every case of what the parser has read, below the names of its suites.

    A suite without any is one that failed.
    """
    name = f"{path}: {test['name']}" if path else test["name"]
    for sub in test["tests"]:
        yield from _cases(sub, reasons, place, "" if test["name"] in ("", "main") else name)
    if not test["tests"] and test["name"]:
        yield _case(name, test, reasons, place)


def _kunit_results(name, kdir, result):
    """What is made of a guest that ran the suites; one that did not run is a failure."""
    # A guest that died has sent nothing; its console tells how far the tests got.
    said = sent(result, "kunit.log") or result.console
    expected = known.load(name, kdir.name)
    folder = result.out_tar.parent
    found = [
        known.judge(case, expected)
        for case in _cases(_parsed(said, folder), _reasons(said), folder / "kunit.log")
    ]
    ran = [case.name for case in found if case.status != ktap.SKIPPED]
    for suite in KUNIT_SUITES + arches.get(name).kunit:
        if not any(case.startswith(f"{suite}: ") for case in ran):
            missing = ktap.Result(
                f"{suite}: the suite ran", ktap.FAILED, "there is no result of it"
            )
            found.append(known.judge(missing, expected))
    return found + guest_results("KUnit", result)


def kunit_guest(name, kdir, append="", smp=2, timeout=TIMEOUT):
    """What boots a guest that runs the KUnit suites,
    and reads its log with the kernel's own tool.
    """
    how = {"append": f"kunit.enable=1 {append}".strip(), "smp": smp, "timeout": timeout}
    reader = [part for part in made.folder(series.source_tree() / "tools/testing/kunit")]
    return Guest(
        name,
        kdir,
        lambda: initramfs.build_initramfs(name, job=initramfs.GUEST / "kunit.sh"),
        functools.partial(_kunit_results, name, kdir),
        how,
        more=tuple(reader),
    )


def kunit(name, kdir, append="", smp=2, timeout=TIMEOUT):
    """Results of the KUnit suites; one that did not run is a failure."""
    say(f"KUnit on {name}{append and ': '}{append}")
    return kunit_guest(name, kdir, append, smp, timeout)()


# Selftests


def install_selftests(name, kdir, targets, use=""):
    """The selftests of some targets, built static for an architecture;
    returns their folder, one for each use.
    """
    arch, tree = arches.get(name), series.source_tree()
    dest = kdir / "-".join(["selftests", *targets, *filter(None, [use])])
    shutil.rmtree(dest, ignore_errors=True)
    # Some tests have modules. What is built for another machine is linked with GCC's libraries.
    llvm = [f"LLVM={kernel.LLVM}"] if kernel.built_by_llvm(kdir) and not arch.cross else []
    common = [
        "make",
        "-s",
        f"ARCH={arch.name}",
        f"CROSS_COMPILE={arch.cross}",
        *llvm,
        f"-j{os.cpu_count()}",
    ]
    run(
        [*common, "-C", tree, f"O={kdir}", "headers"],
        log=paths.LOGS / f"headers-{name}.log",
        what="the kernel's headers",
    )
    # Modules are made among their sources, and may be left from another kernel. Not both at once:
    # make does what it can side by side.
    for what in "clean", "install":
        run(
            [
                *common,
                "-C",
                tree / "tools/testing/selftests",
                f"O={kdir}",
                f"KDIR={kdir}",
                f"KHDR_INCLUDES=-isystem {kdir}/usr/include",
                # Without what has the source's path in it: in another clone they are the same.
                "LDFLAGS=-static -Wl,-S",
                f"TARGETS={' '.join(targets)}",
                f"INSTALL_PATH={dest}",
                "FORCE_TARGETS=1",
                what,
            ],
            log=paths.LOGS / f"selftests-{name}.log",
            what=f"building the selftests for {name}",
        )
    return dest


def ours(folder, *names):
    """Some of our own selftests, of those in a folder: guest path -> file."""
    places = [f"{OWN[0]}/{name}" for name in names]
    return {f"selftests/{place}": folder / place for place in places}


def program(name, kdir, what, words=()):
    """One of our programs for guests, built static into the kernel's folder;
    words: more for the compiler.
    """
    arch = arches.get(name)
    run(
        [
            f"{arch.cross}gcc",
            *arch.program,
            "-static",
            "-O2",
            *words,
            initramfs.GUEST / f"{what}.c",
            "-o",
            kdir / what,
        ],
        log=paths.LOGS / f"{what}-{name}.log",
        what=f"building {what}",
    )
    return kdir / what


def build_modules(name, kdir, source, dest):
    """Our modules in a folder, built in another for a kernel: guest path -> file."""
    arch = arches.get(name)
    shutil.rmtree(dest, ignore_errors=True)
    shutil.copytree(source, dest)
    run(
        [
            "make",
            "-s",
            f"-j{os.cpu_count()}",
            "-C",
            kdir,
            f"ARCH={arch.source}",
            f"CROSS_COMPILE={arch.cross}",
            f"M={dest}",
            "modules",
        ],
        log=paths.LOGS / f"{source.name}-{kdir.name}.log",
        env=dict.fromkeys(kernel.UNSET),
        what=f"building modules for {kdir.name}",
    )
    return {f"{source.name}/{path.name}": path for path in sorted(dest.glob("*.ko"))}


def programs(name, kdir):
    """Programs that tests want and busybox has not, or not as they want them."""
    found = {where: program(name, kdir, Path(where).name) for where in PROGRAMS}
    return found | {"bin/bash": initramfs.static_program(name, BASH, "bash-static")}


def possible(kdir, targets):
    """Those of some targets that can be built for a kernel, and a result for each other one."""
    lacks = {
        target: symbol
        for target, symbol in NEEDS.items()
        if target in targets and not kernel.has(kdir, symbol)
    }
    return tuple(target for target in targets if target not in lacks), [
        ktap.Result(target, ktap.SKIPPED, f"this kernel has no {symbol}: tools/dev/config says why")
        for target, symbol in lacks.items()
    ]


def _installed(name, kdir, targets):
    """The folder of the selftests of targets, the results of those that are left out there,
    and the programs that they want.
    """
    folder = install_selftests(name, kdir, targets)
    return folder, list(known.leave_out(name, folder, kdir.name)), programs(name, kdir)


def knobs(text):
    """A failure if a workload was not all that was asked for:
    a replay goes on without what the kernel lacks.

    In our kernels it lacks nothing, unless it is listed as known.
    """
    if lacking := dict.fromkeys(
        name for names in NO_KNOB.findall(text) for name in names.split(",")
    ):
        yield ktap.Result(
            f"{OWN[0]}: {HAS_KNOBS}", ktap.FAILED, f"no knob of {', '.join(lacking)} in this kernel"
        )


def _selftests_results(name, kdir, targets, folder, left_out, result):
    """What the selftests' runner says, as results."""
    text = sent(result, "selftests.ktap")
    (kdir / f"{folder.name}.ktap").write_text(text)
    expected = known.load(name, kdir.name)
    found = [known.judge(each, expected) for each in (*ktap.parse(text), *knobs(text))]
    return left_out + found + guest_results(", ".join(targets), result)


@dataclass(frozen=True)
class Selftests(Guest):
    """A guest for the selftests in a folder."""

    folder: Path = Path()
    programs: dict = field(default_factory=dict)  # that they want besides
    left_out: tuple = ()  # results of what is not run

    def _of(self, use, listed, without=()):
        share = _with_tests(self.folder, use, listed, without)
        return selftests_in(
            self.name, self.kdir, _targets(listed), share, self.programs, **self.how
        )

    def some(self, listed):
        """What boots a guest for some of the tests, target:program, alone."""
        return self._of("some", listed)

    def common(self):
        """The same guest with none of them, to tell what it is."""
        return self._of("common", (), without=known.listed(self.folder))


def _targets(listed):
    return tuple(dict.fromkeys(test.split(":")[0] for test in listed))


def _with_tests(folder, use, listed, without=()):
    """A copy of installed selftests in which the runner is told of some; without the files of
    others.
    """
    copy = _copied(folder, use)
    known.tell(copy, listed)
    for test in without:
        known.file_of(copy, test).unlink()
    return copy


def _unused(folder, listed):
    """The tests in a folder that some tests do not need: they may change as they like."""
    tests = known.listed(folder)
    used = known.used(folder, tests)
    return set(tests).difference(*(used[test] for test in listed))


def _copied(folder, use):
    """A copy of installed selftests beside them."""
    copy = folder.with_name(f"{folder.name}-{use}")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, symlinks=True)
    return copy


def selftests_in(name, kdir, targets, folder, programs, left_out=(), **how):
    """What boots a guest for the selftests in a folder, and judges what their runner says."""

    def initrd():
        extra = {"selftests": folder, **programs}
        return initramfs.build_initramfs(
            name, extra=extra, job=initramfs.GUEST / "selftests.sh", args=targets, kdir=kdir
        )

    more = [f"{each.name} {each.status} {each.note}" for each in left_out]
    return Selftests(
        name,
        kdir,
        initrd,
        functools.partial(_selftests_results, name, kdir, targets, folder, list(left_out)),
        how,
        more=tuple(more),
        folder=folder,
        programs=programs,
        left_out=tuple(left_out),
    )


def run_selftests(name, kdir, targets, folder, programs, **how):
    """The results of that."""
    return selftests_in(name, kdir, targets, folder, programs, **how)()


# Two minutes where a breakpoint is stepped over by a debug exception, for signals of perf's that
# the series does not change: check-full has it with every kind of kernel.
LONG_SELFTESTS = {"arm64": ("perf_events:sigtrap_threads",)}


def selftests_guest(name, kdir, append="", smp=2, targets=(), but=()):
    """What boots a guest for the selftests of all targets, or of some, which are built now;
    it gives their results.

    but     TARGET:PROGRAM of what is not run
    """
    targets = targets or SELFTESTS + arches.get(name).selftests
    targets, lacking = possible(kdir, targets)
    say(f"selftests on {name}: {', '.join(targets)}")
    folder, left_out, helpers = _installed(name, kdir, targets)
    if but:
        known.tell(folder, [test for test in known.listed(folder) if test not in but])
    left_out += lacking
    return selftests_in(name, kdir, targets, folder, helpers, left_out, append=append, smp=smp)


def listed_guest(name, kdir, listed, append="", smp=2, use="listed", installed=None, **how):
    """What boots a guest for the listed TARGET:PROGRAM of the selftests alone; it gives their
    results.

    installed   the folder of these targets, or they are built now
    """
    targets = _targets(listed)
    say(f"selftests on {name}: {', '.join(listed)}")
    # In a folder of its own: others of these targets wait for their guests.
    if installed:
        folder = _with_tests(installed, use, listed, without=_unused(installed, listed))
    else:
        folder = install_selftests(name, kdir, targets, use=use)
        known.tell(folder, listed)
    return selftests_in(
        name, kdir, targets, folder, programs(name, kdir), append=append, smp=smp, **how
    )


def counted_guests(name, kdir, append="", smp=2):
    """What boots a guest that can count instructions, for the selftests that do;
    none if there are none.
    """
    if counted := arches.get(name).counted:
        yield listed_guest(name, kdir, counted, append, smp, qemu_args=boot.COUNTED)


def isolated_guests(name, kdir, append="", smp=2, own=None):
    """What boots a guest whose second CPU has no tick, for the selftest that runs a program
    there; none if that is not left alone.

    own     the folder of our own selftests, or they are built now
    """
    if arches.get(name).isolates:
        words = f"{NO_TICK} {append}".strip()
        yield listed_guest(name, kdir, ISOLATED, words, smp, use="isolated", installed=own)


def selftests(name, kdir, append="", smp=2, targets=()):
    """Results of the selftests: of all, or of some."""
    guests = (
        []
        if targets
        else [*counted_guests(name, kdir, append, smp), *isolated_guests(name, kdir, append, smp)]
    )
    return [
        *selftests_guest(name, kdir, append, smp, targets)(),
        *(result for guest in guests for result in guest()),
    ]


def job_of_ours(name, kdir, job, append, smp, selftests=True, more=None, machine=None):
    """A guest whose job speaks the words of the selftests' runner: what it says, and how it ended.

    more       what else it finds there, as of initramfs
    machine    the architecture's Arch with something changed, that boots it
    """
    say(f"{job} on {name}")
    extra = ({"selftests": install_selftests(name, kdir, OWN)} if selftests else {}) | (more or {})
    initrd = initramfs.build_initramfs(
        name, extra=extra, job=initramfs.GUEST / f"{job}.sh", kdir=kdir
    )
    result = in_guest(machine or name, kdir, initrd, append, smp)
    return ktap.parse(sent(result, "selftests.ktap")), guest_results(job, result)


# What stays.sh loads.
STAYS_MODULES = initramfs.GUEST / "stays-modules"
# What a kernel that is locked down from the start must not do.
LOCKED_BOOT = "lockdown=integrity text_poke.busted=no-sync-c text_poke_torture.run=1"


def lockdown(name, kdir, append="", smp=2):
    """Which task may record, and which may break the kernel, in each mode of lockdown;
    for a kernel that can be locked down.
    """
    for job, words, selftests in ("lockdown", append, True), (
        "locked-boot",
        f"{LOCKED_BOOT} {append}",
        False,
    ):
        said, ended = job_of_ours(name, kdir, job, words, smp, selftests)
        yield from (*said, *ended)


def lkdtm(name, kdir, append="", smp=2):
    """Calls and returns that go astray are caught, traps or no traps;
    the guest itself looks for other complaints.
    """
    if reason := arches.get(name).lkdtm:
        return [ktap.Result("lkdtm", ktap.SKIPPED, reason)]
    said, ended = job_of_ours(name, kdir, "lkdtm", append, smp)
    return said + ended[:1]


def stays(name, kdir, append="", smp=2):
    """What a static call or ftrace could not stop calling stays;
    the guest itself looks for other complaints than that about it.
    """
    more = build_modules(name, kdir, STAYS_MODULES, kdir / STAYS_MODULES.name)
    said, ended = job_of_ours(name, kdir, "stays", append, smp, selftests=False, more=more)
    return said + ended[:1]


def samples(name, kdir, append="", smp=2):
    """The kernel's own samples of direct calls and of callbacks come, say what they are to say,
    and go; twice.
    """
    said, ended = job_of_ours(name, kdir, "samples", append, smp, selftests=False)
    return said + ended


# What has to have been seen for the kernel to be right about Ziccif.
ZICCIF = ("ziccif: announced-and-no-warning", "ziccif: absent-and-told")


def ziccif(name, kdir, append="", smp=2):
    """The kernel tells where harts do not announce Ziccif, and only there: it is booted on the
    usual CPU and on one that does not, and both have to be seen.
    """
    arch = arches.get(name)
    lacking = set(ZICCIF)
    for cpu in arch.cpu, arch.no_ziccif:
        machine = replace(arch, cpu=cpu)
        said, ended = job_of_ours(
            name, kdir, "ziccif", append, smp, selftests=False, machine=machine
        )
        lacking -= {each.name for each in said if each.status == ktap.PASSED}
        yield from (*said, *ended)
    yield ktap.Result(
        "ziccif: seen with and without",
        ktap.FAILED if lacking else ktap.PASSED,
        f"not seen: {', '.join(sorted(lacking))}" if lacking else "",
    )


def scripts(name, kdir, append="", smp=2):
    """The kernel's own scripts of an architecture that change text and look for complaints."""
    folder = series.source_tree() / "tools/testing/selftests"
    more = {f"scripts/{Path(script).name}": folder / script for script in arches.get(name).scripts}
    said, ended = job_of_ours(
        name, kdir, "scripts", append, smp, selftests=False, more=more | programs(name, kdir)
    )
    return said + ended


# ftracetest


def _share(folder, use, wanted):
    """The installed tests with some cases only: those whose paths are wanted."""
    share = _copied(folder, use)
    home = share / "ftrace/test.d"
    for path in sorted(home.rglob("*.tc")):
        if not wanted(str(path.relative_to(home))):
            path.unlink()
    return share


def _guest_of(case, name):
    """Which of an architecture's guests in make check has a case, 1 or 2; 0: none has."""
    if case in NO_TEXT or case in LONG.get(name, ()):
        return 0
    second = case.split("/")[0] in SHARE
    if second and name != SHOWS:
        return 0
    return 1 + second


def shares(folder, name):
    """Every case that make check has on an architecture, in one of up to two copies of the
    installed tests.
    """
    return [
        _share(folder, number, lambda case, number=number: _guest_of(case, name) == number)
        for number in ((1, 2) if name == SHOWS else (1,))
    ]


_jobs = 2  # guests at a time


def take(jobs):
    """Have that many guests at a time, as the user wants it."""
    global _jobs  # pylint: disable=global-statement
    _jobs = jobs


def side_by_side(functions, at_once=None):
    """The results of functions, some of which run at the same time;
    the first error of theirs is ours.

    In daemon threads, so that an interruption ends the guests with us.
    """
    waiting = iter(range(len(functions)))
    done: list[tuple[object, BaseException | None]] = [(None, None)] * len(functions)

    def run_some():
        for i in waiting:
            try:
                done[i] = functions[i](), None
            except BaseException as error:
                done[i] = None, error

    threads = [threading.Thread(target=run_some, daemon=True) for _ in range(at_once or _jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _, error in done:
        if error:
            raise error
    return [result for result, _ in done]


def rest(folder, name):
    """A copy with those cases that make check leaves out on an architecture."""
    return _share(folder, "rest", lambda case: not _guest_of(case, name))


def _ftracetest(name, kdir, take, append, smp):
    """The results of the cases that are left out, and what boots a guest for each copy with
    others: those that take(folder, architecture) makes.
    """
    folder, left_out, helpers = _installed(name, kdir, FTRACETEST)
    return left_out, [
        selftests_in(name, kdir, FTRACETEST, share, helpers, append=append, smp=smp)
        for share in take(folder, arches.get(name).name)
    ]


def ftracetest_guests(name, kdir, append="", smp=2):
    """The function tracer's own tests: the results of those that are left out,
    and what boots guests for the others that make check has.
    """
    left_out, guests = _ftracetest(name, kdir, shares, append, smp)
    say(f"ftracetest on {name}, in {'two guests' if len(guests) > 1 else 'a guest'}")
    return left_out, guests


def ftracetest_rest(name, kdir, append="", smp=2):
    """The results of what make check leaves out."""
    _, (guest,) = _ftracetest(name, kdir, lambda *what: [rest(*what)], append, smp)
    return guest()


def ftracetest(name, kdir, append="", smp=2):
    """Results of all of the function tracer's own tests."""
    left_out, guests = _ftracetest(
        name, kdir, lambda *what: [*shares(*what), rest(*what)], append, smp
    )
    return [result for results in (left_out, *side_by_side(guests)) for result in results]
