# SPDX-License-Identifier: GPL-2.0
"""The lines of `make bench`'s table: what is measured, and what each is held against."""

from dataclasses import dataclass, replace

from ..arch import ARCHES


@dataclass(frozen=True)
class Axis:
    """What the tracer's cost may grow with."""

    title: str
    unit: str
    cases: tuple  # (how many, the case that measures it); None: as many functions as there are


SITES = Axis(
    "functions traced",
    "sites",
    (
        (256, "tracer-256"),
        (1024, "tracer-1024"),
        (4096, "tracer-4096"),
        (8192, "tracer-8192"),
        (None, "tracer"),
    ),
)
CPUS = (1, 2, 4, 8)
AXES = (
    SITES,
    Axis("CPUs, which take turns", "CPUs", tuple((nr, f"cpus-{nr}") for nr in CPUS)),
    Axis(
        "perf events that listen, on each CPU",
        "events",
        (
            (0, "tracer"),
            (1, "tracer-guarded"),
            (2, "listening-2"),
            (4, "listening-4"),
            (8, "listening-8"),
        ),
    ),
)
# in ns
TIMES = (
    "on",
    "off",
    "on_asleep",
    "off_asleep",
    "on_awake",
    "off_awake",
    "stall",
    "longest",
    "lost",
)
THOUSANDS = ("untraced", "one", "many", "mflr", "nops")  # for a thousand calls, or functions
MET, UNMET, UNKNOWN = "met", "NOT MET", "-"


@dataclass(frozen=True)
class Row:
    """One line of the table: what is measured, and what it is held against."""

    what: str
    case: str
    metric: str
    rule: str  # a name in bench.RULES, or "" for a figure without a target
    limit: object = None  # a number, or arch -> number, for the rule
    other: str = ""  # the case that the rule compares with
    only: tuple = ()  # the architectures that have it; empty: all

    def is_of(self, arch):
        """Whether an architecture has it."""
        return not self.only or arch in self.only


def _switched(what, case, on=None, off=None, syncs=None):
    """A knob's rows. on, off: what the series may take of the base; syncs: for both together."""
    return (
        Row(f"{what} on", case, "on", "base" if on else "", on),
        Row(f"{what} off", case, "off", "base" if off else "", off),
        Row(f"{what}, IPIs on+off", case, "ipis", ""),
        Row(f"{what}, syncs on+off", case, "syncs", "number" if syncs else "", syncs),
    )


def _loaded(what, case, on=None):
    """A module's rows; only loading it changes text."""
    knob = _switched(what, case, on)
    words = ("loaded", "unloaded", "IPIs of both", "syncs of both")
    return tuple(replace(row, what=f"{what}, {word}") for row, word in zip(knob, words))


GROUPS = (
    *_switched("recording task names (3 tracepoints)", "names"),
    *_switched("events/sched/enable", "events-sched"),
    # Ten for each of the two.
    *_switched("events/enable", "events", 0.2, 0.2, 20),
    *_switched("debug messages of all drivers", "messages"),
    # Elsewhere a static call has no text of its own.
    *_loaded("module with 500 static calls", "module-calls", {"x86": 0.2}),
    *_loaded("module with sites of 500 keys", "module-keys"),
    *_switched("200 kprobe events", "kprobes", 0.2, 0.2),
    # Time that no change of text takes.
    Row("200 kprobe events on, asleep", "kprobes", "on_asleep", ""),
    Row("200 kprobe events off, asleep", "kprobes", "off_asleep", ""),
    Row("200 kprobe events on, awake", "kprobes", "on_awake", ""),
    Row("200 kprobe events off, awake", "kprobes", "off_awake", ""),
    Row("200 kprobe events, stops on+off (0: listed ones)", "kprobes", "stops", ""),
)

# What goes alone is to be as cheap as it was.
SINGLE = (
    *_switched("static key with one site", "one-key", 1.0, 1.0),
    *_switched("static call with one site", "one-call", {"x86": 1.0}, {"x86": 1.0}),
    *_switched("one program of BPF at a tracepoint", "one-program", 1.0, 1.0),
)

# The same, on one CPU and with no time but that of instructions: a figure without noise.
COUNTED = tuple(
    Row(f"{what} on+off, instructions", "counted", metric, "base", limit)
    for what, metric, limit in (
        ("static key with one site", "key", 1.0),
        ("static call with one site", "call", {"x86": 1.0}),
        ("one kprobe", "probe", 1.0),
        ("one program of BPF at a tracepoint", "program", 1.0),
    )
)

# Interrupts that reach a CPU without a tick, in user mode. One may find it in the kernel.
ISOLATING = tuple(name for name, arch in ARCHES.items() if arch.isolates)
ISOLATED = tuple(
    Row(f"an isolated CPU, IPIs on+off: {what}", "isolated", metric, "number", 1, only=ISOLATING)
    for what, metric in (
        ("function tracer", "tracer"),
        ("static key", "key"),
        ("events/sched/enable", "events"),
        ("200 kprobe events", "probes"),
    )
)

TRACER = {"x86": 0.25, "arm64": 0.5, "riscv": 0.5, "powerpc": 0.5}
LISTENING = {"x86": 1.15, "arm64": 1.5, "riscv": 1.5, "powerpc": 1.5}
ROWS = (
    Row("function tracer on", "tracer", "on", "base", TRACER),
    Row("function tracer off", "tracer", "off", "base", TRACER),
    Row("function tracer on, asleep", "tracer", "on_asleep", ""),
    Row("function tracer off, asleep", "tracer", "off_asleep", ""),
    Row("function tracer, IPIs on+off", "tracer", "ipis", "broadcasts"),
    Row("function tracer, syncs on+off", "tracer", "syncs", "broadcasts"),
    Row("function tracer, mappings on+off", "tracer", "mappings", ""),
    Row("function tracer, longest stall", "tracer", "stall", "idle", ("riscv",)),
    Row("listening: function tracer on", "tracer-guarded", "on", "other", LISTENING, "tracer"),
    Row("listening: function tracer off", "tracer-guarded", "off", "other", LISTENING, "tracer"),
    Row("listening: tracer, IPIs on+off", "tracer-guarded", "ipis", ""),
    Row("listening: tracer, syncs on+off", "tracer-guarded", "syncs", "broadcasts"),
    Row("listening: tracer, longest stall", "tracer-guarded", "stall", ""),
    Row("listening: tracer, records per second", "tracer-guarded", "records_per_second", ""),
    # It may have to wait until the optimizer is done, for up to 200 ms and by chance.
    Row("one kprobe armed, awake", "kprobe", "on_awake", "base", 1.0),
    Row("one kprobe disarmed, awake", "kprobe", "off_awake", "base", 1.0),
    Row("one kprobe armed, asleep", "kprobe", "on_asleep", ""),
    Row("one kprobe disarmed, asleep", "kprobe", "off_asleep", ""),
    Row("one kprobe, IPIs on+off", "kprobe", "ipis", ""),
    Row("one kprobe, syncs on+off", "kprobe", "syncs", ""),
    Row("one kprobe, longest stall", "kprobe", "stall", "idle"),
    Row("one kprobe, stops on+off (0: listed instruction)", "kprobe", "stops", ""),
    Row("listening: one kprobe armed", "kprobe-guarded", "on", ""),
    Row("listening: one kprobe disarmed", "kprobe-guarded", "off", ""),
    Row("listening: one kprobe, stall", "kprobe-guarded", "stall", "idle"),
    Row("static key on", "key", "on", "base", 1.0),
    Row("static key off", "key", "off", "base", 1.0),
    *SINGLE,
    *COUNTED,
    *GROUPS,
    Row("listening: static key on", "key-guarded", "on", ""),
    Row("listening: static key off", "key-guarded", "off", ""),
    Row("poker with 1 % of its CPU: longest call elsewhere", "throttled", "longest", "delay"),
    Row("poker with 1 % of its CPU: lost elsewhere", "throttled", "lost", "base", {"x86": 1.0}),
    Row("listening: poker with 1 %, longest call", "throttled-guarded", "longest", "delay"),
    Row(
        "listening: poker with 1 %, lost elsewhere",
        "throttled-guarded",
        "lost",
        "base",
        {"x86": 1.0},
    ),
    Row("longest stall of an idle machine", "idle", "stall", ""),
    Row("a call that is not traced, instructions", "call", "untraced", ""),
    # A nop is executed as well: what is gained is the move of a register, and its latency.
    Row("an untraced function begins with: mflr", "entry", "mflr", "", only=("powerpc",)),
    Row("an untraced function begins with: nops", "entry", "nops", "", only=("powerpc",)),
    Row("a traced call, instructions", "call", "one", ""),
    Row("  with 100 tracers elsewhere", "call", "many", "call", 1.1, "one"),
    *ISOLATED,
    Row("text of the kernel", "size", "text", ""),
    Row("data of the kernel", "size", "data", ""),
    Row("data of each CPU, bytes", "size", "cpu", ""),
    Row("a site while it is queued, bytes", "size", "site", ""),
)

# What is measured once more where a parameter makes it different.
VARIANT_ROWS = tuple(
    replace(row, rule="")
    for row in ROWS
    if row.case in ("tracer", "tracer-guarded", "kprobe", "call", "entry")
)


def rows_of(arch):
    """The rows that an architecture has."""
    return [row for row in ROWS if row.is_of(arch)]
