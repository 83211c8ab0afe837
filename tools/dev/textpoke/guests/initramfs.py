# SPDX-License-Identifier: GPL-2.0
"""Build an initramfs: a static busybox, our init, and what a job needs besides.

The kernel's own usr/gen_init_cpio.c writes the archive, for which one need not be root, and which
depends on nothing but its contents: same files, same bytes.
"""

import gzip
import hashlib
import os
import re
import shlex
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import INFRA, USAGE, Fail
from ..say import run
from ..series import base as bases

GUEST = paths.DEV / "guest"
LIBRARIES = ("textpoke.sh", "armed.sh")
BUSYBOX = ("busybox-static",)
FOLDERS = (
    "bin",
    "sbin",
    "usr/bin",
    "usr/sbin",
    "usr/lib",
    "lib",
    "etc",
    "dev",
    "proc",
    "sys",
    "tmp",
    "run",
    "root",
)
PASSWD = b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
GROUP = b"root:x:0:\nnobody:x:65534:\n"
GENERATOR = "usr/gen_init_cpio.c"
# What the guest's own modprobe reads; the rest of modules_install is links into this machine.
MODULE_FILES = (
    "modules.dep",
    "modules.alias",
    "modules.symbols",
    "modules.softdep",
    "modules.builtin",
)


@dataclass(frozen=True)
class Entry:
    """One member of the archive."""

    mode: int
    data: bytes = b""
    device: tuple = (0, 0)


def folder():
    return Entry(stat.S_IFDIR | 0o755)


def file(data, executable=False):
    return Entry(stat.S_IFREG | (0o755 if executable else 0o644), data)


def link(target):
    return Entry(stat.S_IFLNK | 0o777, os.fsencode(target))


def node(major, minor):
    return Entry(stat.S_IFCHR | 0o600, b"", (major, minor))


# The archive


def _generator():
    """The program that writes archives, from the base's source."""
    source = bases.base_source() / GENERATOR
    known = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    program = paths.BUILD / "host" / f"gen_init_cpio-{known}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        # Threads may want it side by side.
        with tempfile.TemporaryDirectory(dir=program.parent) as own:
            part = Path(own) / program.name
            run(
                ["gcc", "-O2", source, "-o", part],
                log=paths.LOGS / "gen_init_cpio.log",
                what="building gen_init_cpio",
            )
            part.replace(program)
    return program


def _line(name, entry, contents):
    """A member in gen_init_cpio's words; contents: a file that has those of a file."""
    rights = f"{stat.S_IMODE(entry.mode):o} 0 0"
    if stat.S_ISDIR(entry.mode):
        return f"dir /{name} {rights}"
    if stat.S_ISLNK(entry.mode):
        return f"slink /{name} {os.fsdecode(entry.data)} {rights}"
    if stat.S_ISCHR(entry.mode):
        return f"nod /{name} {rights} c {entry.device[0]} {entry.device[1]}"
    contents.write_bytes(entry.data)
    os.utime(contents, (0, 0))
    return f"file /{name} {contents} {rights}"


def cpio(entries):
    """The archive of name -> Entry, parents before children; times and owners are 0."""
    if bad := [name for name in entries if re.search(r"\s", name)]:
        raise Fail(USAGE, f"a guest's file cannot have blanks in its name, as `{bad[0]}` has")
    with tempfile.TemporaryDirectory(prefix="text-poke-") as own:
        listing, out = Path(own) / "list", Path(own) / "cpio"
        listing.write_text(
            "".join(
                _line(name, entries[name], Path(own) / str(number)) + "\n"
                for number, name in enumerate(sorted(entries))
            )
        )
        with open(out, "wb") as archive:
            subprocess.run([_generator(), "-t", "0", listing], stdout=archive, check=True)
        return out.read_bytes()


def _with_parents(entries):
    """Every folder that a name lies in, where it is not there already."""
    whole = dict(entries)
    for name in entries:
        for parent in list(Path(name).parents)[:-1]:
            whole.setdefault(str(parent), folder())
    return whole


# What goes in


def _one(path):
    """A file of this machine as an Entry; a link stays a link."""
    if path.is_symlink():
        return link(os.readlink(path))
    return file(path.read_bytes(), os.access(path, os.X_OK))


def _tree(name, path):
    """Entries of a file, or of everything below a folder."""
    if not path.is_dir():
        return {name: file(path.read_bytes(), os.access(path, os.X_OK))}
    found = {name: folder()}
    for below in sorted(path.rglob("*")):
        inside = f"{name}/{below.relative_to(path)}"
        found[inside] = folder() if below.is_dir() and not below.is_symlink() else _one(below)
    return found


def _extra(extra):
    """Entries of guest path -> path here (file or folder), or bytes for a file's contents."""
    found = {}
    for where, what in extra.items():
        name = str(where).strip("/")
        if isinstance(what, bytes):
            found[name] = file(what, what.startswith(b"#!"))
        elif Path(what).exists():
            found |= _tree(name, Path(what))
        else:
            raise Fail(USAGE, f"{what}, which the guest is to have as /{name}, does not exist")
    return found


def modules(kdir):
    """Entries of a kernel's modules, for modprobe in the guest; none when it has none."""
    mods = Path(kdir) / "mods"
    if not mods.is_dir():
        return {}
    wanted = [path for path in mods.rglob("*") if path.suffix == ".ko" or path.name in MODULE_FILES]
    return {str(path.relative_to(mods)): _one(path) for path in wanted}


def static_program(arch, packages, program):
    """A static program of an architecture, from packages that are unpacked, not installed."""
    arch = arches.get(arch)
    name = packages[0].removesuffix("-static")
    dest = host.unpack_foreign(
        packages, arch.debarch, arch.busybox, paths.BUILD / "foreign" / f"{name}-{arch.name}"
    )
    # Newer Debian releases have /usr merged.
    for folder in ("bin", "usr/bin"):
        if (dest / folder / program).is_file():
            return dest / folder / program
    raise Fail(INFRA, f"{dest} holds no {program}: remove it and run the command again")


def busybox(arch):
    """The static busybox of an architecture."""
    return static_program(arch, BUSYBOX, "busybox")


def _ours(arch):
    """Our init and what it runs on."""
    found = {name: folder() for name in FOLDERS}
    found |= {
        "bin/busybox": file(busybox(arch).read_bytes(), True),
        "bin/sh": link("busybox"),
        "init": file((GUEST / "init").read_bytes(), True),
        **{f"lib/{name}": file((GUEST / name).read_bytes()) for name in LIBRARIES},
        "etc/passwd": file(PASSWD),
        "etc/group": file(GROUP),
        "dev/console": node(5, 1),
        "dev/null": node(1, 3),
    }
    return found


def write(entries, dest):
    """Write the compressed archive, whole or not at all;
    threads may write the same one side by side.
    """
    packed = gzip.compress(cpio(_with_parents(entries)), 1, mtime=0)
    dest.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f"{dest.name}.", suffix=".part", dir=dest.parent
    ) as own:
        part = Path(own) / dest.name
        part.write_bytes(packed)
        part.replace(dest)
    return dest


def _job(job, args):
    """The job's script, and its arguments as the guest's shell reads them."""
    found = (
        {}
        if job is None
        else {"job.sh": file(job if isinstance(job, bytes) else Path(job).read_bytes(), True)}
    )
    return found | ({"job.args": file(shlex.join(map(str, args)).encode())} if args else {})


def build_initramfs(arch, extra=None, job=None, args=(), kdir=None):
    """Build an initramfs and return its path.

    extra  guest path -> file or folder here, or bytes
    job    the script (a path, or bytes) whose exit status is the verdict; None: a shell
    args   the job's arguments
    kdir   the kernel whose modules the guest is to have
    """
    entries = _ours(arch) | (modules(kdir) if kdir else {}) | _extra(extra or {}) | _job(job, args)
    key = hashlib.sha256(repr([GENERATOR, *sorted(entries.items())]).encode()).hexdigest()[:12]
    dest = paths.BUILD / "initramfs" / f"{arches.get(arch).name}-{key}.cpio.gz"
    return dest if dest.exists() else write(entries, dest)
