# SPDX-License-Identifier: GPL-2.0
"""The base: Linux 6.12 as Debian's linux-source-6.12 has it, or the user's own tree.

patches/v6.12/base names the one the series was made for. When the mirror has moved
on to another 6.12.y, that one is taken: whether the series fits it is the hunks'
business (series.py), which apply without fuzz or not at all.
"""

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from .. import git, host, paths
from ..errors import INFRA, USAGE, Fail
from ..say import run, say

PACKAGE = "linux-source-6.12"
TARBALL = f"usr/src/{PACKAGE}.tar.xz"
# the release that has the pinned package; a machine of another one has its source all the same
HOME = "bookworm"
SERIES = (6, 12)
UNPACKED_GIB = 3
STAMP = ("for", "version", "package", "sha256")  # what is noted of an unpacked base
HIDING = b"/*\n!/debian/\n"  # Debian's packagers' rule, which would hide every new file from git


@dataclass(frozen=True)
class Base:
    """An unpacked base, where its patched copy goes, and what it is."""

    path: Path
    src: Path
    version: str
    package: str = ""  # Debian's version; empty for a tree of the user's
    sha256: str = ""  # of the tarball inside the package

    @property
    def key(self):
        """Same key, same content; empty when the content may change at any time."""
        return self.sha256[:16]


def _fields(path):
    """The `name: value` lines of a small text file."""
    return dict(
        line.split(": ", 1)
        for line in paths.noted(path).splitlines()
        if ": " in line and not line.startswith("#")
    )


def made_for():
    """What the series was made for: version, package, sha256, oldest and newest,
    each '' if not said.
    """
    known = _fields(paths.ROOT / "patches/v6.12/base")
    return {
        name: known.get(name, "") for name in ("version", "package", "sha256", "oldest", "newest")
    }


def _sublevel(version):
    return int(version.split(".")[2])


def range():
    """The versions that the series is known to fit, in words."""
    known = made_for()
    oldest, newest = (
        known[name] or known["version"] or "another base" for name in ("oldest", "newest")
    )
    return oldest if oldest == newest else f"{oldest} to {newest}"


def describe(base):
    """The text of patches/v6.12/base for a base."""
    known = made_for()
    if known["newest"] and _sublevel(base.version) > _sublevel(known["newest"]):
        known["newest"] = base.version
    tried = "".join(f"{name}: {known[name]}\n" for name in ("oldest", "newest") if known[name])
    return (
        "# SPDX-License-Identifier: GPL-2.0\n"
        f"# {PACKAGE}, the tarball of which has this sha256; the oldest and the newest that fit\n"
        f"version: {base.version}\npackage: {base.package}\nsha256: {base.sha256}\n{tried}"
    )


def version_of(tree):
    """The version in a kernel tree's Makefile; anything but 6.12.y is refused."""
    makefile = Path(tree) / "Makefile"
    text = makefile.read_text(errors="replace")[:1000] if makefile.exists() else ""
    found = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL)\s*=\s*(\d+)", text, re.M))
    if len(found) != 3 or not (Path(tree) / "Kbuild").exists():
        raise Fail(
            USAGE,
            f"{tree} is not a Linux source tree: name the folder that holds the kernel's Makefile",
        )
    if (int(found["VERSION"]), int(found["PATCHLEVEL"])) != SERIES:
        have = f"{found['VERSION']}.{found['PATCHLEVEL']}.{found['SUBLEVEL']}"
        raise Fail(INFRA, f"{tree} is Linux {have}: the series is for 6.12.y")
    return f"6.12.{found['SUBLEVEL']}"


# The package


def _cached(version):
    """The package in the cache, in the wanted version, or the newest when none is wanted."""
    debs = sorted(paths.CACHE.glob(f"{PACKAGE}_*.deb"), key=lambda deb: deb.stat().st_mtime)
    fit = [deb for deb in debs if version in ("", deb.name.split("_")[1])]
    return fit[-1] if fit else None


def _download(version):
    """Fetch the wanted version, of whatever release it is;
    the mirror's own when it has that no longer.
    """
    host.room(paths.CACHE, 1, "downloading the base")
    say(f"downloading {PACKAGE} (150 MB)")
    apt = host.release_apt(HOME)
    try:
        return apt.download([f"{PACKAGE}={version}" if version else PACKAGE], paths.CACHE)[0]
    except Fail as failure:
        if not version or "no such version" not in failure.message:
            raise
    say(f"the mirror no longer has {PACKAGE} {version}: taking the version it has")
    return apt.download([PACKAGE], paths.CACHE)[0]


def _sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _tarball(deb, part):
    """The tarball inside a package and its sha256; None for a package that is damaged."""
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    if run(["dpkg-deb", "--extract", deb, part], what="opening the base", check=False):
        if not shutil.disk_usage(part).free > 2**28:
            raise Fail(
                INFRA, f"the disk that holds {part} is full: make room and run the command again"
            )
        return None
    tarball = part / TARBALL
    wanted = made_for()
    sha256 = _sha256(tarball)
    if (
        deb.name.split("_")[1] == wanted["package"]
        and wanted["sha256"]
        and sha256 != wanted["sha256"]
    ):
        return None
    return tarball, sha256


def _open_package(part):
    """A good package's tarball; a damaged one is fetched once more."""
    version = made_for()["package"]
    deb = _cached(version) or _download(version)
    if not (good := _tarball(deb, part)):
        say(f"{deb.name} in the cache is damaged: fetching it again")
        deb.unlink()
        deb = _download(version)
        good = _tarball(deb, part)
    if not good:
        deb.unlink()
        raise Fail(
            INFRA,
            f"{deb.name} from the mirror is not what patches/v6.12/base names: check the machine's "
            "apt sources",
        )
    return deb, *good


def untar(tarball, folder, what):
    """All of a kernel's tarball, without the folder that it is in there.

    --touch: what was built from another base is older than these files.
    """
    run(
        [
            "tar",
            "--extract",
            "--xz",
            "--touch",
            "--no-same-owner",
            "--strip-components=1",
            "--file",
            tarball,
            "--directory",
            folder,
        ],
        what=what,
    )


def _unpack(dest, stamp):
    """Unpack under a temporary name; the stamp comes last and says that it is whole."""
    host.need("xz-utils")
    host.room(dest.parent, UNPACKED_GIB, "unpacking the base")
    part, opened = dest.with_name(dest.name + ".part"), dest.with_name(dest.name + ".deb.part")
    stamp.unlink(missing_ok=True)
    for folder in (part, dest):
        shutil.rmtree(folder, ignore_errors=True)
    part.mkdir(parents=True)
    deb, tarball, sha256 = _open_package(opened)
    say(f"unpacking {deb.name}")
    untar(tarball, part, "unpacking the base")
    shutil.rmtree(opened)
    version = version_of(part)
    part.rename(dest)
    stamp.write_text(
        f"for: {made_for()['package']}\nversion: {version}\npackage: {deb.name.split('_')[1]}\n"
        f"sha256: {sha256}\n"
    )


def _unhide(dest):
    """The one thing changed in the base: its .gitignore must not ignore what `make tree` is for."""
    path = dest / ".gitignore"
    text = path.read_bytes()
    if HIDING in text:
        part = path.with_name(path.name + ".part")
        part.write_bytes(text.replace(HIDING, b""))
        part.rename(path)


def _debian():
    """The unpacked package."""
    dest, stamp = paths.BUILD / "base-src", paths.BUILD / "base-src.stamp"
    with host.locked("base", paths.BUILD):
        known = _fields(stamp)
        if not (
            dest.is_dir()
            and {*STAMP} <= set(known)
            and made_for()["package"] in (known["for"], known["package"])
        ):
            _unpack(dest, stamp)
            known = _fields(stamp)
        _unhide(dest)
    return Base(dest, paths.BUILD / "src", known["version"], known["package"], known["sha256"])


# The user's own tree


def sources(tree):
    """The relative paths of a git tree's sources, without what was built in it."""
    listed = git.porcelain(tree, "ls-files", "-z", "-co", "--exclude-standard", clean=False)
    return {name for name in listed.split("\0") if name and os.path.lexists(tree / name)}


def _files(tree):
    """Every file below a folder, relative to it."""
    for folder, _, names in os.walk(tree):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), tree)


def _copy_git(tree, dest):
    wanted = sources(tree)
    listing = dest.with_name("files")
    listing.write_bytes(git.encode("\0".join(sorted(wanted))))
    run(
        ["rsync", "-a", "--from0", f"--files-from={listing}", f"{tree}/", f"{dest}/"],
        what=f"copying {tree}",
    )
    for name in set(_files(dest)) - wanted:
        (dest / name).unlink()


def _copy_plain(tree, dest):
    """A folder without git cannot tell sources from what was built,
    so nothing may be built in it.
    """
    if (tree / ".config").exists() or (tree / "include/config").exists():
        raise Fail(
            INFRA, f"{tree} has been built in: run `make mrproper` there, then the command again"
        )
    run(["rsync", "-a", "--delete", f"{tree}/", f"{dest}/"], what=f"copying {tree}")


def user_tree(named=None):
    """KERNEL= as an absolute path, or None."""
    named = named or os.environ.get("KERNEL")
    if not named:
        return None
    tree = Path(os.path.expanduser(named)).absolute()
    if not tree.is_dir():
        raise Fail(USAGE, f"KERNEL={named} is not a folder")
    return tree


def _own(tree):
    """A copy of the user's tree, so that nothing of theirs is touched."""
    version = version_of(tree)
    host.need("rsync")
    home = paths.BUILD / f"kernel-{hashlib.sha256(str(tree).encode()).hexdigest()[:8]}"
    dest = home / "base"
    dest.mkdir(parents=True, exist_ok=True)
    with host.locked("base", paths.BUILD):
        say(f"copying {tree}")
        (_copy_git if git.is_work_tree(tree) else _copy_plain)(tree, dest)
    return Base(dest, home / "src", version)


def current():
    """The base that this command works on."""
    tree = user_tree()
    return _own(tree) if tree else _debian()


def base_source():
    """The pristine unpacked base."""
    return current().path
