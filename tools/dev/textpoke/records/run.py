# SPDX-License-Identifier: GPL-2.0
"""The main job: perf records in the guest what the kernel does to its text,
and the host shows it and replays it.

What is shown comes from the real perf script; what is judged is whether the records explain
the difference between perf's own copy of kcore and the text at the end.

With BASE=1 the kernel is the unpatched one. Where that records nothing (everywhere but on
x86) the verdict is "incomplete: text changed, nothing recorded", and the exit status is 0,
because to show that is what BASE=1 is for.
"""

import shutil
import tarfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .. import arch as arches
from .. import paths
from ..code import disasm
from ..errors import INFRA, OK, TEST_FAILED, Fail
from ..guests import boot, initramfs, kernel, perf
from ..pages import markup
from ..say import run as command
from ..say import say
from . import page, replay

TESTS = paths.ROOT / "tools/testing/selftests/text_poke"
SNAPSHOT = ("text_snapshot.c", "kcore.c")
JOB = initramfs.GUEST / "run-job.sh"
WHERE = "/tmp/run"  # in the guest
SHOWN = 5  # of what there are thousands, at either end
KINDS = (
    ("branches", "static keys", None),
    ("calls", "function tracer, static calls", SHOWN),
    ("data", "what the tracer calls, trampolines", SHOWN),
)
TIMEOUT = 900  # seconds; a minute or two on an idle machine
COUNTERS = (
    ("pokes", "pokes"),
    ("batches", "batches"),
    ("syncs", "syncs"),
    ("traps", "traps handled"),
)


@dataclass
class Recording:
    """What the guest sent."""

    folder: Path

    def words(self, name):
        """The numbers of text_snapshot: base, length, began, ended."""
        base, *rest = (self.folder / name).read_text().split()
        return int(base, 16), *map(int, rest)

    def counters(self, which):
        lines = (self.folder / f"stats.{which}").read_text().splitlines()
        return {name: int(value) for name, value in map(str.split, lines)}

    def trapped(self):
        """Symbol of a site -> how many of the last traps were there."""
        lines = (self.folder / "trapped").read_text().splitlines()
        return Counter(line.partition(" ")[2] for line in lines)

    def grown(self):
        """name -> by how much it grew; empty where the kernel counts nothing."""
        before = self.counters("before")
        return {name: value - before[name] for name, value in self.counters("after").items()}

    @property
    def data(self):
        return self.folder / "perf.data"

    def start(self):
        base, length, *_ = self.words("began")
        with open(self.data / "kcore_dir/kcore", "rb") as kcore:
            return replay.kcore_text(kcore, base, length)

    def end(self):
        base, *_ = self.words("ended")
        return replay.Text(base, (self.folder / "text").read_bytes())

    def symbols(self):
        with open(self.data / "kcore_dir/kallsyms") as lines:
            return disasm.Symbols(lines)


def unpack(archive, folder):
    """The guest's files, whole or not at all."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(part, filter="data")  # type: ignore[call-arg]  # mypy 1.0: unknown
    except (tarfile.TarError, EOFError) as error:
        raise Fail(
            INFRA, f"what the guest sent cannot be read ({error}): see its console"
        ) from None
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return Recording(folder)


def decode(host_perf, recording):
    """(pokes, lost) as perf script prints them."""
    text = recording.folder / "perf-script.txt"
    command(
        [
            host_perf,
            "script",
            "-i",
            recording.data,
            "--ns",
            "--show-text-poke-events",
            "--show-lost-events",
        ],
        log=text,
        what="perf script",
    )
    with open(text, errors="replace") as lines:
        return replay.parse_script(lines)


class Listing:
    """The records as people read them."""

    kinds = {kind: what for kind, what, _ in KINDS}

    def __init__(self, records, symbols, arch):
        self.symbols = symbols
        self.pokes = [site for record in records for site in record.sites()]
        self.shown = disasm.disassemble([code for p in self.pokes for code in (p.old, p.new)], arch)

    def instruction(self, code, addr):
        return disasm.show(self.shown[code], addr, self.symbols)

    def place(self, poke):
        """perf's own name for the address, or ours where perf has none."""
        return poke.symbol or self.symbols.name(poke.addr)

    def line(self, poke, arrow="->"):
        old, new = self.instruction(poke.old, poke.addr), self.instruction(poke.new, poke.addr)
        return f"{poke.addr:016x}  {self.place(poke):<44} {old} {arrow} {new}"

    def kind(self, poke):
        """What the first word of KINDS says. Static calls and the function tracer change calls."""
        old, new = self.shown[poke.old], self.shown[poke.new]
        if old.data or new.data:
            return "data"
        return "calls" if old.call or new.call else "branches"

    def full(self):
        """Every change that is recorded, in order of time."""
        return [f"{p.time // 10**9:6d}.{p.time % 10**9:09d}  {self.line(p)}" for p in self.pokes]

    def sites(self, kind):
        """(first record, count) of each site of a kind."""
        first: dict = {}
        count: dict[int, int] = {}
        for poke in self.pokes:
            if self.kind(poke) == kind:
                first.setdefault(poke.addr, poke)
                count[poke.addr] = count.get(poke.addr, 0) + 1
        return [(poke, count[addr]) for addr, poke in first.items()]

    def brief(self):
        """All branches, and of the rest the first and last few."""
        lines = []
        for kind, what, most in KINDS:
            sites = self.sites(kind)
            shown = [
                f"  {self.line(poke, '<->' if count > 1 else '->')}  x{count}"
                for poke, count in sites
            ]
            hidden = len(shown) - 2 * most if most else 0
            lines.append(
                f"{kind} ({what}): {len(sites)} sites, {sum(count for _, count in sites)} changes"
            )
            lines += (
                shown[:most] + [f"  ... {hidden} more ..."] + shown[-most:]
                if most and hidden > 0
                else shown
            )
        return lines


def summary(result, grown):
    """The figures: what perf has, what the kernel counted."""
    lines = [
        f"records {result.records}, sites {result.sites}, outside text {result.outside}, lost "
        f"{result.lost}",
        f"text: {result.changed} bytes differ between perf's kcore copy and the end",
    ]
    if grown:
        lines.append(
            "kernel: " + ", ".join(f"{name} {grown[counter]}" for counter, name in COUNTERS)
        )
    else:
        lines.append("kernel: counts nothing (no text poke core)")
    lines.append(
        f"replay: {result.breaks + result.outside_breaks} records whose old bytes are not the "
        "state before, "
        f"{result.forwards} bytes wrong forwards, {result.backwards} backwards, {result.unsettled} "
        "unsettled"
    )
    return lines


def faults(result, grown, calls):
    """What keeps the verdict from being good, each as words. calls:
    those of the function tracer that changed.
    """
    found = []
    if not result.changed:
        found.append("no text changed")
    if result.changed and not result.records:
        found.append("text changed, nothing recorded")
    elif not result.exact:
        found.append("records do not explain the text")
    if result.lost:
        found.append(f"{result.lost} records lost")
    if result.records and grown and not grown["traps"]:
        found.append("no trap was handled")
    if result.records and not calls:
        found.append("the function tracer changed no call")
    return found


def verdict(result, grown, calls, base):
    """(line, exit status). A base kernel that records nothing is what BASE=1 is there to show."""
    found = faults(result, grown, calls)
    if not found:
        return "VERDICT: complete: the records explain every change of the text", OK
    line = f"VERDICT: incomplete: {', '.join(found)}"
    shown = base and result.changed and not result.records
    return line, OK if shown else TEST_FAILED


def report(recording, pokes, lost, arch, base):
    """Print what changed, the figures and the verdict; returns the exit status."""
    _, _, workload_began, _ = recording.words("began")
    _, _, end_began, end_ended = recording.words("ended")
    result = replay.judge(
        recording.start(), recording.end(), pokes, lost, workload_began, end_began, end_ended
    )
    listing = Listing(pokes, recording.symbols(), arch)
    records = recording.folder / "records.txt"
    records.write_text("\n".join(listing.full()) + "\n" if pokes else "")
    print("\n".join(listing.brief()) if pokes else "no text-poke records")
    figures = [
        *(f"does not fit: {listing.line(poke)}" for poke in result.bad[:SHOWN]),
        *summary(result, recording.grown()),
    ]
    print("\n".join(figures))
    print(f"all records: {records}")
    line, status = verdict(result, recording.grown(), listing.sites("calls"), base)
    print(line, flush=True)
    leave_page(
        recording, listing, figures, page.Verdict(line, line.startswith("VERDICT: complete"))
    )
    return status


def leave_page(recording, listing, figures, judged):
    """The same to be looked at; a page that cannot be had changes nothing of the verdict."""
    base, length, *_ = recording.words("began")
    counters = page.Counters(
        recording.counters("before"), recording.counters("after"), recording.trapped()
    )
    folder = recording.folder.parent
    markup.try_to_write(
        folder / "index.html",
        page.write,
        page.Seen(
            f"make run: {folder.name}",
            listing,
            range(base, base + length),
            figures,
            judged,
            counters,
            f"{recording.folder.name}/records.txt",
        ),
    )


# The job itself


def build_snapshot(arch, folder):
    """The guest's program that reads the kernel's text, static."""
    arch = arches.get(arch)
    program = folder / "text_snapshot"
    folder.mkdir(parents=True, exist_ok=True)
    command(
        [
            f"{arch.cross}gcc",
            "-static",
            "-O2",
            "-D_GNU_SOURCE",
            "-D__SANE_USERSPACE_TYPES__",
            *(TESTS / name for name in SNAPSHOT),
            "-o",
            program,
        ],
        what="building text_snapshot",
    )
    return program


def record(arch, kdir, folder, smp, timeout):
    """Boot, let perf record, and fetch what it recorded.

    The guest's CPUs take turns, as in tests.in_guest().
    """
    extra = perf.build_guest_perf(arch) | {"/usr/bin/text_snapshot": build_snapshot(arch, folder)}
    initrd = initramfs.build_initramfs(arch, extra=extra, job=JOB, args=[WHERE], kdir=kdir)
    out = folder / "guest.tar"
    result = boot.boot(arch, kdir, initrd, smp=smp, timeout=timeout, out=out, turns=True)
    boot.report(result)
    if result.code != OK:
        raise Fail(
            result.code,
            f"the job in the guest failed: {result.reason}; its console is in {result.log}",
        )
    recording = unpack(out, folder / "recording")
    out.unlink()
    return recording


def job(arch, base=False, llvm=False, smp=2, timeout=TIMEOUT):
    """Build, boot, record, decode and judge; returns the verdict's code."""
    kdir = kernel.build_kernel(arch, base=base, llvm=llvm)
    host_perf = perf.build_host_perf()
    recording = record(arch, kdir, paths.BUILD / "run" / kdir.name, smp, timeout)
    say("decoding")
    pokes, lost = decode(host_perf, recording)
    return report(recording, pokes, lost, arch, base)


def main(options):
    """`run`: the main job; the exit status is the verdict's."""
    return job(
        options.arch,
        options.flag("BASE"),
        options.flag("LLVM"),
        options.number("SMP", 2),
        options.number("TIMEOUT", TIMEOUT),
    )
