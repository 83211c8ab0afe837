# SPDX-License-Identifier: GPL-2.0
"""The tables in tools/dev/expected: what is known, accepted or asked for, each with its reason.

A line has its parts between bars, `a | b | reason`; what begins with `#` is for people, and the
first of that says what the parts are.

known/      results of the kernel's own tests that the base has too: known.py
accepted/   findings that are left as they are: lint.py, coverage.py, unwatched.py,
            worldswitch.py, realmode.py, fuzz.py
hooks       what the models take for granted that the code does: hooks.py
mutants     what has to notice each step that goes wrong: mutants.py
"""

import re

from .. import paths
from ..errors import INFRA, Fail

FOLDER = paths.DEV / "expected"
BAR = re.compile(r"\s\|(?:\s|$)")  # C has others


def rows(path, form, text=None, lengths=(3,)):
    """The parts of each line of a table, without what is for people only; nothing without a file.

    form     what a line looks like
    lengths  how many parts it may have
    """
    if text is None:
        text = path.read_text() if path.exists() else ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        parts = [part.strip() for part in BAR.split(line)]
        if len(parts) not in lengths or not all(parts):
            raise Fail(INFRA, f"{path}:{number} is not `{form}`: correct it")
        yield parts
