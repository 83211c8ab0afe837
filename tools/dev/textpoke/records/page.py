# SPDX-License-Identifier: GPL-2.0
"""What was recorded, to be looked at: when and where text changed, on which CPU, how often.

It is made of what the verdict is made of. What a recording does not have is said not to be
there. Nothing is loaded from anywhere, so that the page can be kept and sent.
"""

from collections import Counter
from dataclasses import dataclass, field

from ..pages import markup, plots
from ..pages.markup import Safe, table, tag

MOST = 15  # functions that are named
SCRIPT = "sites.js"


@dataclass(frozen=True)
class Verdict:
    """The line that ends `make run`."""

    line: str
    good: bool


@dataclass(frozen=True)
class Counters:
    """What the kernel counted up to the beginning and up to the end;
    empty where it counts nothing.
    """

    before: dict
    after: dict
    trapped: Counter = field(default_factory=Counter)  # symbol -> of the last traps


@dataclass(frozen=True)
class Seen:
    """All that the page is made of."""

    title: str
    listing: object  # run.Listing
    text: range | None  # addresses of the kernel's text, if they are known
    figures: list  # lines
    verdict: Verdict | None = None
    counters: Counters | None = None
    records: str = ""  # the list of all of them, seen from the page


@dataclass
class Site:
    """An address that changed."""

    first: object  # record
    kind: str
    count: int = 0
    last: int = 0  # time
    cpus: set = field(default_factory=set)


def sites(listing):
    """address -> Site, in the order in which they changed first."""
    found: dict[int, Site] = {}
    for poke in listing.pokes:
        site = found.get(poke.addr) or found.setdefault(poke.addr, Site(poke, listing.kind(poke)))
        site.count, site.last = site.count + 1, poke.time
        site.cpus.add(poke.cpu)
    return found


# Pictures


def _by(what, key, value):
    """label -> values, in the order of the labels."""
    groups: dict = {}
    for one in what:
        groups.setdefault(key(one), []).append(value(one))
    return dict(sorted(groups.items()))


def _plots(panels, span):
    return Safe("".join(plots.histogram(title, groups, span) for title, groups in panels))


def _cpu(poke):
    return "no CPU told" if poke.cpu is None else f"CPU {poke.cpu}"


def _over_time(listing):
    """Records by kind and by CPU; the first is at 0."""
    begin = listing.pokes[0].time
    span = (0, (listing.pokes[-1].time - begin) / 1e9)
    panels = (
        (
            f"records by {word}, seconds since the first",
            _by(listing.pokes, key, lambda poke: (poke.time - begin) / 1e9),
        )
        for word, key in (("kind", listing.kind), ("CPU", _cpu))
    )
    return _plots(panels, span)


def _map(listing, found, text):
    """Where in text: records, and addresses that changed at all."""

    def place(poke):
        return (poke.addr - text.start) / 2**20

    often = _by((poke for poke in listing.pokes if poke.addr in text), listing.kind, place)
    at_all = _by(
        (site for addr, site in found.items() if addr in text),
        lambda site: site.kind,
        lambda site: place(site.first),
    )
    unit = f"MiB from {text.start:#x}"
    return _plots(
        [(f"records, {unit}", often), (f"addresses that changed, {unit}", at_all)],
        (0, len(text) / 2**20),
    )


def _where(seen, found):
    """The map, and what it does not show."""
    addresses = [poke.addr for poke in seen.listing.pokes]
    text = seen.text or range(min(addresses), max(addresses) + 1)
    outside = sum(addr not in text for addr in addresses)
    told = (
        "Of all text."
        if seen.text
        else "The recording does not say where text begins and ends: from the first address that "
        "changed to the last."
    )
    return Safe(
        tag(
            "p",
            told,
            f" Not in it, but of modules and trampolines: {outside} of the records."
            if outside
            else "",
        )
        + (_map(seen.listing, found, text) if outside < len(addresses) else "")
    )


# Words and tables


def _function(listing, poke):
    return listing.place(poke).partition("+")[0]


def _most_often(listing):
    count = Counter(_function(listing, poke) for poke in listing.pokes)
    rows = [
        [tag("td", name, class_="code"), tag("td", number, class_="number")]
        for name, number in count.most_common(MOST)
    ]
    return table(["changed most often", "records"], rows)


def milliseconds(nanoseconds):
    """As people read them."""
    return f"{nanoseconds / 1e6:.3f} ms"


def armed(counters):
    """The longest armed window, or why it is not told."""
    if not counters or "armed_max_ns" not in counters.after:
        return "Not known: the kernel has counted nothing that came with this recording."
    now, then = counters.after["armed_max_ns"], counters.before.get("armed_max_ns", 0)
    if not now:
        return "Nothing was armed since the kernel booted."
    if now == then:
        return (
            f"{milliseconds(now)} since the kernel booted, before this recording began; "
            "none was longer since."
        )
    return f"{milliseconds(now)}, while this was recorded." + (
        f" The longest before was {milliseconds(then)}." if then else ""
    )


def traps(counters):
    """How many there were, and where the last of them, which is all that the kernel remembers."""
    if not counters or "traps" not in counters.after:
        return (
            "Not known: no record tells of traps, and the kernel has counted nothing that came "
            "with this recording."
        )
    handled = counters.after["traps"] - counters.before.get("traps", 0)
    if not counters.trapped:
        return f"{handled} were handled. The kernel remembers no site of theirs."
    return (
        f"{handled} were handled. The kernel remembers the last of each CPU: "
        f"{counters.trapped.total()}, at {len(counters.trapped)} sites."
    )


def _trapped(counters):
    """Where the last traps were."""
    if not counters or not counters.trapped:
        return ""
    rows = [
        [tag("td", name, class_="code"), tag("td", number, class_="number")]
        for name, number in counters.trapped.most_common()
    ]
    return tag(
        "details",
        tag("summary", "the sites of the last traps"),
        table(["site", "of the last traps"], rows),
    )


def _counted(counters):
    """Everything that the kernel counted."""
    if not counters or not counters.after:
        return ""
    rows = [
        [
            tag("td", name),
            tag("td", counters.before.get(name, ""), class_="number"),
            tag("td", value, class_="number"),
        ]
        for name, value in counters.after.items()
    ]
    return tag(
        "details",
        tag("summary", "all that the kernel counted since it booted"),
        table(["", "before", "after"], rows),
    )


def _row(listing, site, begin):
    """A site as the script takes it: see sites.js."""
    poke = site.first
    old, new = (listing.instruction(code, poke.addr) for code in (poke.old, poke.new))
    arrow = "<->" if site.count > 1 else "->"
    cpus = ", ".join(str(cpu) for cpu in sorted(cpu for cpu in site.cpus if cpu is not None))
    return [
        f"{poke.addr:016x}",
        listing.place(poke),
        site.kind,
        site.count,
        round((poke.time - begin) / 1e9, 6),
        round((site.last - begin) / 1e9, 6),
        cpus,
        f"{old} {arrow} {new}",
    ]


def _rows(listing, found):
    return markup.data([_row(listing, site, listing.pokes[0].time) for site in found.values()])


def _pictures(seen):
    """What there is only if something was recorded."""
    listing = seen.listing
    if not listing.pokes:
        return {
            "time": tag("p", "No text poke was recorded."),
            "where": "",
            "most": "",
            "rows": markup.data([]),
        }
    found = sites(listing)
    return {
        "time": _over_time(listing),
        "where": _where(seen, found),
        "most": _most_often(listing),
        "rows": _rows(listing, found),
    }


def write(path, seen):
    """The page, whole or not at all."""
    judged = seen.verdict
    verdict = (
        tag("p", judged.line, class_=f"verdict {'good' if judged.good else 'bad'}")
        if judged
        else tag(
            "p",
            "There is no verdict: that takes the text as it was at the end, which only `make run` "
            "keeps.",
        )
    )
    kinds = "; ".join(f"{kind}: {what}" for kind, what in seen.listing.kinds.items())
    records = (
        tag("p", "Every record: ", tag("a", seen.records, href=seen.records))
        if seen.records
        else ""
    )
    markup.write(
        path,
        "recording.html",
        title=seen.title,
        verdict=verdict,
        figures="\n".join(seen.figures),
        kinds=kinds,
        records=records,
        armed=armed(seen.counters),
        traps=traps(seen.counters),
        trapped=_trapped(seen.counters),
        counted=_counted(seen.counters),
        script=Safe((markup.FOLDER / SCRIPT).read_text()),
        **_pictures(seen),
    )
