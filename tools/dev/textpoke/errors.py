# SPDX-License-Identifier: GPL-2.0
"""The exit codes, and the one exception that carries them.

Every failure a user can meet is one sentence that says what to do, with the
exit code of its kind, so that a script can tell a failed test from a full disk.
"""

OK = 0
TEST_FAILED = 1
USAGE = 2
MISSING = 3  # a tool, a package or a privilege
PANIC = 4
HANG = 5
INFRA = 6  # build failed, no network, disk full, bad base
INTERRUPTED = 130  # as a shell says it of Ctrl-C

MEANING = {
    OK: "passed",
    TEST_FAILED: "a test failed",
    USAGE: "wrong usage",
    MISSING: "a tool, package or privilege is missing",
    PANIC: "the guest's kernel panicked",
    HANG: "the guest hung",
    INFRA: "build, network, disk or base is at fault, or these tools",
    INTERRUPTED: "interrupted",
}


class Fail(Exception):
    """A failure to be shown as its message alone, and to exit with its code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message
