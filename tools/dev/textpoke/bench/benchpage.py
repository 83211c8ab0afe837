# SPDX-License-Identifier: GPL-2.0
"""What `make bench` measured, to be looked at: a table, ratios as bars, and as curves how cost
grows with sites, CPUs and events that listen.

Nothing is loaded from anywhere, so that the page can be kept and sent.
"""

from dataclasses import dataclass

from ..pages import markup, plots
from ..pages.markup import Safe, each, table, tag
from .benchrows import AXES, MET, UNMET

TEMPLATE = "bench.html"
CLASSES = {MET: "passed", UNMET: "failed"}
BAR = 22  # pixels
# What grows: a metric, what it is called, and how many of its units are one of that.
CURVES = (
    ("on", "function tracer on, ms", 1e6),
    ("off", "function tracer off, ms", 1e6),
    ("ipis", "IPIs, on and off", 1),
    ("syncs", "syncs, on and off", 1),
)


@dataclass(frozen=True)
class Shown:
    """All that the page shows."""

    arch: str
    verdict: str
    good: bool
    rows: tuple  # the table, its head first, a verdict in the last cell
    ratios: list  # (row, series / base)
    found: dict  # name -> (case, metric) -> values
    variants: dict  # parameter -> rows without a head
    profiles: list  # lines
    compared: tuple = ()  # another table, with a word in the last cell


def _row(words):
    """What it is in the first cell, a verdict in the last, numbers in between."""
    first, *numbers, last = words
    return [
        tag("td", first),
        *(tag("td", number, class_="number") for number in numbers),
        tag("td", last, class_=CLASSES.get(last, "")),
    ]


def _table(rows):
    head, *rest = rows
    return table(head, [_row(words) for words in rest])


def _bars(ratios):
    """Series against base, the first row at the top; 1 is what the base takes."""
    if not ratios:
        return tag("p", "Nothing was measured on both.")
    names = [what for what, _ in reversed(ratios)]
    chart = plots.blank(
        "HorizontalBar",
        "series / base: less is better",
        names,
        80 + BAR * len(names),
        x_labels=names,
        show_legend=False,
        truncate_label=-1,
        print_values=True,
    )
    chart.value_formatter = "{:.2f}".format
    chart.add("series / base", [ratio for _, ratio in reversed(ratios)])
    return Safe(plots.drawn(chart))


def points(axis, values, metric, unit):
    """(how many, smallest value in its unit) of a kernel, for each case that was measured."""
    functions = values.get(("sites", "functions"), [0])[0]
    return [
        (functions if number is None else number, min(values[case, metric]) / unit)
        for number, case in axis.cases
        if values.get((case, metric))
    ]


def _curve(axis, found, metric, title, unit):
    """SVG of one metric along an axis, a line for each kernel; "" if none has a second point."""
    lines = {name: points(axis, values, metric, unit) for name, values in found.items()}
    lines = {name: line for name, line in lines.items() if line}
    if not any(len(line) > 1 for line in lines.values()):
        return ""
    chart = plots.blank(
        "XY", title, lines, 260, truncate_legend=40, x_title=axis.unit, include_x_axis=True
    )
    for name, line in lines.items():
        chart.add(name, line, dots_size=3)
    return plots.drawn(chart)


def _curves(found):
    """A heading and the curves of each axis that something was measured along."""
    drawn = []
    for axis in AXES:
        if curves := "".join(_curve(axis, found, *which) for which in CURVES):
            drawn += [tag("h3", f"Over {axis.title}"), Safe(curves)]
    return Safe("".join(drawn)) or tag("p", "Nothing was measured.")


def _variants(head, variants):
    return Safe(
        "".join(
            tag("h2", f"With {words}") + _table((head, *rows)) for words, rows in variants.items()
        )
    )


def _profiles(lines):
    if not lines:
        return tag("p", "No target is missed.")
    return tag("ul", each("li", lines))


def _compared(rows):
    return Safe(tag("h2", "Against another run") + _table(rows)) if rows else ""


def write(path, shown):
    """The page, whole or not at all."""
    verdict = tag("p", shown.verdict, class_=f"verdict {'good' if shown.good else 'bad'}")
    markup.write(
        path,
        TEMPLATE,
        title=shown.arch,
        verdict=verdict,
        table=_table(shown.rows),
        variants=_variants(shown.rows[0], shown.variants),
        bars=_bars(shown.ratios),
        curves=_curves(shown.found),
        profiles=_profiles(shown.profiles),
        compared=_compared(shown.compared),
    )
