# SPDX-License-Identifier: GPL-2.0
"""`make bench`: what changing text costs, base and series side by side.

Emulated times are noisy and this machine is not another, so a figure is always a ratio
within one run: both kernels are booted in turn, several times, and the smallest of each
is compared. Targets that are not met are printed as such, with the functions that took
most of the time.
"""

import math
import tarfile
from dataclasses import dataclass, replace
from statistics import median

from . import arch as arches
from . import boot, initramfs, kernel, paths
from .errors import INFRA, OK, Fail
from .say import run as command
from .say import output, say

SOURCE = initramfs.GUEST / "bench.c"
JOB = initramfs.GUEST / "bench.sh"
THROTTLE = "throttle"  # the fragment that lets a poker wait for its CPU
BASE, SERIES = "base", "series"
ROUNDS = 2  # boots of each kernel, in turn
REPETITIONS = 4  # in each boot
TIMEOUT = 1200
IDLE = "idle"
STALL_LIMIT = 1e6  # ns above the idle stall
DELAY_LIMIT = 1e6  # ns that a call may take beside a poker that has to wait
TRAPPING_BASES = {"x86"}  # where 6.12 itself leaves traps in the text meanwhile
SYNCS, SITES = 4, 4096  # so many broadcasts for so many sites
SIZES = ("tracer-256", "tracer-1024", "tracer-4096", "tracer")
CALL_METRICS = ("untraced", "one", "many")  # for a thousand calls
MET, UNMET, UNKNOWN = "met", "NOT MET", "-"


@dataclass(frozen=True)
class Row:
    """One line of the table: what is measured, and what it is held against."""

    what: str
    case: str
    metric: str
    rule: str  # a name in RULES, or "" for a figure without a target
    limit: object = None  # a number, or arch -> number, for the rule
    other: str = ""  # the case that the rule compares with


ROWS = (
    Row("function tracer on", "tracer", "on", "base", {"x86": 0.25, "arm64": 0.5, "riscv": 0.5, "powerpc": 0.5}),
    Row("function tracer off", "tracer", "off", "base", {"x86": 0.25, "arm64": 0.5, "riscv": 0.5, "powerpc": 0.5}),
    Row("function tracer, IPIs on+off", "tracer", "ipis", "broadcasts"),
    Row("function tracer, syncs on+off", "tracer", "syncs", "broadcasts"),
    Row("function tracer, mappings on+off", "tracer", "mappings", ""),
    Row("function tracer, longest stall", "tracer", "stall", "idle", ("riscv",)),
    Row("listening: function tracer on", "tracer-guarded", "on", "other", 2, "tracer"),
    Row("listening: function tracer off", "tracer-guarded", "off", "other", 2, "tracer"),
    Row("listening: tracer, IPIs on+off", "tracer-guarded", "ipis", ""),
    Row("listening: tracer, syncs on+off", "tracer-guarded", "syncs", "broadcasts"),
    Row("listening: tracer, longest stall", "tracer-guarded", "stall", ""),
    Row("one kprobe armed", "kprobe", "on", ""),
    Row("one kprobe disarmed", "kprobe", "off", ""),
    Row("one kprobe, longest stall", "kprobe", "stall", "idle"),
    Row("one kprobe, stops on+off (0: listed instruction)", "kprobe", "stops", ""),
    Row("listening: one kprobe armed", "kprobe-guarded", "on", ""),
    Row("listening: one kprobe disarmed", "kprobe-guarded", "off", ""),
    Row("listening: one kprobe, stall", "kprobe-guarded", "stall", "idle"),
    Row("100 kprobes armed", "kprobes", "on", ""),
    Row("100 kprobes disarmed", "kprobes", "off", ""),
    Row("100 kprobes, IPIs on+off", "kprobes", "ipis", ""),
    Row("100 kprobes, stops on+off (0: listed ones)", "kprobes", "stops", ""),
    Row("static key on", "key", "on", "base", 1.0),
    Row("static key off", "key", "off", "base", 1.0),
    Row("listening: static key on", "key-guarded", "on", ""),
    Row("listening: static key off", "key-guarded", "off", ""),
    Row("poker with 1 % of its CPU: longest call elsewhere", "throttled", "longest", "delay"),
    Row("poker with 1 % of its CPU: lost elsewhere", "throttled", "lost", "base", {"x86": 1.0}),
    Row("listening: poker with 1 %, longest call", "throttled-guarded", "longest", "delay"),
    Row("listening: poker with 1 %, lost elsewhere", "throttled-guarded", "lost", "base", {"x86": 1.0}),
    Row("longest stall of an idle machine", IDLE, "stall", ""),
    Row("a call that nobody traces, instructions", "call", "untraced", ""),
    Row("a traced call, instructions", "call", "one", ""),
    Row("  with 100 tracers elsewhere", "call", "many", "call", 1.1, "one"),
    Row("text of the kernel", "size", "text", ""),
)


# What the guests sent

def parse(text):
    """(case, metric) -> values, in the order of the repetitions."""
    found = {}
    for line in text.splitlines():
        case, metric, value = line.split()
        found.setdefault((case, metric), []).append(int(value))
    return found


def merge(parts):
    """The values of several boots."""
    whole = {}
    for part in parts:
        for key, values in part.items():
            whole.setdefault(key, []).extend(values)
    return whole


# Judging

@dataclass(frozen=True)
class Judged:
    """A row with its figures: ratio (None if there is none), what is aimed at, and how it is."""

    row: Row
    base: list
    series: list
    ratio: float | None
    target: str
    verdict: str


def _ratio(above, below):
    return min(above) / min(below) if above and below and min(below) else None


def _verdict(value, limit):
    if value is None:
        return UNKNOWN
    return MET if value <= limit else UNMET


def _against_base(row, arch, base, series):
    limit = row.limit.get(arch) if isinstance(row.limit, dict) else row.limit
    if limit is None:
        return "", ""
    ratio = _ratio(series.get((row.case, row.metric)), base.get((row.case, row.metric)))
    return f"<= {limit} of base", _verdict(ratio, limit)


def _against_other(row, arch, base, series):
    """Against another case of the same kernel."""
    ratio = _ratio(series.get((row.case, row.metric)), series.get((row.other, row.metric)))
    shown = "" if ratio is None else f" ({ratio:.2f})"
    return f"<= {row.limit} x unheard{shown}", _verdict(ratio, row.limit)


def _against_call(row, arch, base, series):
    """What others trace is not to make a call dearer; only the tracing counts, not the call."""
    many, one, none = (series.get((row.case, metric)) for metric in (row.metric, row.other, "untraced"))
    ratio = (min(many) - min(none)) / (min(one) - min(none)) if many and one and none else None
    shown = "" if ratio is None else f" ({ratio:.2f})"
    return f"<= {row.limit} x one tracer{shown}", _verdict(ratio, row.limit)


def _against_idle(row, arch, base, series):
    """Stalls by the median: the smallest of several maxima says little. A row may aim at some architectures only."""
    if row.limit and arch not in row.limit:
        return "", ""
    here, idle = series.get((row.case, row.metric)), series.get((IDLE, row.metric))
    more = median(here) - median(idle) if here and idle else None
    return "<= idle + 1 ms", _verdict(more, STALL_LIMIT)


def _against_delay(row, arch, base, series):
    """What traps cost elsewhere: by the median, as of stalls; on x86, whose base traps too, no more than there."""
    here, there = series.get((row.case, row.metric)), base.get((row.case, row.metric))
    if arch in TRAPPING_BASES:
        return "<= 1.0 of base", _verdict(median(here) / median(there) if here and there else None, 1.0)
    return "<= 1 ms", _verdict(median(here) if here else None, DELAY_LIMIT)


def broadcasts_allowed(functions):
    """For on and off together."""
    return 2 * SYNCS * math.ceil(functions / SITES)


def _against_sites(row, arch, base, series):
    functions, here = series.get(("sites", "functions")), series.get((row.case, row.metric))
    if not functions or not here:
        return f"<= {SYNCS} for {SITES} sites", UNKNOWN
    allowed = broadcasts_allowed(functions[0])
    return f"<= {allowed} ({SYNCS} for {SITES} sites)", _verdict(min(here), allowed)


RULES = {"base": _against_base, "other": _against_other, "idle": _against_idle, "delay": _against_delay, "call": _against_call, "broadcasts": _against_sites}


def _titled(row, arch):
    """A row that says so if the base's text is not that of the same configuration."""
    other = arches.get(arch).base_fragments if row.metric == "text" else ()
    return replace(row, what=f"{row.what} (base: {', '.join(other)})") if other else row


def judge(row, arch, base, series):
    """A row, judged; a row without a rule has figures only."""
    of_base, of_series = base.get((row.case, row.metric), []), series.get((row.case, row.metric), [])
    target, verdict = RULES[row.rule](row, arch, base, series) if row.rule else ("", "")
    return Judged(_titled(row, arch), of_base, of_series, _ratio(of_series, of_base), target, verdict)


# Printing

def figure(metric, value):
    """A value with its unit; times in ms."""
    if metric in ("on", "off", "stall", "longest", "lost"):
        return f"{value / 1e6:.2f} ms"
    if metric in CALL_METRICS:
        return f"{value / 1000:.1f}"
    return f"{value} kB" if metric in ("memory", "text") else f"{value:g}"


def _cell(metric, values):
    """The smallest and the median."""
    if not values:
        return "-"
    return f"{figure(metric, min(values))} ({figure(metric, median(values))})"


def columns(rows):
    """Rows of words as columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows]


def table(judged):
    """The lines of the table."""
    rows = [("what: min (median)", "base", "series", "ratio", "target", "")]
    for each in judged:
        ratio = "-" if each.ratio is None else f"{each.ratio:.2f}"
        rows.append((each.row.what, _cell(each.row.metric, each.base), _cell(each.row.metric, each.series), ratio,
                     each.target, each.verdict))
    return columns(rows)


GROWTH = (("on", "on"), ("off", "off"), ("ipis", "IPIs"), ("syncs", "syncs"), ("mappings", "mappings"),
          ("memory", "memory"))


def growth(base, series):
    """Lines: how time, IPIs and memory grow with the number of functions that are traced; base / series."""
    rows = [("functions traced: base / series", *(name for _, name in GROWTH))]
    for case in SIZES:
        size = case.partition("-")[2] or f"all ({series[('sites', 'functions')][0]})"
        cells = [f"{_smallest(base, case, metric)} / {_smallest(series, case, metric)}" for metric, _ in GROWTH]
        rows.append((size, *cells))
    return columns(rows)


def _smallest(found, case, metric):
    values = found.get((case, metric))
    return figure(metric, min(values)) if values else "-"


def profile(found, case):
    """The functions that took most of a case's time, with their shares of the samples that are named."""
    hits = {}
    for (name, metric), values in found.items():
        if name == case and metric.startswith("profile:"):
            hits[metric.removeprefix("profile:")] = sum(values)
    return sorted(hits.items(), key=lambda each: -each[1])


# What shows where the time of a case goes: that of one probe is too short to be sampled.
PROFILES = {"tracer": "tracer", "tracer-guarded": "tracer-guarded", "kprobe": "kprobes", "kprobe-guarded": "kprobes-guarded",
            "key": "key", "call": "call", "throttled": "tracer", "throttled-guarded": "tracer-guarded"}


def _explained(series, case):
    shares = ", ".join(f"{name} {hits}" for name, hits in profile(series, case))
    return f"most of the time of {case} on the series: {shares or 'nothing was sampled'}"


def explain(judged, series):
    """For each kind of case that misses a target, where its time goes."""
    cases = {PROFILES[each.row.case] for each in judged if each.verdict == UNMET}
    return [_explained(series, case) for case in sorted(cases)]


def report(arch, base, series):
    """Every line of the result."""
    judged = [judge(row, arch, base, series) for row in ROWS]
    unmet = sum(each.verdict == UNMET for each in judged)
    met = sum(each.verdict == MET for each in judged)
    return [*table(judged), "", *growth(base, series), "", *explain(judged, series),
            f"{arch}: {met} targets met, {unmet} not met"]


# Measuring

def build_program(arch, folder):
    """The guest's program, static."""
    arch, program = arches.get(arch), folder / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    command([f"{arch.cross}gcc", "-static", "-O2", SOURCE, "-o", program, "-lpthread"], what="building bench")
    return program


def _received(result):
    try:
        with tarfile.open(result.out_tar) as tar:
            return tar.extractfile("bench.txt").read().decode()
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise Fail(INFRA, f"what the guest measured cannot be read ({error}): see its console, {result.log}") from None


def measure(arch, kdir, program, what=REPETITIONS, **how):
    """Boot once; what was measured."""
    initrd = initramfs.build_initramfs(arch, extra={"bench": program}, job=JOB, args=[what])
    result = boot.boot(arch, kdir, initrd, timeout=TIMEOUT, echo=False, **how)
    boot.report(result)
    if result.code != OK:
        raise Fail(result.code, f"measuring {kdir.name} failed: {result.reason}; its console is in {result.log}")
    return parse(_received(result))


def count(arch, kdir, program):
    """What is the same however often it is measured: instructions of a traced call, and the size of the text."""
    calls = measure(arch, kdir, program, "calls", smp=1, qemu_args=boot.COUNTED)
    text = output(["size", "-B", kdir / "vmlinux"]).splitlines()[1].split()[0]
    return calls | {("size", "text"): [int(text) // 1024]}


def compare(arch, kernels):
    """which -> values, the kernels booted in turn."""
    program = build_program(arch, paths.BUILD / "bench" / arch)
    found = {which: [] for which in kernels}
    for number in range(ROUNDS):
        for which, kdir in kernels.items():
            say(f"measuring {which}, {number + 1} of {ROUNDS}")
            found[which].append(measure(arch, kdir, program))
    for which, kdir in kernels.items():
        say(f"counting {which}")
        found[which].append(count(arch, kdir, program))
    return {which: merge(parts) for which, parts in found.items()}


def main(options):
    """`bench`: a measurement, so that a target that is not met is no failure."""
    arch = options.arch
    kernels = {BASE: kernel.build_kernel(arch, base=True, fragments=(*arches.get(arch).base_fragments, THROTTLE)),
               SERIES: kernel.build_kernel(arch, fragments=("bench", THROTTLE))}
    found = compare(arch, kernels)
    print("\n".join(report(arch, found[BASE], found[SERIES])), flush=True)
    return OK
