# SPDX-License-Identifier: GPL-2.0
"""Can what runs in real mode meet the core's trap?

Read off a powerpc kernel that was built.

The entry code of powerpc's trap turns the MMU on, and needs the CPU's own variables. So the
backend has a list of functions that also run without, `no_trap_names`: their text changes without
a trap. No compiler knows whether it is complete, and a guest would have to change the right
function in the right moment. So what may run in real mode is followed here, from one direct call
to the next, and each function that this comes to has to be one where the backend does not use the
trap, or have nothing that changes: no call site of the function tracer and no static key.

It begins at the functions of the list, for they run there, at what entry code calls there, at
what is called there through a pointer of these names, wherever the source stores to one, and, in
a kernel that is a hypervisor, at its way into a guest and out, with the table of hypercalls that
are taken on it.

Calls that are made with the MMU on only, or at no time, are in
tools/dev/expected/accepted/real-mode, `caller | function | reason`. They are not followed. For
kernels with a fragment of the configuration, there may be more in a table `real-mode-FRAGMENT`.
What is in the first may be missing in these: it is looked for in the architecture's own kernel.

A name of the list that no source has is a mistake as well, and so is one that more than one
function has, for the backend finds one of them.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .. import arch as arches
from ..errors import INFRA, Fail
from ..results.tables import FOLDER
from ..series import series
from .calls import Image, accepted_in, chain, judged, reached, unused
from .calls import target as branch_of
from .csource import code

ACCEPTED = FOLDER / "accepted/real-mode"
BACKEND = "arch/powerpc/kernel/text_poke.c"
# Where the functions of the list are.
SOURCES = ("arch/powerpc", "kernel", "lib")
LIST = re.compile(r"no_trap_names\[\] __initconst = \{(?P<names>.*?)^\};", re.S | re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NAME = re.compile(r'"(\w+)"')
BRANCH = branch_of(r"b\S*")

# What entry code calls in real mode: a CPU that comes online, a machine check, a hypervisor
# maintenance interrupt, and kexec.
ENTRY = (
    "early_setup_secondary",
    "machine_check_early",
    "machine_check_early_boot",
    "machine_check_queue_event",
    "hmi_exception_realmode",
    "kexec_copy_flush",
    "mmu_cleanup_all",
)
# What these call there.
POINTERS = (
    "cpu_restore",
    "init_pmu_registers",
    "machine_check_early",
    "hmi_exception_early",
    "hpte_clear_all",
)
STORED = re.compile(rf"\b(?P<pointer>{'|'.join(POINTERS)})\s*=\s*&?(?P<name>[a-z_]\w*)")
# Where KVM HV enters its guests, and where they come back: book3s_hv_rmhandlers.S, but for its end,
# which this calls, and book3s_64_entry.S.
WAYS = (
    ("kvmppc_hv_entry_trampoline", "kvmppc_fix_pmao"),
    ("kvmppc_hcall", "kvmppc_p9_bad_interrupt"),
)
# The hypercalls that are taken on that way: where each function is, as a distance from the first.
HYPERCALLS = ("hcall_real_table", "hcall_real_table_end")
# Text where the backend never uses the trap, besides the list.
WITHOUT = (
    ("_stext", "__head_end"),
    ("_stext", "__end_soft_masked"),
    ("__noinstr_text_start", "__noinstr_text_end"),
)


@dataclass(frozen=True)
class Sites:
    """What a kernel's text has, all by the names of functions.

    calls    function -> those that it branches to
    listed   those of the list
    twice    those of the list whose name others have as well
    without  those in text where the trap is never used
    entry    those that are called in real mode by entry code, or through a pointer; KVM's way
             into a guest and out of it
    traced   those with a call site of the function tracer
    keyed    those with a static key
    """

    calls: dict
    listed: set
    twice: set
    without: set
    entry: set
    traced: set
    keyed: set


@dataclass(frozen=True)
class Source:
    """What the source says: names of the list that nothing has, and pointer -> functions."""

    unknown: set
    stored: dict


def results(sites, source, accepted, own=None):
    """Results of what was read.

    own    what is accepted of this kernel, if other kernels have some of the rest
    """
    found = reached(sites.calls, sites.listed | sites.entry, accepted)
    trapped = [each for each in found if each not in sites.listed | sites.without]
    for what, wrong in (("a call site of the tracer", sites.traced), ("static keys", sites.keyed)):
        yield judged(
            f"nothing that runs in real mode has {what} with a trap",
            [chain(each, found) for each in trapped if each in wrong],
        )
    yield judged("what may not trap is in the source", source.unknown)
    yield judged("what may not trap is one function each", sites.twice)
    yield judged(
        "what is called in real mode through a pointer is in the source",
        {pointer for pointer in POINTERS if not source.stored.get(pointer)},
    )
    yield judged(
        "what is accepted is there", unused(sites.calls, found, accepted if own is None else own)
    )


# Reading


def listed_in(text):
    """The names of the list, of the backend's source."""
    match = LIST.search(text)
    return tuple(NAME.findall(COMMENT.sub("", match["names"]))) if match else ()


def _sources(tree):
    for folder in SOURCES:
        for kind in ("*.c", "*.h", "*.S"):
            yield from sorted((tree / folder).rglob(kind))


def read_source(tree):
    """The Source below a folder."""
    backend = tree / BACKEND
    unknown = set(listed_in(backend.read_text()))
    stored: dict[str, set[str]] = {}
    if not unknown:
        raise Fail(INFRA, f"{BACKEND} seems to have no list: this has to be read in another way")
    for path in _sources(tree):
        text = path.read_text(errors="replace")
        if path != backend and any(name in text for name in (*unknown, *POINTERS)):
            text = code(text)
            unknown -= set(re.findall(r"\w+", text))
            for match in STORED.finditer(text):
                stored.setdefault(match["pointer"], set()).add(match["name"])
    return Source(unknown, stored)


def _of_its_name(names, functions):
    """The functions of some names, and what the compiler has split off from these."""
    return {each for each in functions if each.partition(".")[0] in names}


def read(kdir, tools, source):
    """The Sites of a kernel; a failure if what there must be is not found,
    for then it was not read rightly.
    """
    image = Image(kdir, tools)
    calls = image.branches(BRANCH)
    names = set(image.strings("no_trap_names"))
    times = Counter(name for name, _ in image.functions)
    sites = Sites(
        calls,
        _of_its_name(names, calls),
        {name for name in names if times[name] > 1},
        set().union(*(image.within(*each) for each in WITHOUT)),
        _of_its_name(set(ENTRY).union(*source.stored.values()), calls).union(
            *(image.within(*each) for each in WAYS), map(image.function, image.offsets(*HYPERCALLS))
        ),
        {image.function(addr) for addr in image.pointers("mcount_loc")},
        image.keyed(),
    )
    empty = [name for name, value in vars(sites).items() if not value and name != "twice"]
    if empty:
        raise Fail(
            INFRA,
            f"{image.path} seems to have no {', '.join(empty)}: this has to be read in another way",
        )
    return sites


def tables():
    """Every table of accepted calls."""
    return sorted(ACCEPTED.parent.glob(f"{ACCEPTED.name}*"))


def accepted_of(kdir):
    """The calls that are accepted in a kernel, and those of them that it has to have."""
    every = accepted_in(ACCEPTED)
    if kdir.name in arches.ARCHES:
        return every, every
    own = [
        row
        for table in tables()
        if f"-{table.name.removeprefix(ACCEPTED.name)[1:]}-" in f"{kdir.name}-"
        for row in accepted_in(table)
    ]
    return [*every, *own], own


def real_mode(name, kdir, *_):
    """Results of a kernel."""
    source = read_source(series.source_tree())
    yield from results(read(kdir, arches.get(name).cross, source), source, *accepted_of(Path(kdir)))
