# SPDX-License-Identifier: GPL-2.0
"""The exit codes, and the one exception that carries them.

Every failure a user can meet is one sentence that says what to do, with the
exit code of its kind, so that a script can tell a failed test from a full disk.
"""

import errno
import os

OK = 0
TEST_FAILED = 1
USAGE = 2
MISSING = 3  # a tool, a package or a privilege
PANIC = 4
HANG = 5
INFRA = 6  # build failed, no network, disk full, bad base
INTERRUPTED = 130  # as a shell says it of Ctrl-C
UNREAD = 141  # as a shell says it of a program whose output is read no further, as by head

MEANING = {
    OK: "passed",
    TEST_FAILED: "a test failed",
    USAGE: "wrong usage",
    MISSING: "a tool, package or privilege is missing",
    PANIC: "the guest's kernel panicked",
    HANG: "the guest hung",
    INFRA: "build, network, disk or base is at fault, or these tools",
    INTERRUPTED: "interrupted",
    UNREAD: "what reads the output has ended",
}


class Fail(Exception):
    """A failure to be shown as its message alone, and to exit with its code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


DISK = (errno.ENOSPC, errno.EDQUOT)
PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)


def of_system(error):
    """An error of the operating system's as a Fail;
    every other exception is none, for it is a mistake in these tools.
    """
    if not isinstance(error, OSError) or error.errno is None:
        return None
    where = " and ".join(
        str(name) for name in (error.filename, error.filename2) if name is not None
    )
    where = where and f" ({where})"
    if error.errno in DISK:
        return Fail(INFRA, f"the disk is full{where}: make room and run the command again")
    if error.errno in PERMISSION:
        return Fail(MISSING, f"no permission to write or read{where}: check whose it is")
    return Fail(
        INFRA,
        f"{os.strerror(error.errno).lower()}{where}: put that in order and run the command again",
    )
