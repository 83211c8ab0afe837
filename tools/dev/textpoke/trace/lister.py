# SPDX-License-Identifier: GPL-2.0
"""A second opinion of the packets that our encoder of ETMv4 writes: OpenCSD's trc_pkt_lister.

perf decodes through OpenCSD as well, but tells of branches only. The lister prints each packet as
it reads it: there have to be as many of each kind as the encoder says that it has written, with
the same addresses, timestamps and kinds of exceptions in them.
"""

import re
import subprocess
from collections import Counter

from .. import host
from ..errors import MISSING, Fail
from ..records import perfdata

PROGRAM = "trc_pkt_lister"

# A folder as the lister reads it, with the trace of one CPU as that has written it.
SNAPSHOT = """\
[snapshot]
version=1.0
[device_list]
device0=cpu.ini
device1=unit.ini
[trace]
metadata=trace.ini
"""
TRACE = """\
[trace_buffers]
buffers=buffer0
[buffer0]
name=buffer
file=aux
format=source_data
[core_trace_sources]
cpu=unit
[source_buffers]
unit=buffer
"""
CPU = """\
[device]
name=cpu
class=core
type=Cortex-A57
[regs]
"""
UNIT = """\
[device]
name=unit
class=trace_source
type=ETM4
[regs]
"""

# A packet: where it stands, whose it is, its kind, what that is in words; what is in it.
PACKET = re.compile(r"Idx:\d+; ID:\w+;\tI_(\w+) : [^;]*\.;?(.*)")
ADDRESS = re.compile(r"Addr=0x([0-9A-F]+);")
TIMESTAMP = re.compile(r"Updated val = 0x([0-9a-f]+)")
# The lister's kinds, and what the encoder calls them.
KINDS = {
    "ASYNC": "syncs",
    "TRACE_ON": "traces-on",
    "TIMESTAMP": "timestamps",
    "ADDR_L_64IS0": "addresses",
    "ADDR_CTXT_L_64IS0": "contexts",
}
ATOMS = {"E": "atoms-taken", "N": "atoms-not"}
EXCEPTIONS = {
    "Inst Debug": "debug-exceptions",
    "Data Fault": "data-faults",
    "Inst Fault": "fetch-faults",
    "IRQ": "irqs",
}
CONTEXT = "AArch64,EL1, NS; CID=0x00000001;"
WRAPS = (1 << 64) - 1


def _write_snapshot(folder, aux):
    """What the lister reads of a folder; aux: the trace of a CPU."""
    folder.mkdir(parents=True, exist_ok=True)
    registers = "".join(f"{name}={value:#x}\n" for name, value in perfdata.ETM_REGISTERS.items())
    for name, text in (
        ("snapshot", SNAPSHOT),
        ("trace", TRACE),
        ("cpu", CPU),
        ("unit", UNIT + registers),
    ):
        (folder / f"{name}.ini").write_text(text)
    (folder / "aux").unlink(missing_ok=True)
    (folder / "aux").symlink_to(aux.absolute())


def _number(pattern, inside):
    found = pattern.search(inside)
    return int(found[1], 16) if found else 0


def _count(found, kind, inside):
    """Add a packet to what was found."""
    if kind.startswith("ATOM_"):
        name = ATOMS.get(inside.strip(), kind)
    elif kind == "EXCEPT":
        name = EXCEPTIONS.get(inside.split(";")[0].strip(), kind)
    else:
        name = KINDS.get(kind, kind)
    found[name] += 1
    if name in ("addresses", "contexts"):
        found["addresses-sum"] += _number(ADDRESS, inside)
    if name == "contexts":
        found["addresses"] += 1
        found["other contexts"] += CONTEXT not in inside
    if name == "timestamps":
        found["timestamps-sum"] += _number(TIMESTAMP, inside)


def count(lines, found):
    """Add what the lister prints to found: a Counter, by the encoder's names. What the encoder
    has not goes by the lister's.
    """
    for line in lines:
        if match := PACKET.match(line):
            _count(found, *match.groups())


def listed(folder, traces):
    """What the lister finds in the traces of all CPUs; folder: one that may be written into."""
    host.need(*host.LISTER)
    found: Counter = Counter()
    for aux in traces:
        _write_snapshot(folder, aux)
        # With -logstdout it leaves a file as long where it runs.
        words = [PROGRAM, "-ss_dir", folder, "-logfilename", "/dev/stdout"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, errors="replace") as lister:
            count(lister.stdout, found)
        if lister.returncode:
            raise Fail(MISSING, f"{PROGRAM} exits with {lister.returncode} on {aux}")
    return found


def faults(written, found):
    """How the encoder's figures and what the lister has found differ, as words."""
    seen = {name: value & WRAPS for name, value in found.items() if value}
    seen.pop("TRACE_INFO", None)  # one beside each that begins a stretch
    return [
        f"{name}: {written.get(name, 0)} written, {seen.get(name, 0)} read"
        for name in sorted(written | seen)
        if written.get(name, 0) != seen.get(name, 0)
    ]


def differences(figures, folder, traces):
    """How what the lister finds in traces differs from the encoder's figures of them, as words."""
    prefix = "written-"
    written = {
        name.removeprefix(prefix): value
        for name, value in figures.items()
        if name.startswith(prefix)
    }
    return faults(written, listed(folder, traces))
