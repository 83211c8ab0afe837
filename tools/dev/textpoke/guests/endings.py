# SPDX-License-Identifier: GPL-2.0
"""How a kernel ends in the middle of a batch: it panics as ever, and another kernel can go on.

A guest lets the function tracer arm thousands of functions, with syncs that take long,
and ends while they trap: see guest/ending.sh.
"""

import functools
import re

from .. import arch as arches
from ..errors import OK, PANIC
from ..results.ktap import FAILED, PASSED, Result
from . import boot, initramfs, tests

ARMED = "the text is full of traps"
PANICKED = "Kernel panic - not syncing: sysrq triggered crash"
# What a trap that no handler takes makes the kernel say.
UNHANDLED = re.compile(
    r"int3: \d|Kernel BUG|Unexpected kernel BRK|Unhandled .*trap|Oops: int3|recursive fault|BUG: "
    r"stack guard"
)
# The driver of virtio's console keeps a page for each message that may come: with pages of 64 KiB
# and the queues of QEMU 10.0.13, 200 MiB.
RESERVED = "crashkernel=384M"
# The words that the second kernel knows itself by.
NEXT = "textpoke.next"
NEXT_KERNELS = {
    "crash": "after a panic the crash kernel runs",
    "kexec": "another kernel takes over",
}
NEXT_JOB = f"grep -q {NEXT} /proc/cmdline"
# Warnings at most. On powerpc each byte of a line is a hypercall until there is a driver of the
# console, and after each the CPU that has not begun yet has its turn to wait: 5 s a line.
QUIET = "loglevel=5"
TIMEOUT = 300


def _result(name, good, note=""):
    return Result(
        f"in the middle of a batch: {name}", PASSED if good else FAILED, "" if good else note
    )


def in_time(text):
    """Whether the guest got as far as a text full of traps, and took none of them badly."""
    if ARMED not in text:
        return "the batch was never in the middle"
    if found := UNHANDLED.search(text[text.index(ARMED) :]):
        return f"a trap was not handled: {found[0]}"
    return ""


def panic_verdict(code, text):
    """'' if a kernel has said why it dies, and then was reset."""
    if wrong := in_time(text):
        return wrong
    if PANICKED not in text:
        return "there is no word of the panic"
    return "" if code == PANIC else "it did not end"


def next_verdict(verdict, text):
    """'' if the second kernel has given its verdict."""
    if wrong := in_time(text):
        return wrong
    return "" if verdict == OK else "the next kernel did not get as far as its verdict"


def _initrd(name, kdir, programs, how):
    """The guest's, with the next kernel and its own initramfs if there is to be one."""
    extra = dict(programs)
    if how != "panic":
        arch = arches.get(name)
        extra |= {
            "next.kernel": kdir / (arch.next_kernel or arch.image),
            "next.cpio.gz": initramfs.build_initramfs(name, job=NEXT_JOB.encode()),
        }
    return initramfs.build_initramfs(
        name,
        extra=extra,
        job=initramfs.GUEST / "ending.sh",
        kdir=kdir,
        args=[how, f"{boot.command_line(arches.get(name), NEXT)} maxcpus=1 {QUIET}"],
    )


def _results(how, result):
    """What is made of a guest that ended in one way."""
    if how == "panic":
        wrong = panic_verdict(result.code, result.console)
        return [_result("a panic is told, and ends the guest", not wrong, wrong)]
    wrong = next_verdict(result.verdict, result.console)
    return [_result(NEXT_KERNELS[how], not wrong, wrong)]


def ending(name, kdir, programs, how):
    """What boots a guest that ends in one way."""
    grace = TIMEOUT if how == "crash" else boot.PANIC_GRACE
    words = {
        "append": f"{tests.LOG} {RESERVED}",
        "timeout": TIMEOUT,
        "echo": False,
        "turns": True,
        "grace": grace,
    }
    return tests.Guest(
        name,
        kdir,
        lambda: _initrd(name, kdir, programs, how),
        functools.partial(_results, how),
        words,
        boot.boot,
    )


def endings_guests(name, kdir, folder):
    """What boots a guest for each way, with our selftests in a folder; each gives its results."""
    programs = tests.ours(folder, "listen") | {"usr/bin/kexec": tests.program(name, kdir, "kexec")}
    return [ending(name, kdir, programs, how) for how in ("panic", *arches.get(name).endings)]
