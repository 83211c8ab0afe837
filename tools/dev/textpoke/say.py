# SPDX-License-Identifier: GPL-2.0
"""Progress for people, and running commands without ever being silent or lossy.

Progress goes to stderr: stdout belongs to a guest's console and to results.
"""

import atexit
import contextlib
import ctypes
import functools
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from . import paths
from .errors import INFRA, MISSING, Fail

START = time.monotonic()
QUIET_FOR = 15  # seconds between two progress lines when no terminal shows them
SILENT_FOR = 60  # seconds after which work that starts no command gives a sign of life

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_last = START  # when anything was said


def say(message):
    """One progress line with the time since the start of the command."""
    global _last  # pylint: disable=global-statement
    _last = time.monotonic()
    print(f"[{int(_last - START):4d}s] {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def working(what, every=None):
    """A sign of life while what is inside goes on and says nothing itself."""
    every, done = every or SILENT_FOR, threading.Event()

    def signs():
        while not done.wait(min(1, every)):
            if time.monotonic() - _last >= every:
                say(f"{what}: still at it")

    thread = threading.Thread(target=signs, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def die_with_us(number=signal.SIGTERM):
    """For a child before it becomes a program:
    it gets a signal when these tools are killed, which can end nothing then.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, number)


def tail(path, lines=15):
    """The last lines of a log, in which the reason is to be found."""
    with open(path, "rb") as log:
        log.seek(0, os.SEEK_END)
        log.seek(max(0, log.tell() - 200 * lines))
        text = log.read().decode(errors="replace")
    return "\n".join(text.splitlines()[-lines:])


def _last_line(path, head):
    """What a command said last, for its sign of life; head:
    the length of the line in which we say what it is.
    """
    said = os.path.getsize(path) - head
    last = tail(path, 1).strip() if said > 0 else ""
    return last[:100] or "still at it"


def _environment(env):
    """The caller's variables over ours; None takes a variable away."""
    merged = dict(os.environ)
    for name, value in (env or {}).items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = str(value)
    return merged


def _start(cmd, **how):
    """Start cmd in a process group of its own, so that we can end all of it."""
    try:
        return subprocess.Popen(cmd, start_new_session=True, preexec_fn=die_with_us, **how)
    except FileNotFoundError as error:
        raise Fail(MISSING, f"{error.filename} is missing: run `make setup` as root") from None
    except PermissionError as error:
        raise Fail(MISSING, f"{error.filename} cannot be executed: check its permissions") from None


def _end(process):
    """End a command and its children, and wait until they are gone."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _watch(process, what, log, timeout, head):
    """Wait for a command, with a sign of life every QUIET_FOR seconds; None is a timeout."""
    begin = said = time.monotonic()
    while True:
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if timeout and now - begin > timeout:
            return None
        if now - said >= QUIET_FOR:
            said = now
            say(f"{what}: {_last_line(log, head)}")


def why(text):
    """The part of a failure that the user can do something about, or ''."""
    if "No space left on device" in text:
        return "the disk is full: make room and run the command again"
    return ""


def _give_up(status, cmd, what, log):
    """Show the end of the log and raise; the sentence names the log."""
    print(tail(log), file=sys.stderr, flush=True)
    ended = "took too long" if status is None else f"failed (status {status})"
    advice = why(tail(log, 50)) or f"see {log}"
    raise Fail(INFRA, f"{what} {ended}: {advice}")


def run(cmd, log=None, what=None, cwd=None, env=None, stdin=None, timeout=None, check=True):
    """Run cmd, its output into log, with progress; returns its exit status.

    what   what the progress lines and the error call it (default: the program)
    log    file for stdout and stderr (default: build/log/<program>.log)
    stdin  an open file
    env    variables on top of ours (None as a value removes one)
    check  False: a failure is the caller's business (a timeout is still raised)
    """
    cmd = [str(word) for word in cmd]
    what = what or Path(cmd[0]).name
    log = Path(log or paths.LOGS / f"{Path(cmd[0]).name}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as out:
        head = out.write(f"$ {shlex.join(cmd)}\n".encode(errors="surrogateescape"))
        out.flush()
        process = _start(
            cmd,
            cwd=cwd,
            env=_environment(env),
            stdout=out,
            stdin=stdin or subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
        )
        # An interruption reaches the main thread alone.
        end = atexit.register(functools.partial(_end, process))
        try:
            status = _watch(process, what, log, timeout, head)
        finally:
            end()
            atexit.unregister(end)
    if status is None or (status and check):
        _give_up(status, cmd, what, log)
    return status


def output(cmd, cwd=None, env=None, input=None, what=None, code=INFRA):
    """The stdout (str) of a short command; its failure is a Fail with its stderr."""
    cmd = [str(word) for word in cmd]
    process = _start(
        cmd,
        cwd=cwd,
        env=_environment(env),
        text=True,
        errors="surrogateescape",
        stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = process.communicate(input)
    finally:
        _end(process)
    if process.returncode:
        said = (err.strip() or out.strip() or "no output").splitlines()[-1]
        raise Fail(code, f"{what or shlex.join(cmd[:3])} failed: {why(err) or said}")
    return out
