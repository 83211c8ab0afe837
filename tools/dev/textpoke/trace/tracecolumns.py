# SPDX-License-Identifier: GPL-2.0
"""What base and series make of the same work, side by side: what each half of the series is worth.

All functions here are pure: figures in, lines and words out.
"""

from dataclasses import dataclass

BASE, HALF, SERIES = "base kernel, base perf", "series kernel, base perf", "series kernel, its perf"
DECODED = (
    ("branches executed", "executed"),
    ("decoded", "decoded"),
    ("wrong", "wrong"),
    ("missing", "missing"),
    ("decode errors", "errors"),
)
EXECUTED = (
    ("records crossed", "crossed"),
    ("pieces of code executed", "pieces"),
    ("not as the records have it", "wrong"),
    ("in no copy and no record", "unknown"),
)


@dataclass(frozen=True)
class Column:
    """Figures by name: of code that was executed against records,
    and of branches if some were decoded.

    bins: (CPU, number, branches executed, of these amiss) over the span of time, in ns, in which
    there are the records, too.
    """

    name: str
    text: dict
    branches: dict | None = None
    bins: tuple = ()
    span: tuple = (0, 0)
    records: tuple = ()
    differs: tuple = ()

    @property
    def faults(self):
        """How much of it is not as it was executed."""
        own = self.branches or self.text
        return sum(own.get(name, 0) for name in ("wrong", "missing", "errors", "unknown"))


def rows(columns):
    """What is shown, as rows of words; the first has the columns' names."""
    yield ["", *(column.name for column in columns)]
    for words, name in DECODED if any(column.branches for column in columns) else ():
        yield [words, *(str(column.branches[name]) for column in columns)]
    for words, name in EXECUTED:
        yield [words, *(str(column.text[name]) for column in columns)]


def table(columns):
    """The same as lines."""
    found = list(rows(columns))
    widths = [max(map(len, words)) for words in zip(*found)]
    first, *others = widths
    return [
        "  ".join(
            [row[0].ljust(first), *(word.rjust(width) for word, width in zip(row[1:], others))]
        ).rstrip()
        for row in found
    ]


def faults(columns):
    """What keeps the columns from showing anything:
    an oracle that says the same of all of them may be one that cannot fail.
    """
    *others, series = columns
    if series.faults:
        return []
    return [
        f"{column.name}: nothing is wrong there either" for column in others if not column.faults
    ]
