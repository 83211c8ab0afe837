# SPDX-License-Identifier: GPL-2.0
"""A package of the perf that belongs to the kernel: the program, and which libraries it needs.

It lies beside Debian's linux-perf, under a name of its own. For this machine's architecture it
is the perf that decodes here; for others one with OpenCSD, where there are machines with CoreSight,
or else the one that records in guests.
"""

import re
import shutil
from pathlib import Path

from .. import arch as arches
from .. import paths
from ..errors import INFRA, Fail
from ..guests import perf
from ..say import output, run, say

NAME = "linux-perf-textpoke"
# Not perf-textpoke: perf takes that for `perf textpoke`.
PROGRAM = "perf_textpoke"
HERE = "x86"
# Debian's packages of the libraries that a guest's perf is linked with.
LIBRARIES = {
    "libelf.so.1": "libelf1",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
    "libopencsd.so.1": "libopencsd1",
    "libopencsd_c_api.so.1": "libopencsd1",
}
# Names of the C library's own, of which the package says which version it needs.
LIBC = re.compile(r"(lib(c|m|dl|rt|pthread|resolv)|ld(-linux[\w-]*|64))\.so(\.\d+)?")
COPYRIGHT = """\
perf is part of Linux, and licensed as Linux is: GPL-2.0, see /usr/share/common-licenses/GPL-2.
This one was built from Linux with the Text Poke patches.
"""
DESCRIPTION = f"""perf of a Linux with Text Poke
 perf as it belongs to a kernel with the Text Poke patches. The program is called
 {PROGRAM}, so that it can be there beside Debian's linux-perf. It has no tables of
 the names that processors' makers have given to events.
 .
"""
DECODES = (
    " It decodes hardware trace, CoreSight and Intel PT, with kernel text as it was at the time."
)
RECORDS = (
    " It records, and shows what was recorded; hardware trace is decoded by the packages for amd64"
    " and arm64."
)


def newest_libc(symbols):
    """The oldest C library that has all that a program wants,
    from readelf's list of its symbols.
    """
    found = {
        tuple(map(int, version.split(".")))
        for version in re.findall(r"@GLIBC_(\d+(?:\.\d+)+)", symbols)
    }
    return ".".join(map(str, max(found))) if found else ""


def depends(needed, symbols):
    """The packages that a cross-built program depends on, as a control file has them."""
    others = [name for name in needed if not LIBC.fullmatch(name)]
    if strange := [name for name in others if name not in LIBRARIES]:
        raise Fail(
            INFRA,
            f"perf needs {strange[0]}, of which it is not known which package of Debian has it: "
            "add it to perfdeb.py",
        )
    oldest = newest_libc(symbols)
    return ", ".join(
        [
            f"libc6 (>= {oldest})" if oldest else "libc6",
            *dict.fromkeys(LIBRARIES[name] for name in sorted(others)),
        ]
    )


def _depends_here(program, part):
    """The same of a program for this machine, by Debian's own means."""
    control = part / "debian/control"
    control.parent.mkdir(parents=True)
    control.write_text(f"Source: {NAME}\n\nPackage: {NAME}\nArchitecture: any\n")
    said = output(
        ["dpkg-shlibdeps", "-O", f"-e{program}"], cwd=part, what="asking which packages perf needs"
    )
    shutil.rmtree(control.parent)
    return said.partition("shlibs:Depends=")[2].strip()


def _depends_there(arch, program):
    readelf = f"{arch.cross}readelf"
    needed = re.findall(
        r"\(NEEDED\).*\[(.+)\]", output([readelf, "-d", program], what="reading perf")
    )
    return depends(needed, output([readelf, "--dyn-syms", "-W", program], what="reading perf"))


def control(debarch, version, needs, size):
    """The text of the package's control file."""
    able = [arch for arch in perf.GUESTS if arch == HERE or perf.GUESTS[arch].decodes]
    does = DECODES if debarch in [arches.get(arch).debarch for arch in able] else RECORDS
    fields = {
        "Package": NAME,
        "Version": version,
        "Architecture": debarch,
        "Maintainer": "Text Poke <text-poke@localhost>",
        "Installed-Size": size,
        "Depends": needs,
        "Section": "kernel",
        "Priority": "optional",
        "Description": DESCRIPTION + does,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def pack(arch, program, version, dest):
    """A package of a program; returns its path."""
    arch = arches.get(arch)
    deb = Path(dest) / f"{NAME}_{version}_{arch.debarch}.deb"
    part = Path(dest) / f"{NAME}.part"
    shutil.rmtree(part, ignore_errors=True)
    inside, doc = part / "usr/bin" / PROGRAM, part / "usr/share/doc" / NAME
    for folder in (inside.parent, doc, part / "DEBIAN"):
        folder.mkdir(parents=True)
    run(
        [f"{arch.cross}objcopy", "--strip-unneeded", program, inside],
        log=paths.LOGS / "deb-perf.log",
        what="stripping perf",
    )
    inside.chmod(0o755)
    (doc / "copyright").write_text(COPYRIGHT)
    needs = _depends_here(inside, part) if arch.name == HERE else _depends_there(arch, inside)
    (part / "DEBIAN/control").write_text(
        control(arch.debarch, version, needs, -(-inside.stat().st_size // 1024))
    )
    # Whole or not at all.
    run(
        ["dpkg-deb", "--root-owner-group", "--build", part, f"{deb}.part"],
        log=paths.LOGS / "deb-perf.log",
        what="packing perf",
    )
    Path(f"{deb}.part").rename(deb)
    shutil.rmtree(part)
    return deb


def build(arch, version, dest):
    """perf of the series' tree as a package in dest."""
    arch = arches.get(arch)
    if arch.name == HERE:
        program = perf.build_host_perf()
    elif perf.GUESTS[arch.name].decodes:
        program = perf.build_decoding_perf(arch.name)
    else:
        program = perf.build_guest_perf(arch.name)["/usr/bin/perf"]
    say(f"packing perf for {arch.debarch}")
    return pack(arch, program, version, dest)


def parts(name):
    """What it is made from: see made.py."""
    return perf.host_parts() if name == HERE else perf.parts(name, perf.GUESTS[name].decodes)
