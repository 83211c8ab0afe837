# SPDX-License-Identifier: GPL-2.0
"""A guest of an architecture for which Debian has no busybox: its init is a program of ours.

It is built with the kernel's own nolibc.h, so that no C library of that architecture is needed.
The program has the kernel change its text, looks whether it is executed as it is then, and gives
the verdict.
"""

import re

from .. import arch as arches
from ..errors import OK
from ..results.ktap import FAILED, PASSED, Result
from ..say import say
from ..series import series
from . import boot, initramfs, tests

INIT = "changes"
NOLIBC = "tools/include/nolibc/nolibc.h"
WRONG = re.compile(r"^(.+): FAILED\r?$", re.M)


def _initramfs(arch, kdir):
    words = ("-Wall", "-Werror", "-nostdlib", "-include", series.source_tree() / NOLIBC)
    entries = {
        "init": initramfs.file(tests.program(arch.name, kdir, INIT, words).read_bytes(), True),
        "dev/console": initramfs.node(5, 1),
    }
    return initramfs.write(entries, kdir / f"{INIT}.cpio.gz")


def judged(result):
    """Results of a guest: each thing that it did went well, and the kernel did not complain."""
    wrong = WRONG.findall(result.console)
    good = result.verdict == 0 and result.code == OK and not wrong
    if not good:
        boot.report(result)
    yield Result(
        "its text changes",
        PASSED if good else FAILED,
        "" if good else "; ".join(wrong or [result.reason]),
    )
    complaint = result.badness[0].strip() if result.badness else ""
    yield Result("and the kernel does not complain", FAILED if complaint else PASSED, complaint)


def changes_text(name, kdir, append="", smp=1):
    """The results of one whose CPUs take turns, as in all tests: see tests.in_guest()."""
    arch = arches.get(name)
    say(f"{INIT} on {arch}")
    return judged(
        boot.boot(
            arch, kdir, _initramfs(arch, kdir), smp=smp, append=append, echo=False, turns=True
        )
    )
