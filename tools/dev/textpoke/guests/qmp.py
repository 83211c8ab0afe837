# SPDX-License-Identifier: GPL-2.0
"""A small client of QEMU's machine protocol: what happens to the guest, as QEMU sees it."""

import json
import os
import select
import socket
import time
from typing import Any

SOCKET = "qmp"  # in the folder that QEMU runs in
PATIENCE = 10  # seconds for QEMU to answer


class Qmp:
    """A connection to the QEMU that runs in a folder; its events are collected as they come."""

    def __init__(self):
        self.socket: Any = None
        self.received = b""
        self.events = []
        self.asked = 0
        self.replies = {}
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
        self.asked += 1
        request = {"execute": name, "arguments": arguments, "id": self.asked}
        try:
            self.socket.send(json.dumps(request).encode() + b"\n")
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
        elif "id" in message:
            self.replies[message["id"]] = message

    def ask(self, name, **arguments):
        """A command's answer; None when QEMU is gone or does not answer."""
        if not self.connected:
            return None
        self._send(name, **arguments)
        until = time.monotonic() + PATIENCE
        while self.asked not in self.replies and not self.closed and time.monotonic() < until:
            select.select([self.socket], [], [], 0.2)
            self.read()
        return self.replies.get(self.asked, {}).get("return")

    def close(self):
        if self.socket:
            self.socket.close()
        self.closed = True
