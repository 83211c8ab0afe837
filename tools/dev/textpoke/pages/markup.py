# SPDX-License-Identifier: GPL-2.0
"""Pages that need no network: templates of tools/dev/page filled in, and text that is safe in them.
"""

import html
import json
import re
import traceback
from string import Template

from .. import paths
from ..errors import Fail
from ..say import say
from ..series import patches

FOLDER = paths.DEV / "page"
# What neither XML nor HTML may have: what a console prints is anything.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Safe(str):
    """Text that is HTML already."""


def clean(text):
    """Text without the characters that no document can have."""
    return FORBIDDEN.sub("\ufffd", str(text))


def esc(text):
    """Anything as HTML; what is HTML already stays as it is."""
    return text if isinstance(text, Safe) else Safe(html.escape(clean(text)))


def tag(name, *inner, **attributes):
    """An element; class and the like are given with a `_` behind them."""
    words = "".join(
        f' {key.rstrip("_")}="{esc(value)}"' for key, value in attributes.items() if value
    )
    return Safe(f"<{name}{words}>{''.join(map(esc, inner))}</{name}>")


def each(name, items, **attributes):
    """An element for each of items, one after the other."""
    return Safe("".join(tag(name, item, **attributes) for item in items))


def table(head, rows):
    """A table of rows that are made of <td> already."""
    return tag(
        "table",
        tag("thead", tag("tr", each("th", head))),
        tag("tbody", *(tag("tr", *row) for row in rows)),
    )


def data(value):
    """A value for a script to read: nothing in it can end the element that it is in."""
    return Safe(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def seconds(value):
    """A time as people read it."""
    return (
        f"{value:.1f} s"
        if value < 10
        else f"{value:.0f} s"
        if value < 120
        else f"{value / 60:.0f} min"
    )


def write(path, template, **parts):
    """A page, whole or not at all."""
    whole = Template((FOLDER / template).read_text())
    style = Safe((FOLDER / "style.css").read_text())
    patches.write(
        path, whole.substitute(style=style, **{name: esc(part) for name, part in parts.items()})
    )


def try_to_write(path, write_page, *what):
    """A page beside something that matters more: what keeps it from being made is one sentence."""
    path.unlink(missing_ok=True)
    try:
        write_page(path, *what)
        say(f"the same as a page: {path}")
    except (Fail, OSError) as failure:
        say(f"no page of it: {getattr(failure, 'message', failure)}")
    except Exception:  # a mistake in these tools
        traceback.print_exc()
        say("no page of it: the lines above say why")
