# SPDX-License-Identifier: GPL-2.0
"""What has passed, so that it need not be done again as long as it would be made from the same.

A step says what it is made from (made.py), which is hashed. What it gave when it passed lies in
the cache under that hash, outside of any clone, and is shown again with the word `unchanged`.
Only what has passed is kept, and only if it was made from the same when it ended as when it
began. FRESH=1 does everything, and keeps it.
"""

import contextlib
import hashlib
import json
import os
import time
from dataclasses import replace

from .. import paths
from ..say import say
from ..series import patches
from . import made
from .ktap import FAILED, PASSED, SKIPPED, Result

PLACE = paths.CACHE / "passed"
# Seconds after which what was not asked for is forgotten.
OLD = 60 * 24 * 3600
# What a step is given as what it is made from if it is always to be done.
NOTHING = object()


class Store:
    """Results of steps, by their names and what they were made from."""

    def __init__(self, fresh=False, place=None):
        self.fresh, self.place = fresh, place or PLACE

    def _path(self, name, key):
        return self.place / f"{hashlib.sha256(json.dumps([name, key]).encode()).hexdigest()}.json"

    def known(self, name, key):
        """Its results when it passed, or None."""
        if key is made.UNKNOWN or self.fresh:
            return None
        path = self._path(name, key)
        try:
            found = json.loads(path.read_text())
            results = list(_read(found["results"], found.get("parts")))
            if (found["name"], found["key"]) != (name, key) or not good(results):
                return None
            os.utime(path)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return results

    def keep(self, name, key, results):
        """Only what is good; where it cannot be written it is done again next time,
        and that is all.
        """
        if key is made.UNKNOWN or not good(results):
            return
        rows = [[each.name, each.status, each.note] for each in results]
        found = {
            "name": name,
            "key": key,
            "results": rows,
            "parts": [each.part for each in results],
        }
        try:
            patches.write(self._path(name, key), json.dumps(found) + "\n")
            self._forget_old()
        except OSError as error:
            say(f"{name} cannot be kept: {error}")

    def _drop(self, name, key):
        """It may fail this time, though it is made from the same."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            self._path(name, key).unlink()

    def _forget_old(self):
        for path in self.place.glob("*.json"):
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink(missing_ok=True)

    def once(self, name, parts, function, *args):
        """What a step gives, as it comes, or what it gave when it passed.

        parts   a function that gives what the step is made from; NOTHING: it is always done
        """
        if parts is NOTHING:
            yield from function(*args)
            return
        key = made.safely(parts)
        if (known := self.known(name, key)) is not None:
            yield from known
            return
        self._drop(name, key)
        results = []
        for result in function(*args):
            results.append(result)
            yield result
        self._keep_if_same(name, key, parts, results)

    def _keep_if_same(self, name, key, parts, results):
        """What was changed meanwhile may have gone into it, or not.

        What is a part's result of before stands for itself.
        """
        if key is not made.UNKNOWN and good(results) and made.safely(parts) == key:
            self.keep(name, key, [replace(each, unchanged=False) for each in results])


def _read(rows, parts):
    """Results from a file; older ones have no parts in them.

    How long they took is of no use to a later run.
    """
    for row, part in zip(rows, [""] * len(rows) if parts is None else parts, strict=True):
        name, status, note = row
        yield Result(name, status, note, unchanged=True, part=part)


def good(results):
    """Whether something has passed, and nothing has failed."""
    statuses = [each.status for each in results]
    return PASSED in statuses and FAILED not in statuses and set(statuses) <= {PASSED, SKIPPED}
