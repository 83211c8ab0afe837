# SPDX-License-Identifier: GPL-2.0
"""What a step is made from, as parts to be hashed: see kept.py.

A part is in one of these by its contents, never by where it lies or when it was written: a
clone in another folder comes to the same. What cannot be told for certain is UNKNOWN, and
whatever is made from that is done again.

What an architecture's kernel is said not to be made from (see concerns()) is checked against
what its compiler has read: see read_beyond().
"""

import ast
import functools
import hashlib
import os
import re
import shutil
from importlib.util import resolve_name
from pathlib import Path

from .. import arch as arches
from .. import host, paths
from ..errors import INFRA, Fail
from ..say import output, say
from ..series import base as bases
from ..series import overlay, patches, series

# A part that makes everything that has it new.
UNKNOWN = None

TOOLS = paths.DEV / "textpoke"
DPKG = Path("/var/lib/dpkg/status")
# What a user's shell may tell compilers and the kernel's make.
TELLING = re.compile(
    r"FLAGS$|^KBUILD_|^LD_|_PATH$|^CPATH$|^GCC_|^CC$|^HOSTCC$|^LLVM|^CCACHE_|^PATH$"
)
# Read for every architecture, wherever they lie.
SHARED = re.compile(r"arch/[^/]+/crypto/Kconfig|Documentation/Kconfig")
DOCUMENTS = (".md", ".rst", "NEWS")
UNREAD = ("Documentation/", "MAINTAINERS", "tools/verification/")
# A word of what make notes of a compilation: a file of the source, or a folder of headers there.
READ = (
    r"(?:-I)?(?:\S*/{source}/|\./)?"
    r"((?:(?:arch|kernel/text_poke/tests)/\w+|Documentation|tools/verification)/\S+?)[:)]?"
)
# What Python and its checkers leave among the tools.
LEFT_BEHIND = ("__pycache__", ".mypy_cache")
LITTER = re.compile(r"__pycache__|\.pyc$")
# The selftests' modules are made among their sources.
MADE_THERE = re.compile(
    r"tools/testing/selftests/.*(\.(o|ko|mod|mod\.c|cmd|a)|/Module\.symvers|/modules\.order)"
)


def digest(parts):
    """The hash of parts, each a text, bytes, a file or several parts; UNKNOWN if one of them is."""
    total = hashlib.sha256()
    for part in _flat(parts):
        if part is UNKNOWN:
            return UNKNOWN
        total.update(len(part).to_bytes(8, "big") + part)
    return total.hexdigest()


def _flat(parts):
    for part in parts:
        if part is UNKNOWN or isinstance(part, bytes):
            yield part
        elif isinstance(part, str):
            yield part.encode("utf-8", "surrogateescape")
        elif isinstance(part, Path):
            yield file(part).encode()
        else:
            # How many there are belongs to it: else two lists could be cut in two ways.
            inner = list(_flat(part))
            yield len(inner).to_bytes(8, "big")
            yield from inner


@functools.lru_cache(4096)
def _hash_of_file(path, _size, _changed, _inode):
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def file(path):
    """A file's contents, and whether it can be executed."""
    stat = path.stat()
    whole = _hash_of_file(
        str(path), stat.st_size, (stat.st_mtime_ns, stat.st_ctime_ns), stat.st_ino
    )
    return f"{whole} {bool(stat.st_mode & 0o111)}"


def folder(top, skip=()):
    """All files below a folder, by their names in it,
    but for those in folders that are called like one of skip.
    """
    for at, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name not in ("__pycache__", *skip))
        for name in sorted(names):
            path = Path(at, name)
            yield str(path.relative_to(top))
            yield f"-> {os.readlink(path)}" if path.is_symlink() else path


# These tools


def _file(name):
    """Where a module of ours or a package lies, by its whole name; None if it is neither."""
    path = paths.DEV.joinpath(*name.split("."))
    files = path.with_suffix(".py"), path / "__init__.py"
    return next((each for each in files if TOOLS in each.parents and each.is_file()), None)


@functools.lru_cache(256)
def _named(code, package):
    return tuple(_names_in(code, package))


def _names_in(code, package):
    """The whole names of what a package's module imports, at its top or in a function: modules,
    packages, and all that may be one by its name.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


# What these make is hashed itself, as files: how they make it cannot change a result.
UNJUDGING = {"textpoke.series.series", "textpoke.series.patches"}


def closure(*roots):
    """The files of modules of ours, which go by their names below textpoke, of all that they
    import, and of the packages that these lie in.
    """
    queue = [f"{TOOLS.name}.{root}" for root in roots]
    if unknown := [name for name in queue if not _file(name)]:
        raise ValueError(f"no module: {', '.join(unknown)}")
    found: dict[str, Path] = {}
    while queue:
        name = queue.pop()
        if name not in found and name not in UNJUDGING and (path := _file(name)):
            found[name] = path
            package = ".".join(path.relative_to(paths.DEV).parent.parts)
            queue += [package, *_named(path.read_bytes(), package)]
    return sorted(found.values())


def modules(*roots):
    """The code of these tools that does something, and of all that it uses."""
    return [part for path in closure(*roots) for part in (str(path.relative_to(TOOLS)), path)]


# The machine


@functools.lru_cache(4)
def _dpkg(_changed):
    """Package -> (version, what it needs), and what a name stands for, of all that is installed."""
    form = (
        r"${db:Status-Status}\t${Package}\t${Architecture}\t${Version}\t"
        r"${Pre-Depends}, ${Depends}\t${Provides}\n"
    )
    installed: dict[str, list] = {}
    named: dict[str, set] = {}
    for line in output(
        ["dpkg-query", "-W", "-f", form], what="listing the installed packages"
    ).splitlines():
        status, name, architecture, version, needs, provides = line.split("\t")
        if status != "installed":
            continue
        installed.setdefault(name, []).append((f"{name}:{architecture} {version}", _names(needs)))
        for virtual in _names(provides):
            named.setdefault(virtual, set()).add(name)
    return installed, named


def _names(words):
    """The packages that a line of dependencies names, alternatives too."""
    return re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", words)


def packages(*names):
    """The versions of installed packages, and of all that they need:
    a compiler's name is seldom its own package.
    """
    installed, named = _dpkg(DPKG.stat().st_mtime_ns if DPKG.exists() else 0)
    found, queue, seen = set(), list(names), set()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        queue += named.get(name, ())
        for said, needs in installed.get(name, ()):
            found.add(said)
            queue += needs
    return [f"{name} {name in installed or name in named}" for name in names] + sorted(found)


def programs(*names):
    """Programs as they are found, for they need not be a package's."""
    for name in names:
        found = shutil.which(name)
        yield f"{name}: {found}"
        if found:
            yield Path(found).resolve()


def environment():
    """What the user's shell tells compilers and make, by name."""
    return [f"{name}={value}" for name, value in sorted(os.environ.items()) if TELLING.search(name)]


# The kernel


def concerns(path, name):
    """Whether what is at a path of the kernel's tree can make a difference to an
    architecture's kernels and their tests.
    """
    if SHARED.fullmatch(path):
        return True
    if own := re.match("(?:arch|kernel/text_poke/tests)/([^/]+)/", path):
        return own[1] == arches.get(name).source or own[1] not in arches.ARCHES
    return not path.startswith(UNREAD)


def of_kernel(path, name):
    """The same of its kernels alone, whatever is run in them."""
    return concerns(path, name) and not path.startswith(("tools/perf/", "tools/testing/"))


def read_beyond(name, kdir, source):
    """The files that a kernel was built from,
    though they are said not to concern its architecture.
    """
    words, read = set(), re.compile(READ.format(source=re.escape(source.name)))
    for path in Path(kdir).rglob(".*.cmd"):
        words.update(path.read_text(errors="replace").split())
    found = {match[1] for match in map(read.fullmatch, words) if match}
    if not any(path.startswith(f"arch/{arches.get(name).source}/") for path in found):
        raise Fail(INFRA, f"what the {name} kernel was built from cannot be told from {kdir}")
    return sorted(path for path in found if not concerns(path, name))


def series_of(name, wanted=concerns):
    """What the series comes to, as far as it concerns an architecture, or is wanted otherwise.

    It is the files as they are in the end that count: how patches share them, and in which order,
    is nothing to a kernel.
    """
    now = bases.current()
    yield from (
        [path, what] for path, what in _series_on(now, patches.fingerprint()) if wanted(path, name)
    )


@functools.lru_cache(2)
def _series_on(now, _fingerprint):
    """(path, its mode and hash) of every file that the series adds or changes."""
    with series.micro(now.path, now.version, series.load(drafts=True)) as small:
        return small.files()


def repository():
    """Everything in this repository."""
    yield from folder(paths.ROOT, (".git", paths.BUILD.name))


def code():
    """Everything in this repository but what people read."""
    files = repository()
    for name, content in zip(files, files):
        if not name.endswith(DOCUMENTS):
            yield name
            yield content


def base():
    """The base, as it was unpacked; UNKNOWN if it is the user's own,
    or if the source has been changed by hand.
    """
    now = bases.current()
    if not now.key:
        return UNKNOWN
    if changed := changed_by_hand(now):
        say(f"{changed} was changed by hand: nothing counts as unchanged")
        return UNKNOWN
    return now.sha256


def _below(top, inside=""):
    """(path, DirEntry) of every file below a folder."""
    for entry in os.scandir(Path(top, inside)):
        path = f"{inside}/{entry.name}" if inside else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _below(top, path)
        elif not LITTER.search(path):
            yield path, entry


def changed_by_hand(now):
    """A file of the source that is neither the base's nor the series', or ''.

    The source is links to the base: what is written through one is written to both, and newer
    than the stamp that came when all was unpacked.
    """
    stamp = now.path.with_name(f"{now.path.name}.stamp").stat().st_mtime_ns
    known = {}
    for path, entry in _below(now.path):
        known[path] = entry.inode()
        # Which is changed by us, see bases.
        if path != ".gitignore" and entry.stat(follow_symlinks=False).st_mtime_ns > stamp:
            return str(now.path / path)
    if not now.src.exists():
        return ""
    source = series.Source(now)
    for path, entry in _below(now.src):
        ours = path in source.ours or path not in known and MADE_THERE.fullmatch(path)
        if known.get(path) != entry.inode() and not ours:
            return str(now.src / path)
    return ""


def architecture(name, more=(), wanted=concerns):
    """All that an architecture's kernels and guests are made from, but for these tools' own code.

    more    packages, besides those that every kernel wants
    wanted  which files of the series, see series_of()
    """
    arch = arches.get(name)
    names = (*host.BUILD, *arch.compiler_packages, *host.QEMU[name], *host.PERF, *more)
    host.need_to_build(*arch.compiler_packages)
    compilers = [
        f"{cross}{tool}"
        for cross in dict.fromkeys(("", arch.cross))
        for tool in ("gcc", "ld", "as", "objcopy", "readelf")
    ]
    yield [
        name,
        base(),
        list(series_of(name, wanted)),
        list(overlay.parts()),
        list(configuration(name)),
        environment(),
    ]
    yield [packages(*names), list(programs(*compilers, arch.qemu, "make", "ccache", "python3"))]


def configuration(name):
    """How an architecture's kernels are configured and booted, and what is known of their tests."""
    own = [arches.get(name), *arches.kinds_of(name)]
    names = {arch.name for arch in own}
    others = {*arches.ARCHES, *arches.KINDS} - names
    for place in ("config", "guest", "expected/known", "expected/accepted"):
        for path in sorted((paths.DEV / place).iterdir()):
            word = re.split(r"[.-]", path.name)[0]
            if word not in others:
                yield [f"{place}/{path.name}", path if path.is_file() else list(folder(path))]
    yield [repr(arch) for arch in own]


def safely(parts):
    """The digest of what a function gives, or UNKNOWN where that cannot be told."""
    try:
        return digest(parts())
    except (Fail, OSError) as problem:
        say(f"it cannot be told what a step is made from: {problem}")
        return UNKNOWN
