# SPDX-License-Identifier: GPL-2.0
"""Where things are. TEXT_POKE_ROOT and TEXT_POKE_CACHE override, for tests and CI."""

import json
import os
import pwd
from pathlib import Path


def _home():
    """The home of the user that we are, or None: sudo may leave HOME pointing at another's, and a
    container's user may have none.
    """
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir) if "SUDO_UID" in os.environ else Path.home()
    except (KeyError, RuntimeError):
        return None


def _cache():
    """The cache lies outside the tree, so that a fresh clone need not download again;
    but for a user without a home.
    """
    if own := os.environ.get("TEXT_POKE_CACHE"):
        return Path(own).absolute()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).absolute() / "text-poke"
    home = _home()
    return home / ".cache/text-poke" if home else BUILD / "cache"


DEV = Path(__file__).resolve().parent.parent
ROOT = Path(os.environ.get("TEXT_POKE_ROOT") or DEV.parent.parent).absolute()
BUILD = ROOT / "build"
LOGS = BUILD / "log"
CACHE = _cache()


def noted(path):
    """What a small file says that we have written; '' if it is not there, or is damaged:
    then it is made again.
    """
    try:
        return path.read_text()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, UnicodeDecodeError):
        return ""


def noted_fields(path):
    """The same of one that holds names and values; {} if nothing can be had of it."""
    try:
        found = json.loads(noted(path))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
