# SPDX-License-Identifier: GPL-2.0
"""Which command uses a folder: two may run side by side, or one after another's kill.

build/ is shared by all commands and held by one alone for `clean`; what two commands must
not make at once has a lock of its own in there, or in the cache. The locks are the kernel's:
they go with the process, however it ends, and so leave nothing behind.
"""

import contextlib
import fcntl
import os
from pathlib import Path

from . import paths
from .errors import INFRA, Fail
from .say import say


def _taken(fd, how):
    """Whether the lock is ours now.

    Where a file system has no locks there is nothing to wait for.
    """
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def _opened(path, flags):
    fd = os.open(path, flags, 0o666)
    try:
        yield fd
    finally:
        os.close(fd)


def _take(fd, how, what):
    if not _taken(fd, how):
        say(f"waiting for another command that uses {what}")
        fcntl.flock(fd, how)


@contextlib.contextmanager
def locked(name, where=None):
    """One at a time, between processes."""
    where = Path(where or paths.CACHE)
    where.mkdir(parents=True, exist_ok=True)
    with _opened(where / f".{name}.lock", os.O_RDWR | os.O_CREAT) as fd:
        _take(fd, fcntl.LOCK_EX, name)
        yield


@contextlib.contextmanager
def folder(path):
    """One at a time in a folder of the user's, in which no file of ours is to stay."""
    with _opened(path, os.O_RDONLY | os.O_DIRECTORY) as fd:
        _take(fd, fcntl.LOCK_EX, path)
        yield


def check_build():
    """build/ is a folder, or can become one."""
    if os.path.lexists(paths.BUILD) and not paths.BUILD.is_dir():
        kind = "a link to no folder" if paths.BUILD.is_symlink() else "no folder"
        raise Fail(
            INFRA,
            f"{paths.BUILD} is {kind}, but is to hold what is built: move it away, then run the "
            "command again",
        )


@contextlib.contextmanager
def build():
    """For a command that makes or needs what is in build/: nothing is removed there meanwhile."""
    check_build()
    paths.BUILD.mkdir(parents=True, exist_ok=True)
    with _opened(paths.BUILD, os.O_RDONLY | os.O_DIRECTORY) as fd:
        _take(fd, fcntl.LOCK_SH, "build/, which it removes")
        yield


@contextlib.contextmanager
def build_alone():
    """For a command that removes what is there: not beneath another one, which may take hours."""
    check_build()
    with _opened(paths.BUILD, os.O_RDONLY | os.O_DIRECTORY) as fd:
        if not _taken(fd, fcntl.LOCK_EX):
            raise Fail(
                INFRA,
                f"another command is at work in {paths.BUILD}: wait until it has ended, or end it",
            )
        yield
