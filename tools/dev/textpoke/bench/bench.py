# SPDX-License-Identifier: GPL-2.0
"""`make bench`: what changing text costs, base and series side by side.

Emulated times are noisy and this machine is not another, so a figure is always a ratio
within one run: both kernels are booted in turn, several times, and the smallest of each
is compared. Targets that are not met are printed as such, with the functions that took
most of the time.

The same is left as a page, index.html, and as numbers, bench.json, with which a later run
can be compared.
"""

import functools
import math
import re
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from .. import arch as arches
from .. import paths
from ..errors import INFRA, OK, Fail
from ..guests import boot, initramfs, kernel, tests
from ..pages import markup
from ..say import run as command
from ..say import output, say
from . import benchfile, benchpage
from .benchfile import BASE, SERIES
from .benchrows import (
    AXES,
    CPUS as GROWN,
    MET,
    THOUSANDS,
    TIMES,
    UNKNOWN,
    UNMET,
    VARIANT_ROWS,
    Row,
    rows_of,
)

SOURCE = initramfs.GUEST / "bench.c"
JOB = initramfs.GUEST / "bench.sh"
MODULES = initramfs.GUEST / "bench-modules"
# Fragments of both kernels: what lets a poker wait for its CPU, and debug messages to be switched.
BOTH = ("throttle", "messages")
ROUNDS = 2  # boots of each kernel, in turn
REPETITIONS = 4  # in each boot
TIMEOUT = 2400
CPUS = 2
QUIET, PAUSE = 1200, 10  # seconds for which it waits for the machine, and between two looks
IDLE = "idle"
STALL_LIMIT = 1e6  # ns above the idle stall
DELAY_LIMIT = 1e6  # ns that a call may take beside a poker that has to wait
TRAPPING_BASES = {"x86"}  # where 6.12 itself leaves traps in the text meanwhile
SYNCS, SITES = 4, 4096  # so many broadcasts for so many sites


# What the guests sent


def parse(text):
    """(case, metric) -> values, in the order of the repetitions."""
    found: dict[tuple[str, str], list[int]] = {}
    for line in text.splitlines():
        case, metric, value = line.split()
        found.setdefault((case, metric), []).append(int(value))
    return found | dict(_awake(found)) | dict(_rates(found))


def _awake(found):
    """Of each switch how much of it the task ran: how long it waits may be chance, as where the
    optimizer of kprobes is at work just then.
    """
    for (case, metric), values in found.items():
        if asleep := found.get((case, f"{metric}_asleep")):
            yield (case, f"{metric}_awake"), [
                max(0, whole - slept) for whole, slept in zip(values, asleep, strict=True)
            ]


def _rates(found):
    """How many records of each switch perf gets in a second of it."""
    for (case, metric), values in found.items():
        if metric == "records" and any(values):
            times = zip(found[case, "on"], found[case, "off"], strict=True)
            yield (case, "records_per_second"), [
                round(records * 1e9 / (on + off)) for records, (on, off) in zip(values, times)
            ]


def merge(parts):
    """The values of several boots."""
    whole: dict[tuple[str, str], list[int]] = {}
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

    @property
    def cells(self):
        """As words: what it is, base, series, ratio, target, verdict."""
        ratio = "-" if self.ratio is None else f"{self.ratio:.2f}"
        metric = self.row.metric
        return (
            self.row.what,
            _cell(metric, self.base),
            _cell(metric, self.series),
            ratio,
            self.target,
            self.verdict,
        )


def _ratio(above, below):
    return min(above) / min(below) if above and below and min(below) else None


def _verdict(value, limit):
    if value is None:
        return UNKNOWN
    return MET if value <= limit else UNMET


def _limit(row, arch):
    """The architecture's, or that of all."""
    return row.limit.get(arch) if isinstance(row.limit, dict) else row.limit


def _against_base(row, arch, base, series):
    limit = _limit(row, arch)
    if limit is None:
        return "", ""
    ratio = _ratio(series.get((row.case, row.metric)), base.get((row.case, row.metric)))
    return f"<= {limit} of base", _verdict(ratio, limit)


def _against_other(row, arch, base, series):
    """Against another case of the same kernel."""
    ratio = _ratio(series.get((row.case, row.metric)), series.get((row.other, row.metric)))
    shown, limit = "" if ratio is None else f" ({ratio:.2f})", _limit(row, arch)
    return f"<= {limit} x unheard{shown}", _verdict(ratio, limit)


def _against_call(row, arch, base, series):
    """What others trace is not to make a call dearer; only the tracing counts, not the call."""
    many, one, none = (
        series.get((row.case, metric)) for metric in (row.metric, row.other, "untraced")
    )
    ratio = (min(many) - min(none)) / (min(one) - min(none)) if many and one and none else None
    shown = "" if ratio is None else f" ({ratio:.2f})"
    return f"<= {row.limit} x one tracer{shown}", _verdict(ratio, row.limit)


def _against_idle(row, arch, base, series):
    """Stalls by the median: the smallest of several maxima says little.

    A row may aim at some architectures only.
    """
    if row.limit and arch not in row.limit:
        return "", ""
    here, idle = series.get((row.case, row.metric)), series.get((IDLE, row.metric))
    more = median(here) - median(idle) if here and idle else None
    return "<= idle + 1 ms", _verdict(more, STALL_LIMIT)


def _against_delay(row, arch, base, series):
    """What traps cost elsewhere: by the median, as of stalls;
    on x86, whose base traps too, no more than there.
    """
    here, there = series.get((row.case, row.metric)), base.get((row.case, row.metric))
    if arch in TRAPPING_BASES:
        return "<= 1.0 of base", _verdict(
            median(here) / median(there) if here and there else None, 1.0
        )
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


def _against_number(row, arch, base, series):
    """A count that the limit itself is for."""
    here = series.get((row.case, row.metric))
    return f"<= {row.limit}", _verdict(min(here) if here else None, row.limit)


RULES = {
    "base": _against_base,
    "other": _against_other,
    "idle": _against_idle,
    "delay": _against_delay,
    "call": _against_call,
    "broadcasts": _against_sites,
    "number": _against_number,
}


def _titled(row, arch):
    """A row that says so if the base's text is not that of the same configuration."""
    other = arches.get(arch).base_fragments if row.case == "size" else ()
    return replace(row, what=f"{row.what} (base: {', '.join(other)})") if other else row


def judge(row, arch, base, series):
    """A row, judged; a row without a rule has figures only."""
    of_base, of_series = base.get((row.case, row.metric), []), series.get(
        (row.case, row.metric), []
    )
    target, verdict = RULES[row.rule](row, arch, base, series) if row.rule else ("", "")
    return Judged(
        _titled(row, arch), of_base, of_series, _ratio(of_series, of_base), target, verdict
    )


# Printing


def figure(metric, value):
    """A value with its unit; times in ms."""
    if metric in TIMES:
        return f"{value / 1e6:.2f} ms"
    if metric in THOUSANDS:
        return f"{value / 1000:.1f}"
    return f"{value} kB" if metric in ("memory", "text", "data") else f"{value:g}"


HEAD = ("what: best (median)", "base", "series", "ratio", "target", "")


def _is_rate(metric):
    return metric.endswith("_per_second")


def _best(metric, values):
    """The highest of rates, and the smallest of all else."""
    return max(values) if _is_rate(metric) else min(values)


def _cell(metric, values):
    """The best and the median."""
    if not values:
        return "-"
    return f"{figure(metric, _best(metric, values))} ({figure(metric, median(values))})"


def columns(rows):
    """Rows of words as columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows
    ]


def table(judged):
    """The lines of the table."""
    return columns([HEAD, *(each.cells for each in judged)])


GROWTH = (
    ("on", "on"),
    ("off", "off"),
    ("ipis", "IPIs"),
    ("syncs", "syncs"),
    ("mappings", "mappings"),
    ("memory", "memory"),
)


def growth(axis, base, series):
    """Lines: how time, IPIs and memory grow with what is along an axis; base / series."""
    rows = [(f"{axis.title}: base / series", *(name for _, name in GROWTH))]
    for number, case in axis.cases:
        size = f"all ({series[('sites', 'functions')][0]})" if number is None else str(number)
        cells = [
            f"{_smallest(base, case, metric)} / {_smallest(series, case, metric)}"
            for metric, _ in GROWTH
        ]
        rows.append((size, *cells))
    return columns(rows)


def _smallest(found, case, metric):
    values = found.get((case, metric))
    return figure(metric, min(values)) if values else "-"


def profile(found, case):
    """The functions that took most of a case's time,
    with their shares of the samples that are named.
    """
    hits = {}
    for (name, metric), values in found.items():
        if name == case and metric.startswith("profile:"):
            hits[metric.removeprefix("profile:")] = sum(values)
    return sorted(hits.items(), key=lambda each: -each[1])


# What shows where the time of a case goes: that of one probe is too short to be sampled.
PROFILES = {
    "tracer": "tracer",
    "tracer-guarded": "tracer-guarded",
    "kprobe": "kprobes",
    "kprobe-guarded": "kprobes-guarded",
    "kprobes": "kprobes",
    "key": "key",
    "one-key": "one-key",
    "one-call": "one-call",
    "one-program": "one-program",
    "events": "events",
    "module-calls": "module-calls",
    "call": "call",
    "counted": "one-key",
    "isolated": "tracer",
    "throttled": "tracer",
    "throttled-guarded": "tracer-guarded",
}


def _explained(series, case):
    shares = ", ".join(f"{name} {hits}" for name, hits in profile(series, case))
    return f"most of the time of {case} on the series: {shares or 'nothing was sampled'}"


def explain(judged, series):
    """For each kind of case that misses a target, where its time goes."""
    cases = {PROFILES[each.row.case] for each in judged if each.verdict == UNMET}
    return [_explained(series, case) for case in sorted(cases)]


def judge_all(arch, base, series):
    """Every row of an architecture, judged."""
    return [judge(row, arch, base, series) for row in rows_of(arch)]


def judge_variant(arch, base, varied):
    """What a parameter makes different; it has no targets."""
    return [judge(row, arch, base, varied) for row in VARIANT_ROWS if row.is_of(arch)]


def waits(words, series, varied):
    """Lines: for how much longer the task sleeps that turns the tracer, with a parameter."""
    for metric in ("on", "off"):
        key = ("tracer", f"{metric}_asleep")
        if series.get(key) and varied.get(key):
            more = max(0, min(varied[key]) - min(series[key]))
            yield f"function tracer {metric} with {words}: {figure(metric, more)} more in RCU-tasks"


def _variant(arch, words, base, series, varied):
    """The lines of the same series with a parameter."""
    return [
        "",
        f"with {words}, which has no targets:",
        *table(judge_variant(arch, base, varied)),
        *waits(words, series, varied),
    ]


def counted(arch, judged):
    """The line that counts targets."""
    unmet = sum(each.verdict == UNMET for each in judged)
    met = sum(each.verdict == MET for each in judged)
    return f"{arch}: {met} targets met, {unmet} not met"


def report(arch, base, series, others=None):
    """Every line of the result; others: the series with a parameter, parameter -> values."""
    judged = judge_all(arch, base, series)
    varied = [
        line
        for words, values in (others or {}).items()
        for line in _variant(arch, words, base, series, values)
    ]
    return [
        *table(judged),
        *(line for axis in AXES for line in ("", *growth(axis, base, series))),
        *varied,
        "",
        *explain(judged, series),
        counted(arch, judged),
    ]


# Against another run

CHANGED = 0.1  # less is noise
THEN = ("now and then: min", "base then", "now", "series then", "now", "ratio then", "now", "")


def _changed(then, now):
    """A word for what became of a figure, of which less is better."""
    if not then or now is None:
        return ""
    share = now / then
    return "worse" if share > 1 + CHANGED else "better" if share < 1 - CHANGED else ""


def _then_and_now(row, then, now):
    """A row of two runs: each run's base, series and ratio."""
    key = (row.case, row.metric)
    found = [run[which].get(key, []) for which in (BASE, SERIES) for run in (then, now)]
    ratios = [_ratio(run[SERIES].get(key), run[BASE].get(key)) for run in (then, now)]
    best = [_best(row.metric, values) if values else None for values in found]
    here = reversed(best[2:]) if _is_rate(row.metric) else best[2:]
    word = _changed(*ratios) if all(ratios) else _changed(*here)
    return (
        row.what,
        *(figure(row.metric, each) if values else "-" for each, values in zip(best, found)),
        *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
        word,
    )


def compared(arch, then, now):
    """A table, as rows of words: what has changed since another run of this architecture."""
    return [THEN, *(_then_and_now(row, then, now) for row in rows_of(arch))]


# Measuring


def build_program(arch, folder):
    """The guest's program, static."""
    arch, program = arches.get(arch), folder / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    command(
        [f"{arch.cross}gcc", "-static", "-O2", SOURCE, "-o", program, "-lpthread"],
        what="building bench",
    )
    return program


def _received(result):
    try:
        with tarfile.open(result.out_tar) as tar:
            member = tar.extractfile("bench.txt")
            assert member, "it is a file"
            return member.read().decode()
    except (tarfile.TarError, KeyError, EOFError) as error:
        raise Fail(
            INFRA,
            f"what the guest measured cannot be read ({error}): see its console, {result.log}",
        ) from None


def wait_for_quiet(cpus):
    """Until nothing else uses so many CPUs: what is measured beside other work says nothing."""
    wanted = min(cpus, boot.cores())
    words = "waiting until nothing else uses the CPUs"
    if boot.wait_for_cores(wanted, QUIET, PAUSE, words) < wanted:
        raise Fail(
            INFRA,
            f"something else has used this machine's CPUs for {QUIET // 60} minutes, beside "
            "which nothing can be measured: run `make bench` again when it has ended",
        )


def measure(arch, kdir, files, what=REPETITIONS, **how):
    """Boot once, with files (guest path -> file) of ours; what was measured."""
    initrd = initramfs.build_initramfs(arch, extra=files, job=JOB, args=[what])
    wait_for_quiet(how.get("smp", CPUS))
    result = boot.boot(arch, kdir, initrd, timeout=TIMEOUT, echo=False, **how)
    boot.report(result)
    if result.code != OK:
        raise Fail(
            result.code,
            f"measuring {kdir.name} failed: {result.reason}; " f"its console is in {result.log}",
        )
    return parse(_received(result))


def count(arch, kdir, files, **how):
    """What is the same however often it is measured: instructions of a call, size of the text."""
    calls = measure(arch, kdir, files, "calls", smp=1, qemu_args=boot.COUNTED, **how)
    vmlinux = kdir / "vmlinux"
    each = sizes_of_each(output(["size", "-A", vmlinux]), output(["nm", "-S", vmlinux]))
    return calls | sizes(output(["size", "-B", vmlinux])) | dict(each)


def isolated(arch, kdir, files, append="", **how):
    """The interrupts that a CPU gets which nohz_full= names."""
    return measure(arch, kdir, files, "isolated", append=f"nohz_full=1 {append}".strip(), **how)


def on_cpus(number, arch, kdir, files, **how):
    """How the tracer and a key are switched on so many CPUs, which take turns."""
    found = measure(arch, kdir, files, "cpus", smp=number, turns=True, **how)
    return {(f"{case}-{number}", metric): values for (case, metric), values in found.items()}


def sizes(said):
    """What `size -B` says of a kernel, in kB."""
    text, data, *_ = said.splitlines()[1].split()
    return {("size", "text"): [int(text) // 1024], ("size", "data"): [int(data) // 1024]}


POINTER = 8  # bytes


def sizes_of_each(sections, symbols):
    """Bytes for each CPU, from `size -A`, and for each site that is queued, from `nm -S`: few_sites
    is an array of these, and few_index one of pointers to them.
    """
    if each_cpu := re.search(r"^\.data\.\.percpu\s+(\d+)", sections, re.M):
        yield ("size", "cpu"), [int(each_cpu[1])]
    arrays = re.findall(r"^\w+ (\w+) \w (few_sites|few_index)$", symbols, re.M)
    names = {name: int(size, 16) for size, name in arrays}
    if len(names) == 2:
        number = names["few_index"] // POINTER
        yield ("size", "site"), [sum(names.values()) // number]


@dataclass(frozen=True)
class Subject:
    """What is measured: a kernel, and words on its command line."""

    kdir: Path
    append: str = ""


def subjects(arch, kernels):
    """Name -> Subject: both kernels, and the series once more with each parameter of its own."""
    also = {words: Subject(kernels[SERIES], words) for words in arches.get(arch).kunit_also}
    return {which: Subject(kdir) for which, kdir in kernels.items()} | also


def compare(arch, kernels):
    """Name -> values, the subjects booted in turn."""
    home = paths.BUILD / "bench" / arch
    program = build_program(arch, home)
    found: dict[str, list] = {}
    files = {
        kdir: {"bench": program, **tests.build_modules(arch, kdir, MODULES, home / kdir.name)}
        for kdir in kernels.values()
    }
    boots = [(measure, f"measuring {number + 1} of {ROUNDS}") for number in range(ROUNDS)]
    alone: list = [(isolated, "an isolated CPU")] * arches.get(arch).isolates
    grown: list = [(functools.partial(on_cpus, number), f"on {number} CPUs") for number in GROWN]
    steps: list = [*boots, (count, "counting"), *grown, *alone]
    for do, doing in steps:
        for name, subject in subjects(arch, kernels).items():
            say(f"{doing}: {name}")
            kdir = subject.kdir
            found.setdefault(name, []).append(do(arch, kdir, files[kdir], append=subject.append))
    return {name: merge(parts) for name, parts in found.items()}


# What is left of it


def leave(arch, found, then=None):
    """Write figures and page, and print all that there is to say."""
    home = paths.BUILD / "bench" / arch
    others = {name: values for name, values in found.items() if name not in (BASE, SERIES)}
    print("\n".join(report(arch, found[BASE], found[SERIES], others)), flush=True)
    if then:
        print("\n".join(["", *columns(compared(arch, then, found))]), flush=True)
    benchfile.write(home / "bench.json", arch, found)
    say(f"the figures, for COMPARE= of a later run: {home / 'bench.json'}")
    markup.try_to_write(home / "index.html", benchpage.write, shown(arch, found, others, then))


def shown(arch, found, others, then=None):
    """What the page shows."""
    base, series = found[BASE], found[SERIES]
    judged = judge_all(arch, base, series)
    variants = {
        words: [each.cells for each in judge_variant(arch, base, values)]
        for words, values in others.items()
    }
    return benchpage.Shown(
        arch,
        counted(arch, judged),
        not any(each.verdict == UNMET for each in judged),
        (HEAD, *(each.cells for each in judged)),
        [(each.row.what, each.ratio) for each in judged if each.ratio is not None],
        found,
        variants,
        explain(judged, series),
        compared(arch, then, found) if then else (),
    )


def main(options):
    """`bench`: a measurement, so that a target that is not met is no failure."""
    arch, named = options.arch, options.get("COMPARE")
    # Before this run's own figures take its place.
    then = benchfile.read(named, arch) if named else None
    own = arches.get(arch).base_fragments
    kernels = {
        BASE: kernel.build_kernel(arch, base=True, fragments=(*own, *BOTH)),
        SERIES: kernel.build_kernel(arch, fragments=("bench", *BOTH)),
    }
    leave(arch, compare(arch, kernels), then)
    return OK
