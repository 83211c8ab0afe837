# SPDX-License-Identifier: GPL-2.0
"""What tools that read code have to say about the series and did not say about the base.

A finding is a file and a sentence. Its line is left out, for the series moves lines, and so
are offsets in functions. What is found more often than in the base is new.
"""

import contextlib
import re
import tempfile
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..guests import kernel
from ..results.ktap import FAILED, PASSED, Result
from ..results.tables import FOLDER, rows
from ..say import run
from ..series import base as bases
from ..series import mails, series
from . import offcost

MESSAGE = re.compile(
    r"^(?P<file>[^\s:]+):(?:\d+:)*\s*(?P<text>(?:\w+: )?(?:warning|error):? .+)$", re.I
)
OBJTOOL = re.compile(r"^(?P<file>\S+): (?P<text>(?:warning|error): objtool: .+)$")
OFFSET = re.compile(r"\+0x[0-9a-f]+|\.(?:constprop|isra|part|cold)\.?\d*")
# We sign nothing off in the repository; MAINTAINERS is a patch of its own.
CHECKPATCH = (
    "--strict",
    "--terse",
    "--showfile",
    "--no-summary",
    "--show-types",
    "--no-signoff",
    "--ignore",
    "FILE_PATH_CHANGES",
)
FINDING = re.compile(r"^(?P<file>\S*):\d+: (?:ERROR|WARNING|CHECK):(?P<type>\w+): (?P<text>.+)$")
ACCEPTED = FOLDER / "accepted/checkpatch"
LOG = "change log"
SPARSE = paths.DEV / "sparse.sh"
SHOWN = 20


def findings(lines, source, pattern=MESSAGE):
    """Counter of (file, sentence) in a tool's output; files are named as in the source."""
    found: Counter = Counter()
    prefix = f"{source}/"
    for line in lines:
        if match := pattern.match(line.strip().replace(prefix, "")):
            name = re.sub(r"^(\.\./)+(src/)?", "", match["file"])
            found[name, OFFSET.sub("", match["text"])] += 1
    return found


def new(series_has, base_has):
    """Findings of the series that the base has not, or not as often."""
    return sorted((series_has - base_has).elements())


def judged(name, found):
    """One result for a tool, with what it found first."""
    if not found:
        return Result(name, PASSED)
    shown = "; ".join(f"{file}: {text}" for file, text in found[:SHOWN])
    return Result(name, FAILED, f"{len(found)} new: {shown}")


def _lines(log):
    return Path(log).read_text(errors="replace").splitlines()


# What the series touches


def touched():
    """Every file that the series changes or adds."""
    loaded, have = series.load()
    return sorted({path for patch in loaded for path in patch.changes} | set(have))


def concerns(path, arch):
    """Whether a file is built for an architecture, as far as its folder tells."""
    parts = path.split("/")
    return parts[1] == arch if parts[0] == "arch" else True


def objects(files, arch, kdir):
    """The objects of C files that a kernel's folder has; `make` knows no others."""
    found = []
    for path in files:
        place = Path(path)
        if place.suffix == ".c" and concerns(path, arch):
            command = kdir / place.parent / f".{place.stem}.o.cmd"
            found += [str(place.with_suffix(".o"))] * command.exists()
    return found


# The tools


def _compiled(name, words, use):
    """New findings of what a make with some words says about the touched objects,
    where the base has them, too.
    """
    arch = arches.get(name)
    fragments = arch.base_fragments
    kdir = kernel.build_kernel(name, fragments=fragments)
    wanted = objects(touched(), name, kdir)
    _, log = kernel.compile_again(name, False, wanted, words, use, fragments)
    ours = findings(_lines(log), series.source_tree())
    base = bases.base_source()
    known = [path for path in wanted if (base / path).with_suffix(".c").exists()]
    # A file of the base may not compile without what the series' configuration has enabled.
    _, log = kernel.compile_again(
        name, True, known, words, use, (*fragments, *["series"] * arch.has_backend)
    )
    return new(ours, findings(_lines(log), base))


def warnings(name):
    """The compiler's, with W=1."""
    yield judged("no new compiler warning (W=1)", _compiled(name, ("W=1",), "w1"))


def sparse(name):
    host.need(*host.LINT)
    yield judged("no new finding of sparse", _compiled(name, ("C=2", f"CHECK={SPARSE}"), "sparse"))


def _linked(name, base):
    return findings(_lines(kernel.relink(name, base, ("debug",))), "", OBJTOOL)


def objtool(name):
    """Calls that leave noinstr text, and whatever else objtool sees at the link."""
    yield judged(
        "no new finding of objtool (noinstr)", new(_linked(name, False), _linked(name, True))
    )


def _documented(source, files):
    there = [path for path in files if (source / path).exists()]
    log = paths.LOGS / f"kernel-doc-{source.name}.log"
    run(
        ["perl", "scripts/kernel-doc", "-none", "-Wall", *there],
        log=log,
        what="kernel-doc",
        cwd=source,
        check=False,
    )
    return findings(_lines(log), source)


def kernel_doc():
    files = [path for path in touched() if path.endswith((".c", ".h"))]
    ours, base = _documented(series.source_tree(), files), _documented(bases.base_source(), files)
    yield judged("no new finding of kernel-doc", new(ours, base))


def accepted():
    """(file, type) of what checkpatch is known to say, both patterns,
    from lines `file | type | reason`.
    """
    return {(file, kind): reason for file, kind, reason in rows(ACCEPTED, "file | type | reason")}


def objections(lines, known):
    """What checkpatch says of a patch and is not accepted;
    a finding without a file is one of the change log.
    """
    for line in filter(None, map(str.strip, lines)):
        found = FINDING.match(line)
        if not found:
            yield line
            continue
        place = found["file"] or LOG
        if not any(fnmatch(place, file) and fnmatch(found["type"], kind) for file, kind in known):
            yield f"{place}: {found['type']}: {found['text']}"


@contextlib.contextmanager
def _without_its_notes(source):
    """What checkpatch notes in the source tree of names that it has found there
    would be a change by hand.
    """
    try:
        yield
    finally:
        for note in source.glob(".checkpatch-camelcase.*"):
            note.unlink()


def checkpatch():
    """A result for every patch: what it finds in a patch is new, unless it is accepted."""
    known = accepted()
    source = series.source_tree()
    with tempfile.TemporaryDirectory() as folder:
        mails.write_series(Path(folder) / "mails")
        for mail in sorted(Path(folder).glob("mails/*.patch")):
            log = paths.LOGS / f"checkpatch-{mail.stem[:4]}.log"
            with _without_its_notes(source):
                status = run(
                    ["perl", "scripts/checkpatch.pl", *CHECKPATCH, mail],
                    log=log,
                    what="checkpatch",
                    cwd=source,
                    check=False,
                )
            said = list(objections(_lines(log)[1:], known))
            broken = status and not _lines(log)[1:]
            yield Result(
                f"checkpatch: {mail.stem}",
                FAILED if broken or said else PASSED,
                "; ".join(said[:SHOWN]),
            )


def named(name):
    """The tools that look at one architecture's build: name -> function."""
    arch = arches.get(name)
    tools = {"warnings": warnings, "sparse": sparse}
    if arch.has_backend:
        tools["no cost when off"] = offcost.results
    return tools | ({"objtool": objtool} if arch.objtool else {})


GENERAL = {"kernel-doc": kernel_doc, "checkpatch": checkpatch}
