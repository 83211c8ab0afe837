# SPDX-License-Identifier: GPL-2.0
"""Where things are. TEXT_POKE_ROOT and TEXT_POKE_CACHE override, for tests and CI."""

import os
import pwd
from pathlib import Path


def _home():
    """The home of who we are: sudo may leave HOME pointing at somebody else's."""
    if "SUDO_UID" in os.environ:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir)
    return Path.home()


def _cache():
    """The cache lies outside the tree, so that a fresh clone need not download again."""
    if own := os.environ.get("TEXT_POKE_CACHE"):
        return Path(own).absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared).absolute() if shared else _home() / ".cache") / "text-poke"


DEV = Path(__file__).resolve().parent.parent
ROOT = Path(os.environ.get("TEXT_POKE_ROOT") or DEV.parent.parent).absolute()
BUILD = ROOT / "build"
LOGS = BUILD / "log"
CACHE = _cache()
