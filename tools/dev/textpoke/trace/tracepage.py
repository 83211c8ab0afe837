# SPDX-License-Identifier: GPL-2.0
"""What `make trace` found, to be looked at:
branches over time, changes of text, and what was decoded otherwise.

Nothing is loaded from anywhere, so that the page can be kept and sent.
"""

from .. import paths
from ..pages import markup, plots
from ..pages.markup import Safe, each, table, tag
from ..results.ktap import FAILED
from . import tracecolumns

TEMPLATE = paths.DEV / "trace/page.html"
RIGHT, AMISS, MARK = "#4477aa", "#d00000", "#222222"


def _seconds(column, number):
    """Where in the time of a column, in seconds since its first branch, the middle of a bin is."""
    begin, end = column.span
    return (number + 0.5) * (end - begin) / plots.BINS / 1e9


def _marked(column):
    """The bins in which text was changed."""
    begin, end = column.span
    inside = [time for time in column.records if begin <= time <= end]
    return [number for number, count in enumerate(plots.binned(inside, begin, end)) if count], len(
        inside
    )


def _points(column, bins, which):
    return [
        (_seconds(column, number), values[which])
        for number, values in sorted(bins.items())
        if values[which]
    ]


def chart(column, cpu):
    """SVG of a CPU of a column."""
    bins = {number: (executed, amiss) for of, number, executed, amiss in column.bins if of == cpu}
    done, amiss = (sum(values[which] for values in bins.values()) for which in (0, 1))
    marks, count = _marked(column)
    title = f"{column.name}, CPU {cpu}"
    drawn = plots.blank(
        "XY",
        title,
        map(str, (done, amiss, count)),
        200,
        (RIGHT, AMISS, MARK),
        truncate_legend=60,
        show_x_guides=False,
        x_title="seconds",
    )
    drawn.add(f"executed ({done})", _points(column, bins, 0), dots_size=1, fill=True)
    drawn.add(f"wrong or missing ({amiss})", _points(column, bins, 1), stroke=False, dots_size=4)
    drawn.add(
        f"changes of text ({count})",
        [(_seconds(column, number), 0) for number in marks],
        stroke=False,
        dots_size=2,
    )
    return Safe(plots.drawn(drawn))


def _charts(columns):
    found = [
        chart(column, cpu) for column in columns for cpu in sorted({of for of, *_ in column.bins})
    ]
    return Safe("".join(found)) or tag(
        "p", "No branch was decoded: perf knows no trace unit of this architecture."
    )


def _table(columns):
    head, *rows = tracecolumns.rows(columns)
    return table(
        head,
        [
            [tag("td", words), *(tag("td", number, class_="number") for number in numbers)]
            for words, *numbers in rows
        ],
    )


def _differences(columns):
    found = [
        (column.name, tag("ul", each("li", column.differs))) for column in columns if column.differs
    ]
    return Safe("".join(tag("h3", name) + listed for name, listed in found)) or tag(
        "p", "There are none."
    )


def _verdict(results):
    failed = [result for result in results if result.status == FAILED]
    words = "; ".join(
        f"{result.name}: {result.note}" if result.note else result.name for result in failed
    )
    return tag(
        "p",
        f"failed: {words}" if failed else f"all {len(results)} results passed",
        class_=f"verdict {'bad' if failed else 'good'}",
    )


def write(path, title, columns, results):
    """The page, whole or not at all. Columns as they are to stand above one another."""
    markup.write(
        path,
        TEMPLATE,
        title=title,
        verdict=_verdict(results),
        table=_table(columns),
        charts=_charts(columns),
        differences=_differences(columns),
    )
