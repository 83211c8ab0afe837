# SPDX-License-Identifier: GPL-2.0
"""The QEMU of `make trace`, and its plugin: the one place where they are chosen.

The interface of plugins changes between releases, and none has that of another. QEMU 11 tells a
plugin of interrupts and exceptions. It is of a newer Debian, unpacked beside the tree; what has
fitted once is kept in the cache. When it can be had no more there is QEMU 10, which boots all other
guests: with it the plugin knows the vectors to which interrupts and exceptions lead.
"""

import bisect
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import INFRA, MISSING, Fail
from ..say import run as command
from ..say import say
from . import newer

SOURCE = paths.DEV / "trace"
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter")
SUITES = ("trixie-backports", "trixie")
PACKAGES = {
    "x86": ("qemu-system-x86",),
    "arm64": ("qemu-system-arm",),
    "riscv": ("qemu-system-riscv",),
    "powerpc": ("qemu-system-ppc",),
}
DATA = ("qemu", "seabios")  # folders of what QEMU loads itself
# The version of the plugin's interface that a release has.
APIS = {"11": 7, "10": 4}
NEWEST, INSTALLED = APIS
# What QEMU says when it has loaded the plugin, which does nothing without its words.
LOADED = "qemu_plugin_install returned error code"


@dataclass(frozen=True)
class Plugin:
    """The plugin, and the QEMU that it is for."""

    qemu: str
    path: Path


def compiled(target, sources, *words):
    """A program of ours, made again if any file of its folder is newer."""
    changed = [*SOURCE.iterdir(), Path(__file__)]
    if not target.exists() or any(
        target.stat().st_mtime < source.stat().st_mtime for source in changed
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        command(
            ["gcc", "-O2", *WARNINGS, *(SOURCE / name for name in sources), *words, "-o", target],
            log=paths.LOGS / f"trace-{target.name}.log",
            what=f"building {target.name}",
        )
    return target


def sources(qemu):
    """Of the plugin, and how they are told which it is."""
    return ("plugin.c", f"qemu{qemu}.c"), f"-DQEMU_API={APIS[qemu]}"


def build(folder, qemu):
    """The plugin for that QEMU."""
    files, told = sources(qemu)
    words = ("-shared", "-fPIC", "-fvisibility=hidden", told)
    return Plugin(qemu, compiled(folder / f"plugin{qemu}.so", files, *words))


def fits(program, plugin):
    """Fails with a sentence if a QEMU does not load the plugin."""
    words = [program, "-machine", "none", "-display", "none", "-plugin", plugin.path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if LOADED in done.stderr:
        return
    said = done.stderr.strip().splitlines() or [
        f"it says nothing, and exits with {done.returncode}"
    ]
    raise Fail(INFRA, f"{program} does not load the plugin for QEMU {plugin.qemu}: {said[-1]}")


def _newest(arch, plugin):
    """The architecture with the QEMU that is unpacked beside the tree."""

    def start(folder):
        data = [word for name in DATA for word in ("-L", folder / "usr/share" / name)]
        return newer.starter(folder, arch.qemu, *data)

    folder = newer.unpack(
        PACKAGES[arch.name],
        SUITES,
        paths.BUILD / "foreign" / f"qemu-{arch.name}",
        lambda folder: fits(start(folder), plugin),
    )
    return replace(arch, qemu=str(start(folder)))


def _installed(arch, plugin):
    """The architecture with the QEMU that boots its other guests."""
    if not shutil.which(arch.qemu):
        host.need_qemu(arch.name)
    fits(arch.qemu, plugin)
    return arch


def choose(name, folder, asked=None):
    """(the architecture with a QEMU, the plugin for it): the newest, or the installed one if that
    cannot be had. Of the one that was asked for there is no choice.
    """
    arch = arches.get(name)
    if asked != INSTALLED:
        plugin = build(folder, NEWEST)
        try:
            return _newest(arch, plugin), plugin
        except Fail as error:
            if asked or error.code not in (INFRA, MISSING):
                raise
            say(
                f"there is no QEMU {NEWEST} to be had, so QEMU {INSTALLED} is used: {error.message}"
            )
    plugin = build(folder, INSTALLED)
    return _installed(arch, plugin), plugin


# Where interrupts and exceptions lead

INTERRUPT, EXCEPTION, BEHIND, TOLD = range(4)  # as in qemu10.c
# x86 has a stub for each interrupt that is not the kernel's own, and at most so many.
STUBS, STUB = ("irq_entries_start", "spurious_entries_start"), (8, 16)
INTERRUPTS = 256
SPECIAL = {"asm_exc_int3": BEHIND, "asm_exc_nmi": INTERRUPT}
# Offsets of the vectors for what comes while the kernel runs.
ARM64 = {0x200: EXCEPTION, 0x280: INTERRUPT, 0x300: INTERRUPT, 0x380: INTERRUPT}
# POWER's are there twice, the second time for when addresses are translated.
POWER_AGAIN = 0x4000
POWER = {
    **{at: EXCEPTION for at in (0x300, 0x380, 0x400, 0x480, 0x600, 0x700, 0x800, 0xD00)},
    **{at: EXCEPTION for at in (0xF20, 0xF40, 0xF60, 0x1500, 0x1700)},
    **{at: INTERRUPT for at in (0x100, 0x200, 0x500, 0x900, 0x980, 0xA00, 0xE80, 0xEA0, 0xF00)},
}


def _one(addr, kind):
    """(first, end, step, kind) of one that is alone."""
    return addr, addr + 1, 1, kind


def _x86(found):
    starts = sorted(found.values())
    for name, addr in found.items():
        if match := re.match(r"asm_(exc|sysvec)_", name):
            kind = EXCEPTION if match[1] == "exc" else INTERRUPT
            yield _one(addr, SPECIAL.get(name, kind))
    for addr in (found[name] for name in STUBS if name in found):
        end = starts[bisect.bisect_right(starts, addr)]
        yield addr, end, STUB[end - addr > INTERRUPTS * STUB[0]], INTERRUPT


def _arm64(found):
    for name in ("vectors", "__bp_harden_el1_vectors"):
        for offset, kind in ARM64.items() if name in found else ():
            yield _one(found[name] + offset, kind)


def _riscv(found):
    yield _one(found["handle_exception"], TOLD)


def _powerpc(found):
    for base in (found["_text"], found["_text"] + POWER_AGAIN):
        for offset, kind in POWER.items():
            yield _one(base + offset, kind)


VECTORS = {"x86": _x86, "arm64": _arm64, "riscv": _riscv, "powerpc": _powerpc}


def write_vectors(name, found, path):
    """The list for the plugin, of a kernel with these symbols."""
    path.write_text(
        "".join(
            f"{first:x} {end:x} {step:x} {kind}\n"
            for first, end, step, kind in VECTORS[name](found)
        )
    )
    return path
