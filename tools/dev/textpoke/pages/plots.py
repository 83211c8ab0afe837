# SPDX-License-Identifier: GPL-2.0
"""Plots for pages, as SVG in them: what there are tens of thousands of is counted in bins first."""

import re
import sys

from .. import host
from ..errors import MISSING, Fail
from .markup import Safe

# Where packages of Debian lie: another Python than its own does not look there, but can use what
# has no machine code in it.
DEBIAN = "/usr/lib/python3/dist-packages"
BINS = 100
LABELLED = 10  # every so many bins
# What only pygal's own script would use, which would be loaded from elsewhere.
SCRIPTED = re.compile(r"<!--.*?-->|<script.*?</script>", re.S)
EMPTY = re.compile(r'<g class="bar"><rect [^>]*height="0\.0"[^>]*/>.*?</g>', re.S)
# Shown when the pointer is on a bar: its value, and where it is.
TOLD = re.compile(
    r'<desc class="value">([^<]*)</desc>.*?<desc class="x_label">([^<]*)</desc>', re.S
)


def _pygal(**own):
    """What draws, or one sentence; and how it looks, with what is its own."""
    host.need(*host.PAGE)
    if DEBIAN not in sys.path:
        sys.path.append(DEBIAN)
    try:
        import pygal  # pylint: disable=import-outside-toplevel
        from pygal.style import DefaultStyle  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Fail(MISSING, f"this Python cannot use {' '.join(host.PAGE)} ({error})") from None
    return pygal, DefaultStyle(
        background="transparent",
        plot_background="transparent",
        title_font_size=14,
        legend_font_size=12,
        **own,
    )


def binned(values, begin, end):
    """How many of values are in each of BINS from begin to end."""
    counts, width = [0] * BINS, (end - begin) or 1
    for value in values:
        counts[min(BINS - 1, int((value - begin) * BINS / width))] += 1
    return counts


def _labels(begin, end):
    """Where each bin begins."""
    return [f"{begin + (end - begin) * number / BINS:.3g}" for number in range(BINS)]


def blank(kind, title, names, height, colors=None, **how):
    """A chart of one of pygal's kinds without anything in it;
    names tell it from others with this title.
    """
    pygal, style = _pygal(**({"colors": colors} if colors else {}))
    chart = getattr(pygal, kind)(
        js=[],
        style=style,
        width=1100,
        height=height,
        margin=8,
        legend_box_size=10,
        disable_xml_declaration=True,
        title=title,
        **how,
    )
    # The same data gives the same bytes.
    chart.uuid = re.sub(r"\W+", "-", f"{title} {' '.join(names)}")
    return chart


def drawn(chart):
    """Its SVG, without what would be loaded from elsewhere."""
    return SCRIPTED.sub("", chart.render(is_unicode=True))


def histogram(title, groups, span):
    """SVG of label -> values, on top of one another, from span[0] to span[1]."""
    labels = _labels(*span)
    chart = blank(
        "StackedBar",
        title,
        groups,
        240,
        spacing=0,
        x_labels=labels,
        x_labels_major=labels[::LABELLED],
        show_minor_x_labels=False,
        truncate_label=-1,
        truncate_legend=40,
    )
    for label, values in groups.items():
        chart.add(f"{label} ({len(values)})", binned(values, *span))
    return Safe(TOLD.sub(r"<title>\1 at \2</title>", EMPTY.sub("", drawn(chart))))
