# SPDX-License-Identifier: GPL-2.0
"""Instructions and addresses as people read them: one objdump for all, and kallsyms.

Each instruction gets a slot of its own in one binary file. A branch is shown by
objdump with a target that counts from the slot; what is kept is the distance, so
that the same bytes can be shown for any address.
"""

import bisect
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import arch as arches
from ..say import output

SLOT = 16  # no instruction is longer
LINE = re.compile(r"^\s*(?P<at>[0-9a-f]+):\t(?P<text>.*)$")
# A `*` stands before the operand of an indirect branch.
TARGET = re.compile(r"^(?P<head>\S+\s[^*]*?)0x(?P<target>[0-9a-f]+)\s*$")


@dataclass(frozen=True)
class Machine:
    """What objdump has to be told, and how an architecture's calls and branches begin."""

    name: str
    longest: int  # instruction; what is longer is data, or a whole trampoline
    filler: bytes  # after an instruction that does not fill its slot
    calls: tuple
    branches: tuple
    nops: tuple = ()  # beginnings that all mean the same


MACHINES = {
    "x86": Machine(
        "i386:x86-64",
        15,
        b"\x90",
        ("call",),
        ("call", "j"),
        ("nop", "xchg   %ax,%ax", "cs nop", "data16 "),
    ),
    "arm64": Machine("aarch64", 4, b"\0", ("bl\t",), ("bl\t", "b\t", "b.", "cb", "tb")),
    "riscv": Machine("riscv:rv64", 4, b"\0", ("jalr", "jal\tra"), ("j", "b")),
    "powerpc": Machine("powerpc:common64", 8, b"\0", ("bl",), ("b",)),
}


@dataclass(frozen=True)
class Instruction:
    """text, and for a branch the distance to its target;
    pointer is the value of data of its size.
    """

    text: str
    distance: int | None = None
    call: bool = False
    data: bool = False
    pointer: int | None = None


def addresses(lines):
    """name -> address, of lines as System.map and nm have them."""
    rows = (line.split() for line in lines)
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}


class Symbols:
    """Names of addresses, from a copy of kallsyms."""

    def __init__(self, lines):
        rows = (line.split() for line in lines)
        found = sorted(
            (int(row[0], 16), row[2]) for row in rows if len(row) >= 3 and row[1] in "tTwWdDbBrR"
        )
        self.addresses = [addr for addr, _ in found]
        self.names = [name for _, name in found]

    def name(self, addr):
        i = bisect.bisect_right(self.addresses, addr) - 1
        if i < 0 or addr - self.addresses[i] >= 1 << 20:
            return f"{addr:#x}"
        offset = addr - self.addresses[i]
        return f"{self.names[i]}+{offset:#x}" if offset else self.names[i]


def _blob(codes, filler):
    return b"".join(code + filler * ((SLOT - len(code)) // len(filler)) for code in codes)


def _instruction(text, at, machine):
    text = re.sub(r"\s+(//|# ).*$", "", text).strip()
    call, branch = text.startswith(machine.calls), text.startswith(machine.branches)
    if branch and (match := TARGET.match(text)):
        distance = int(match["target"], 16) - at
        # A negative distance from the first slots comes out as a number of 64 bits.
        distance -= 1 << 64 if distance >= 1 << 63 else 0
        return Instruction(match["head"].rstrip(), distance, call)
    return Instruction(
        "nop" if machine.nops and text.startswith(machine.nops) else text, None, call
    )


def parse(lines, codes, machine):
    """bytes -> Instruction, of objdump's output for codes."""
    found = {}
    for line in lines:
        if match := LINE.match(line):
            at = int(match["at"], 16)
            if at % SLOT == 0 and at // SLOT < len(codes):
                found[codes[at // SLOT]] = _instruction(match["text"], at, machine)
    return found


def _no_instruction(code):
    """Data of a pointer's size is one: what the function tracer is to call, beside a function."""
    if len(code) == 8:
        return Instruction("", data=True, pointer=int.from_bytes(code, "little"))
    return Instruction(f"{len(code)} bytes" if code else "nothing", data=True)


def disassemble(codes, arch):
    """bytes -> Instruction, of all codes at once."""
    arch = arches.get(arch)
    machine, codes = MACHINES[arch.name], sorted(set(codes))
    short = [code for code in codes if 0 < len(code) <= machine.longest]
    shown = {code: _no_instruction(code) for code in codes}
    if not short:
        return shown
    with tempfile.TemporaryDirectory() as folder:
        blob = Path(folder) / "blob"
        blob.write_bytes(_blob(short, machine.filler))
        text = output(
            [
                f"{arch.cross}objdump",
                "-D",
                "-b",
                "binary",
                "-m",
                machine.name,
                "-EL",
                "-z",
                "--no-show-raw-insn",
                blob,
            ],
            what="disassembling",
        )
    return shown | parse(text.splitlines(), short, machine)


def show(instruction, addr, symbols):
    """An instruction as it stands at addr."""
    if instruction.pointer is not None:
        return symbols.name(instruction.pointer)
    text = " ".join(instruction.text.split())
    if instruction.distance is None:
        return text
    return f"{text} {symbols.name((addr + instruction.distance) % (1 << 64))}"
