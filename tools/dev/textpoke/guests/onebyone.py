# SPDX-License-Identifier: GPL-2.0
"""A guest for selftests of which each is kept by itself: one that has passed is not run again
because of another.

A test is made from its own files, from those of other tests that it names, and from all that
is no test: the kernel, the guest, what tests have in common. See results/kept.py.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ..results import kept, made
from ..results.ktap import FAILED
from .tests import Selftests

LIST = "kselftest-list.txt"
CODE = "guests.onebyone"


def listed(folder):
    """The tests in a folder as the runner is told of them: target:program."""
    return (Path(folder) / LIST).read_text().split()


def _file(folder, test):
    return folder / test.replace(":", "/", 1)


def _names(text, test):
    """Whether a file runs a test, or may."""
    program = re.escape(test.split(":")[1].encode())
    return re.search(rb"(?<![\w.-])" + program + rb"(?![\w.-])", text)


def used(folder, tests):
    """Test -> itself and those that it names, or that one of these names, or a script that tests
    have in common.
    """
    files = {test: _file(folder, test).read_bytes() for test in tests}
    scripts = [
        path.read_bytes()
        for path in sorted(folder.rglob("*.sh"))
        if path not in {_file(folder, test) for test in tests}
    ]
    all_use = {test for test in tests if any(_names(text, test) for text in scripts)}

    def with_named(found):
        more = found | {other for test in found for other in tests if _names(files[test], other)}
        return found if more == found else with_named(more)

    return {test: sorted(with_named({test} | all_use)) for test in tests}


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

    def _keys(self):
        """Each test -> the hash of what it is made from."""
        folder = self.guest.folder
        common = made.safely(lambda: [self.guest.common().parts(), made.modules(CODE)])
        return {
            test: made.safely(
                lambda needs=needs: [common, *([each, _file(folder, each)] for each in needs)]
            )
            for test, needs in used(folder, listed(folder)).items()
        }

    def _keep(self, tests, keys, found):
        """Those that have passed, if they would be made from the same now."""
        now = self._keys()
        for test in tests:
            if now.get(test) == keys[test]:
                self.store.keep(f"{self.title}: {test}", keys[test], found[test])

    def __call__(self):
        """What each test gives, or gave when it passed, and how the guest ended."""
        keys = self._keys()
        tests = list(keys)
        found = {test: self.store.known(f"{self.title}: {test}", keys[test]) for test in tests}
        left = [test for test in tests if found[test] is None]
        new = self.guest.some(left)() if left else []
        for test in left:
            found[test] = [result for result in new if _of(test, result)]
        others = [result for result in new if not any(_of(test, result) for test in left)]
        # One that dies takes the word of the tests before it with it.
        if all(result.status != FAILED for result in others):
            self._keep(left, keys, found)
        of_tests = [result for test in tests for result in found[test]]
        return [*self.guest.left_out, *of_tests, *others]
