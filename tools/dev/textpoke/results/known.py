# SPDX-License-Identifier: GPL-2.0
"""Results of the kernel's own tests that the base kernel has too, each with its reason.

A line of tools/dev/expected/known/<arch> is `name | failed or skipped | reason`. What every
architecture has is in the list `all` beside it, and for kernels of another kind, there may be more
in one that is called like their build folder. A listed test that passes is told, so that the list
does not grow old; it is no failure, for some of these depend on how fast the machine is. A test
that skips itself says why, or is listed.

What fails on the base only now and then must say so in the words that it has there:
`name | failed | reason | words`.

A test after which the base kernel is of no more use is not run: `target/file | left out |
reason`, with its file as it is installed.
"""

import re
from typing import NamedTuple

from ..errors import INFRA, Fail
from . import ktap, tables

LEFT_OUT = "left out"
ALL = "all"  # the list of what every architecture has
FOLDER = tables.FOLDER / "known"
FORM = "name | failed, skipped or left out | reason [| words]"


class Known(NamedTuple):
    """What is known of a test: how it ends on the base, and why."""

    status: str
    reason: str
    words: str = ""  # it does so now and then, and then says this

    def fits(self, result):
        return result.status == self.status and (
            not self.words or any(self.words in line for line in (*result.before, *result.after))
        )


def load(arch, kind=""):
    """name -> Known of all architectures, of one, and of a kind of kernel;
    the last of these counts.
    """
    known = {}
    for path in dict.fromkeys(FOLDER / str(name) for name in (ALL, arch, kind or arch)):
        for name, *rest in tables.rows(path, FORM, lengths=(3, 4)):
            if rest[0] not in (ktap.FAILED, ktap.SKIPPED, LEFT_OUT):
                raise Fail(INFRA, f"{path}: {name} is not known as `{FORM}`: correct it")
            known[name] = Known(*rest)
    return known


# Installed selftests, as kselftest's runner is told of them: target:program, a line each.
LIST = "kselftest-list.txt"


def listed(folder):
    """The tests in a folder that the runner is told of."""
    return (folder / LIST).read_text().split()


def tell(folder, tests):
    """Have the runner told of these alone."""
    (folder / LIST).write_text("".join(f"{test}\n" for test in tests))


def file_of(folder, test):
    """Where the program of a test is."""
    return folder / test.replace(":", "/", 1)


def _forget(folder, name):
    """Remove an installed test, also from the list that the runner goes by;
    whether it was there.
    """
    there = (folder / name).exists()
    (folder / name).unlink(missing_ok=True)
    if (folder / LIST).exists():
        entry = name.replace("/", ":", 1)
        tell(folder, [test for test in listed(folder) if test != entry])
    return there


def leave_out(arch, folder, kind=""):
    """Remove what is left out from the installed tests; a result for each."""
    for name, (status, reason, _) in load(arch, kind).items():
        if status != LEFT_OUT or not (folder / name.split("/")[0]).is_dir():
            continue
        there = _forget(folder, name)
        yield ktap.Result(
            name,
            ktap.SKIPPED if there else ktap.FAILED,
            f"left out: {reason}" if there else "there is no such file to be left out",
        )


def judge(result, known):
    """A result in the light of what is known:
    an expected failure counts as skipped, with its reason.
    """
    here = known.get(result.name)
    if here and here.fits(result):
        return ktap.Result(result.name, ktap.SKIPPED, f"as on the base: {here.reason}")
    if here and result.status == ktap.PASSED and not here.words:
        return ktap.Result(
            result.name, ktap.PASSED, f"listed as {here.status} on the base, but passes"
        )
    if result.status == ktap.SKIPPED and not result.note:
        return ktap.Result(result.name, ktap.FAILED, "skipped, and nothing says why")
    return result


def _names(text, test):
    """Whether a file runs a test, or may."""
    program = test.split(":")[1].encode()
    # Programs are large, and few have it: to look for the bytes alone is a hundred times as fast.
    if program not in text:
        return None
    return re.search(rb"(?<![\w.-])" + re.escape(program) + rb"(?![\w.-])", text)


def used(folder, tests):
    """Test -> itself and those that it names, or that one of these names, or a script that tests
    have in common.
    """
    places = {test: file_of(folder, test) for test in tests}
    files = {test: path.read_bytes() for test, path in places.items()}
    scripts = [path.read_bytes() for path in {*folder.rglob("*.sh")} - {*places.values()}]
    all_use = {test for test in tests if any(_names(text, test) for text in scripts)}

    named = {test: {other for other in tests if _names(files[test], other)} for test in tests}

    def with_named(found):
        more = found.union(*(named[test] for test in found))
        return found if more == found else with_named(more)

    return {test: sorted(with_named({test} | all_use)) for test in tests}
