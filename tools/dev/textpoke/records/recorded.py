# SPDX-License-Identifier: GPL-2.0
"""`tp page perf.data`: the page of a recording that a user has made, on whatever kernel.

It needs what `perf record --kcore` records. With a folder of its own (perf.data/kcore_dir) the
kernel's symbols come from there, else perf's names have to do.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from .. import paths
from ..code import disasm
from ..errors import MISSING, USAGE, Fail
from ..say import output, say
from ..say import run as command
from . import page, replay, run

# What uname calls the machines that we can disassemble.
MACHINES = {"x86_64": "x86", "aarch64": "arm64", "riscv64": "riscv", "ppc64le": "powerpc"}
ASKED = re.compile(r"\btext_poke\s*[=:]\s*1\b")
HOW = "record it with `perf record --kcore -a -e dummy -- COMMAND` (or any other event)"
# No sample is of a command of this name, and of those nothing is to be printed.
NO_SAMPLES = ("--no-itrace", "--comms", "no command")


@dataclass(frozen=True)
class Recording:
    """A file or folder of perf's, and the perf that reads it."""

    path: Path
    perf: str

    def header(self):
        """What perf says of it."""
        try:
            return output(
                [self.perf, "report", "-f", "--header-only", "-i", self.path],
                what=f"{self.perf}, reading {self.path},",
                code=USAGE,
            )
        except Fail as failure:
            newer = (
                "; a newer perf may read it, as `make run` builds one"
                if "incompatible" in failure.message
                else ""
            )
            raise Fail(failure.code, failure.message + newer) from None

    def symbols(self):
        """Of the kernel that was recorded, if they came along."""
        kallsyms = self.path / "kcore_dir/kallsyms"
        if not kallsyms.is_file():
            return disasm.Symbols([])
        with open(kallsyms, errors="replace") as lines:
            return disasm.Symbols(lines)

    def pokes(self):
        """(pokes, lost), as perf script prints them."""
        log = paths.LOGS / "perf-script-page.log"
        options = ("--ns", "--show-text-poke-events", "--show-lost-events", *NO_SAMPLES)
        if command(
            [self.perf, "script", "-f", "-i", self.path, *options],
            log=log,
            what="perf script",
            check=False,
        ):
            raise Fail(
                USAGE,
                f"{self.path} cannot be read to its end, it may have been cut short: see {log}",
            )
        with open(log, errors="replace") as lines:
            found = replay.parse_script(lines)
        log.unlink()
        return found


def perf():
    """The one that we have built, else the system's."""
    ours = paths.BUILD / "perf-host/perf"
    if ours.is_file():
        return str(ours)
    if found := shutil.which("perf"):
        return found
    raise Fail(
        MISSING,
        "there is no perf: `make run` builds one, and Debian has one in the package linux-perf",
    )


def machine(header, path):
    """Its architecture, which must be one that we know, and text pokes asked for."""
    found = re.search(r"^# arch : (\S+)", header, re.M)
    if not found or found[1] not in MACHINES:
        what = "a machine that it does not name, as if it had been cut short"
        if found:
            what = f"the machine {found[1]}"
        raise Fail(USAGE, f"{path} is of {what}: known are {', '.join(MACHINES)}")
    if not ASKED.search(header):
        raise Fail(USAGE, f"{path} has no text pokes, which were not asked for: {HOW}")
    return MACHINES[found[1]]


def text(symbols):
    """Where the kernel's text is, if its symbols tell."""
    at = dict(zip(symbols.names, symbols.addresses))
    begin, end = at.get("_stext", 0), at.get("_etext", 0)
    return range(begin, end) if 0 < begin < end else None


def figures(pokes, lost, header):
    """What is known of it as a whole."""
    release = re.search(r"^# os release : (.+)", header, re.M)
    return [
        f"kernel {release[1] if release else 'unknown'}",
        f"records {len(pokes)}, sites {replay.count_sites(pokes)}, lost {lost}",
    ]


def main(options):
    """`page`: it lies beside the recording."""
    path = Path(options.get("DATA")).resolve()
    recording = Recording(path, perf())
    header = recording.header()
    arch = machine(header, path)
    say(f"reading {path} with {recording.perf}")
    pokes, lost = recording.pokes()
    symbols = recording.symbols()
    out = path.with_name(f"{path.name}.html")
    page.write(
        out,
        page.Seen(
            path.name,
            run.Listing(pokes, symbols, arch),
            text(symbols),
            figures(pokes, lost, header),
        ),
    )
    print(out)
