# SPDX-License-Identifier: GPL-2.0
"""A perf.data file taken apart and put together again, with hardware trace in it.

What a guest has recorded has every event of the kernel's, but no trace, for an emulated CPU has no
unit that makes one. What would have been traced is added as perf would have written it: an event
that selects it, AUXTRACE_INFO, and AUX and AUXTRACE for each CPU.

    header | ids | attributes | events | table of features | features

Little endian, 64 bits. All functions here are pure: bytes in, bytes out.
"""

import struct
from dataclasses import dataclass, field

MAGIC = b"PERFILE2"
HEADER = struct.Struct("<8sQQQQQQQQ4Q")  # magic, size, attribute's size, three sections, features
SECTION = struct.Struct("<QQ")
EVENT = struct.Struct("<IHH")  # type, misc, size

LOST, AUX, SWITCH_CPU_WIDE, KSYMBOL, TEXT_POKE = 2, 11, 15, 17, 20
OUT_OF_LINE, GONE = 2, 1  # a type of KSYMBOL, and a flag
FINISHED_ROUND, AUXTRACE_INFO, AUXTRACE, TIME_CONV = 68, 70, 71, 79
FEATURE_AUXTRACE, FEATURE_BPF = 18, 25
# Of a program of BPF: the length of its struct bpf_prog_info, that of what it points to.
BPIL = struct.Struct("<2IQ")
# perf_event_attr: where its parts are, and bits of it.
ATTR = struct.Struct("<IIQQQQQ")  # type, size, config, period, sample_type, read_format, flags
EXCLUDE_USER, SAMPLE_ID_ALL = 1 << 4, 1 << 18
# What follows an event's own fields, in this order, if its bit is in sample_type: 8 bytes each.
TID, TIME, ID, STREAM, CPU, IDENTIFIER = 1 << 1, 1 << 2, 1 << 6, 1 << 9, 1 << 7, 1 << 16
TRAILER = (TID, TIME, ID, STREAM, CPU, IDENTIFIER)
FIRST_ID = 1 << 40  # ids of ours: the guest's are small


@dataclass(frozen=True)
class Attribute:
    """An event that was selected, and its ids: one per CPU."""

    raw: bytes
    ids: tuple

    @property
    def sample_type(self):
        return ATTR.unpack_from(self.raw)[4]


@dataclass(frozen=True)
class Record:
    """A PERF_RECORD_TEXT_POKE, and its place among the events."""

    at: int
    time: int
    addr: int
    old: bytes
    new: bytes

    @property
    def packed(self):
        """As the programs in C read it."""
        return (
            struct.pack("<4Q", self.time, self.addr, len(self.old), len(self.new))
            + self.old
            + self.new
        )


@dataclass(frozen=True)
class Area:
    """Memory with code that is in no file, from a time on; nameless where it is given back."""

    time: int
    addr: int
    length: int
    name: str


@dataclass
class PerfData:
    """The parts of a file. Features are bit -> bytes."""

    attributes: list
    events: list
    features: dict = field(default_factory=dict)

    @property
    def sample_type(self):
        return self.attributes[0].sample_type

    def of_kind(self, kind):
        """(index, bytes) of the events of a kind."""
        return [(at, event) for at, event in enumerate(self.events) if kind_of(event) == kind]

    def records(self):
        """The changes of text, in order of time."""
        found = [_record(at, event, self.sample_type) for at, event in self.of_kind(TEXT_POKE)]
        return sorted(found, key=lambda record: record.time)

    def areas(self):
        """The code out of line, in order of time."""
        found = [_area(event, self.sample_type) for _, event in self.of_kind(KSYMBOL)]
        return sorted((area for area in found if area), key=lambda area: area.time)

    def lost(self):
        """How many records the kernel could not write."""
        return sum(
            struct.unpack_from("<Q", event, EVENT.size + 8)[0] for _, event in self.of_kind(LOST)
        )

    def programs(self):
        """(address, code) of each function of BPF, as it was when perf began to record."""
        content = self.features.get(FEATURE_BPF, b"")
        at = 4
        while at + BPIL.size <= len(content):
            length, data_length, _ = BPIL.unpack_from(content, at)
            info, data = at + BPIL.size, at + BPIL.size + length
            yield from _functions(content[info:data], content[data : data + data_length])
            at = data + data_length

    def time_conversion(self):
        """(shift, multiplier, offset) from the CPUs' clock to perf's."""
        found = self.of_kind(TIME_CONV)
        if not found:
            raise ValueError(
                "the recording does not say what the CPUs' clock has to do with perf's"
            )
        return struct.unpack_from("<3Q", found[0][1], EVENT.size)


def _functions(info, data):
    """Those of a program: its struct bpf_prog_info, whose pointers are offsets in data."""
    (code,) = struct.unpack_from("<Q", info, 24)
    count, lengths, addresses, lengths_at = struct.unpack_from("<2I2Q", info, 104)
    for addr, length in zip(
        struct.unpack_from(f"<{count}Q", data, addresses),
        struct.unpack_from(f"<{lengths}I", data, lengths_at),
    ):
        yield addr, data[code : code + length]
        code += length


def kind_of(event):
    """0 of what is too short to be one."""
    return EVENT.unpack_from(event)[0] if len(event) >= EVENT.size else 0


def _trailer(sample_type):
    """The bits of what follows an event, in order."""
    return [bit for bit in TRAILER if sample_type & bit]


def time_at(event, sample_type):
    """Where in an event its time is."""
    bits = _trailer(sample_type)
    return len(event) - 8 * (len(bits) - bits.index(TIME))


def _record(at, event, sample_type):
    (time,) = struct.unpack_from("<Q", event, time_at(event, sample_type))
    addr, old, new = struct.unpack_from("<QHH", event, EVENT.size)
    begin = EVENT.size + 12
    return Record(
        at, time, addr, event[begin : begin + old], event[begin + old : begin + old + new]
    )


def _area(event, sample_type):
    """None of what is a program of BPF."""
    (time,) = struct.unpack_from("<Q", event, time_at(event, sample_type))
    addr, length, kind, flags = struct.unpack_from("<QIHH", event, EVENT.size)
    name = event[EVENT.size + 16 :].split(b"\0")[0].decode()
    return Area(time, addr, length, "" if flags & GONE else name) if kind == OUT_OF_LINE else None


# Taking apart


def _attributes(data, section, size):
    at, length = section
    for entry in range(at, at + length, size):
        ids_at, ids_length = SECTION.unpack_from(data, entry + size - SECTION.size)
        ids = struct.unpack_from(f"<{ids_length // 8}Q", data, ids_at)
        yield Attribute(data[entry : entry + size - SECTION.size], ids)


def _size(data, at, end):
    """How long the event at a place is, with the trace that may follow it; 0 if it cannot be."""
    if at + EVENT.size > end:
        return 0
    kind, _, size = EVENT.unpack_from(data, at)
    if size < EVENT.size:
        return 0
    if kind == AUXTRACE and EVENT.size + 8 <= size and at + size <= end:
        size += struct.unpack_from("<Q", data, at + EVENT.size)[0]
    return size if at + size <= end else 0


def _events(data, section, broken):
    at, length = section
    end = min(at + length, len(data)) if broken else at + length
    while at < end:
        size = _size(data, at, min(end, len(data)))
        if not size and not broken:
            raise ValueError(f"an event at {at} of perf.data has an impossible length")
        yield data[at : at + size] if size else data[at:end]
        at += size or end - at


def _features(data, bits, table, broken=False):
    for bit in range(256):
        if broken and table + SECTION.size > len(data):
            return
        if bits[bit // 64] >> bit % 64 & 1:
            at, length = SECTION.unpack_from(data, table)
            yield bit, data[at : at + length]
            table += SECTION.size


def parse(data, broken=False):
    """A file's bytes as a PerfData.

    broken  what cannot be an event is one, to the end of them all, and what is cut is not missed
    """
    if data[:8] != MAGIC:
        raise ValueError("this is no perf.data")
    _, _, size, *words = HEADER.unpack_from(data)
    attributes, events, bits = words[0:2], words[2:4], words[6:10]
    return PerfData(
        list(_attributes(data, attributes, size)),
        list(_events(data, events, broken)),
        dict(_features(data, bits, sum(events), broken)),
    )


# Putting together


def _ids_and_attributes(attributes, at):
    """Both as bytes, ids first, and where the attributes begin."""
    ids, table = b"", b""
    for attribute in attributes:
        table += attribute.raw + SECTION.pack(at + len(ids), 8 * len(attribute.ids))
        ids += struct.pack(f"<{len(attribute.ids)}Q", *attribute.ids)
    return ids + table, at + len(ids), len(table)


def _feature_bytes(features, at):
    """The table of features and what it points to."""
    at += SECTION.size * len(features)
    table, contents = b"", b""
    for _, content in sorted(features.items()):
        table += SECTION.pack(at + len(contents), len(content))
        contents += content
    return table + contents


def _index(events, at):
    """What the feature AUXTRACE has: where the AUXTRACE events are, all of which are at the end."""
    found = []
    for event in events:
        if kind_of(event) == AUXTRACE:
            found.append((at, EVENT.unpack_from(event)[2]))
        at += len(event)
    return struct.pack("<Q", len(found)) + b"".join(SECTION.pack(*each) for each in found)


def build(parts):
    """The bytes of a file. An AUXTRACE event is longer than it says, for its trace follows it."""
    head, attributes_at, attributes_length = _ids_and_attributes(parts.attributes, HEADER.size)
    begin = HEADER.size + len(head)
    events = b"".join(parts.events)
    features = dict(parts.features)
    if any(kind_of(event) == AUXTRACE for event in parts.events):
        features[FEATURE_AUXTRACE] = _index(parts.events, begin)
    bits = [sum(1 << bit % 64 for bit in features if bit // 64 == word) for word in range(4)]
    size = attributes_length // len(parts.attributes)
    header = HEADER.pack(
        MAGIC, HEADER.size, size, attributes_at, attributes_length, begin, len(events), 0, 0, *bits
    )
    return header + head + events + _feature_bytes(features, begin + len(events))


# Hardware trace


@dataclass(frozen=True)
class Unit:
    """A kind of trace unit, as perf knows it."""

    kind: int  # of enum auxtrace_type
    config: int  # of the event that selects it
    flags: int  # of its AUX events
    info: object  # (pmu type, CPUs, the recording) -> words of AUXTRACE_INFO


PMU = 77  # a type of event that the guest has not


def _pt_info(pmu, _, parts):
    """enum of tools/perf/util/intel-pt.h: TSC packets, returns are not compressed, whether events
    tell which task runs (3: of all CPUs), one buffer for each CPU.
    """
    switches = 3 if parts.of_kind(SWITCH_CPU_WIDE) else 0
    return (pmu, *parts.time_conversion(), 1, 1 << 10, 1 << 11, switches, 0, 1, *[0] * 7)


PT = Unit(1, 1 << 13 | 1 << 11 | 1 << 10 | 1, 0, _pt_info)

ETM_MAGIC, ETM_PARAMETERS = 0x4040404040404040, 8
# As perf saves them. TRCCONFIGR: timestamps, context ids; IDR0: their size, commit is not told;
# IDR1: ETMv4; IDR2: sizes of context ids and addresses, and that waiting is no branch.
ETM_REGISTERS = {
    "TRCCONFIGR": 1 << 11 | 1 << 6,
    "TRCTRACEIDR": 0x10,
    "TRCIDR0": 8 << 24 | 1 << 29,
    "TRCIDR1": 4 << 8 | 4 << 4,
    "TRCIDR2": 0x488,
    "TRCIDR8": 0,
    "TRCAUTHSTATUS": 0xCC,
}


def _etm_info(pmu, cpus, _):
    """Of tools/perf/util/cs-etm.h, version 1:
    of each unit its registers, and that its timestamps are of the CPUs' clock.
    """
    words = [1, pmu << 32 | cpus, 0]
    for cpu in range(cpus):
        registers = ETM_REGISTERS | {"TRCTRACEIDR": ETM_REGISTERS["TRCTRACEIDR"] + 2 * cpu}
        words += [ETM_MAGIC, cpu, ETM_PARAMETERS, *registers.values(), 1]
    return tuple(words)


ETM = Unit(3, 1 << 28 | 1 << 14, 0x100, _etm_info)


def _selection(parts, unit, cpus):
    """The attribute of the trace, in the form of the guest's own."""
    own = parts.attributes[0]
    _, size, *_ = ATTR.unpack_from(own.raw)
    raw = ATTR.pack(
        PMU, size, unit.config, 1, own.sample_type | IDENTIFIER, 0, EXCLUDE_USER | SAMPLE_ID_ALL
    )
    return Attribute(raw.ljust(len(own.raw), b"\0"), tuple(FIRST_ID + cpu for cpu in range(cpus)))


def _event(kind, body):
    return EVENT.pack(kind, 0, EVENT.size + len(body)) + body


def _sample_id(sample_type, cpu, time):
    values = {
        TID: 0xFFFFFFFFFFFFFFFF,
        TIME: time,
        ID: FIRST_ID + cpu,
        STREAM: FIRST_ID + cpu,
        CPU: cpu,
        IDENTIFIER: FIRST_ID + cpu,
    }
    return b"".join(struct.pack("<Q", values[bit]) for bit in _trailer(sample_type))


@dataclass(frozen=True)
class Stream:
    """The trace of a CPU, and where and when fragments of it end; what is left is the last one."""

    data: bytes
    cuts: tuple[tuple[int, int], ...] = ()

    def fragments(self, late):
        """(where it begins, its bytes, when it ended)"""
        begin = 0
        for end, time in (*self.cuts, (len(self.data), late)):
            yield begin, self.data[begin:end], time
            begin = end


def perf_time(clock, conversion):
    """perf's time of a value of the CPUs' clock."""
    shift, mult, zero = conversion
    return (zero + (clock >> shift) * mult + ((clock & ((1 << shift) - 1)) * mult >> shift)) % (
        1 << 64
    )


def stream(folder, cpu, parts):
    """The trace of a CPU as the encoder has left it."""
    cuts, ends = folder / f"cuts.{cpu}", []
    if cuts.exists():
        conversion = parts.time_conversion()
        for end, clock in struct.iter_unpack("<2Q", cuts.read_bytes()):
            ends.append((end, perf_time(clock, conversion)))
    return Stream((folder / f"aux.{cpu}").read_bytes(), tuple(ends))


def _trace_of_cpu(unit, sample_type, cpu, stream, late):
    """Of each fragment AUX, then AUXTRACE with the trace.

    A reference of 0 would mean that there is no time in it.
    """
    for begin, data, time in stream.fragments(late):
        yield _event(
            AUX,
            struct.pack("<3Q", begin, len(data), unit.flags) + _sample_id(sample_type, cpu, time),
        )
        yield _event(
            AUXTRACE, struct.pack("<3Q4I", len(data), begin, 1, cpu, 0xFFFFFFFF, cpu, 0)
        ) + data


def _latest(parts):
    """The time of the last record, or 0."""
    return max((record.time for record in parts.records()), default=0)


def with_trace(parts, unit, streams):
    """The same with a trace of each CPU."""
    selection = _selection(parts, unit, len(streams))
    words = unit.info(PMU, len(streams), parts)
    info = _event(AUXTRACE_INFO, struct.pack(f"<II{len(words)}Q", unit.kind, 0, *words))
    at = parts.of_kind(TIME_CONV)[0][0] + 1
    whole = [*parts.events[:at], info, *parts.events[at:]]
    events = [event for event in whole if kind_of(event) != FINISHED_ROUND]
    late = _latest(parts) + 10**9
    for cpu, stream in enumerate(streams):
        events += _trace_of_cpu(unit, selection.sample_type, cpu, stream, late)
    return PerfData([*parts.attributes, selection], events, parts.features)


# Breaking it on purpose


def without_record(parts, record):
    """The same as if a record had never been written."""
    return PerfData(
        parts.attributes,
        [event for at, event in enumerate(parts.events) if at != record.at],
        parts.features,
    )


def with_time(parts, record, time):
    """The same with another time of a record."""
    at, event = time_at(parts.events[record.at], parts.sample_type), bytearray(
        parts.events[record.at]
    )
    struct.pack_into("<Q", event, at, time)
    events = list(parts.events)
    events[record.at] = bytes(event)
    return PerfData(parts.attributes, events, parts.features)
