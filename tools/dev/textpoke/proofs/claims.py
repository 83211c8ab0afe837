# SPDX-License-Identifier: GPL-2.0
"""What the first comment of a model or a harness says about it.

An entry is a line of that comment which starts with a word that is asked for, and goes on
until an empty line or the next entry:

    /*
     * mutant NO_SYNC: what goes wrong
     *	and a second line of it
     */
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..errors import INFRA, Fail
from ..results.ktap import FAILED, PASSED, Result


@dataclass(frozen=True)
class Entry:
    """An entry: its first word, and the rest of it with line breaks and tabs as they are."""

    kind: str
    text: str


def _comment(text):
    """The lines of the first comment that is longer than one line, without ` *`;
    the SPDX line is none.
    """
    match = re.search(r"^/\*\n(.*?)^ \*/", text, re.S | re.M)
    return [line[2:] for line in match[1].splitlines()] if match else []


def entries(text, *kinds):
    """The entries of these kinds, in their order."""
    start = re.compile(rf" ({'|'.join(kinds)}) (.*)")
    found, inside = [], False
    for line in _comment(text):
        if match := start.fullmatch(line):
            found.append([match[1], match[2]])
            inside = True
        elif not line.strip():
            inside = False
        elif inside:
            found[-1][1] += "\n" + line
    return [Entry(*entry) for entry in found]


def one_line(text):
    return " ".join(text.split())


def result(name, wanted, run):
    """One result. run gives what it found as a sentence, or '' if everything holds;
    wanted says whether it is to hold.
    """
    try:
        found = run()
    except Fail as failure:
        return Result(name, FAILED, failure.message)
    if wanted:
        return Result(name, FAILED if found else PASSED, found)
    return Result(name, PASSED if found else FAILED, "" if found else "nothing notices it")


def unchallenged(name):
    """The failure of something that nothing was tried on."""
    return Result(f"{name}: has mutants", FAILED, "nothing shows that this can fail")


def broken(path, sentence):
    return Fail(INFRA, f"{path.name}: {sentence}")


def all_at_once(checks):
    """The results of functions, in their order, on all CPUs;
    what takes long runs outside of Python.
    """
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda check: check(), checks)
