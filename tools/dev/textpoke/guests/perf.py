# SPDX-License-Identifier: GPL-2.0
"""perf from the same tree as the kernel: one for this machine, one for the guest.

The host's perf decodes (CoreSight included); the guest's records. The guest's is
linked with the few libraries that it needs, which are unpacked from packages of
the guest's architecture and never installed.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import INFRA, Fail
from ..results import made
from ..results.ktap import FAILED, PASSED, SKIPPED, Result
from ..say import output, run, say
from ..series import series
from . import kernel

# What perf is built from; a change anywhere else leaves it as it is.
PARTS = ("arch", "build", "include", "lib", "perf", "scripts")
# Names of a CPU's own events are for counting, and their tables take as long as the rest of perf.
COMMON = (
    "DEBUG=1",
    "NO_JEVENTS=1",
    "NO_LIBPERL=1",
    "NO_LIBPYTHON=1",
    "BUILD_BPF_SKEL=0",
    "NO_JVMTI=1",
    "NO_SHELLCHECK=1",
)
# With DEBUG perf does without -O3, which takes longer to build than this. What GCC sees less of it
# warns of more often.
LEVEL = "-O1 -Wno-maybe-uninitialized"
HOST = ("CORESIGHT=1", f"EXTRA_CFLAGS={LEVEL}")
# Recording needs none of these, and each would be one more foreign library.
GUEST = (
    "NO_DWARF=1",
    "NO_LIBDW=1",
    "NO_LIBTRACEEVENT=1",
    "NO_SLANG=1",
    "NO_GTK2=1",
    "NO_LIBCRYPTO=1",
    "NO_LIBUNWIND=1",
    "NO_LIBNUMA=1",
    "NO_LIBCAP=1",
    "NO_LZMA=1",
    "NO_LIBZSTD=1",
    "NO_CAPSTONE=1",
    "NO_LIBPFM4=1",
    "NO_LIBBABELTRACE=1",
    "NO_LIBDEBUGINFOD=1",
    "NO_DEMANGLE=1",
    "NO_SDT=1",
    "NO_LIBLLVM=1",
)
FOREIGN = ("libelf-dev", "libelf1", "zlib1g-dev", "zlib1g")
# What decodes CoreSight, in the perf of a package: guests trace nothing.
OPENCSD = ("libopencsd-dev", "libopencsd1", "libstdc++6", "libgcc-s1")
SUITE = "bookworm"
# Debian has RISC-V from its next release on: libraries that want a newer C library than the
# one that is linked with, and bring it along.
NEWER = ("libelf-dev", "libelf1t64", "libzstd1", "zlib1g-dev", "zlib1g", "libc6")


@dataclass(frozen=True)
class Guest:
    """Where an architecture keeps what a program needs to run."""

    triplet: str
    libc: str  # folder of the C library that the compiler links with
    loader: str  # path in the guest
    suite: str = SUITE  # Debian release of the libraries
    libraries: tuple = FOREIGN
    link: str = ""  # more words for the linker
    decodes: tuple = ()  # more libraries, of a perf that decodes CoreSight on such a machine


GUESTS = {
    "x86": Guest("x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/lib64/ld-linux-x86-64.so.2"),
    "arm64": Guest(
        "aarch64-linux-gnu",
        "/usr/aarch64-linux-gnu/lib",
        "/lib/ld-linux-aarch64.so.1",
        decodes=OPENCSD,
    ),
    "riscv": Guest(
        "riscv64-linux-gnu",
        "/usr/riscv64-linux-gnu/lib",
        "/lib/ld-linux-riscv64-lp64d.so.1",
        "trixie",
        NEWER,
        "-Wl,--allow-shlib-undefined",
    ),
    "powerpc": Guest("powerpc64le-linux-gnu", "/usr/powerpc64le-linux-gnu/lib", "/lib64/ld64.so.2"),
}


def _files(tools):
    """(name, size, time) of all that perf is built from."""
    for part in PARTS:
        for folder, folders, names in os.walk(tools / part):
            folders.sort()
            for name in sorted(names):
                path = Path(folder) / name
                stat = path.lstat()
                yield str(path.relative_to(tools)), stat.st_size, stat.st_mtime_ns


def _fingerprint(source, options):
    """Running make to find out that nothing changed takes ten seconds; this takes half of one."""
    digest = hashlib.sha256(json.dumps([str(source), *map(str, options)]).encode())
    for entry in _files(source / "tools"):
        digest.update(repr(entry).encode())
    return digest.hexdigest()


def build(source, out, options, what):
    """Build perf from source into out, unless it is there already; returns the program."""
    with host.locked(out.name, paths.BUILD):
        return _build(source, out, options, what)


def _build(source, out, options, what):
    """The same, by one command at a time: `make check` traces a guest beside the main job, and
    both want it.
    """
    binary, stamp, mark = out / "perf", out / ".built-from", _fingerprint(source, options)
    if binary.exists() and paths.noted(stamp) == mark:
        return binary
    out.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    say(f"building {what}")
    run(
        [
            "nice",
            "-n",
            "5",
            "make",
            "-C",
            source / "tools/perf",
            f"O={out}",
            f"-j{os.cpu_count()}",
            *options,
            # Not "all", which has test programs for arm64, made within the source.
            binary,
        ],
        log=paths.LOGS / f"{out.name}.log",
        what=f"building {what}",
        env=kernel.ccache(),
    )
    if not binary.exists():
        raise Fail(
            INFRA, f"building {what} made no {binary}: remove {out} and run the command again"
        )
    stamp.write_text(mark)
    return binary


def _build_here(source, folder):
    host.need(*host.BUILD, *host.PERF)
    options = (f"CC={kernel.cached('gcc')}", *COMMON, *HOST)
    return build(source, paths.BUILD / folder, options, "perf for this machine")


def build_host_perf():
    """The perf of this machine, from the tree of the series."""
    return _build_here(series.source_tree(), "perf-host")


def build_part(source):
    """The same, from a source that has only some patches of the series."""
    return _build_here(source, "perf-part")


def _needed(binary, readelf):
    """The libraries that a program or library names."""
    dynamic = output([readelf, "-d", binary], what=f"reading {binary.name}")
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)


def _find(name, folders):
    for folder in folders:
        if (found := Path(folder) / name).exists():
            return found.resolve()
    raise Fail(
        INFRA,
        f"{name}, which the guest's perf needs, is in none of {', '.join(map(str, folders))}: run "
        "`make setup`",
    )


def _libraries(binary, folders, readelf):
    """Library name -> file, for all that binary needs, directly or not."""
    found, queue = {}, [binary]
    while queue:
        for name in _needed(queue.pop(), readelf):
            if name not in found:
                found[name] = _find(name, folders)
                queue.append(found[name])
    return found


def _guest_options(arch, guest, foreign):
    """Folders of the unpacked libraries, and make's words for a cross build with them."""
    folders = [foreign / "usr/lib" / guest.triplet, foreign / "lib" / guest.triplet]
    links = " ".join(f"-L{folder} -Wl,-rpath-link,{folder}" for folder in folders)
    headers = f"-I{foreign}/usr/include -I{foreign}/usr/include/{guest.triplet}"
    compiler = kernel.cached(f"{arch.cross}gcc")
    return folders, (
        f"ARCH={arch.name}",
        f"CROSS_COMPILE={arch.cross}",
        f"CC={compiler}",
        f"EXTRA_CFLAGS={LEVEL} {headers}",
        f"LDFLAGS=-s {links} {guest.link}".rstrip(),
        *COMMON,
        *GUEST,
    )


def foreign_libraries(arch, decodes=()):
    """The folder of the libraries that the guest's perf is linked with, or one that decodes."""
    arch = arches.get(arch)
    guest = GUESTS[arch.name]
    return host.unpack_foreign(
        (*guest.libraries, *decodes),
        arch.debarch,
        guest.suite,
        paths.BUILD / "foreign" / f"{_name(decodes)}-{arch.name}",
    )


def _name(decodes):
    return "perf-decodes" if decodes else "perf"


def concerns(path, _=""):
    """Whether perf, of any architecture, is made from a path of the series."""
    return path.split("/")[0] == "tools" and not path.startswith(
        ("tools/testing/", "tools/verification/")
    )


def host_parts():
    """What the perf of this machine is made from: see made.py."""
    host.need(*host.BUILD, *host.PERF)
    return [
        made.base(),
        list(made.series_of("", concerns)),
        made.environment(),
        made.packages(*host.BUILD, *host.PERF),
        made.modules("guests.perf"),
    ]


# What perf test prints, on a terminal or not: `  9.1: Intel PT across text pokes  : Ok`
_TESTED = re.compile(
    r" *\d+(?:\.\d+)?: (?P<name>.+?) *: *(?:\x1b\[\d*m)* *(?P<how>Ok|Skip|FAILED!)(?P<note>.*)"
)
_HOW = {"Ok": PASSED, "Skip": SKIPPED, "FAILED!": FAILED}


def tested(text):
    """The results that perf test prints."""
    for line in text.splitlines():
        if found := _TESTED.match(line):
            note = re.sub(r"\x1b\[\d*m", "", found["note"]).strip(" ()")
            yield Result(f"perf test: {found['name']}", _HOW[found["how"]], note)


# perf test takes the parts of a test that have the pattern in their own names.
_PATTERN = "text poke"


def left_out(text):
    """The parts of tests, before others that have been run, that the pattern does not take."""
    run_of: dict[int, set[int]] = {}
    for test, part in re.findall(r"^ *(\d+)\.(\d+):", text, re.MULTILINE):
        run_of.setdefault(int(test), set()).add(int(part))
    return [
        f"{test}.{part}"
        for test, parts in run_of.items()
        for part in range(1, max(parts))
        if part not in parts
    ]


def host_tests():
    """perf's own tests of what the series has changed in it: they need no guest."""
    log = paths.LOGS / "perf-test.log"
    run([build_host_perf(), "test", "-v", _PATTERN], log=log, what="perf test", check=False)
    text = log.read_text(errors="replace")
    results = list(tested(text))
    yield from results or [Result("perf test", FAILED, f"no test has been run: see {log}")]
    if missing := left_out(text):
        note = f"{', '.join(missing)} have no `{_PATTERN}` in their names"
        yield Result("perf test: no part is left out", FAILED, note)
    elif results:
        yield Result("perf test: no part is left out", PASSED)


def parts(name, decodes=()):
    """What both perfs are made from: see made.py."""
    host.need_to_build(*host.PERF, *arches.get(name).compiler_packages)
    return [
        name,
        made.base(),
        list(made.series_of(name, concerns)),
        list(made.folder(foreign_libraries(name, decodes))),
        made.environment(),
        made.packages(*host.BUILD, *host.PERF, *arches.get(name).compiler_packages),
    ]


def _cross_built(arch, foreign, what, decodes=()):
    """A perf for another machine, and the folders with its libraries."""
    host.need_to_build(*arch.compiler_packages)
    folders, options = _guest_options(arch, GUESTS[arch.name], foreign)
    out = paths.BUILD / f"{_name(decodes)}-{arch.name}"
    more = ["CORESIGHT=1"] if decodes else []
    return build(series.source_tree(), out, (*options, *more), what), folders


def build_guest_perf(arch):
    """Path in the guest -> path here, of perf and of all that it needs to run."""
    arch = arches.get(arch)
    guest = GUESTS[arch.name]
    binary, folders = _cross_built(arch, foreign_libraries(arch), f"perf for the {arch.name} guest")
    libraries = _libraries(binary, [*folders, guest.libc], f"{arch.cross}readelf")
    loader = libraries.pop(Path(guest.loader).name, None) or _find(
        Path(guest.loader).name, [*folders, guest.libc]
    )
    files = {f"/lib/{name}": path for name, path in libraries.items()}
    return files | {guest.loader: loader, "/usr/bin/perf": binary}


def build_decoding_perf(arch):
    """The perf that a package for another machine has, where CoreSight can be decoded there."""
    arch = arches.get(arch)
    decodes = GUESTS[arch.name].decodes
    what = f"perf for {arch.debarch}, with OpenCSD"
    return _cross_built(arch, foreign_libraries(arch, decodes), what, decodes)[0]
