# SPDX-License-Identifier: GPL-2.0
"""What AFL++ has perf.data changed by: it loads this module, see AFL_PYTHON_MODULE.

Bytes that change at random seldom leave a file in which a record is read at all. Here a file is
taken apart, and of its records those of text pokes and symbols, of the trace, and now and then of
anything else, get lengths, addresses, times and places that they should not have. What is a file
no more has bytes changed.

It is a part of these tools that runs in another program, and so needs no more than perfdata.py.
"""

import random
import struct

from ..records import perfdata
from ..records.perfdata import AUX, AUXTRACE, EVENT, LOST, TEXT_POKE

KSYMBOL, BPF_EVENT, MMAP, MMAP2 = 17, 18, 1, 10
# Events of which a mutation is worth most, and what an event may become.
OURS = (TEXT_POKE, KSYMBOL, LOST, AUX, AUXTRACE)
# Not 64, an attribute, nor 72, an error of a trace: of these perf of the base believes everything,
# and nothing else would be found.
KINDS = (
    *(MMAP, LOST, 3, 4, MMAP2, AUX, 12, 13, 14, 15, KSYMBOL, BPF_EVENT, 19, TEXT_POKE, 21),
    *(perfdata.FINISHED_ROUND, 69, AUXTRACE, perfdata.TIME_CONV, 82, 0xFFFFFFFF),
)
MISC = (0, 1, 2, 3, 4, 5, 7, 1 << 13, 1 << 14, 0xFFFF)  # a record's CPU mode and flags
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 64, 0x7FFF, 0x8000, 0xFFF0, 0xFFF8, 0xFFFF)
NUMBERS = (0, 1, 7, 1 << 31, 1 << 32, 1 << 47, 1 << 63, (1 << 64) - 1, (1 << 64) - 8, 10**9)
NEAR = (-0x4000, -4096, -9, -8, -5, -4, -1, 0, 1, 2, 4, 8, 64, 4096, 0x3FFC, 0x3FFF, 0x4000)
MASK = (1 << 64) - 1
MOST = 6  # mutations of one file


def _places(parts, kinds=()):
    """The numbers of the events of some kinds, or of all."""
    return [
        at
        for at, event in enumerate(parts.events)
        if len(event) >= EVENT.size and (not kinds or perfdata.kind_of(event) in kinds)
    ]


def _chosen(rng, parts, kinds=()):
    """The number of one of them, or None; rather one of ours."""
    if not kinds and rng.random() < 0.7:
        kinds = OURS
    places = _places(parts, kinds)
    return rng.choice(places) if places else None


def _put(parts, at, form, offset, *values):
    """The event with other values in it, if it has the place."""
    event = bytearray(parts.events[at])
    if offset >= 0 and offset + struct.calcsize(form) <= len(event):
        struct.pack_into(form, event, offset, *values)
        parts.events[at] = bytes(event)


def _other_number(rng, value):
    """One that is close to it, or one that is seldom right."""
    if rng.random() < 0.6:
        return value + rng.choice(NEAR) & MASK
    return rng.choice((*NUMBERS, rng.getrandbits(64)))


# Mutations: of a PerfData whose list of events may be changed


def said_length(rng, parts):
    """A text poke says that its bytes are as many as they are not."""
    if (at := _chosen(rng, parts, (TEXT_POKE,))) is None:
        return
    offset = EVENT.size + 8 + rng.choice((0, 2))
    _put(parts, at, "<H", offset, rng.choice((*LENGTHS, len(parts.events[at]) & 0xFFFF)))


def said_size(rng, parts):
    """A record says that it is as long as it is not."""
    if (at := _chosen(rng, parts)) is None:
        return
    size = len(parts.events[at])
    _put(parts, at, "<H", 6, rng.choice((*LENGTHS, size - 8 & 0xFFFF, size + 8 & 0xFFFF, size - 1)))


def longer_or_shorter(rng, parts):
    """A record is cut, or filled up, and says so."""
    at = _chosen(rng, parts, (TEXT_POKE, KSYMBOL, BPF_EVENT, LOST, AUX, MMAP))
    if at is None:
        return
    event = parts.events[at]
    size = max(EVENT.size, min(len(event) + rng.choice((-32, -16, -8, -1, 8, 64, 1024)), 0xFFF8))
    parts.events[at] = event[:size].ljust(size, b"\xff")
    _put(parts, at, "<H", 6, size)


def other_bytes(rng, parts):
    """A text poke of other lengths, with as many bytes."""
    if (at := _chosen(rng, parts, (TEXT_POKE,))) is None or len(parts.events[at]) < EVENT.size + 12:
        return
    event, old, new = parts.events[at], *(rng.choice((0, 1, 4, 5, 16, 300, 5000)) for _ in "on")
    kept = perfdata.time_at(event, parts.sample_type) - 8  # TID comes first
    body = (
        event[EVENT.size : EVENT.size + 8] + struct.pack("<HH", old, new) + rng.randbytes(old + new)
    )
    body += b"\0" * (-len(body) % 8) + event[max(kept, EVENT.size) :]
    kind, misc, _ = EVENT.unpack_from(event)
    parts.events[at] = EVENT.pack(kind, misc, EVENT.size + len(body)) + body


def other_address(rng, parts):
    """A record is of another place: at a map's end, in none, or where addresses end."""
    if (at := _chosen(rng, parts, (TEXT_POKE, KSYMBOL))) is None:
        return
    known = [
        struct.unpack_from("<Q", event, offset)[0]
        for event in parts.events
        if len(event) >= EVENT.size + 24
        for offset in {TEXT_POKE: [8], KSYMBOL: [8], MMAP: [16, 24]}.get(
            perfdata.kind_of(event), ()
        )
    ]
    if known:
        _put(parts, at, "<Q", EVENT.size, _other_number(rng, rng.choice(known)))


def other_symbol(rng, parts):
    """A symbol of another length, kind, or one that goes."""
    if (at := _chosen(rng, parts, (KSYMBOL, BPF_EVENT))) is None:
        return
    offset, form, values = rng.choice(
        (
            (8, "<I", (0, 1, 0x4000, 0x7FFFFFFF, 0xFFFFFFFF)),
            (12, "<H", (0, 1, 2, 3, 0xFFFF)),
            (14, "<H", (0, 1, 2, 0xFFFF)),
        )
    )
    _put(parts, at, form, EVENT.size + offset, rng.choice(values))


def other_time(rng, parts):
    """A record comes at another time, or at that of another one."""
    at, other = _chosen(rng, parts), _chosen(rng, parts)
    if at is None or other is None:
        return
    try:
        place, from_place = (
            perfdata.time_at(parts.events[each], parts.sample_type) for each in (at, other)
        )
        (time,) = struct.unpack_from("<Q", parts.events[other], from_place)
    except (ValueError, struct.error):
        return
    _put(parts, at, "<Q", place, time if rng.random() < 0.4 else _other_number(rng, time))


def other_kind(rng, parts):
    if (at := _chosen(rng, parts)) is not None:
        _put(parts, at, "<I", 0, rng.choice(KINDS))


def other_misc(rng, parts):
    if (at := _chosen(rng, parts)) is not None:
        _put(parts, at, "<H", 4, rng.choice(MISC))


def other_word(rng, parts):
    """Eight bytes of any event, the trace's among them."""
    if (at := _chosen(rng, parts)) is None:
        return
    words = (len(parts.events[at]) - EVENT.size) // 8
    if words > 0:
        offset = EVENT.size + 8 * rng.randrange(words)
        (value,) = struct.unpack_from("<Q", parts.events[at], offset)
        _put(parts, at, "<Q", offset, _other_number(rng, value))


def other_trace(rng, parts):
    """A byte of the trace, or a piece of it that is gone or comes twice."""
    if (at := _chosen(rng, parts, (AUXTRACE,))) is None:
        return
    event = parts.events[at]
    begin = EVENT.unpack_from(event)[2]
    if len(event) < begin + 2 or begin < EVENT.size + 8:
        return
    trace = bytearray(event[begin:])
    where = rng.randrange(len(trace))
    piece = slice(where, where + rng.choice((1, 2, 8, 16, 64)))
    how = rng.random()
    if how < 0.5:
        trace[where] = rng.randrange(256)
    elif how < 0.75:
        del trace[piece]
    else:
        trace[where:where] = trace[piece]
    parts.events[at] = event[:begin] + bytes(trace)
    _put(parts, at, "<Q", EVENT.size, len(trace))


def twice(rng, parts):
    """A record comes again, perhaps elsewhere."""
    if (at := _chosen(rng, parts)) is not None:
        parts.events.insert(rng.randrange(len(parts.events) + 1), parts.events[at])


def gone(rng, parts):
    if len(parts.events) > 1 and (at := _chosen(rng, parts)) is not None:
        del parts.events[at]


def elsewhere(rng, parts):
    """A record at another place of the file."""
    if (at := _chosen(rng, parts)) is not None:
        parts.events.insert(rng.randrange(len(parts.events)), parts.events.pop(at))


RECORDS = (
    *(said_length, said_length, other_bytes, other_address, other_address, other_symbol),
    *(said_size, longer_or_shorter, other_time, other_kind, other_misc, other_word),
    *(other_trace, other_trace, twice, gone, elsewhere),
)


def _cut(rng, data):
    return data[: rng.randrange(1, len(data) + 1)]


def _changed(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 9)):
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(data)


FILES = (_cut, _changed)


def mutated(rng, data):
    """A file's bytes, with some mutations."""
    try:
        parts = perfdata.parse(data, broken=True)
        for _ in range(rng.randrange(1, MOST + 1)):
            rng.choice(RECORDS)(rng, parts)
        data = perfdata.build(parts)
    except (ValueError, IndexError, ZeroDivisionError, OverflowError, MemoryError, struct.error):
        # It is no file as perf writes them.
        return rng.choice(FILES)(rng, data or b"\0")
    return rng.choice(FILES)(rng, data) if rng.random() < 0.05 else data


# What AFL++ calls

_RNG = random.Random()


def init(seed):
    _RNG.seed(seed)


def fuzz(buf, _other, max_size):
    return bytearray(mutated(_RNG, bytes(buf))[:max_size])


def deinit():
    pass
