# SPDX-License-Identifier: GPL-2.0
"""A guest for selftests of which each is kept by itself: one that has passed is not run again
because of another.

A test is made from its own files, from those of other tests that it names, and from all that
is no test: the kernel, the guest, what tests have in common. See results/kept.py.
"""

import functools
from dataclasses import dataclass

from ..results import kept, known, made
from ..results.ktap import FAILED
from .tests import Selftests

CODE = "guests.onebyone"


def _of(test, result):
    name = test.replace(":", ": ", 1)
    return result.name == name or result.name.startswith(f"{name}: ")


@dataclass(frozen=True)
class OneByOne:
    """A part of make check.

    store, title    where results are kept, and below what
    guest           the guest for all tests
    """

    store: kept.Store
    title: str
    guest: Selftests

    def parts(self):
        """What all that is made from."""
        return self.guest.parts()

    def _keys(self, common):
        """Each test -> the hash of what it is made from; common: the guest with none of them."""
        folder = self.guest.folder
        shared = made.safely(lambda: [common.parts(), made.modules(CODE)])

        def parts(needs):
            return [shared, *([each, known.file_of(folder, each)] for each in needs)]

        return {
            test: made.safely(functools.partial(parts, needs))
            for test, needs in known.used(folder, known.listed(folder)).items()
        }

    def _keep(self, tests, keys, now, found):
        """Those that have passed, if they would be made from the same now."""
        for test in tests:
            if now.get(test) == keys[test]:
                self.store.keep(f"{self.title}: {test}", keys[test], found[test])

    def __call__(self):
        """What each test gives, or gave when it passed, and how the guest ended."""
        common = self.guest.common()
        keys = self._keys(common)
        tests = list(keys)
        found = {test: self.store.known(f"{self.title}: {test}", keys[test]) for test in tests}
        left = [test for test in tests if found[test] is None]
        new = self.guest.some(left)() if left else []
        for test in left:
            found[test] = [result for result in new if _of(test, result)]
        others = [result for result in new if not any(_of(test, result) for test in left)]
        # One that dies takes the word of the tests before it with it.
        if all(result.status != FAILED for result in others):
            self._keep(left, keys, self._keys(common), found)
        of_tests = [result for test in tests for result in found[test]]
        return [*self.guest.left_out, *of_tests, *others]
