# SPDX-License-Identifier: GPL-2.0
"""What calls what in a kernel that was built, and where its text changes: read off vmlinux.

For text in which no trap may be met, as the world switch of KVM and what runs in real mode. No
compiler looks at what such text calls. It is followed from one direct call to the next; what is
called through a pointer is for the reader to name.
"""

import re
import struct
from fnmatch import fnmatch

from ..results.ktap import FAILED, PASSED, Result
from ..results.tables import rows
from ..say import output
from .disasm import Symbols

FORM = "caller | function | reason"
FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
SYMBOL = re.compile(
    r"^(?P<addr>[0-9a-f]+) (?:(?P<size>[0-9a-f]+) )?(?P<type>[A-Za-z]) (?P<name>\S+)$"
)
SECTION = re.compile(
    r"^\s*\[\s*\d+\] \S+\s+PROGBITS\s+(?P<addr>[0-9a-f]+) (?P<offset>[0-9a-f]+) "
    r"(?P<size>[0-9a-f]+) "
)
RELOCATED = re.compile(
    r"^(?P<at>[0-9a-f]+)\s+[0-9a-f]+ R_(?:AARCH64|PPC64)_RELATIV\w*\s+(?P<value>-?[0-9a-f]+)$"
)
TEXT = "tTwW"  # types of symbols
KEY = 16  # bytes of a struct jump_entry, which begins with where it is from there
MANY = 24  # faults that one result names


def target(mnemonics):
    """A line of objdump's with a branch of an architecture; `name` is where it goes."""
    return re.compile(rf"^\s*[0-9a-f]+:\t(?:{mnemonics})\s.*<(?P<name>[^>+]+)(?:\+0x[0-9a-f]+)?>")


def branches(lines, branch):
    """function -> functions that it branches to, of what objdump says."""
    found: dict[str, set] = {}
    current: set[str] = set()
    for line in lines:
        if match := FUNCTION.match(line):
            current = found.setdefault(match["name"], set())
        elif match := branch.match(line):
            current.add(match["name"])
    return found


def matches(pattern, *command):
    """The matches in what a command prints, of the lines that have one."""
    return [match for match in map(pattern.match, output(command).splitlines()) if match]


class Image:
    """vmlinux, as binutils show it."""

    def __init__(self, kdir, tools):
        self.path, self.tools = kdir / "vmlinux", tools
        symbols = matches(SYMBOL, f"{tools}nm", "-S", self.path)
        self.symbols = {match["name"]: int(match["addr"], 16) for match in symbols}
        self.sizes = {match["name"]: int(match["size"] or "0", 16) for match in symbols}
        text = [match for match in symbols if match["type"] in TEXT]
        self.text = Symbols(f"{match['addr']} {match['type']} {match['name']}" for match in text)
        self.functions = [(match["name"], int(match["addr"], 16)) for match in text]
        sections = matches(SECTION, f"{tools}readelf", "-SW", self.path)
        self.sections = [[int(value, 16) for value in match.groups()] for match in sections]
        self.bytes = self.path.read_bytes()
        self.relocated = {
            int(match["at"], 16): int(match["value"], 16) % (1 << 64)
            for match in matches(RELOCATED, f"{tools}readelf", "-rW", self.path)
        }

    def function(self, addr):
        """The function that an address is in."""
        return self.text.name(addr).partition("+")[0]

    def within(self, first, last):
        """The functions between two symbols; a kernel without these has none."""
        begin, end = self.symbols.get(first, 0), self.symbols.get(last, 0)
        return {name for name, addr in self.functions if begin <= addr < end}

    def _bounds(self, name):
        return self.symbols[f"__start_{name}"], self.symbols[f"__stop_{name}"]

    def _offset(self, at):
        """Where in the file an address is."""
        return next(
            at - addr + offset
            for addr, offset, length in self.sections
            if addr <= at < addr + length
        )

    def distances(self, name, size):
        """The addresses that a table's entries begin with, as distances from there."""
        begin, end = self._bounds(name)
        offset = self._offset(begin)
        for at in range(begin, end, size):
            yield at + struct.unpack_from("<i", self.bytes, at - begin + offset)[0]

    def offsets(self, first, last):
        """The addresses in a table between two symbols, as distances from its begin or 0;
        none without such a table.
        """
        begin, end = self.symbols.get(first, 0), self.symbols.get(last, 0)
        if begin < end:
            offset = self._offset(begin)
            words = struct.unpack_from(f"<{(end - begin) // 4}i", self.bytes, offset)
            yield from (begin + word for word in words if word)

    def _pointers(self, begin, end):
        return [value for at, value in self.relocated.items() if begin <= at < end]

    def pointers(self, name):
        """The addresses in a table of pointers, which are filled in at boot."""
        return self._pointers(*self._bounds(name))

    def strings(self, name):
        """What the pointers of an array point to."""
        begin = self.symbols[name]
        for at in self._pointers(begin, begin + self.sizes[name]):
            offset = self._offset(at)
            yield self.bytes[offset : self.bytes.index(b"\0", offset)].decode()

    def keyed(self):
        """The functions with a static key."""
        return {self.function(addr) for addr in self.distances("__jump_table", KEY)}

    def branches(self, branch):
        """function -> functions that it branches to."""
        return branches(
            output(
                [f"{self.tools}objdump", "-d", "--no-show-raw-insn", self.path],
                what="disassembling",
            ).splitlines(),
            branch,
        )


# What is known


def accepted_in(path):
    """(caller, function) of a table of accepted calls."""
    return [(caller, function) for caller, function, _ in rows(path, FORM)]


def fits(caller, function, accepted):
    """Whether that is an accepted call."""
    return fnmatch(caller, accepted[0]) and fnmatch(function, accepted[1])


def _calls(calls, caller, accepted):
    """The functions that one branches to, without those that it may."""
    return {
        each
        for each in calls.get(caller, ())
        if not any(fits(caller, each, known) for known in accepted)
    }


def reached(calls, roots, accepted, ends=()):
    """function -> its caller, of all that some come to, nearest first; these have no caller.

    What is in ends is not followed any further.
    """
    found, left = dict.fromkeys(sorted(roots)), sorted(roots)
    for function in left:
        new = sorted(_calls(calls, function, accepted) - set(found))
        found.update(dict.fromkeys(new, function))
        left += [each for each in new if each not in ends]
    return found


def chain(function, found):
    """By which calls a function is reached."""
    steps = [function]
    while found[steps[-1]]:
        steps.append(found[steps[-1]])
    return " <- ".join(steps)


def unused(calls, found, accepted, others=()):
    """What is accepted, and nowhere to be seen; others: what has to be known besides calls."""
    seen = [(function, each) for function in found for each in calls.get(function, ())]
    seen += others
    return {
        f"{function} by {by}"
        for by, function in accepted
        if not any(fits(*each, (by, function)) for each in seen)
    }


def judged(name, wrong):
    """A result that names what is wrong, as given: a set has no order."""
    named = sorted(wrong) if isinstance(wrong, set) else list(wrong)
    more = [f"and {len(named) - MANY} more"] if len(named) > MANY else []
    return Result(name, FAILED if named else PASSED, "; ".join(named[:MANY] + more))
