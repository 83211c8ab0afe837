# SPDX-License-Identifier: GPL-2.0
"""A small client of QEMU's machine protocol: what happens to the guest, as QEMU sees it."""

import json
import os
import select
import socket
import time

SOCKET = "qmp"  # in the folder that QEMU runs in
PATIENCE = 10  # seconds for QEMU to answer


class Qmp:
    """A connection to the QEMU that runs in a folder; its events are collected as they come."""

    def __init__(self):
        self.socket = None
        self.received = b""
        self.events = []
        self.replies = []
        self.closed = False

    def connect(self, folder):
        """Try once to connect; False while QEMU does not listen yet.

        A socket's path may have 107 bytes only, so it is named through a file descriptor.
        """
        where = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        tried = socket.socket(socket.AF_UNIX)
        try:
            tried.connect(f"/proc/self/fd/{where}/{SOCKET}")
        except (FileNotFoundError, ConnectionRefusedError):
            tried.close()
            return False
        finally:
            os.close(where)
        tried.setblocking(False)
        self.socket = tried
        self._send("qmp_capabilities")
        return True

    def fileno(self):
        return self.socket.fileno()

    @property
    def connected(self):
        return self.socket is not None and not self.closed

    def _send(self, name, **arguments):
        try:
            self.socket.send(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        except OSError:
            self.closed = True

    def read(self):
        """Take in what has arrived; sets closed when QEMU is gone."""
        while not self.closed:
            try:
                data = self.socket.recv(65536)
            except BlockingIOError:
                break
            except ConnectionError:
                data = b""
            self.closed = not data
            self.received += data
        *lines, self.received = self.received.split(b"\n")
        for line in filter(None, map(bytes.strip, lines)):
            self._take(json.loads(line))

    def _take(self, message):
        if "event" in message:
            self.events.append(message)
        elif "return" in message or "error" in message:
            self.replies.append(message)

    def ask(self, name, **arguments):
        """A command's answer; None when QEMU is gone or does not answer."""
        if not self.connected:
            return None
        self.read()
        # What was asked before (the capabilities) has been answered, or will be first.
        self._wait(1)
        self.replies.clear()
        self._send(name, **arguments)
        return self._wait(PATIENCE)

    def _wait(self, patience):
        """The next answer, within patience."""
        until = time.monotonic() + patience
        while not self.replies and not self.closed and time.monotonic() < until:
            select.select([self.socket], [], [], 0.2)
            self.read()
        return self.replies[0].get("return") if self.replies else None

    def close(self):
        if self.socket:
            self.socket.close()
        self.closed = True
