# SPDX-License-Identifier: GPL-2.0
"""make clean: everything generated goes, but for work in build/tree."""

import os
import shutil

from . import lock, paths
from .say import say, working
from .series import series

TOLD_EVERY = 5  # seconds


def _remove(path):
    with working(f"removing {path}", TOLD_EVERY):
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def clean():
    """Nothing that another command is at work on, and no work that is nowhere else."""
    if not os.path.lexists(paths.BUILD):
        return
    tree = series.tree_folder()
    with lock.build_alone():
        work = series.work_in(tree) if os.path.lexists(tree) else ""
        if work:
            say(f"{series.TREE} has {work}: it stays")
        for path in sorted(paths.BUILD.iterdir()):
            if path != tree or not work:
                _remove(path)
    say(f"{paths.BUILD} is {'empty but for that' if work else 'empty'}")
