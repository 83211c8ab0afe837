# SPDX-License-Identifier: GPL-2.0
"""Can what KVM runs with the hypervisor's vectors meet a trap?

Read off an arm64 kernel that was built.

With VHE, the world switch is kernel text, but part of it runs with vectors that know nothing of
the core's trap. It is between __vhe_text_start and __vhe_text_end, and no trap, probe or tracer
gets there. No compiler looks at what it calls elsewhere. That is followed here, from one direct
call to the next: none may have a call site of the function tracer or a static key, or be where
kprobes allows a probe. Nor does a compiler look at what of arch/arm64/kvm/hyp/vhe/ is elsewhere:
each such function has to be known, for the handlers of a guest's exits are called through tables.

What is known is in tools/dev/expected/accepted/world-switch, `caller | function | reason`: calls
that are made with the kernel's own vectors only, or at no time, which are not followed; and with
`outside` for the caller, functions of hyp/vhe/ that are never called with the others.
"""

import re
import struct
from dataclasses import dataclass, replace
from fnmatch import fnmatch

from .. import arch as arches
from ..errors import INFRA, Fail
from ..guests import tests
from ..results.ktap import FAILED, PASSED, Result
from ..results.tables import FOLDER, rows
from ..say import output
from .disasm import Symbols

SWITCH = "arch/arm64/kvm/hyp/vhe/built-in.a"
ACCEPTED = FOLDER / "accepted/world-switch"
FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>[^>]+)>:$")
BRANCH = re.compile(
    r"^\s*[0-9a-f]+:\t(?:bl?|b\.\w+|cbn?z|tbn?z)\t.*<(?P<name>[^>+]+)(?:\+0x[0-9a-f]+)?>"
)
SYMBOL = re.compile(r"^(?P<addr>[0-9a-f]+) (?P<type>\w) (?P<name>\S+)$")
SECTION = re.compile(
    r"^\s*\[\s*\d+\] \S+\s+PROGBITS\s+(?P<addr>[0-9a-f]+) (?P<offset>[0-9a-f]+) "
    r"(?P<size>[0-9a-f]+) "
)
RELOCATED = re.compile(
    r"^(?P<at>[0-9a-f]+)\s+[0-9a-f]+ R_AARCH64_RELATIV\w*\s+(?P<value>-?[0-9a-f]+)$"
)
TEXT = "tTwW"  # types of symbols
KEY = 16  # bytes of a struct jump_entry, which begins with where it is from there
ENTRY = 8  # what is recorded of a function is its first NOP, as far before it at most
RANGE = "vhe"
UNPROBED = ("noinstr", "kprobes", "entry")  # ranges of text where kprobes allows none
OUTSIDE = "outside"


@dataclass(frozen=True)
class Sites:
    """What a kernel's text has, all by the names of functions.

    calls     function -> those that it branches to
    switch    those in the range of the world switch
    outside   those of hyp/vhe/ that are not
    traced    those with a call site of the function tracer
    keyed     those with a static key
    unprobed  those that take no probe
    """

    calls: dict
    switch: set
    outside: set
    traced: set
    keyed: set
    unprobed: set


def branches(lines):
    """function -> functions that it branches to, of what objdump says."""
    found: dict[str, set] = {}
    current: set[str] = set()
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
    return {
        each
        for each in sites.calls.get(caller, ())
        if not any(_fits(caller, each, known) for known in accepted)
    }


def reached(sites, accepted):
    """function -> its caller, of all that the world switch comes to; its own have no caller.

    What is wrong in itself is not followed any further.
    """
    found, wrong = dict.fromkeys(sites.switch), sites.traced | sites.keyed
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


def _unused(sites, found, accepted):
    """What is accepted, and nowhere to be seen."""
    seen = [(function, each) for function in found for each in sites.calls.get(function, ())]
    seen += [(OUTSIDE, each) for each in sites.outside]
    return {
        f"{function} by {by}"
        for by, function in accepted
        if not any(_fits(*each, (by, function)) for each in seen)
    }


def results(sites, accepted):
    """Results of what was read."""
    found = reached(sites, accepted)
    elsewhere = set(found) - sites.switch
    for what, wrong in (
        ("can be traced", sites.traced),
        ("has static keys", sites.keyed),
        ("takes a probe", elsewhere - sites.unprobed),
    ):
        yield _judged(
            f"the world switch calls nothing that {what}",
            {chain(each, found) for each in elsewhere & wrong},
        )
    unknown = {
        each for each in sites.outside if not any(_fits(OUTSIDE, each, known) for known in accepted)
    }
    yield _judged("what of hyp/vhe is outside of the range is known", unknown)
    yield _judged("what is accepted is there", _unused(sites, found, accepted))


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
        text = [match for match in symbols if match["type"] in TEXT]
        self.text, self.functions = Symbols(match[0] for match in text), [
            (match["name"], int(match["addr"], 16)) for match in text
        ]
        sections = _matches(SECTION, f"{tools}readelf", "-SW", self.path)
        self.sections = [[int(value, 16) for value in match.groups()] for match in sections]
        self.bytes = self.path.read_bytes()

    def function(self, addr):
        """The function that an address is in."""
        return self.text.name(addr).partition("+")[0]

    def _bounds(self, name):
        return self.symbols[f"__start_{name}"], self.symbols[f"__stop_{name}"]

    def within(self, name):
        """The functions in a range of text."""
        begin, end = self.symbols[f"__{name}_text_start"], self.symbols[f"__{name}_text_end"]
        return {name for name, addr in self.functions if begin <= addr < end}

    def distances(self, name, size):
        """The addresses that a table's entries begin with, as distances from there."""
        begin, end = self._bounds(name)
        addr, offset = next(
            (addr, offset)
            for addr, offset, length in self.sections
            if addr <= begin < addr + length
        )
        for at in range(begin, end, size):
            yield at + struct.unpack_from("<i", self.bytes, at - addr + offset)[0]

    def pointers(self, name):
        """The addresses in a table of pointers, which are filled in at boot."""
        begin, end = self._bounds(name)
        for match in _matches(RELOCATED, f"{self.tools}readelf", "-rW", self.path):
            if begin <= int(match["at"], 16) < end:
                yield int(match["value"], 16) % (1 << 64)

    def branches(self):
        return branches(
            output(
                [f"{self.tools}objdump", "-d", "--no-show-raw-insn", self.path],
                what="disassembling",
            ).splitlines()
        )


def read(kdir, tools):
    """The Sites of a kernel; a failure if what there must be is not found,
    for then it was not read rightly.
    """
    image = _Image(kdir, tools)
    calls = image.branches()
    symbols = _matches(SYMBOL, f"{tools}nm", "--defined-only", kdir / SWITCH)
    switch = image.within(RANGE) & set(calls)
    own = {match["name"] for match in symbols if match["type"] in TEXT} & set(calls)
    sites = Sites(
        calls,
        switch,
        own - switch,
        {image.function(addr + ENTRY) for addr in image.pointers("mcount_loc")},
        {image.function(addr) for addr in image.distances("__jump_table", KEY)},
        set().union(*map(image.within, UNPROBED)),
    )
    empty = [name for name, value in vars(sites).items() if not value]
    if empty:
        raise Fail(
            INFRA,
            f"{image.path} seems to have no {', '.join(empty)}: this has to be read in another way",
        )
    return sites


def world_switch(name, kdir, *_):
    """Results of a kernel with KVM."""
    accepted = [
        (caller, function) for caller, function, _ in rows(ACCEPTED, "caller | function | reason")
    ]
    yield from results(read(kdir, arches.get(name).cross), accepted)


# Booted, at EL2

JOB = "world-switch"


def beside_a_guest(name, kdir, append="", smp=2):
    """Results of text that changes while a guest of KVM is entered and left, on a host with VHE."""
    arch = arches.get(name)
    host = replace(arch, machine=f"{arch.machine},virtualization=on")
    said, ended = tests.job_of_ours(
        name,
        kdir,
        JOB,
        append,
        smp,
        selftests=False,
        more={f"usr/bin/{JOB}": tests.program(name, kdir, JOB)},
        machine=host,
    )
    return said + ended
