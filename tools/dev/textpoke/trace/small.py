# SPDX-License-Identifier: GPL-2.0
"""A made-up guest: what the plugin would have logged of it, what perf would have recorded in it,
and the images of its kernel that perf reads.

Its kernel is a loop with a site that changes, a function that the loop calls, and what handles its
interrupts. All of it is small, and the same each time.
"""

import struct

from ..records import perfdata

PHYSICAL = 1 << 40  # a CPU's base: any with the upper bit
TYPE = perfdata.TID | perfdata.TIME | perfdata.CPU | perfdata.IDENTIFIER
SAMPLE_IP = 1  # of sample_type
FLAGS = perfdata.SAMPLE_ID_ALL | 1 << 8 | 1 << 29 | 1 << 33  # maps, symbols, text pokes
KERNEL = 1  # a record's misc
MMAP, KSYMBOL = 1, 17
OUT_OF_LINE, GONE = 2, 1  # the type of a symbol, and the flag of one that goes
LENGTH = 0x4000


def trailer(time):
    return struct.pack("<4Q", 0, time, 0, 1)


def event(kind, body):
    return perfdata.EVENT.pack(kind, 0, perfdata.EVENT.size + len(body)) + body


def kernel_event(kind, body, time):
    """One that perf takes for the kernel's."""
    body += b"\0" * (-len(body) % 8) + trailer(time)
    return perfdata.EVENT.pack(kind, KERNEL, perfdata.EVENT.size + len(body)) + body


def poke(time, addr, old, new):
    return kernel_event(
        perfdata.TEXT_POKE, struct.pack("<QHH", addr, len(old), len(new)) + old + new, time
    )


def place(addr, length, name, time=0):
    """Where the kernel or a module is."""
    return kernel_event(
        MMAP, struct.pack("<iIQQQ", -1, 0, addr, length, addr) + name.encode() + b"\0", time
    )


def symbol(time, addr, length, name, flags=0):
    """One of memory out of line, which text pokes fill."""
    body = struct.pack("<QIHH", addr, length, OUT_OF_LINE, flags) + name.encode() + b"\0"
    return kernel_event(KSYMBOL, body, time)


class Log:
    """A log as the plugin writes it, and the code that is in it."""

    CPU, TIME, TRAP, USER, END = range(0xF0000000, 0xF0000005)

    def __init__(self):
        self.blocks, self.entries, self.number, self.count = b"", b"", 0, 1000

    def block(self, addr, *insns):
        code = b"".join(insns)
        self.blocks += (
            struct.pack("<QII", addr, len(insns), len(code)) + bytes(map(len, insns)) + code
        )
        self.number += 1
        return self.number - 1

    def put(self, what, *words):
        self.entries += struct.pack("<II", what, self.count) + struct.pack(
            f"<{len(words)}Q", *words
        )
        return self

    def cpu(self, number):
        return self.put(self.CPU, 1 << 63 | PHYSICAL + number, self.count)

    def time(self, value):
        return self.put(self.TIME, self.count, value)

    def run(self, number, insns):
        self.put(number)
        self.count += insns
        return self

    def write(self, folder):
        (folder / "log").write_bytes(self.entries)
        (folder / "blocks").write_bytes(self.blocks)


class Guest:
    """What guests of both architectures have in common.

    Code is what is not a record's.
    """

    ARCH = ""
    MACHINE = 0  # of ELF
    BASE = SITE = FUNCTION = VECTOR = 0
    OLD = NEW = FILLER = b""

    def __init__(self):
        self.text, self.log = bytearray(self.FILLER * (LENGTH // len(self.FILLER))), Log()

    def only_in_log(self, at, *insns):
        return self.log.block(self.BASE + at, *insns)

    def block(self, at, *insns):
        code = b"".join(insns)
        self.text[at : at + len(code)] = code
        return self.only_in_log(at, *insns)

    def whole(self, rounds=2000):
        """The time of the record, for all of it: before, the record, after."""
        raise NotImplementedError

    def did(self, *blocks):
        """(block, how many of its instructions) one after the other."""
        for number, insns in blocks:
            self.log.run(number, insns)

    def trap(self, at, kind=0):
        self.log.put(Log.TRAP, kind, self.BASE + at, self.BASE + self.VECTOR)

    def recording(self, time, more=()):
        """What its perf would have written. more: events besides the record, in their order."""
        raw = perfdata.ATTR.pack(1, 136, 9, 1, TYPE | SAMPLE_IP, 0, FLAGS).ljust(136, b"\0")
        conversion = event(perfdata.TIME_CONV, struct.pack("<5Q8x", 0, 1, 0, 0, 0))
        kernel = place(self.BASE, LENGTH, "[kernel.kallsyms]_text")
        record = poke(time, self.BASE + self.SITE, self.OLD, self.NEW)
        return perfdata.PerfData(
            [perfdata.Attribute(raw, (1,))], [conversion, kernel, record, *more], {}
        )


# Arm's


NOP, RET, ERET, BRK, ISB, BR, HVC = (
    struct.pack("<I", word)
    for word in (
        0xD503201F,
        0xD65F03C0,
        0xD69F03E0,
        0xD4200000,
        0xD5033FDF,
        0xD61F0000,
        0xD4000002,
    )
)


def branch(at, to, link=0):
    return struct.pack("<I", 0x14000000 | link << 31 | (to - at) // 4 & 0x3FFFFFF)


def unless_equal(at, to):
    return struct.pack("<I", 0x54000001 | ((to - at) // 4 & 0x7FFFF) << 5)


class Arm(Guest):
    """One that CoreSight tells of."""

    ARCH, MACHINE, BASE, FILLER = "arm64", 183, 0xFFFF800080010000, NOP
    SITE, LOOP, FUNCTION, OTHER, VECTOR, BACK, UP = 4, 0, 0x100, 0x200, 0x800, 0x900, 0xA00
    OLD, NEW = NOP, branch(SITE, 0x10)

    def __init__(self):
        super().__init__()
        self.loop = self.block(self.LOOP, NOP, NOP, branch(8, self.FUNCTION, 1))
        self.behind_site = self.block(self.SITE + 4, branch(8, self.FUNCTION, 1))
        self.site_on = self.block(self.SITE, NOP, branch(8, self.FUNCTION, 1))
        self.function, self.returns = self.block(self.FUNCTION, NOP, ISB), self.block(
            self.FUNCTION + 8, NOP, RET
        )
        self.again = self.block(0xC, unless_equal(0xC, self.LOOP))
        self.leaves, self.other = self.block(0x10, branch(0x10, self.OTHER)), self.block(
            self.OTHER, NOP, NOP, NOP, BR
        )
        self.handler, self.back, self.eret = (
            self.block(self.VECTOR, NOP, NOP, ERET),
            self.block(self.BACK, NOP, ERET),
            self.block(self.BACK + 4, ERET),
        )
        self.down, self.up = self.block(self.UP - 0x10, NOP, HVC), self.block(self.UP, NOP, RET)
        self.armed = self.only_in_log(self.LOOP, NOP, BRK)
        self.changed = self.only_in_log(self.LOOP, NOP, self.NEW)
        self.log.cpu(0).time(100_000)

    def interrupted(self, at, kind=0):
        self.trap(at, kind)
        self.did((self.handler, 3))

    def called(self):
        self.did((self.function, 2), (self.returns, 2), (self.again, 1))

    def before(self, number):
        """Once around, with an interrupt now and then:
        in the middle, where a branch has just led, and a return.
        """
        self.did((self.loop, 3))
        self.called()
        if number % 7 == 3:
            self.did((self.loop, 1))
            self.interrupted(self.SITE)
            self.did((self.site_on, 2))
            self.called()
        if number % 11 == 5:
            self.interrupted(self.LOOP)
        if number % 13 == 5:
            self.did((self.loop, 3), (self.function, 2), (self.returns, 2))
            self.interrupted(0xC)
            self.did((self.again, 1))

    def trapped(self):
        self.did((self.armed, 1))
        self.interrupted(self.SITE, kind=1)
        self.did((self.behind_site, 1))
        self.called()

    def after(self):
        self.did((self.changed, 2), (self.leaves, 1), (self.other, 4))

    def to_user_and_back(self):
        self.after()
        self.log.put(Log.TRAP, 0, self.BASE, self.BASE + self.BACK)
        self.did((self.back, 2))
        self.log.put(Log.USER).put(Log.TRAP, 1, 0x400000, self.BASE + self.BACK)
        self.did((self.back, 1))
        self.interrupted(self.BACK + 4)
        self.did((self.eret, 1))

    def off_and_on(self):
        self.after()
        self.did((self.down, 2), (self.up, 2))

    def whole(self, rounds=2000):
        """The time of the record, for all of it:
        before, trapped, the record, trapped, an interrupt, after.
        """
        for number in range(rounds):
            self.before(number)
        self.trapped()
        time = 100_000 + self.log.count - 1000
        self.log.time(time)
        self.trapped()
        self.interrupted(self.LOOP)
        for number in range(rounds):
            self.after()
            if number % 100 == 50:
                self.to_user_and_back()
            if number % 500 == 250:
                self.off_and_on()
        self.did((self.changed, 0))
        self.log.put(Log.END)
        return time


# x86's


def near(opcode, at, to):
    """A call or a jump."""
    return bytes([opcode]) + struct.pack("<i", to - at - 5)


class X86(Guest):
    """One that Intel PT tells of."""

    ARCH, MACHINE, BASE, FILLER = "x86", 62, 0xFFFFFFFF81000000, b"\x90"
    SITE, AGAIN, LEAVES, FUNCTION, OTHER, VECTOR = 1, 0xB, 0x20, 0x100, 0x200, 0x800
    OLD, NEW = b"\x0f\x1f\x44\0\0", near(0xE9, SITE, LEAVES)

    def __init__(self):
        super().__init__()
        call = near(0xE8, self.SITE + 5, self.FUNCTION)
        self.loop = self.block(0, b"\x90", self.OLD, call)
        self.behind_site = self.block(self.SITE + 5, call)
        self.function = self.block(self.FUNCTION, b"\x90", b"\xc3")
        self.again = self.block(self.AGAIN, b"\x75" + bytes([256 - self.AGAIN - 2]))
        self.leaves = self.block(self.LEAVES, near(0xE9, self.LEAVES, self.OTHER))
        self.other = self.block(self.OTHER, b"\x90", b"\xff\xe0")
        self.handler = self.block(self.VECTOR, b"\x90", b"\x48\xcf")
        self.armed = self.only_in_log(0, b"\x90", b"\xcc")
        self.changed = self.only_in_log(0, b"\x90", self.NEW)
        self.log.cpu(0).time(100_000)

    def called(self):
        self.did((self.function, 2), (self.again, 1))

    def before(self):
        self.did((self.loop, 3))
        self.called()

    def trapped(self):
        self.did((self.armed, 1))
        self.trap(self.SITE, 1)
        self.did((self.handler, 2), (self.behind_site, 1))
        self.called()

    def after(self):
        self.did((self.changed, 2), (self.leaves, 1), (self.other, 2))

    def whole(self, rounds=2000):
        """The time of the record, for all of it: before, trapped, the record, trapped, after."""
        for _ in range(rounds):
            self.before()
        self.trapped()
        time = 100_000 + self.log.count - 1000
        self.log.time(time)
        self.trapped()
        for _ in range(rounds):
            self.after()
        self.did((self.changed, 1))
        self.log.put(Log.END)
        return time


# Images of its kernel

ELF = struct.Struct("<16sHHIQQQIHHHHHH")
IDENT = b"\x7fELF\2\1\1"
EXECUTABLE, CORE = 2, 4
PAGE = 4096
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
PROGBITS, SYMTAB, STRTAB = 1, 2, 3
TEXT = 0x12  # a global function


def names(guest):
    """(name, address) of what its kernel has."""
    return (
        ("_stext", guest.BASE),
        ("_text", guest.BASE),
        ("function", guest.BASE + guest.FUNCTION),
        ("_etext", guest.BASE + LENGTH),
    )


def kallsyms(guest, moved=0):
    return "".join(f"{addr + moved:016x} T {name}\n" for name, addr in names(guest))


def _segment(addr, at, length):
    return SEGMENT.pack(1, 7, at, addr, 0, length, length, PAGE)


def kcore(guest, more=(), moved=0):
    """An ELF file of the text, as perf copies it.

    more   (address, bytes) of what else is in it: modules
    moved  by how much further the kernel is than it was when it was traced
    """
    parts = [(guest.BASE + moved, bytes(guest.text)), *more]
    head = ELF.pack(IDENT, CORE, guest.MACHINE, 1, 0, 64, 0, 0, 64, 56, len(parts), 0, 0, 0)
    at, content = PAGE, b""
    for addr, code in parts:
        head += _segment(addr, at + len(content), len(code))
        content += code
    return head.ljust(PAGE, b"\0") + content


def vmlinux(guest):
    """The text as it was linked, with symbols."""
    strings, symbols = b"\0", SYMBOL.pack(0, 0, 0, 0, 0, 0)
    for name, addr in names(guest):
        symbols += SYMBOL.pack(len(strings), TEXT, 0, 1, addr, 4)
        strings += name.encode() + b"\0"
    titles = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    at = PAGE + LENGTH
    sections = SECTION.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    sections += SECTION.pack(1, PROGBITS, 6, guest.BASE, PAGE, LENGTH, 0, 0, 16, 0)
    sections += SECTION.pack(
        titles.index(b".symtab"), SYMTAB, 0, 0, at, len(symbols), 3, 1, 8, SYMBOL.size
    )
    at += len(symbols)
    for title, content in ((b".strtab", strings), (b".shstrtab", titles)):
        sections += SECTION.pack(titles.index(title), STRTAB, 0, 0, at, len(content), 0, 0, 1, 0)
        at += len(content)
    head = ELF.pack(IDENT, EXECUTABLE, guest.MACHINE, 1, guest.BASE, 64, at, 0, 64, 56, 1, 64, 5, 4)
    content = symbols + strings + titles + sections
    return (
        (head + _segment(guest.BASE, PAGE, LENGTH)).ljust(PAGE, b"\0") + bytes(guest.text) + content
    )
