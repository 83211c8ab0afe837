# SPDX-License-Identifier: GPL-2.0
"""The guest's console: kept in a log, shown as it comes,
searched for what a kernel says when it is unwell.

No verdict is read from here. A panic line only tells that a guest whose panic device
and reboot do not work is not going to come back.
"""

import collections
import re
import sys

KEPT = 400  # lines remembered
LONGEST = 2000  # characters of a line remembered
STAMP = r"\[ *\d+\.\d+\].*"
COMPLAINTS = (
    r"\bWARNING: ",
    r"\bBUG: ",
    r"\bkernel BUG at ",
    r"\bOops\b",
    r"\bKASAN: ",
    r"\bUBSAN: ",
    r"\bKFENCE: ",
    r"\bKCSAN: ",
    r"possible circular locking",
    r"possible recursive locking",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"rcu: INFO: .*stall",
    r"soft lockup",
    r"hard LOCKUP",
    r"blocked for more than \d+ seconds",
    r"workqueue lockup",
    r"Unable to handle kernel",
    r"general protection fault",
    r"\bint3: \d",
    r"invalid opcode: \d",
    r"unhandled.*trap",
    r"DEBUG_LOCKS_WARN_ON",
    r"list_(add|del) corruption",
    r"refcount_t: ",
    r"ftrace bug",
    r"jump_label: Fatal",
    r"Kernel panic",
    r"-\w+: test failed at line \d+",
    r"emulate_step_test: .*\bFAIL",
)
BAD = re.compile(STAMP + f"({'|'.join(COMPLAINTS)})")
HARMLESS = re.compile(r"Kernel command line: ")
PANIC = re.compile(r"^(\[ *\d+\.\d+\].*)?Kernel panic - not syncing")
RESTART = re.compile(r"reboot: (Restarting|machine restart)")
# The kernel's last word before its machine is off. On a busy host QEMU may take longer than the ten
# seconds that ACPI waits for it; the task that asked for it then exits with interrupts off, and the
# kernel warns of that.
POWER_DOWN = re.compile(STAMP + r"\breboot: Power down")


class Console:
    """Takes the console's bytes; log is an open file or None, echo says whether to show them."""

    def __init__(self, log=None, echo=True):
        self.log = log
        self.sink = sys.stdout.buffer if echo else None
        self.line = b""
        self.last: collections.deque[str] = collections.deque(maxlen=KEPT)
        self.badness = []
        self.panicked = self.restarted = self.powered_down = False

    def feed(self, data):
        """Keep, show and search some bytes."""
        if self.log:
            self.log.write(data)
            self.log.flush()
        self._show(data)
        *lines, self.line = (self.line + data).split(b"\n")
        self.line = self.line[-LONGEST:]
        for line in lines:
            self._search(line[:LONGEST].decode(errors="replace").rstrip("\r"))

    def end(self):
        """A last line without its end counts too."""
        if self.line:
            self._search(self.line.decode(errors="replace"))
            self.line = b""

    def _show(self, data):
        """A reader that has gone away does not end the guest."""
        if self.sink:
            try:
                self.sink.write(data)
                self.sink.flush()
            except BrokenPipeError:
                self.sink = None

    def _search(self, line):
        self.last.append(line)
        self.panicked = self.panicked or bool(PANIC.search(line))
        self.restarted = self.restarted or bool(RESTART.search(line))
        self.powered_down = self.powered_down or bool(POWER_DOWN.search(line))
        if BAD.search(line) and not HARMLESS.search(line) and not self.powered_down:
            self.badness.append(line)

    def tail(self, lines=40):
        return list(self.last)[-lines:]
