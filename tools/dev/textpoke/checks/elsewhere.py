# SPDX-License-Identifier: GPL-2.0
"""Our commands on another release of Debian: in a chroot, made from this machine's own mirror.

The chroot has what README asks for, make and python3, and nothing else: the commands install
what they need, as they do on a fresh machine. A clone of this repository lies in it, with what
is not committed yet; the cache is this machine's.
"""

import os
import re
import shutil
import tempfile

from .. import git, host, paths
from ..errors import MISSING, Fail
from ..results.ktap import FAILED, PASSED, Result
from ..say import output, run, say
from ..series import base as bases

RELEASES = ("trixie",)
PACKAGES = ("ca-certificates", "debian-archive-keyring", "make", "python3")
CLONE, CACHE = "srv/text-poke", "srv/cache"
SETTINGS = "etc/apt/apt.conf.d/90-machine"
# Whether it may be out of date, and the way to it.
OF_THE_MIRROR = r"Acquire::(?:Check-Valid-Until|https?::Proxy) "
# What a chroot needs of the machine; a mount namespace of its own takes all of it away again.
ENTER = f"""set -e
mount --make-rprivate /
mount --bind "$1" "$0/{CACHE}"
mount --rbind /dev "$0/dev"
mount -t proc proc "$0/proc"
mount -t sysfs sysfs "$0/sys"
exec chroot "$0" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
TERM=dumb LC_ALL=C.UTF-8 \\
	TEXT_POKE_CACHE=/{CACHE} sh -c "cd /{CLONE} && $2"
"""


def folder(release):
    return paths.BUILD / f"debian-{release}"


def _sources(release):
    return [
        host.source(host.mirror_of(suite), suite)
        for suite in (release, f"{release}{host.SECURITY}")
    ]


def make_root(release):
    """A chroot with that release, made once."""
    root = folder(release) / "root"
    with host.locked(f"debian-{release}", paths.BUILD):
        if root.exists():
            return root
        if os.geteuid():
            raise Fail(MISSING, "a chroot can be made by root alone: run the command as root")
        host.need("git", *host.ROOT, "rsync")
        host.room(paths.BUILD, 3, "a chroot")
        say(f"making a chroot of Debian's {release}")
        part = root.with_name("root.part")
        shutil.rmtree(part, ignore_errors=True)
        part.parent.mkdir(parents=True, exist_ok=True)
        run(
            [
                "mmdebstrap",
                "--mode=root",
                "--variant=minbase",
                f"--include={','.join(PACKAGES)}",
                release,
                part,
                *_sources(release),
            ],
            log=paths.LOGS / f"debian-{release}.log",
            what=f"making a chroot of {release}",
        )
        part.rename(root)
    return root


def _clone(root):
    """This repository as it is now; what was built there before stays."""
    place = root / CLONE
    if not place.exists():
        git.porcelain(paths.ROOT, "clone", "-q", "--no-hardlinks", str(paths.ROOT), str(place))
    git.porcelain(place, "fetch", "-q", str(paths.ROOT), "HEAD")
    git.porcelain(place, "checkout", "-q", "-f", "--detach", "FETCH_HEAD")
    wanted = bases.sources(paths.ROOT)
    run(
        ["rsync", "-a", "--from0", "--files-from=-", f"{paths.ROOT}/", f"{place}/"],
        what="copying what is not committed",
        stdin=_listed(wanted),
    )
    for path in bases.sources(place) - wanted:
        (place / path).unlink()


def _settings(dump):
    """What this machine's apt is told of its mirror, which is that of the chroot as well."""
    lines = dump.splitlines(keepends=True)
    return "".join(line for line in lines if re.match(OF_THE_MIRROR, line))


def _listed(names):
    """Names as an open file."""
    listing = tempfile.TemporaryFile()
    listing.write("\0".join(sorted(names)).encode(errors="surrogateescape"))
    listing.seek(0)
    return listing


def command(release, words, log):
    """A shell command in the chroot; its status."""
    root = make_root(release)
    _clone(root)
    (root / CACHE).mkdir(parents=True, exist_ok=True)
    # A machine's own resolver, else nothing is downloaded there.
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    (root / SETTINGS).write_text(_settings(output(["apt-config", "dump"], what="asking apt")))
    return run(
        ["unshare", "--mount", "sh", "-c", ENTER, root, paths.CACHE, words],
        log=log,
        what=f"{words.splitlines()[0]} on {release}",
        check=False,
    )


def result(release, words):
    """One of our commands as a test."""
    log = paths.LOGS / f"debian-{release}-{re.sub(r'[^a-z0-9]+', '-', words.lower())}.log"
    status = command(release, f"make {words}", log)
    yield Result(f"make {words}", FAILED if status else PASSED, f"see {log}" if status else "")
