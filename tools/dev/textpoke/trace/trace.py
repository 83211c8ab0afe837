# SPDX-License-Identifier: GPL-2.0
"""`make trace`: hardware trace without the hardware, and whether it is decoded as it was executed.

A guest changes its kernel's text while perf records that in it. QEMU's CPUs have no trace unit, but
a plugin of QEMU's logs what each of them executes (tools/dev/trace). From the log come

* packets, as a trace unit would have written them, which are put into the guest's perf.data;
* the branches that were executed, with which those are compared that perf script finds;
* the code that was executed, which is compared with perf's copy of kcore as the records have
  changed it up to then: the kernel's half, without perf and packets. Where no trace unit is known
  to perf, that is all.

The guest's CPUs take turns, and its clock counts instructions, so that each record has its place
between two of them.
"""

import bisect
import re
import shutil
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..code.disasm import addresses
from ..errors import OK, USAGE, Fail
from ..guests import boot, initramfs, kernel, perf, tests
from ..pages import markup
from ..records import perfdata, replay, run
from ..results import made
from ..results.ktap import FAILED, PASSED, Result
from ..results.report import Report, named
from ..say import output, say
from ..series import base as bases
from . import lister, newer, qemus, tracecolumns, tracepage

SOURCE = qemus.SOURCE
JOB = initramfs.GUEST / "trace.sh"
WHERE = "/tmp/trace"  # in the guest
LIBIPT, LIBIPT_SUITE = ("libipt-dev", "libipt2"), "bookworm"
PROGRAM = (
    "trace.c",
    "arm64.c",
    "compare.c",
    "etm.c",
    "image.c",
    "path.c",
    "profile.c",
    "pt.c",
    "walk.c",
    "x86.c",
)
# The same instructions each time: the guest's clock begins at the same moment, and passes with
# them.
REPEATABLE = f"{boot.COUNTED} -rtc base=2024-01-01T00:00:00,clock=vm -seed 1"
TIMEOUT = 1800
ROOM = 2  # GiB
# Kinds of samples that perf inject makes: how it is told, the fields of perf script, and what our
# program does with them. Profiles for compilers are made of the last branches, now and then.
BRANCHES = ("be", "hw:cpu,time,ip,addr", "compare")
PROFILE = ("i1000il", "brstack", "profile")
BROKEN = 40  # records that are broken on purpose, all in one file
# Those that are broken are among so many of the first; what is decoded goes on to half of all.
PIECE = 1_000
# A tenth of the packets, by the records among them, is listed as others read it.
LISTED = 10
# ns: a trace unit tells of the time every 200 instructions, of 1 ns each.
MARGIN = 1_000
PROGRAMS = 100  # pieces of programs of BPF that are executed at least
PLACED = 20  # the same of each of the kinds of code that an architecture has
# Kinds of code that are counted apart, in the order of image.c, and what they are for people.
KINDS = {
    "slots": "slots of kprobes",
    "detours": "what the jumps of optimized probes lead to",
    "trampolines": "trampolines of ftrace",
    "modules": "modules",
}
# The kind of memory out of line that the kernel calls so.
NAMED = {
    "kprobe_insn_page": "slots",
    "kprobe_optinsn_page": "detours",
    "ftrace_trampoline": "trampolines",
}
AREA = 1 << 16  # bytes that have such a name at most: a page of POWER's
NEAR = 64  # bytes, between a branch and a record that may have to do with it
BULKY = ("log", "injected.data", "blocks", "aux.*", "cuts.*", "truth.*", "windows", "guest.tar")


@dataclass(frozen=True)
class Machine:
    """What is traced of an architecture, and as what."""

    unit: perfdata.Unit | None
    marker: str  # the function that sync() calls
    physical: int  # what the kernel's text is moved by from where it is loaded
    clock: str = (
        ""  # the function that gives perf the time; else the CPUs' clock is what perf says it is
    )
    base_errs: bool = True  # 6.12 records nothing there, and its perf may not follow records
    jumps: bool = False  # between programs of BPF: they are text that changes
    kinds: tuple = ("slots", "modules")  # of KINDS: what there is of code besides the kernel's text


@dataclass(frozen=True)
class Size:
    """How much a guest does, and what a run has to have to say something."""

    turns: int  # how often it all happens
    more: tuple  # what happens besides, in the last of them: see trace.sh
    records: int  # that are crossed at least
    executed: int  # branches, or else pieces of code, at least


SHORT = Size(1, ("pass",), 1_000, 1_000_000)
LONG = Size(5, ("pass", "cpus"), 10_000, 10_000_000)

MACHINES = {
    "x86": Machine(
        perfdata.PT,
        "__x64_sys_sync",
        0xFFFFFFFF80000000,
        base_errs=False,
        jumps=True,
        kinds=tuple(KINDS),
    ),
    "arm64": Machine(perfdata.ETM, "__arm64_sys_sync", 0xFFFF800080000000 - 0x40200000),
    # A tick is 100 instructions, and perf has no word on it.
    "riscv": Machine(None, "__riscv_sys_sync", 0xFFFFFFFF80000000 - 0x80200000, "sched_clock"),
    # Nor here; two instructions.
    "powerpc": Machine(
        None,
        "sys_sync",
        0xC000000000000000,
        "sched_clock",
        kinds=("slots", "detours", "modules"),
    ),
}


@dataclass
class Found:
    """What one of our programs prints: figures by name, and the first differences."""

    figures: dict = field(default_factory=dict)
    differs: list = field(default_factory=list)
    says: list = field(default_factory=list)
    bins: list = field(default_factory=list)  # (CPU, number, branches executed, of these amiss)

    def __getitem__(self, name):
        return self.figures[name]


def parse(text):
    """The lines of one of our programs."""
    found = Found()
    for line in text.splitlines():
        if match := re.fullmatch(r"([a-z-]+) (\d+)", line):
            found.figures[match[1]] = int(match[2])
        elif line.startswith("bin: "):
            found.bins.append(tuple(map(int, line.split()[1:])))
        elif line.startswith("differs: "):
            found.differs.append(line.removeprefix("differs: "))
        elif line.startswith("says: "):
            found.says.append(line.removeprefix("says: ").strip())
    return found


# Programs


def build_program(folder):
    """The one with the encoders, which is linked with libipt."""
    libipt = host.unpack_foreign(
        LIBIPT, newer.DEBARCH, LIBIPT_SUITE, paths.BUILD / "foreign/libipt"
    )
    library = libipt / "usr/lib" / newer.TRIPLET
    return qemus.compiled(
        folder / "trace",
        PROGRAM,
        f"-I{libipt}/usr/include",
        f"-L{library}",
        f"-Wl,-rpath,{library}",
        "-lipt",
    )


@dataclass(frozen=True)
class Tools:
    """All that a run needs besides a kernel."""

    arch: arches.Arch
    plugin: qemus.Plugin
    program: Path
    guest_perf: dict
    perf: Path | None  # that decodes

    @property
    def machine(self):
        return MACHINES[self.arch.name]


def tools(name, qemu=None):
    """Everything is built or fetched; qemu: the version, if it is to be that."""
    folder = paths.BUILD / "trace/bin"
    host.need(*host.BUILD)
    decoder = perf.build_host_perf() if MACHINES[name].unit else None
    arch, plugin = qemus.choose(name, folder, qemu)
    return Tools(
        arch,
        plugin,
        build_program(folder),
        perf.build_guest_perf(name),
        decoder,
    )


# The guest


def symbols(kdir):
    """name -> address, of a kernel that stays where it was linked."""
    return addresses((kdir / "System.map").read_text().splitlines())


def plugin_words(machine, found, plugin, folder, vectors):
    """The plugin as QEMU is told of it."""
    text, end = found["_text"], found["_end"]
    words = {
        "out": folder,
        "marker": f"{found[machine.marker]:x}",
        "low": f"{text - machine.physical:x}",
        "text": f"{text:x}",
        "length": f"{end - text:x}",
        "vectors": vectors,
    }
    if machine.clock:
        words["clock"] = f"{found[machine.clock]:x}"
    return ",".join([str(plugin.path), *(f"{name}={value}" for name, value in words.items())])


def record(own, kdir, folder, timeout=TIMEOUT, append="", size=SHORT):
    """Boot a guest that records; returns what perf recorded in it.

    The plugin's log is in the folder.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    initrd = initramfs.build_initramfs(
        own.arch.name,
        extra=own.guest_perf | {"usr/bin/bpf": tests.program(own.arch.name, kdir, "bpf")},
        job=JOB,
        args=[WHERE, size.turns, *size.more],
        kdir=kdir,
    )
    found = symbols(kdir)
    vectors = qemus.write_vectors(own.arch.name, found, folder / "vectors")
    words = plugin_words(own.machine, found, own.plugin, folder, vectors)
    result = boot.boot(
        own.arch,
        kdir,
        initrd,
        append=f"nokaslr {append}".strip(),
        qemu_args=f"{REPEATABLE} -plugin {words}",
        timeout=timeout,
        out=folder / "guest.tar",
        turns=True,
        echo=False,
    )
    if result.code != OK:
        boot.report(result)
        raise Fail(
            result.code, f"the traced guest failed: {result.reason}; its console is in {result.log}"
        )
    return run.unpack(folder / "guest.tar", folder / "recording")


# The trace


@dataclass
class Trace:
    """A run: the guest's recording, the figures of its trace if there is one,
    and the folder of all that.
    """

    own: Tools
    folder: Path
    recording: run.Recording
    parts: perfdata.PerfData
    log: Found | None

    def merged(self, name, parts):
        """A perf.data with the trace in it, and the copy of kcore beside it."""
        folder = self.folder / name
        assert self.log, "what has a trace unit has a log"
        streams = [perfdata.stream(self.folder, cpu, parts) for cpu in range(self.log["cpus"])]
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.recording.data, folder)
        (folder / "data").write_bytes(
            perfdata.build(perfdata.with_trace(parts, self.own.machine.unit, streams))
        )
        return folder


def _piece(file, where, addr, size):
    """A part of an ELF file, as the programs read it."""
    file.seek(where)
    data = file.read(size)
    return struct.pack("<2Q", addr, len(data)) + data


def _kcore(recording):
    """The parts of the copy of kcore, kernel and modules."""
    with open(recording.data / "kcore_dir/kcore", "rb") as copy:
        for segment in list(replay.segments(copy)):
            yield _piece(copy, *segment)


def head(kdir):
    """What is linked in before the kernel's text: perf copies none of it, and nothing changes it.

    On RISC-V a CPU that comes up goes through it.
    """
    text = symbols(kdir)["_stext"]
    with open(kdir / "vmlinux", "rb") as vmlinux:
        for where, addr, size in list(replay.segments(vmlinux)):
            if addr < text < addr + size:
                yield _piece(vmlinux, where, addr, text - addr)


def _programs(parts):
    """The same of the programs of BPF that were there when perf began to record."""
    for addr, data in parts.programs():
        yield struct.pack("<2Q", addr, len(data)) + data


def _there(lines):
    """The memory out of line that is there when perf begins to record, of kallsyms: as long as
    there is nothing else behind it.
    """
    rows = [line.split() for line in lines]
    starts = sorted({int(row[0], 16) for row in rows})
    for addr, _, name, *owner in rows:
        if owner and name in NAMED:
            begin = int(addr, 16)
            end = next(iter(starts[bisect.bisect_right(starts, begin) :]), begin + AREA)
            yield perfdata.Area(0, begin, min(end - begin, AREA), name)


def _modules(lines):
    """Each module, of /proc/modules: a line has its length and, last but for its taints, its
    address.
    """
    for line in lines:
        name, length, _, _, _, addr, *_ = line.split()
        yield perfdata.Area(0, int(addr, 16), int(length), name)


def areas(parts, copy):
    """What is counted apart, by time; copy: the folder of the copy of kcore."""
    there = _there((copy / "kallsyms").read_text().splitlines())
    modules = list(_modules((copy / "modules").read_text().splitlines()))
    kinds = dict.fromkeys((module.name for module in modules), "modules") | NAMED
    for area in (*there, *modules, *parts.areas()):
        yield area, kinds.get(area.name, "")


def _packed(area, kind):
    """As the programs in C read it."""
    number = list(KINDS).index(kind) + 1 if kind else 0
    return struct.pack("<4Q", area.time, area.addr, area.length, number)


def _write_records(folder, parts):
    (folder / "pokes").write_bytes(b"".join(each.packed for each in parts.records()))


# The log has perf's times as they are.
AS_IT_IS = (0, 1, 0)


def encode(own, kdir, folder, recording):
    """Turn the log into trace, where there is a unit, and lay ready what is compared with it."""
    machine, log = own.machine, None
    if machine.unit:
        log = parse(output([own.program, "encode", own.arch.name, folder], what="encoding"))
    parts = perfdata.parse((recording.data / "data").read_bytes())
    (folder / "text").write_bytes(b"".join([*_kcore(recording), *head(kdir)]))
    (folder / "programs").write_bytes(b"".join(_programs(parts)))
    (folder / "areas").write_bytes(
        b"".join(_packed(*each) for each in areas(parts, recording.data / "kcore_dir"))
    )
    (folder / "time").write_bytes(
        struct.pack("<3Q", *(AS_IT_IS if machine.clock else parts.time_conversion()))
    )
    return Trace(own, folder, recording, parts, log)


def compare_text(trace, parts):
    """The code that was executed against the records."""
    _write_records(trace.folder, parts)
    return parse(
        output(
            [trace.own.program, "text", trace.folder],
            what="comparing what was executed with the records",
        )
    )


def compare_branches(trace, data, decoder):
    """The branches that were executed against those that a perf finds in data."""
    script = (
        'exec "$0" script -i "$1" --itrace=be -F cpu,time,ip,addr --ns 2>"$2" | "$3" compare "$4"'
    )
    return parse(
        output(
            [
                "sh",
                "-c",
                script,
                decoder,
                data,
                trace.folder / "perf.err",
                trace.own.program,
                trace.folder,
            ],
            what="comparing what was executed with what perf decodes",
        )
    )


def _compare_samples(trace, data, decoder, kind, what):
    """What perf inject makes of data, in samples of a kind."""
    samples, (_, _, command) = trace.folder / "injected.data", kind
    script = (
        '"$0" inject -i "$1" -o "$5" --itrace="$6" --strip >"$2" 2>&1 || '
        '{ cat "$2" >&2; exit 1; }; '
        '"$0" script -i "$5" -F "$7" --ns 2>>"$2" | "$3" "$8" "$4"'
    )
    errors = trace.folder / f"inject-{command}.err"
    words = [data, errors, trace.own.program, trace.folder, samples, *kind]
    found = parse(output(["sh", "-c", script, decoder, *words], what=f"comparing {what}"))
    samples.unlink()
    return found


def compare_injected(trace, data, decoder):
    """The same of the samples that perf inject makes of data, as profiles for compilers are."""
    return _compare_samples(trace, data, decoder, BRANCHES, "what perf inject makes")


def compare_profile(trace, data, decoder):
    """The branches that a profile counts which perf inject makes of data, against those that were
    executed.
    """
    return _compare_samples(trace, data, decoder, PROFILE, "what a profile counts")


# What it comes to

NO_UNIT = (
    "perf knows no trace unit of this architecture: there is no hardware trace to decode, "
    "what is shown is the kernel's half"
)


def text_faults(found, parts):
    """What is wrong with the kernel's half, as words."""
    checks = (
        (found["wrong"], "pieces of code were executed that the records do not know"),
        (found["unknown"], "pieces of code were executed that are in no copy and no record"),
        (found["breaks"], "records whose old bytes are not the state before"),
        (parts.lost(), "records lost"),
        (found["crossed"] - found["on-time"], "records at a time that the clock never was"),
    )
    return [f"{count} {words}" for count, words in checks if count]


def branch_faults(found):
    """What is wrong with what perf decodes, as words."""
    checks = (
        (found["wrong"], "branches wrong"),
        (found["missing"], "branches missing"),
        (found["errors"], "decode errors"),
    )
    return [f"{count} {words}" for count, words in checks if count]


def path_faults(log, size=SHORT):
    """A CPU goes where its instructions lead, but for one that has come up again."""
    most = 1 if "cpus" in size.more else 0
    if log["gaps"] <= most:
        return []
    return [f"{log['gaps']} times a CPU was where nothing leads, not {most}"]


def size_faults(text, branches=None, size=SHORT):
    """A run in which little happened shows little."""
    executed, what = (
        (branches["executed"], "branches") if branches else (text["pieces"], "pieces of code")
    )
    return [
        f"only {count} {words}, not {least}"
        for count, least, words in (
            (text["crossed"], size.records, "records were crossed"),
            (executed, size.executed, f"{what} were executed"),
        )
        if count < least
    ]


def program_faults(trace, text):
    """A program of BPF has to be executed while the trace is on, and to change where it may."""
    programs, jumps = list(trace.parts.programs()), trace.own.machine.jumps
    changes = sum(
        addr <= each.addr < addr + len(code)
        for each in crossed(trace, text)
        for addr, code in programs
    )
    checks = (
        (text["programs"] < PROGRAMS, f"only {text['programs']} pieces of it, not {PROGRAMS}"),
        (jumps and changes < 2, f"only {changes} of its changes were crossed, not 2"),
    )
    return [words for wrong, words in checks if wrong]


def kind_faults(machine, text):
    """Each kind of code that the architecture has is executed while the trace is on."""
    return [
        f"only {text[kind]} pieces in {KINDS[kind]}, not {PLACED}"
        for kind in machine.kinds
        if text[kind] < PLACED
    ]


def _figures(line):
    """A difference's words: `cpu 1 executed FROM TO clock T decoded FROM TO time T`."""
    return {
        name: [
            int(word, 16 if name != "clock" and name != "time" else 10) for word in words.split()
        ]
        for name, words in re.findall(r"([a-z]+)((?: [0-9a-f]+\b)+)", line)
    }


def nearest(records, addr, time):
    """The record that has most to do with an address at a time:
    of the nearest site the last before it, or the first after.
    """
    close = [each for each in records if abs(each.addr - addr) <= NEAR]
    if not close:
        return None
    site = min((each.addr for each in close), key=lambda other: abs(other - addr))
    before = [each for each in close if each.addr == site and each.time <= time]
    return before[-1] if before else next(each for each in close if each.addr == site)


def told(record, time, names):
    """A record and whether it was applied, for people."""
    if not record:
        return "no record is near"
    when = "applied" if record.time <= time else "not applied"
    return (
        f"{when}: the record of {names.name(record.addr)} at {record.time} "
        f"({record.old.hex()} -> {record.new.hex()})"
    )


def explain(line, parts, names):
    """A difference with symbols, its time, and the record that was or was not applied."""
    words = _figures(line)
    shown, time = [f"cpu {words['cpu'][0] if 'cpu' in words else 'unknown'}"], 0
    for which in ("executed", "decoded"):
        if which in words:
            shown.append(f"{which} {' -> '.join(names.name(addr) for addr in words[which])}")
    if "clock" in words:
        time = perfdata.perf_time(words["clock"][0], parts.time_conversion())
    elif "time" in words:
        time = words["time"][0]
    addr = (words.get("executed") or words.get("decoded") or words.get("code"))[0]
    if "code" in words:
        shown.append(f"executed {names.name(addr)}: {line.split()[-1]}")
    return (
        f"{', '.join(shown)} at {time}; {told(nearest(parts.records(), addr, time), time, names)}"
    )


def summary(log, text, branches=None):
    """The figures of a run, for people."""
    decoded = (
        [
            f"branches executed {branches['executed']}, decoded {branches['decoded']}, wrong "
            f"{branches['wrong']}, missing {branches['missing']} "
            f"(and {branches['end']} at the end of the trace), decode errors {branches['errors']}"
        ]
        if branches
        else [NO_UNIT]
    )
    return [
        *decoded,
        f"records crossed {text['crossed']}, exceptions in the kernel {log['exceptions']}, "
        f"interrupts {log['interrupts']}, CPUs {log['cpus']}",
        f"pieces of code executed {text['pieces']}, in "
        + ", in ".join(f"{words} {text[kind]}" for kind, words in KINDS.items())
        + f", in programs of BPF {text['programs']}, not as the records have it {text['wrong']}",
    ]


def _show(found, parts, names):
    for line in found.differs:
        print(f"    {explain(line, parts, names)}", flush=True)
    for line in found.says:
        print(f"    perf says: {line}", flush=True)


def column(name, trace, text, branches):
    """All of a run that is shown beside others."""
    span: tuple[int, ...] = (0, 0)
    parts, symbols = trace.parts, trace.recording.symbols()
    if branches and "last" in branches.figures:
        span = tuple(
            perfdata.perf_time(branches[which], parts.time_conversion())
            for which in ("first", "last")
        )
    found = [text, branches] if branches else [text]
    return tracecolumns.Column(
        name,
        text.figures,
        branches and branches.figures,
        tuple(branches.bins) if branches else (),
        span,
        tuple(each.time for each in parts.records()),
        tuple(explain(line, parts, symbols) for each in found for line in each.differs),
    )


@dataclass(frozen=True)
class Seen:
    """A run, and what the comparisons found in it."""

    trace: Trace
    text: Found
    branches: Found | None

    def column(self, name):
        return column(name, self.trace, self.text, self.branches)

    def with_branches(self, branches):
        """The same run as another perf decodes it."""
        return replace(self, branches=branches)


def see(trace):
    """Compare a run as it is."""
    text = compare_text(trace, trace.parts)
    branches = (
        compare_branches(trace, trace.merged("perf.data", trace.parts), trace.own.perf)
        if trace.log
        else None
    )
    return Seen(trace, text, branches)


def judge(seen, size=SHORT):
    """Results of a run as it is, which has to be right."""
    trace, text, branches = seen.trace, seen.text, seen.branches
    parts, names = trace.parts, trace.recording.symbols()
    print("\n".join(summary(trace.log or text, text, branches)), flush=True)
    _show(text, parts, names)
    yield _result("what is executed is what the records say", text_faults(text, parts))
    if branches:
        _show(branches, parts, names)
        yield _result("every branch is decoded as it was executed", branch_faults(branches))
        yield _result("what is executed is a path", path_faults(trace.log, size))
    yield _result("enough is executed and changed", size_faults(text, branches, size))
    yield _result("code of each kind is executed", kind_faults(trace.own.machine, text))
    yield _result("a program of BPF is executed", program_faults(trace, text))


def _injected(seen, decoder, whose):
    """What becomes of the trace in a perf inject, of whose perf a line tells."""
    found = compare_injected(seen.trace, seen.trace.folder / "perf.data", decoder)
    print(
        f"perf inject of {whose}: branches executed {found['executed']}, wrong {found['wrong']}, "
        f"missing {found['missing']}, decode errors {found['errors']}",
        flush=True,
    )
    return found


def _profiled(seen, decoder, whose):
    """What becomes of the trace in a profile, of whose perf a line tells."""
    found = compare_profile(seen.trace, seen.trace.folder / "perf.data", decoder)
    print(
        f"a profile of {whose} perf: branches counted {found['counted']}, never executed "
        f"{found['wrong']}; of {found['branches']} different ones that were executed it has "
        f"{found['seen']}",
        flush=True,
    )
    return found


def profile_faults(found, size=SHORT):
    """What is wrong with a profile, as words; one that counts little shows little."""
    least = size.executed // 100
    checks = (
        (found["wrong"], f"{found['wrong']} branches counted that no CPU has taken"),
        (found["counted"] < least, f"only {found['counted']} branches counted, not {least}"),
    )
    return [words for wrong, words in checks if wrong]


def judge_injected(seen, size=SHORT):
    """Profiles are made of what perf inject decodes, which has to be right, too."""
    if seen.branches:
        found = _injected(seen, seen.trace.own.perf, "the series")
        yield _result("perf inject decodes every branch as it was executed", branch_faults(found))
        profile = _profiled(seen, seen.trace.own.perf, "the series'")
        _show(profile, seen.trace.parts, seen.trace.recording.symbols())
        yield _result("a profile counts what was executed", profile_faults(profile, size))


def judge_base_injected(seen, decoder):
    """A comparison that cannot fail would pass with the base's perf as well."""
    found, profile = _injected(seen, decoder, "the base"), _profiled(seen, decoder, "the base's")
    for name, faults in (
        ("perf inject", branch_faults(found)),
        ("a profile", profile["wrong"]),
    ):
        yield _result(
            f"{name} of the base is wrong where the series' is right",
            [] if faults else ["nothing is wrong there either"],
        )


def _result(name, faults):
    return Result(name, FAILED if faults else PASSED, "; ".join(faults))


def judge_packets(trace, text):
    """A result of the packets in the first of the trace, where others can read them."""
    records = crossed(trace, text)
    if trace.own.machine.unit is not perfdata.ETM or not records:
        return
    piece = beginning(trace, records[len(records) // LISTED].time)
    traces = sorted(piece.folder.glob("aux.*"))
    yield _result(
        "OpenCSD's lister reads the packets that were written",
        lister.differences(piece.log.figures, piece.folder / "listed", traces),
    )
    shutil.rmtree(piece.folder)


# Records that are broken on purpose


def pairs(records):
    """(record, the next of the same site) where both change the text in turn."""
    last: dict = {}
    for each in records:
        if (before := last.get(each.addr)) and before.old == each.new and before.new == each.old:
            yield before, each
        last[each.addr] = each


def spread(things, count):
    """So many of things, from all over them."""
    things = list(things)
    return things[:: max(1, len(things) // count)][:count]


def dropped(parts, records, _=None):
    """Without some of the records."""
    for record in sorted(spread(records, BROKEN), key=lambda each: each.at, reverse=True):
        parts = perfdata.without_record(parts, record)
    return parts


def swapped(parts, records, _=None):
    """With the times of some records and of those that undo them, which may come later than all
    of these, exchanged.
    """
    places, found = {each.at for each in records}, {}
    for first, second in pairs(parts.records()):
        if first.at in places and first.at not in found:
            found[second.at] = first, second
    for first, second in spread(found.values(), BROKEN):
        parts = perfdata.with_time(
            perfdata.with_time(parts, first, second.time), second, first.time
        )
    return parts


@dataclass(frozen=True)
class Stamps:
    """Times at which a record would be wrong: one at which the old code was still to be executed,
    one at which the new had been.
    """

    early: int | None
    late: int | None


def stamps(records, windows):
    """A record's place -> its Stamps. windows: of each when its site was executed before and
    after it, see image.c.
    """
    found: dict = {}
    last: dict = {}
    for record, (before, after) in zip(records, windows):
        early = before - MARGIN if before - MARGIN > last.get(record.addr, 0) else None
        found[record.at] = Stamps(early, after + MARGIN if after else None)
        last[record.addr] = record.time
    return found


def _moved(parts, records, times):
    """With another time of some of the records for which there is one."""
    for record in spread(
        [each for each in records if times[each.at] and each.old != each.new], BROKEN
    ):
        parts = perfdata.with_time(parts, record, times[record.at])
    return parts


def too_early(parts, records, wrong):
    """With some records stamped when CPUs still executed the old code: before all of them were
    trapped.
    """
    return _moved(parts, records, {at: each.early for at, each in wrong.items()})


def too_late(parts, records, wrong):
    """With some records stamped when a CPU had executed the new code already."""
    return _moved(parts, records, {at: each.late for at, each in wrong.items()})


MUTATIONS: dict = {
    "dropped": dropped,
    "swapped": swapped,
    "stamped too early": too_early,
    "stamped too late": too_late,
}


def crossed(trace, text):
    """The records that came while the trace was on."""
    return trace.parts.records()[text["early"] : text["early"] + text["crossed"]]


def cpu_clock(time, conversion):
    """The value of the CPUs' clock at perf's time, or the next below."""
    shift, mult, zero = conversion
    return ((time - zero) % (1 << 64) << shift) // mult


def beginning(trace, until):
    """The trace up to a time, in a folder of its own: the packets, and the branches that are in
    them.
    """
    folder = trace.folder / "piece"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    clock = cpu_clock(until, trace.parts.time_conversion())
    words = [trace.own.program, "piece", trace.own.arch.name, clock, folder, trace.folder]
    return replace(trace, folder=folder, log=parse(output(words, what="encoding a piece")))


def _decoded_from(piece, parts):
    """What perf makes of the trace with other records."""
    branches = compare_branches(piece, data := piece.merged("mutated", parts), piece.own.perf)
    shutil.rmtree(data)
    print(
        f"    of {branches['executed']} branches {branches['wrong']} wrong, "
        f"{branches['missing']} missing, {branches['errors']} errors",
        flush=True,
    )
    return branches


def _windows(folder):
    """What the comparison with the records has found out of when their sites were executed."""
    return list(struct.iter_unpack("<2Q", (folder / "windows").read_bytes()))


def _noticed(trace, piece, name, parts):
    text = compare_text(trace, parts)
    print(f"records {name}: {text['wrong']} pieces of code wrong", flush=True)
    yield Result(
        f"records {name} are noticed in what is executed", PASSED if text["wrong"] else FAILED
    )
    if piece:
        yield Result(
            f"records {name} are noticed in what is decoded",
            PASSED if _decoded_from(piece, parts)["wrong"] else FAILED,
        )


def mutations(trace):
    """Results of the run with broken records: each comparison has to notice, of branches in the
    beginning of the trace.
    """
    records = crossed(trace, compare_text(trace, trace.parts))
    # What is broken has to be executed afterwards, so that it matters.
    half, records = records[len(records) // 2 :][:1], records[:PIECE]
    wrong, piece = stamps(trace.parts.records(), _windows(trace.folder)), None
    if trace.log and records:
        piece = beginning(trace, half[0].time)
        print("the beginning of the trace with the records as they are:", flush=True)
        yield _result(
            "the beginning of the trace is decoded as it was executed",
            branch_faults(_decoded_from(piece, trace.parts)),
        )
    for name, function in MUTATIONS.items():
        yield from _noticed(trace, piece, name, function(trace.parts, records, wrong))
    if piece:
        shutil.rmtree(piece.folder)


# Base and series


def base_perf():
    """The perf of this machine that the base brings."""
    options = (f"CC={kernel.cached('gcc')}", *perf.COMMON, *perf.HOST)
    return perf.build(bases.base_source(), paths.BUILD / "perf-base", options, "the base's perf")


def base_kernel(name):
    """The base, with what it needs to have a function tracer."""
    return kernel.build_kernel(name, base=True, fragments=arches.get(name).base_fragments)


def half(seen, decoder):
    """The column of the series' kernel with another perf, where perf decodes."""
    if seen.branches:
        branches = compare_branches(seen.trace, seen.trace.folder / "perf.data", decoder)
        yield seen.with_branches(branches).column(tracecolumns.HALF)


def beside(name, seen, timeout, append, size=SHORT):
    """(what was seen of the base, the columns)."""
    machine, decoder = seen.trace.own.machine, None
    if machine.unit:
        decoder = base_perf()
    own, folder = replace(seen.trace.own, perf=decoder), seen.trace.folder / "base"
    kdir = base_kernel(name)
    say("tracing a guest of the base")
    base = see(encode(own, kdir, folder, record(own, kdir, folder, timeout, append, size)))
    return base, [
        base.column(tracecolumns.BASE),
        *half(seen, decoder),
        seen.column(tracecolumns.SERIES),
    ]


def judge_columns(machine, columns):
    """Results of base and series side by side."""
    print("\n".join(tracecolumns.table(columns)), flush=True)
    if machine.base_errs:
        yield _result("the base is wrong where the series is right", tracecolumns.faults(columns))


# The commands


def results(name, kdir, timeout=TIMEOUT, append="", base=False, size=SHORT, qemu=None):
    """All results of an architecture; base: with the base beside it; qemu: with that version."""
    own, folder = tools(name, qemu), paths.BUILD / "trace" / name
    host.room(paths.BUILD, ROOM * (1 + base) * size.turns, "the log of a guest")
    say("tracing a guest")
    seen = see(encode(own, kdir, folder, record(own, kdir, folder, timeout, append, size)))
    found, columns = list(judge(seen, size)), [seen.column(tracecolumns.SERIES)]
    right = all(each.status == PASSED for each in found)
    yield from found
    found += (injected := list(judge_injected(seen, size)))
    yield from injected
    found += (packets := list(judge_packets(seen.trace, seen.text)))
    yield from packets
    found += (broken := list(mutations(seen.trace)))
    yield from broken
    if base:
        other, columns = beside(name, seen, timeout, append, size)
        found += (compared := list(judge_columns(own.machine, columns)))
        yield from compared
        if seen.branches:
            found += (injected := list(judge_base_injected(seen, base_perf())))
            yield from injected
        _tidy(other.trace.folder)
    markup.try_to_write(folder / "index.html", tracepage.write, name, columns, found)
    if right:
        _tidy(folder)
    if own.machine.unit:
        say(f"the trace as perf opens it: {folder / 'perf.data'}")


def _tidy(folder):
    """Remove what is bulky and can be made again."""
    for pattern in BULKY:
        for path in folder.glob(pattern):
            path.unlink()


def _titled(name, title, found):
    return named(name, (replace(each, name=f"{title}: {each.name}") for each in found))


def checked(name):
    """The results, for `make check`."""
    yield from _titled(name, "trace", results(name, kernel.build_kernel(name)))


def whole(name):
    """The results of all of it, and of the base where perf decodes, for `make check-full`."""
    base = bool(MACHINES[name].unit)
    found = results(name, kernel.build_kernel(name), base=base, size=LONG)
    yield from _titled(name, "the whole trace", found)


def installed(name):
    """The short trace with the QEMU that boots all other guests, for `make check-full`."""
    found = results(name, kernel.build_kernel(name), qemu=qemus.INSTALLED)
    yield from _titled(name, f"trace with QEMU {qemus.INSTALLED}", found)


def parts(name):
    """What that is made from, which is none of the selftests: see made.py."""
    return [
        list(made.architecture(name, wanted=made.of_kernel)),
        perf.parts(name),
        perf.host_parts(),
        made.modules("trace.trace", "checks.check"),
        list(made.folder(SOURCE)),
        [JOB],
    ]


def whole_parts(name):
    """The same of all of it."""
    return [*parts(name), made.base()]


def main(options):
    """`trace`: the exit status is whether all is as it was executed."""
    name = options.arch
    if name not in MACHINES:
        raise Fail(
            USAGE,
            f"what a guest of ARCH={name} executes cannot be told: use "
            f"ARCH={' or ARCH='.join(MACHINES)}",
        )
    given, timeout = options.get("KDIR"), options.number("TIMEOUT", TIMEOUT)
    kdir = Path(given).absolute() if given else kernel.build_kernel(name)
    report = Report().into("trace")
    report.step(
        f"{name}: trace",
        lambda: named(
            name,
            results(
                name,
                kdir,
                timeout,
                options.get("APPEND", ""),
                options.flag("BASE"),
                LONG,
                options.get("QEMU"),
            ),
        ),
    )
    return report.end()
