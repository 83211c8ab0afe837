# SPDX-License-Identifier: GPL-2.0
"""Static keys and static calls in text that CPUs may run while they count as in user mode.

A batch with such a site interrupts every CPU, isolated ones too. So there is a list of the keys
that have one, in tools/dev/expected/accepted/unwatched; each has its reason, and a kernel that is
built has no others, nor fewer.
"""

import bisect
import re
import struct
from typing import NamedTuple

from .. import arch as arches
from .. import paths
from ..results.ktap import FAILED, PASSED, Result
from ..results.tables import FOLDER, rows
from ..say import output
from .disasm import addresses

LIST = FOLDER / "accepted/unwatched"
FORM = "ARCH | key | reason"
# Between these symbols, as runs_unwatched() in kernel/text_poke/catch_up.c has them.
UNWATCHED = (
    ("__noinstr_text_start", "__noinstr_text_end"),
    ("__entry_text_start", "__entry_text_end"),
)
HEX = re.compile(r"^ [0-9a-f]+ ((?:[0-9a-f]{2,8} ){1,4})", re.M)
MASK = (1 << 64) - 1


class Table(NamedTuple):
    """Where sites are listed: its symbols, and an entry's form: the site, ..., the key."""

    start: str
    stop: str
    entry: struct.Struct
    key: int  # the key's offset in the entry
    flags: int  # bits of the key that are none of its address


# Both tables tell where things are by their distance from what tells it.
TABLES = (
    Table("__start___jump_table", "__stop___jump_table", struct.Struct("<iiq"), 8, 3),
    Table("__start_static_call_sites", "__stop_static_call_sites", struct.Struct("<ii"), 4, 3),
)


class Symbols:
    """A kernel's symbols, by name and by address."""

    def __init__(self, listed: str):
        self.at = addresses(listed.splitlines())
        self._sorted = sorted((value, name) for name, value in self.at.items())

    def name(self, addr: int) -> str:
        """What is there: a key may be in the midst of something, as a tracepoint."""
        return self._sorted[bisect.bisect(self._sorted, (addr, "\x7f")) - 1][1]


def entries(table: Table, at: int, data: bytes):
    """(site, key) of each entry of a table that begins at an address."""
    for offset in range(0, len(data) - table.entry.size + 1, table.entry.size):
        site, *_, key = table.entry.unpack_from(data, offset)
        place = at + offset
        yield (place + site) & MASK, (place + table.key + key) & MASK & ~table.flags


def _bytes(tool: str, vmlinux, start: int, stop: int) -> bytes:
    words = [tool, "-s", f"--start-address={start:#x}", f"--stop-address={stop:#x}", vmlinux]
    return bytes.fromhex("".join(HEX.findall(output(words))).replace(" ", ""))


def keys(name: str, kdir) -> set[str]:
    """The keys that have a site in such text."""
    cross, vmlinux = arches.get(name).cross, kdir / "vmlinux"
    symbols = Symbols(output([f"{cross}nm", "--defined-only", vmlinux]))
    ranges = [(symbols.at[a], symbols.at[b]) for a, b in UNWATCHED if a in symbols.at]
    found = set()
    for table in TABLES:
        if table.start not in symbols.at:
            continue
        start, stop = symbols.at[table.start], symbols.at[table.stop]
        for site, key in entries(table, start, _bytes(f"{cross}objdump", vmlinux, start, stop)):
            if any(first <= site < last for first, last in ranges):
                found.add(symbols.name(key))
    return found


def listed(name: str, text: str | None = None) -> set[str]:
    """The keys of an architecture that are known."""
    return {key for arch, key, _ in rows(LIST, FORM, text) if arch == name}


def result(name: str, kdir) -> Result:
    """Whether a kernel has those that are listed."""
    has, expected = keys(name, kdir), listed(name)
    faults = [f"{key} is not in {LIST.relative_to(paths.ROOT)}" for key in sorted(has - expected)]
    faults += [f"{key} is there, but in no such text" for key in sorted(expected - has)]
    what = f"{name}: keys in text that runs in user mode are known"
    return Result(what, FAILED if faults else PASSED, "; ".join(faults))
