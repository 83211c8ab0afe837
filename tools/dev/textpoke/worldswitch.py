# SPDX-License-Identifier: GPL-2.0
"""Can what KVM runs with the hypervisor's vectors meet a trap? Read off an arm64 kernel that was built.

With VHE, the world switch is kernel text, but part of it runs with vectors that know nothing of
the core's trap. What is in arch/arm64/kvm/hyp/vhe/ has no call sites of the function tracer, and
lists its static keys; no compiler looks at what it calls elsewhere. That is followed here, from
one direct call to the next: none may have a call site or a static key.

Calls that are made with the kernel's own vectors only, or at no time, are in
tools/dev/accepted/world-switch, `caller | function | reason`. They are not followed.
"""

import re
import struct
from dataclasses import dataclass
from fnmatch import fnmatch

from . import arch as arches
from . import paths
from .disasm import Symbols
from .errors import INFRA, Fail
from .known import rows
from .ktap import FAILED, PASSED, Result
from .say import output

SWITCH = "arch/arm64/kvm/hyp/vhe/built-in.a"
ACCEPTED = paths.DEV / "accepted/world-switch"
FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
BRANCH = re.compile(r"^\s*[0-9a-f]+:\t(?:bl?|b\.\w+|cbn?z|tbn?z)\t.*<(?P<name>[^>+]+)(?:\+0x[0-9a-f]+)?>")
SYMBOL = re.compile(r"^(?P<addr>[0-9a-f]+) (?P<type>\w) (?P<name>\S+)$")
SECTION = re.compile(r"^\s*\[\s*\d+\] \S+\s+PROGBITS\s+(?P<addr>[0-9a-f]+) (?P<offset>[0-9a-f]+) (?P<size>[0-9a-f]+) ")
RELOCATED = re.compile(r"^(?P<at>[0-9a-f]+)\s+[0-9a-f]+ R_AARCH64_RELATIV\w*\s+(?P<value>-?[0-9a-f]+)$")
TEXT = "tTwW"  # types of symbols
KEY = 16  # bytes of a struct jump_entry, which begins with where it is from there
LISTED = 4  # bytes of an entry of __jump_table_notrap, which is that distance
ENTRY = 8  # what is recorded of a function is its first NOP, as far before it at most


@dataclass(frozen=True)
class Sites:
    """What a kernel's text has, all by the names of functions.

    calls   function -> those that it branches to
    switch  those of the world switch
    traced  those with a call site of the function tracer
    keys    address of a static key's site -> function
    listed  addresses of the sites that get no trap
    """

    calls: dict
    switch: set
    traced: set
    keys: dict
    listed: set


def branches(lines):
    """function -> functions that it branches to, of what objdump says."""
    found, current = {}, set()
    for line in lines:
        if match := FUNCTION.match(line):
            current = found.setdefault(match["name"], set())
        elif match := BRANCH.match(line):
            current.add(match["name"])
    return found


def _fits(caller, function, accepted):
    return fnmatch(caller, accepted[0]) and fnmatch(function, accepted[1])


def _calls(sites, caller, accepted):
    """The functions that one branches to, without those that it may."""
    return {each for each in sites.calls.get(caller, ())
            if not any(_fits(caller, each, known) for known in accepted)}


def reached(sites, accepted):
    """function -> who calls it, of all that the world switch comes to; its own have no caller.

    What is wrong in itself is not followed any further.
    """
    found, wrong = dict.fromkeys(sites.switch), sites.traced | set(sites.keys.values())
    left = sorted(sites.switch)
    for function in left:
        new = sorted(_calls(sites, function, accepted) - set(found))
        found.update(dict.fromkeys(new, function))
        left += [each for each in new if each not in wrong]
    return found


def chain(function, found):
    """How the world switch comes to a function."""
    steps = [function]
    while found[steps[-1]]:
        steps.append(found[steps[-1]])
    return " <- ".join(steps)


def _judged(name, wrong):
    return Result(name, FAILED if wrong else PASSED, "; ".join(sorted(wrong)))


def results(sites, accepted):
    """Results of what was read."""
    found = reached(sites, accepted)
    elsewhere = set(found) - sites.switch
    own = {addr for addr, function in sites.keys.items() if function in sites.switch}
    yield _judged("the world switch calls nothing that can be traced", {chain(each, found) for each in set(found) & sites.traced})
    yield _judged("the world switch calls nothing that has static keys",
                  {chain(each, found) for each in elsewhere & set(sites.keys.values())})
    yield _judged("the world switch lists its static keys, and no others",
                  {f"{addr:#x} in {sites.keys.get(addr, 'no function')}" for addr in own ^ sites.listed})
    called = [(function, each) for function in found for each in sites.calls.get(function, ())]
    yield _judged("what is accepted is called", {f"{function} by {by}" for by, function in accepted
                                                 if not any(_fits(*call, (by, function)) for call in called)})


# Reading

def _matches(pattern, *command):
    """The matches in what a command prints, of the lines that have one."""
    return [match for match in map(pattern.match, output(command).splitlines()) if match]


class _Image:
    """vmlinux, as binutils show it."""

    def __init__(self, kdir, tools):
        self.path, self.tools = kdir / "vmlinux", tools
        symbols = _matches(SYMBOL, f"{tools}nm", self.path)
        self.symbols = {match["name"]: int(match["addr"], 16) for match in symbols}
        self.text = Symbols(match[0] for match in symbols if match["type"] in TEXT)
        sections = _matches(SECTION, f"{tools}readelf", "-SW", self.path)
        self.sections = [[int(value, 16) for value in match.groups()] for match in sections]
        self.bytes = self.path.read_bytes()

    def function(self, addr):
        """The function that an address is in."""
        return self.text.name(addr).partition("+")[0]

    def _bounds(self, name):
        return self.symbols[f"__start_{name}"], self.symbols[f"__stop_{name}"]

    def distances(self, name, size):
        """The addresses that a table's entries begin with, as distances from there."""
        begin, end = self._bounds(name)
        addr, offset = next((addr, offset) for addr, offset, length in self.sections if addr <= begin < addr + length)
        for at in range(begin, end, size):
            yield at + struct.unpack_from("<i", self.bytes, at - addr + offset)[0]

    def pointers(self, name):
        """The addresses in a table of pointers, which are filled in at boot."""
        begin, end = self._bounds(name)
        for match in _matches(RELOCATED, f"{self.tools}readelf", "-rW", self.path):
            if begin <= int(match["at"], 16) < end:
                yield int(match["value"], 16) % (1 << 64)

    def branches(self):
        return branches(output([f"{self.tools}objdump", "-d", "--no-show-raw-insn", self.path], what="disassembling").splitlines())


def read(kdir, tools):
    """The Sites of a kernel; a failure if what there must be is not found, for then it was not read rightly."""
    image = _Image(kdir, tools)
    calls = image.branches()
    symbols = _matches(SYMBOL, f"{tools}nm", "--defined-only", kdir / SWITCH)
    switch = {match["name"] for match in symbols if match["type"] in TEXT} & set(calls)
    sites = Sites(calls, switch, {image.function(addr + ENTRY) for addr in image.pointers("mcount_loc")},
                  {addr: image.function(addr) for addr in image.distances("__jump_table", KEY)},
                  set(image.distances("__jump_table_notrap", LISTED)))
    empty = [name for name, value in vars(sites).items() if not value]
    if empty:
        raise Fail(INFRA, f"{image.path} seems to have no {', '.join(empty)}: this has to be read in another way")
    return sites


def world_switch(name, kdir, *_):
    """Results of a kernel with KVM."""
    accepted = [(caller, function) for caller, function, _ in rows(ACCEPTED, "caller | function | reason")]
    yield from results(read(kdir, arches.get(name).cross), accepted)
