# SPDX-License-Identifier: GPL-2.0
"""What the user has given: whatever cannot be is told before anything is downloaded or built.

Each option has its check here, and each command is asked once, before it runs.
"""

import os
import re
from pathlib import Path

from . import arch as arches
from . import lock, paths
from .bench import benchfile
from .checks import cases
from .errors import USAGE, Fail
from .guests import boot, perf
from .packages import deb
from .series import base as bases
from .series import mails, patches
from .trace import qemus

# More than 64 are more than our kernels take; QEMU lets them take turns.
MOST_CPUS = 64
# How what QEMU boots begins, and where: ELF, x86's setup, arm64, RISC-V, gzip, EFI.
IMAGES = (
    (0, b"\x7fELF"),
    (0x202, b"HdrS"),
    (56, b"ARM\x64"),
    (48, b"RISCV"),
    (0, b"\x1f\x8b"),
    (0, b"MZ"),
)
# And what perf record writes.
RECORDINGS = ((0, b"PERFILE2"),)
# Commands that change the tree that KERNEL names; the others build from it, or take it for the
# base.
CHANGING = ("apply", "unapply")


def architecture(command, options):
    """A known one, with what the command needs there."""
    arch = options.arch if options.get("ARCH") or command.one else None
    if not arch:
        return
    known = arches.ARCHES
    if command.backend and not known[arch].has_backend and not options.get("BASE"):
        able = ", ".join(each for each in known if known[each].has_backend)
        raise Fail(
            USAGE,
            f"{command.name} needs a backend, which ARCH={arch} does not have yet: use {able}",
        )
    if command.name == "run" and arch not in perf.GUESTS:
        raise Fail(
            USAGE,
            f"run needs a perf in the guest, which there is none of for ARCH={arch}: use "
            f"{', '.join(perf.GUESTS)}",
        )
    if "LLVM" in command.options.split() and options.flag("LLVM") and known[arch].llvm:
        raise Fail(
            USAGE, f"LLVM=1 is not possible for {arch}: {known[arch].llvm}; build it without LLVM=1"
        )


def _real(path):
    """Where a path leads; a link that leads back to itself is as good as a path."""
    return Path(os.path.realpath(path))


def _inside(path, folder):
    return _real(path).is_relative_to(_real(folder))


def kernel(command, options):
    """A tree of the user's, that fits the command."""
    if not (named := options.get("KERNEL")):
        return
    tree = bases.user_tree(named)
    for ours in (paths.BUILD, paths.CACHE):
        if _inside(tree, ours):
            raise Fail(
                USAGE,
                f"KERNEL={named} is in {ours}, where these tools keep what they make: name a tree "
                "of your own, or a copy",
            )
    bases.version_of(tree)
    if command.name in CHANGING:
        return
    if there := next(
        (path for path in sorted(patches.kept()) if os.path.lexists(tree / path)), None
    ):
        raise Fail(
            USAGE,
            f"{tree} has the series, or a part of it ({there} is in it), which is put onto it "
            "here: "
            "name a tree without it, or run `make unapply` there",
        )
    if command.name != "series" and _inside(paths.ROOT, tree):
        raise Fail(
            USAGE,
            f"KERNEL={named} holds this very folder, and would be copied into itself: move "
            f"{paths.ROOT} out of it",
        )


def _begins(path, marks):
    """Whether a file has one of the marks at its place."""
    try:
        with open(path, "rb") as file:
            head = file.read(0x210)
    except OSError:
        return False
    return any(head[at : at + len(mark)] == mark for at, mark in marks)


def kernel_folder(_, options):
    """A folder with a kernel of the architecture, or an image."""
    if not (named := options.get("KDIR")):
        return
    path = Path(named)
    image = path / arches.get(options.arch).image if path.is_dir() else path
    if not image.is_file():
        raise Fail(
            USAGE,
            f"KDIR={named} is no kernel: {image} is not there; build one there, or name an image",
        )
    if not _begins(image, IMAGES):
        raise Fail(
            USAGE, f"KDIR={named} is no kernel: {image} does not begin as one that QEMU boots"
        )


def cpus(_, options):
    """No more than kernels and machines take."""
    if (options.number("SMP") or 1) > MOST_CPUS:
        raise Fail(USAGE, f"SMP={options.get('SMP')} is too many: use {MOST_CPUS} or fewer")


def initrd(_, options):
    """A file."""
    if (named := options.get("INITRD")) and not Path(named).is_file():
        raise Fail(USAGE, f"INITRD={named} is not a file")


def words(_, options):
    """Words for QEMU."""
    boot.words(options.get("QEMU_ARGS", ""))


def out(_, options):
    """A folder that we may write."""
    mails.folder_of(options.get("OUT"))


def data(command, options):
    """A recording of perf's."""
    if not (named := options.get("DATA")):
        raise Fail(
            USAGE,
            f"{command.name} needs a recording: name it, as in `tools/dev/tp {command.name} "
            "perf.data`",
        )
    path = Path(named)
    file = path / "data" if path.is_dir() else path
    if not file.is_file():
        raise Fail(
            USAGE, f"{named} is no recording: {file} is not there; perf record --kcore makes one"
        )
    if not _begins(file, RECORDINGS):
        raise Fail(
            USAGE, f"{named} is no recording: {file} does not begin as perf record's files do"
        )


def flavour(_, options):
    """One that Debian has for the architecture."""
    deb.flavour_of(options.arch, options.get("FLAVOUR"))


def compare(_, options):
    """What an earlier run has left, of the same architecture."""
    if named := options.get("COMPARE"):
        benchfile.read(named, options.arch)


def qemu(_, options):
    """One for which there is a plugin."""
    if (version := options.get("QEMU")) and version not in qemus.APIS:
        raise Fail(
            USAGE,
            f"QEMU={version} has no plugin of ours: use QEMU={' or QEMU='.join(qemus.APIS)}, or "
            "leave it out",
        )


def _flag(name):
    return lambda _, options: options.flag(name)


def _number(name):
    return lambda _, options: options.number(name)


def case(_, options):
    """There are some whose names begin like that."""
    cases.load(options.arch, options.get("CASE", ""))


CHECKS = {
    "ARCH": architecture,
    "KERNEL": kernel,
    "KDIR": kernel_folder,
    "SMP": cpus,
    "INITRD": initrd,
    "QEMU": qemu,
    "QEMU_ARGS": words,
    "OUT": out,
    "DATA": data,
    "FLAVOUR": flavour,
    "COMPARE": compare,
    "CASE": case,
    **{name: _flag(name) for name in ("BASE", "LLVM", "LIST", "FRESH", "DRY", "DEBUG")},
    **{name: _number(name) for name in ("TIMEOUT", "MINUTES", "JOBS")},
}


def place(command, options):
    """The kernel's make takes no such path, and says so after a while."""
    builds = "ARCH" in command.options.split() and not options.get("KDIR")
    for path in (str(paths.BUILD), str(_real(paths.BUILD))) if builds else ():
        if found := re.search(r"[\s:]", path):
            what = "a colon" if found[0] == ":" else "white space"
            raise Fail(
                USAGE,
                f"{path} has {what} in it, which the kernel's make cannot do with: "
                "move this folder",
            )


def check(command, options):
    """All that is wrong with it, the first of it as a sentence."""
    known = command.options.split()
    if command.uses_build:
        lock.check_build()
    for name, test in CHECKS.items():
        if name in known:
            test(command, options)
    place(command, options)
