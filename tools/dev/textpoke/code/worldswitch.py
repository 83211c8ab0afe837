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

from dataclasses import dataclass, replace

from .. import arch as arches
from ..errors import INFRA, Fail
from ..guests import tests
from ..results.tables import FOLDER
from .calls import SYMBOL, TEXT, Image, accepted_in, chain, fits, judged, matches, reached, unused
from .calls import target as branch_of

SWITCH = "arch/arm64/kvm/hyp/vhe/built-in.a"
ACCEPTED = FOLDER / "accepted/world-switch"
BRANCH = branch_of(r"bl?|b\.\w+|cbn?z|tbn?z")
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


def results(sites, accepted):
    """Results of what was read."""
    found = reached(sites.calls, sites.switch, accepted, sites.traced | sites.keyed)
    elsewhere = set(found) - sites.switch
    for what, wrong in (
        ("can be traced", sites.traced),
        ("has static keys", sites.keyed),
        ("takes a probe", elsewhere - sites.unprobed),
    ):
        yield judged(
            f"the world switch calls nothing that {what}",
            {chain(each, found) for each in elsewhere & wrong},
        )
    unknown = {
        each for each in sites.outside if not any(fits(OUTSIDE, each, known) for known in accepted)
    }
    yield judged("what of hyp/vhe is outside of the range is known", unknown)
    others = [(OUTSIDE, each) for each in sites.outside]
    yield judged("what is accepted is there", unused(sites.calls, found, accepted, others))


# Reading


def _within(image, name):
    """The functions in a range of text."""
    return image.within(f"__{name}_text_start", f"__{name}_text_end")


def read(kdir, tools):
    """The Sites of a kernel; a failure if what there must be is not found,
    for then it was not read rightly.
    """
    image = Image(kdir, tools)
    calls = image.branches(BRANCH)
    symbols = matches(SYMBOL, f"{tools}nm", "--defined-only", kdir / SWITCH)
    switch = _within(image, RANGE) & set(calls)
    own = {match["name"] for match in symbols if match["type"] in TEXT} & set(calls)
    sites = Sites(
        calls,
        switch,
        own - switch,
        {image.function(addr + ENTRY) for addr in image.pointers("mcount_loc")},
        image.keyed(),
        set().union(*(_within(image, each) for each in UNPROBED)),
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
    yield from results(read(kdir, arches.get(name).cross), accepted_in(ACCEPTED))


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
