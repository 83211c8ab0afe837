# SPDX-License-Identifier: GPL-2.0
"""`make fuzz`: perf reads files that are broken, and has to say so.

perf's decoders apply records to the kernel's image while they decode. A perf of the series, built
with the address and the undefined behaviour sanitizer, is given

* files that are broken in ways which have a name, each with what perf has to say of it;
* what AFL++ makes of small files with trace, text pokes, symbols and an image of the kernel, mostly
  by mutate.py, which knows what a record is.

No input may crash perf or keep it busy for ever. That both would be noticed is seen with faults put
into perf on purpose (tools/dev/fuzz/fault.c).
"""

import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from .. import host, paths
from ..errors import INFRA, MISSING, Fail
from ..guests import kernel, perf, tests
from ..records import perfdata
from ..results import made
from ..results.ktap import FAILED, PASSED, Result
from ..results.report import Report, named
from ..results.tables import FOLDER as TABLES
from ..results.tables import rows
from ..say import die_with_us, output, run, say
from ..series import base as bases
from ..series import series
from ..trace import mutate, small, trace

SOURCE = paths.DEV / "fuzz"
FOLDER = paths.BUILD / "fuzz"
ACCEPTED = TABLES / "accepted/fuzz"
PACKAGES = ("afl++", "clang", "libclang-rt-dev", "llvm")
FUZZER, RUNTIME = AFL = "afl-fuzz", "/usr/lib/afl/afl-compiler-rt.o"
# What is linked in, what it stands before, and what is told the compiler.
LINKED, LISTS = ("fault.c", "mapped.c"), ("covered", "ignored", "uncounted.h")
WRAPPED = ("mmap", "munmap", "perf_event__text_poke_valid")
MINUTES = 10
# Inputs a second that a fuzzer tries at least, and places in perf that they reach together. With
# three times as much to do as there are cores, of 2.6 GHz, it is 36 at least, 30 in a run of eight
# seconds, and 1250 places, of which 84 if perf opens no file.
LEAST, REACHED = 2, 700
# ms of an input; s until one that took longer is a hang, and then until it has told where it is.
PATIENCE, HANG, GRACE = 1000, 20, 20
# s until a fault is to be found, and then, for a machine that is slow or busy.
SOON = (30, 120)
# Inputs of a run that are looked at when it has ended, and of those that took long, each of which
# may take HANG again.
LOOKED, LOOKED_LONG = 60, 4

# Not the alignment: perf reads events where a file has them, on machines that can.
LOOKS = "-fsanitize=address,undefined -fno-sanitize=alignment -fno-sanitize-recover=undefined"
OPTIONS = {
    "ASAN_OPTIONS": "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1:"
    "handle_abort=1:symbolize={}",
    "UBSAN_OPTIONS": "abort_on_error=1:halt_on_error=1:print_stacktrace=1:symbolize={}",
}
QUIET = {
    name: "1"
    for name in (
        "AFL_NO_UI",
        "AFL_NO_AFFINITY",
        "AFL_SKIP_CPUFREQ",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
        "AFL_FAST_CAL",
        "AFL_DISABLE_TRIM",
    )
}


# The perf


def _objects():
    """What is linked in besides. Others have other names, so that perf is linked again."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in LINKED:
        source = SOURCE / name
        target = FOLDER / f"{source.stem}-{made.digest([source])[:8]}.o"
        output(["clang", "-O1", "-Wall", "-c", source, "-o", target], what=f"building {name}")
        yield target


def build_perf(base=False):
    """A perf with only what decoding needs, that says what it does wrong, and what it reaches.

    base  that of the base, to see what is wrong with that as well
    """
    host.need(*host.BUILD, *host.PERF, *PACKAGES)
    for part in AFL:
        if not shutil.which(part, os.F_OK):
            raise Fail(MISSING, f"{part} is missing, though afl++ is installed: install that again")
    covered = f"-fsanitize-coverage-allowlist={SOURCE / 'covered'}"
    ignored = f"-fsanitize-ignorelist={SOURCE / 'ignored'}"
    # Without the assertions, as for users: what they stand before is looked at instead.
    words = f"-O1 -g -DNDEBUG=1 -Wno-error -fno-omit-frame-pointer {LOOKS}"
    mark = made.digest([SOURCE / name for name in LISTS])[:8]
    wraps = [f"--wrap={name}" for name in WRAPPED]
    linked = " ".join(
        [
            "-fsanitize=address,undefined",
            *map(str, _objects()),
            RUNTIME,
            *(f"-Wl,{wrap}" for wrap in wraps),
        ]
    )
    options = (
        f"CC={kernel.cached('clang')}",
        "HOSTCC=gcc",
        *perf.COMMON,
        *perf.GUEST,
        "CORESIGHT=1",
        "WERROR=0",
        # What is in the lists belongs to the words, for make and for the cache.
        f"EXTRA_CFLAGS={words} -DFUZZ_LISTS=0x{mark} -include {SOURCE / 'uncounted.h'} "
        f"-fsanitize-coverage=trace-pc-guard {covered} {ignored}",
        # perf's objects are first made one, in which its functions have found each other.
        f"LD=ld {' '.join(wraps)}",
        f"LDFLAGS={linked}",
    )
    source, name, what = (
        (bases.base_source(), "perf-fuzz-base", "the base's perf, to compare with")
        if base
        else (series.source_tree(), "perf-fuzz", "perf for the fuzzer")
    )
    return perf.build(source, paths.BUILD / name, options, what)


# What it is given

MODULE, MODULE_LENGTH = "mod", 0x1000
ROUNDS = 6


@dataclass(frozen=True)
class Seed:
    """A guest, its trace, and what perf recorded in it."""

    guest: small.Guest
    unit: perfdata.Unit
    stream: perfdata.Stream
    time: int

    @property
    def end(self):
        """Behind the kernel, where its module is."""
        return self.guest.BASE + small.LENGTH

    def parts(self, *more):
        """The recording with more events before the end of it."""
        guest, slot = self.guest, self.end + 0x100000
        events = (
            small.place(self.end, MODULE_LENGTH, f"[{MODULE}]"),
            small.symbol(self.time - 50, slot, 64, "slot"),
            small.poke(self.time - 40, slot, b"", guest.OLD),
            small.poke(self.time - 30, self.end - 8, guest.FILLER[:1] * 4, guest.FILLER[:1] * 4),
            *more,
            small.symbol(self.time + 50, slot, 64, "slot", small.GONE),
        )
        return perfdata.with_trace(guest.recording(self.time, events), self.unit, [self.stream])

    def data(self, *more):
        return perfdata.build(self.parts(*more))


UNITS = {
    "Intel PT": (small.X86, perfdata.PT),
    "CoreSight": (small.Arm, perfdata.ETM),
}


def seeds(program, folder):
    """Unit -> Seed."""
    found = {}
    for name, (kind, unit) in UNITS.items():
        guest, place = kind(), folder / kind.ARCH
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        at = guest.whole(ROUNDS)
        guest.log.write(place)
        output([program, "encode", guest.ARCH, place], what="encoding")
        found[name] = Seed(guest, unit, perfdata.Stream((place / "aux.0").read_bytes()), at)
    return found


# Files that are broken in ways which have a name

BROKEN = r"records of changed kernel text are broken"
ENDS = r"exit status [1-9]"
# Nothing is said then but that there is vmlinux alone, where that is so.
FINE = r"(?s)\A(.*There is no copy of the kernel.*)?exit status 0\n\Z"
NOWHERE = r"changes of kernel text are where perf knows of no code"


def _poke(addr="site", old=b"", new=b"\x90" * 4, **fields):
    """A text poke, then with other fields than it should have."""

    def event(seed):
        places = {
            "site": seed.guest.BASE + seed.guest.SITE,
            "behind": seed.end - 2,
            "last": seed.end + MODULE_LENGTH - 2,
            "outside": seed.end + 0x10000000,
            "end of all": (1 << 64) - 2,
        }
        found = bytearray(small.poke(seed.time + 10, places[addr], old, new))
        for name, value in fields.items():
            offset = {"size": 6, "old_len": 16, "new_len": 18}[name]
            struct.pack_into("<H", found, offset, value)
        return bytes(found)

    return event


def _symbol(addr, length):
    return lambda seed: small.symbol(seed.time + 10, addr or seed.end + 0x200000, length, "other")


@dataclass(frozen=True)
class Bad:
    """What is wrong with a file, an event or a feature that it has besides, and what perf says."""

    name: str
    event: Callable | None
    says: str = ""
    cut: float = 1  # how much of the file there is
    feature: int | None = None

    def data(self, seed):
        parts = seed.parts(*[self.event(seed)] if self.event else [])
        if self.feature is not None:
            parts = replace(parts, features=parts.features | {self.feature: b""})
        whole = perfdata.build(parts)
        return whole[: int(self.cut * len(whole))]


BAD = (
    # And what the trace needs is there.
    Bad("nothing is wrong", None, FINE),
    Bad("more old bytes than there are", _poke(old_len=0xFFFF), BROKEN),
    Bad("more new bytes than there are", _poke(new_len=0xFFFF), BROKEN),
    Bad("both", _poke(old_len=0xFFFF, new_len=0xFFFF), BROKEN),
    Bad("a record that ends before its lengths", _poke(size=16), f"{BROKEN}|{ENDS}"),
    Bad("a record of no length", _poke(size=0), ENDS),
    Bad("a record that is longer than the file", _poke(size=0xFFF8), ENDS),
    Bad("a length that is no multiple of 8", _poke(size=51), f"{BROKEN}|{ENDS}"),
    Bad("no new bytes", _poke(old=b"\x90" * 4, new=b"")),
    Bad("no old bytes", _poke()),
    Bad("no bytes", _poke(new=b"")),
    Bad("a change across two maps", _poke("behind")),
    Bad("a change across the end of the last map", _poke("last"), NOWHERE),
    Bad("a change outside of any map", _poke("outside"), NOWHERE),
    Bad("a change across the end of all addresses", _poke("end of all"), NOWHERE),
    Bad("a symbol of no length", _symbol(0, 0)),
    Bad("a symbol that is longer than there is room", _symbol((1 << 64) - 4096, 0xFFFFFFFF)),
    Bad("a file that is cut in its events", None, ENDS, 0.2),
    Bad("a file that is cut in its trace", None, r"has \d+ of \d+ bytes of data", 0.8),
    Bad("a feature that only another perf knows", None, FINE, feature=255),
)


# How perf is run

SCRIPT, INJECT = "perf script", "perf inject"
MOVED = 0x2000000  # the kernel of another boot
IMAGES = ("kcore", "vmlinux", "no image", "kcore of another boot", "kcore that is cut")


@dataclass(frozen=True)
class Run:
    """A trace unit, what reads a file, and with which image of the kernel."""

    unit: str
    tool: str
    image: str

    @property
    def name(self):
        return f"{self.unit}, {self.tool}, {self.image}"

    @property
    def folder(self):
        return FOLDER / "runs" / re.sub(r"\W+", "-", self.name)

    @property
    def is_folder(self):
        return self.image.startswith("kcore")

    def input(self, folder):
        """The file that is broken."""
        return folder / ("perf.data/data" if self.is_folder else "perf.data")

    def command(self, binary, folder):
        words = {
            SCRIPT: ["script", "--itrace=be", "-F", "cpu,time,ip,addr", "--ns"],
            INJECT: ["inject", "--itrace=be", "--strip", "-o", folder / "out.data"],
        }[self.tool]
        if self.image == "vmlinux":
            words += ["-k", folder / "vmlinux"]
        if self.image == "no image":
            # Else perf takes that of the machine it is run on.
            words += ["--symfs", folder / "empty"]
        return [binary, *words, "-i", folder / "perf.data"]

    def lay(self, seed, folder):
        """All that perf reads besides the file."""
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "empty").mkdir(parents=True)
        (folder / "vmlinux").write_bytes(small.vmlinux(seed.guest))
        if not self.is_folder:
            return
        kcore_dir = folder / "perf.data/kcore_dir"
        kcore_dir.mkdir(parents=True)
        moved = MOVED if "another" in self.image else 0
        module = seed.guest.FILLER * (MODULE_LENGTH // len(seed.guest.FILLER))
        kcore = small.kcore(seed.guest, [(seed.end + moved, module)], moved)
        if "cut" in self.image:
            kcore = kcore[: small.PAGE + small.LENGTH // 2]
        (kcore_dir / "kcore").write_bytes(kcore)
        (kcore_dir / "kallsyms").write_text(small.kallsyms(seed.guest, moved))
        (kcore_dir / "modules").write_text(
            f"{MODULE} {MODULE_LENGTH} 0 - Live 0x{seed.end + moved:016x}\n"
        )


# What changes most is first: the last ones are short of time if the machine is slow.
RUNS = (
    *(
        Run(unit, tool, image)
        for image in IMAGES[:2]
        for tool in (SCRIPT, INJECT)
        for unit in UNITS
    ),
    *(Run(unit, SCRIPT, image) for image in IMAGES[2:] for unit in UNITS),
)


def environment(folder, symbols, fault=None):
    """What perf sees of it. symbols: whether stacks have names, which takes a second."""
    return {
        **{name: value.format(int(symbols)) for name, value in OPTIONS.items()},
        "HOME": folder,
        "PERF_CONFIG": "/dev/null",
        "TEXT_POKE_FAULT": fault,
    }


# What it does wrong

POKE_BYTES = 20  # where a text poke's bytes begin, behind two lengths
EVENTS_AT = 5  # where the events begin, of a file's header
NOTHING = 82  # an event that perf looks at no further: its record of all that was there at first
FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ in (?P<function>\S+) (?P<file>[^\s():]+):(?P<line>\d+)")
ASAN = re.compile(r"ERROR: AddressSanitizer: ([\w-]+)")
UBSAN = re.compile(r"runtime error: (.+)")
ENDLESS = "takes for ever"
# Of the sanitizers and the libraries, which do what they are told.
OTHERS = re.compile(r"compiler-rt|llvm|/usr/|\.\./sysdeps|\./(?:string|stdlib|nptl|csu)/")
SHOWN = 6  # frames of a stack


@dataclass(frozen=True)
class Wrong:
    """What perf has done with an input: where, and the stack that led there."""

    what: str
    function: str
    stack: tuple = ()

    @property
    def is_endless(self):
        return self.what == ENDLESS

    @property
    def alike(self):
        """What two have in common that are the same mistake."""
        return self.what, self.function

    @property
    def functions(self):
        """The stack's, the innermost first."""
        return [frame.split()[0] for frame in self.stack] or [self.what]

    @property
    def words(self):
        stack = " < ".join(self.stack[:SHOWN])
        return f"{self.what} in {self.function}: {stack}" if stack else self.what


def wrong(text, status, endless=False):
    """What a run of perf has done wrong, by what it said and how it ended; or None.

    endless  it was ended, and said where it was
    """
    found = ASAN.search(text) or UBSAN.search(text)
    if not found and status >= 0:
        return None
    # Behind an empty line there is where the memory came from.
    report = text[found.start() :].partition("\n\n")[0] if found else ""
    frames = [
        (frame["function"], f"{Path(frame['file']).name}:{frame['line']}")
        for frame in FRAME.finditer(report)
        if not OTHERS.search(frame["file"])
    ]
    what = re.sub(r"0x[0-9a-f]+|-?\d+", "N", found[1]) if found else f"status {status}"
    stack = tuple(f"{function} {place}" for function, place in frames)
    return Wrong(ENDLESS if endless else what, frames[0][0] if frames else "?", stack)


def _ended(process, patience):
    """(what a process says until it ends, or is ended; whether it was)."""
    for seconds, number in ((patience, signal.SIGABRT), (GRACE, signal.SIGKILL)):
        try:
            return process.communicate(timeout=seconds)[1], number == signal.SIGKILL
        except subprocess.TimeoutExpired:
            # The address sanitizer tells where perf is, as if that had aborted.
            process.send_signal(number)
    return process.communicate()[1], True


def perf_with(where, binary, folder, data, fault=None, patience=None):
    """(what perf says of an input, and how it ends; what it has done wrong)."""
    where.input(folder).write_bytes(data)
    own = {name: str(value or "") for name, value in environment(folder, True, fault).items()}
    with subprocess.Popen(
        [str(word) for word in where.command(binary, folder)],
        env=os.environ | own,
        preexec_fn=die_with_us,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            words, endless = _ended(process, patience or HANG)
        finally:
            process.kill()
    said, status = words.decode(errors="replace"), process.returncode
    return f"{said}exit status {status}\n", wrong(said, status, endless)


def accepted(text=None):
    """(function, what) of what perf of the base does, both patterns -> the reason."""
    return {
        (function, what): reason
        for function, what, reason in rows(ACCEPTED, "function | what | reason", text)
    }


def is_known(found, known):
    """Whether perf of the base is known to do that: the function may be anywhere in the stack."""
    return any(
        fnmatch(found.what, what) and any(fnmatch(each, function) for each in found.functions)
        for function, what in known
    )


def keep(where, folder, data, found, said=""):
    """What has gone wrong, in a folder of its own with all that perf read; returns it."""
    words = f"{found.what}-{found.function}-{where.unit}-{where.tool}"
    place = FOLDER / "found" / re.sub(r"\W+", "-", words)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("out", "in", "out.data*"))
    where.input(place).write_bytes(data)
    (place / "said").write_text(said)
    own = {name: value for name, value in environment(place, True).items() if value}
    script = [f"{name}={shlex.quote(str(value))} \\" for name, value in own.items()]
    command = shlex.join(map(str, where.command(paths.BUILD / "perf-fuzz/perf", place)))
    (place / "again.sh").write_text("\n".join(["#!/bin/sh", *script, command]) + "\n")
    (place / "again.sh").chmod(0o755)
    return place


def _result(name, faults, note=""):
    return Result(name, FAILED if faults else PASSED, "; ".join(faults) or note)


def _as_base(others):
    """What is wrong with the base as well, as a note."""
    return f"as the base: {'; '.join(sorted(others))}" if others else ""


def _is_whole(poke):
    """Whether the bytes of a text poke are where it says that they are."""
    size = perfdata.EVENT.unpack_from(poke)[2]
    if size < POKE_BYTES or size % 8:
        return False
    return POKE_BYTES + sum(struct.unpack_from("<HH", poke, POKE_BYTES - 4)) <= size


def without_broken_pokes(data):
    """A file in which text pokes that perf of the series leaves out are nothing to perf of the
    base either, which gives up there and does not come to what is wrong behind them.
    """
    found = bytearray(data)
    try:
        at = perfdata.HEADER.unpack_from(data)[EVENTS_AT]
        for event in perfdata.parse(data, broken=True).events:
            if len(event) >= perfdata.EVENT.size:
                if perfdata.kind_of(event) == perfdata.TEXT_POKE and not _is_whole(event):
                    struct.pack_into("<I", found, at, NOTHING)
            at += len(event)
    except (ValueError, struct.error):
        # It is no file as perf writes them.
        return data
    return bytes(found)


class Known:
    """What perf of the base does as well: of a table, or tried once more with that perf, which is
    built when something has been found.
    """

    def __init__(self, table):
        self.table, self.binary, self.lock = table, None, threading.Lock()

    def _base(self):
        with self.lock:
            self.binary = self.binary or build_perf(base=True)
        return self.binary

    def has(self, found, where, folder, data):
        if is_known(found, self.table):
            return True
        return any(
            self._does(found, perf_with(where, self._base(), folder, each)[1])
            for each in dict.fromkeys((data, without_broken_pokes(data)))
        )

    @staticmethod
    def _does(found, other):
        # The same access is now out of bounds, now of no memory, by what lies beside it; a function
        # that is called once may be a part of its caller.
        # Where it is that takes for ever is chance.
        return bool(other) and (
            bool(set(other.functions[:2]) & set(found.functions[:2]))
            or other.is_endless
            and found.is_endless
        )


# The files that are broken in ways which have a name


def bad_results(binary, given, known):
    """A result for each way: what each run of perf says, and does wrong."""
    for bad in BAD:
        faults, others = [], set()
        for where in RUNS:
            seed, folder = given[where.unit], where.folder / "bad"
            where.lay(seed, folder)
            said, found = perf_with(where, binary, folder, data := bad.data(seed))
            if found and known.has(found, where, folder, data):
                others.add(f"{found.what} in {found.function}")
            elif found:
                place = keep(where, folder, data, found, said)
                faults.append(f"{where.name}: {found.words}: {place}")
            elif where.image in IMAGES[:2] and not re.search(bad.says, said):
                faults.append(f"{where.name}: does not say `{bad.says}`")
        yield _result(f"broken file: {bad.name}", faults, _as_base(others))


# AFL++


def _statistics(path):
    """What AFL++ says of a run: name -> text."""
    parts = (line.partition(":") for line in paths.noted(path).splitlines())
    return {name.strip(): value.strip() for name, _, value in parts}


@dataclass(frozen=True)
class Fuzzed:
    """What came of a run: how many inputs were tried, and those that are worth a look."""

    tried: int
    seconds: int
    reached: int
    crashes: tuple
    hangs: tuple


def fuzz(where, binary, seed, seconds, fault=None):
    """Have AFL++ make inputs of the broken files; with a fault, of the one that is not broken."""
    folder = where.folder / (fault or "fuzz")
    where.lay(seed, folder)
    begin, out = folder / "in", folder / "out"
    begin.mkdir()
    # With a fault the named ways would find it at once.
    for number, bad in enumerate(BAD[:1] if fault else BAD):
        (begin / f"{number:02}").write_bytes(bad.data(seed))
    words = {
        **environment(folder, False, fault),
        **QUIET,
        "AFL_PYTHON_MODULE": mutate.__name__,
        "PYTHONPATH": paths.DEV,
        "AFL_HANG_TMOUT": 2 * PATIENCE,
        # Seeds may be among what perf is not right with.
        "AFL_SKIP_CRASHES": "1",
        "AFL_IGNORE_TIMEOUTS": "1",
    }
    limits = ["-m", "none", "-t", f"{PATIENCE}+", "-V", seconds, "-f", where.input(folder)]
    log = paths.LOGS / f"fuzz-{where.folder.name}{f'-{fault}' * bool(fault)}.log"
    status = run(
        [FUZZER, "-i", begin, "-o", out, *limits, "--", *where.command(binary, folder)],
        log=log,
        what=f"fuzzing: {where.name}",
        env=words,
        timeout=seconds + 600,
        check=False,
    )
    found = _statistics(out / "default/fuzzer_stats")
    if "execs_done" not in found:
        raise Fail(INFRA, f"afl-fuzz has tried nothing (status {status}): see {log}")
    crashes, hangs = (
        tuple(sorted((out / "default" / kind).glob("id*"))) for kind in ("crashes", "hangs")
    )
    tried, time, reached = (
        int(found.get(name, 0)) for name in ("execs_done", "run_time", "edges_found")
    )
    return Fuzzed(tried, time, reached, crashes, hangs)


@dataclass
class Found:
    """What some inputs do: what is wrong, one of them, and how many there are."""

    wrong: Wrong
    data: bytes
    said: str
    count: int = 1


def looked_at(where, binary, inputs, fault=None, patience=None):
    """What inputs do when they are tried once more, those alike as one."""
    found: dict = {}
    folder = where.folder / (fault or "fuzz")
    for path in inputs[:LOOKED]:
        data = path.read_bytes()
        said, each = perf_with(where, binary, folder, data, fault, patience)
        if each and each.alike in found:
            found[each.alike].count += 1
        elif each:
            found[each.alike] = Found(each, data, said)
    return list(found.values())


def judge(where, fuzzed, found, known):
    """Results of a run: of how much was tried, and of what the base does not do."""
    least, folder = LEAST * fuzzed.seconds, where.folder / "fuzz"
    note = f"{fuzzed.tried} in {fuzzed.seconds} s, which reach {fuzzed.reached} places"
    few = [f"only {note}, not {least}"] if fuzzed.tried < least else []
    shallow = [f"only {note}, not {REACHED}"] if fuzzed.reached < REACHED else []
    yield _result(f"{where.name}: enough is tried", few + shallow, note)
    others = [each for each in found if known.has(each.wrong, where, folder, each.data)]
    for name, hangs in (("crashes", False), ("takes for ever", True)):
        faults = [
            f"{each.wrong.words}: {each.count} inputs, "
            f"{keep(where, folder, each.data, each.wrong, each.said)}"
            for each in found
            if each not in others and each.wrong.is_endless == hangs
        ]
        same = {
            f"{each.wrong.what} in {each.wrong.function}"
            for each in others
            if each.wrong.is_endless == hangs
        }
        yield _result(f"{where.name}: no input {name}", faults, _as_base(same))


def _part(where, binary, seed, seconds, known):
    fuzzed = fuzz(where, binary, seed, seconds)
    found = looked_at(where, binary, [*fuzzed.hangs[:LOOKED_LONG], *fuzzed.crashes])
    return list(judge(where, fuzzed, found, known))


# Faults that have to be found


FAULTS = (
    ("lengths", "lengths that are trusted", RUNS[0]),
    ("loop", "a record that is looked at for ever", RUNS[1]),
)


def _found(binary, given, fault, seconds):
    """(how many inputs were tried, what they do with a fault in perf that they do not without)."""
    name, _, where = fault
    hangs, folder = name == "loop", where.folder / name
    fuzzed = fuzz(where, binary, given[where.unit], seconds, name)
    inputs = fuzzed.hangs[:LOOKED_LONG] if hangs else fuzzed.crashes
    return fuzzed.tried, [
        each.wrong
        for each in looked_at(where, binary, inputs, name, patience=5)
        if each.wrong.is_endless == hangs and not perf_with(where, binary, folder, each.data)[1]
    ]


def proof(binary, given, fault):
    """With a fault in perf something has to be found that is not there without it."""
    tried = []
    for seconds in SOON:
        count, found = _found(binary, given, fault, seconds)
        tried.append(f"{count} inputs in {seconds} s")
        if found:
            break
    yield _result(
        f"a fault is found: {fault[1]}",
        [] if found else [f"it is not, by {' and '.join(tried)}"],
        f"{found[0].words} by {' and '.join(tried)}" if found else "",
    )


# The command


def results(minutes=MINUTES):
    """All of it, in so many minutes besides what building takes, and the faults."""
    binary, known, at_once = build_perf(), Known(accepted()), os.cpu_count()
    given = seeds(trace.build_program(paths.BUILD / "trace/bin"), FOLDER / "seeds")
    shutil.rmtree(FOLDER / "found", ignore_errors=True)
    yield from bad_results(binary, given, known)
    jobs = [lambda fault=fault: list(proof(binary, given, fault)) for fault in FAULTS]
    for found in tests.side_by_side(jobs, at_once):
        yield from found
    seconds = max(1, 60 * minutes * at_once // len(RUNS))
    say(f"fuzzing perf in {len(RUNS)} ways, {seconds} seconds each")
    for found in tests.side_by_side(
        [partial(_part, where, binary, given[where.unit], seconds, known) for where in RUNS],
        at_once,
    ):
        yield from found


def parts():
    """What that is made from: see made.py."""
    return [
        perf.host_parts(),
        made.packages(*PACKAGES),
        made.modules("checks.fuzz"),
        list(made.folder(SOURCE)),
        list(made.folder(trace.SOURCE)),
        [ACCEPTED],
    ]


def main(options):
    """`fuzz`: MINUTES of it."""
    minutes = options.number("MINUTES", MINUTES)
    # What cannot be built is no failed test.
    build_perf()
    report = Report().into("fuzz")
    report.step("perf: fuzzer", lambda: named("perf", results(minutes)))
    return report.end()
