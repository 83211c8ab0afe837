# SPDX-License-Identifier: GPL-2.0
"""Do the records of a perf.data tell the truth about the kernel's text?

    kcore copy --record--> state --record--> ... --record--> text at the end

Forwards, the old bytes of each record must be the state before it, and the last
state must be the text at the end. Backwards the same, from the end to the copy.
All functions here are pure: bytes and lists in, numbers out.

perf copies kcore after it has opened its events and before it starts the
workload, and reading the text at the end takes a moment too. A record that falls
into either moment may or may not be in the bytes read, and is settled first:
each byte that it touches must be one of the values the byte had meanwhile.
"""

import re
import struct
from dataclasses import dataclass, field, replace

HEAD = re.compile(
    r"(?:\[(?P<cpu>\d+)\]\s+)?(?P<seconds>\d+)\.(?P<nanos>\d{9}):\s+"
    r"PERF_RECORD_TEXT_POKE\s+(?P<addr>[0-9a-f]+)"
    r"\s+(?P<symbol>.*?)\s*old len (?P<old>\d+) new len (?P<new>\d+)$"
)
BYTES = re.compile(r"^\s+(?P<which>Old|New) bytes:(?P<bytes>(?: [0-9a-f]{2})+)\s*$")
# Bytes of a literal, and of the instruction behind it, which may share a record.
LITERAL = 8
CALL = 4

LOST = re.compile(r"PERF_RECORD_LOST\s+lost (?P<count>\d+)$")


@dataclass(frozen=True)
class Poke:
    """One PERF_RECORD_TEXT_POKE; time in ns."""

    time: int
    addr: int
    old: bytes
    new: bytes
    symbol: str = ""
    cpu: int | None = None  # that wrote it; None: the recording does not say

    @property
    def length(self):
        return max(len(self.old), len(self.new))

    def reversed(self):
        return replace(self, old=self.new, new=self.old)

    def sites(self):
        """A literal and the instruction behind it, if the record is of both; else the record."""
        if not LITERAL < len(self.old) == len(self.new):
            return [self]
        at = len(self.old) - CALL
        return [
            replace(self, old=self.old[:LITERAL], new=self.new[:LITERAL]),
            replace(self, addr=self.addr + at, old=self.old[at:], new=self.new[at:], symbol=""),
        ]


def count_sites(pokes):
    """At how many sites text has changed."""
    return len({site.addr for poke in pokes for site in poke.sites()})


@dataclass(frozen=True)
class Text:
    """The bytes of kernel memory from base on."""

    base: int
    data: bytes

    def holds(self, poke):
        return self.base <= poke.addr and poke.addr + poke.length <= self.base + len(self.data)

    def changed_from(self, other):
        """How many bytes differ."""
        if self.data == other.data:
            return 0
        return sum(a != b for a, b in zip(self.data, other.data, strict=True))


@dataclass
class Result:
    """What replaying found. breaks: records whose old bytes are not the state before."""

    records: int = 0
    sites: int = 0
    outside: int = 0
    changed: int = 0
    lost: int = 0
    breaks: int = 0
    outside_breaks: int = 0
    unsettled: int = 0
    forwards: int = 0
    backwards: int = 0
    bad: list = field(default_factory=list)

    @property
    def exact(self):
        return not (
            self.breaks or self.outside_breaks or self.unsettled or self.forwards or self.backwards
        )


def _hex(match):
    return bytes.fromhex(match["bytes"])


def _poke(head, parts):
    """A record whose bytes were cut short would replay as something else."""
    old, new = parts["Old"], parts["New"]
    if (len(old), len(new)) != (int(head["old"]), int(head["new"])):
        raise ValueError(
            f"perf printed {len(old)} and {len(new)} bytes of a record of {head['old']} and "
            f"{head['new']}"
        )
    time = int(head["seconds"]) * 10**9 + int(head["nanos"])
    cpu = None if head["cpu"] is None else int(head["cpu"])
    return Poke(time, int(head["addr"], 16), old, new, head["symbol"], cpu)


def parse_script(lines):
    """(pokes in order of time, count of lost records) of perf script's output."""
    pokes, lost, head, parts = [], 0, None, {}
    for line in lines:
        if head and (match := BYTES.match(line)):
            parts[match["which"]] += _hex(match)
            continue
        if head:
            pokes.append(_poke(head, parts))
        head, parts = HEAD.search(line.rstrip()), {"Old": b"", "New": b""}
        if match := LOST.search(line.rstrip()):
            lost += int(match["count"])
    if head:
        pokes.append(_poke(head, parts))
    return sorted(pokes, key=lambda poke: poke.time), lost


def segments(kcore):
    """(file offset, address, size) of each loadable segment of an ELF64 file, either byte order."""
    ident = kcore.read(64)
    if ident[:5] != b"\x7fELF\x02":
        raise ValueError("the kcore copy is not a 64-bit ELF file")
    order = "<" if ident[5] == 1 else ">"
    (offset,) = struct.unpack_from(order + "Q", ident, 32)
    size, count = struct.unpack_from(order + "HH", ident, 54)
    kcore.seek(offset)
    table = kcore.read(size * count)
    for at in range(0, len(table), size):
        kind, _, where, addr, _, length = struct.unpack_from(order + "IIQQQQ", table, at)
        if kind == 1:
            yield where, addr, length


def kcore_text(kcore, base, length):
    """The text in perf's copy of kcore (an open file)."""
    for where, addr, size in list(segments(kcore)):
        if addr <= base and base + length <= addr + size:
            kcore.seek(where + base - addr)
            data = kcore.read(length)
            if len(data) == length:
                return Text(base, data)
    raise ValueError(f"the kcore copy does not hold the kernel's text at {base:x}")


def _histories(text, pokes):
    """address -> the values that a byte had, oldest first,
    for each byte of text that pokes touch.
    """
    histories: dict[int, list[int]] = {}
    for poke in pokes:
        if text.holds(poke):
            for i, (old, new) in enumerate(zip(poke.old, poke.new)):
                histories.setdefault(poke.addr + i, [old]).append(new)
    return histories


def settle(text, pokes, last):
    """(text as it was after pokes, or before them, and how many bytes had no value of theirs)."""
    data, wrong = bytearray(text.data), 0
    for addr, values in _histories(text, pokes).items():
        at = addr - text.base
        wrong += data[at] not in values
        data[at] = values[-1 if last else 0]
    return Text(text.base, bytes(data)), wrong


def _outside(known, poke):
    """One step outside text, where a byte is known from the first record that names it."""
    good = True
    for i, byte in enumerate(poke.old):
        good &= known.pop(poke.addr + i, byte) == byte
    for i, byte in enumerate(poke.new):
        known[poke.addr + i] = byte
    return good


def _inside(data, at, poke):
    """One step in text, which neither comes into being nor goes away."""
    good = len(poke.old) == len(poke.new) > 0 and data[at : at + len(poke.old)] == poke.old
    data[at : at + len(poke.new)] = poke.new
    return good


def replay(start, pokes, bad):
    """(text after pokes, breaks in text, breaks outside);
    bad gathers the records that do not fit.
    """
    known: dict[int, int] = {}
    data, breaks, outside = bytearray(start.data), 0, 0
    for poke in pokes:
        inside = start.holds(poke)
        fits = _inside(data, poke.addr - start.base, poke) if inside else _outside(known, poke)
        if not fits:
            bad.append(poke)
            breaks += inside
            outside += not inside
    return Text(start.base, bytes(data[: len(start.data)])), breaks, outside


def judge(start, end, pokes, lost, workload_began, end_began, end_ended):
    """Replay pokes from start to end and back. The times are when the workload began, and when the
    text at the end began and ended to be read; what came after that is perf closing down."""
    early = [p for p in pokes if p.time < workload_began]
    middle = [p for p in pokes if workload_began <= p.time < end_began]
    late = [p for p in pokes if end_began <= p.time <= end_ended]
    result = Result(
        records=len(pokes),
        sites=count_sites(pokes),
        lost=lost,
        outside=sum(not start.holds(p) for p in pokes),
        changed=end.changed_from(start),
    )
    start, wrong_start = settle(start, early, last=True)
    end, wrong_end = settle(end, late, last=False)
    forwards, breaks, outside = replay(start, middle, result.bad)
    backwards, back_breaks, back_outside = replay(end, [p.reversed() for p in reversed(middle)], [])
    result.unsettled = wrong_start + wrong_end
    result.breaks, result.outside_breaks = breaks + back_breaks, outside + back_outside
    result.forwards, result.backwards = forwards.changed_from(end), backwards.changed_from(start)
    return result
